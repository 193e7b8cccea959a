// Reading of messages; see message.h.
#include "lss/server/message.h"

#include <string.h>

static const char field[] = "Content-Length:";

enum { LARGEST_HEADER = 4096, LARGEST_BODY = 64 << 20 };

void message_feed(MessageReader *reader, const void *bytes, gsize length) {
  if (!reader->bytes) reader->bytes = g_byte_array_new();
  g_byte_array_append(reader->bytes, bytes, (guint)length);
}

static MessageState skip(MessageReader *reader, gsize length, const char *reason, const char **why) {
  g_byte_array_remove_range(reader->bytes, 0, (guint)length);
  *why = reason;
  return MESSAGE_WRONG;
}

// The length that a header gives; -1 when it gives none that can be.
static gint64 content_length(const char *header, gsize length) {
  g_autofree char *text = g_strndup(header, length);
  g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
  gint64 result = -1;
  for (char **line = lines; *line; line++) {
    guint64 number;
    if (g_ascii_strncasecmp(*line, field, strlen(field)) != 0) continue;
    char *value = g_strstrip(*line + strlen(field));
    result = g_ascii_string_to_unsigned(value, 10, 0, LARGEST_BODY, &number, NULL) ? (gint64)number : -1;
  }
  return result;
}

MessageState message_next(MessageReader *reader, char **body, const char **why) {
  if (!reader->bytes || !reader->bytes->len) return MESSAGE_INCOMPLETE;
  const char *text = (const char *)reader->bytes->data;
  const gsize length = reader->bytes->len;
  const char *end = memmem(text, MIN(length, LARGEST_HEADER), "\r\n\r\n", 4);
  if (!end && length >= LARGEST_HEADER) {
    const char *next = memmem(text + 1, length - 1, field, strlen(field)); // perhaps a header begins there
    return skip(reader, next ? (gsize)(next - text) : length, "a header without an end", why);
  }
  if (!end) return MESSAGE_INCOMPLETE;
  const gsize header = (gsize)(end - text) + 4;
  const gint64 size = content_length(text, header);
  if (size < 0) return skip(reader, header, "a header without a Content-Length up to 64 MiB", why);
  if (length - header < (gsize)size) return MESSAGE_INCOMPLETE;
  *body = g_strndup(text + header, (gsize)size);
  g_byte_array_remove_range(reader->bytes, 0, (guint)(header + (gsize)size));
  return MESSAGE_BODY;
}

void message_clear(MessageReader *reader) {
  g_clear_pointer(&reader->bytes, g_byte_array_unref);
}
