// The difference of two checkpoints; see difference.h.
#include "lss/runtime/checkpoint/difference.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/text/names.h"
#include "lss/runtime/text/type_bytes.h"

enum { SHOWN = 16 }; // elements of one field

static const spinach_machine *const machine = &spinach_machine_table;

static uint64_t compare_field(const char *path, const spinach_field *field, uint8_t *first, uint8_t *second) {
  const uint64_t count = spinach_field_elements(field), size = field->type->size;
  uint64_t differ = 0;
  if (spinach_type_is_dense(field->type) && !field->ring_offset &&
      memcmp(first + field->offset, second + field->offset, count * size) == 0)
    return 0;
  for (uint64_t i = 0; i < count; i++) {
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
  g_autofree uint8_t *first = g_memdup2(spinach_arena, spinach_arena_size);
  options->restore = options->compare;
  if (!spinach_restore_pages(options)) return 2;
  uint64_t differ = 0;
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
      differ += compare_field(machine->instances[i].path, &layout->fields[k], first + (state - spinach_arena), state);
  }
  return differ > 0;
}
