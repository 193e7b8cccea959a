// A place in a source file.
#ifndef LSS_LOCATION_H
#define LSS_LOCATION_H

// `file` is interned.  Lines and columns count from 1; end_column is exclusive.
typedef struct {
  const char *file;
  int line, column, end_line, end_column;
} Location;

// A Location that names no place in a file.
#define NOWHERE ((Location){0})

#endif
