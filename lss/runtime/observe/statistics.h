// Statistics of a run, for tools as JSON and for people as a table.
#ifndef SPINACH_STATISTICS_H
#define SPINACH_STATISTICS_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/json.h"

#include <stdio.h>

// The value of a statistic.
typedef struct spinach_value {
  bool real, is_signed;
  uint64_t integer;
  double number;
  const char *reported; // by a collector: path and name, the same text for the same value; else NULL
} spinach_value;
void spinach_value_write(Json *json, const spinach_value *value);

// A statistic, and its value now.
typedef struct {
  const char *path, *name, *unit, *description;
  const char *formula; // of a derived one
  bool gauge;          // it has a meaning at its instant alone
  spinach_value value;
} spinach_entry;
typedef void (*spinach_see_entry)(const spinach_entry *entry, void *data);
void spinach_statistics_each(spinach_see_entry see, void *data); // in the order of the document
void spinach_derived_each(spinach_see_entry see, void *data);
// As an element of a list that is open.
void spinach_entry_write(Json *json, const spinach_entry *entry);

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

// All for spreadsheets: path, name, value, unit and description of each, the clocks' cycles first.
char *spinach_statistics_csv(void);

// Prints the clocks' cycles and the statistics that are not zero.
void spinach_statistics_table(FILE *out);

#endif
