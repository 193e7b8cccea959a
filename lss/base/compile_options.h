// What a command line asks of a compilation.
#ifndef LSS_COMPILE_OPTIONS_H
#define LSS_COMPILE_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

typedef struct {
  GPtrArray *include_dirs; // const char*, -I
  GPtrArray *defines;      // const char*, "name=value", -D
  GPtrArray *collectors;   // const char*, files of collectors, --collect; may be NULL
  GPtrArray *watches;      // const char*, events that simulators count, --watch; may be NULL
  GPtrArray *records;      // const char*, what simulators can record, --record; may be NULL
  GPtrArray *waves;        // const char*, ports whose signals stay visible, --wave; may be NULL
  GPtrArray *bodies; // const char*, parts of a network that are elaborated though others are like them; may be NULL
  bool parts;        // of the parts of a network that are alike only one is elaborated
  int max_instances, max_steps;
  bool debug;
} CompileOptions;

#endif
