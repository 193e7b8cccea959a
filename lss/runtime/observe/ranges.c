// Comparing a state with what its modules declare; see ranges.h.
#include "lss/runtime/observe/ranges.h"

#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/ring.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

enum { LONGEST_LAP = 16, MOST_COMPARED = 64 }; // elements

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  int64_t least, most; // both included
  int64_t modulus;     // of the remainder; 0: of the number itself
} Range;

static const Range everything = {INT64_MIN, INT64_MAX, 0};

typedef struct {
  GString *path; // behind the field's name, filled in from its end
  char *text;    // what is wrong
} Fault;

static bool wrong(Fault *fault, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(Fault *fault, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fault->text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return false;
}

static bool inside(Fault *fault, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool inside(Fault *fault, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *part = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_string_prepend(fault->path, part);
  return false;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------

static char *range_text(const struct spinach_type *type, Range range) {
  if (range.most == INT64_MAX) return g_strdup_printf("at least %" PRId64, range.least);
  if (range.least == INT64_MIN && type->kind == SPINACH_INT) return g_strdup_printf("at most %" PRId64, range.most);
  return g_strdup_printf("%" PRId64 " to %" PRId64, MAX(range.least, type->kind == SPINACH_INT ? INT64_MIN : 0),
                         range.most);
}

static bool check_remainder(uint64_t number, Range range, Fault *fault) {
  const int64_t remainder = (int64_t)(number % (uint64_t)range.modulus);
  if (remainder >= range.least && remainder <= range.most) return true;
  return wrong(fault, "%" PRIu64 " modulo %" PRId64 " is %" PRId64 ", outside its range, %" PRId64 " to %" PRId64,
               number, range.modulus, remainder, MAX(range.least, 0), MIN(range.most, range.modulus - 1));
}

// Whether a number, as the type's 64 bits, is within a range.
static bool within(const struct spinach_type *type, int64_t number, Range range) {
  if (type->kind != SPINACH_INT && number < 0) return range.most == INT64_MAX; // from 2^63 on
  return number >= range.least && number <= range.most;
}

static bool check_number(const struct spinach_type *type, int64_t number, Range range, Fault *fault) {
  if (range.modulus) return check_remainder((uint64_t)number, range, fault);
  if (within(type, number, range)) return true;
  g_autofree char *text = range_text(type, range);
  return type->kind == SPINACH_INT ? wrong(fault, "%" PRId64 " is outside its range, %s", number, text)
                                   : wrong(fault, "%" PRIu64 " is outside its range, %s", (uint64_t)number, text);
}

static bool check_enum(const struct spinach_type *type, int64_t number, Fault *fault) {
  if (!number) return true; // as where nothing is
  if (number > 0 && number < type->member_count && type->members[number].value == number) return true;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (type->members[i].value == number) return true;
  return wrong(fault, "%" PRId64 " is not a value of %s", number, type->name);
}

// The bits of the last word that the type does not have.
static bool check_bits(const struct spinach_type *type, const void *value, Fault *fault) {
  uint64_t word = 0;
  const uint32_t words = (type->bits + 63) / 64, rest = type->bits - 64 * (words - 1);
  memcpy(&word, (const char *)value + (size_t)8 * (words - 1), words > 1 ? sizeof word : type->size);
  return rest == 64 || !(word >> rest) || wrong(fault, "what it holds does not fit in %s", type->name);
}

// ---- Values --------------------------------------------------------------------------------------------------------

static bool check(const struct spinach_type *type, const void *value, Range range, Fault *fault);

static bool check_packed(const struct spinach_type *type, const void *value, Fault *fault) {
  if (!check_bits(type, value, fault)) return false;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    const int64_t number = (int64_t)spinach_packed_member(type, value, member);
    const bool fine = member->type->kind == SPINACH_ENUM
                          ? check_enum(member->type, number, fault)
                          : check_number(member->type, number, (Range){member->least, member->most, 0}, fault);
    if (!fine) return inside(fault, ".%s", member->name);
  }
  return true;
}

static bool check_struct(const struct spinach_type *type, const void *value, Fault *fault) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    if (!check(member->type, (const char *)value + member->offset, (Range){member->least, member->most, 0}, fault))
      return inside(fault, ".%s", member->name);
  }
  return true;
}

static bool check_array(const struct spinach_type *type, const void *value, Range range, Fault *fault) {
  for (uint32_t i = 0; i < type->length; i++)
    if (!check(type->element, (const char *)value + i * type->element->size, range, fault))
      return inside(fault, "[%u]", i);
  return true;
}

static bool check(const struct spinach_type *type, const void *value, Range range, Fault *fault) {
  switch (type->kind) {
  case SPINACH_BOOL: {
    const uint8_t truth = *(const uint8_t *)value;
    return truth <= 1 || wrong(fault, "%u is neither false (0) nor true (1)", truth);
  }
  case SPINACH_INT:
  case SPINACH_UINT: return check_number(type, spinach_integer(type, value), range, fault);
  case SPINACH_BITS:
    return check_bits(type, value, fault) &&
           (type->bits > 64 || check_number(type, spinach_integer(type, value), range, fault));
  case SPINACH_PACKED: return check_packed(type, value, fault);
  case SPINACH_ENUM: return check_enum(type, spinach_integer(type, value), fault);
  case SPINACH_STRUCT: return check_struct(type, value, fault);
  case SPINACH_ARRAY: return check_array(type, value, range, fault);
  default: return true;
  }
}

// A member of a value, or of all elements of an array: "ring.head".
static bool check_member(const struct spinach_type *type, const void *value, const char *name, Range range,
                         Fault *fault) {
  if (!*name) return check(type, value, range, fault);
  if (type->kind == SPINACH_ARRAY) {
    for (uint32_t i = 0; i < type->length; i++)
      if (!check_member(type->element, (const char *)value + i * type->element->size, name, range, fault))
        return inside(fault, "[%u]", i);
    return true;
  }
  const size_t length = strcspn(name, ".");
  const struct spinach_member *member = type->members;
  while (strncmp(member->name, name, length) != 0 || member->name[length]) member++; // it is there: the compiler looked
  const bool fine = type->kind == SPINACH_PACKED
                        ? check_number(member->type, (int64_t)spinach_packed_member(type, value, member), range, fault)
                        : check_member(member->type, (const char *)value + member->offset,
                                       name + length + (name[length] == '.'), range, fault);
  return fine || inside(fault, ".%s", member->name);
}

// ---- Fields --------------------------------------------------------------------------------------------------------

// Whether not all bits of a type are values of it.
static bool is_limited(const struct spinach_type *type) {
  switch (type->kind) {
  case SPINACH_BOOL:
  case SPINACH_ENUM:
  case SPINACH_PACKED: return true;
  case SPINACH_BITS: return type->bits < 8 * type->size;
  case SPINACH_ARRAY: return is_limited(type->element);
  case SPINACH_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      const struct spinach_member *member = &type->members[i];
      if (member->least != INT64_MIN || member->most != INT64_MAX || is_limited(member->type)) return true;
    }
    return false;
  default: return false;
  }
}

// What reports alone look at may be anything, and so may what counts; of streams the runtime holds the files.
static bool is_looked_at(const spinach_field *field) {
  return field->ranges ||
         ((field->kind == SPINACH_BEHAVIOUR || field->kind == SPINACH_MEMORY) && is_limited(field->type));
}

static bool check_element(const spinach_field *field, const void *value, Fault *fault) {
  bool fine = check(field->type, value, everything, fault);
  for (const spinach_state_range *range = field->ranges; fine && range && range->member; range++)
    fine = check_member(field->type, value, range->member, (Range){range->least, range->most, range->modulus}, fault);
  return fine;
}

static bool ring_is_whole(const spinach_ring *ring, uint32_t count) {
  const uint32_t longest = MIN(LONGEST_LAP, count / 2);
  return ring->next < count && ring->period <= longest && ring->reach <= LONGEST_LAP &&
         (ring->period ? ring->matched < ring->period : !ring->matched);
}

static char *fault_at(int32_t instance, const char *element, Fault *fault) {
  g_autofree char *text = fault->text;
  return g_strdup_printf("%s.%s%s: %s", machine->instances[instance].path, element, fault->path->str, text);
}

static char *field_fault(int32_t instance, const spinach_field *field, uint64_t most) {
  const uint64_t count = spinach_field_elements(field);
  if (!field->ring_offset && (count > most || !is_looked_at(field))) return NULL;
  g_autoptr(GString) path = g_string_new(NULL);
  Fault fault = {path, NULL};
  const char *state = spinach_instance_state(instance);
  if (field->ring_offset) {
    if (ring_is_whole((const spinach_ring *)(state + field->ring_offset), field->dimensions[0])) return NULL;
    wrong(&fault, "what says where its latest element is goes beyond its elements");
    return fault_at(instance, field->name, &fault);
  }
  for (uint64_t i = 0; i < count; i++) {
    if (check_element(field, state + field->offset + i * field->type->size, &fault)) continue;
    g_autofree char *element = spinach_element_name(field, i);
    return fault_at(instance, element, &fault);
  }
  return NULL;
}

static char *instance_fault(uint32_t instance, uint64_t most) {
  const spinach_layout *layout = machine->instances[instance].layout;
  for (uint32_t k = 0; layout && k < layout->field_count; k++) {
    char *text = field_fault((int32_t)instance, &layout->fields[k], most);
    if (text) return text;
  }
  return NULL;
}

// ---- Relations -----------------------------------------------------------------------------------------------------

static char *said; // by the first that found something

static void take(const char *path, const char *text) {
  if (!said) said = g_strdup_printf("%s: %s", path, text);
}

char *spinach_relations_fault(void) {
  spinach_on_remark = take;
  for (uint32_t i = 0; i < machine->cluster_count && !said; i++)
    if (machine->clusters[i].check_state) machine->clusters[i].check_state(spinach_cluster_state[i]);
  spinach_on_remark = NULL;
  return g_steal_pointer(&said);
}

// ---- States --------------------------------------------------------------------------------------------------------

char *spinach_ranges_fault(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    char *text = instance_fault(i, UINT64_MAX);
    if (text) return text;
  }
  return spinach_relations_fault();
}

char *spinach_ranges_value_fault(const spinach_place *place, const void *value) {
  g_autoptr(GString) path = g_string_new(NULL);
  Fault fault = {path, NULL};
  if (check_element(place->field, value, &fault)) return NULL;
  g_autofree char *element = spinach_element_name(place->field, place->first);
  return fault_at(place->instance, element, &fault);
}

void spinach_ranges_watch(void) {
  static uint32_t turn;
  if (++turn >= machine->instance_count) turn = 0;
  g_autofree char *text = instance_fault(turn, MOST_COMPARED);
  if (text) spinach_error(turn, "%s", text + strlen(machine->instances[turn].path) + strlen("."));
}
