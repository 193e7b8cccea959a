/* disk_image.c: the sectors of a disk; see disk_image.lss. */
#include <string.h>

#define SECTOR ((size_t)512)

/* How many an image of this size makes. */
static uint64_t sectors_of(const self_t *self, size_t size) {
  if (!param(padded) && (size == 0 || size % SECTOR != 0))
    sim_input_error("%s: an image has whole sectors of 512 bytes; this has %zu bytes", param(image), size);
  if (size > (size_t)param(capacity))
    sim_input_error("%s: %zu bytes do not fit: this disk was built for %lld", param(image), size,
                    (long long)param(capacity));
  return param(padded) ? (uint64_t)param(places) : size / SECTOR;
}

static uint64_t sectors_of_image(const self_t *self) {
  size_t size;
  if (!stream_is_open(&self->file)) return (uint64_t)param(places);
  stream_contents(&self->file, &size);
  return sectors_of(self, size);
}

init() {
  if (param(image)[0] != '\0') {
    const size_t size = (size_t)stream_size_of(param(image));
    if (size > (size_t)param(capacity)) sectors_of(self, size); /* it is refused unread */
    stream_read_open(&self->file, param(image));
  }
  self->sectors = sectors_of_image(self);
  if (param(commit)[0] != '\0') stream_write_open(&self->committed, param(commit));
}

/* The guest knows how large the disk is. */
handler(reset, image) {
  const uint64_t sectors = sectors_of_image(self);
  if (sectors != self->sectors)
    sim_input_error("\"%s\": an image of %llu bytes, and the disk has %llu since the run began (give it as many)",
                    param(image), (unsigned long long)(SECTOR * sectors), (unsigned long long)(SECTOR * self->sectors));
}

static bool is_changed(const self_t *self, uint64_t sector) {
  return load(changed, sector / 8) >> sector % 8 & 1;
}

/* The bytes that the disk started with; where there are none, zeros. */
static void read_original(const self_t *self, uint64_t sector, void *bytes) {
  size_t size = 0;
  const uint8_t *from = stream_is_open(&self->file) ? stream_contents(&self->file, &size) : NULL;
  const size_t at = SECTOR * sector, left = at < size ? size - at : 0, length = left < SECTOR ? left : SECTOR;
  if (length) memcpy(bytes, from + at, length);
  memset((uint8_t *)bytes + length, 0, SECTOR - length);
}

static void read_sector(const self_t *self, uint64_t sector, void *bytes) {
  if (is_changed(self, sector))
    memcpy(bytes, load_span(bytes, SECTOR * sector, SECTOR), SECTOR);
  else
    read_original(self, sector, bytes);
}

static void write_sector(self_t *self, uint64_t sector, const void *bytes) {
  memcpy(store_span(bytes, SECTOR * sector, SECTOR), bytes, SECTOR);
  count(sectors_written);
  if (is_changed(self, sector)) return;
  store(changed, sector / 8, (uint8_t)(load(changed, sector / 8) | 1 << sector % 8));
  count(sectors_changed);
}

finish() {
  if (!stream_is_open(&self->committed)) return;
  uint8_t sector[512];
  stream_restart(&self->committed);
  for (uint64_t k = 0; k < self->sectors; k++) {
    read_sector(self, k, sector);
    stream_write(&self->committed, sector, sizeof sector);
  }
}

phase_start() {
  typeof_port(in_reply) reply = {.tag = self->request.tag};
  const bool reads = self->phase == disk_image_phase_reads;
  if (reads) read_sector(self, self->sector, &reply.bytes);
  reply.last = !reads || self->sector + 1 == self->end;
  reply.error = !reads && self->failed;
  accept(in_request, self->phase == disk_image_phase_idle);
  accept(in_data, self->phase == disk_image_phase_writes);
  send_if(in_reply, reads || self->phase == disk_image_phase_replies, reply);
  send(in_sectors, self->sectors);
}

static void begin(self_t *self, disk_request request) {
  self->request = request;
  self->sector = request.sector;
  self->end = request.sector + request.count;
  self->failed = request.op != disk_op_flush && (request.count == 0 || request.sector >= self->sectors ||
                                                 request.count > self->sectors - request.sector);
  count(refused, self->failed);
  const bool nothing = request.op == disk_op_flush || request.count == 0;
  self->phase = request.op == disk_op_write && !nothing ? disk_image_phase_writes
                : nothing || self->failed               ? disk_image_phase_replies
                                                        : disk_image_phase_reads;
}

phase_end() {
  if (transferred(in_request) | transferred(in_data) | transferred(in_reply)) set_until(shown_until, 2);
  if (transferred(in_reply)) {
    const bool reads = self->phase == disk_image_phase_reads;
    count(sectors_read, reads);
    if (!reads || ++self->sector == self->end) self->phase = disk_image_phase_idle;
  }
  if (transferred(in_data)) {
    const disk_sector *sector = &data(in_data);
    self->failed |= sector->abandon;
    if (!self->failed) write_sector(self, self->sector, &sector->bytes);
    if (++self->sector == self->end || sector->abandon) self->phase = disk_image_phase_replies;
  }
  if (transferred(in_request)) begin(self, data(in_request));
}

next_event() {
  return until(shown_until) ? cycle() : never();
}

#undef SECTOR
