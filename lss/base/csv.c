// Tables as text; see csv.h.
#include "lss/base/csv.h"

#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

Csv csv_begin(const char *path, const char *text) {
  return (Csv){.path = g_intern_string(path), .at = text_without_mark(text), .line = 1};
}

static Location place_of(const Csv *csv, const char *start, const char *from, const char *to) {
  return (Location){csv->path, csv->line, (int)(from - start) + 1, csv->line, (int)(to - start) + 1};
}

static bool fail(Csv *csv, const char *start, const char *from, const char *to, const char *why) {
  csv->fault = why;
  csv->fault_place = place_of(csv, start, from, to);
  return false;
}

static const char *after_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

static const char *before_blanks(const char *start, const char *end) {
  while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
  return end;
}

// A value in quotation marks, where two of them stand for one; *at is moved behind it.
static bool take_quoted(Csv *csv, const char *start, const char **at, const char *end, CsvCell *cell) {
  const char *from = *at, *next = from + 1;
  g_autoptr(GString) text = g_string_new(NULL);
  for (; next < end; next++) {
    if (*next == '"' && (next + 1 == end || next[1] != '"')) break;
    if (*next == '"') next++;
    g_string_append_c(text, *next);
  }
  if (next >= end) return fail(csv, start, from, end, "the quotation mark at the end of this value is missing");
  *at = after_blanks(next + 1, end);
  if (*at < end && **at != ',') return fail(csv, start, *at, end, "a comma is missing after the quotation mark");
  *cell = (CsvCell){arena_strdup(text->str), true, place_of(csv, start, from, next + 1)};
  return true;
}

static bool take_cell(Csv *csv, const char *start, const char **at, const char *end, CsvCell *cell) {
  const char *from = after_blanks(*at, end);
  if (from < end && *from == '"') {
    *at = from;
    return take_quoted(csv, start, at, end, cell);
  }
  const char *comma = memchr(from, ',', (size_t)(end - from)), *to = before_blanks(from, comma ? comma : end);
  const char *mark = memchr(from, '"', (size_t)(to - from));
  if (mark)
    return fail(csv, start, mark, mark + 1,
                "a value that contains a quotation mark is in quotation marks, and has two in its place");
  *at = comma ? comma : end;
  *cell = (CsvCell){arena_strndup(from, (gsize)(to - from)), false, place_of(csv, start, from, to)};
  return true;
}

static bool take_cells(Csv *csv, const char *start, const char *end, GArray *cells) {
  for (const char *at = start;; at++) {
    CsvCell cell;
    if (!take_cell(csv, start, &at, end, &cell)) return false;
    g_array_append_val(cells, cell);
    if (at == end) return true;
  }
}

bool csv_row(Csv *csv, GArray *cells) {
  g_array_set_size(cells, 0);
  csv->fault = NULL;
  while (*csv->at) {
    const char *start = csv->at, *end = start + strcspn(start, "\n"), *next = *end ? end + 1 : end;
    if (end > start && end[-1] == '\r') end--;
    const bool blank = after_blanks(start, end) == end;
    csv->at = next;
    csv->place = place_of(csv, start, start, end);
    if (!blank && !take_cells(csv, start, end, cells)) return false;
    csv->line++;
    if (!blank) return true;
  }
  return false;
}
