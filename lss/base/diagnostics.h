// Diagnostics: everything that the compiler reports about wrong input.
//
// A diagnostic names a place, a check (one line of checks.def, explained by `lss explain CHECK`) and what is wrong
// there; notes that follow it show the other places concerned, and an instance path says in which copy of a module it
// came up. Reports are collected and printed by diag_flush(), in the order in which they were made; one that repeats an
// earlier one at the same place is dropped, with its notes.  After MAX_ERRORS errors no more are kept, and the
// compilation stops.
#ifndef LSS_DIAGNOSTICS_H
#define LSS_DIAGNOSTICS_H

#include "lss/base/location.h"

#include <glib.h>
#include <stdbool.h>

enum { MAX_ERRORS = 20 };

// NOWHERE as the place of a diagnostic: the message is printed without source line.
void diag_error(Location where, const char *check, const char *format, ...) G_GNUC_PRINTF(3, 4);
void diag_error_va(Location where, const char *check, const char *format, va_list arguments);
void diag_warning(Location where, const char *check, const char *format, ...) G_GNUC_PRINTF(3, 4);

// Adds another place to the last diagnostic; `where` may be NOWHERE for a remark without a place.
void diag_note(Location where, const char *format, ...) G_GNUC_PRINTF(2, 3);

// Says in which instance the last diagnostic came up; "" is the top and prints nothing.
void diag_instance(const char *path);

int diag_error_count(void);

// The text of what has been collected, which is then forgotten; the count of errors stays.
char *diag_take(void);

typedef struct {
  Location where; // NOWHERE for a remark without a place
  char *text;
} Note;

typedef struct {
  bool warning;
  Location where;
  const char *check;
  char *text;
  const char *instance; // NULL at the top
  GPtrArray *notes;     // Note*
} Diagnostic;

// From now on diag_flush() hands what was collected to `receive`, one at a time, in place of printing it; NULL: prints.
void diag_set_receiver(void (*receive)(const Diagnostic *diagnostic, gpointer data), gpointer data);

// Prints what has been collected to standard error and forgets it; the count of errors stays.
void diag_flush(void);

// Forgets everything, the count included; for processes that compile more than once.
void diag_reset(void);

// More than MAX_ERRORS were reported; a stage that sees this stops.
bool diag_gave_up(void);

// Text in place of a file that is not on disk (a -D option), for source lines in messages.
void diag_register_text(const char *file, const char *text);

// The nearest name to `wanted` among `names` (const char*, may hold NULLs), or NULL when none is near enough to be
// meant.
const char *diag_suggestion(const char *wanted, const GPtrArray *names);
// "; did you mean `x`?" or "".
const char *did_you_mean(const char *suggestion);

// Appends the source line of `where` and a line with its caret range to `out`; nothing when the line is not to be had.
void caret_print(GString *out, Location where);

// The text of a line (from 1) without its end, borrowed, and its length; NULL when the file has no such line.
const char *source_line(const char *file, int line, int *length);

// Behind the byte order mark that some editors put before a text.
const char *text_without_mark(const char *text);

// A location that spans from the start of `first` to the end of `last`.
Location location_span(Location first, Location last);

#endif
