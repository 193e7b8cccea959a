// Named access to the state; see names.h.
#include "lss/runtime/engine/names.h"

#include "lss/runtime/engine/request.h"
#include "lss/runtime/engine/type_bytes.h"
#include "lss/runtime/text/number.h"

static const spinach_machine *const machine = &spinach_machine_table;

uint64_t spinach_field_elements(const spinach_field *field) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < field->dimension_count; i++) count *= field->dimensions[i];
  return count;
}

char *spinach_element_name(const spinach_field *field, uint64_t index) {
  GString *name = g_string_new(field->name);
  uint64_t below = spinach_field_elements(field);
  for (uint32_t d = 0; d < field->dimension_count; d++) {
    below /= field->dimensions[d];
    g_string_append_printf(name, "[%" G_GUINT64_FORMAT "]", index / below);
    index %= below;
  }
  return g_string_free(name, FALSE);
}

bool spinach_is_integer(const struct spinach_type *type) {
  switch (type->kind) {
  case SPINACH_BOOL:
  case SPINACH_INT:
  case SPINACH_UINT:
  case SPINACH_PACKED:
  case SPINACH_ENUM: return true;
  case SPINACH_BITS: return type->bits <= 64;
  default: return false;
  }
}

int64_t spinach_integer(const struct spinach_type *type, const void *value) {
  uint64_t word = 0;
  memcpy(&word, value, type->size); // the hosts are little-endian
  unsigned shift = 64 - 8 * (unsigned)type->size;
  bool is_signed = type->kind == SPINACH_INT || type->kind == SPINACH_ENUM;
  return is_signed ? (int64_t)(word << shift) >> shift : (int64_t)word;
}

void *spinach_field_element(const spinach_field *field, void *state, uint64_t index) {
  if (field->ring_offset) {
    uint32_t oldest;
    memcpy(&oldest, (char *)state + field->ring_offset, sizeof oldest);
    index = (oldest + index) % field->dimensions[0];
  }
  return (char *)state + field->offset + index * field->type->size;
}

char *spinach_first_difference(const spinach_layout *layout, void *one, void *other) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    const uint64_t count = spinach_field_elements(field);
    if (!field->ring_offset &&
        !memcmp((char *)one + field->offset, (char *)other + field->offset, count * field->type->size))
      continue;
    for (uint64_t k = 0; k < count; k++)
      if (!spinach_type_equal(field->type, spinach_field_element(field, one, k),
                              spinach_field_element(field, other, k)))
        return spinach_element_name(field, k);
  }
  return NULL;
}

// An instant that is past is 0 from now on.
static void clear_past(int32_t instance, uint64_t *instant) {
  if (*instant <= spinach_cycles(machine->instances[instance].clock)) *instant = 0;
}

void *spinach_element(const spinach_place *place, uint64_t index) {
  void *element = spinach_field_element(place->field, spinach_instance_state(place->instance), place->first + index);
  if (place->field->kind == SPINACH_INSTANT) clear_past(place->instance, element);
  return element;
}

uint64_t spinach_role_elements(const spinach_debug_role *role) {
  return role->map.field ? role->map.count : role->state.count;
}

void *spinach_role_element(const spinach_debug_role *role, uint64_t index) {
  if (role->map.field) {
    const int64_t mapped = spinach_integer(role->map.field->type, spinach_element(&role->map, index));
    index = (uint64_t)mapped < role->state.count ? (uint64_t)mapped : 0;
  }
  return spinach_element(&role->state, index);
}

// Edit distance, given up beyond `limit`.
static unsigned distance(const char *a, const char *b, unsigned limit) {
  size_t n = strlen(a), m = strlen(b);
  if (n > m + limit || m > n + limit || m > 250) return limit + 1;
  unsigned row[256];
  for (size_t j = 0; j <= m; j++) row[j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = MIN(MIN(row[j] + 1, row[j - 1] + 1), change);
    }
  }
  return row[m];
}

const char *spinach_nearest(const char *wanted, uint32_t count, const char *(*name)(uint32_t index)) {
  unsigned best = MIN(3u, (unsigned)strlen(wanted) / 3 + 1) + 1;
  const char *nearest = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const char *candidate = name(i);
    unsigned d = candidate ? distance(wanted, candidate, best) : best;
    if (d < best) {
      best = d;
      nearest = candidate;
    }
  }
  return nearest;
}

static const char *instance_name(uint32_t index) {
  return machine->instances[index].layout ? machine->instances[index].path : NULL;
}

static const spinach_layout *searched; // by field_name()
static const char *field_name(uint32_t index) {
  return searched->fields[index].name;
}

static bool refuse(char **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(char **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *error = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return false;
}

// Reads the indices "[2][3]" behind a field's name; fewer than all dimensions mean all below.
static bool read_indices(const char *name, const char *at, spinach_place *place, char **error) {
  const spinach_field *field = place->field;
  place->first = 0;
  place->count = spinach_field_elements(field);
  for (uint32_t d = 0; *at; d++) {
    const char *end = at + 1;
    uint64_t index = 0, last = 0;
    bool fine = *at == '[' && number_take_count(&end, UINT64_MAX, &index);
    const bool ranged = fine && g_str_has_prefix(end, "..");
    end += ranged ? 2 : 0;
    if (ranged)
      fine = number_take_count(&end, UINT64_MAX, &last);
    else
      last = index;
    if (!fine || *end != ']') return refuse(error, "\"%s\": an index in brackets is expected at \"%s\"", name, at);
    if (d >= field->dimension_count)
      return refuse(error, "\"%s\": %s has %u dimensions", name, field->name, field->dimension_count);
    if (index >= field->dimensions[d] || last >= field->dimensions[d])
      return refuse(error, "\"%s\": the index must be less than %u", name, field->dimensions[d]);
    if (last < index) return refuse(error, "\"%s\": the range ends before it begins", name);
    if (ranged && end[1]) return refuse(error, "\"%s\": nothing may follow a range", name);
    place->count /= field->dimensions[d];
    place->first += index * place->count;
    place->count *= last - index + 1;
    at = end + 1;
  }
  return true;
}

const char *spinach_last_part(const char *name) {
  const char *last = name;
  int depth = 0;
  for (const char *at = name; *at; at++) {
    depth += (*at == '[') - (*at == ']');
    if (*at == '.' && depth <= 0) last = at + 1;
  }
  return last;
}

// What a name is followed by in the pattern of all state below it, if it is that of an instance, of an array of them,
// or of one that has others inside; NULL for other names.
static const char *all_below(const char *name) {
  const gsize length = strlen(name);
  for (uint32_t i = 0; length > 0 && i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    if (!instance->layout || !g_str_has_prefix(instance->path, name)) continue;
    if (!instance->path[length]) return ".*";
    if (instance->path[length] == '.') return ".**";
    if (instance->path[length] == '[') return "[*].**";
  }
  return NULL;
}

// Refuses a name whose part before the last dot, `path`, is no instance with state; NULL: it has no dot.
static bool refuse_name(const char *name, const char *path, char **error) {
  const char *below = all_below(name);
  if (below) return refuse(error, "\"%s\" is an instance; %s%s is all of its state", name, name, below);
  if (!path) return refuse(error, "\"%s\" is no state: write INSTANCE.FIELD (--list shows all)", name);
  const char *near = spinach_nearest(path, machine->instance_count, instance_name);
  return refuse(error, "\"%s\": there is no instance \"%s\" with state%s%s%s", name, path,
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

bool spinach_look_up(const char *name, spinach_place *place, char **error) {
  const char *dot = spinach_last_part(name) - 1;
  if (dot < name) return refuse_name(name, NULL, error);
  g_autofree char *path = g_strndup(name, (gsize)(dot - name));
  gsize length = strcspn(dot + 1, "[");
  g_autofree char *field = g_strndup(dot + 1, length);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    if (!instance->layout || strcmp(instance->path, path)) continue;
    place->instance = (int32_t)i;
    for (uint32_t k = 0; k < instance->layout->field_count; k++) {
      place->field = &instance->layout->fields[k];
      if (!strcmp(place->field->name, field)) return read_indices(name, dot + 1 + length, place, error);
    }
    searched = instance->layout;
    const char *near = spinach_nearest(field, searched->field_count, field_name);
    return refuse(error, "\"%s\": %s has no state \"%s\"%s%s%s", name, path, field, near ? "; did you mean \"" : "",
                  near ? near : "", near ? "\"?" : "");
  }
  return refuse_name(name, path, error);
}

bool spinach_find(const char *name, spinach_place *place) {
  g_autofree char *error = NULL;
  return spinach_look_up(name, place, &error) || spinach_report_error("%s", error);
}
