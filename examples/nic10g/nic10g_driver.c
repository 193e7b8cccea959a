// nic10g_driver.c: the host's driver of the 10 Gb/s NIC; see nic10g_driver.lss.
//
// A driver is a sequence of steps and is written as one: run() is called once a cycle and resumes in the phase, and
// there at the step, where it waited, which is part of the state.  Its only operations are requests to the NIC's window
// and to host memory.
#include "emulib/program/image.h"

#include <limits.h>
#include <string.h>

#include "modules/nic/driver_traffic.h"
#include "nic10g_driver.h"

// Copies a segment of the firmware.
static void place_segment(self_t *self, uint32_t address, const uint8_t *bytes, uint32_t size) {
  if (size == 0) return;
  if (address < NIC_SCRATCHPAD_BYTES && size <= NIC_SCRATCHPAD_BYTES - address)
    memcpy(self->image + address, bytes, size);
  else if (address - NIC_CODE < NIC_CODE_BYTES && size <= NIC_CODE_BYTES - (address - NIC_CODE))
    memcpy(self->image + NIC_SCRATCHPAD_BYTES + (address - NIC_CODE), bytes, size);
  else
    sim_input_error("%s: 0x%x bytes at 0x%x fit neither into the scratchpad nor into the instruction memory",
                    param(firmware), size, address);
}

static void load_firmware(self_t *self) {
  stream program = {0};
  size_t size = 0;
  char error[PATH_MAX + 512] = "";
  stream_read_open(&program, param(firmware));
  const uint8_t *file = stream_contents(&program, &size), *bytes = NULL;
  ProgramImage *image = program_image_open(param(firmware), file, size, error, sizeof error);
  if (!image) sim_input_error("%s", error);
  if (!program_image_runs_on(image, "mips2", error, sizeof error)) sim_input_error("%s", error);
  if (!program_image_big_endian(image))
    sim_input_error("%s: this NIC is big-endian, the program is little-endian", param(firmware));
  uint32_t address = 0, loaded = 0;
  for (size_t i = 0; program_image_segment(image, i, &address, &bytes, &loaded); i++)
    place_segment(self, address, bytes, loaded);
  self->entry = program_image_entry(image);
  program_image_free(image);
  if (self->entry < NIC_CODE || self->entry - NIC_CODE >= NIC_CODE_BYTES)
    sim_input_error("%s: it starts at 0x%x, outside the instruction memory from 0x%x up to 0x%x (it may be built for "
                    "another machine)",
                    param(firmware), self->entry, NIC_CODE, NIC_CODE + NIC_CODE_BYTES);
}

static void choose_traffic(self_t *self) {
  DRIVER_CHOOSE_TRAFFIC(false);
}

init() {
  if (param(processors) > 0 && !param(firmware)[0]) sim_input_error("no firmware: give --firmware FILE");
  if (param(firmware)[0]) load_firmware(self);
  DRIVER_OPEN_TRAFFIC(NIC_RECEIVE_ENTRIES);
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
  if (self->phase == nic10g_driver_phase_load && self->copied > sizeof self->image - 4)
    sim_error("0x%x of the program is written, which is beyond it", self->copied);
}

phase_start() {
  DRIVER_OFFER(self->beat_frame);
}

// ---- Traffic

// Loads the next frame to send and decides when it may go.
static void load_frame(self_t *self) {
  if (self->loaded || self->exhausted) return;
  bool more;
  DRIVER_READ_FRAME(more);
  self->loaded = more;
  self->exhausted = !more;
  if (!more) return;
  self->header = udp_is(self->frame, self->length) ? UDP_HEADERS : 14;
  DRIVER_SCHEDULE_FRAME(self->stamp);
}

// Whether the send ring has no room for a frame.
static bool is_full(const self_t *self) {
  return self->send_producer - self->send_consumer + 2 > NIC_SEND_ENTRIES;
}

// The instant, or the other end's count, from which on the loaded frame may be submitted if nothing else changes.
static void may_send_from(const self_t *self, uint64_t *instant, uint64_t *other) {
  *instant = *other = never();
  if (!self->loaded || is_full(self)) return;
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

// Waits until a frame may go or the status block is due to be read.
static void wait_for_work(self_t *self) {
  self->waiting = true;
  may_send_from(self, &self->wait_until, &self->other_needed);
  if (self->next_poll < self->wait_until) self->wait_until = self->next_poll;
  if (self->next_known) self->wait_until = 0;
}

// Begins to send a frame to the checker.
static void offer_to_checker(self_t *self, const uint8_t *bytes, uint32_t length, bool received) {
  memcpy(self->beat_frame, bytes, length);
  DRIVER_SHOW_FRAME(length, received);
}

// Word `nth` of the firmware's settings in the scratchpad, written before it starts.
static uint32_t setup_word(const self_t *self, uint32_t nth) {
  const uint32_t words[NIC_SETUP_WORDS] = {NIC_HOST_SEND_RING,
                                           NIC_SEND_ENTRIES,
                                           NIC_HOST_RECEIVE_RING,
                                           NIC_RECEIVE_ENTRIES,
                                           NIC_HOST_RETURN_RING,
                                           NIC_RETURN_ENTRIES,
                                           NIC_HOST_STATUS,
                                           (uint32_t)param(receive_most),
                                           driver_microseconds(param(receive_delay)),
                                           (uint32_t)param(send_most),
                                           driver_microseconds(param(send_delay)),
                                           (uint32_t)param(buffer_size),
                                           (uint32_t)param(ordering),
                                           (uint32_t)param(task_frames)};
  return words[nth];
}

// ---- Phases of the start-up

// The memories, then the processors.
static bool load_memories(self_t *self) {
  switch (self->at) {
  case 0:
    STEP_WRITE(NIC_CORE_RUN, 0);
    // All memory is zero at the start, so only what is not zero needs to be written.
    self->window_base = UINT32_MAX;
    for (self->copied = 0; self->copied < NIC_SCRATCHPAD_BYTES + NIC_CODE_BYTES; self->copied += 4) {
      if (nic_load(self->image + self->copied) == 0) continue;
      if ((self->copied & ~(uint32_t)(NIC_WINDOW_BYTES - 1)) != self->window_base) {
        self->window_base = self->copied & ~(uint32_t)(NIC_WINDOW_BYTES - 1);
        STEP_WRITE(NIC_WINDOW_BASE, self->window_base < NIC_SCRATCHPAD_BYTES
                                        ? self->window_base
                                        : NIC_CODE + (self->window_base - NIC_SCRATCHPAD_BYTES));
      }
      STEP_WRITE(NIC_WINDOW + (self->copied & (NIC_WINDOW_BYTES - 1)), nic_load(self->image + self->copied));
    }
    STEP_WRITE(NIC_WINDOW_BASE, 0);
    for (self->copied = 0; self->copied < NIC_SETUP_WORDS; self->copied++)
      STEP_WRITE(NIC_WINDOW + 4 * self->copied, setup_word(self, self->copied));
    STEP_WRITE(NIC_CORE_PC, self->entry);
    STEP_WRITE(NIC_CORE_RUN, 0xffff);
    self->started_at = now();
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// The firmware reports that it is up.
static bool await_firmware(self_t *self) {
  switch (self->at) {
  case 0:
    while (!self->firmware_up) {
      self->next_poll = now() + ticks_per_second() / 1000000;
      STEP_WAIT(due(self->next_poll));
      if (now() - self->started_at > driver_ticks(param(timeout)))
        sim_error("the firmware did not report that it is up");
      STEP_GET(NIC_HOST_STATUS, 16);
      self->firmware_up = nic_load(self->bytes + 8) == 1;
    }
    report(started, DRIVER_NANOSECONDS());
    event(up, DRIVER_NANOSECONDS());
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Receive buffers.
static bool post_buffers(self_t *self) {
  switch (self->at) {
  case 0:
    while (self->receive_producer < (uint32_t)param(receive_buffers)) {
      nic_describe(self->bytes, NIC_HOST_RECEIVE_BUFFERS + NIC_HOST_BUFFER_SPAN * self->receive_producer,
                   (uint32_t)param(buffer_size) << 16, self->receive_producer);
      STEP_PUT(NIC_HOST_RECEIVE_RING + 16 * self->receive_producer, 16);
      self->receive_producer++;
    }
    STEP_WRITE(NIC_RECEIVE_PRODUCER, self->receive_producer);
    self->receive_published = self->receive_producer;
    self->started_at = self->next_poll = now();
    self->working = true;
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// ---- Phases of its work, in a loop

// After an interrupt, and at intervals: reads the status block.
static bool poll_status(self_t *self, bool interrupted) {
  switch (self->at) {
  case 0:
    if (!interrupted && !due(self->next_poll)) return true;
    if (interrupted) {
      count(interrupts_handled);
      STEP_WRITE(NIC_INTERRUPT, 0);
    }
    self->next_poll = now() + driver_ticks(param(poll));
    STEP_GET(NIC_HOST_STATUS, 16);
    self->return_producer = nic_load(self->bytes);
    self->send_consumer = nic_load(self->bytes + 4);
    if (self->return_producer - self->return_consumer > NIC_RETURN_ENTRIES)
      sim_error("the firmware reports %u returned frames, %u were received", self->return_producer,
                self->return_consumer);
    if (self->send_producer - self->send_consumer > NIC_SEND_ENTRIES)
      sim_error("the firmware reports %u sent descriptors, %u were submitted", self->send_consumer,
                self->send_producer);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// One received frame, whose buffer is posted again.
static bool receive_frame(self_t *self) {
  switch (self->at) {
  case 0:
    if (self->return_consumer == self->return_producer) return true;
    STEP_GET(NIC_HOST_RETURN_RING + 8 * (self->return_consumer % NIC_RETURN_ENTRIES), 8);
    self->receive_index = nic_load(self->bytes);
    self->receive_length = nic_load(self->bytes + 4) & 0xffff;
    if (self->receive_index >= NIC_RECEIVE_ENTRIES || self->receive_length < 14 ||
        self->receive_length > (uint32_t)param(buffer_size))
      sim_error("return entry %u is invalid: buffer %u, %u bytes", self->return_consumer, self->receive_index,
                self->receive_length);
    STEP_GET(NIC_HOST_RECEIVE_BUFFERS + NIC_HOST_BUFFER_SPAN * self->receive_index, self->receive_length);
    STEP_WAIT(!self->emitting);
    offer_to_checker(self, self->bytes, self->receive_length, true);
    DRIVER_RECORD_RECEIVED(self->bytes);
    self->return_consumer++;
    nic_describe(self->bytes, NIC_HOST_RECEIVE_BUFFERS + NIC_HOST_BUFFER_SPAN * self->receive_index,
                 (uint32_t)param(buffer_size) << 16, self->receive_index);
    STEP_PUT(NIC_HOST_RECEIVE_RING + 16 * (self->receive_producer % NIC_RECEIVE_ENTRIES), 16);
    self->receive_producer++;
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// The NIC's indices of received frames and posted buffers are written.
static bool publish_received(self_t *self) {
  switch (self->at) {
  case 0:
    if (self->receive_producer != self->receive_published &&
        (self->return_consumer == self->return_producer || self->receive_producer - self->receive_published >= 16)) {
      STEP_WRITE(NIC_RETURN_CONSUMER, self->return_consumer);
      STEP_WRITE(NIC_RECEIVE_PRODUCER, self->receive_producer);
      self->receive_published = self->receive_producer;
    }
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// One frame to send, in turn with those received.
static bool send_frame(self_t *self, uint32_t other) {
  switch (self->at) {
  case 0:
    load_frame(self);
    if (!may_send(self, other)) return true;
    STEP_WAIT(!self->emitting);
    offer_to_checker(self, self->frame, self->length, false);
    memcpy(self->bytes, self->frame, self->length);
    self->copied = NIC_HOST_SEND_BUFFERS + NIC_HOST_BUFFER_SPAN * (self->send_producer % NIC_SEND_ENTRIES);
    STEP_PUT(self->copied, self->length);
    nic_describe(self->bytes, self->copied, self->header << 16, 0);
    STEP_PUT(NIC_HOST_SEND_RING + 16 * (self->send_producer % NIC_SEND_ENTRIES), 16);
    nic_describe(self->bytes, self->copied + self->header, (self->length - self->header) << 16 | NIC_SEND_END, 0);
    STEP_PUT(NIC_HOST_SEND_RING + 16 * ((self->send_producer + 1) % NIC_SEND_ENTRIES), 16);
    self->send_producer += 2;
    DRIVER_COUNT_SENT();
    load_frame(self);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// The NIC's index of submitted frames is written for up to 8 of them together.
static bool publish_sent(self_t *self, uint32_t other) {
  switch (self->at) {
  case 0:
    if (self->send_published != self->send_producer &&
        (!may_send(self, other) || self->send_producer - self->send_published >= 16)) {
      STEP_WRITE(NIC_SEND_PRODUCER, self->send_producer);
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
    if (self->return_consumer == self->return_producer) wait_for_work(self);
    STEP_WAIT(!self->waiting);
    return true;
  default: sim_error("the driver is in an unknown step");
  }
}

// Runs one phase as far as it gets; whether it has ended.
static bool run_phase(self_t *self, bool interrupted, uint32_t other) {
  switch (self->phase) {
  case nic10g_driver_phase_load: return load_memories(self);
  case nic10g_driver_phase_await_firmware: return await_firmware(self);
  case nic10g_driver_phase_post_buffers: return post_buffers(self);
  case nic10g_driver_phase_poll_status: return poll_status(self, interrupted);
  case nic10g_driver_phase_receive_frame: return receive_frame(self);
  case nic10g_driver_phase_publish_received: return publish_received(self);
  case nic10g_driver_phase_send_frame: return send_frame(self, other);
  case nic10g_driver_phase_publish_sent: return publish_sent(self, other);
  case nic10g_driver_phase_idle: return idle(self);
  }
  return false;
}

static void run(self_t *self, bool interrupted, uint32_t other) {
  if (!self->working)
    sim_progress(); // each step of the start-up, and each poll whether the firmware has finished its own
  while (run_phase(self, interrupted, other)) {
    self->at = 0;
    self->phase = self->phase == nic10g_driver_phase_idle ? nic10g_driver_phase_poll_status : self->phase + 1;
  }
}

phase_end() {
  DRIVER_TAKE_NEXT();
  if (self->emitting) {
    self->emitted += 64;
    if (self->emitted >= self->emit_length) {
      self->emitting = false;
      DRIVER_UPDATE_OUTPUTS();
    }
  }
  bool interrupted = width(interrupt) && some(interrupt) && data(interrupt);
  uint32_t other = width(other_count) == 0 ? UINT32_MAX : some(other_count) ? data(other_count) : 0;
  // At work, it mostly waits.
  if (__builtin_expect(self->waiting, 1)) {
    if (!due(self->wait_until) && other < self->other_needed && !interrupted) return;
    self->waiting = false;
  }
  DRIVER_TAKE_REPLIES();
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
