// Looks through the C of a module for what the generated code around it must know.
#ifndef LSS_MODULE_SOURCE_H
#define LSS_MODULE_SOURCE_H

#include <glib.h>
#include <stdbool.h>

// A function that the module contract asks for: "handler" with its name, "phase_end" with an optional port, ….
typedef struct {
  char *word;      // phase_start, handler, phase_end, init, finish, next_event, skip, statistics, awaits,
                   // check_state
  char *argument;  // first argument, or ""
  char *second;    // second argument: the lane of a handler, the parameter of a reset; or ""
  char *sent_port; // all it does is to send an item there, in every cycle; else NULL
  char *shown_port, *shown_field; // that item is this field of the state; else NULL
  int shown_divisor;              // n: the element that is the handler's lane divided by n; 0: the field itself
  int line;
} Hook;

// `self->f`, `count(f)` or another word of the state in a function.
typedef struct {
  char *field;
  const char *word; // "self", "count", "until" ...
  bool set;         // of a statistic: it is given another value
  char *function;   // as in NameUse
  const char *where;
  int line, column, end_column;
} FieldUse;

// param(x), data(x) or item(x) in a function; or, with x, what the function calls.
typedef struct {
  char *function;    // "handler", "init" and so on, or a helper's name; "" outside of functions
  const char *where; // the same, with what a function belongs to: "handler(take)", "phase_end(in)"
  char *name;
} NameUse;

// A variable that is `static` and may be written.
typedef struct {
  char *name;
  int line;
} StaticVariable;

// What was found in a file.
typedef struct {
  char *file;
  GPtrArray *hooks;      // Hook*
  GPtrArray *uses;       // FieldUse*
  GPtrArray *parameters; // NameUse*: what reads which
  GPtrArray *calls;      // NameUse*: what calls which
  GPtrArray *payloads;   // NameUse*: data(x) and item(x)
  GPtrArray *sends;      // NameUse*: send(x)
  GPtrArray *events;     // NameUse*: event(x)
  GPtrArray *pauses;     // NameUse*: send_nothing(x) and send_if(x)
  GPtrArray *helpers;    // char*: functions at file scope
  GPtrArray *statics;    // StaticVariable*
  GPtrArray *in_macros;  // char*: fields that macros of the file, or a header beside it, use
  GPtrArray *renamed;    // char*: what points to the state, of type self_t, and is not called self
  GPtrArray *includes;   // char*: "<string.h>", in order
  GArray *include_lines;
  GPtrArray *defines; // char*: macros
  int lines;
  int open_line;     // of the first brace at file scope that is not closed; 0: none
  bool timed, waits; // in a cycle it asks for the time; for that until an instant of its state
  bool repeats;      // next_event says `unchanged`: it speaks of cycles in which items are refused, too
} ModuleSource;

// Lives as long as the process.  NULL, with *error set, when the file cannot be read.
ModuleSource *module_source_read(const char *file, GError **error);
// The path of a quoted include, if it is beside the file; else NULL.  The caller frees it.
char *module_source_header(const char *file, const char *include);
// Whether C asks for the time: now(), cycle() or after(k).
bool module_source_uses_time(const char *text);
// A function of the contract, as `where` has it.
const char *module_source_where(const char *word, const char *argument, const char *second);
// The function that `word` and `argument` name; NULL when the file does not define it.
const Hook *module_source_hook(const ModuleSource *source, const char *word, const char *argument);
// The reset of a parameter: handler(reset, parameter); likewise.
const Hook *module_source_reset(const ModuleSource *source, const char *parameter);
// Whether the C may look at the payload of a port: a macro may stand for any.
bool module_source_looks_at(const ModuleSource *source, const char *port);
// Whether there is an item at the port in every cycle: the C sends one there, and never nothing.
bool module_source_always_sends(const ModuleSource *source, const char *port);
// Whether statistics() works a statistic out.
bool module_source_computes(const ModuleSource *source, const char *field);
// Whether a field may change in time that is skipped: skip() uses it, itself or in what it calls, or statistics() works
// it out and asks for the time, or for what skip() uses.
bool module_source_accounts_for(const ModuleSource *source, const char *field);
// Whether init reads the parameter, itself or in what it calls, and nothing else in the file does.
bool module_source_starts_with(const ModuleSource *source, const char *parameter);

#endif
