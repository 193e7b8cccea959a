// The difference of two checkpoints; see difference.h.
#include "lss/runtime/checkpoint/difference.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/type_bytes.h"

#include <sys/mman.h>

enum {
  SHOWN = 16,     // elements of one field
  STRETCH = 4096, // bytes that are compared at once
};

static const spinach_machine *const machine = &spinach_machine_table;

// Two states, each in an arena of the same layout.
typedef struct {
  ResidentPages first, second;
} Both;

// The first element from the index-th on of a stretch that is not the same byte by byte; one beyond the last: none.
static uint64_t next_different(Both *both, const spinach_field *field, gsize place, uint64_t index) {
  const uint64_t count = spinach_field_elements(field), size = field->type->size, many = MAX(1, STRETCH / size);
  if (!spinach_type_is_dense(field->type) || field->ring_offset) return index;
  for (; index < count; index += many) {
    gsize at = place + index * size;
    at = MIN(resident_next(&both->first, at), resident_next(&both->second, at));
    index = (at - place) / size;
    if (index >= count) break;
    at = place + index * size;
    if (memcmp(both->first.memory + at, both->second.memory + at, MIN(many, count - index) * size) != 0) break;
  }
  return index;
}

static uint64_t compare_field(Both *both, const char *path, const spinach_field *field, uint8_t *first,
                              uint8_t *second) {
  const uint64_t count = spinach_field_elements(field);
  const gsize place = (gsize)(second + field->offset - spinach_arena);
  uint64_t differ = 0;
  for (uint64_t i = 0, checked = 0; i < count; i++) {
    if (i == checked) {
      i = next_different(both, field, place, i);
      if (i >= count) break;
      checked = i + MAX(1, STRETCH / field->type->size);
    }
    const void *here = spinach_field_element(field, first, i), *there = spinach_field_element(field, second, i);
    if (spinach_type_equal(field->type, here, there) || ++differ > SHOWN) continue;
    g_autofree char *name = spinach_element_name(field, i), *one = spinach_type_text(field->type, here),
                    *other = spinach_type_text(field->type, there);
    printf("%s%s%s  %s  %s\n", path, *path ? "." : "", name, one, other);
  }
  if (differ > SHOWN)
    printf("%s%s%s  and %" G_GUINT64_FORMAT " more\n", path, *path ? "." : "", field->name, differ - SHOWN);
  return differ;
}

int spinach_checkpoint_compare(spinach_options *options) {
  if (!spinach_restore_pages(options)) return 2;
  uint8_t *first =
      mmap(NULL, spinach_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) spinach_fail("no memory for a copy of the state");
  resident_copy(first, spinach_arena, spinach_arena_size);
  options->restore = options->compare;
  if (!spinach_restore_pages(options)) return 2;
  uint64_t differ = 0;
  Both both;
  resident_begin(&both.first, first, spinach_arena_size);
  resident_begin(&both.second, spinach_arena, spinach_arena_size);
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    const uint64_t one = ((const spinach_clockwork *)first)->clocks[i], other = spinach_cycles((int32_t)i);
    if (one != other)
      differ++,
          printf("%s  cycle %" G_GUINT64_FORMAT "  cycle %" G_GUINT64_FORMAT "\n", machine->clocks[i].name, one, other);
  }
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    uint8_t *state = spinach_instance_state((int32_t)i);
    for (uint32_t k = 0; layout && k < layout->field_count; k++)
      differ +=
          compare_field(&both, machine->instances[i].path, &layout->fields[k], first + (state - spinach_arena), state);
  }
  resident_end(&both.first);
  resident_end(&both.second);
  return differ > 0;
}
