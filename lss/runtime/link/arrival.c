// Items that come; see arrival.h.
#include "lss/runtime/link/arrival.h"

#include "lss/runtime/engine/flight.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/link/item_check.h"
#include "lss/runtime/observe/ranges.h"

#include <glib.h>
#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;
static const spinach_field **item_field; // of each link, for what its items may be; NULL: not known
static ItemCheck *item_check;

// The field of the items of a flight: that which begins where they do.
static const spinach_field *find_item_field(const spinach_link_end *end) {
  const spinach_layout *layout = machine->instances[end->instance].layout;
  const uint64_t offset = end->offset + sizeof(spinach_flight) + end->slots * sizeof(uint64_t);
  for (uint32_t i = 0; layout && i < layout->field_count; i++)
    if (layout->fields[i].offset == offset && layout->fields[i].type->size == end->item_size) return &layout->fields[i];
  return NULL;
}

void arrival_begin(void) {
  item_field = g_new0(const spinach_field *, machine->link_count + 1);
  item_check = g_new0(ItemCheck, machine->link_count + 1);
  for (uint32_t i = 0; i < machine->link_count; i++) {
    if (machine->links[i].sends) continue;
    item_field[i] = find_item_field(&machine->links[i]);
    item_check[i] = item_check_new(item_field[i] ? item_field[i]->type : NULL);
  }
}

static void check_item(uint32_t link, const char *from, const void *item) {
  if (item_check_passes(&item_check[link], item) || !item_field[link]) return;
  const spinach_place place = {machine->links[link].instance, item_field[link], 0, 1};
  g_autofree char *fault = spinach_ranges_value_fault(&place, item);
  if (fault) spinach_fail("%s: %s has sent what is no item: %s", machine->links[link].path, from, fault);
}

bool arrival_add(uint32_t link, const char *from, uint64_t arrives, const void *item) {
  const spinach_link_end *end = &machine->links[link];
  spinach_flight *flight = (void *)((uint8_t *)spinach_instance_state(end->instance) + end->offset);
  spinach_expect(arrives);
  if (flight->held == end->slots) return false;
  uint64_t *instants = (uint64_t *)(flight + 1);
  uint8_t *slot = (uint8_t *)(instants + end->slots) + (size_t)flight->tail * end->item_size;
  memcpy(slot, item, end->item_size); // and only now it is looked at: the sender may change it until then
  check_item(link, from, slot);
  instants[flight->tail] = arrives;
  flight->tail = flight->tail + 1 == end->slots ? 0 : flight->tail + 1;
  flight->held++;
  return true;
}
