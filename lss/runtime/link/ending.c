// How a run in parts ends: who wants it to, when, and who is gone; see board.h.
#include "lss/runtime/link/board.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void board_end_of(Board *board, uint32_t number, BoardEnd how, uint64_t at, const char *reason) {
  BoardSeat *seat = &board->seats[number];
  if (atomic_load(&seat->end)) return;
  const size_t length = strlen(reason);
  const size_t kept = length < BOARD_REASON ? length : BOARD_REASON - 1;
  memcpy(seat->reason, reason, kept);
  seat->reason[kept] = 0;
  atomic_store(&seat->end_at, at);
  atomic_store(&seat->end, how);
  uint64_t before = atomic_load(&board->memory->end_at);
  while (!before || at < before)
    if (atomic_compare_exchange_weak(&board->memory->end_at, &before, at)) break;
  board_wake_all(board);
}

void board_end(Board *board, BoardEnd how, uint64_t at, const char *reason) {
  board_end_of(board, board->own, how, at, reason);
}

uint64_t board_end_at(const Board *board) {
  const uint64_t at = atomic_load(&board->memory->end_at);
  return at ? at : UINT64_MAX;
}

BoardEnd board_end_reason(const Board *board, uint32_t *seat, char *reason) {
  BoardEnd how = BOARD_RUNS;
  uint64_t first = UINT64_MAX;
  for (uint32_t i = 0; i < board->count; i++) {
    const uint32_t end = atomic_load(&board->seats[i].end);
    const uint64_t at = atomic_load(&board->seats[i].end_at);
    if (!end || end > BOARD_GONE || (how != BOARD_RUNS && at >= first)) continue;
    how = end;
    first = at;
    *seat = i;
    memcpy(reason, board->seats[i].reason, BOARD_REASON);
    reason[BOARD_REASON - 1] = 0;
  }
  return how;
}

void board_leave_at(Board *board, uint32_t seat) {
  atomic_store(&board->seats[seat].over, 1);
}

void board_leave(Board *board) {
  board_leave_at(board, board->own);
}

// Whether a process has ended, also if nobody has waited for it.
static bool has_ended(Board *board, uint32_t seat) {
  const uint32_t process = atomic_load(&board->seats[seat].process);
  if (!process) return false;
  if (board->descriptors[seat] < 0) board->descriptors[seat] = (int)syscall(SYS_pidfd_open, process, 0);
  if (board->descriptors[seat] < 0) return errno == ESRCH || errno == EINVAL;
  struct pollfd descriptor = {board->descriptors[seat], POLLIN, 0};
  return poll(&descriptor, 1, 0) > 0;
}

bool board_lacks_carrier(const Board *board) {
  const uint32_t process = atomic_load(&board->memory->carrier_process);
  if (!process || board_is_full(board)) return false;
  const int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  if (descriptor < 0) return errno == ESRCH || errno == EINVAL;
  struct pollfd look = {descriptor, POLLIN, 0};
  const bool gone = poll(&look, 1, 0) > 0;
  close(descriptor);
  return gone;
}

uint32_t board_look_for_dead(Board *board, const uint32_t *seats, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const _Atomic uint32_t *over = &board->seats[seats[i]].over; // looked at again: it may leave in between
    if (!atomic_load(over) && has_ended(board, seats[i]) && !atomic_load(over)) return seats[i];
  }
  return UINT32_MAX;
}

void board_break(Board *board, uint32_t gone) {
  uint32_t nobody = 0;
  atomic_compare_exchange_strong(&board->memory->broken, &nobody, gone + 1);
  board_wake_all(board);
}

uint32_t board_who_is_gone(const Board *board) {
  return atomic_load(&board->memory->broken) - 1;
}

bool board_is_broken(const Board *board) {
  return atomic_load(&board->memory->broken);
}
