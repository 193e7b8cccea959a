// Instants that are past; see instants.h.
#include "lss/runtime/engine/instants.h"

#include "lss/runtime/engine/names.h"

static const spinach_machine *const machine = &spinach_machine_table;

void spinach_clear_all_past(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      if (field->kind != SPINACH_INSTANT) continue;
      const spinach_place place = {(int32_t)i, field, 0, spinach_field_elements(field)};
      for (uint64_t n = 0; n < place.count; n++) spinach_element(&place, n);
    }
  }
}
