// An index beyond an array in the C of a module: clang calls the function below where it finds one in a debug build
// (-fsanitize=array-bounds, without its runtime library).
#include "lss/runtime/engine/machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the check passes, as clang lays it out.
typedef struct {
  uint16_t kind; // 0: an integer
  uint16_t info; // of an integer: bit 0: it is signed, the others are the logarithm of its bits
  char name[];
} checked_type;

typedef struct {
  const char *file;
  uint32_t line, column;
  const checked_type *array, *index;
} checked_access;

// Integers that do not fit a word are passed by address.
static int64_t index_number(const checked_type *type, uintptr_t index) {
  const unsigned bits = 1u << (type->info >> 1);
  if (bits > 64) index = *(const uintptr_t *)index;
  if (bits >= 64 || !(type->info & 1)) return (int64_t)index;
  return (int64_t)((uint64_t)index << (64 - bits)) >> (64 - bits);
}

// "'uint32_t[4][2]' (aka 'unsigned int[4][2]')": 4, the elements of what was indexed.
static unsigned long elements_of(const checked_type *type) {
  const char *aka = strstr(type->name, "(aka "), *bracket = strchr(aka ? aka : type->name, '[');
  return bracket ? strtoul(bracket + 1, NULL, 10) : 0;
}

// The field in `self->slot[i]` or `load(slot, i)`, which begins at that place of the source; the source is read again.
static void field_at(const checked_access *access, char *word, size_t size) {
  char line[1024];
  size_t n = 0;
  FILE *file = fopen(access->file, "r");
  bool any = file != NULL;
  for (uint32_t i = 0; any && i < access->line; i++) any = fgets(line, sizeof line, file) != NULL;
  if (file) fclose(file);
  const char *at = any && access->column && access->column <= strlen(line) ? line + access->column - 1 : "";
  const char *arrow = !strncmp(at, "self", 4) ? strstr(at, "->") : NULL;
  const bool word_of_memory = !strncmp(at, "load", 4) || !strncmp(at, "store", 5);
  at = arrow ? arrow + 2 : word_of_memory && strchr(at, '(') ? strchr(at, '(') + 1 : "";
  for (; n + 1 < size && (isalnum((unsigned char)at[n]) || at[n] == '_'); n++) word[n] = at[n];
  word[n] = '\0';
}

// Whether it is a field of the instance's state that has so many elements, along one of its dimensions.
static bool is_field(const spinach_layout *layout, const char *word, unsigned long elements) {
  for (uint32_t i = 0; layout && i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    if (strcmp(field->name, word) != 0) continue;
    for (uint32_t d = 0; d < field->dimension_count; d++)
      if (field->dimensions[d] == elements) return true;
  }
  return false;
}

// Weak: where all sanitizers are linked in, theirs is used, which prints the line as well.
_Noreturn void __ubsan_handle_out_of_bounds_abort(const checked_access *access, uintptr_t index) __attribute__((weak));
_Noreturn void __ubsan_handle_out_of_bounds_abort(const checked_access *access, uintptr_t index) {
  const uint32_t id = spinach_running.function ? spinach_running.id : 0; // 0: the machine
  const unsigned long elements = elements_of(access->array);
  const long long number = index_number(access->index, index);
  char word[128];
  field_at(access, word, sizeof word);
  if (!is_field(spinach_machine_table.instances[id].layout, word, elements)) strcpy(word, "an array");
  spinach_bad_index(id, number, word, elements, access->file, (int)access->line, (int)access->column);
}
