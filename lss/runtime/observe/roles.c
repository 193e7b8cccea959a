// What debug views say; see roles.h.
#include "lss/runtime/observe/roles.h"

#include <glib.h>
#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

const spinach_debug_role *view_role(const spinach_debug_view *view, const char *name) {
  for (uint32_t i = 0; i < view->role_count; i++)
    if (!strcmp(view->roles[i].role, name)) return &view->roles[i];
  return NULL;
}

const char *view_property(const spinach_debug_view *view, const char *name) {
  for (uint32_t i = 0; i < view->property_count; i++)
    if (!strcmp(view->properties[i].name, name)) return view->properties[i].value;
  return "";
}

uint64_t view_number(const spinach_debug_view *view, const char *name) {
  const char *text = view_property(view, name);
  return *text == '-' ? 0 : g_ascii_strtoull(text, NULL, 10);
}

int64_t view_context(const spinach_debug_view *view) {
  const char *context = view_property(view, "context");
  return *context && *context != '-' ? g_ascii_strtoll(context, NULL, 10) : NO_CONTEXT;
}

const spinach_debug_view *view_about(int64_t context, uint32_t number) {
  const spinach_debug_view *view = &machine->views[number];
  const int64_t own = view_context(view);
  return own == NO_CONTEXT || own == context ? view : NULL;
}

char *view_name(const spinach_debug_view *view) {
  const char *path = machine->instances[view->instance].path;
  const int64_t context = view_context(view);
  return context == NO_CONTEXT ? g_strdup(path) : g_strdup_printf("%s context %d", path, (int)context);
}

bool view_encloses(int32_t outer, int32_t inner) {
  for (; inner >= 0; inner = machine->instances[inner].parent)
    if (inner == outer) return true;
  return false;
}
