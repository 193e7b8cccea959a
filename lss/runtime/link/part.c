// A part among the others; see part.h.
#include "lss/runtime/link/part.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/link/alone.h"
#include "lss/runtime/link/arrival.h"
#include "lss/runtime/link/exchange.h"
#include "lss/runtime/link/network.h"
#include "lss/runtime/link/recording.h"
#include "lss/runtime/link/renaming.h"
#include "lss/runtime/link/retrace.h"
#include "lss/runtime/link/shared.h"
#include "lss/runtime/text/number.h"

#include <string.h>
#include <unistd.h>

// Looks before a sleep; seconds, and milliseconds of waiting for others.
enum { SPIN = 2000, SOON = 10, LOOK = 100, BREATH = 1 };

static const spinach_machine *const machine = &spinach_machine_table;

static Network *network;
static uint32_t own; // the number of this part
static Exchange exchange;
static bool joined, left;
static bool alone;                         // it runs from records, without the others
static bool debugged;                      // among the others, by a debugger that takes it back at times
static uint32_t *link_of_in, *link_of_out; // ends in the machine's table, of the links of the exchange
static uint32_t *out_of_link;              // a sending end in that table as a link of the exchange

static uint64_t appointment = UINT64_MAX; // a part that rests is needed there
static bool loops;                        // this part repeats a loop that nothing ends, and all others wait

// ---- The end of a whole machine with parts, or of a part alone

static uint64_t end_at = UINT64_MAX;
static char *end_reason;

static bool ended_by_others; // which had an error, or are gone
static bool failed_there;    // the recorded run had an error in the instant before `end_at`

// ---- Names ----------------------------------------------------------------------------------------------------------

bool spinach_part_name(const spinach_part_request *request) {
  if (!request->path) return true;
  if (!request->network) return spinach_report_error("--part lacks the file of its network: --network FILE");
  if (!(network = network_read(request->network))) return false;
  if ((own = network_find_part(network, request->path)) == UINT32_MAX)
    return spinach_report_error("--part: there is no part \"%s\" in %s", request->path, network->file);
  if (strcmp(network->hash, machine->network))
    return spinach_report_error("%s: network.json is of another build of %s: its hash is %s, this simulator's %s",
                                request->path, network->file, network->hash, machine->network);
  spinach_set_own_part(request->path);
  spinach_share_clocks((const spinach_clock *)(const void *)network->clocks->data, network->clocks->len);
  return spinach_rename_tables(network_part(network, own));
}

const char *spinach_part_setting(guint index, const char **name) {
  if (!network || index >= network_part(network, own)->settings->len) return NULL;
  const NetworkPair *pair = &g_array_index(network_part(network, own)->settings, NetworkPair, index);
  *name = pair->name;
  return pair->value;
}

// ---- What comes and what leaves -------------------------------------------------------------------------------------

static void send(uint32_t link, uint64_t instant, const void *item) {
  if (debugged && retrace_has_left(link, spinach_time.now)) return;
  recording_add(link, spinach_time.now, instant, item);
  exchange_send(&exchange, out_of_link[link], spinach_time.now, instant, item);
}

static bool deliver(void *data, uint32_t link, const RingEntry *entry, const void *item) {
  (void)data;
  const char *from = network_part(network, exchange.in[link].peer)->path;
  if (!debugged) return arrival_add(link_of_in[link], from, entry->arrives, item);
  g_autofree void *copy = g_memdup2(item, machine->links[link_of_in[link]].item_size); // which nobody changes
  retrace_came(link_of_in[link], from, entry->sent, entry->arrives, copy);
  return arrival_add(link_of_in[link], from, entry->arrives, copy);
}

static uint64_t own_instant(void *data, uint64_t now, uint64_t *since) {
  (void)data, (void)now;
  const uint64_t own = spinach_own_instant();
  if (own == UINT64_MAX && !spinach_is_resting(since)) *since = UINT64_MAX; // a loop that nothing ends
  return own;
}

static bool rests(void *data) {
  (void)data;
  uint64_t since;
  return spinach_is_resting(&since);
}

static bool is_stopped(void *data) {
  (void)data;
  return spinach_stopping;
}

// What was sent before stays on record: the part that has gone may be run again from that.
static _Noreturn void fail_for_fault(void) {
  const char *peer = network_part(network, exchange.fault_part)->path;
  const uint32_t incoming = exchange.in_count;
  recording_end(spinach_time.now, false, exchange.fault);
  if (exchange.fault_link == UINT32_MAX && exchange.board.seats[exchange.fault_part].carrier)
    spinach_fail("the carrier of this host (process %u): %s", exchange.board.seats[exchange.fault_part].process,
                 exchange.fault);
  if (exchange.fault_link == UINT32_MAX)
    spinach_fail("%s (process %u): %s", peer, exchange.board.seats[exchange.fault_part].process, exchange.fault);
  const bool comes = exchange.fault_link < incoming;
  const uint32_t link = comes ? link_of_in[exchange.fault_link] : link_of_out[exchange.fault_link - incoming];
  spinach_fail("%s: %s (%s %s)", machine->links[link].path, exchange.fault, comes ? "from" : "to", peer);
}

// ---- How far it may step --------------------------------------------------------------------------------------------

static bool nothing_happens(void) {
  return board_nothing_before(&exchange.board) == UINT64_MAX;
}

static bool end_is_known(void) {
  return board_end_at(&exchange.board) != UINT64_MAX || board_is_broken(&exchange.board);
}

// Where all rest, the run is over since the look at which the last of them found that.  It is not where a part repeats
// a loop that nothing ends, which that part reports.
static void end_where_all_rest(void) {
  const uint64_t latest = board_latest(&exchange.board);
  if (latest != UINT64_MAX) board_end(&exchange.board, BOARD_ENDS, latest, SPINACH_NOTHING_LEFT);
  while (!end_is_known() && !spinach_stopping) nanosleep(&(struct timespec){.tv_nsec = BREATH * 1000000}, NULL);
}

// Waits for something that comes; returns how far may be stepped then, or 0: an appointment is due, or the run is to
// stop.
static uint64_t rest(uint64_t now) {
  exchange_rest(&exchange, now, appointment);
  if (exchange.fault) fail_for_fault();
  if (nothing_happens()) end_where_all_rest();
  return end_is_known() || !rests(NULL) ? exchange_reach(&exchange, now) : 0;
}

static uint64_t reach(uint64_t now) {
  uint64_t limit;
  if (debugged && retrace_again(now, &limit)) return limit;
  limit = exchange_reach(&exchange, now);
  if (debugged) retrace_reached(now);
  if (exchange.fault) fail_for_fault();
  spinach_hooks.reach_again = exchange.publish_at;
  if (limit <= now || end_is_known()) return limit;
  if (rests(NULL)) limit = rest(now);
  spinach_hooks.reach_again = exchange.publish_at;
  loops = nothing_happens() && !rests(NULL);
  return loops ? 0 : limit;
}

void spinach_part_appoint(uint64_t instant) {
  appointment = instant;
}

uint64_t spinach_part_reached(void) {
  uint64_t since;
  return joined && spinach_is_resting(&since) ? MAX(exchange.limit, spinach_time.now) : spinach_time.now;
}

bool spinach_part_all_rest(void) {
  return joined && nothing_happens();
}

bool spinach_part_loops(void) {
  return loops;
}

static uint64_t reach_on(uint64_t now, uint64_t own) {
  return exchange_reach_on(&exchange, now, own);
}

// ---- Joining --------------------------------------------------------------------------------------------------------

static bool agrees(const spinach_link_end *end, const NetworkLink *link) {
  const bool here = end->sends ? link->from == own : link->to == own;
  if (!here)
    return spinach_report_error("error: link %s: %s has no such end", end->path, network_part(network, own)->path);
  if (end->cut != link->cut)
    return spinach_report_error("error: link %s: latency %llu ticks here, %llu in network.json", end->path,
                                (unsigned long long)end->cut, (unsigned long long)link->cut);
  if (strcmp(end->type, link->type) || end->item_size != link->bytes || end->slots != link->slots)
    return spinach_report_error("error: link %s: items are %u of %s here, %u of %s in network.json", end->path,
                                end->slots, end->type, link->slots, link->type);
  return true;
}

// Attaches the ring of a link to the end of it that this part has.
static bool attach_end(uint32_t index, uint8_t *shared) {
  const spinach_link_end *end = &machine->links[index];
  for (guint i = 0; i < network->links->len; i++) {
    const NetworkLink *link = network_link(network, i);
    if (strcmp(link->path, end->path)) continue;
    if (!agrees(end, link)) return false;
    ExchangeLink *half = end->sends ? &exchange.out[exchange.out_count] : &exchange.in[exchange.in_count];
    half->peer = end->sends ? link->to : link->from;
    ring_attach(&half->ring, shared + shared_ring(network, i), end->item_size, end->slots, end->cut);
    if (end->sends) {
      link_of_out[exchange.out_count] = index;
      out_of_link[index] = exchange.out_count++;
    } else {
      link_of_in[exchange.in_count++] = index;
    }
    return true;
  }
  return spinach_report_error("error: link %s: network.json has none of that name", end->path);
}

static uint32_t spin_limit(void) {
  const char *given = g_getenv("SPINACH_LINK_SPIN"); // of tests, which want all interleavings
  uint64_t looks;
  if (given && number_parse(given, UINT32_MAX, &looks)) return (uint32_t)looks;
  return board_here(&exchange.board) > g_get_num_processors() ? 0 : SPIN;
}

static bool attach(uint8_t *shared) {
  const uint32_t count = machine->link_count;
  exchange.in = g_new0(ExchangeLink, count + 1);
  exchange.out = g_new0(ExchangeLink, count + 1);
  link_of_in = g_new0(uint32_t, count + 1);
  link_of_out = g_new0(uint32_t, count + 1);
  out_of_link = g_new0(uint32_t, count + 1);
  arrival_begin();
  for (uint32_t i = 0; i < count; i++)
    if (!attach_end(i, shared)) return false;
  exchange.spin = spin_limit();
  exchange.deliver = deliver;
  exchange.own = own_instant;
  exchange.rests = rests;
  exchange.is_stopped = is_stopped;
  return exchange_begin(&exchange) || spinach_report_error("error: out of memory");
}

// Waits until all are there, and says once for whom.  A signal that ends the run does so when all are there: others may
// have begun already.
static bool wait_for_all(uint64_t timeout) {
  bool said = false;
  for (uint64_t waited = 0; !board_is_full(&exchange.board); waited += LOOK) {
    const uint32_t missing = board_missing(&exchange.board);
    if (missing == exchange.board.count) continue;
    if (board_lacks_carrier(&exchange.board)) return spinach_report_error("error: the carrier of this host is gone");
    const char *path = network_part(network, missing)->path;
    if (waited >= timeout * 1000)
      return spinach_report_error("error: %s has not started within %llu s (--start-timeout)", path,
                                  (unsigned long long)timeout);
    if (!said && waited >= SOON * 1000) {
      fprintf(stderr, "%s: waiting for %s to start\n", spinach_program, path);
      said = true;
    }
    const uint32_t ticket = board_ticket(&exchange.board);
    if (!board_is_full(&exchange.board) && board_sleep(&exchange.board, ticket, LOOK)) waited -= LOOK;
  }
  return true;
}

// ---- A part alone ---------------------------------------------------------------------------------------------------

static void send_alone(uint32_t link, uint64_t instant, const void *item) {
  alone_send(link, spinach_time.now, instant, item);
}

static uint64_t reach_alone(uint64_t now) {
  return alone_reach(now, end_at);
}

static bool begin_alone(const char *folder, uint64_t begins) {
  const char *reason;
  if (!alone_begin(network, own, folder, begins)) return false;
  end_at = alone_ends(&reason, &failed_there);
  end_reason = g_strdup(reason);
  spinach_hooks.send = send_alone;
  spinach_hooks.reach = reach_alone;
  return alone = true;
}

// ---- All of them ----------------------------------------------------------------------------------------------------

static bool join(const spinach_options *options, uint64_t begins) {
  const spinach_part_request *request = &options->part;
  const char *path = network_part(network, own)->path;
  g_autofree char *file = shared_path(request->board);
  uint8_t *shared = file ? shared_map(file, network) : NULL;
  if (!shared) return false;
  if (!board_attach(&exchange.board, shared, network->parts->len, own)) return spinach_report_error("out of memory");
  uint32_t first;
  char other[BOARD_HASH + 1];
  if (!board_claim(&exchange.board, network->hash, &first, other)) {
    const char *who = first < network->parts->len ? network_part(network, first)->path : "another part";
    return spinach_report_error("error: %s: network.json is of another build of %s: its hash is %s, %s's %s", path,
                                network->file, network->hash, who, other);
  }
  if (!board_begins(&exchange.board, begins))
    return spinach_report_error("error: %s: its checkpoint is of another instant than that of another part", path);
  if (!attach(shared)) return false;
  if (!board_sit(&exchange.board, (uint32_t)getpid()))
    return spinach_report_error("error: %s is there already, as process %u", path, exchange.board.mine->process);
  const bool all = wait_for_all(request->start_timeout);
  unlink(file);
  if (!all) return false;
  spinach_hooks.send = send;
  spinach_hooks.reach = reach;
  spinach_hooks.reach_on = reach_on;
  return joined = true;
}

bool spinach_part_join(const spinach_options *options, uint64_t begins) {
  if (!network) return true;
  if (options->replay_links) return begin_alone(options->replay_links, begins);
  if (!join(options, begins)) return false;
  if (options->gdb) retrace_begin(begins);
  debugged = options->gdb;
  return !options->record_links || recording_begin(network, options->record_links, begins);
}

// ---- The end --------------------------------------------------------------------------------------------------------

// In a whole machine: no instant from there on is stepped.
static uint64_t reach_end(uint64_t now) {
  (void)now;
  return end_at;
}

// No part has passed this instant by more than the distance.  While all wait, a part may be anywhere up to the instant
// before which nothing happens; and one that rests lets others go as far as it could itself.
static uint64_t passed_at_most(uint64_t at) {
  const uint64_t nothing = board_nothing_before(&exchange.board);
  if (debugged) at = MAX(at, retrace_latest());
  if (rests(NULL) && exchange.limit < spinach_last_instant()) at = MAX(at, exchange.limit);
  return nothing < spinach_last_instant() ? MAX(at, nothing) : at;
}

void spinach_part_end(BoardEnd how, uint64_t at, const char *reason) {
  if (joined) {
    if (!nothing_happens()) board_end(&exchange.board, how, passed_at_most(at) + network->distance, reason);
    return;
  }
  const uint64_t end = at + (alone ? network->distance : machine->distance);
  if (alone ? end >= end_at : end_at != UINT64_MAX) return; // what is found first counts
  g_free(end_reason);
  end_reason = g_strdup(reason);
  end_at = end;
  failed_there = false;
  if (!alone) spinach_hooks.reach = reach_end;
}

uint64_t spinach_part_end_at(void) {
  return joined ? board_end_at(&exchange.board) : end_at;
}

// The others had an error.
static const char *end_with_error(const char *text) {
  ended_by_others = true;
  spinach_set_error(text);
  spinach_report_error("error: %s", text);
  return spinach_error_text;
}

static const char *end_with_gone(void) {
  const uint32_t gone = board_who_is_gone(&exchange.board);
  g_autofree char *text = g_strdup_printf("ended since %s is gone",
                                          gone < network->parts->len ? network_part(network, gone)->path : "a part");
  return end_with_error(text);
}

static const char *end_of_whole(void) {
  if (spinach_next_instant() < end_at) return NULL;
  spinach_part_complete(end_at);
  if (!failed_there) return end_reason;
  g_autofree char *text =
      g_strdup_printf("the recorded run ended here with an error, which this run does not have: %s", end_reason);
  return end_with_error(text);
}

const char *spinach_part_ended(void) {
  static char reason[BOARD_REASON];
  uint32_t who = own;
  if (!joined) return end_of_whole();
  if (board_is_broken(&exchange.board)) return end_with_gone();
  const uint64_t end = board_end_at(&exchange.board);
  if (spinach_next_instant() < end) return NULL;
  const BoardEnd how = board_end_reason(&exchange.board, &who, reason);
  if (how == BOARD_FAILED || how == BOARD_GONE) {
    g_autofree char *text = g_strdup_printf("ended since %s had an error", network_part(network, who)->path);
    return end_with_error(text);
  }
  return spinach_part_complete(end) ? reason : spinach_part_ended(); // another part has found an earlier end
}

bool spinach_part_complete(uint64_t until) {
  if (alone) {
    alone_complete(until);
    spinach_set_completed(until);
    return until <= end_at;
  }
  if (!joined) return true;
  uint64_t limit;
  const bool again = debugged && retrace_again(until, &limit), complete = again || exchange_complete(&exchange, until);
  if (exchange.fault) fail_for_fault();
  if (debugged && complete && !again) retrace_reached(until);
  if (complete) spinach_set_completed(until);
  return complete;
}

const uint64_t *spinach_part_attend(uint64_t instant, const uint64_t *words, uint32_t *count) {
  static uint64_t met, *notes, at = UINT64_MAX;
  *count = joined ? exchange.board.count : 1;
  if (!notes) notes = g_new0(uint64_t, (gsize)*count *BOARD_NOTE);
  if (!joined) return memcpy(notes, words, BOARD_NOTE * sizeof *words);
  if (at != instant) board_attend(&exchange.board, ++met, words);
  at = instant;
  const bool all = exchange_attend(&exchange, instant, met);
  if (exchange.fault) fail_for_fault();
  if (!all) return NULL;
  for (uint32_t i = 0; i < *count; i++) board_note(&exchange.board, i, met, notes + (size_t)i * BOARD_NOTE);
  return notes;
}

static bool leave(bool failed, const char *ended) {
  const uint64_t until = failed ? spinach_time.now : spinach_completed();
  if (failed) {
    const uint64_t at = passed_at_most(spinach_next_instant());
    board_end(&exchange.board, BOARD_FAILED, at + network->distance, spinach_error_text);
  }
  exchange_pass(&exchange, failed ? UINT64_MAX : spinach_next_instant());
  board_leave(&exchange.board);
  board_wake_all(&exchange.board);
  return recording_end(until, failed && !ended_by_others, failed ? spinach_error_text : ended);
}

bool spinach_part_leave(bool failed, const char *ended) {
  if (left || !(joined || alone)) return true;
  left = true;
  if (joined) return leave(failed, ended);
  if (!failed && alone_compares())
    fprintf(stderr, "%s: %s has sent %" G_GUINT64_FORMAT " items, all of them as in the recorded run\n",
            spinach_program, network_part(network, own)->path, alone_compared());
  return true;
}

bool spinach_part_is_among_others(void) {
  return joined;
}

// ---- What it cost ---------------------------------------------------------------------------------------------------

uint64_t spinach_part_waits(void) {
  return exchange.waits;
}

double spinach_part_waited(void) {
  return (double)exchange.waited_ns / 1e9;
}
