// Tables as text: lines of values with commas between them (RFC 4180, one line for a row).
#ifndef LSS_CSV_H
#define LSS_CSV_H

#include "lss/base/location.h"

#include <glib.h>
#include <stdbool.h>

typedef struct {
  const char *text; // without blanks around it, or without the quotation marks; in the arena
  bool quoted;
  Location place;
} CsvCell;

typedef struct {
  const char *path, *at;
  int line;             // from 1, of the text at `at`
  Location place;       // of the line that was read last
  const char *fault;    // the reason why the last line is no row; NULL: it is one
  Location fault_place; // the place of that
} Csv;

// Begins to read a text, which ends with a zero byte.
Csv csv_begin(const char *path, const char *text);

// The cells (CsvCell) of the next line that is not blank, into an array that is emptied first.  False at the end, or
// with a fault.
bool csv_row(Csv *csv, GArray *cells);

#endif
