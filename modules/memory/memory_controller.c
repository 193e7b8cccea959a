// memory_controller.c: timing of SDRAM and RAMBUS, with several banks at work at once; see memory_controller.lss.
//
// The command of a cycle is chosen at the end of the cycle before it, from state.  `next` says when that is worth a try
// again: each request that cannot have a command says how many cycles it takes until it might.
#include <string.h>

#include "memory/memory_state.h"

// An instant comes in `cycles` cycles at the earliest; `recovered` is behind all of them.
#define EXTEND(field, cycles)                                                                                          \
  do {                                                                                                                 \
    if (until(field) < (uint64_t)(cycles)) set_until(field, (uint64_t)(cycles));                                       \
    if (until(recovered) < (uint64_t)(cycles)) set_until(recovered, (uint64_t)(cycles));                               \
  } while (0)

static inline uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}
static inline uint64_t sooner(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}
static inline bool is_write(mem_op op) {
  return op == mem_op_write || op == mem_op_store_conditional;
}
static inline uint64_t beats_of(uint32_t size) {
  return (size + (uint32_t)param(beat) - 1) / (uint32_t)param(beat);
}
static inline uint32_t bank_at(const self_t *self, uint32_t slot) {
  return call(bank_of, self->entry[slot].address) & (uint32_t)(param(banks) - 1);
}
static inline uint32_t row_at(const self_t *self, uint32_t slot) {
  return call(row_of, self->entry[slot].address);
}

// Whether a request is for the row that its bank has open.
static inline bool in_open_row(const self_t *self, uint32_t slot) {
  const uint32_t bank = bank_at(self, slot);
  return self->open[bank] && self->number[bank] == row_at(self, slot);
}

// Whether the request in the k-th place waits for an older one with a byte in common, of which one writes.
static bool follows(const self_t *self, uint32_t k) {
  const typeof_port(in_request) *request = &self->entry[self->order[k]];
  for (uint32_t j = 0; j < k; j++) {
    const typeof_port(in_request) *older = &self->entry[self->order[j]];
    if (memory_only_reads(older->op) && memory_only_reads(request->op)) continue;
    if (older->address - request->address < request->size || request->address - older->address < older->size)
      return true;
  }
  return false;
}

// Requests of which some can have a command, in places 0 to this: all, up to a barrier; the oldest, if it has waited
// too long.
static uint32_t candidates(const self_t *self) {
  if (self->waiting == 0) return 0;
  const uint32_t last = until(aged[self->order[0]]) == 0 ? 1 : self->waiting;
  for (uint32_t k = 0; k < last; k++)
    if (self->entry[self->order[k]].op >= mem_op_barrier) return k;
  return last;
}

// Whether a refresh of a bank is due in the coming cycle.
static inline bool refreshing(const self_t *self, uint32_t bank) {
  return param(refresh_interval) > 0 && self->refresh_due <= cycle() + 1 &&
         bank % (uint32_t)param(refresh_groups) == self->refresh_group;
}

static void close_row(self_t *self, uint32_t bank, uint64_t cycles) {
  self->open[bank] = false;
  EXTEND(activates[bank], cycles + (uint64_t)param(t_rp));
  EXTEND(closed[bank], cycles + (uint64_t)param(t_rp));
}

// ---- Commands, which go out in the coming cycle -----------------------------------------------------------------

static void precharge(self_t *self, uint32_t bank) {
  event(command, dram_command_precharge, bank, self->number[bank]);
  close_row(self, bank, 1);
}

static void activate(self_t *self, uint32_t bank, uint32_t row) {
  event(command, dram_command_activate, bank, row);
  count(activations);
  self->open[bank] = self->fresh[bank] = true;
  self->number[bank] = row;
  EXTEND(columns[bank], 1 + param(t_rcd));
  EXTEND(precharges[bank], 1 + param(t_ras));
  EXTEND(activates[bank], 1 + param(t_rc));
  EXTEND(any_activate, 1 + param(t_rrd));
}

// Reads or writes columns for the request in the k-th place.
static void transfer(self_t *self, uint32_t k) {
  const uint32_t slot = self->order[k], bank = bank_at(self, slot), row = row_at(self, slot);
  const mem_op op = self->entry[slot].op;
  const uint64_t beats = beats_of(self->entry[slot].size), latency = (uint64_t)param(t_cas);
  event(command, is_write(op) ? dram_command_write : dram_command_read, bank, row);
  count(row_hits, !self->fresh[bank]);
  count(row_misses, self->fresh[bank]);
  count(moved, beats);
  self->fresh[bank] = false;
  uint64_t replied = latency + beats, written = beats; // the last beat comes so many cycles after this one
  if (memory_only_reads(op)) {
    EXTEND(reads, 1 + beats);
    EXTEND(writes, 1 + latency + beats + (uint64_t)param(turnaround));
    EXTEND(precharges[bank], 1 + beats);
  } else {
    if (is_write(op)) {
      replied = written;
    } else {
      written = replied + (uint64_t)param(turnaround) + beats;
      count(moved, beats);
    }
    EXTEND(reads, written + (uint64_t)param(t_wtr));
    EXTEND(writes, written + 1);
    EXTEND(precharges[bank], written + (uint64_t)param(t_wr));
  }
  const uint32_t place = (self->head + self->flying++) % (uint32_t)param(queue);
  self->moving[place] = (uint8_t)slot;
  set_until(due[place], replied);
  self->waiting--;
  memmove(&self->order[k], &self->order[k + 1], self->waiting - k);
  if (!param(close_page)) return;
  for (uint32_t j = 0; j < self->waiting; j++)
    if (bank_at(self, self->order[j]) == bank && row_at(self, self->order[j]) == row) return;
  close_row(self, bank, until(precharges[bank]));
}

// The next step of the refresh that is due: closes all rows of its group, or refreshes; in how many cycles it can be
// done, 1 if it is.
static uint64_t refresh(self_t *self) {
  uint64_t wait = 1;
  bool open = false;
  for (uint32_t b = self->refresh_group; b < (uint32_t)param(banks); b += (uint32_t)param(refresh_groups)) {
    open |= self->open[b];
    wait = later(wait, self->open[b] ? until(precharges[b]) : 1);
  }
  if (wait > 1) return wait;
  for (uint32_t b = self->refresh_group; !open && b < (uint32_t)param(banks); b += (uint32_t)param(refresh_groups))
    wait = later(wait, until(activates[b]));
  if (wait > 1) return wait;
  for (uint32_t b = self->refresh_group; b < (uint32_t)param(banks); b += (uint32_t)param(refresh_groups)) {
    if (!open)
      EXTEND(activates[b], 1 + param(t_rfc));
    else if (self->open[b])
      precharge(self, b);
  }
  if (open) return 1;
  count(refreshes);
  self->refresh_group = (self->refresh_group + 1) % (uint32_t)param(refresh_groups);
  self->refresh_due += (uint64_t)param(refresh_interval);
  return 1;
}

// What was refreshed while no request was here.
static __attribute__((noinline)) void catch_up(self_t *self) {
  const uint64_t now = cycle(), interval = (uint64_t)param(refresh_interval), groups = (uint64_t)param(refresh_groups);
  const uint64_t behind = (now - self->refresh_due) / interval;
  if (behind >= 2 * groups) {
    const uint64_t skipped = behind - groups;
    memset(self->open, 0, sizeof self->open);
    self->refresh_due += skipped * interval;
    self->refresh_group = (uint32_t)((self->refresh_group + skipped) % groups);
    count(refreshes, skipped);
  }
  while (self->refresh_due <= now) {
    uint64_t end = self->refresh_due + (uint64_t)param(t_rfc);
    bool open = false;
    for (uint32_t b = self->refresh_group; b < (uint32_t)param(banks); b += (uint32_t)groups) {
      open |= self->open[b];
      self->open[b] = false;
    }
    if (open) end += (uint64_t)param(t_rp);
    for (uint32_t b = self->refresh_group; b < (uint32_t)param(banks) && end > now; b += (uint32_t)groups)
      EXTEND(activates[b], end - now);
    count(refreshes);
    self->refresh_group = (self->refresh_group + 1) % (uint32_t)groups;
    self->refresh_due += interval;
  }
}

// ---- Choice ------------------------------------------------------------------------------------------------------

// Sends the oldest request to columns that can go there; `hit`: banks whose open row is still wanted.  In how many
// cycles one can, 1 if it does.
static uint64_t choose_column(self_t *self, uint32_t last, bool *hit) {
  uint64_t wait = never();
  uint32_t chosen = last;
  for (uint32_t k = 0; k < last; k++) {
    const uint32_t slot = self->order[k], bank = bank_at(self, slot);
    if (!in_open_row(self, slot) || refreshing(self, bank) || follows(self, k)) continue;
    hit[bank] = true;
    const uint64_t bus = is_write(self->entry[slot].op) ? until(writes) : until(reads);
    const uint64_t takes = later(later(until(columns[bank]), bus), 1);
    if (takes == 1 && chosen == last) chosen = k;
    wait = sooner(wait, takes);
  }
  if (chosen < last) transfer(self, chosen);
  return wait;
}

// A neighbour of a bank that has a row open, else the one whose row was closed last, where both share amplifiers; -1:
// none.
static int32_t rival(const self_t *self, uint32_t bank) {
  int32_t found = -1;
  if (param(kind) != dram_kind_rambus) return -1;
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t b = bank + (k ? 1 : UINT32_MAX);
    if (b >= (uint32_t)param(banks)) continue;
    if (self->open[b]) return (int32_t)b;
    if (until(closed[b]) > 1 && (found < 0 || until(closed[b]) > until(closed[found]))) found = (int32_t)b;
  }
  return found;
}

// Opens a row, or closes one, for the oldest request that needs it; in how many cycles that is possible, 1 if it is
// done.
static uint64_t choose_row(self_t *self, uint32_t last, const bool *hit) {
  uint64_t wait = never();
  bool claimed[param(banks)];
  memset(claimed, 0, sizeof claimed);
  for (uint32_t k = 0; k < last; k++) {
    const uint32_t slot = self->order[k], bank = bank_at(self, slot);
    if (claimed[bank] || refreshing(self, bank) || in_open_row(self, slot) || follows(self, k)) continue;
    claimed[bank] = true;
    const int32_t other = self->open[bank] ? (int32_t)bank : rival(self, bank);
    if (other >= 0 && self->open[other]) {
      if (hit[other]) continue;
      const uint64_t takes = later(until(precharges[other]), 1);
      wait = sooner(wait, takes);
      if (takes > 1) continue;
      count(row_conflicts);
      precharge(self, (uint32_t)other);
      return 1;
    }
    uint64_t takes = later(later(until(activates[bank]), until(any_activate)), 1);
    if (other >= 0) takes = later(takes, until(closed[other]));
    wait = sooner(wait, takes);
    if (takes > 1) continue;
    activate(self, bank, row_at(self, slot));
    return 1;
  }
  return wait;
}

// Chooses what goes to the memory in the coming cycle, and when there may be something again.
static void schedule(self_t *self) {
  uint64_t wait = never();
  bool hit[param(banks)];
  memset(hit, 0, sizeof hit);
  const bool refreshes =
      param(refresh_interval) > 0 && (self->waiting > 0 || self->refresh_due < cycle() + until(recovered));
  if (refreshes) wait = self->refresh_due <= cycle() + 1 ? refresh(self) : self->refresh_due - cycle();
  const bool refreshed = wait == 1;
  if (!refreshed || param(kind) == dram_kind_rambus) {
    const uint32_t last = candidates(self);
    const uint64_t column = choose_column(self, last, hit);
    wait = sooner(wait, column);
    if (param(kind) == dram_kind_rambus ? !refreshed : column > 1) {
      const uint32_t left = candidates(self);
      wait = sooner(wait, choose_row(self, left, hit));
    }
  }
  if (self->waiting > 0) {
    const uint64_t ages = until(aged[self->order[0]]);
    if (ages > 0) wait = sooner(wait, ages + 1);
  }
  set_until(next, wait == never() ? wait : later(wait, 2) - 1);
}

init() {
  self->refresh_due = (uint64_t)param(refresh_interval);
  set_until(next, never());
}

handler(space) {
  accept(in_request, self->waiting + self->flying < (uint32_t)param(queue));
}

check_state() {
  uint32_t used = 0;
  for (int k = 0; k < param(queue); k++) used += self->used[k];
  if (self->passes_barrier && (self->waiting == 0 || self->flying > 0))
    sim_error("a barrier passes, and none is the oldest");
  if (used != self->waiting + self->flying)
    sim_error("%u entries are used, %u wait and %u are on their way", (unsigned)used, (unsigned)self->waiting,
              (unsigned)self->flying);
}

phase_start() {
  const bool offers = self->flying > 0 && until(due[self->head]) == 0;
  send_if(memory_request, offers, self->entry[self->moving[self->head]]);
}

// The cycles that a request has taken, for its reply.
static inline uint8_t latency_of(const self_t *self, uint32_t slot) {
  const uint64_t cycles = cycle() - self->accepted[slot];
  return cycles > 255 ? 255 : (uint8_t)cycles;
}

handler(reply) {
  if (self->passes_barrier) {
    send(in_reply, ((typeof_port(in_reply)){.tag = self->entry[self->order[0]].tag,
                                            .latency = latency_of(self, self->order[0])}));
  } else if (some(memory_reply) && enabled(memory_reply)) {
    typeof_port(in_reply) reply = data(memory_reply);
    const uint32_t slot = self->moving[self->head];
    if (self->flying > 0 && until(due[self->head]) == 0 && self->outstanding == 0)
      reply.latency = latency_of(self, slot);
    send(in_reply, reply);
  } else {
    send_nothing(in_reply);
  }
}

// A request was accepted.
static void enter(self_t *self, const typeof_port(in_request) * request) {
  uint32_t slot = 0;
  while (self->used[slot]) slot++;
  self->used[slot] = true;
  self->entry[slot] = *request;
  self->accepted[slot] = cycle();
  set_until(aged[slot], (uint64_t)param(age_limit));
  if (param(refresh_interval) > 0 && self->waiting == 0 && self->refresh_due <= cycle() && until(recovered) == 0)
    catch_up(self);
  self->order[self->waiting++] = (uint8_t)slot;
}

// The first of the requests whose data move is done.
static void leave(self_t *self, uint32_t slot) {
  const uint64_t cycles = cycle() - self->accepted[slot];
  event(access, self->entry[slot].op, self->entry[slot].address, self->entry[slot].size, (uint32_t)cycles);
  count(requests);
  count(waited, cycles);
  self->used[slot] = false;
  if (self->waiting + self->flying == (uint32_t)param(queue)) set_until(freed, 2);
}

phase_end() {
  const bool entered = transferred(in_request);
  if (self->waiting + self->flying + self->outstanding == 0 && !entered && until(next) > 0) return;
  count(busy, self->waiting + self->flying > 0);
  if (self->passes_barrier) {
    count(barriers);
    leave(self, self->order[0]);
    set_until(freed, 2);
    memmove(&self->order[0], &self->order[1], --self->waiting);
  }
  if (transferred(memory_request)) {
    leave(self, self->moving[self->head]);
    self->head = (self->head + 1) % (uint32_t)param(queue);
    self->flying--;
    self->outstanding++;
  }
  if (!self->passes_barrier && transferred(memory_reply)) {
    if (self->outstanding == 0) sim_error("a reply without a request");
    self->outstanding--;
  }
  if (entered) enter(self, &data(in_request));
  if (entered || self->passes_barrier || until(next) == 0) schedule(self);
  self->passes_barrier = self->waiting > 0 && self->flying == 0 && self->outstanding == 0 &&
                         self->entry[self->order[0]].op >= mem_op_barrier;
}

// Cycles in which nothing but time passes are not stepped, and count all the same.
skip(n) {
  if (self->waiting + self->flying > 0) count(busy, n);
}

next_event() {
  if (self->passes_barrier || until(freed)) return cycle();
  uint64_t wait = until(next);
  if (self->flying > 0) wait = sooner(wait, until(due[self->head]));
  return unchanged(after(wait));
}
