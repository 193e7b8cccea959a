// tigon2_driver.c: the host's driver of a Tigon-2; see tigon2_driver.lss.
//
// A driver is a sequence of steps and is written as one: run() is called once a cycle and resumes in the phase, and
// there at the step, where it waited, which is part of the state.  Its only operations are requests to the NIC's window
// and to host memory.
#include <string.h>

#include "descriptor_trace.h"
#include "modules/wire/udp_traffic.h"
#include "modules/wire/vlan_tag.h"
#include "tigon2_driver.h"
#include "tigon2_image.h"
#include "tigon2_send_ring.h"

// Derives the values of the ports from the state.
static void update_outputs(self_t *self) {
  self->offering =
      self->memory_requested < self->memory_length || self->window_state == driver_request_offered || self->emitting;
  bool finished = self->silent || (self->exhausted && !self->loaded);
  self->submitted_count = finished ? TRAFFIC_NO_MORE : (uint32_t)self->sent_count;
  self->all_submitted = self->firmware_up && finished && !self->emitting;
  self->awaiting_next = self->traffic == traffic_mode_correlated && self->working && !self->next_known &&
                        !self->loaded && !self->exhausted;
}

// Whether there is anything to send, and so whether more can follow.
static void choose_traffic(self_t *self) {
  const bool in_turns = self->traffic == traffic_mode_fast, generated = !param(input)[0];
  self->silent = (generated && param(payload) == 0) || (in_turns && param(ratio_out) == 0);
  self->exhausted = self->silent && !param(descriptors)[0];
  update_outputs(self);
}

init() {
  if (!param(firmware)[0]) sim_input_error("no firmware: give --firmware FILE");
  stream program = {0};
  size_t size = 0;
  stream_read_open(&program, param(firmware));
  const uint8_t *file = stream_contents(&program, &size);
  driver_image image = {.memory = self->image, .bytes = sizeof self->image};
  if (!driver_load_image(&image, param(firmware), file, size)) sim_input_error("%s", image.error);
  self->image_begin = image.begin;
  self->image_end = image.end;
  self->entry = image.entry;

  if (param(nic_send_ring) && self->image_begin < DRIVER_NIC_SEND_RING_END)
    sim_input_error("%s overlaps the send ring", param(firmware));
  const int named = traffic_mode_named(param(mode));
  if (named < 0) sim_input_error("mode is fast, rate, timed or correlated, not '%s'", param(mode));
  self->traffic = (traffic_mode)named;
  if (param(payload) != 0 && (param(payload) < 18 || param(payload) > 1472))
    sim_input_error("generated frames have 18 to 1472 bytes of payload, not %lld", (long long)param(payload));
  if (param(receive_buffers) < 1 || param(receive_buffers) >= DRIVER_STANDARD_ENTRIES)
    sim_input_error("a driver keeps 1 to %d receive buffers in the ring, not %lld", DRIVER_STANDARD_ENTRIES - 1,
                    (long long)param(receive_buffers));
  if (driver_groups(param(groups)) < 0)
    sim_input_error("groups: '%s' is not a list of group addresses such as 01:00:5e:00:00:01", param(groups));
  self->buffer_bytes = (uint32_t)param(buffer_size);
  bool from_file = param(input)[0] != 0;
  if (self->traffic == traffic_mode_timed && !from_file && param(payload))
    sim_input_error("generated frames carry no time stamps: mode timed needs a packet file");
  if (self->traffic == traffic_mode_correlated &&
      (!width(next) || (!from_file && param(payload)) || param(descriptors)[0]))
    sim_input_error("mode correlated needs packet files, a connected port `next`, and no descriptor trace");
  if (from_file) packet_read_open(&self->source, param(input));
  if (param(output)[0]) packet_write_open(&self->sink, param(output));
  if (param(descriptors)[0]) {
    char line[256] = "";
    stream_read_open(&self->trace, param(descriptors));
    if (!stream_line(&self->trace, line, sizeof line) || strcmp(line, "descriptors 1") != 0)
      sim_input_error("%s: a descriptor trace begins with the line 'descriptors 1'", param(descriptors));
    // Errors are found before the first cycle.
    stream scan = self->trace;
    trace_record record;
    int posts = 0;
    while (stream_line(&scan, line, sizeof line)) {
      const char *wrong = trace_parse(line, &record);
      if (!wrong && record.kind == TRACE_POST &&
          (record.bytes > DRIVER_HOST_BUFFER_SPAN || (posts++ && record.bytes != self->buffer_bytes)))
        wrong = "this driver's receive buffers are all of one size, up to 2048 bytes";
      if (wrong) sim_input_error("%s:%llu: %s", param(descriptors), (unsigned long long)scan.records, wrong);
      if (record.kind == TRACE_POST) self->buffer_bytes = record.bytes;
    }
  }
  choose_traffic(self);
}

handler(reset, payload) {
  choose_traffic(self);
}
handler(reset, count) {
  choose_traffic(self);
}
handler(reset, ratio_out) {
  choose_traffic(self);
}

check_state() {
  DRIVER_CHECK_STATE();
  if (self->phase == tigon2_driver_phase_reset && self->at && self->copied > sizeof self->image - 4)
    sim_state_error("0x%x of the program is written, which is beyond it", self->copied);
}

phase_start() {
  for (int i = 0; i < width(next); i++) accept(next, i, self->awaiting_next);
  for (int i = 0; i < width(own_count); i++) send(own_count, i, self->submitted_count);
  for (int i = 0; i < width(done); i++) send(done, i, self->all_submitted);
  if (__builtin_expect(!self->offering, true)) {
    send_nothing(memory_request);
    send_nothing(window_request);
    for (int i = 0; i < width(sent_beats); i++) send_nothing(sent_beats, i);
    for (int i = 0; i < width(received_beats); i++) send_nothing(received_beats, i);
    return;
  }
  DRIVER_OFFER_REQUESTS();
  DRIVER_OFFER_BEAT(self->frame);
}

// ---- Traffic

// Reads the next record of the descriptor trace.
static void next_record(self_t *self) {
  char line[256];
  while (!self->record_ready && !self->trace_ended) {
    self->trace_ended = !stream_line(&self->trace, line, sizeof line);
    if (self->trace_ended) return;
    trace_record record;
    trace_parse(line, &record); // without errors: init() has checked it
    if (record.kind == TRACE_NOTHING) continue;
    self->record_time = record.time;
    self->record_post = record.kind == TRACE_POST;
    self->record_count = record.count;
    if (record.kind == TRACE_SEND) {
      self->pieces = record.count;
      memcpy(self->piece, record.piece, sizeof self->piece);
    }
    self->record_ready = true;
  }
}

// Loads the next frame to send into `frame`, decides into how many pieces it is cut and when it may go.
static void load_frame(self_t *self) {
  bool traced = param(descriptors)[0] != 0;
  if (self->loaded || self->exhausted || self->emitting) return;
  if (traced) {
    next_record(self);
    if (self->trace_ended) self->exhausted = true;
    if (!self->record_ready || self->record_post) return;
  }
  bool more = param(count) == 0 || self->sent_count < (uint64_t)param(count);
  uint32_t length = 0;
  if (self->traffic == traffic_mode_correlated) {
    if (!self->next_known) return;
    self->next_known = false;
    more = more && self->next_frame != TRAFFIC_NO_MORE;
    if (more) packet_at(&self->source, self->next_frame, self->frame, VLAN_MOST_TAGGED, &length, &self->stamp);
  } else if (more && param(input)[0]) {
    uint64_t stamp = 0;
    more = packet_next(&self->source, self->frame, VLAN_MOST_TAGGED, &length, &stamp);
    if (more) {
      if (!self->stamped) self->first_stamp = stamp, self->stamped = true;
      if (self->traffic == traffic_mode_timed && stamp < self->first_stamp + self->stamp)
        sim_input_error("%s: the time stamps run backwards at frame %llu", param(input),
                        (unsigned long long)self->sent_count + 1);
      self->stamp = stamp - self->first_stamp;
    }
  } else if (more) {
    length = udp_frame(self->frame, 0, self->sent_count, (uint32_t)param(payload), (uint64_t)param(seed));
  }
  if (!more) {
    if (traced)
      sim_input_error("%s:%llu: there is no frame left to send", param(descriptors),
                      (unsigned long long)self->trace.records);
    self->exhausted = true;
    return;
  }
  VLAN_REQUIRE_SENT(self->sent_count + 1, length);
  if (length < 14)
    sim_input_error("%s: frame %llu has %u bytes, less than an Ethernet header", param(input),
                    (unsigned long long)self->sent_count + 1, length);
  self->loaded = true;
  self->length = length;
  if (traced) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < self->pieces; i++) sum += self->piece[i];
    if (sum != length)
      sim_input_error("%s:%llu: the pieces add up to %u bytes, the frame has %u", param(descriptors),
                      (unsigned long long)self->trace.records, sum, length);
  } else {
    self->piece[0] = udp_is(self->frame, length) ? UDP_HEADERS : 14;
    self->piece[1] = length - self->piece[0];
    self->pieces = self->piece[1] ? 2 : 1;
  }
  self->due = self->started_at;
  if (self->traffic == traffic_mode_rate) {
    self->due = DRIVER_DUE(self->line_position);
    self->line_position = exact_time_add(self->line_position, udp_wire_bytes(length), DRIVER_OFFERED_BYTE_TIME());
  } else if (self->traffic == traffic_mode_timed) {
    uint64_t when = traced ? self->record_time : self->stamp;
    self->due = DRIVER_DUE(exact_time_of(when, 1000000000, ticks_per_second()));
  }
}

// The instant, or the other end's count, from which on the loaded frame may be submitted if nothing else changes.
static void may_send_from(const self_t *self, uint64_t *instant, uint64_t *other) {
  *instant = *other = never();
  if (!self->loaded || self->emitting) return;
  uint32_t used = (self->send_producer - self->send_consumer) % (uint32_t)param(send_entries);
  if (used + self->pieces >= (uint32_t)param(send_entries)) return;
  if (self->traffic != traffic_mode_fast)
    *instant = self->due;
  else
    *other = DRIVER_TURN();
}

static bool may_send(const self_t *self, uint32_t other) {
  uint64_t instant, needed;
  may_send_from(self, &instant, &needed);
  return due(instant) || other >= needed;
}

// The instant from which on the descriptor trace requires receive buffers to be posted, if the ring has room for one at
// least.
static uint64_t post_from(const self_t *self) {
  if (!self->record_ready || !self->record_post || self->posted >= DRIVER_STANDARD_ENTRIES - 1) return never();
  if (self->traffic != traffic_mode_timed) return 0;
  return DRIVER_DUE(exact_time_of(self->record_time, 1000000000, ticks_per_second()));
}

// Waits until a frame may go, buffers are due or the status block is due to be read.
static void wait_for_work(self_t *self) {
  self->waiting = true;
  may_send_from(self, &self->wait_until, &self->other_needed);
  if (self->next_poll < self->wait_until) self->wait_until = self->next_poll;
  if (self->next_known) self->wait_until = 0;
  uint64_t posts = post_from(self);
  if (posts < self->wait_until) self->wait_until = posts;
}

// Handles the event in `bytes`, which the firmware reports.
static void handle_event(self_t *self) {
  const uint32_t code = driver_load_big(self->bytes, 4) >> 12 & 0xfff;
  switch (self->bytes[0]) {
  case DRIVER_EVENT_RUNNING: self->firmware_up = true; break;
  case DRIVER_EVENT_LINK: self->linked = code != DRIVER_LINK_DOWN; break;
  case DRIVER_EVENT_GROUPS: self->joined++; break;
  case DRIVER_EVENT_ERROR:
    if (code != DRIVER_ERROR_TRANSFER) sim_error("the firmware reports an error, code %u", code);
    count(reported_errors);
    break;
  default: break;
  }
}

// ---- Phases of the start-up, section 8 of the contract

// The chip is reset; the image goes into its memory, which is zero at the start, so only what is not zero needs to be
// written.
static bool reset(self_t *self) {
  switch (self->at) {
  case 0:
    STEP_WRITE(DRIVER_MISC_HOST_CTL, DRIVER_RESET);
    STEP_WRITE(DRIVER_MISC_HOST_CTL, DRIVER_LANES);
    STEP_WRITE(DRIVER_CPU_A_STATE, DRIVER_HALT);
    STEP_WRITE(DRIVER_CPU_B_STATE, DRIVER_HALT);
    STEP_WRITE(DRIVER_MAILBOX_INTERRUPT, 0);
    STEP_WRITE(DRIVER_MISC_LOCAL_CTL, DRIVER_SRAM_BANKS);
    STEP_WRITE(DRIVER_MISC_CONFIG, DRIVER_SYNCHRONOUS_SRAM);
    STEP_WRITE(DRIVER_MODE, DRIVER_MODE_BYTES | (param(hardware_assist) ? DRIVER_MODE_ASSIST : 0));
    STEP_WRITE(DRIVER_MAC_ADDRESS, DRIVER_STATION_HIGH);
    STEP_WRITE(DRIVER_MAC_ADDRESS + 4, DRIVER_STATION_LOW);
    self->window_base = UINT32_MAX;
    for (self->copied = self->image_begin; self->copied < self->image_end; self->copied += 4) {
      if (driver_load_big(self->image + self->copied, 4) == 0) continue;
      if ((self->copied & ~(uint32_t)(DRIVER_WINDOW_BYTES - 1)) != self->window_base) {
        self->window_base = self->copied & ~(uint32_t)(DRIVER_WINDOW_BYTES - 1);
        STEP_WRITE(DRIVER_WINDOW_BASE, self->window_base);
      }
      STEP_WRITE(DRIVER_WINDOW + (self->copied & (DRIVER_WINDOW_BYTES - 1)),
                 driver_load_big(self->image + self->copied, 4));
    }
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Rings and what may be chosen; then the processor starts.
static bool configure(self_t *self) {
  switch (self->at) {
  case 0:
    driver_describe_rings(self->bytes, (uint32_t)param(send_entries), self->buffer_bytes,
                          (uint32_t)param(return_entries), param(checksums));
    if (param(nic_send_ring)) driver_describe_nic_ring(self->bytes, (uint32_t)param(send_entries));
    STEP_PUT(DRIVER_HOST_RINGS, DRIVER_HOST_RINGS_BYTES);
    STEP_WRITE(DRIVER_INFORMATION, 0);
    STEP_WRITE(DRIVER_INFORMATION + 4, DRIVER_HOST_INFORMATION);
    for (self->copied = 0; self->copied < sizeof driver_cleared / sizeof driver_cleared[0]; self->copied++)
      STEP_WRITE(driver_cleared[self->copied], 0);
    STEP_WRITE(DRIVER_DMA_READ_CONFIG, DRIVER_DMA_THRESHOLD);
    STEP_WRITE(DRIVER_DMA_WRITE_CONFIG, DRIVER_DMA_THRESHOLD);
    STEP_WRITE(DRIVER_ASSIST_STATE, param(hardware_assist) ? DRIVER_ASSIST_ON : 0);
    STEP_WRITE(DRIVER_TRANSMIT_SHARE, param(transmit_share));
    STEP_WRITE(DRIVER_RECEIVE_TICKS, driver_microseconds(param(receive_delay)));
    STEP_WRITE(DRIVER_SEND_TICKS, driver_microseconds(param(send_delay)));
    STEP_WRITE(DRIVER_STATISTICS_TICKS, driver_microseconds(param(statistics_interval)));
    STEP_WRITE(DRIVER_SEND_MOST, param(send_most));
    STEP_WRITE(DRIVER_RECEIVE_MOST, param(receive_most));
    STEP_WRITE(DRIVER_LINK, DRIVER_NEGOTIATE);
    STEP_WRITE(DRIVER_SLOW_LINK, DRIVER_NEGOTIATE);
    STEP_WRITE(DRIVER_INTERFACE, 0);
    STEP_WRITE(DRIVER_MTU, DRIVER_LONGEST_FRAME);
    STEP_WRITE(DRIVER_CPU_A_PC, self->entry);
    STEP_WRITE(DRIVER_MAILBOX_INTERRUPT, 0);
    STEP_WRITE(DRIVER_CPU_A_STATE, 0);
    self->started_at = now();
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// The firmware reports event 1.
static bool await_firmware(self_t *self) {
  switch (self->at) {
  case 0:
    while (!self->firmware_up) STEP_AWAIT_EVENTS("the firmware did not report that it is up");
    report(started, DRIVER_NANOSECONDS());
    event(up, DRIVER_NANOSECONDS());
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Receive buffers, then the interface goes up.
static bool open_interface(self_t *self) {
  switch (self->at) {
  case 0:
    if (!param(descriptors)[0]) {
      while (self->posted < (uint32_t)param(receive_buffers)) {
        driver_describe_buffer(self->bytes, self->posted, self->buffer_bytes);
        STEP_PUT(DRIVER_HOST_STANDARD_RING + 32 * self->standard_producer, 32);
        self->standard_producer = (self->standard_producer + 1) % DRIVER_STANDARD_ENTRIES;
        self->posted++;
      }
      STEP_WRITE(DRIVER_MAILBOX_STANDARD, self->standard_producer);
      self->standard_published = self->standard_producer;
    }
    STEP_COMMAND(DRIVER_COMMAND_CLEAR_STATISTICS, 0);
    for (self->copied = 0; self->copied < (uint32_t)driver_groups(param(groups)); self->copied++)
      STEP_JOIN(driver_group_at(param(groups), (int)self->copied), self->copied + 1);
    STEP_COMMAND(DRIVER_COMMAND_HOST_STATE, 1);
    STEP_COMMAND(DRIVER_COMMAND_PROMISCUOUS, param(promiscuous) ? 1 : 2);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

static uint64_t statistics_interval(const self_t *self) {
  return exact_time_ticks(exact_time_of(driver_microseconds(param(statistics_interval)), 1000000, ticks_per_second()));
}

// The link is up: frames that come before are lost.
static bool await_link(self_t *self) {
  switch (self->at) {
  case 0:
    self->started_at = now();
    while (!self->linked) STEP_AWAIT_EVENTS("the firmware did not report that the link is up");
    STEP_WRITE(DRIVER_EVENT_CONSUMER, self->event_consumer);
    self->started_at = self->next_poll = now();
    self->next_statistics = now() + statistics_interval(self);
    self->working = true;
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// ---- Phases of its work, in a loop

// Records the statistics block of the firmware in `bytes`.
static void read_statistics(self_t *self) {
  report(reported_bad_fcs, driver_load_big(self->bytes + DRIVER_REPORTED_BAD_FCS, 4));
  report(reported_too_long, driver_load_big(self->bytes + DRIVER_REPORTED_TOO_LONG, 4));
  report(reported_line_errors, driver_load_big(self->bytes + DRIVER_REPORTED_LINE_ERRORS, 4));
  report(reported_no_space, driver_load_big(self->bytes + DRIVER_REPORTED_NO_SPACE, 4));
  report(reported_in_errors, driver_load_big(self->bytes + DRIVER_REPORTED_IN_ERRORS, 4));
  report(reported_dma_errors, driver_load_big(self->bytes + DRIVER_REPORTED_DMA_ERRORS, 4) +
                                  driver_load_big(self->bytes + DRIVER_REPORTED_DMA_ERRORS + 4, 4));
}

// After an interrupt, and at intervals: reads the status block.
static bool poll_status(self_t *self, bool interrupted) {
  switch (self->at) {
  case 0:
    if (!interrupted && !due(self->next_poll)) return true;
    if (interrupted) {
      count(interrupts_handled);
      STEP_WRITE(DRIVER_MAILBOX_INTERRUPT, 0);
    }
    self->next_poll = now() + driver_ticks(param(poll));
    if (due(self->next_statistics)) {
      self->next_statistics += statistics_interval(self);
      STEP_GET(DRIVER_HOST_INFORMATION, DRIVER_REPORTED_BYTES);
      read_statistics(self);
    }
    STEP_GET(DRIVER_HOST_STATUS, 64);
    self->event_producer = driver_load_big(self->bytes + DRIVER_STATUS_EVENT, 4) % DRIVER_EVENT_ENTRIES;
    self->return_producer = driver_load_big(self->bytes + DRIVER_STATUS_RETURN, 4) % (uint32_t)param(return_entries);
    self->send_consumer = driver_load_big(self->bytes + DRIVER_STATUS_SEND, 4) % (uint32_t)param(send_entries);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Events that the firmware has reported.
static bool handle_events(self_t *self) {
  switch (self->at) {
  case 0:
    if (self->event_consumer == self->event_producer) return true;
    while (self->event_consumer != self->event_producer) {
      STEP_GET(DRIVER_HOST_EVENTS + 8 * self->event_consumer, 8);
      handle_event(self);
      self->event_consumer = (self->event_consumer + 1) % DRIVER_EVENT_ENTRIES;
    }
    STEP_WRITE(DRIVER_EVENT_CONSUMER, self->event_consumer);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// The return descriptor in `bytes` says where a received frame is.
static void read_return(self_t *self) {
  self->receive_index = driver_load_big(self->bytes + 8, 2);
  self->receive_length = driver_load_big(self->bytes + 10, 2);
  count(checksums_correct, param(checksums) && driver_checksum_status(self->bytes) == 1);
  count(checksums_wrong, param(checksums) && driver_checksum_status(self->bytes) == 2);
  if (self->receive_index >= DRIVER_STANDARD_ENTRIES || self->receive_length < 14 ||
      self->receive_length > self->buffer_bytes)
    sim_error("return descriptor %u is invalid: buffer %u, %u bytes", self->return_consumer, self->receive_index,
              self->receive_length);
}

// Shows the received frame in `bytes` to the checker; a frame that was loaded for sending is restored after that.
static void offer_received(self_t *self) {
  driver_swap(self->bytes, self->frame, self->receive_length);
  self->emitting = self->emit_received = true;
  self->emitted = 0;
  self->emit_length = self->receive_length;
  count(frames_received);
  count(bytes_received, self->receive_length);
  if (param(output)[0])
    packet_write(&self->sink, self->frame, self->receive_length,
                 (uint64_t)((unsigned __int128)now() * 1000000000 / ticks_per_second()));
  sim_progress();
}

// Received frames, whose buffers go back to the NIC.
static bool receive_frames(self_t *self) {
  switch (self->at) {
  case 0:
    if (self->return_consumer == self->return_producer) return true;
    while (self->return_consumer != self->return_producer) {
      STEP_GET(DRIVER_HOST_RETURN_RING + 32 * self->return_consumer, 32);
      read_return(self);
      STEP_GET(DRIVER_HOST_RECEIVE_BUFFERS + DRIVER_HOST_BUFFER_SPAN * self->receive_index, self->receive_length);
      STEP_WAIT(!self->emitting);
      offer_received(self);
      STEP_WAIT(!self->emitting);
      memcpy(self->frame, self->bytes, (self->receive_length + 7) & ~7u);
      self->return_consumer = (self->return_consumer + 1) % (uint32_t)param(return_entries);
      self->posted--;
      if (!param(descriptors)[0]) {
        driver_describe_buffer(self->bytes, self->receive_index, self->buffer_bytes);
        STEP_PUT(DRIVER_HOST_STANDARD_RING + 32 * self->standard_producer, 32);
        self->standard_producer = (self->standard_producer + 1) % DRIVER_STANDARD_ENTRIES;
        self->posted++;
      }
    }
    STEP_WRITE(DRIVER_RETURN_CONSUMER, self->return_consumer);
    if (self->standard_published != self->standard_producer) {
      STEP_WRITE(DRIVER_MAILBOX_STANDARD, self->standard_producer);
      self->standard_published = self->standard_producer;
    }
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Receive buffers that the descriptor trace posts.
static bool post_buffers(self_t *self) {
  switch (self->at) {
  case 0:
    load_frame(self);
    if (!due(post_from(self))) return true;
    // As many as the ring has room for; the rest when frames have come back.
    while (self->record_count && self->posted < DRIVER_STANDARD_ENTRIES - 1) {
      // Buffers are used in the order of the ring, so a buffer is free when its place in the ring is.
      driver_describe_buffer(self->bytes, self->standard_producer, self->buffer_bytes);
      STEP_PUT(DRIVER_HOST_STANDARD_RING + 32 * self->standard_producer, 32);
      self->standard_producer = (self->standard_producer + 1) % DRIVER_STANDARD_ENTRIES;
      self->posted++;
      self->record_count--;
    }
    self->record_ready = self->record_count != 0;
    STEP_WRITE(DRIVER_MAILBOX_STANDARD, self->standard_producer);
    self->standard_published = self->standard_producer;
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Frames to send: up to 8 before the producer index is written.
static bool send_frames(self_t *self, uint32_t other) {
  switch (self->at) {
  case 0:
    while (may_send(self, other) && (self->send_producer - self->send_published) % (uint32_t)param(send_entries) < 16) {
      memcpy(self->bytes, self->frame, (self->length + 7) & ~7u);
      if (param(checksums)) driver_offload_checksums(self->bytes, self->length);
      self->emitting = true;
      self->emit_received = false;
      self->emitted = 0;
      self->emit_length = self->length;
      self->copied =
          DRIVER_HOST_SEND_BUFFERS + DRIVER_HOST_BUFFER_SPAN * (self->send_producer % (uint32_t)param(send_entries));
      STEP_PUT(self->copied, self->length);
      driver_describe_pieces(self->bytes, self->copied, self->piece, self->pieces,
                             param(checksums) ? driver_checksum_flags(self->frame, self->length) : 0);
      for (self->command_word = 0; self->command_word < self->pieces; self->command_word++) {
        // One at a time: a frame's descriptors may go round the end of the ring.
        memmove(self->bytes, self->bytes + (self->command_word ? 16 : 0),
                16 * (size_t)(self->pieces - self->command_word));
        STEP_DESCRIBE_PIECE(self->send_producer, (uint32_t)param(send_entries), param(nic_send_ring));
        self->send_producer = (self->send_producer + 1) % (uint32_t)param(send_entries);
      }
      count(frames_sent);
      count(bytes_sent, self->length);
      self->sent_count++;
      self->turn =
          self->traffic == traffic_mode_fast && !self->silent ? self->sent_count / (uint64_t)param(ratio_out) : 0;
      self->loaded = self->record_ready = false;
      STEP_WAIT(!self->emitting);
      load_frame(self);
    }
    if (self->send_published != self->send_producer) {
      STEP_WRITE(DRIVER_MAILBOX_SEND, self->send_producer);
      self->send_published = self->send_producer;
    }
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Nothing, until something may change.
static bool idle(self_t *self) {
  switch (self->at) {
  case 0:
    wait_for_work(self);
    STEP_WAIT(!self->waiting);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Runs one phase as far as it gets; whether it has ended.
static bool run_phase(self_t *self, bool interrupted, uint32_t other) {
  switch (self->phase) {
  case tigon2_driver_phase_reset: return reset(self);
  case tigon2_driver_phase_configure: return configure(self);
  case tigon2_driver_phase_await_firmware: return await_firmware(self);
  case tigon2_driver_phase_open_interface: return open_interface(self);
  case tigon2_driver_phase_await_link: return await_link(self);
  case tigon2_driver_phase_poll_status: return poll_status(self, interrupted);
  case tigon2_driver_phase_handle_events: return handle_events(self);
  case tigon2_driver_phase_receive_frames: return receive_frames(self);
  case tigon2_driver_phase_post_buffers: return post_buffers(self);
  case tigon2_driver_phase_send_frames: return send_frames(self, other);
  case tigon2_driver_phase_idle: return idle(self);
  }
  return false;
}

static __attribute__((noinline)) void run(self_t *self, bool interrupted, uint32_t other) {
  if (!self->working)
    sim_progress(); // each step of the start-up, and each poll whether the firmware has finished its own
  while (run_phase(self, interrupted, other)) {
    self->at = 0;
    self->phase = self->phase == tigon2_driver_phase_idle ? tigon2_driver_phase_poll_status : self->phase + 1;
  }
}

phase_end() {
  if (width(next) && transferred(next)) {
    self->next_known = true;
    self->next_frame = data(next);
    self->waiting = false;
  }
  bool interrupted = width(interrupt) && some(interrupt) && data(interrupt);
  uint32_t other = width(other_count) == 0 ? UINT32_MAX : some(other_count) ? data(other_count) : 0;
  // At work, it mostly waits.
  if (__builtin_expect(self->waiting, 1)) {
    if (!due(self->wait_until) && other < self->other_needed && !interrupted) return;
    self->waiting = false;
  }
  DRIVER_TAKE_REPLIES();
  if (self->emitting) {
    self->emitted += 64;
    if (self->emitted >= self->emit_length) self->emitting = false;
  }
  // Most cycles wait for one of these two.
  if (self->window_state == driver_request_idle && self->memory_done >= self->memory_length)
    run(self, interrupted, other);
  update_outputs(self);
}

next_event() {
  return cycle();
}
