// tigon2_driver.c: the host's driver of a Tigon-2; see tigon2_driver.lss.
//
// A driver is a sequence of steps and is written as one: run() is called once a cycle and resumes in the phase, and
// there at the step, where it waited, which is part of the state.  Its only operations are requests to the NIC's window
// and to host memory.
#include <string.h>

#include "descriptor_trace.h"
#include "tigon2_driver.h"
#include "tigon2_image.h"
#include "tigon2_send_ring.h"

static void choose_traffic(self_t *self) {
  DRIVER_CHOOSE_TRAFFIC(param(descriptors)[0]);
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
  DRIVER_OPEN_TRAFFIC(DRIVER_STANDARD_ENTRIES);
  if (self->traffic == traffic_mode_correlated && param(descriptors)[0])
    sim_input_error("mode correlated needs packet files, and no descriptor trace");
  if (driver_groups(param(groups)) < 0)
    sim_input_error("groups: '%s' is not a list of group addresses such as 01:00:5e:00:00:01", param(groups));
  self->buffer_bytes = (uint32_t)param(buffer_size);
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
    sim_error("0x%x of the program is written, which is beyond it", self->copied);
}

phase_start() {
  DRIVER_OFFER(self->frame);
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
  bool more;
  DRIVER_READ_FRAME(more);
  if (!more) {
    if (traced)
      sim_input_error("%s:%llu: there is no frame left to send", param(descriptors),
                      (unsigned long long)self->trace.records);
    self->exhausted = true;
    return;
  }
  self->loaded = true;
  if (traced) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < self->pieces; i++) sum += self->piece[i];
    if (sum != self->length)
      sim_input_error("%s:%llu: the pieces add up to %u bytes, the frame has %u", param(descriptors),
                      (unsigned long long)self->trace.records, sum, self->length);
  } else {
    self->piece[0] = udp_is(self->frame, self->length) ? UDP_HEADERS : 14;
    self->piece[1] = self->length - self->piece[0];
    self->pieces = self->piece[1] ? 2 : 1;
  }
  DRIVER_SCHEDULE_FRAME(traced ? self->record_time : self->stamp);
}

// Whether the send ring has no room for the loaded frame.
static bool is_full(const self_t *self) {
  const uint32_t used = (self->send_producer - self->send_consumer) % (uint32_t)param(send_entries);
  return used + self->pieces >= (uint32_t)param(send_entries);
}

// The instant, or the other end's count, from which on the loaded frame may be submitted if nothing else changes.
static void may_send_from(const self_t *self, uint64_t *instant, uint64_t *other) {
  *instant = *other = never();
  if (!self->loaded || self->emitting || is_full(self)) return;
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
      while (self->posted < (uint32_t)param(receive_buffers)) STEP_POST_BUFFER(self->posted);
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

// An index of the status block in `bytes`: the place of an entry in a ring.
static uint32_t reported_index(const self_t *self, int at, uint32_t entries, const char *what) {
  const uint32_t index = driver_load_big(self->bytes + at, 4);
  if (index >= entries) sim_error("the firmware reports %s %u, and the ring has %u entries", what, index, entries);
  return index;
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
    self->event_producer = reported_index(self, DRIVER_STATUS_EVENT, DRIVER_EVENT_ENTRIES, "event producer");
    self->return_producer =
        reported_index(self, DRIVER_STATUS_RETURN, (uint32_t)param(return_entries), "return producer");
    self->send_consumer = reported_index(self, DRIVER_STATUS_SEND, (uint32_t)param(send_entries), "send consumer");
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
  DRIVER_SHOW_FRAME(self->receive_length, true);
  DRIVER_RECORD_RECEIVED(self->frame);
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
      if (!param(descriptors)[0]) STEP_POST_BUFFER(self->receive_index);
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
      STEP_POST_BUFFER(self->standard_producer);
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
      DRIVER_SHOW_FRAME(self->length, false);
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
      DRIVER_COUNT_SENT();
      self->record_ready = false;
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
  DRIVER_TAKE_NEXT();
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
  DRIVER_UPDATE_OUTPUTS();
}

next_event() {
  return cycle();
}

awaits() {
  DRIVER_AWAITS(is_full(self));
}
