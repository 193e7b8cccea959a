// Captures of Ethernet frames, in any format that libpcap reads, a frame at a time.
#ifndef SPINACH_PACKET_READER_H
#define SPINACH_PACKET_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { PACKET_LAST_SECOND = UINT32_MAX }; // of a time stamp

typedef struct PacketReader PacketReader;

// A frame without its FCS.
typedef struct {
  uint64_t number;      // from 1
  uint32_t length;      // bytes that the capture holds
  uint32_t original;    // bytes that the frame had
  uint64_t stamp;       // nanoseconds
  const uint8_t *bytes; // until the next frame is read
} CapturedPacket;

// Opens a capture.  On failure sets *error, as all functions here do: a whole sentence that names the file.
PacketReader *packet_reader_open(const char *path, GError **error);
void packet_reader_free(PacketReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PacketReader, packet_reader_free)

// The next frame; false at the end, and, with *error, where the file is damaged.
bool packet_reader_next(PacketReader *reader, CapturedPacket *packet, GError **error);

// Whether all of a frame is there, and it has no more than `capacity` bytes.
bool packet_reader_require_whole(const PacketReader *reader, const CapturedPacket *packet, uint32_t capacity,
                                 GError **error);

uint64_t packet_reader_count(const PacketReader *reader);    // frames that were read
uint64_t packet_reader_consumed(const PacketReader *reader); // bytes of the file that were read, where that is known

#endif
