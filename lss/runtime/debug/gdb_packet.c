// Framing of packets; see gdb_packet.h.
#include "lss/runtime/debug/gdb_packet.h"

#include <string.h>

enum { INTERRUPT = 0x03, ESCAPE = '}', ESCAPED = 0x20, CHECKSUM_DIGITS = 2 };

static void drop(GByteArray *bytes, gsize count) {
  g_byte_array_remove_range(bytes, 0, (guint)count);
}

static guint8 checksum(const char *text, gsize length) {
  guint8 sum = 0;
  for (gsize i = 0; i < length; i++) sum = (guint8)(sum + (guint8)text[i]);
  return sum;
}

static void unescape(const guint8 *from, gsize length, GString *payload) {
  g_string_truncate(payload, 0);
  for (gsize i = 0; i < length; i++) {
    const gboolean escaped = from[i] == ESCAPE && i + 1 < length;
    if (escaped) i++;
    g_string_append_c(payload, (char)(escaped ? from[i] ^ ESCAPED : from[i]));
  }
}

// A packet from its `$` on.
static PacketKind take_packet(GByteArray *bytes, GString *payload) {
  const guint8 *end = memchr(bytes->data, '#', bytes->len);
  const gsize length = end ? (gsize)(end - bytes->data) - 1 : bytes->len;
  if (!end && length > PACKET_SIZE) return PACKET_FOREIGN;
  if (!end || bytes->len < length + 2 + CHECKSUM_DIGITS) return PACKET_NONE;
  const int high = g_ascii_xdigit_value((char)end[1]), low = g_ascii_xdigit_value((char)end[2]);
  const gboolean fits = high >= 0 && low >= 0 && checksum((const char *)bytes->data + 1, length) == high * 16 + low;
  if (fits) unescape(bytes->data + 1, length, payload);
  drop(bytes, length + 2 + CHECKSUM_DIGITS);
  return fits ? PACKET_WHOLE : PACKET_DAMAGED;
}

PacketKind gdb_packet_take(GByteArray *bytes, GString *payload) {
  while (bytes->len) {
    if (bytes->data[0] == '$') return take_packet(bytes, payload);
    const guint8 byte = bytes->data[0];
    drop(bytes, 1);
    if (byte == INTERRUPT) return PACKET_INTERRUPT;
    if (byte == '-') return PACKET_REPEAT;
    if (byte != '+') return PACKET_FOREIGN;
  }
  return PACKET_NONE;
}

void gdb_packet_append(GString *out, const GString *payload) {
  const gsize start = out->len + 1;
  g_string_append_c(out, '$');
  for (gsize i = 0; i < payload->len; i++) {
    const char byte = payload->str[i];
    if (strchr("#$}*", byte) && byte) {
      g_string_append_c(out, ESCAPE);
      g_string_append_c(out, (char)(byte ^ ESCAPED));
    } else {
      g_string_append_c(out, byte);
    }
  }
  g_string_append_printf(out, "#%02x", checksum(out->str + start, out->len - start));
}

gboolean gdb_packet_number(const char **text, guint32 *number) {
  const char *start = *text;
  *number = 0;
  while (g_ascii_isxdigit(**text)) *number = *number << 4 | (guint32)g_ascii_xdigit_value(*(*text)++);
  return *text != start && *text - start <= 16;
}

gboolean gdb_packet_bytes(const char *digits, guint8 *bytes, gsize count) {
  for (gsize i = 0; i < count; i++) {
    const int high = digits[2 * i] ? g_ascii_xdigit_value(digits[2 * i]) : -1;
    const int low = high >= 0 ? g_ascii_xdigit_value(digits[2 * i + 1]) : -1;
    if (low < 0) return FALSE;
    bytes[i] = (guint8)(high * 16 + low);
  }
  return TRUE;
}

void gdb_packet_append_bytes(GString *out, const guint8 *bytes, gsize count) {
  for (gsize i = 0; i < count; i++) g_string_append_printf(out, "%02x", bytes[i]);
}
