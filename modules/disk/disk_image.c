// disk_image.c: the sectors of a disk; see disk_image.lss.
#include <string.h>

#define SECTOR ((size_t)512)
#define BLOCK  UINT64_C(8) // sectors of one

check_state() {
  const bool reads = self->phase == disk_image_phase_reads, writes = self->phase == disk_image_phase_writes;
  if ((reads || (writes && !self->failed)) && (self->sector >= self->end || self->end > self->sectors))
    sim_error("sector %llu of a request up to sector %llu is beyond the end of the disk",
              (unsigned long long)self->sector, (unsigned long long)self->end);
}

// How many an image of this size makes.
static uint64_t sectors_of(const self_t *self, uint64_t size) {
  const unsigned long long bytes = size;
  if (!param(padded) && (size == 0 || size % SECTOR != 0))
    sim_input_error("%s: the size of an image must be a multiple of 512 bytes, not %llu bytes", param(image), bytes);
  if (size > (uint64_t)param(capacity))
    sim_input_error("%s: %llu bytes do not fit: this disk was built for %lld", param(image), bytes,
                    (long long)param(capacity));
  return param(padded) ? (uint64_t)param(places) : size / SECTOR;
}

static uint64_t sectors_of_image(const self_t *self) {
  if (!stream_is_open(&self->file)) return (uint64_t)param(places);
  return sectors_of(self, stream_image_size(&self->file));
}

init() {
  if (param(image)[0] != '\0') stream_image_open(&self->file, param(image));
  self->sectors = sectors_of_image(self);
  if (param(commit)[0] != '\0') stream_write_open(&self->committed, param(commit));
}

// What software has of the disk in its memory would not fit the other file.
static void check_unused(const self_t *self) {
  const char *used = self->filled ? "written to" : self->reach * SECTOR > (uint64_t)param(probed) ? "read" : NULL;
  if (used)
    sim_input_error("\"%s\": the run has already %s this disk, so it cannot have another image (restore a checkpoint "
                    "from before that)",
                    param(image), used);
}

// The guest knows how large the disk is.
handler(reset, image) {
  if (!stream_is_open(&self->file) || stream_is_replaced(&self->file)) check_unused(self);
  const uint64_t sectors = sectors_of_image(self);
  if (sectors != self->sectors)
    sim_input_error("\"%s\": the image has %llu bytes, but the disk of this run has %llu (give an image of that size)",
                    param(image), (unsigned long long)(SECTOR * sectors), (unsigned long long)(SECTOR * self->sectors));
}

// Where the run keeps a block; there are none for those that it did not write.
static bool is_kept(const self_t *self, uint64_t block, uint32_t *place) {
  const uint32_t found = load(place_of, block);
  if (found > (uint32_t)param(room)) sim_error("block %llu is kept nowhere", (unsigned long long)block);
  *place = found - 1;
  return found;
}

static void read_sector(const self_t *self, uint64_t sector, void *bytes) {
  uint32_t place;
  if (is_kept(self, sector / BLOCK, &place) && load(changed, place) >> sector % BLOCK & 1)
    memcpy(bytes, load_span(bytes, BLOCK * (uint64_t)place + sector % BLOCK, 1)->bytes, SECTOR);
  else if (stream_is_open(&self->file))
    stream_image_read(&self->file, SECTOR * sector, bytes, SECTOR);
  else
    memset(bytes, 0, SECTOR);
}

// Where the run keeps a block from now on.
static uint32_t keep(self_t *self, uint64_t block) {
  uint32_t place;
  if (is_kept(self, block, &place)) return place;
  if (self->filled == (uint32_t)param(room))
    sim_error("the run wrote to more than %lld bytes of the disk's blocks: build it with a larger "
              "`written`",
              (long long)param(room) * (long long)(BLOCK * SECTOR));
  store(place_of, block, ++self->filled);
  return self->filled - 1;
}

static void write_sector(self_t *self, uint64_t sector, const void *bytes) {
  const uint32_t place = keep(self, sector / BLOCK);
  const uint8_t before = load(changed, place), now = (uint8_t)(before | 1u << sector % BLOCK);
  memcpy(store_span(bytes, BLOCK * (uint64_t)place + sector % BLOCK, 1)->bytes, bytes, SECTOR);
  count(sectors_written);
  count(sectors_changed, now != before);
  if (now != before) store(changed, place, now);
}

// ---- What it holds at the end ----
// The first block from this one on that may hold other bytes than zeros, and the first one that the run wrote.
static uint64_t next_block(const self_t *self, uint64_t block, uint64_t *written) {
  const uint64_t blocks = (self->sectors + BLOCK - 1) / BLOCK;
  if (*written < block) *written = block;
  while (*written < blocks && !load(place_of, *written)) ++*written;
  if (!stream_is_open(&self->file)) return *written;
  const uint64_t data = stream_image_next(&self->file, SECTOR * BLOCK * block) / (SECTOR * BLOCK);
  return data < *written ? data : *written;
}

finish() {
  if (!stream_is_open(&self->committed)) return;
  uint8_t bytes[512];
  stream_restart(&self->committed);
  for (uint64_t sector = 0, written = 0; sector < self->sectors;) {
    uint64_t next = BLOCK * next_block(self, sector / BLOCK, &written);
    if (next > self->sectors) next = self->sectors;
    stream_write_zeros(&self->committed, SECTOR * (next - sector));
    for (sector = next; sector < self->sectors && sector < next + BLOCK; sector++) {
      read_sector(self, sector, bytes);
      stream_write(&self->committed, bytes, sizeof bytes);
    }
  }
}

phase_start() {
  const bool reads = self->phase == disk_image_phase_reads;
  accept(in_request, self->phase == disk_image_phase_idle);
  accept(in_data, self->phase == disk_image_phase_writes);
  if (reads || self->phase == disk_image_phase_replies) {
    typeof_port(in_reply) reply = {.tag = self->request.tag};
    if (reads) read_sector(self, self->sector, &reply.bytes);
    reply.last = !reads || self->sector + 1 == self->end;
    reply.error = !reads && self->failed;
    send(in_reply, reply);
  } else {
    send_nothing(in_reply);
  }
  send(in_sectors, self->sectors);
}

static void begin(self_t *self, disk_request request) {
  self->request = request;
  self->sector = request.sector;
  self->end = request.sector + request.count;
  self->failed = request.op != disk_op_flush && (request.count == 0 || request.sector >= self->sectors ||
                                                 request.count > self->sectors - request.sector);
  count(refused, self->failed);
  if (request.op == disk_op_read && !self->failed && self->end > self->reach) self->reach = self->end;
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
    if (!reads || ++self->sector == self->end) {
      self->phase = disk_image_phase_idle;
      sim_progress();
    }
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
  return until(shown_until) ? cycle() : unchanged(never());
}

#undef SECTOR
#undef BLOCK
