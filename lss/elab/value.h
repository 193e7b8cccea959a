// Compile-time values: construction, text, comparison, and what the operators and built-in functions do with them.
// A NULL value means that an error has been reported; whatever is computed from it is NULL again, silently.
#ifndef LSS_VALUE_H
#define LSS_VALUE_H

#include "lss/elab/netlist.h"

Value *value_new(ValueKind kind, Location location);
Value *value_int(int64_t integer, Location location);
Value *value_bool(bool truth, Location location);
Value *value_float(double real, Location location);
Value *value_string(const char *text, Location location);
Value *value_quantity(Dimension dimension, int64_t num, int64_t den, Location location);
Value *value_list(Location location);   // empty
Value *value_record(Location location); // empty
Value *value_type(Type *type, Location location);

// Ends the construction of a list or record: works out how deep it is nested and how many values are in it.  False,
// with an error, beyond a bound.
// Adds to a list that was closed, or replaces an item of it; false after an error.
bool value_add(Value *list, Value *item, Location where);
bool value_replace(Value *list, guint n, Value *item, Location where);
bool value_close(Value *value, Location where);

// How many values are in a value, itself included.
int64_t value_size(const Value *value);

// The same value, said to be written at another place.
Value *value_at(const Value *value, Location location);

Value *value_field(const Value *record, const char *name); // NULL when there is none

enum { TEXT_LIMIT = 1 << 20 };

const char *value_kind_text(const Value *value); // "a time", "an integer", "a list"
char *value_text(const Value *value);            // as it would be written, up to TEXT_LIMIT; in the arena
// "0.0 to 1.0", "at least 1": a range without one bound or the other (NULL); NULL without both.
const char *value_range_text(const Value *least, const Value *most);

bool value_equal(const Value *a, const Value *b);
// Below, at or above 0: the order of two integers, floats or quantities of one kind.
int value_order(const Value *a, const Value *b);

// The count in the base unit (Hz, B, b/s; femtoseconds for times; 1 for fractions), as int() and C see a quantity.
// False when it does not fit or, with `exact`, is not whole.
bool value_base_count(const Value *quantity, bool exact, int64_t *count);

Value *operator_unary(int op, Value *operand, Location where);
Value *operator_binary(int op, Value *left, Value *right, Location where);

// The built-in function of this name, or NULL.  `arguments` holds Value*, none of them NULL.
typedef Value *(*Builtin)(GPtrArray *arguments, Location where);
Builtin builtin_find(const char *name, int *least, int *most);
void builtin_names(GPtrArray *names);

#endif
