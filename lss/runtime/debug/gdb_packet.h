// The framing of the GDB remote protocol: bytes to packets and back.  Nothing here knows what is in them.
#ifndef SPINACH_GDB_PACKET_H
#define SPINACH_GDB_PACKET_H

#include <glib.h>

enum { PACKET_SIZE = 0x4000 }; // bytes of the longest that is accepted, as they are sent

typedef enum {
  PACKET_NONE,      // what is there is not whole
  PACKET_WHOLE,     // *payload is what it carried
  PACKET_FOREIGN,   // what came is another protocol
  PACKET_DAMAGED,   // its checksum is wrong, or it is too long
  PACKET_REPEAT,    // the other side asks for the last answer again
  PACKET_INTERRUPT, // stop the machine
} PacketKind;

// Takes what comes first out of `bytes`, with what is neither a packet nor an interrupt before it.
PacketKind gdb_packet_take(GByteArray *bytes, GString *payload);

// Appends a packet.
void gdb_packet_append(GString *out, const GString *payload);

// The number in hexadecimal digits at *text, which is moved behind them; a sign extension beyond 32 bits is dropped.
// False when there is none.
gboolean gdb_packet_number(const char **text, guint32 *number);
// Bytes as pairs of digits; false when one is none, or fewer than `count` pairs are there.
gboolean gdb_packet_bytes(const char *digits, guint8 *bytes, gsize count);
void gdb_packet_append_bytes(GString *out, const guint8 *bytes, gsize count);

#endif
