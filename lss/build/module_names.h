// What the C of a module may name, read from the generated text around it: for suggestions in messages.
#ifndef LSS_MODULE_NAMES_H
#define LSS_MODULE_NAMES_H

#include <glib.h>
#include <stdbool.h>

// The names that the vocabulary's words of one kind know in the module of that file: `width` gives the ports, `param`
// the parameters, `event` the events.  Empty if the file is not the module's own .c.  The caller frees.
GPtrArray *module_names(const char *file, const char *text, const char *word);
// Whether the module's state has a field of this name.
bool module_has_field(const char *file, const char *text, const char *name);

#endif
