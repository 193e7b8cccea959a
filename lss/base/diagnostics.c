// Collects and prints diagnostics: order, duplicates, the bound on errors, suggestions for misspelt names.
#include "lss/base/diagnostics.h"

#include "lss/base/arena.h"
#include "lss/base/working.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static GPtrArray *pending; // of Diagnostic*
static GHashTable *seen;   // "file:line:col:check:text" of everything reported
static Diagnostic *last;   // NULL when the last report was a duplicate
static int errors;
static void (*receiver)(const Diagnostic *diagnostic, gpointer data);
static gpointer receiver_data;

static void note_free(gpointer data) {
  Note *note = data;
  g_free(note->text);
  g_free(note);
}

static void diagnostic_free(gpointer data) {
  Diagnostic *d = data;
  g_free(d->text);
  g_ptr_array_unref(d->notes);
  g_free(d);
}

static const char *short_path(const char *path) {
  enum { SHOWN = 100 };
  gsize n = strlen(path);
  if (n <= SHOWN) return path;
  g_autofree char *text = g_strdup_printf("%.*s...%s", SHOWN / 2, path, path + n - SHOWN / 2);
  return g_intern_string(text);
}

static void report(bool warning, Location where, const char *check, const char *format, va_list arguments) {
  if (!pending) pending = g_ptr_array_new_with_free_func(diagnostic_free);
  if (!seen) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  char *text = g_strdup_vprintf(format, arguments);
  // The same defect seen again in another instance of the same module differs in nothing but the instance.
  char *key = g_strdup_printf("%s:%d:%d:%s:%s", where.file ? where.file : "", where.line, where.column, check, text);
  last = NULL;
  if (!g_hash_table_add(seen, key)) {
    g_free(text);
    return;
  }
  if (!warning && errors++ >= MAX_ERRORS) {
    g_free(text);
    return;
  }
  last = g_new0(Diagnostic, 1);
  *last = (Diagnostic){.warning = warning,
                       .where = where,
                       .check = check,
                       .text = text,
                       .notes = g_ptr_array_new_with_free_func(note_free)};
  g_ptr_array_add(pending, last);
}

void diag_error(Location where, const char *check, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(false, where, check, format, arguments);
  va_end(arguments);
}

void diag_error_va(Location where, const char *check, const char *format, va_list arguments) {
  report(false, where, check, format, arguments);
}

void diag_warning(Location where, const char *check, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(true, where, check, format, arguments);
  va_end(arguments);
}

void diag_note(Location where, const char *format, ...) {
  if (!last) return;
  va_list arguments;
  va_start(arguments, format);
  Note *note = g_new0(Note, 1);
  note->where = where;
  note->text = g_strdup_vprintf(format, arguments);
  g_ptr_array_add(last->notes, note);
  va_end(arguments);
}

void diag_instance(const char *path) {
  if (last && path && *path) last->instance = g_intern_string(short_path(path));
}

int diag_error_count(void) {
  return errors;
}

static void print_place(GString *out, Location where) {
  if (where.file && where.line > 0)
    g_string_append_printf(out, "%s:%d:%d: ", where.file, where.line, where.column);
  else if (where.file)
    g_string_append_printf(out, "%s: ", where.file);
}

char *diag_take(void) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; pending && i < pending->len; i++) {
    Diagnostic *d = pending->pdata[i];
    print_place(out, d->where);
    g_string_append_printf(out, "%s[%s]: %s\n", d->warning ? "warning" : "error", d->check, d->text);
    caret_print(out, d->where);
    for (guint n = 0; n < d->notes->len; n++) {
      Note *note = d->notes->pdata[n];
      print_place(out, note->where);
      g_string_append_printf(out, "note: %s\n", note->text);
      caret_print(out, note->where);
    }
    if (d->instance) g_string_append_printf(out, "  in instance %s\n", d->instance);
  }
  if (errors > MAX_ERRORS && pending && pending->len)
    g_string_append_printf(out, "lss: more than %d errors; the rest is not shown\n", MAX_ERRORS);
  if (pending) g_ptr_array_set_size(pending, 0);
  last = NULL;
  return g_string_free(out, FALSE);
}

void diag_set_receiver(void (*receive)(const Diagnostic *diagnostic, gpointer data), gpointer data) {
  receiver = receive;
  receiver_data = data;
}

void diag_flush(void) {
  if (receiver) {
    for (guint i = 0; pending && i < pending->len; i++) receiver(pending->pdata[i], receiver_data);
    if (pending) g_ptr_array_set_size(pending, 0);
    last = NULL;
    return;
  }
  g_autofree char *text = diag_take();
  if (*text) working_end();
  fputs(text, stderr);
  fflush(stderr);
}

void diag_reset(void) {
  if (pending) g_ptr_array_set_size(pending, 0);
  if (seen) g_hash_table_remove_all(seen);
  last = NULL;
  errors = 0;
}

bool diag_gave_up(void) {
  return errors > MAX_ERRORS;
}

Location location_span(Location first, Location last_part) {
  if (!first.file) return last_part;
  if (last_part.file != first.file) return first;
  first.end_line = last_part.end_line;
  first.end_column = last_part.end_column;
  return first;
}

// Levenshtein distance, where a swap of neighbours also counts as one edit; gives up beyond `limit`.
static int edit_distance(const char *a, const char *b, int limit) {
  int n = (int)strlen(a), m = (int)strlen(b);
  if (abs(n - m) > limit || n > 100 || m > 100) return limit + 1;
  int rows[3][102];
  int *before = rows[0], *previous = rows[1], *current = rows[2];
  for (int j = 0; j <= m; j++) previous[j] = j;
  for (int i = 1; i <= n; i++) {
    current[0] = i;
    for (int j = 1; j <= m; j++) {
      int best = previous[j - 1] + (g_ascii_tolower(a[i - 1]) != g_ascii_tolower(b[j - 1]));
      best = MIN(best, MIN(previous[j], current[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) best = MIN(best, before[j - 2] + 1);
      current[j] = best;
    }
    int *spare = before;
    before = previous;
    previous = current;
    current = spare;
  }
  return previous[m];
}

const char *diag_suggestion(const char *wanted, const GPtrArray *names) {
  int limit = strlen(wanted) <= 2 ? 1 : strlen(wanted) <= 5 ? 2 : 3;
  const char *best = NULL;
  int best_distance = limit + 1;
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    if (!name || !strcmp(name, wanted)) continue;
    int distance = edit_distance(wanted, name, limit);
    // A name of two characters is near to every other one: require one in common.
    if (distance >= (int)MAX(strlen(wanted), strlen(name))) continue;
    if (distance < best_distance || (distance == best_distance && best && strcmp(name, best) < 0)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

const char *did_you_mean(const char *suggestion) {
  return suggestion ? arena_printf("; did you mean `%s`?", suggestion) : "";
}
