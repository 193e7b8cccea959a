// The frames that a driver sends and receives: where they come from and when they may go, what its ports show of them,
// and what is counted.  The state needs the fields that are named here, as for driver_steps.h.
#ifndef DRIVER_TRAFFIC_H
#define DRIVER_TRAFFIC_H

#include "nic/driver_steps.h"
#include "wire/traffic_source.h"

// Reads the parameters of a driver whose receive ring has `receive_entries` entries, and opens its packet files.
#define DRIVER_OPEN_TRAFFIC(receive_entries)                                                                           \
  do {                                                                                                                 \
    TRAFFIC_CHOOSE_MODE();                                                                                             \
    const bool packets = param(input)[0] != 0;                                                                         \
    if (param(receive_buffers) < 1 || param(receive_buffers) >= (receive_entries))                                     \
      sim_input_error("a driver keeps 1 to %d receive buffers in the ring, not %lld", (receive_entries) - 1,           \
                      (long long)param(receive_buffers));                                                              \
    if (self->traffic == traffic_mode_correlated && (!width(next) || (!packets && param(payload))))                    \
      sim_input_error("mode correlated needs packet files, and a connected port `next`");                              \
    if (packets) packet_read_open(&self->source, param(input));                                                        \
    if (param(output)[0]) packet_write_open(&self->sink, param(output));                                               \
  } while (0)

// Whether there is anything to send, and so whether more can follow, unless its turn or its frames come from elsewhere.
#define DRIVER_CHOOSE_TRAFFIC(elsewhere)                                                                               \
  do {                                                                                                                 \
    const bool in_turns = self->traffic == traffic_mode_fast, generated = !param(input)[0];                            \
    self->silent = (generated && param(payload) == 0) || (in_turns && param(ratio_out) == 0);                          \
    self->exhausted = self->silent && !(elsewhere);                                                                    \
    DRIVER_UPDATE_OUTPUTS();                                                                                           \
  } while (0)

// Reads or makes the next frame: into self->frame, with its length and its time.  `more` is whether there is one. Where
// it is not known yet which one comes next (mode correlated), the function that this is in returns.
#define DRIVER_READ_FRAME(more)                                                                                        \
  do {                                                                                                                 \
    (more) = param(count) == 0 || self->sent_count < (uint64_t)param(count);                                           \
    if (self->traffic == traffic_mode_correlated) {                                                                    \
      if (!self->next_known) return;                                                                                   \
      self->next_known = false;                                                                                        \
      (more) = (more) && self->next_frame != TRAFFIC_NO_MORE;                                                          \
      if (more)                                                                                                        \
        packet_at(&self->source, self->next_frame, self->frame, VLAN_MOST_TAGGED, &self->length, &self->stamp);        \
    } else if ((more) && param(input)[0]) {                                                                            \
      uint64_t stamp = 0;                                                                                              \
      (more) = packet_next(&self->source, self->frame, VLAN_MOST_TAGGED, &self->length, &stamp);                       \
      if (more) TRAFFIC_TAKE_STAMP(self->sent_count + 1, stamp);                                                       \
    } else if (more) {                                                                                                 \
      self->length = udp_frame(self->frame, 0, self->sent_count, (uint32_t)param(payload), (uint64_t)param(seed));     \
    }                                                                                                                  \
    if (more) {                                                                                                        \
      VLAN_REQUIRE_SENT(self->sent_count + 1, self->length);                                                           \
      TRAFFIC_REQUIRE_HEADER(self->sent_count + 1, self->length);                                                      \
    }                                                                                                                  \
  } while (0)

// Decides when it may go: in mode timed at this time, in nanoseconds since the start.
#define DRIVER_SCHEDULE_FRAME(nanoseconds)                                                                             \
  do {                                                                                                                 \
    self->due = self->started_at;                                                                                      \
    if (self->traffic == traffic_mode_rate) {                                                                          \
      self->due = DRIVER_DUE(self->line_position);                                                                     \
      self->line_position =                                                                                            \
          exact_time_add(self->line_position, udp_wire_bytes(self->length), DRIVER_OFFERED_BYTE_TIME());               \
    } else if (self->traffic == traffic_mode_timed) {                                                                  \
      self->due = DRIVER_DUE(exact_time_of(nanoseconds, 1000000000, ticks_per_second()));                              \
    }                                                                                                                  \
  } while (0)

// Begins to show a frame to a checker.
#define DRIVER_SHOW_FRAME(frame_length, received)                                                                      \
  do {                                                                                                                 \
    self->emitting = true;                                                                                             \
    self->emit_received = (received);                                                                                  \
    self->emitted = 0;                                                                                                 \
    self->emit_length = (frame_length);                                                                                \
  } while (0)

// The frame is submitted.
#define DRIVER_COUNT_SENT()                                                                                            \
  do {                                                                                                                 \
    count(frames_sent);                                                                                                \
    count(bytes_sent, self->length);                                                                                   \
    self->sent_count++;                                                                                                \
    self->turn =                                                                                                       \
        self->traffic == traffic_mode_fast && !self->silent ? self->sent_count / (uint64_t)param(ratio_out) : 0;       \
    self->loaded = false;                                                                                              \
  } while (0)

// A received frame is in `frame`.
#define DRIVER_RECORD_RECEIVED(frame)                                                                                  \
  do {                                                                                                                 \
    count(frames_received);                                                                                            \
    count(bytes_received, self->receive_length);                                                                       \
    if (param(output)[0]) packet_write(&self->sink, frame, self->receive_length, DRIVER_NANOSECONDS());                \
    sim_progress();                                                                                                    \
  } while (0)

// In awaits(): what keeps a frame from being submitted; `full` is whether the send ring has no room for it.
#define DRIVER_AWAITS(full)                                                                                            \
  do {                                                                                                                 \
    if (self->awaiting_next) waits_for(next, 0, "the number of the next frame to send");                               \
    if (!self->working || !self->waiting || !self->loaded) return;                                                     \
    if (full)                                                                                                          \
      waits_for(interrupt, 0,                                                                                          \
                "the send ring is full until the device reports frames as sent (producer %u, consumer "                \
                "%u)",                                                                                                 \
                (unsigned)self->send_producer, (unsigned)self->send_consumer);                                         \
    else if (self->traffic == traffic_mode_fast)                                                                       \
      waits_for(other_count, 0, "the next frame of this end follows frame %llu of the other end",                      \
                (unsigned long long)self->other_needed);                                                               \
  } while (0)

// ---- Ports ----------------------------------------------------------------------------------------------------------

// Derives the values of the ports from the state.
#define DRIVER_UPDATE_OUTPUTS()                                                                                        \
  do {                                                                                                                 \
    self->offering = self->memory_requested < self->memory_length || self->window_state == driver_request_offered ||   \
                     self->emitting;                                                                                   \
    bool finished = self->silent || (self->exhausted && !self->loaded);                                                \
    self->submitted_count = finished ? TRAFFIC_NO_MORE : (uint32_t)self->sent_count;                                   \
    self->all_submitted = self->firmware_up && finished && !self->emitting;                                            \
    self->awaiting_next = self->traffic == traffic_mode_correlated && self->working && !self->next_known &&            \
                          !self->loaded && !self->exhausted;                                                           \
  } while (0)

// All that phase_start does; what a checker is shown is in `frame`.
#define DRIVER_OFFER(frame)                                                                                            \
  do {                                                                                                                 \
    for (int i = 0; i < width(next); i++) accept(next, i, self->awaiting_next);                                        \
    for (int i = 0; i < width(own_count); i++) send(own_count, i, self->submitted_count);                              \
    for (int i = 0; i < width(done); i++) send(done, i, self->all_submitted);                                          \
    if (__builtin_expect(!self->offering, true)) {                                                                     \
      send_nothing(memory_request);                                                                                    \
      send_nothing(window_request);                                                                                    \
      for (int i = 0; i < width(sent_beats); i++) send_nothing(sent_beats, i);                                         \
      for (int i = 0; i < width(received_beats); i++) send_nothing(received_beats, i);                                 \
      return;                                                                                                          \
    }                                                                                                                  \
    DRIVER_OFFER_REQUESTS();                                                                                           \
    DRIVER_OFFER_BEAT(frame);                                                                                          \
  } while (0)

// Takes the number of the next frame to send.
#define DRIVER_TAKE_NEXT()                                                                                             \
  do {                                                                                                                 \
    if (width(next) && transferred(next)) {                                                                            \
      self->next_known = true;                                                                                         \
      self->next_frame = data(next);                                                                                   \
      self->waiting = false;                                                                                           \
    }                                                                                                                  \
  } while (0)

#endif
