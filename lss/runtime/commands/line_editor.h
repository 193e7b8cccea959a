// Lines that a person types at a terminal: edited, with a history, and completed by the tabulator.
//
// libedit does it, where it is installed (Debian's package libedit2, on which those of clang depend).  It is loaded
// when somebody sits at a terminal, so that no simulator depends on it; without it lines are read as the terminal has
// them.
#ifndef SPINACH_LINE_EDITOR_H
#define SPINACH_LINE_EDITOR_H

#include <glib.h>

// What `word` may become, given what is on the line before it: strings, which the caller frees.  One that ends in a dot
// or a parenthesis goes on.  NULL: it is the name of a file.
typedef GPtrArray *(*LineCompleter)(const char *before, const char *word);

// A word ends at each of these.
#define LINE_BREAKS " \t=<>!(),{}"

// The next line, without its end, which the caller frees with free(); NULL at the end.  A person is prompted.  No more
// is taken from standard input than the line.
char *line_read(const char *prompt, LineCompleter complete);

// A line that was read by an earlier process is in the history, too.
void line_remember(const char *line);

#endif
