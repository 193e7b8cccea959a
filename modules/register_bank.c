// register_bank.c: declared device registers; see register_bank.lss.
#include "register_bank.h"

#include <string.h>

// Works out anew what is shown.
static void show(self_t *self) {
  const uint64_t file = (uint64_t)(uintptr_t)self->file;
  for (int i = 0; i < width(shown); i++)
    self->shown_value[i] = call(read_value, file, (uint32_t)param(shown_offsets)[i], self->file[param(shown_offsets)[i] / 4], -1);
  self->changed_cycle = cycle() + 1;
}

init() {
  for (int i = 0; i < param_length(registers); i++) {
    int word = param(registers)[i].offset / 4;
    self->file[word] = param(registers)[i].reset;
    self->kind[word] = (uint8_t)(param(registers)[i].access + 1);
    self->mask[word] = param(registers)[i].mask ? param(registers)[i].mask : UINT32_MAX;
    if (param(registers)[i].access == register_access_timer) {
      if (self->timers == 4) sim_error("a register bank has at most 4 timers");
      self->timer_base[self->timers] = param(registers)[i].reset;
      self->timer_word[self->timers++] = (uint16_t)word;
    }
  }
  for (int i = 0; i < width(written); i++) self->news_lane[param(announced_offsets)[i] / 4] = (uint8_t)(i + 1);
  show(self);
}

phase_start() {
  for (int i = 0; i < width(in_request); i++) {
    if (__builtin_expect(!self->under_way, 1)) {
      send_nothing(in_reply, i);
      continue;
    }
    typeof_port(in_reply) reply = {.tag = self->reply_tag[i][0], .error = self->reply_error[i][0], .latency = (uint8_t)param(latency)};
    reply.data = self->reply_data[i][0];
    send_if(in_reply, i, self->replying[i][0], reply);
  }
  for (int i = 0; i < width(written); i++) {
    if (__builtin_expect(!self->any_fresh, 1)) send_nothing(written, i);
    else send_if(written, i, self->fresh[i], self->news[i]);
  }
}

// One function a lane, so that a value is taken out of the state where it is looked at.
handler(show, i) { send(shown, i, self->shown_value[i]); }

// Brings the stored values of the timers up to date.
__attribute__((noinline)) static void refresh_timers(self_t *self) {
  const unsigned __int128 second = 1000000000000000u;
  uint64_t ticks = (uint64_t)(now() * second / ticks_per_second() / (uint64_t)param(timer_tick));
  for (int i = 0; i < self->timers; i++) self->file[self->timer_word[i]] = (uint32_t)(self->timer_base[i] + ticks);
  self->timers_until = (uint64_t)(((unsigned __int128)(ticks + 1) * (uint64_t)param(timer_tick) * ticks_per_second() + second - 1) / second);
}

// The bits of a register that an access of `size` bytes at `address` means: how far they lie from bit 0.
static int sub_word_shift(uint32_t address, int size) {
  int byte = (int)(address & 3);
  return 8 * (param(big_endian) ? 4 - byte - size : byte);
}

// Gives all registers their reset values; timers go on from theirs.
static void reset(self_t *self) {
  for (int i = 0; i < param_length(registers); i++) {
    int word = param(registers)[i].offset / 4;
    for (int k = 0; k < self->timers; k++)
      if (self->timer_word[k] == word) self->timer_base[k] += (uint64_t)param(registers)[i].reset - self->file[word];
    self->file[word] = param(registers)[i].reset;
    if (!self->news_lane[word]) continue;
    self->news[self->news_lane[word] - 1] = param(registers)[i].reset;
    self->fresh[self->news_lane[word] - 1] = self->any_fresh = true;
  }
}

// What a write of `value` to one register does to others.
static void apply_side_effects(self_t *self, uint32_t offset, uint32_t value, int lane) {
  for (int nth = 0; nth < 8; nth++) {
    uint64_t effect = call(side_effect, (uint64_t)(uintptr_t)self->file, offset, value, lane, nth);
    if (!effect) return;
    self->file[(uint32_t)(effect >> 32 & 0x7fffffff) % (uint32_t)param(size) / 4] = (uint32_t)effect;
    self->timers_until = 0;
  }
}

phase_end() {
  bool any = self->under_way || self->any_fresh, changed = false;
  for (int i = 0; i < width(in_request); i++) any |= some(in_request, i);
  for (int i = 0; i < width(drive); i++) any |= some(drive, i);
  if (__builtin_expect(!any, 1)) return;
  if (self->under_way) {
    for (int i = 0; i < width(in_request); i++) {
      self->under_way -= self->replying[i][0];
      for (int k = 0; k + 1 < param(latency); k++) {
        self->replying[i][k] = self->replying[i][k + 1];
        self->reply_data[i][k] = self->reply_data[i][k + 1];
        self->reply_tag[i][k] = self->reply_tag[i][k + 1];
        self->reply_error[i][k] = self->reply_error[i][k + 1];
      }
      self->replying[i][param(latency) - 1] = false;
    }
  }
  if (self->any_fresh) {
    for (int i = 0; i < width(written); i++) self->fresh[i] = false;
    self->any_fresh = false;
  }

  const uint64_t file = (uint64_t)(uintptr_t)self->file;
  for (int i = 0; i < width(in_request); i++) {
    if (!transferred(in_request, i)) continue;
    typeof_port(in_request) request = data(in_request, i);
    uint32_t offset = request.address & (uint32_t)(param(size) - 1) & ~3u;
    uint32_t word = offset / 4;
    int kind = self->kind[word] - 1;
    uint32_t result = 0;
    int in_word = (int)(request.address & 3) + request.size;
    bool error = in_word > 4 || request.size == 3 || request.op > mem_op_write;
    if (self->timers && now() >= self->timers_until) refresh_timers(self);
    for (int k = 0; k < width(live); k++)
      if (some(live, k)) self->file[param(live_offsets)[k] / 4] = data(live, k);
    uint32_t stored = self->file[word];

    if (error || kind < 0) {
      // Nothing there: reads as 0.
    } else if (request.op == mem_op_write) {
      uint32_t value = (uint32_t)request.data;
      if (request.size < 4) {
        int shift = sub_word_shift(request.address, request.size);
        uint32_t lane_mask = ((1u << 8 * request.size) - 1) << shift;
        uint32_t rest = kind == register_access_w1c || kind == register_access_w1s ? 0 : stored;
        value = (rest & ~lane_mask) | ((value << shift) & lane_mask);
      }
      uint32_t written_value = value;
      value = call(write_value, file, offset, stored, value, i) & self->mask[word];
      switch (kind) {
      case register_access_rw:
      case register_access_wo:
      case register_access_counter: self->file[word] = value; break;
      case register_access_w1c: self->file[word] &= ~value; break;
      case register_access_w1s: self->file[word] |= value; break;
      case register_access_timer:
        for (int k = 0; k < self->timers; k++)
          if (self->timer_word[k] == word) self->timer_base[k] += (uint64_t)value - stored;
        self->file[word] = value;
        break;
      case register_access_semaphore:
        if (stored == 0) self->file[word] = (uint32_t)i + 1;
        else if (stored == (uint32_t)i + 1) self->file[word] = 0;
        break;
      default: break;
      }
      if (width(written) && self->news_lane[word]) {
        self->news[self->news_lane[word] - 1] = written_value;
        self->fresh[self->news_lane[word] - 1] = true;
        self->any_fresh = true;
      }
      apply_side_effects(self, offset, written_value, i);
      if (call(resets, offset, written_value, i)) reset(self);
      changed = true;
      self->writes++;
      event(access, i, offset, written_value, true);
    } else {
      if (kind == register_access_semaphore) result = stored == (uint32_t)i + 1;
      else if (kind == register_access_wo) result = 0;
      else result = stored;
      result = call(read_value, file, offset, result, i);
      if (kind == register_access_rc) {
        self->file[word] = 0;
        changed = true;
      }
      self->reads++;
      event(access, i, offset, result, false);
      if (request.size < 4) {
        result = (result >> sub_word_shift(request.address, request.size)) & ((1u << 8 * request.size) - 1);
        if (request.sign) result = (uint32_t)((int32_t)(result << (32 - 8 * request.size)) >> (32 - 8 * request.size));
      }
    }
    int last = param(latency) - 1;
    self->replying[i][last] = true;
    self->reply_data[i][last] = request.op == mem_op_write ? 0 : result;
    self->reply_tag[i][last] = request.tag;
    self->reply_error[i][last] = error;
    self->under_way++;
  }

  for (int i = 0; i < width(drive); i++) {
    if (!transferred(drive, i)) continue;
    uint32_t word = (uint32_t)param(driven_offsets)[i] / 4;
    switch (self->kind[word] - 1) {
    case register_access_w1c:
    case register_access_rc: self->file[word] |= data(drive, i) & self->mask[word]; break;
    case register_access_counter: self->file[word] += data(drive, i); break;
    default: self->file[word] = data(drive, i) & self->mask[word]; break;
    }
    apply_side_effects(self, word * 4, data(drive, i), -2);
    self->timers_until = 0;
    changed = true;
  }
  if (changed) show(self);
}

next_event() { return self->under_way || self->any_fresh || self->changed_cycle >= cycle() ? cycle() : never(); }
