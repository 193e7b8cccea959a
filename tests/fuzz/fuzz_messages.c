// Fuzzes the language server's reader: any bytes, in two parts, are messages and what is none; what comes out is read
// as JSON, and as a text in which positions and offsets agree.
#include "lss/server/message.h"
#include "lss/server/protocol.h"

#include <stdlib.h>
#include <string.h>

// Every offset of a text that begins a position leads back to itself.
static void check_positions(const char *text) {
  const gsize length = strlen(text);
  for (gsize offset = 0; offset <= length; offset += 1 + length / 8) {
    const Position position = offset_position(text, offset);
    const gsize back = position_offset(text, position);
    if (back > length) abort();
    const Position again = offset_position(text, back);
    if (offset_position(text, position_offset(text, again)).line != again.line) abort();
  }
}

static void take(MessageReader *reader) {
  char *body;
  const char *why;
  for (MessageState state; (state = message_next(reader, &body, &why)) != MESSAGE_INCOMPLETE;) {
    if (state == MESSAGE_WRONG) continue;
    g_autofree char *text = body;
    g_autoptr(JsonValue) value = json_read(text, &why);
    Position position;
    json_text(json_at(value, "method", NULL));
    json_position(json_at(value, "params", "position", NULL), &position);
    check_positions(text);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  MessageReader reader = {0};
  message_feed(&reader, bytes, size / 2);
  take(&reader);
  message_feed(&reader, bytes + size / 2, size - size / 2);
  take(&reader);
  message_clear(&reader);
  return 0;
}
