// lss fmt: the canonical layout of LSS text.
#ifndef LSS_FMT_H
#define LSS_FMT_H

#include <glib.h>

// The same program in canonical layout, which the caller frees.  The tokens, comments and line breaks stay the
// author's; indentation, spacing, blank lines and the alignment of comments at line ends become the formatter's.
// With a width that is not 0, lines that are longer are broken, except in strings and C code.
char *format_lss(const char *text, int width);

#endif
