// scsi_disk.c: a SCSI target with a disk behind it; see scsi_disk.lss.
#include "disk/scsi_disk.h"
#include "clock/device_time.h"

#define QUEUE     param(queue)
#define IMMEDIATE param(queue) // the place of a command that needs no disk

init() {
  const uint64_t second = 1000000000000000u;
  self->waiting = device_cycles_32((uint64_t)param(disconnect_after), second, ticks_per_second(), clock_period());
  self->current = self->submitted = self->writer = self->holder = -1;
  self->unready = 0xff;
}

check_state() {
  const scsi_step step = self->step;
  const bool moves = step == scsi_step_returns_data || step == scsi_step_takes_data || step == scsi_step_returns_status;
  if ((moves || step == scsi_step_decides || step == scsi_step_reselects) && self->current < 0)
    sim_error("something is done for a command, and there is none");
}

// ---- Commands ----
static bool is_before(const scsi_task *one, const scsi_task *other) {
  return (int32_t)(one->order - other->order) < 0;
}

static bool reads_disk(uint8_t code) {
  return code == SCSI_READ_6 || code == SCSI_READ_10;
}

static bool writes_disk(uint8_t code) {
  return code == SCSI_WRITE_6 || code == SCSI_WRITE_10;
}

static void forget(self_t *self, int k) {
  bool any = false;
  self->task[k] = (scsi_task){.used = false};
  for (int j = 0; j < QUEUE; j++) any |= self->task[j].used;
  if (!any) self->orders = 0;
}

// Whether a command has to wait for an ordered one, or is one that waits.
static bool is_held(const self_t *self, int k) {
  for (int j = 0; j < QUEUE; j++) {
    const scsi_task *other = &self->task[j];
    if (other->used && j != k && is_before(other, &self->task[k]) && (other->ordered || self->task[k].ordered))
      return true;
  }
  return false;
}

// The oldest command for which the disk behind is to be requested.
static void submit(self_t *self) {
  int best = -1;
  for (int k = 0; self->orders && k < QUEUE; k++) {
    const scsi_task *task = &self->task[k];
    if (!task->used || task->stage != scsi_stage_waits || is_held(self, k)) continue;
    if (best < 0 || is_before(task, &self->task[best])) best = k;
  }
  self->submitted = self->writer < 0 ? best : -1;
}

static void end_command(self_t *self, int k, uint8_t status) {
  self->task[k].status = status;
  self->task[k].stage = scsi_stage_ends;
}

static void fail(self_t *self, int k, uint32_t sense) {
  self->sense[self->task[k].initiator] = sense;
  end_command(self, k, SCSI_CHECK_CONDITION);
}

// Nobody wants a command's outcome any more; what the disk behind has of it comes to an end.
static void abort_command(self_t *self, int k) {
  scsi_task *task = &self->task[k];
  if (!task->used || task->aborted) return;
  count(aborts);
  task->aborted = true;
  if (task->stage == scsi_stage_waits || task->stage == scsi_stage_ends || k == IMMEDIATE) forget(self, k);
  if (self->holding && self->holder == k) {
    self->holding = false;
    if (self->held.last) forget(self, k);
  }
  if (self->writer == k) self->giving = true; // with which the write is given up
}

static void abort_all(self_t *self, int initiator) {
  for (int k = 0; k <= QUEUE; k++)
    if (initiator < 0 || self->task[k].initiator == initiator) abort_command(self, k);
}

static void reset_unit(self_t *self) {
  abort_all(self, -1);
  self->unready = 0xff;
  self->stopped = false;
  for (int k = 0; k < 8; k++) self->sense[k] = self->periods[k] = 0;
}

// ---- What commands return ----
static void put_number(uint8_t *to, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) to[k] = (uint8_t)(value >> 8 * (bytes - 1 - k));
}

static uint64_t number(const uint8_t *from, int bytes) {
  uint64_t value = 0;
  for (int k = 0; k < bytes; k++) value = value << 8 | from[k];
  return value;
}

// A text in a field of so many characters, with blanks behind it.
static void put_text(uint8_t *to, const char *text, size_t size) {
  memset(to, ' ', size);
  memcpy(to, text, strnlen(text, size));
}

static void return_bytes(self_t *self, uint32_t length, uint64_t most) {
  self->length = length < most ? length : (uint32_t)most;
  self->at = 0;
}

static void inquire(self_t *self) {
  uint8_t *bytes = self->bytes;
  bytes[0] = self->unit ? 0x7f : 0; // there is no such unit; a disk
  bytes[2] = bytes[3] = 2;          // SCSI-2
  bytes[4] = 31;
  bytes[7] = (param(offset) ? 0x10 : 0) | 2; // synchronous transfer, tags
  put_text(bytes + 8, param(vendor), 8);
  put_text(bytes + 16, param(product), 16);
  put_text(bytes + 32, param(revision), 4);
  return_bytes(self, 36, self->taken[4]);
}

static void return_sense(self_t *self) {
  const uint32_t sense = self->unit ? SCSI_SENSE_UNIT : self->sense[self->peer];
  self->bytes[0] = 0x70;
  self->bytes[2] = (uint8_t)(sense >> 16);
  self->bytes[7] = 10;
  self->bytes[12] = (uint8_t)(sense >> 8);
  self->bytes[13] = (uint8_t)sense;
  self->sense[self->peer] = 0;
  return_bytes(self, 18, self->taken[4]);
}

// The page about the buffer, with a header, and unless it is not wanted a block descriptor.
static bool sense_mode(self_t *self, uint64_t sectors) {
  const uint32_t page = self->taken[2] & 0x3f, kind = self->taken[2] >> 6;
  if ((page != 8 && page != 0x3f) || kind == 3) return false;
  const uint32_t block = self->taken[1] & 8 ? 0 : 8;
  uint8_t *bytes = self->bytes;
  bytes[3] = (uint8_t)block;
  if (block) {
    put_number(bytes + 5, sectors > 0xffffff ? 0 : sectors, 3);
    put_number(bytes + 9, SCSI_SECTOR, 3);
  }
  bytes += 4 + block;
  bytes[0] = 8;
  bytes[1] = 10;
  bytes[2] = kind == 1 ? 0 : param(write_buffer) ? 4 : 0; // nothing of it can be changed
  self->bytes[0] = (uint8_t)(3 + block + 12);
  return_bytes(self, 16 + block, self->taken[4]);
  return true;
}

// A command that needs no disk; 0, or the sense that it ends with.
static uint32_t serve(self_t *self, uint64_t sectors) {
  const uint8_t *bytes = self->taken;
  memset(self->bytes, 0, 64);
  self->length = 0;
  switch (bytes[0]) {
  case SCSI_TEST_UNIT_READY: return self->stopped ? SCSI_SENSE_NOT_STARTED : 0;
  case SCSI_REQUEST_SENSE: return_sense(self); return 0;
  case SCSI_INQUIRY:
    if (bytes[1] & 1 || bytes[2]) return SCSI_SENSE_FIELD;
    inquire(self);
    return 0;
  case SCSI_MODE_SENSE_6: return sense_mode(self, sectors) ? 0 : SCSI_SENSE_FIELD;
  case SCSI_START_STOP: self->stopped = !(bytes[4] & 1); return 0;
  case SCSI_READ_CAPACITY:
    put_number(self->bytes, sectors - 1, 4); // at most what SCSI-2 has for disks that are larger still
    put_number(self->bytes + 4, SCSI_SECTOR, 4);
    return_bytes(self, 8, 8);
    return 0;
  case SCSI_REPORT_LUNS:
    if (number(bytes + 6, 4) < 16) return SCSI_SENSE_FIELD;
    put_number(self->bytes, 8, 4);
    return_bytes(self, 16, number(bytes + 6, 4));
    return 0;
  default: return SCSI_SENSE_OPERATION;
  }
}

// How many bytes a command has.
static uint32_t command_size(uint8_t code) {
  switch (code >> 5) {
  case 0: return 6;
  case 5: return 12;
  default: return 10;
  }
}

// A command for the disk behind.
static void queue_command(self_t *self, scsi_task task, uint64_t sectors) {
  const bool small = task.code == SCSI_READ_6 || task.code == SCSI_WRITE_6;
  int k = 0;
  while (k < QUEUE && self->task[k].used) k++;
  self->current = k;
  if (k == IMMEDIATE) {
    self->task[k] = task;
    count(full);
    end_command(self, k, SCSI_QUEUE_FULL);
    return;
  }
  task.first = small ? number(self->taken + 1, 3) & 0x1fffff : number(self->taken + 2, 4);
  task.count = small ? self->taken[4] ? self->taken[4] : 256 : (uint32_t)number(self->taken + 7, 2);
  task.order = ++self->orders;
  self->task[k] = task;
  const bool flush = task.code == SCSI_SYNCHRONIZE_CACHE;
  if (self->stopped) {
    fail(self, k, SCSI_SENSE_NOT_STARTED);
  } else if (!flush && (task.first > sectors || task.count > sectors - task.first)) {
    fail(self, k, SCSI_SENSE_RANGE);
  } else if (!flush && task.count == 0) {
    end_command(self, k, SCSI_GOOD);
  }
}

static void begin_command(self_t *self, uint64_t sectors) {
  const uint8_t code = self->taken[0];
  if (sectors > SCSI_SECTORS)
    sim_error("the disk has %llu sectors, but SCSI commands address only %llu sectors (2 TiB)",
              (unsigned long long)sectors, (unsigned long long)SCSI_SECTORS);
  const bool ready = code == SCSI_INQUIRY || code == SCSI_REQUEST_SENSE || code == SCSI_REPORT_LUNS;
  scsi_task task = {.used = true, .tagged = self->has_tag, .disconnects = self->allowed, .initiator = self->peer};
  task.ordered = self->has_tag && self->tag_kind == SCSI_ORDERED_TAG;
  task.tag = self->tag;
  task.code = code;
  const bool disk = reads_disk(code) || writes_disk(code) || code == SCSI_SYNCHRONIZE_CACHE;
  const bool unready = self->unready >> self->peer & 1;
  if (!ready) self->sense[self->peer] = 0;
  count(tagged, self->has_tag);
  self->length = self->at = 0;
  if (disk && !self->unit && !unready) {
    queue_command(self, task, sectors);
  } else {
    self->current = IMMEDIATE;
    self->task[IMMEDIATE] = task;
    uint32_t sense = self->unit && !ready ? SCSI_SENSE_UNIT : unready && !ready ? SCSI_SENSE_RESET : 0;
    if (sense == SCSI_SENSE_RESET) self->unready &= (uint8_t)~(1u << self->peer);
    if (!sense) sense = serve(self, sectors);
    if (sense)
      fail(self, IMMEDIATE, sense);
    else
      end_command(self, IMMEDIATE, SCSI_GOOD);
  }
  const scsi_task *begun = &self->task[self->current];
  event(command, code, self->peer, self->tag, begun->first, begun->count);
}

// ---- Messages ----
static void send_messages(self_t *self, uint32_t length, bool leaving) {
  self->message_count = length;
  self->said = 0;
  self->leaving = leaving;
  self->step = scsi_step_returns_messages;
}

// Bytes of the message that has come so far, 0: more of it is to come.
static uint32_t message_size(const self_t *self) {
  const uint8_t first = self->taken[0];
  if (self->taken_count == 0) return 0;
  uint32_t size = first >= 0x20 && first < 0x30 ? 2 : 1;
  if (first == SCSI_EXTENDED) size = self->taken_count > 1 ? self->taken[1] + 2u : 2;
  if (size > sizeof self->taken) size = sizeof self->taken;
  return self->taken_count >= size ? size : 0;
}

static void abort_named(self_t *self, uint8_t message) {
  if (message == SCSI_DEVICE_RESET) reset_unit(self);
  if (message == SCSI_ABORT) abort_all(self, self->peer);
  for (int k = 0; k <= QUEUE && message == SCSI_ABORT_TAG; k++) {
    const scsi_task *task = &self->task[k];
    const bool named = self->has_tag ? task->tagged && task->tag == self->tag : k == self->current;
    if (task->used && task->initiator == self->peer && named) abort_command(self, k);
  }
  self->leaving = true;
}

// Does what a message says; what is to be said in return is put among the messages.
static void take_message(self_t *self) {
  const uint8_t *bytes = self->taken;
  if (bytes[0] & SCSI_IDENTIFY) {
    self->unit = bytes[0] & 7;
    self->allowed = bytes[0] & 0x40;
  } else if (bytes[0] >= SCSI_SIMPLE_TAG && bytes[0] <= SCSI_ORDERED_TAG) {
    self->has_tag = true;
    self->tag_kind = bytes[0];
    self->tag = bytes[1];
  } else if (bytes[0] == SCSI_EXTENDED && bytes[1] == 3 && bytes[2] == SCSI_SYNCHRONOUS) {
    const uint8_t period = bytes[3] > param(period) ? bytes[3] : (uint8_t)param(period);
    const uint8_t offset = bytes[4] < param(offset) ? bytes[4] : (uint8_t)param(offset);
    self->periods[self->peer] = offset ? period : 0;
    const uint8_t reply[5] = {SCSI_EXTENDED, 3, SCSI_SYNCHRONOUS, period, offset};
    memcpy(self->messages, reply, sizeof reply);
    self->message_count = sizeof reply;
  } else if (bytes[0] == SCSI_ABORT || bytes[0] == SCSI_ABORT_TAG || bytes[0] == SCSI_DEVICE_RESET) {
    abort_named(self, bytes[0]);
  } else if (bytes[0] == SCSI_REJECT) {
    self->periods[self->peer] = 0;
  } else if (bytes[0] != 0x08 && bytes[0] != 0x05) { // no operation, the initiator found an error
    count(rejects);
    self->messages[0] = SCSI_REJECT;
    self->message_count = 1;
  }
}

// ---- What is next on the bus ----
static void decide_from_now(self_t *self) {
  self->step = scsi_step_decides;
  set_until(leaves_at, self->waiting);
}

// Behind messages of the initiator, or to it.
static void go_on(self_t *self) {
  if (self->leaving) {
    self->step = scsi_step_leaves;
  } else if (self->current >= 0) {
    decide_from_now(self);
  } else {
    self->step = scsi_step_takes_command;
    self->taken_count = 0;
  }
}

static void take_byte(self_t *self, const scsi_beat *beat, uint64_t sectors) {
  for (uint32_t k = 0; k < beat->count; k++)
    if (self->taken_count < sizeof self->taken) self->taken[self->taken_count++] = (uint8_t)(beat->bytes >> 8 * k);
  if (self->step == scsi_step_takes_command) {
    if (self->taken_count < command_size(self->taken[0])) return;
    begin_command(self, sectors);
    decide_from_now(self);
    return;
  }
  if (message_size(self)) {
    take_message(self);
    self->taken_count = 0;
  }
  if (beat->attention && !self->leaving) return;
  if (self->message_count && !self->leaving)
    send_messages(self, self->message_count, false);
  else
    go_on(self);
}

static void take_data(self_t *self, const scsi_beat *beat) {
  if (self->written_count + beat->count > sizeof self->written) sim_error("more data came than were requested");
  for (uint32_t k = 0; k < beat->count; k++) self->written[self->written_count++] = (uint8_t)(beat->bytes >> 8 * k);
  self->task[self->current].moved = true;
  self->giving = self->written_count >= SCSI_SECTOR;
  if (self->giving) decide_from_now(self);
}

static void disconnect(self_t *self) {
  scsi_task *task = &self->task[self->current];
  uint32_t length = 0;
  if (task->moved) self->messages[length++] = SCSI_SAVE_DATA_POINTER;
  self->messages[length++] = SCSI_DISCONNECT;
  task->moved = false;
  count(disconnects);
  send_messages(self, length, true);
}

static void take_messages(self_t *self) {
  self->step = scsi_step_takes_messages;
  self->taken_count = self->message_count = 0;
}

// What can be done for the command of the connection.
static void decide(self_t *self, bool attention) {
  const int k = self->current;
  const scsi_task *task = &self->task[k];
  if (attention) {
    take_messages(self);
  } else if (self->length > self->at) {
    self->step = scsi_step_returns_data;
  } else if (self->holding && self->holder == k) {
    memcpy(self->bytes, &self->held.bytes, SCSI_SECTOR);
    self->holding = false;
    return_bytes(self, SCSI_SECTOR, SCSI_SECTOR);
    self->task[k].moved = true;
    if (self->held.last) end_command(self, k, SCSI_GOOD);
    self->step = scsi_step_returns_data;
  } else if (task->stage == scsi_stage_ends) {
    self->step = scsi_step_returns_status;
    self->said = 0;
  } else if (task->stage == scsi_stage_wants_data && !self->giving) {
    self->step = scsi_step_takes_data;
  } else if (!until(leaves_at) && task->disconnects) {
    disconnect(self);
  }
}

static bool can_go_on(const self_t *self, int k) {
  const scsi_task *task = &self->task[k];
  if (!task->used || task->aborted) return false;
  return (self->holding && self->holder == k) || task->stage == scsi_stage_ends ||
         (task->stage == scsi_stage_wants_data && !self->giving);
}

// A command for which the initiator is to be reselected.
static void find_work(self_t *self) {
  int best = -1;
  for (int k = 0; self->orders && k < QUEUE; k++)
    if (can_go_on(self, k) && (best < 0 || is_before(&self->task[k], &self->task[best]))) best = k;
  self->current = best;
  self->step = best < 0 ? scsi_step_idle : scsi_step_reselects;
}

static void reselected(self_t *self) {
  const scsi_task *task = &self->task[self->current];
  self->peer = task->initiator;
  self->selected = true;
  self->length = self->at = 0;
  self->messages[0] = SCSI_IDENTIFY;
  self->messages[1] = SCSI_SIMPLE_TAG;
  self->messages[2] = task->tag;
  send_messages(self, task->tagged ? 3 : 1, false);
}

static void selected(self_t *self, uint8_t peer, bool attention) {
  self->peer = peer;
  self->selected = true;
  self->current = -1;
  self->allowed = self->has_tag = self->leaving = false;
  self->tag = self->unit = 0;
  self->length = self->at = self->message_count = self->taken_count = 0;
  self->phase = scsi_phase_message_out;
  self->step = attention ? scsi_step_takes_messages : scsi_step_takes_command;
}

static void leave(self_t *self) {
  self->selected = false;
  self->current = -1;
  self->step = scsi_step_idle;
}

// ---- Signals ----
static scsi_beat beat_of(const self_t *self) {
  const bool messages = self->step == scsi_step_returns_messages;
  scsi_beat beat = {.count = 1};
  if (messages) {
    beat.bytes = self->messages[self->said];
  } else if (self->step == scsi_step_returns_status) {
    beat.bytes = self->task[self->current].status;
  } else if (self->step == scsi_step_returns_data) {
    const uint32_t left = self->length - self->at;
    beat.count = (uint8_t)(left < 8 ? left : 8);
    for (uint32_t k = 0; k < beat.count; k++) beat.bytes |= (uint64_t)self->bytes[self->at + k] << 8 * k;
  }
  return beat;
}

static bool has_bytes(const self_t *self) {
  return (self->step == scsi_step_returns_data && self->at < self->length) ||
         (self->step == scsi_step_returns_status && self->said == 0) ||
         (self->step == scsi_step_returns_messages && self->said < self->message_count);
}

static scsi_phase phase_of(const self_t *self) {
  switch (self->step) {
  case scsi_step_takes_command: return scsi_phase_command;
  case scsi_step_returns_data: return scsi_phase_data_in;
  case scsi_step_takes_data: return scsi_phase_data_out;
  case scsi_step_returns_status: return scsi_phase_status;
  case scsi_step_returns_messages: return scsi_phase_message_in;
  case scsi_step_takes_messages: return scsi_phase_message_out;
  default: return self->phase; // it stays until there is something to transfer
  }
}

static disk_request request_of(const self_t *self) {
  disk_request request = {.op = disk_op_flush, .tag = (uint32_t)self->submitted};
  if (self->submitted < 0) return request;
  const scsi_task *task = &self->task[self->submitted];
  if (!reads_disk(task->code) && !writes_disk(task->code)) return request;
  request.op = reads_disk(task->code) ? disk_op_read : disk_op_write;
  request.sector = task->first;
  request.count = task->count;
  return request;
}

phase_start() {
  const bool here = self->selected && self->step != scsi_step_leaves;
  const bool takes = self->step == scsi_step_takes_messages || self->step == scsi_step_takes_command ||
                     self->step == scsi_step_takes_data;
  scsi_lines lines = {.id = param(id), .responds = !self->selected, .busy = here, .requests = here && takes};
  lines.phase = phase_of(self);
  lines.period = self->periods[self->peer];
  scsi_request request = {.reselects = true};
  if (self->current >= 0) request.destination = self->task[self->current].initiator;
  send(bus_lines, lines);
  send_if(bus_request, self->step == scsi_step_reselects && !self->selected, request);
  send_if(bus_sent, here && has_bytes(self), beat_of(self));
  accept(bus_received, true);
  send_if(disk_request, self->submitted >= 0, request_of(self));
  if (self->giving && self->writer >= 0) {
    disk_sector sector = {.abandon = self->task[self->writer].aborted};
    memcpy(&sector.bytes, self->written, SCSI_SECTOR);
    send(disk_data, sector);
  } else {
    send_nothing(disk_data);
  }
  accept(disk_reply, !self->holding);
}

// ---- What happens ----
static void follow_request(self_t *self) {
  scsi_task *task = &self->task[self->submitted];
  const bool writes = writes_disk(task->code);
  task->stage = writes ? scsi_stage_wants_data : scsi_stage_requested;
  if (writes) {
    self->writer = self->submitted;
    self->giving = task->aborted;
    self->written_count = 0;
  }
}

// The disk behind has taken a sector.
static void follow_data(self_t *self) {
  scsi_task *task = &self->task[self->writer];
  self->giving = false;
  self->written_count -= self->written_count < SCSI_SECTOR ? self->written_count : SCSI_SECTOR;
  memmove(self->written, self->written + SCSI_SECTOR, self->written_count);
  if (!task->aborted && --task->count) return;
  task->stage = scsi_stage_requested;
  self->writer = -1;
}

static void take_reply(self_t *self, const disk_reply *reply) {
  if (reply->tag >= (uint32_t)QUEUE)
    sim_error("the disk replies to request %u, which does not exist", (unsigned)reply->tag);
  const int k = (int)reply->tag;
  const scsi_task *task = &self->task[k];
  if (task->aborted) {
    if (reply->last) forget(self, k);
  } else if (reply->error) {
    fail(self, k, reads_disk(task->code) ? SCSI_SENSE_READ : SCSI_SENSE_WRITE);
  } else if (reads_disk(task->code)) {
    self->holding = true;
    self->holder = k;
    self->held = *reply;
  } else {
    end_command(self, k, SCSI_GOOD);
  }
}

static void follow_sent(self_t *self, uint32_t bytes) {
  if (self->step == scsi_step_returns_data)
    self->at += bytes;
  else
    self->said += bytes;
  self->sending = true;
}

// The status has been taken.
static void finish_command(self_t *self) {
  const scsi_task *task = &self->task[self->current];
  count(commands);
  count(reads, reads_disk(task->code));
  count(writes, writes_disk(task->code));
  count(failures, task->status == SCSI_CHECK_CONDITION);
  event(ended, task->code, task->tag, task->status);
  forget(self, self->current);
  self->messages[0] = SCSI_COMMAND_COMPLETE;
  send_messages(self, 1, true);
}

// Bytes that were given to the bus are where they go to.
static void follow_steps(self_t *self, scsi_state bus) {
  const bool over = !self->sending && !bus.pending;
  switch (self->step) {
  case scsi_step_idle:
    if (!self->selected) find_work(self);
    break;
  case scsi_step_returns_data:
    if (self->at < self->length || !over) break;
    if (self->current != IMMEDIATE) self->length = self->at = 0;
    decide_from_now(self);
    break;
  case scsi_step_returns_status:
    if (self->said && over) finish_command(self);
    break;
  case scsi_step_returns_messages:
    if (self->said < self->message_count || !over) break;
    self->message_count = self->said = 0;
    if (bus.attention && !self->leaving)
      take_messages(self);
    else
      go_on(self);
    break;
  case scsi_step_decides: decide(self, bus.attention); break;
  case scsi_step_leaves:
    if (!bus.connected) leave(self);
    break;
  default: break;
  }
}

static void follow_reset(self_t *self) {
  reset_unit(self);
  leave(self);
}

phase_end() {
  const scsi_state bus = data(bus_bus);
  const uint64_t sectors = data(disk_sectors);
  const scsi_step step = self->step;
  const int submitted = self->submitted;
  const bool any = transferred(bus_request) | transferred(bus_sent) | transferred(bus_received) |
                   transferred(disk_request) | transferred(disk_data) | transferred(disk_reply);
  self->sending = false;
  if (transferred(disk_request)) follow_request(self);
  if (transferred(disk_data)) follow_data(self);
  if (transferred(disk_reply)) take_reply(self, &data(disk_reply));
  if (bus.reset) {
    if (!self->reset) follow_reset(self);
  } else if (transferred(bus_request)) {
    reselected(self);
  } else if (bus.connected && !self->selected) {
    selected(self, bus.peer, bus.attention);
  } else if (bus.absent) {
    leave(self);
  } else {
    if (transferred(bus_sent)) follow_sent(self, data(bus_sent).count);
    if (transferred(bus_received) && self->step == scsi_step_takes_data)
      take_data(self, &data(bus_received));
    else if (transferred(bus_received))
      take_byte(self, &data(bus_received), sectors);
    follow_steps(self, bus);
  }
  self->reset = bus.reset;
  self->phase = phase_of(self);
  submit(self);
  if (any || step != self->step || submitted != self->submitted) set_until(shown_until, 3);
}

next_event() {
  if (until(shown_until)) return cycle();
  return unchanged(self->step == scsi_step_decides ? after(until(leaves_at)) : never());
}

#undef QUEUE
#undef IMMEDIATE
