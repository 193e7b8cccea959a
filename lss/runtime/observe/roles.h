// What debug views say (docs/language.md): their roles and properties, and which are about a processor.
#ifndef SPINACH_ROLES_H
#define SPINACH_ROLES_H

#include "lss/runtime/engine/machine.h"

enum { NO_CONTEXT = -1 };

// The role or property of a name.  NULL, "" or 0: the view has none, or not a number that is not negative.
const spinach_debug_role *view_role(const spinach_debug_view *view, const char *name);
const char *view_property(const spinach_debug_view *view, const char *name);
uint64_t view_number(const spinach_debug_view *view, const char *name);

// The program that it is about, of several that a processor executes at the same time; NO_CONTEXT: it does not say.
int64_t view_context(const spinach_debug_view *view);
// A view by its number, unless it is about another program than that one.
const spinach_debug_view *view_about(int64_t context, uint32_t number);

// "core", "core context 1": what people call the processor, or the program, that a view is about; to be freed.
char *view_name(const spinach_debug_view *view);

// Whether an instance is another one, or around it.
bool view_encloses(int32_t outer, int32_t inner);

#endif
