// The board of a run in parts, in shared memory: a seat for each part, on which it says that it waits, and what all of
// them follow from that.
//
// A part whose instants are bounded by what others promise may wait although nothing is under way: two idle machines
// would promise each other one cut after another.  So whoever waits posts a conditional promise: if nothing comes, it
// does nothing before the instant `own`; so many items it has sent, and so many it has seen.  When all seats are
// posted, and the sums of sent and seen are equal, nothing is under way, and nothing happens anywhere before the least
// `own`: that instant is `nothing_before`, which only grows.
//
// The seats are read one after the other, while their owners go on.  So each has a sequence number, odd while it is
// posted, and what was read counts only if a second look finds all sequence numbers unchanged: then there was a moment
// between the two looks at which all of it held.  The model of this is tests/link/board.pml, line by line:
// board_post(), board_withdraw() and board_agree() of board.c, and the loop around them in exchange.c.
//
// To look at all seats is worth it only when all are posted.  How many are not is counted: by one word, or, with more
// than 64 parts, in a tree whose nodes have 32 below them.  The counts only say when to look; what holds, the sequence
// numbers say.
//
// Instants are in ticks.  Nothing here trusts what other processes wrote further than that: a wrong number can let this
// part run too far, which an item that comes too late shows, or wait for ever.
#ifndef SPINACH_LINK_BOARD_H
#define SPINACH_LINK_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOARD_HASH = 64, BOARD_REASON = 240, BOARD_LEVELS = 8 };

// How a part wants the run to end, or why it has no more part in it; what is worse comes later.
typedef enum { BOARD_RUNS, BOARD_ENDS, BOARD_INTERRUPTED, BOARD_FAILED, BOARD_GONE } BoardEnd;

// What a part says of itself at a meeting: an instant to which all parts come, and where each hears what all others
// say.
enum { BOARD_NOTE = 4 };
typedef struct {
  _Atomic uint64_t words[BOARD_NOTE];
} BoardNote;

typedef struct {
  _Alignas(64) _Atomic uint64_t sequence; // odd: posted
  _Atomic uint64_t own, sent, seen;       // what is posted
  _Atomic uint64_t at;                    // the next instant of the part, when it posted that; of one that rests: since
  _Alignas(64) _Atomic uint32_t ticket;   // futex: it changes when there is news for this part
  _Atomic uint32_t sleeps;                // it looks at nothing until then
  _Atomic uint32_t process;               // 0: not there yet
  _Atomic uint32_t over;                  // it has written its results
  _Atomic uint32_t end;                   // BoardEnd
  _Atomic uint32_t carrier;               // 1 and the seat at which its carrier sleeps; 0: the part is on this host
  _Atomic uint64_t end_at;                // the instant at which it wants all to end
  char reason[BOARD_REASON];              // why, written before `end`
  _Atomic uint64_t met;                   // meetings that it has come to
  BoardNote notes[2];                     // what it has said at the latest two of them
} BoardSeat;

typedef struct {
  _Atomic uint32_t claimed; // 1: the first part writes what follows; 2: it has
  uint32_t first;           // its number
  char hash[BOARD_HASH];    // of its network, without a final zero
  _Atomic uint32_t present; // parts that are there
  _Atomic uint64_t begins;  // behind the instant at which the run begins; 0: nobody has said it yet
  _Alignas(64) _Atomic uint64_t nothing_before;
  _Atomic uint64_t end_at;  // the least of the seats; 0: nobody wants to end
  _Atomic uint32_t broken;  // a part is gone without a word: all end where they are
  _Atomic uint32_t carrier; // 1 and the seat at which it sleeps; 0: all parts are on this host
  _Atomic uint32_t carrier_process;
  _Alignas(64) uint8_t rest[]; // the seats, then the counts
} BoardMemory;

typedef struct {
  BoardMemory *memory;
  BoardSeat *seats, *mine;
  uint32_t count, own;                    // seats, and which is this part's
  _Atomic uint32_t *counts[BOARD_LEVELS]; // of seats, or of nodes below, that are not all posted; the last is one
  uint32_t levels;
  uint64_t *sequences; // of the first look
  int *descriptors;    // per seat: a descriptor of its process; -1: none yet
  bool posted;
} Board;

size_t board_bytes(uint32_t count); // a multiple of 64
// False: out of memory.
bool board_attach(Board *board, void *memory, uint32_t count, uint32_t own);
void board_detach(Board *board);

// ---- The beginning

// Whether the network with this hash (64 characters) is that of whoever came first; else *first is who that was, and
// `hash` (65 bytes) gets what it has.
bool board_claim(Board *board, const char *hash, uint32_t *first, char *other);
// Whether all who have said so begin at this instant, too.
bool board_begins(Board *board, uint64_t instant);
// Takes the seat: false if another process has it.
bool board_sit(Board *board, uint32_t process);
// The same for another seat.
bool board_sit_at(Board *board, uint32_t seat, uint32_t process);
bool board_is_full(const Board *board); // all are there
// The first seat that nobody has taken; `count`: none.
uint32_t board_missing(const Board *board);

// ---- Conditional promises

// This part is at instant `at`, and does nothing before `own` if nothing comes.  Never: since `at`.
void board_post(Board *board, uint64_t at, uint64_t own, uint64_t sent, uint64_t seen);
// What was posted no longer holds: called before anything else is done.
void board_withdraw(Board *board);
// True: nothing happens anywhere before a later instant than was known; all are to be woken.
bool board_agree(Board *board);
uint64_t board_nothing_before(const Board *board);
// The latest instant that a posted part has come to.
uint64_t board_latest(const Board *board);

// ---- Meetings

// This part is at its n-th meeting, counted from 1; once for each.
void board_attend(Board *board, uint64_t n, const uint64_t *words);
bool board_all_met(const Board *board, uint64_t n);
bool board_has_left(const Board *board, uint64_t n); // a part that has not come to the n-th, and will not
// What a part has said at the n-th meeting, at which all have been.
void board_note(const Board *board, uint32_t seat, uint64_t n, uint64_t *words);

// ---- Parts on other hosts: for a carrier, which sleeps at the seat of one of them, `own`

// The parts of this host, when all of them wait.
typedef struct {
  uint64_t least, sent, seen; // the least of what they do by themselves; items, in all
  uint64_t latest;            // instant that one of them has come to
  uint64_t said, known;       // meetings to which they have come, and the parts of other hosts, as far as is known here
  uint64_t version;           // it is another one as soon as one of them does not wait any more, or more is known
} BoardWait;

// The part at that seat is elsewhere; the carrier is this process.  Before anybody sits.
void board_carry(Board *board, uint32_t seat, uint32_t process);
bool board_is_carried(const Board *board); // some parts are elsewhere
uint32_t board_here(const Board *board);   // parts of this host
// Whether all parts of this host wait.
bool board_all_wait(Board *board, BoardWait *wait);
// All hosts agree that nothing happens anywhere before that instant, and that nobody has gone beyond `latest`.
void board_agreed(Board *board, uint64_t nothing_before, uint64_t latest);
// The part at that seat is at its n-th meeting.
void board_attend_at(Board *board, uint32_t seat, uint64_t n, const uint64_t *words);

// ---- Sleep

// What there was to look at: news that come after this call end the sleep of that ticket at once.
uint32_t board_ticket(Board *board);
// False: nothing came within so many milliseconds.
bool board_sleep(Board *board, uint32_t ticket, uint32_t milliseconds);
void board_awake(Board *board); // the ticket is not used after all
// There is news for a part, which was written before a fence.
void board_wake(Board *board, uint32_t seat);
void board_wake_all(Board *board); // with a fence of its own

// ---- The end

// This part wants all to end before the instant `at`, which none has passed.
void board_end(Board *board, BoardEnd how, uint64_t at, const char *reason);
// The same of the part at that seat.
void board_end_of(Board *board, uint32_t seat, BoardEnd how, uint64_t at, const char *reason);
uint64_t board_end_at(const Board *board); // UINT64_MAX: nobody wants to end
// Who wants that instant, and why (`reason` gets BOARD_REASON bytes); of several the lowest.  BOARD_RUNS: nobody does.
BoardEnd board_end_reason(const Board *board, uint32_t *seat, char *reason);
// This part needs nobody any more.
void board_leave(Board *board);
// The same of the part at that seat.
void board_leave_at(Board *board, uint32_t seat);
// One of these parts whose process has ended before it left; UINT32_MAX: there is none.
uint32_t board_look_for_dead(Board *board, const uint32_t *seats, uint32_t count);
// Whether the carrier has ended before all parts had come.
bool board_lacks_carrier(const Board *board);
// A part is gone without a word: no instant can be agreed on, and all end where they are.
void board_break(Board *board, uint32_t gone);
bool board_is_broken(const Board *board);
uint32_t board_who_is_gone(const Board *board); // where it is broken

#endif
