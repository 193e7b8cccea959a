// Rounds of the hosts that wait; see agreement.h.
#include "lss/runtime/carrier/agreement.h"

// What comes of a round.  True: an agreement.
static bool finish_round(Agreement *agreement, Board *board, const Round *all) {
  agreement->complete = all->finished;
  const bool counts = all->unchanged && all->sent == all->seen && board_end_at(board) <= all->end_at;
  agreement->holds = counts && agreement->own.least == all->least;
  if (counts) board_agreed(board, all->least, all->latest);
  return counts;
}

bool agreement_turn(Agreement *agreement, Board *board, uint32_t host_count, bool finished) {
  Round round;
  bool moved = false;
  if (agreement->complete) return false;
  if (agreement->joined) {
    if (!transport_joined(&round)) return false;
    agreement->joined = false;
    moved = finish_round(agreement, board, &round);
    if (agreement->complete) return true;
  }
  BoardWait own = {.least = UINT64_MAX};
  if (!finished && !board_all_wait(board, &own)) return moved;
  const bool unchanged = !finished && own.version == agreement->own.version;
  if (agreement->holds && unchanged) return moved;
  agreement->holds = false;
  agreement->own = own;
  agreement->joined = true;
  round = (Round){.unchanged = unchanged,
                  .finished = finished,
                  .least = own.least,
                  .end_at = board_end_at(board),
                  .latest = own.latest,
                  .sent = own.sent + own.said * (host_count - 1),
                  .seen = own.seen + own.known};
  transport_join(&round);
  return moved;
}

bool agreement_is_awaited(const Agreement *agreement, Board *board) {
  BoardWait own;
  return agreement->joined && board_all_wait(board, &own) && own.version == agreement->own.version;
}
