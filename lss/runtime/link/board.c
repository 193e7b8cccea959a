// Seats, conditional promises and sleep; see board.h.  How runs end is in ending.c.
#include "lss/runtime/link/board.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ONE_COUNT = 64, BELOW = 32, LINE = 64, EVERYBODY = 0x7fffffff };

// ---- Where things are ---------------------------------------------------------------------------------------------

static uint32_t nodes_above(uint32_t below) {
  return below <= ONE_COUNT ? 1 : (below + BELOW - 1) / BELOW;
}

// Those that one node of the next level counts.
static uint32_t group_of(uint32_t nodes) {
  return nodes <= ONE_COUNT ? nodes : BELOW;
}

static size_t count_words(uint32_t count) {
  size_t words = 0;
  for (uint32_t nodes = count;;) {
    nodes = nodes_above(nodes);
    words += nodes;
    if (nodes == 1) return words;
  }
}

size_t board_bytes(uint32_t count) {
  const size_t counts = count_words(count) * sizeof(uint32_t);
  return sizeof(BoardMemory) + count * sizeof(BoardSeat) + (counts + LINE - 1) / LINE * LINE;
}

bool board_attach(Board *board, void *memory, uint32_t count, uint32_t own) {
  *board = (Board){.memory = memory, .count = count, .own = own};
  board->seats = (BoardSeat *)board->memory->rest;
  board->mine = &board->seats[own];
  _Atomic uint32_t *counts = (_Atomic uint32_t *)(board->seats + count);
  for (uint32_t nodes = count; board->levels < BOARD_LEVELS;) {
    nodes = nodes_above(nodes);
    board->counts[board->levels++] = counts;
    counts += nodes;
    if (nodes == 1) break;
  }
  board->sequences = calloc(count, sizeof *board->sequences);
  board->descriptors = malloc(count * sizeof *board->descriptors);
  if (!board->sequences || !board->descriptors) return false;
  for (uint32_t i = 0; i < count; i++) board->descriptors[i] = -1;
  return true;
}

void board_detach(Board *board) {
  for (uint32_t i = 0; board->descriptors && i < board->count; i++)
    if (board->descriptors[i] >= 0) close(board->descriptors[i]);
  free(board->descriptors);
  free(board->sequences);
}

// ---- The beginning ------------------------------------------------------------------------------------------------

bool board_claim(Board *board, const char *hash, uint32_t *first, char *other) {
  BoardMemory *memory = board->memory;
  uint32_t nobody = 0;
  if (atomic_compare_exchange_strong(&memory->claimed, &nobody, 1)) {
    memory->first = board->own;
    memcpy(memory->hash, hash, BOARD_HASH);
    atomic_store(&memory->claimed, 2);
  }
  // Who writes this needs a moment; who was killed there leaves a board that nobody can use.
  for (int i = 0; atomic_load(&memory->claimed) != 2 && i < 10000; i++)
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  *first = memory->first;
  memcpy(other, memory->hash, BOARD_HASH);
  other[BOARD_HASH] = 0;
  return !memcmp(memory->hash, hash, BOARD_HASH);
}

bool board_begins(Board *board, uint64_t instant) {
  uint64_t before = 0;
  return atomic_compare_exchange_strong(&board->memory->begins, &before, instant + 1) || before == instant + 1;
}

bool board_sit_at(Board *board, uint32_t seat, uint32_t process) {
  uint32_t nobody = 0;
  if (!atomic_compare_exchange_strong(&board->seats[seat].process, &nobody, process)) return false;
  atomic_fetch_add(&board->memory->present, 1);
  board_wake_all(board);
  return true;
}

bool board_sit(Board *board, uint32_t process) {
  return board_sit_at(board, board->own, process);
}

bool board_is_full(const Board *board) {
  return atomic_load(&board->memory->present) >= board->count;
}

uint32_t board_missing(const Board *board) {
  for (uint32_t i = 0; i < board->count; i++)
    if (!atomic_load(&board->seats[i].process)) return i;
  return board->count;
}

// ---- Conditional promises -----------------------------------------------------------------------------------------

// Counts are of those that are posted, and begin at 0: a node is full when it has as many as are below it.  Adds a
// seat to them, and, where that fills a node, the node to those above it.
static void count_in(Board *board, uint32_t seat) {
  uint32_t index = seat, below = board->count;
  for (uint32_t level = 0; level < board->levels; level++) {
    const uint32_t group = group_of(below), node = index / group, first = node * group;
    const uint32_t all = below - first < group ? below - first : group;
    if (atomic_fetch_add(&board->counts[level][node], 1) + 1 != all) return;
    below = nodes_above(below);
    index = node;
  }
}

// Takes it off again, and a node that was full off those above it.
static void count_out(Board *board) {
  uint32_t index = board->own, below = board->count;
  for (uint32_t level = 0; level < board->levels; level++) {
    const uint32_t group = group_of(below), node = index / group, first = node * group;
    const uint32_t all = below - first < group ? below - first : group;
    if (atomic_fetch_sub(&board->counts[level][node], 1) != all) return;
    below = nodes_above(below);
    index = node;
  }
}

static bool all_are_counted(const Board *board) {
  uint32_t below = board->count;
  for (uint32_t level = 0; level + 1 < board->levels; level++) below = nodes_above(below);
  return atomic_load(&board->counts[board->levels - 1][0]) == below;
}

// Who reads one of these words reads the sequence number afterwards: then that is the one before them, or a later one.
void board_post(Board *board, uint64_t at, uint64_t own, uint64_t sent, uint64_t seen) {
  BoardSeat *seat = board->mine;
  atomic_store_explicit(&seat->at, at, memory_order_release);
  atomic_store_explicit(&seat->own, own, memory_order_release);
  atomic_store_explicit(&seat->sent, sent, memory_order_release);
  atomic_store_explicit(&seat->seen, seen, memory_order_release);
  atomic_fetch_add(&seat->sequence, 1);
  board->posted = true;
  count_in(board, board->own);
}

void board_withdraw(Board *board) {
  count_out(board);
  board->posted = false;
  atomic_fetch_add(&board->mine->sequence, 1);
}

bool board_all_wait(Board *board, BoardWait *wait) {
  *wait = (BoardWait){.least = UINT64_MAX};
  if (!all_are_counted(board)) return false;
  for (uint32_t i = 0; i < board->count; i++) {
    const BoardSeat *seat = &board->seats[i];
    const bool elsewhere = atomic_load(&seat->carrier);
    const uint64_t met = atomic_load(&seat->met);
    *(elsewhere ? &wait->known : &wait->said) += met;
    if (elsewhere) {
      wait->version += met; // which only grows, too
      continue;
    }
    board->sequences[i] = atomic_load(&seat->sequence);
    if (!(board->sequences[i] & 1)) return false;
    const uint64_t own = atomic_load(&seat->own), at = atomic_load(&seat->at);
    if (own < wait->least) wait->least = own;
    if (at > wait->latest) wait->latest = at;
    wait->sent += atomic_load(&seat->sent);
    wait->seen += atomic_load(&seat->seen);
    wait->version += board->sequences[i]; // they only grow
  }
  for (uint32_t i = 0; i < board->count; i++)
    if (!atomic_load(&board->seats[i].carrier) && atomic_load(&board->seats[i].sequence) != board->sequences[i])
      return false;
  return true;
}

// True: that is later than what was known.
static bool raise_nothing_before(Board *board, uint64_t instant) {
  uint64_t before = atomic_load(&board->memory->nothing_before);
  while (before < instant)
    if (atomic_compare_exchange_weak(&board->memory->nothing_before, &before, instant)) return true;
  return false;
}

// Where all are posted, and nothing is under way, nothing happens before the least of what they do.
bool board_agree(Board *board) {
  BoardWait wait;
  if (!all_are_counted(board)) return false;
  const uint32_t carrier = atomic_load(&board->memory->carrier);
  if (carrier && carrier <= board->count) board_wake(board, carrier - 1);
  if (carrier) return false;
  return board_all_wait(board, &wait) && wait.sent == wait.seen && raise_nothing_before(board, wait.least);
}

uint64_t board_nothing_before(const Board *board) {
  return atomic_load(&board->memory->nothing_before);
}

uint64_t board_latest(const Board *board) {
  uint64_t latest = 0;
  for (uint32_t i = 0; i < board->count; i++) {
    const uint64_t at = atomic_load(&board->seats[i].at);
    if (at > latest) latest = at;
  }
  return latest;
}

// ---- Meetings -----------------------------------------------------------------------------------------------------

// Who comes to the meeting after the next one has seen all at the next, so that all have read what is overwritten.
void board_attend_at(Board *board, uint32_t number, uint64_t n, const uint64_t *words) {
  BoardSeat *seat = &board->seats[number];
  for (uint32_t i = 0; i < BOARD_NOTE; i++) atomic_store(&seat->notes[n % 2].words[i], words[i]);
  atomic_store(&seat->met, n);
  board_wake_all(board);
}

void board_attend(Board *board, uint64_t n, const uint64_t *words) {
  board_attend_at(board, board->own, n, words);
}

bool board_all_met(const Board *board, uint64_t n) {
  for (uint32_t i = 0; i < board->count; i++)
    if (atomic_load(&board->seats[i].met) < n) return false;
  return true;
}

bool board_has_left(const Board *board, uint64_t n) {
  for (uint32_t i = 0; i < board->count; i++)
    if (atomic_load(&board->seats[i].over) && atomic_load(&board->seats[i].met) < n) return true;
  return false;
}

void board_note(const Board *board, uint32_t seat, uint64_t n, uint64_t *words) {
  for (uint32_t i = 0; i < BOARD_NOTE; i++) words[i] = atomic_load(&board->seats[seat].notes[n % 2].words[i]);
}

// ---- Parts on other hosts -----------------------------------------------------------------------------------------

// It counts as posted, so that the counts are full as soon as the parts of this host are.
void board_carry(Board *board, uint32_t seat, uint32_t process) {
  atomic_store(&board->memory->carrier_process, process);
  atomic_store(&board->seats[seat].carrier, board->own + 1);
  atomic_store(&board->memory->carrier, board->own + 1);
  count_in(board, seat);
}

bool board_is_carried(const Board *board) {
  return atomic_load_explicit(&board->memory->carrier, memory_order_relaxed);
}

uint32_t board_here(const Board *board) {
  uint32_t here = 0;
  for (uint32_t i = 0; i < board->count; i++) here += !atomic_load(&board->seats[i].carrier);
  return here;
}

void board_agreed(Board *board, uint64_t nothing_before, uint64_t latest) {
  atomic_store(&board->mine->at, latest);
  if (raise_nothing_before(board, nothing_before)) board_wake_all(board);
}

// ---- Sleep --------------------------------------------------------------------------------------------------------

uint32_t board_ticket(Board *board) {
  const uint32_t ticket = atomic_load(&board->mine->ticket);
  atomic_store(&board->mine->sleeps, 1);
  return ticket;
}

void board_awake(Board *board) {
  atomic_store_explicit(&board->mine->sleeps, 0, memory_order_relaxed);
}

bool board_sleep(Board *board, uint32_t ticket, uint32_t milliseconds) {
  const struct timespec most = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  syscall(SYS_futex, &board->mine->ticket, FUTEX_WAIT, ticket, &most, NULL, 0);
  board_awake(board);
  return atomic_load(&board->mine->ticket) != ticket;
}

// Who finds it asleep wakes it, and nobody else until it sleeps again.  It looks for news after it has said so.
void board_wake(Board *board, uint32_t seat) {
  BoardSeat *other = &board->seats[seat];
  const uint32_t carrier = atomic_load_explicit(&other->carrier, memory_order_relaxed);
  if (carrier && carrier <= board->count) other = &board->seats[carrier - 1];
  if (!atomic_load(&other->sleeps) || !atomic_exchange(&other->sleeps, 0)) return;
  atomic_fetch_add(&other->ticket, 1);
  syscall(SYS_futex, &other->ticket, FUTEX_WAKE, EVERYBODY, NULL, NULL, 0);
}

void board_wake_all(Board *board) {
  atomic_thread_fence(memory_order_seq_cst); // the news come before the look at whether anybody sleeps
  for (uint32_t i = 0; i < board->count; i++) {
    const uint32_t carrier = atomic_load_explicit(&board->seats[i].carrier, memory_order_relaxed);
    if (i != board->own && (!carrier || carrier == i + 1)) board_wake(board, i); // a carrier once
  }
}
