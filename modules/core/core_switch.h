// core_switch.h: when a processor takes a program from another one, as text says it; see core_switch.lss.
#ifndef CORE_SWITCH_H
#define CORE_SWITCH_H

#include "lss/runtime/text/number.h"
#include "lss/runtime/text/quantity.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum core_switch_kind {
  CORE_SWITCH_NEVER,
  CORE_SWITCH_START,
  CORE_SWITCH_END,
  CORE_SWITCH_MARKER,
  CORE_SWITCH_SYMBOL,
  CORE_SWITCH_INSTRUCTIONS,
  CORE_SWITCH_TIME,
  CORE_SWITCH_WRONG,
};

enum { CORE_SWITCH_NAME = 256 };

struct core_switch_point {
  enum core_switch_kind kind;
  uint64_t number;             // of the marker, of instructions, of nanoseconds
  uint64_t later;              // nanoseconds after a marker
  char name[CORE_SWITCH_NAME]; // of the symbol
};

// The text between WORD( and ), if there is any and nothing follows; false: it is something else.
static inline bool core_switch_argument(const char *text, const char *word, char argument[CORE_SWITCH_NAME]) {
  const size_t size = strlen(word), length = strlen(text);
  if (strncmp(text, word, size) != 0 || text[size] != '(' || text[length - 1] != ')') return false;
  if (length < size + 3 || length - size - 2 >= CORE_SWITCH_NAME) return false;
  memcpy(argument, text + size + 1, length - size - 2);
  argument[length - size - 2] = '\0';
  return true;
}

// A whole number, not 0.
static inline bool core_switch_number(const char *text, uint64_t *number) {
  return number_parse(text, 999999999999999999, number) && *number > 0;
}

static inline bool core_switch_time(const char *text, uint64_t *nanoseconds) {
  const char *error;
  int64_t time;
  if (!quantity_read(text, DIM_TIME, 1000000000, &time, &error) || time <= 0) return false;
  *nanoseconds = (uint64_t)time;
  return true;
}

// What a cycle has brought for the phases in which the program goes from one processor to the other.
struct core_switch_seen {
  bool obeyed;  // a command was taken
  bool halted;  // the processor that is to give the program has halted,
  bool slot;    // before a delay slot
  bool emptied; // one of its caches is empty
  bool quiet;   // what left its caches is where it belongs
  bool passed;  // the last word of its state was passed on
};

// "marker(N)" or "marker(N) + TIME".
static inline bool core_switch_marker(const char *text, struct core_switch_point *point) {
  char marker[CORE_SWITCH_NAME];
  const char *plus = strchr(text, '+');
  size_t length = plus ? (size_t)(plus - text) : strlen(text);
  if (plus && !core_switch_time(plus + 1, &point->later)) return false;
  while (plus && length > 0 && text[length - 1] == ' ') length--;
  if (length >= sizeof marker) return false;
  memcpy(marker, text, length);
  marker[length] = '\0';
  return core_switch_argument(marker, "marker", point->name) && core_switch_number(point->name, &point->number) &&
         point->number <= UINT16_MAX;
}

static inline struct core_switch_point core_switch_read(const char *text) {
  struct core_switch_point point = {.kind = CORE_SWITCH_WRONG};
  if (!strcmp(text, "never")) {
    point.kind = CORE_SWITCH_NEVER;
  } else if (!strcmp(text, "start")) {
    point.kind = CORE_SWITCH_START;
  } else if (!strcmp(text, "end")) {
    point.kind = CORE_SWITCH_END;
  } else if (core_switch_marker(text, &point)) {
    point.kind = CORE_SWITCH_MARKER;
  } else if (core_switch_argument(text, "instructions", point.name)) {
    if (core_switch_number(point.name, &point.number)) point.kind = CORE_SWITCH_INSTRUCTIONS;
  } else if (core_switch_argument(text, "symbol", point.name)) {
    point.kind = CORE_SWITCH_SYMBOL;
  } else if (core_switch_time(text, &point.number)) {
    point.kind = CORE_SWITCH_TIME;
  }
  return point;
}

#endif
