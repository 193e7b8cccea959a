// Packet streams: captures in (packet_reader.h), packet files out (packet_writer.h); see stream.h.
#include "lss/runtime/files/packet_reader.h"
#include "lss/runtime/files/packet_writer.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>

static void open_reader(HostFile *file) {
  g_autoptr(GError) error = NULL;
  file->reader = packet_reader_open(file->path, &error);
  if (!file->reader) spinach_fail("%s", error->message);
  struct stat status;
  file->size = stat(file->path, &status) ? 0 : (size_t)status.st_size;
}

void packet_read_open(stream *s, const char *path) {
  open_reader(host_file_use(s, path, FILE_IS_READ));
}

static void require_reader(const HostFile *file) {
  if (!file->reader) spinach_fail("\"%s\" is not open for reading packets", file->path);
}

// One packet from the reader; false at the end.
static bool read_one(HostFile *file, CapturedPacket *packet) {
  g_autoptr(GError) error = NULL;
  const bool found = packet_reader_next(file->reader, packet, &error);
  if (error) spinach_fail("%s", error->message);
  return found;
}

static void require_whole(const HostFile *file, const CapturedPacket *packet, uint32_t capacity) {
  g_autoptr(GError) error = NULL;
  if (!packet_reader_require_whole(file->reader, packet, capacity, &error)) spinach_fail("%s", error->message);
}

bool packet_next(stream *s, uint8_t *frame, uint32_t capacity, uint32_t *length, uint64_t *stamp_ns) {
  HostFile *file = host_file(s);
  require_reader(file);
  if (packet_reader_count(file->reader) > s->records) { // the state went back: start over
    packet_reader_free(file->reader);
    open_reader(file);
  }
  CapturedPacket packet;
  do
    if (!read_one(file, &packet)) return false;
  while (packet.number <= s->records);
  require_whole(file, &packet, capacity);
  memcpy(frame, packet.bytes, packet.length);
  *length = packet.length;
  *stamp_ns = packet.stamp;
  s->records++;
  s->position += packet.length;
  const uint64_t consumed = packet_reader_consumed(file->reader);
  if (consumed) file->consumed = (size_t)consumed;
  return true;
}

// ---- By number ---------------------------------------------------------------------------------------------------
// Reads the whole file once and remembers where its packets are in `file->bytes`.
static GArray *index_of(HostFile *file) {
  require_reader(file);
  if (file->index) return file->index;
  g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(size_t));
  GByteArray *all = g_byte_array_sized_new(1); // which is somewhere even with nothing in it
  GArray *index = g_array_new(FALSE, FALSE, sizeof(CapturedPacket));
  for (CapturedPacket packet; read_one(file, &packet);) {
    const size_t offset = all->len;
    g_array_append_val(offsets, offset);
    g_array_append_val(index, packet);
    g_byte_array_append(all, packet.bytes, packet.length);
  }
  file->bytes = g_byte_array_free(all, FALSE);
  for (guint i = 0; i < index->len; i++)
    g_array_index(index, CapturedPacket, i).bytes = file->bytes + g_array_index(offsets, size_t, i);
  return file->index = index;
}

uint64_t packet_count(const stream *s) {
  return index_of(host_file(s))->len;
}

void packet_at(stream *s, uint64_t number, uint8_t *frame, uint32_t capacity, uint32_t *length, uint64_t *stamp_ns) {
  HostFile *file = host_file(s);
  GArray *index = index_of(file);
  if (number >= index->len)
    spinach_fail("\"%s\" has %u packets, there is none with the number %llu", file->path, index->len,
                 (unsigned long long)number + 1);
  const CapturedPacket *packet = &g_array_index(index, CapturedPacket, number);
  require_whole(file, packet, capacity);
  if (packet->length) memcpy(frame, packet->bytes, packet->length);
  *length = packet->length;
  *stamp_ns = packet->stamp;
  s->records++;
  s->position += packet->length;
  file->consumed = (size_t)(file->size * s->records / MAX(index->len, 1));
}

void packet_write_open(stream *s, const char *path) {
  HostFile *file = host_file_use(s, path, FILE_IS_WRITTEN);
  host_file_create(file);
  file->packets = true;
  if (!packet_writer_begin(file->out)) spinach_fail("cannot write \"%s\": %s", path, strerror(errno));
}

void packet_write(stream *s, const uint8_t *frame, uint32_t length, uint64_t stamp_ns) {
  HostFile *file = host_file(s);
  if (!file->out || !file->packets) spinach_fail("\"%s\" is not open for writing packets", file->path);
  if (stamp_ns / 1000000000u > PACKET_LAST_SECOND)
    spinach_fail("cannot write \"%s\": time stamps of packet files end at 4294967295 s", file->path);
  const bool again = s->records < file->written;
  if (!again && !packet_writer_add(file->out, frame, length, stamp_ns))
    spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  s->records++;
  if (!again) file->written = s->records;
  s->position += length;
}
