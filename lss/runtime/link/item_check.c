// A quick look at items; see item_check.h.
#include "lss/runtime/link/item_check.h"

#include <glib.h>
#include <string.h>

// The numbers of a type that are not limited need no look.
static void add_number(GArray *ranges, const struct spinach_type *type, const struct spinach_member *member,
                       uint32_t offset) {
  const uint64_t largest = type->kind == SPINACH_BOOL ? 1
                           : type->bits < 64          ? (UINT64_C(1) << type->bits) - 1
                                                      : UINT64_MAX;
  const uint64_t least = member && member->least > 0 ? (uint64_t)member->least : 0;
  const uint64_t most = member && member->most != INT64_MAX ? MIN((uint64_t)member->most, largest) : largest;
  const ItemRange range = {offset, type->size, least, most - least};
  if (least || most < (type->size < 8 ? (UINT64_C(1) << 8 * type->size) - 1 : UINT64_MAX))
    g_array_append_val(ranges, range);
}

// False: there is something of which only a close look tells.
static bool add_type(GArray *ranges, const struct spinach_type *type, const struct spinach_member *member,
                     uint32_t offset) {
  const bool number = type->kind == SPINACH_BOOL || type->kind == SPINACH_UINT || type->kind == SPINACH_BITS;
  if (number) {
    const bool plain = type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8;
    if (!plain || (member && (member->most < 0 || member->most < member->least))) return false;
    add_number(ranges, type, member, offset);
    return true;
  }
  if (type->kind != SPINACH_STRUCT) return false;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!add_type(ranges, type->members[i].type, &type->members[i], offset + type->members[i].offset)) return false;
  return true;
}

ItemCheck item_check_new(const struct spinach_type *type) {
  GArray *ranges = g_array_new(FALSE, FALSE, sizeof(ItemRange));
  const bool knows_all = type && add_type(ranges, type, NULL, 0);
  const uint32_t count = ranges->len;
  return (ItemCheck){(ItemRange *)(void *)g_array_free(ranges, FALSE), count, knows_all};
}

static uint64_t number_at(const uint8_t *at, uint32_t size) {
  uint64_t number = 0;
  switch (size) { // so that each is one load
  case 1: return *at;
  case 2: memcpy(&number, at, 2); break;
  case 4: memcpy(&number, at, 4); break;
  default: memcpy(&number, at, 8); break;
  }
  return number; // little-endian, as all hosts of simulators
}

bool item_check_passes(const ItemCheck *check, const void *item) {
  bool fine = check->knows_all;
  for (uint32_t i = 0; i < check->count; i++) {
    const ItemRange *range = &check->ranges[i];
    fine &= number_at((const uint8_t *)item + range->offset, range->size) - range->least <= range->span;
  }
  return fine;
}
