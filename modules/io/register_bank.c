// register_bank.c: declared device registers; see register_bank.lss.
#include "io/register_bank.h"

#include <stdio.h>
#include <string.h>

#define TIMERS        (param_length(timer_offsets))
#define TIMER_WORD(k) ((int)param(timer_offsets)[k] / 4)
#define COMPARISONS   (param_length(comparisons))
// Whether a stamp is this cycle.
#define IS_NOW(stamp) (passed(stamp, 0) && !passed(stamp, 1))

// Computes what the lanes of `value` carry.
static void update_values(self_t *self) {
  const uint64_t file = (uint64_t)(uintptr_t)self->file;
#pragma clang loop unroll(full) // so that each register's part of read_value is chosen once and for all
  for (int i = 0; i < width(value); i++) {
    const uint32_t offset = (uint32_t)param(value_offsets)[i];
    self->current_value[i] = call(read_value, file, offset, self->file[offset / 4], -1);
  }
  set_stamp(changed_cycle, 1);
}

init() {
  for (int i = 0; i < param_length(registers); i++) {
    int word = param(registers)[i].offset / 4;
    self->file[word] = param(registers)[i].reset;
    if (param(registers)[i].access != register_access_hidden)
      self->kind[word] = (uint8_t)(param(registers)[i].access + 1);
    self->mask[word] = param(registers)[i].mask ? param(registers)[i].mask : UINT32_MAX;
  }
  for (int k = 0; k < TIMERS; k++) self->timer_base[k] = self->file[TIMER_WORD(k)];
  for (int i = 0; i < width(in_request); i++)
    for (int k = 0; k < param(latency); k++) set_stamp(reply_cycle[i][k], never());
  for (int i = 0; i < width(write_strobe); i++) set_stamp(strobe_cycle[i], never());
  for (int i = 0; i < width(write_strobe); i++) self->strobe_lane[param(strobe_offsets)[i] / 4] = (uint8_t)(i + 1);
  update_values(self);
}

// One function a lane for what state shows, so that a value is read out of the state where it is used.
handler(reply, i) {
  if (__builtin_expect(passed(busy_cycle, 1), 1)) {
    send_nothing(in_reply, i);
    return;
  }
  const int place = (int)cycle_modulo(param(latency));
  typeof_port(in_reply) reply = {
      .tag = self->reply_tag[i][place], .error = self->reply_error[i][place], .latency = (uint8_t)param(latency)};
  reply.data = self->reply_data[i][place];
  send_if(in_reply, i, IS_NOW(reply_cycle[i][place]), reply);
}

handler(strobe, i) {
  send_if(write_strobe, i, IS_NOW(strobe_cycle[i]), self->strobe_value[i]);
}

handler(show_value, i) {
  send(value, i, self->current_value[i]);
}

#define SECOND ((unsigned __int128)1000000000000000u)

// Ticks of the timers since time 0, and the instant at which there will be so many.
static uint64_t timer_ticks(void) {
  return (uint64_t)(now() * SECOND / ticks_per_second() / (uint64_t)param(timer_tick));
}

static uint64_t instant_of_ticks(uint64_t ticks) {
  const unsigned __int128 femtoseconds = (unsigned __int128)ticks * (uint64_t)param(timer_tick);
  if (femtoseconds > UINT64_MAX * SECOND / ticks_per_second()) return never();
  return (uint64_t)((femtoseconds * ticks_per_second() + SECOND - 1) / SECOND);
}

#undef SECOND

// Brings the stored values of the timers up to date.
__attribute__((noinline)) static void refresh_timers(self_t *self) {
  const uint64_t ticks = timer_ticks();
  for (int k = 0; k < TIMERS; k++) self->file[TIMER_WORD(k)] = (uint32_t)(self->timer_base[k] + ticks);
  self->timers_until = instant_of_ticks(ticks + 1);
}

// Brings the comparisons of timers up to date, which stay so for half of a timer's range at most.
__attribute__((noinline)) static void compare_timers(self_t *self) {
  const uint64_t ticks = timer_ticks();
  uint64_t least = UINT32_MAX;
  for (int c = 0; c < COMPARISONS; c++) {
    uint64_t base = 0;
    for (int k = 0; k < TIMERS; k++)
      if (param(timer_offsets)[k] == param(compared_timers)[c]) base = self->timer_base[k];
    const uint32_t over = (uint32_t)(base + ticks) - self->file[param(compare_offsets)[c] / 4];
    const bool reached = (int32_t)over >= 0;
    const uint32_t left = (reached ? UINT32_C(1) << 31 : 0) - over;
    self->file[param(reached_offsets)[c] / 4] = reached;
    if (left < least) least = left;
  }
  self->compared_until = instant_of_ticks(ticks + least);
}

// A register was set: whether a timer has come to it is asked anew.
static inline void is_set(self_t *self, uint32_t word) {
  for (int c = 0; c < COMPARISONS; c++)
    if (word * 4 == (uint32_t)param(compare_offsets)[c] || word * 4 == (uint32_t)param(compared_timers)[c])
      self->compared_until = 0;
}

// The bits of a register that an access of `size` bytes at `address` means: how far they are from bit 0.
static int sub_word_shift(uint32_t address, int size) {
  int byte = (int)(address & 3);
  return 8 * (param(big_endian) ? 4 - byte - size : byte);
}

// Notes what a lane of `write_strobe` will carry in the coming cycle.
static void set_strobe(self_t *self, int port, uint32_t value) {
  self->strobe_value[port] = value;
  set_stamp(strobe_cycle[port], 1);
  if (passed(busy_cycle, 0)) set_stamp(busy_cycle, 1);
}

// Gives all registers their reset values; timers continue from theirs.
static void reset(self_t *self) {
  if (TIMERS) refresh_timers(self);
  self->compared_until = 0;
  for (int i = 0; i < param_length(registers); i++) {
    int word = param(registers)[i].offset / 4;
    for (int k = 0; k < TIMERS; k++)
      if (TIMER_WORD(k) == word) self->timer_base[k] += (uint64_t)param(registers)[i].reset - self->file[word];
    self->file[word] = param(registers)[i].reset;
    if (self->strobe_lane[word]) set_strobe(self, self->strobe_lane[word] - 1, param(registers)[i].reset);
  }
}

// What a write of `value` to one register does to others; whether that is anything.
static bool apply_side_effects(self_t *self, uint32_t offset, uint32_t value, int lane) {
  for (int nth = 0; nth < 8; nth++) {
    const register_effect effect = call(side_effect, (uint64_t)(uintptr_t)self->file, offset, value, lane, nth);
    if (!effect) return nth > 0;
    const uint32_t word = register_effect_offset(effect) % (uint32_t)param(size) / 4;
    self->file[word] = register_effect_value(effect);
    self->timers_until = 0;
    is_set(self, word);
  }
  return true;
}

// An access without effect: no register is there, or it cannot be written.  Notes which requester was first.
static __attribute__((noinline)) void note_ignored(self_t *self, uint32_t offset, int lane) {
  const uint32_t word = offset / 4;
  if (self->ignored_count[word]++) return;
  self->ignored_lane[word] = (uint8_t)lane;
  self->ignored_at[word] = call(position, (uint64_t)(uintptr_t)self->file, lane);
}

// What a write stores.
static void write_register(self_t *self, typeof_port(in_request) request, uint32_t offset, int lane) {
  const uint64_t file = (uint64_t)(uintptr_t)self->file;
  const uint32_t word = offset / 4, stored = self->file[word];
  const int kind = self->kind[word] - 1;
  uint32_t value = (uint32_t)request.data;
  if (request.size < 4) {
    int shift = sub_word_shift(request.address, request.size);
    uint32_t lane_mask = ((1u << 8 * request.size) - 1) << shift;
    uint32_t rest = kind == register_access_w1c || kind == register_access_w1s ? 0 : stored;
    value = (rest & ~lane_mask) | ((value << shift) & lane_mask);
  }
  const uint32_t written_value = value;
  value = call(write_value, file, offset, stored, value, lane) & self->mask[word];
  switch (kind) {
  case register_access_rw:
  case register_access_wo:
  case register_access_counter: self->file[word] = value; break;
  case register_access_w1c: self->file[word] &= ~value; break;
  case register_access_w1s: self->file[word] |= value; break;
  case register_access_timer:
    for (int k = 0; k < TIMERS; k++)
      if (TIMER_WORD(k) == (int)word) self->timer_base[k] += (uint64_t)value - stored;
    self->file[word] = value;
    break;
  case register_access_semaphore:
    if (stored == 0)
      self->file[word] = (uint32_t)lane + 1;
    else if (stored == (uint32_t)lane + 1)
      self->file[word] = 0;
    break;
  default: break;
  }
  is_set(self, word);
  const bool strobes = width(write_strobe) && self->strobe_lane[word];
  if (strobes) set_strobe(self, self->strobe_lane[word] - 1, written_value);
  const bool affects = apply_side_effects(self, offset, written_value, lane),
             resets = call(resets, offset, written_value, lane);
  if (resets) reset(self);
  if ((kind == register_access_ro || kind == register_access_rc) && !(strobes | affects | resets)) {
    count(read_only);
    note_ignored(self, offset, lane);
  }
  count(writes);
  event(access, lane, offset, written_value, true);
}

// What a read returns; true when it changed the register.
static bool read_register(self_t *self, typeof_port(in_request) request, uint32_t offset, int lane, uint32_t *result) {
  const uint64_t file = (uint64_t)(uintptr_t)self->file;
  const uint32_t word = offset / 4, stored = self->file[word];
  const int kind = self->kind[word] - 1;
  if (kind == register_access_semaphore)
    *result = stored == (uint32_t)lane + 1;
  else if (kind != register_access_wo)
    *result = stored;
  *result = call(read_value, file, offset, *result, lane);
  const bool clears = kind == register_access_rc;
  if (clears) self->file[word] = 0;
  count(reads);
  event(access, lane, offset, *result, false);
  if (request.size < 4) {
    const int spare = 32 - 8 * request.size;
    *result = (*result >> sub_word_shift(request.address, request.size)) & (UINT32_MAX >> spare);
    if (request.sign) *result = (uint32_t)((int32_t)(*result << spare) >> spare);
  }
  return clears;
}

// One request; true when it may have changed what registers read as.  Out of line and in pieces, so that the requests
// of all lanes stay in registers.
static __attribute__((noinline)) bool serve(self_t *self, int lane, mem_op op, uint8_t size, bool sign, uint32_t tag,
                                            uint32_t address, uint64_t value) {
  typeof_port(in_request) request = {.op = op, .size = size, .sign = sign, .tag = tag, .address = address};
  request.data = value;
  const uint32_t offset = request.address & (uint32_t)(param(size) - 1) & ~3u;
  const int in_word = (int)(request.address & 3) + request.size, place = (int)cycle_modulo(param(latency));
  const bool nothing = request.op >= mem_op_barrier; // moves no data
  const bool error = !nothing && (in_word > 4 || request.size == 3 || request.size == 0 || request.op > mem_op_write);
  uint32_t result = 0;
  bool changed = false;
  if (TIMERS && self->kind[offset / 4] == register_access_timer + 1 && due(self->timers_until)) refresh_timers(self);
  if (COMPARISONS && due(self->compared_until)) compare_timers(self);
  if (!error && !nothing) {
    if (!self->kind[offset / 4]) {
      count(unlisted);
      note_ignored(self, offset, lane); // reads as 0
    } else if (request.op == mem_op_write) {
      write_register(self, request, offset, lane);
      changed = true;
    } else {
      changed = read_register(self, request, offset, lane, &result);
    }
  }
  set_stamp(reply_cycle[lane][place], (uint64_t)param(latency));
  set_stamp(busy_cycle, (uint64_t)param(latency));
  self->reply_data[lane][place] = result;
  self->reply_tag[lane][place] = request.tag;
  self->reply_error[lane][place] = error;
  return changed;
}

// What a port drives into its register.
static __attribute__((noinline)) void write_by_hardware(self_t *self, uint32_t value, int lane) {
  const uint32_t word = (uint32_t)param(write_offsets)[lane] / 4;
  switch (self->kind[word] - 1) {
  case register_access_w1c:
  case register_access_rc: self->file[word] |= value & self->mask[word]; break;
  case register_access_counter: self->file[word] += value; break;
  default: self->file[word] = value & self->mask[word]; break;
  }
  is_set(self, word);
  apply_side_effects(self, word * 4, value, -2);
  self->timers_until = 0;
}

phase_end() {
  bool any = false, driven = false, changed = false;
  for (int i = 0; i < width(in_request); i++) any |= transferred(in_request, i);
  for (int i = 0; i < width(hardware_write); i++) driven |= transferred(hardware_write, i);
  if (__builtin_expect(!(any | driven), 1)) return;
  for (int k = 0; k < width(hardware_read); k++)
    if (any && some(hardware_read, k)) self->file[param(read_offsets)[k] / 4] = item(hardware_read, k);
  for (int i = 0; i < width(in_request); i++)
    if (transferred(in_request, i))
      changed |= serve(self, i, item(in_request, i).op, item(in_request, i).size, item(in_request, i).sign,
                       item(in_request, i).tag, item(in_request, i).address, (uint64_t)item(in_request, i).data);
  for (int i = 0; i < width(hardware_write); i++)
    if (transferred(hardware_write, i)) write_by_hardware(self, item(hardware_write, i), i);
  if (changed | driven) update_values(self);
}

// Reports the accesses without effect where a register is, or where none is.
static void report_ignored(self_t *self, bool is_listed, const char *what) {
  char report[2000] = "";
  size_t used = 0;
  for (uint32_t word = 0; word < (uint32_t)(param(size) / 4); word++) {
    if (!self->ignored_count[word] || is_listed != (self->kind[word] != 0)) continue;
    if (used > sizeof report - 120) {
      used += (size_t)snprintf(report + used, sizeof report - used, "; and others");
      break;
    }
    used += (size_t)snprintf(report + used, sizeof report - used, "%s0x%x %u time%s, first by %s", used ? "; " : "",
                             word * 4, self->ignored_count[word], self->ignored_count[word] == 1 ? "" : "s",
                             key(in_request, self->ignored_lane[word]));
    if (self->ignored_at[word])
      used += (size_t)snprintf(report + used, sizeof report - used, " near pc 0x%x", self->ignored_at[word]);
  }
  if (used) sim_warn("%s: %s", what, report);
}

finish() {
  report_ignored(self, false, "no register is at these offsets: reads gave 0, writes did nothing");
  report_ignored(self, true, "the registers at these offsets cannot be written: writes did nothing");
}

// The cycle after a reply or a write strobe differs too: they are gone.
next_event() {
  return !passed(busy_cycle, 2) || !passed(changed_cycle, 1) ? cycle() : unchanged(never());
}
