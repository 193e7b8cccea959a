// Packet streams over libpcap: pcap and pcapng in, pcap with nanosecond stamps out; see stream.h.
#include "emulib/program/input_file.h"
#include "lss/runtime/files/stream_private.h"

#include <errno.h>
#include <glib.h>
#include <pcap/pcap.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_LENGTH = 262144, FILE_HEADER = 24, PACKET_HEADER = 16 };

// Bytes of FCS at the end of each frame, if the file's header says that there are any: bits 28 to 31 of the link type,
// in units of 16 bits, which bit 26 declares.
static uint32_t fcs_bytes(pcap_t *reader) {
  uint32_t link = (uint32_t)pcap_datalink_ext(reader);
  return link & 1u << 26 ? (link >> 28) * 2 : 0;
}

static void open_reader(HostFile *file) {
  char why[PCAP_ERRBUF_SIZE];
  g_autoptr(GError) error = NULL;
  int handle = input_file_open(file->path, &error);
  if (handle < 0) spinach_fail("cannot read packets from \"%s\": %s", file->path, error->message);
  FILE *in = fdopen(handle, "rb");
  file->reader = in ? pcap_fopen_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, why) : NULL;
  // libpcap begins some of its messages with the path, which is already in ours.
  size_t length = strlen(file->path);
  const char *reason = why;
  if (!strncmp(reason, file->path, length) && !strncmp(reason + length, ": ", 2)) reason += length + 2;
  if (!file->reader) spinach_fail("cannot read packets from \"%s\": %s", file->path, reason);
  int link = pcap_datalink(file->reader);
  if (link != DLT_EN10MB) {
    const char *name = pcap_datalink_val_to_name(link);
    spinach_fail("cannot use \"%s\": it holds packets of link type %s, Ethernet (EN10MB) is needed", file->path,
                 name ? name : "unknown");
  }
  file->next = 0;
  struct stat status;
  file->size = stat(file->path, &status) ? 0 : (size_t)status.st_size;
}

void packet_read_open(stream *s, const char *path) {
  open_reader(host_file_use(s, path, FILE_IS_READ));
}

// One packet from the reader, without its FCS; false at the end.
static bool read_one(HostFile *file, struct pcap_pkthdr **header, const uint8_t **bytes) {
  int result = pcap_next_ex(file->reader, header, bytes);
  if (result == PCAP_ERROR_BREAK) return false;
  if (result != 1)
    spinach_fail("\"%s\", packet %llu: %s", file->path, (unsigned long long)file->next + 1, pcap_geterr(file->reader));
  file->next++;
  struct pcap_pkthdr *found = *header;
  uint32_t fcs = fcs_bytes(file->reader);
  if (!fcs) return true;
  if (found->len < fcs)
    spinach_fail("\"%s\", packet %llu: it has %u bytes, fewer than the FCS that the file's header declares (%u)",
                 file->path, (unsigned long long)file->next, found->len, fcs);
  found->len -= fcs;
  found->caplen = MIN(found->caplen, found->len);
  return true;
}

static void require_whole(const HostFile *file, uint64_t number, uint32_t length, uint32_t original,
                          uint32_t capacity) {
  const int most = pcap_snapshot(file->reader);
  if (length < original && (int64_t)length >= most)
    spinach_fail(
        "\"%s\", packet %llu: it has %u bytes, but the file's header limits packets to %d bytes (capture whole "
        "packets, tcpdump -s 0, or correct the header)",
        file->path, (unsigned long long)number, original, most);
  if (length < original)
    spinach_fail("\"%s\", packet %llu: only %u of its %u bytes were captured; capture whole packets (tcpdump -s 0)",
                 file->path, (unsigned long long)number, length, original);
  if (length > capacity)
    spinach_fail("\"%s\", packet %llu: it has %u bytes; at most %u fit", file->path, (unsigned long long)number, length,
                 capacity);
}

static uint64_t stamp_of(const struct pcap_pkthdr *header) {
  return (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec; // nanoseconds, as asked for
}

bool packet_next(stream *s, uint8_t *frame, uint32_t capacity, uint32_t *length, uint64_t *stamp_ns) {
  HostFile *file = host_file(s);
  if (!file->reader) spinach_fail("\"%s\" is not open for reading packets", file->path);
  struct pcap_pkthdr *header;
  const uint8_t *bytes;
  if (file->next > s->records) { // the state went back: start over
    pcap_close(file->reader);
    open_reader(file);
  }
  do
    if (!read_one(file, &header, &bytes)) return false;
  while (file->next <= s->records);
  require_whole(file, file->next, header->caplen, header->len, capacity);
  memcpy(frame, bytes, header->caplen);
  *length = header->caplen;
  *stamp_ns = stamp_of(header);
  s->records++;
  s->position += header->caplen;
  long at = ftell(pcap_file(file->reader));
  if (at > 0) file->consumed = (size_t)at;
  return true;
}

// ---- By number ---------------------------------------------------------------------------------------------------
typedef struct {
  size_t offset;
  uint32_t length, original;
  uint64_t stamp;
} Packet;

// Reads the whole file once and remembers where its packets are.
static GArray *index_of(HostFile *file) {
  if (!file->reader) spinach_fail("\"%s\" is not open for reading packets", file->path);
  if (file->index) return file->index;
  GByteArray *all = g_byte_array_new();
  GArray *index = g_array_new(FALSE, FALSE, sizeof(Packet));
  struct pcap_pkthdr *header;
  const uint8_t *bytes;
  while (read_one(file, &header, &bytes)) {
    Packet packet = {all->len, header->caplen, header->len, stamp_of(header)};
    g_array_append_val(index, packet);
    g_byte_array_append(all, bytes, header->caplen);
  }
  file->bytes = g_byte_array_free(all, FALSE);
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
  const Packet *packet = &g_array_index(index, Packet, number);
  require_whole(file, number + 1, packet->length, packet->original, capacity);
  if (packet->length) memcpy(frame, file->bytes + packet->offset, packet->length);
  *length = packet->length;
  *stamp_ns = packet->stamp;
  s->records++;
  s->position += packet->length;
  file->consumed = (size_t)(file->size * s->records / MAX(index->len, 1));
}

void packet_write_open(stream *s, const char *path) {
  HostFile *file = host_file_use(s, path, FILE_IS_WRITTEN);
  host_file_create(file);
  file->writer = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPSHOT_LENGTH, PCAP_TSTAMP_PRECISION_NANO);
  file->dumper = file->writer ? pcap_dump_fopen(file->writer, file->out) : NULL;
  if (!file->dumper)
    spinach_fail("cannot write \"%s\": %s", path, file->writer ? pcap_geterr(file->writer) : "out of memory");
}

void packet_write(stream *s, const uint8_t *frame, uint32_t length, uint64_t stamp_ns) {
  HostFile *file = host_file(s);
  if (!file->dumper) spinach_fail("\"%s\" is not open for writing packets", file->path);
  struct pcap_pkthdr header = {.caplen = length, .len = length};
  if (stamp_ns / 1000000000u > UINT32_MAX)
    spinach_fail("cannot write \"%s\": time stamps of packet files end at 4294967295 s", file->path);
  header.ts.tv_sec = (time_t)(stamp_ns / 1000000000u);
  header.ts.tv_usec = (suseconds_t)(stamp_ns % 1000000000u); // nanoseconds in a file of that precision
  const bool again = s->records < file->written;
  if (!again) pcap_dump(file->dumper, &header, frame);
  if (ferror(file->out)) spinach_fail("cannot write \"%s\": %s", file->path, strerror(errno));
  s->records++;
  if (!again) file->written = s->records;
  s->position += length;
}

uint64_t host_packets_size(const stream *s) {
  return FILE_HEADER + PACKET_HEADER * s->records + s->position;
}

bool host_packets_flush(HostFile *file) {
  return pcap_dump_flush(file->dumper) == 0;
}

void host_packets_close(HostFile *file) {
  pcap_dump_close(file->dumper);
  pcap_close(file->writer);
  file->dumper = file->writer = NULL;
  file->out = NULL;
}
