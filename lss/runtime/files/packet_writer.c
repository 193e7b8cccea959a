// Packet files as simulators and `lss packets` write them; see packet_writer.h.
#include "lss/runtime/files/packet_writer.h"

#include <endian.h>

enum { MAGIC_NANOSECONDS = 0xA1B23C4D, MAJOR = 2, MINOR = 4, LONGEST_FRAME = 262144, ETHERNET = 1 };

static bool write_words(FILE *out, const uint32_t *words, size_t count) {
  uint32_t stored[PACKET_FILE_HEADER / sizeof(uint32_t)];
  for (size_t i = 0; i < count; i++) stored[i] = htole32(words[i]);
  return fwrite(stored, sizeof *stored, count, out) == count;
}

bool packet_writer_begin(FILE *out) {
  const uint32_t header[] = {MAGIC_NANOSECONDS, MINOR << 16 | MAJOR, 0, 0, LONGEST_FRAME, ETHERNET};
  _Static_assert(sizeof header == PACKET_FILE_HEADER, "a pcap file's header");
  return write_words(out, header, PACKET_FILE_HEADER / sizeof *header);
}

bool packet_writer_add(FILE *out, const uint8_t *frame, uint32_t length, uint64_t stamp) {
  const uint32_t header[] = {(uint32_t)(stamp / 1000000000u), (uint32_t)(stamp % 1000000000u), length, length};
  _Static_assert(sizeof header == PACKET_HEADER, "the header of a frame in a pcap file");
  return write_words(out, header, PACKET_HEADER / sizeof *header) && fwrite(frame, 1, length, out) == length;
}
