// Parts that come, meet and leave; see changes.h.
#include "lss/runtime/carrier/changes.h"

#include <stdlib.h>

// Nobody comes to a meeting before all have heard what was said at the one before the last.
enum { FIRST_ROOM = 64, MOST_AHEAD = 2 };

void changes_add(Changes *changes, const Change *change) {
  if (changes->count == changes->room) {
    changes->room = changes->room ? 2 * changes->room : FIRST_ROOM;
    changes->list = realloc(changes->list, changes->room * sizeof *changes->list);
    if (!changes->list) abort(); // it is short: there is no memory for anything
  }
  changes->list[changes->count++] = *change;
}

void changes_free(Changes *changes) {
  free(changes->list);
}

bool changes_look(Changes *changes, const Board *board, uint32_t part, ChangeKnown *known, bool *left) {
  const BoardSeat *seat = &board->seats[part];
  *left = atomic_load(&seat->over); // first: then it comes to no other meeting
  if (!known->came && atomic_load(&seat->process)) {
    known->came = true;
    changes_add(changes, &(Change){part, CHANGE_CAME, atomic_load(&board->memory->begins), {0}});
  }
  const uint64_t met = atomic_load(&seat->met);
  if (met - known->met > MOST_AHEAD) return false;
  while (known->met < met) {
    Change change = {part, CHANGE_MET, ++known->met, {0}};
    board_note(board, part, change.number, change.words);
    changes_add(changes, &change);
  }
  return true;
}

static const char *apply_coming(const Change *change, Board *board, uint32_t process) {
  if (change->number && !board_begins(board, change->number - 1))
    return "the parts of another host begin at another instant";
  return board_sit_at(board, change->part, process) ? NULL : "a part has come twice";
}

const char *changes_apply(const Change *change, Board *board, uint32_t process) {
  switch (change->kind) {
  case CHANGE_CAME: return apply_coming(change, board, process);
  case CHANGE_MET:
    if (change->number != atomic_load(&board->seats[change->part].met) + 1) return "a part has missed a meeting";
    board_attend_at(board, change->part, change->number, change->words);
    return NULL;
  case CHANGE_LEFT:
    board_leave_at(board, change->part);
    board_wake_all(board);
    return NULL;
  default: return "a part does what no part does";
  }
}
