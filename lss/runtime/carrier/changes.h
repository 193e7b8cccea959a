// What becomes of the parts of a host, for the carriers of the others: that they have come, what they say at meetings,
// and that they have left.
#ifndef SPINACH_CARRIER_CHANGES_H
#define SPINACH_CARRIER_CHANGES_H

#include "lss/runtime/link/board.h"

typedef enum { CHANGE_CAME, CHANGE_MET, CHANGE_LEFT } ChangeKind;

typedef struct {
  uint32_t part, kind;
  uint64_t number;            // came: the instant at which the run begins there; met: of the meeting
  uint64_t words[BOARD_NOTE]; // said there
} Change;

// What is known here of a part.
typedef struct {
  bool came, left;
  uint64_t met;
} ChangeKnown;

// In the order in which they were found.
typedef struct {
  Change *list;
  size_t count, room;
} Changes;

void changes_add(Changes *changes, const Change *change);
void changes_free(Changes *changes);
// Adds what a part has done since the last look, but that it has left, which *left says.  False: no part does that.
bool changes_look(Changes *changes, const Board *board, uint32_t part, ChangeKnown *known, bool *left);
// A part of another host has done that.  NULL, or words on what is wrong with it.
const char *changes_apply(const Change *change, Board *board, uint32_t process);

#endif
