// Packet files as simulators and `lss packets` write them: pcap, little-endian, nanoseconds, Ethernet without FCS.
#ifndef SPINACH_PACKET_WRITER_H
#define SPINACH_PACKET_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PACKET_FILE_HEADER = 24, PACKET_HEADER = 16 }; // bytes

// The file's header; returns false, with errno, when it cannot be written, as the next function does.
bool packet_writer_begin(FILE *out);

// A frame; the stamp is in nanoseconds, and below 2^32 seconds.
bool packet_writer_add(FILE *out, const uint8_t *frame, uint32_t length, uint64_t stamp);

// Of a file with so many frames, and bytes in them.
static inline uint64_t packet_file_size(uint64_t frames, uint64_t bytes) {
  return PACKET_FILE_HEADER + PACKET_HEADER * frames + bytes;
}

#endif
