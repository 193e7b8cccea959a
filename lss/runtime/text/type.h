// Descriptions of LSS types at run time, and values as text.
//
// The text of a value: integers in decimal (read in any notation of number.h), bits wider than 64 in hexadecimal,
// `true` and `false`, floats with as few digits as distinguish them, enumerators by name, structs as `{a=1 b={c=2}}`
// (read in any order, missing fields are zero), arrays as `[1 2 3]`.  Packed words are written like structs, without
// members that are zero, `{alu=sub rs=4 0x8000}` with a number for bits that no member names; a number alone is read as
// well.
#ifndef SPINACH_TYPE_H
#define SPINACH_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  SPINACH_BOOL,
  SPINACH_INT,
  SPINACH_UINT,
  SPINACH_BITS,   // unsigned of `bits` bits; above 64 an array of 64-bit words, lowest first
  SPINACH_PACKED, // unsigned of at most 64 bits, of which some have names
  SPINACH_FLOAT,
  SPINACH_ENUM,
  SPINACH_STRUCT,
  SPINACH_ARRAY,
  SPINACH_STRING, // a pointer to characters in parameters
  SPINACH_STREAM
} spinach_kind;

struct spinach_member;

struct spinach_type {
  spinach_kind kind;
  const char *name;                   // as in LSS
  uint32_t bits;                      // of numbers
  size_t size;                        // bytes in C
  const struct spinach_type *element; // of arrays
  uint32_t length;                    // of arrays
  uint32_t member_count;              // fields of a struct, members of a packed word, enumerators of an enum
  const struct spinach_member *members;
};

struct spinach_member {
  const char *name;
  const struct spinach_type *type; // of a field or member
  size_t offset;                   // of a field; the lowest bit of a member of a packed word
  int64_t value;                   // of an enumerator
  uint32_t bits;                   // of a member of a packed word
  int64_t least, most;             // of a field or member: what is allowed, both included
};

// A member of a packed word, as a number.
uint64_t spinach_packed_member(const struct spinach_type *type, const void *value, const struct spinach_member *member);

// Writes the text of *value like snprintf: at most `size` bytes with the final zero; returns the full length.
int spinach_type_print(const struct spinach_type *type, const void *value, char *text, size_t size);

// The same in memory that the caller frees.
char *spinach_type_text(const struct spinach_type *type, const void *value);

// The same for people: numbers above 65535, and what its name says is an address or a word of code or control, are
// hexadecimal, and a word of code that comes with its `pc` is an instruction.  `name` is that of the value.
char *spinach_type_shown(const struct spinach_type *type, const void *value, const char *name);

// What spinach_type_shown() asks for an instruction as text, which it frees; NULL: nobody knows.
extern char *(*spinach_type_instruction)(uint32_t pc, uint32_t word);

// Reads all of `text` into *value.  On failure returns false, leaves *value alone and points *error to words that say
// what is wrong, valid until the next call.
bool spinach_type_parse(const struct spinach_type *type, const char *text, void *value, const char **error);

#endif
