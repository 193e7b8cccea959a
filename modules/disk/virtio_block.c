// virtio_block.c: a block device on virtio-mmio; see virtio_block.lss.
#include "disk/virtio_block.h"
#include "io/device_access.h"

#define OFFERED                                                                                                        \
  (VIRTIO_FEATURE_VERSION_1 | VIRTIO_FEATURE_SEG_MAX | VIRTIO_FEATURE_BLK_SIZE | VIRTIO_FEATURE_FLUSH |                \
   (param(indirect) ? VIRTIO_FEATURE_INDIRECT : 0))
#define MEMORY_END (UINT64_C(1) << 32)

static bool runs(const self_t *self) {
  return self->ready && (self->status & (VIRTIO_DRIVER_OK | VIRTIO_NEEDS_RESET)) == VIRTIO_DRIVER_OK;
}

check_state() {
  const bool idles = self->phase == virtio_phase_idle || self->phase == virtio_phase_abandons;
  if (!idles && self->size == 0) sim_error("a request is carried out, of a queue of no entries");
}

// A number in the buffer.
static uint64_t number(const self_t *self, uint32_t at, uint32_t size) {
  return load_number(&self->buffer[at], size, false);
}

static void put(self_t *self, uint32_t at, uint64_t value, uint32_t size) {
  store_number(&self->buffer[at], value, size, false);
}

// ---- Bytes to and from memory ----
// The next bytes that follow each other, of a chain's next part that has any.
static void find_run(self_t *self) {
  while (self->left && !self->run_left && self->part < self->parts) {
    self->run = load(address, self->part);
    self->run_left = load(length, self->part++);
  }
  if (self->left && (!self->run_left || self->run > MEMORY_END || self->run_left > MEMORY_END - self->run)) {
    self->failed = true;
    self->left = 0;
  }
}

// The next bytes of the parts, from where the last ones ended, come into the buffer, or its first bytes go there.
static void move_on(self_t *self, virtio_phase phase, bool to_memory, uint32_t bytes) {
  self->phase = phase;
  self->to_memory = to_memory;
  self->at = 0;
  self->left = bytes;
  find_run(self);
}

// The same from a part on.
static void move_parts(self_t *self, virtio_phase phase, bool to_memory, uint32_t part, uint32_t bytes) {
  self->part = part;
  self->run_left = 0;
  move_on(self, phase, to_memory, bytes);
}

// Bytes at an address.
static void move(self_t *self, virtio_phase phase, bool to_memory, uint64_t address, uint32_t bytes) {
  self->run = address;
  self->run_left = bytes;
  move_on(self, phase, to_memory, bytes);
}

// What memory is asked for next: as many bytes as lie in one of its words.
static mem_request_64 at_memory(const self_t *self) {
  uint32_t bytes = 8 - (uint32_t)(self->run % 8);
  if (bytes > self->left) bytes = self->left;
  if (bytes > self->run_left) bytes = (uint32_t)self->run_left;
  mem_request_64 request = {.op = self->to_memory ? mem_op_write : mem_op_read, .size = (uint8_t)bytes};
  request.address = (uint32_t)self->run;
  request.tag = self->at | (bytes - 1) << 10;
  if (self->to_memory && bytes) request.data = load_number(&self->buffer[self->at], bytes, param(big_endian));
  return request;
}

static bool requests_memory(const self_t *self) {
  return self->left && self->undone < (uint32_t)param(outstanding);
}

static void follow_memory_request(self_t *self, uint32_t bytes) {
  self->at += bytes;
  self->left -= bytes;
  self->run += bytes;
  self->run_left -= bytes;
  self->undone++;
  find_run(self);
}

static void take_memory_reply(self_t *self, mem_reply_64 reply) {
  self->undone--;
  self->failed |= reply.error && self->phase != virtio_phase_abandons;
  const uint32_t at = reply.tag & 1023, bytes = (reply.tag >> 10 & 7) + 1;
  if (at + bytes > sizeof self->buffer) sim_error("a reply with tag 0x%x belongs to no request", (unsigned)reply.tag);
  if (!self->to_memory && !reply.error) store_number(&self->buffer[at], reply.data, bytes, param(big_endian));
}

// ---- The queue ----
// What is under way is given up: no more is asked of memory, and the disk ends its request.
static void abandon_chain(self_t *self) {
  self->left = 0;
  self->failed = false;
  if (self->phase != virtio_phase_idle) self->phase = virtio_phase_abandons;
}

static void fail(self_t *self) {
  if (self->status & VIRTIO_DRIVER_OK) self->interrupt_status |= VIRTIO_INTERRUPT_CONFIGURATION;
  self->status |= VIRTIO_NEEDS_RESET;
  count(failures);
  event(failure);
  abandon_chain(self);
}

static void read_index(self_t *self) {
  self->notified = false;
  move(self, virtio_phase_index, false, self->area[VIRTIO_DRIVER], 4);
}

// How far the driver is came: flags and index.
static void take_index(self_t *self) {
  if (self->finished && !(number(self, 0, 2) & VIRTIO_NO_INTERRUPT)) {
    self->interrupt_status |= VIRTIO_INTERRUPT_QUEUE;
    count(interrupts);
  }
  self->finished = false;
  const uint16_t waiting = (uint16_t)(number(self, 2, 2) - self->next);
  if (waiting > self->size) {
    fail(self);
  } else if (waiting) {
    move(self, virtio_phase_head, false, self->area[VIRTIO_DRIVER] + 4 + 2 * (self->next % self->size), 2);
  } else {
    self->phase = virtio_phase_idle;
  }
}

static void read_descriptor(self_t *self, uint64_t entry) {
  if (entry >= self->entries) {
    fail(self);
    return;
  }
  const uint64_t address = self->table + VIRTIO_DESCRIPTOR_SIZE * entry;
  move(self, virtio_phase_descriptor, false, address, VIRTIO_DESCRIPTOR_SIZE);
}

static void begin_chain(self_t *self) {
  self->head = (uint16_t)number(self, 0, 2);
  self->next++;
  self->table = self->area[VIRTIO_DESCRIPTORS];
  self->entries = self->size;
  self->elsewhere = false;
  self->parts = self->to_read = 0;
  self->readable = self->writable = self->moved = 0;
  read_descriptor(self, self->head);
}

// A descriptor that names a table of descriptors, which are the rest of the chain.
static void enter_table(self_t *self, uint64_t address, uint32_t length, uint32_t flags) {
  const bool taken = self->features & VIRTIO_FEATURE_INDIRECT;
  if (!taken || self->elsewhere || (flags & VIRTIO_NEXT) || length % VIRTIO_DESCRIPTOR_SIZE != 0) {
    fail(self);
    return;
  }
  self->table = address;
  self->entries = length / VIRTIO_DESCRIPTOR_SIZE;
  self->elsewhere = true;
  read_descriptor(self, 0);
}

// Puts a part behind the others; false if it has no place there, or in memory.
static bool add_part(self_t *self, uint64_t address, uint32_t length, bool writable) {
  if (self->parts >= self->size || (!writable && self->to_read < self->parts)) return false;
  if (address > MEMORY_END - length) return false;
  store(address, self->parts, address);
  store(length, self->parts, length);
  self->parts++;
  if (!writable) {
    self->to_read++;
    self->readable += length;
  } else if (length) {
    self->writable += length;
    self->last_byte = address + length - 1;
  }
  return true;
}

static void take_descriptor(self_t *self) {
  const uint64_t address = number(self, 0, 8), next = number(self, 14, 2);
  const uint32_t length = (uint32_t)number(self, 8, 4), flags = (uint32_t)number(self, 12, 2);
  if (flags & VIRTIO_INDIRECT) {
    enter_table(self, address, length, flags);
    return;
  }
  if (!add_part(self, address, length, flags & VIRTIO_WRITABLE)) {
    fail(self);
  } else if (flags & VIRTIO_NEXT) {
    read_descriptor(self, next);
  } else if (self->readable < VIRTIO_HEADER_SIZE || self->writable == 0) {
    fail(self);
  } else {
    move_parts(self, virtio_phase_header, false, 0, VIRTIO_HEADER_SIZE);
  }
}

// ---- Requests ----
static void end_request(self_t *self, uint8_t outcome) {
  self->outcome = outcome;
  self->buffer[0] = outcome;
  move(self, virtio_phase_status, true, self->last_byte, 1);
}

static void begin_transfer(self_t *self, uint64_t bytes, uint64_t capacity) {
  const uint64_t sectors = bytes / VIRTIO_SECTOR;
  if (bytes % VIRTIO_SECTOR != 0 || sectors > UINT32_MAX || self->sector > capacity ||
      sectors > capacity - self->sector) {
    end_request(self, VIRTIO_ERROR);
  } else if (sectors == 0) {
    end_request(self, VIRTIO_DONE);
  } else {
    self->sectors = (uint32_t)sectors;
    self->phase = virtio_phase_requests;
  }
}

static void begin_request(self_t *self, uint64_t capacity) {
  self->kind = (uint32_t)number(self, 0, 4);
  self->sector = number(self, 8, 8);
  self->sectors = 0;
  const uint64_t room = self->writable - 1;
  switch (self->kind) {
  case VIRTIO_READ: begin_transfer(self, room, capacity); break;
  case VIRTIO_WRITE: begin_transfer(self, self->readable - VIRTIO_HEADER_SIZE, capacity); break;
  case VIRTIO_FLUSH: self->phase = virtio_phase_requests; break;
  case VIRTIO_IDENTITY:
    memset(self->buffer, 0, VIRTIO_IDENTITY_SIZE);
    memcpy(self->buffer, param(identity), strnlen(param(identity), VIRTIO_IDENTITY_SIZE));
    self->moved = room < VIRTIO_IDENTITY_SIZE ? room : VIRTIO_IDENTITY_SIZE;
    move_parts(self, virtio_phase_identity, true, self->to_read, (uint32_t)self->moved);
    break;
  default: end_request(self, VIRTIO_UNSUPPORTED);
  }
}

// The disk has accepted the request.
static void follow_disk_request(self_t *self) {
  self->requested = true;
  if (self->kind == VIRTIO_WRITE) {
    move_on(self, virtio_phase_fetches, false, VIRTIO_SECTOR);
  } else {
    self->part = self->to_read;
    self->run_left = 0;
    self->phase = self->kind == VIRTIO_READ ? virtio_phase_takes : virtio_phase_waits;
  }
}

// The disk has taken a sector.
static void follow_sector(self_t *self) {
  if (self->phase == virtio_phase_abandons)
    self->sectors = 0;
  else if (--self->sectors)
    move_on(self, virtio_phase_fetches, false, VIRTIO_SECTOR);
  else
    self->phase = virtio_phase_waits;
}

static void take_disk_reply(self_t *self, const disk_reply *reply) {
  self->requested = !reply->last;
  if (self->phase == virtio_phase_abandons) return;
  if (reply->error) {
    end_request(self, VIRTIO_ERROR);
  } else if (self->phase == virtio_phase_takes) {
    memcpy(self->buffer, &reply->bytes, VIRTIO_SECTOR);
    move_on(self, virtio_phase_stores, true, VIRTIO_SECTOR);
  } else {
    end_request(self, VIRTIO_DONE);
  }
}

static void follow_stored_sector(self_t *self) {
  self->moved += VIRTIO_SECTOR;
  self->phase = virtio_phase_takes;
  if (--self->sectors == 0) end_request(self, VIRTIO_DONE);
}

static void use_chain(self_t *self) {
  count(chains);
  count(reads, self->kind == VIRTIO_READ);
  count(writes, self->kind == VIRTIO_WRITE);
  count(flushes, self->kind == VIRTIO_FLUSH);
  count(errors, self->outcome != VIRTIO_DONE);
  event(request, self->kind, self->sector,
        self->kind == VIRTIO_WRITE ? self->readable - VIRTIO_HEADER_SIZE : self->writable - 1, self->outcome);
  put(self, 0, self->head, 4);
  put(self, 4, self->moved + 1, 4);
  move(self, virtio_phase_used, true, self->area[VIRTIO_USED] + 4 + 8 * (self->used % self->size), 8);
}

static void show_used(self_t *self) {
  put(self, 0, ++self->used, 2);
  self->finished = true;
  move(self, virtio_phase_used_index, true, self->area[VIRTIO_USED] + 2, 2);
}

// Memory has done all that it was asked for.
static void go_on(self_t *self, uint64_t capacity) {
  if (self->failed) {
    fail(self);
    return;
  }
  switch (self->phase) {
  case virtio_phase_idle:
    if (self->notified && runs(self)) read_index(self);
    break;
  case virtio_phase_index: take_index(self); break;
  case virtio_phase_head: begin_chain(self); break;
  case virtio_phase_descriptor: take_descriptor(self); break;
  case virtio_phase_header: begin_request(self, capacity); break;
  case virtio_phase_stores: follow_stored_sector(self); break;
  case virtio_phase_fetches: self->phase = virtio_phase_gives; break;
  case virtio_phase_identity: end_request(self, VIRTIO_DONE); break;
  case virtio_phase_status: use_chain(self); break;
  case virtio_phase_used: show_used(self); break;
  case virtio_phase_used_index: read_index(self); break;
  case virtio_phase_abandons:
    if (!self->requested) self->phase = virtio_phase_idle;
    break;
  default: break; // the disk is waited for
  }
}

// ---- Registers ----
static uint64_t features_word(uint64_t features, uint32_t word) {
  return word < 2 ? (uint32_t)(features >> 32 * word) : 0;
}

static uint32_t configuration_word(uint32_t offset, uint64_t capacity) {
  switch (offset) {
  case VIRTIO_CONFIGURATION: return (uint32_t)capacity;
  case VIRTIO_CONFIGURATION + 4: return (uint32_t)(capacity >> 32);
  case VIRTIO_CONFIGURATION + 12: return (uint32_t)param(queue) - 2; // parts of a request, beside header and status
  case VIRTIO_CONFIGURATION_SECTOR: return VIRTIO_SECTOR;
  default: return 0;
  }
}

static uint32_t read_register(const self_t *self, uint32_t offset, uint64_t capacity) {
  const bool queue = self->selected == 0;
  if (offset >= VIRTIO_SHARED_MEMORY && offset < VIRTIO_SHARED_MEMORY_END) return UINT32_MAX;
  switch (offset) {
  case VIRTIO_MAGIC: return 0x74726976; // "virt"
  case VIRTIO_VERSION: return 2;
  case VIRTIO_DEVICE: return 2;          // a block device
  case VIRTIO_VENDOR: return 0x6e697073; // "spin"
  case VIRTIO_DEVICE_FEATURES: return (uint32_t)features_word(OFFERED, self->device_word);
  case VIRTIO_QUEUE_MOST: return queue ? (uint32_t)param(queue) : 0;
  case VIRTIO_QUEUE_READY: return queue && self->ready;
  case VIRTIO_INTERRUPT_STATUS: return self->interrupt_status;
  case VIRTIO_STATUS: return self->status;
  default: return configuration_word(offset, capacity);
  }
}

static void reset_device(self_t *self) {
  self->status = self->interrupt_status = 0;
  self->device_word = self->driver_word = self->selected = self->size = 0;
  self->features = 0;
  self->ready = self->notified = self->finished = false;
  for (int k = 0; k < 3; k++) self->area[k] = 0;
  self->next = self->used = 0;
  abandon_chain(self);
}

static void write_status(self_t *self, uint8_t value) {
  if (value == 0) {
    reset_device(self);
    return;
  }
  const bool acceptable = !(self->features & ~OFFERED) && (self->features & VIRTIO_FEATURE_VERSION_1);
  if (!(self->status & VIRTIO_FEATURES_OK) && !acceptable) value &= (uint8_t)~VIRTIO_FEATURES_OK;
  self->status = value | (self->status & VIRTIO_NEEDS_RESET);
}

// What may be written only as long as the driver takes features.
static void write_features(self_t *self, uint32_t value) {
  if (self->driver_word > 1 || (self->status & VIRTIO_FEATURES_OK)) return;
  const uint32_t shift = 32 * self->driver_word;
  self->features = (self->features & ~(UINT64_C(0xffffffff) << shift)) | (uint64_t)value << shift;
}

static void write_ready(self_t *self, bool ready) {
  const uint32_t size = self->size;
  const bool sound = size && size <= (uint32_t)param(queue) && !(size & (size - 1)) &&
                     self->area[VIRTIO_DESCRIPTORS] % 16 == 0 && self->area[VIRTIO_DRIVER] % 2 == 0 &&
                     self->area[VIRTIO_USED] % 4 == 0;
  if (!self->ready) self->next = self->used = 0;
  self->ready = ready && sound;
  if (!ready) abandon_chain(self);
  if (ready && !sound) fail(self);
}

// What may be written only as long as the queue is not in use.
static void write_queue(self_t *self, uint32_t offset, uint32_t value) {
  if (self->selected != 0 || self->ready) return;
  if (offset == VIRTIO_QUEUE_SIZE) self->size = value <= (uint32_t)param(queue) ? value : 0; // no size that is
  if (offset < VIRTIO_AREAS || offset >= VIRTIO_AREAS_END || (offset & 8)) return;
  uint64_t *area = &self->area[(offset - VIRTIO_AREAS) / 16];
  const uint32_t shift = 8 * (offset & 4);
  *area = (*area & ~(UINT64_C(0xffffffff) << shift)) | (uint64_t)value << shift;
}

static void write_register(self_t *self, uint32_t offset, uint32_t value) {
  switch (offset) {
  case VIRTIO_DEVICE_WORD: self->device_word = value; break;
  case VIRTIO_DRIVER_WORD: self->driver_word = value; break;
  case VIRTIO_DRIVER_FEATURES: write_features(self, value); break;
  case VIRTIO_QUEUE: self->selected = value; break;
  case VIRTIO_QUEUE_READY:
    if (self->selected == 0) write_ready(self, value & 1);
    break;
  case VIRTIO_NOTIFY:
    count(notifications);
    self->notified |= value == 0;
    break;
  case VIRTIO_INTERRUPT_ACKNOWLEDGE: self->interrupt_status &= (uint8_t)~value; break;
  case VIRTIO_STATUS: write_status(self, (uint8_t)value); break;
  default: write_queue(self, offset, value);
  }
}

static void serve(self_t *self, const typeof_port(in_request) * request, uint64_t capacity) {
  const uint32_t at = request->address % 0x1000;
  device_bytes bytes = device_written(request->data, request->size, param(big_endian));
  self->reply = (typeof(self->reply)){.tag = request->tag, .error = !device_knows(request->op)};
  if (request->op == mem_op_read) {
    for (uint32_t k = 0; k < request->size; k++) {
      const uint32_t word = at + k < VIRTIO_END ? read_register(self, (at + k) & ~3u, capacity) : 0;
      bytes.byte[k] = (uint8_t)(word >> 8 * ((at + k) & 3));
    }
    self->reply.data = (typeof(self->reply.data))device_number(bytes, request->size, param(big_endian), request->sign);
  } else if (request->op == mem_op_write && at < VIRTIO_CONFIGURATION) {
    self->reply.error = request->size != 4 || at % 4 != 0;
    if (!self->reply.error) write_register(self, at, (uint32_t)load_number(bytes.byte, 4, false));
  }
}

// ---- Signals ----
phase_start() {
  const virtio_phase phase = self->phase;
  const bool writes = self->kind == VIRTIO_WRITE;
  disk_request request = {.op = writes ? disk_op_write : self->kind == VIRTIO_FLUSH ? disk_op_flush : disk_op_read};
  request.sector = request.op == disk_op_flush ? 0 : self->sector;
  request.count = self->sectors;
  const bool abandons = phase == virtio_phase_abandons && self->requested && writes && self->sectors;
  send_if(in_reply, self->replying, self->reply);
  send_if(memory_request, requests_memory(self), at_memory(self));
  send_if(disk_request, phase == virtio_phase_requests, request);
  if (phase == virtio_phase_gives || abandons) {
    disk_sector sector = {.abandon = abandons};
    if (!abandons) memcpy(&sector.bytes, self->buffer, VIRTIO_SECTOR);
    send(disk_data, sector);
  } else {
    send_nothing(disk_data);
  }
  accept(disk_reply, phase == virtio_phase_takes || phase == virtio_phase_waits || phase == virtio_phase_abandons);
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, self->interrupt_status != 0);
}

phase_end() {
  const virtio_phase phase = self->phase;
  const uint64_t capacity = data(disk_sectors);
  self->shown = self->interrupt_status != 0;
  if (transferred(memory_request)) follow_memory_request(self, data(memory_request).size);
  if (transferred(memory_reply)) take_memory_reply(self, data(memory_reply));
  if (transferred(disk_request)) follow_disk_request(self);
  if (transferred(disk_data)) follow_sector(self);
  if (transferred(disk_reply)) take_disk_reply(self, &data(disk_reply));
  if (phase == self->phase && !self->left && !self->undone) go_on(self, capacity);
  self->replying = transferred(in_request);
  if (self->replying) serve(self, &data(in_request), capacity);
  const bool any = transferred(memory_reply) | transferred(disk_data) | transferred(disk_reply) | self->replying;
  if (any || phase != self->phase) set_until(shown_until, 2);
}

next_event() {
  const bool begins = self->phase == virtio_phase_idle && self->notified && runs(self);
  const bool changes = until(shown_until) || self->shown != (self->interrupt_status != 0);
  return changes || begins || requests_memory(self) ? cycle() : unchanged(never());
}

#undef OFFERED
#undef MEMORY_END
