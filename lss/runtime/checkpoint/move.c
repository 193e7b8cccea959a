// Moving the state of other builds and other parts; see move.h.
#include "lss/runtime/checkpoint/move.h"

#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/layout.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static bool refuse_damage(GError **error, const char *what) {
  return spinach_refuse(error, "it is damaged: %s", what);
}

// ---- Clocks ---------------------------------------------------------------------------------------------------------

// The number of a clock in a source; G_MAXSIZE: it has none of that name.
static gsize find_clock(const Source *source, const char *name, gint64 *num, gint64 *den) {
  g_autoptr(GVariant) clocks = checkpoint_file_entry(&source->file, "clocks");
  for (gsize i = 0; i < g_variant_n_children(clocks); i++) {
    const char *there;
    g_variant_get_child(clocks, i, "(&sxx)", &there, num, den);
    if (!strcmp(there, name)) return i;
  }
  return G_MAXSIZE;
}

static bool check_clock(const spinach_clock *clock, GError **error) {
  bool found = false;
  for (guint i = 0; i < sources_count(); i++) {
    gint64 num, den;
    g_autoptr(GVariant) base = checkpoint_file_entry(&sources_at(i)->file, "ticks-per-second");
    if (find_clock(sources_at(i), clock->name, &num, &den) == G_MAXSIZE) continue;
    found = true;
    if (g_variant_get_uint64(base) != machine->ticks_per_second || num != clock->num || den != clock->den)
      return spinach_refuse(error, "it is of another machine: the clock \"%s\" has another frequency", clock->name);
  }
  return found || spinach_refuse(error, "it is of another machine: it has no clock \"%s\"", clock->name);
}

static bool has_clock(const char *name) {
  for (uint32_t i = 0; i < machine->clock_count; i++)
    if (!strcmp(machine->clocks[i].name, name)) return true;
  return false;
}

static bool check_clocks(GError **error) {
  for (uint32_t i = 0; i < machine->clock_count; i++)
    if (!check_clock(&machine->clocks[i], error)) return false;
  g_autoptr(GVariant) all = sources_list("clocks");
  GVariantIter iterator;
  const char *name;
  g_variant_iter_init(&iterator, all);
  while (!machine->part && g_variant_iter_next(&iterator, "(&sxx)", &name, NULL, NULL))
    if (!has_clock(name)) return spinach_refuse(error, "it is of another machine: this one has no clock \"%s\"", name);
  return true;
}

// What passing time changes beside the clocks, of parts that come together.
static void join_clockwork(const spinach_clockwork *there, bool first) {
  spinach_clockwork *here = spinach_passing;
  here->skipped = first ? there->skipped : MAX(here->skipped, there->skipped);
  here->last_progress = first ? there->last_progress : MAX(here->last_progress, there->last_progress);
  here->idle = first ? there->idle : here->idle && there->idle;
  here->looked = first ? there->looked : MAX(here->looked, there->looked);
  here->worked = first ? there->worked : MAX(here->worked, there->worked);
  here->idle_since = first ? there->idle_since : MAX(here->idle_since, there->idle_since);
}

static bool move_clocks(const Source *source, GError **error) {
  const spinach_clockwork *there = (const void *)source->memory;
  g_autoptr(GVariant) clocks = checkpoint_file_entry(&source->file, "clocks");
  const gsize count = g_variant_n_children(clocks);
  if (checkpoint_file_size(&source->file) < sizeof *there + 2 * count * sizeof *there->clocks)
    return refuse_damage(error, "it holds no time");
  join_clockwork(there, source == sources_first());
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    gint64 num, den;
    const gsize number = find_clock(source, machine->clocks[i].name, &num, &den);
    if (number == G_MAXSIZE) continue;
    spinach_passing->clocks[i] = there->clocks[number];
    spinach_passing->clocks[machine->clock_count + i] = there->clocks[count + number];
  }
  return true;
}

// ---- Instances ------------------------------------------------------------------------------------------------------

// The places of an instance that are needed here: of several the one with the same layout, if there is one.
static guint find_places(uint32_t instance, const char *present, SourcePlace places[2]) {
  const guint count = sources_find(machine->instances[instance].path, places);
  for (guint i = 0; i < count; i++)
    if (!strcmp(places[i].layout, present)) {
      places[0] = places[i];
      return 1;
    }
  return count;
}

static bool check_instance(uint32_t instance, GError **error) {
  SourcePlace places[2];
  const char *path = machine->instances[instance].path;
  g_autofree char *present = layout_of_instance(instance);
  const guint count = find_places(instance, present, places);
  if (!count) return spinach_refuse(error, "it is of another machine: it has no \"%s\"", path);
  const char *texts[] = {places[0].layout, count > 1 ? places[1].layout : NULL};
  g_autofree char *difference = layout_misfit(present, texts[0], texts[1]);
  return !difference || spinach_refuse(error, "it is of another machine: %s has %s", path, difference);
}

static bool check_instances(GError **error) {
  g_autoptr(GHashTable) here = g_hash_table_new(g_str_hash, g_str_equal);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    if (!machine->instances[i].layout) continue;
    g_hash_table_add(here, (gpointer)machine->instances[i].path);
    if (!check_instance(i, error)) return false;
  }
  for (guint i = 0; !machine->part && i < sources_count(); i++) {
    GHashTableIter all;
    gpointer path;
    g_hash_table_iter_init(&all, sources_at(i)->instances);
    while (g_hash_table_iter_next(&all, &path, NULL))
      if (!g_hash_table_contains(here, path))
        return spinach_refuse(error, "it is of another machine: this one has no \"%s\"", (const char *)path);
  }
  return true;
}

bool move_check(GError **error) {
  return check_clocks(error) && check_instances(error);
}

// Copies bytes of a source's state, which may lie about where they are.
static bool copy(const SourcePlace *place, guint64 within, guint64 length, uint8_t *to, GError **error) {
  const guint64 size = checkpoint_file_size(&place->source->file);
  if (place->offset > size || within > size - place->offset || length > size - place->offset - within)
    return refuse_damage(error, "a state is outside its arena");
  resident_copy(to, place->source->memory + place->offset + within, length);
  return true;
}

// The fields that an end of a crossing has, or that a whole one gets of it.
static bool move_fields(uint32_t instance, const SourcePlace *place, GError **error) {
  const spinach_layout *layout = machine->instances[instance].layout;
  uint8_t *state = spinach_instance_state((int32_t)instance);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    guint64 within;
    if (layout_find_field(place->layout, field, &within) &&
        !copy(place, within, spinach_field_elements(field) * field->type->size, state + field->offset, error))
      return false;
  }
  return true;
}

static bool move_instance(uint32_t instance, const SourcePlace *place, const char *present, GError **error) {
  if (strcmp(place->layout, present) != 0) return move_fields(instance, place, error);
  return copy(place, 0, layout_bytes(instance), spinach_instance_state((int32_t)instance), error);
}

// Of a state that was moved as it was, each text is as far from where its parameter is as that says.  Fields that are
// moved one by one bring none: parameters are set by the names in the header.
static bool move_texts(const Source *source, GError **error) {
  const gsize size = checkpoint_file_size(&source->file);
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    for (uint32_t k = 0; k < parameter->target_count && parameter->kind == SPINACH_PARAMETER_STRING; k++) {
      const spinach_target *target = &parameter->targets[k];
      const SourcePlace *known = g_hash_table_lookup(source->instances, machine->instances[target->instance].path);
      g_autofree char *present = known ? layout_of_instance((uint32_t)target->instance) : NULL;
      if (!known || strcmp(known->layout, present) != 0) continue;
      const guint64 place = known->offset + target->offset; // within the state, whose bounds were looked at
      spinach_text distance;
      memcpy(&distance, source->memory + place, sizeof distance);
      if (size < SPINACH_STRING_SIZE || distance > size - place || place + distance > size - SPINACH_STRING_SIZE)
        return refuse_damage(error, "a text is outside its arena");
      const char *text = (const char *)source->memory + place + distance;
      memcpy((char *)spinach_instance_state(target->instance) + target->text, text,
             strnlen(text, SPINACH_STRING_SIZE - 1)); // pages without text are left as they are: zeros
    }
  }
  return true;
}

// What comes from one source.
static bool move_source(Source *source, GError **error) {
  if (!move_clocks(source, error)) return false;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const char *path = machine->instances[i].path;
    if (!machine->instances[i].layout || !g_hash_table_contains(source->instances, path)) continue;
    SourcePlace places[2];
    g_autofree char *present = layout_of_instance(i);
    const guint count = find_places(i, present, places);
    for (guint k = 0; k < count; k++)
      if (places[k].source == source && !move_instance(i, &places[k], present, error)) return false;
  }
  return move_texts(source, error);
}

bool move_states(GError **error) {
  for (guint i = 0; i < sources_count(); i++) {
    Source *source = sources_at(i);
    const bool fine = sources_expand(source, NULL, error) && move_source(source, error);
    sources_free_memory(source);
    if (!fine) return false;
  }
  return true;
}

// ---- Streams --------------------------------------------------------------------------------------------------------

// Where a stream of a source is in the state of this machine's instance; false: it is not in it.
static bool find_stream(uint32_t instance, const SourcePlace *place, guint64 *offset) {
  const spinach_layout *layout = machine->instances[instance].layout;
  g_autofree char *present = layout_of_instance(instance);
  if (!strcmp(present, place->layout)) return true;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    guint64 there;
    if (!layout_find_field(place->layout, field, &there) || *offset < there ||
        *offset - there >= spinach_field_elements(field) * field->type->size)
      continue;
    *offset += field->offset - there;
    return true;
  }
  return false;
}

GVariant *move_open_files(void) {
  GVariantBuilder all;
  g_variant_builder_init(&all, G_VARIANT_TYPE(OPEN_FILES_TYPE));
  for (guint i = 0; i < sources_count(); i++) {
    g_autoptr(GVariant) files = checkpoint_file_entry(&sources_at(i)->file, "files");
    GVariantIter iterator;
    const char *path, *name;
    guint64 offset, bytes;
    gboolean output;
    g_variant_iter_init(&iterator, files);
    while (g_variant_iter_next(&iterator, "(&stb^&ayt)", &path, &offset, &output, &name, &bytes)) {
      const SourcePlace *place = g_hash_table_lookup(sources_at(i)->instances, path);
      const int32_t instance = layout_instance(path);
      if (place && instance >= 0 && find_stream((uint32_t)instance, place, &offset))
        g_variant_builder_add(&all, "(stb^ayt)", path, offset, output, name, bytes);
    }
  }
  return g_variant_ref_sink(g_variant_builder_end(&all));
}
