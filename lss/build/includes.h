// Reads in a C text what it asks of the preprocessor's search for headers, beyond the headers that were found.
#ifndef LSS_INCLUDES_H
#define LSS_INCLUDES_H

#include <glib.h>
#include <stdbool.h>

typedef struct {
  GPtrArray *quoted; // char*: names in #include "NAME", which are looked for beside the file first
  GPtrArray *tested; // char*: names in __has_include(<NAME>), or ("NAME"), with their first sign, '<' or '"'
  bool computed;     // some #include has its name from a macro
  bool unknown;      // some __has_include has
} Includes;

Includes *includes_read(const char *text, gsize size);
void includes_free(Includes *includes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Includes, includes_free)

#endif
