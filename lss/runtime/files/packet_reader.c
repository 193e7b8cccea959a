// Captures of Ethernet frames, in any format that libpcap reads; see packet_reader.h.  docs/traces.md lists the
// formats.
//
// Simulators and `lss packets` read captures here and nowhere else, so both accept and refuse the same files.
#include "lss/runtime/files/packet_reader.h"

#include "emulib/program/input_file.h"
#include "lss/runtime/text/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t NANOSECONDS = 1000000000; // in a second

struct PacketReader {
  char *path;
  pcap_t *pcap;
  uint64_t count;
};

static bool refuse_to_open(GError **error, const char *path, const char *why) {
  // libpcap begins some of its messages with the path, which is already in ours.
  const size_t length = strlen(path);
  if (!strncmp(why, path, length) && !strncmp(why + length, ": ", 2)) why += length + 2;
  return spinach_refuse(error, "cannot read packets from \"%s\": %s", path, why);
}

static pcap_t *open_capture(const char *path, GError **error) {
  char why[PCAP_ERRBUF_SIZE] = "";
  g_autoptr(GError) reason = NULL;
  const int handle = input_file_open(path, &reason);
  if (handle < 0) return refuse_to_open(error, path, reason->message), NULL;
  FILE *in = fdopen(handle, "rb");
  if (!in) {
    refuse_to_open(error, path, g_strerror(errno));
    close(handle);
    return NULL;
  }
  pcap_t *capture = pcap_fopen_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, why);
  if (capture) return capture;
  refuse_to_open(error, path, why);
  fclose(in);
  return NULL;
}

PacketReader *packet_reader_open(const char *path, GError **error) {
  pcap_t *capture = open_capture(path, error);
  if (!capture) return NULL;
  const int link = pcap_datalink(capture);
  if (link != DLT_EN10MB) {
    const char *name = pcap_datalink_val_to_name(link);
    spinach_refuse(error, "cannot use \"%s\": it holds packets of link type %s, Ethernet (EN10MB) is needed", path,
                   name ? name : "unknown");
    pcap_close(capture);
    return NULL;
  }
  PacketReader *reader = g_new0(PacketReader, 1);
  reader->path = g_strdup(path);
  reader->pcap = capture;
  return reader;
}

void packet_reader_free(PacketReader *reader) {
  if (!reader) return;
  pcap_close(reader->pcap);
  g_free(reader->path);
  g_free(reader);
}

// Bytes of FCS at the end of each frame, if the file's header says that there are any: bits 28 to 31 of the link type,
// in units of 16 bits, which bit 26 declares.
static uint32_t fcs_bytes(pcap_t *capture) {
  const uint32_t link = (uint32_t)pcap_datalink_ext(capture);
  return link & 1u << 26 ? (link >> 28) * 2 : 0;
}

// Nanoseconds, or -1 for what is far outside the range of packet files.
static int64_t stamp_of(pcap_t *capture, const struct pcap_pkthdr *header) {
  int64_t seconds = (int64_t)header->ts.tv_sec;
  // Seconds of a pcap file, whose version is 2, have no sign, but libpcap gives them one; those of pcapng may have one.
  if (pcap_major_version(capture) == 2 && seconds < 0) seconds += (int64_t)UINT32_MAX + 1;
  const int64_t fraction = (int64_t)header->ts.tv_usec; // nanoseconds, as asked for
  int64_t stamp;
  return __builtin_mul_overflow(seconds, NANOSECONDS, &stamp) || __builtin_add_overflow(stamp, fraction, &stamp)
             ? -1
             : stamp;
}

static bool refuse_packet(GError **error, const PacketReader *reader, uint64_t number, const char *why) {
  return spinach_refuse(error, "\"%s\", packet %" PRIu64 ": %s", reader->path, number, why);
}

bool packet_reader_next(PacketReader *reader, CapturedPacket *packet, GError **error) {
  struct pcap_pkthdr *header;
  const int result = pcap_next_ex(reader->pcap, &header, &packet->bytes);
  if (result == PCAP_ERROR_BREAK) return false;
  const uint64_t number = reader->count + 1;
  if (result != 1) return refuse_packet(error, reader, number, pcap_geterr(reader->pcap));
  reader->count = number;
  const uint32_t fcs = fcs_bytes(reader->pcap);
  if (header->len < fcs) {
    g_autofree char *why =
        g_strdup_printf("it has %u bytes, fewer than the FCS that the file's header declares (%u)", header->len, fcs);
    return refuse_packet(error, reader, number, why);
  }
  const int64_t stamp = stamp_of(reader->pcap, header);
  if (stamp < 0 || stamp / NANOSECONDS > PACKET_LAST_SECOND)
    return refuse_packet(error, reader, number, "its time stamp is outside of the range 0 to 4294967295 s");
  packet->number = number;
  packet->original = header->len - fcs;
  packet->length = MIN(header->caplen, packet->original);
  packet->stamp = (uint64_t)stamp;
  return true;
}

bool packet_reader_require_whole(const PacketReader *reader, const CapturedPacket *packet, uint32_t capacity,
                                 GError **error) {
  if (packet->length == packet->original && packet->length <= capacity) return true;
  const int most = pcap_snapshot(reader->pcap);
  g_autofree char *why = NULL;
  if (packet->length == packet->original)
    why = g_strdup_printf("it has %u bytes; at most %u fit", packet->length, capacity);
  else if ((int64_t)packet->length >= most)
    why = g_strdup_printf("it has %u bytes, but the file's header limits packets to %d bytes (capture whole packets, "
                          "tcpdump -s 0, or correct the header)",
                          packet->original, most);
  else
    why = g_strdup_printf("only %u of its %u bytes were captured; capture whole packets (tcpdump -s 0)", packet->length,
                          packet->original);
  return refuse_packet(error, reader, packet->number, why);
}

uint64_t packet_reader_count(const PacketReader *reader) {
  return reader->count;
}

uint64_t packet_reader_consumed(const PacketReader *reader) {
  const long at = ftell(pcap_file(reader->pcap));
  return at > 0 ? (uint64_t)at : 0;
}
