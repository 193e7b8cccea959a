// What the driver of a device is written in, when a host's software is a module: one step after the other, as a driver
// is.  A phase of it is a function with one switch over self->at that is called once a cycle, continues at the step
// where it waited (`return false`), and signals its end by `return true`.  Local variables do not survive a wait.  The
// state needs the fields that the steps name, as in their use below.
#ifndef DRIVER_STEPS_H
#define DRIVER_STEPS_H

#include <stdint.h>
#include <string.h>

#include "clock/exact_time.h"

// Copies what one request to host memory or one beat carries, mostly 64 bytes.
static inline void driver_copy(void *to, const void *from, uint32_t bytes) {
  if (__builtin_expect(bytes == 64, 1))
    memcpy(to, from, 64);
  else
    memcpy(to, from, bytes);
}

// A time that a parameter gives: in whole microseconds, as NICs take it, and in ticks.
static inline uint32_t driver_microseconds(int64_t femtoseconds) {
  return (uint32_t)(femtoseconds / 1000000000);
}
static inline uint64_t driver_ticks(int64_t femtoseconds) {
  return (uint64_t)((unsigned __int128)femtoseconds * ticks_per_second() / 1000000000000000u);
}

// Waits until the condition holds.
#define STEP_WAIT_AT(place, condition)                                                                                 \
  do {                                                                                                                 \
    self->at = (place);                                                                                                \
    __attribute__((fallthrough));                                                                                      \
  case (place):                                                                                                        \
    if (!(condition)) return false;                                                                                    \
  } while (0)
#define STEP_WAIT(condition) STEP_WAIT_AT(1 + __COUNTER__, condition)

// Writes a word through the device's window.
#define STEP_WRITE(at_address, value)                                                                                  \
  do {                                                                                                                 \
    self->window_address = (uint32_t)(at_address);                                                                     \
    self->window_value = (uint32_t)(value);                                                                            \
    self->window_state = driver_request_offered;                                                                       \
    STEP_WAIT(self->window_state == driver_request_idle);                                                              \
  } while (0)

// Simulated time since the start.
#define DRIVER_NANOSECONDS() ((uint64_t)((unsigned __int128)now() * 1000000000 / ticks_per_second()))

// The instant that comes so long after the driver has started to work; past the end of time if it does not come.
#define DRIVER_DUE(time) exact_time_ticks(exact_time_sum(exact_time_at(self->started_at), time))

// Mode rate: what a byte on the wire takes, in thousandths of a tick.
#define DRIVER_OFFERED_BYTE_TIME() ((uint64_t)((double)ticks_per_second() * 8000.0 / (double)param(offered) + 0.5))

// Moves bytes between self->bytes and host memory.
#define STEP_MEMORY(writes, at_address, byte_count)                                                                    \
  do {                                                                                                                 \
    self->memory_write = (writes);                                                                                     \
    self->memory_address = (uint32_t)(at_address);                                                                     \
    self->memory_length = (uint32_t)(byte_count);                                                                      \
    self->memory_requested = self->memory_done = 0;                                                                    \
    STEP_WAIT(self->memory_done == self->memory_length);                                                               \
    self->memory_length = self->memory_requested = 0;                                                                  \
    self->memory_done = 0;                                                                                             \
  } while (0)
#define STEP_GET(at_address, byte_count) STEP_MEMORY(false, at_address, byte_count)
#define STEP_PUT(at_address, byte_count) STEP_MEMORY(true, at_address, byte_count)

// What a driver requires of a state that comes from outside: what moves to or from host memory or a checker is within
// `bytes` and `frame`, whose sizes the ranges of the lengths say.
#define DRIVER_CHECK_STATE()                                                                                           \
  do {                                                                                                                 \
    if (self->memory_requested > self->memory_length || self->memory_done > self->memory_length)                       \
      sim_error("more than %u bytes of host memory are moved", (unsigned)self->memory_length);                         \
    if (self->emitting && self->emitted > self->emit_length)                                                           \
      sim_error("more than the %u bytes of a frame are shown", (unsigned)self->emit_length);                           \
  } while (0)

// ---- Ports of a driver: how phase_start and phase_end carry out what the steps ask for -----------------------------

// The count of the other end from which on this end's turn is not later: sent / ratio_out <= other / ratio_in, without
// dividing.
#define DRIVER_TURN() (param(ratio_in) <= 0 || width(other_count) == 0 ? 0 : self->turn * (uint64_t)param(ratio_in))

// Offers the request to host memory and the one to the device's window.
#define DRIVER_OFFER_REQUESTS()                                                                                        \
  do {                                                                                                                 \
    bool offers = self->memory_requested < self->memory_length;                                                        \
    uint32_t left = self->memory_length - self->memory_requested;                                                      \
    typeof_port(memory_request) memory = {.op = self->memory_write ? mem_op_write : mem_op_read,                       \
                                          .address = self->memory_address + self->memory_requested};                   \
    memory.size = (uint8_t)(left < 64 ? left : 64);                                                                    \
    if (offers && self->memory_write) driver_copy(&memory.data, self->bytes + self->memory_requested, memory.size);    \
    send_if(memory_request, offers, memory);                                                                           \
    typeof_port(window_request)                                                                                        \
        request = {.op = mem_op_write, .size = 4, .address = self->window_address, .data = self->window_value};        \
    send_if(window_request, self->window_state == driver_request_offered, request);                                    \
  } while (0)

// Offers the next beat of `frame` to a checker.
#define DRIVER_OFFER_BEAT(frame)                                                                                       \
  do {                                                                                                                 \
    wire_beat_512 beat = {0};                                                                                          \
    if (self->emitting) {                                                                                              \
      uint32_t rest = self->emit_length - self->emitted;                                                               \
      beat.count = (uint8_t)(rest < 64 ? rest : 64);                                                                   \
      beat.start = self->emitted == 0;                                                                                 \
      beat.end = rest <= 64;                                                                                           \
      driver_copy(&beat.bytes, (frame) + self->emitted, beat.count);                                                   \
    }                                                                                                                  \
    for (int i = 0; i < width(sent_beats); i++) send_if(sent_beats, i, self->emitting && !self->emit_received, beat);  \
    for (int i = 0; i < width(received_beats); i++)                                                                    \
      send_if(received_beats, i, self->emitting && self->emit_received, beat);                                         \
  } while (0)

// Takes the replies to what was offered.
#define DRIVER_TAKE_REPLIES()                                                                                          \
  do {                                                                                                                 \
    if (self->memory_length && transferred(memory_request)) self->memory_requested += data(memory_request).size;       \
    if (self->memory_length && transferred(memory_reply)) {                                                            \
      uint32_t left = self->memory_length - self->memory_done, size = left < 64 ? left : 64;                           \
      if (data(memory_reply).error)                                                                                    \
        sim_error("host memory has no address 0x%x", self->memory_address + self->memory_done);                        \
      if (!self->memory_write) driver_copy(self->bytes + self->memory_done, &data(memory_reply).data, size);           \
      self->memory_done += size;                                                                                       \
    }                                                                                                                  \
    if (self->window_state == driver_request_accepted && transferred(window_reply)) {                                  \
      if (data(window_reply).error) sim_error("the NIC has nothing at 0x%x of its window", self->window_address);      \
      self->window_state = driver_request_idle;                                                                        \
    }                                                                                                                  \
    if (self->window_state == driver_request_offered && transferred(window_request))                                   \
      self->window_state = driver_request_accepted;                                                                    \
  } while (0)

#endif
