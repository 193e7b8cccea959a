// lss fmt --width: no line is longer than the width, as far as it can be broken.
#ifndef LSS_FMT_WRAP_H
#define LSS_FMT_WRAP_H

#include <glib.h>
#include <stdbool.h>

enum { FMT_COMMENT_COLUMN = 48 }; // where comments at the ends of short lines begin

// A line of formatted text.  C code and comments may go over several lines of the file.
typedef struct {
  GString *code; // without indentation
  char *comment; // at the end of the line, or NULL
  int column;    // where it was printed
  int indent;    // columns
  bool blank_before;
} FmtLine;

void fmt_line_free(gpointer line);

int fmt_code_width(const FmtLine *line); // columns of its code, with the indentation

// Breaks what is longer than `width`; whether anything was.  Indentation and columns are not right after it: the text
// of the lines wants to be formatted again, and wrapped again, until nothing changes.
bool fmt_wrap(GPtrArray *lines, int width);

#endif
