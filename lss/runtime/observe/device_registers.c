// Words of memory that have names; see device_registers.h.
#include "lss/runtime/observe/device_registers.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/text/pattern.h"

static const spinach_machine *const machine = &spinach_machine_table;

typedef void (*Act)(void *context, const char *path, const spinach_debug_name *word, uint32_t value);

// What processors find at several addresses is one region.
static bool is_known(const GPtrArray *regions, const spinach_debug_region *region) {
  for (guint i = 0; i < regions->len; i++) {
    const spinach_debug_region *other = regions->pdata[i];
    if (other->state.instance == region->state.instance && other->state.field == region->state.field) return true;
  }
  return false;
}

static void each_word(const spinach_debug_region *region, Act act, void *context) {
  const spinach_field *field = region->state.field;
  for (uint32_t i = 0; i < region->name_count; i++) {
    const spinach_debug_name *word = &region->names[i];
    const uint64_t at = (uint64_t)word->offset / field->type->size;
    if (word->offset < 0 || at >= region->state.count) continue;
    const uint32_t value = (uint32_t)spinach_integer(field->type, spinach_element(&region->state, at));
    act(context, machine->instances[region->state.instance].path, word, value);
  }
}

static void each(Act act, void *context) {
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->view_count; i++)
    for (uint32_t k = 0; k < machine->views[i].region_count; k++) {
      const spinach_debug_region *region = &machine->views[i].regions[k];
      if (!region->name_count || is_known(known, region)) continue;
      g_ptr_array_add(known, (gpointer)region);
      each_word(region, act, context);
    }
}

// "enable|threshold=0x3|0x100": what is set, by name; the rest as a number.
static void append_bits(GString *out, const spinach_debug_name *word, uint32_t value) {
  const gsize start = out->len;
  for (uint32_t i = 0; i < word->bit_count; i++) {
    const spinach_debug_bits *bits = &word->bits[i];
    if (!(value & bits->mask)) continue;
    g_string_append_printf(out, "%s%s", out->len > start ? "|" : "", bits->name);
    if (bits->mask & (bits->mask - 1))
      g_string_append_printf(out, "=0x%x", (value & bits->mask) >> __builtin_ctz(bits->mask));
    value &= ~bits->mask;
  }
  if (value || out->len == start) g_string_append_printf(out, "%s0x%x", out->len > start ? "|" : "", value);
}

typedef struct {
  const char *pattern;
  spinach_see_register see;
  void *data;
  guint count;
} Wanted;

static void see_word(void *context, const char *path, const spinach_debug_name *word, uint32_t value) {
  Wanted *wanted = context;
  g_autofree char *name = g_strdup_printf("%s.%s", path, word->name);
  if (!spinach_path_matches(wanted->pattern, name) && !spinach_path_matches(wanted->pattern, path)) return;
  g_autoptr(GString) bits = g_string_new(NULL);
  if (word->bit_count) append_bits(bits, word, value);
  wanted->see(name, value, bits->str, wanted->data);
  wanted->count++;
}

guint spinach_registers_find(const char *pattern, spinach_see_register see, void *data) {
  g_autofree char *anywhere = *pattern ? g_strconcat("**.", pattern, NULL) : g_strdup("**"); // as for statistics
  Wanted wanted = {anywhere, see, data, 0};
  each(see_word, &wanted);
  return wanted.count;
}

static void see_nothing(const char *name, uint32_t value, const char *bits, void *data) {
  (void)name, (void)value, (void)bits, (void)data;
}

char *spinach_registers_none(const char *pattern) {
  g_autofree char *longer = g_strconcat(pattern, "*", NULL);
  const guint count = spinach_registers_find(longer, see_nothing, NULL);
  return count
             ? g_strdup_printf("no register has a name that matches \"%s\"; \"%s\" matches %u", pattern, longer, count)
             : g_strdup_printf("no register has a name that matches \"%s\"", pattern);
}

static void append_register(const char *name, uint32_t value, const char *bits, void *out) {
  g_string_append_printf(out, "%-40s 0x%08x%s%s\n", name, value, *bits ? "  " : "", bits);
}

void spinach_registers_append(GString *out, const char *pattern) {
  if (spinach_registers_find(pattern, append_register, out)) return;
  g_autofree char *none = spinach_registers_none(pattern);
  g_string_append_printf(out, "%s\n", none);
}

static void report_word(void *context, const char *path, const spinach_debug_name *word, uint32_t value) {
  if (!word->bit_count || !value) return;
  g_autoptr(GString) text = g_string_new(NULL);
  append_bits(text, word, value);
  fprintf(context, "%s.%s = %s\n", path, word->name, text->str);
}

void spinach_registers_report(FILE *out) {
  each(report_word, out);
}
