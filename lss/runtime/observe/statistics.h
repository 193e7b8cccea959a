// Statistics of a run, for tools as JSON and for people as a table.
#ifndef SPINACH_STATISTICS_H
#define SPINACH_STATISTICS_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/json.h"

#include <stdio.h>

// The value of a statistic.
typedef struct {
  bool real, is_signed;
  uint64_t integer;
  double number;
  const char *reported; // by a collector: path and name, the same text for the same value; else NULL
} spinach_value;
void spinach_value_write(Json *json, const spinach_value *value);

// Appends the present values of all statistics, in the order of the document.
void spinach_statistics_values(GArray *values);

// Of a connection: transferred, stalled, cancelled, idle.  NULL: not counted.
const uint64_t *spinach_connection_counts(uint32_t connection);

// Those of all connections that are counted, as rows of a list that is open in `json`: see run/document.h.
void spinach_connections_entries(Json *json);

// The members "statistics" and "derived" of the document (run/document.h), and the same without values: those of
// modules, not of collectors.
void spinach_statistics_entries(Json *json);
void spinach_statistics_names(Json *json);

// Those that a pattern matches, as they are now: by the end of the path of their instance, or of their own; "": all.
// Adds entries as above to a list that is open in `json`, or without one prints a line each.  Returns their number.
guint spinach_statistics_find(const char *pattern, Json *json);

// All for spreadsheets: path, name, value, unit and description of each, the clocks' cycles first.
char *spinach_statistics_csv(void);

// Prints the clocks' cycles and the statistics that are not zero.
void spinach_statistics_table(FILE *out);

#endif
