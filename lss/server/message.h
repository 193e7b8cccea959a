// Messages as the Language Server Protocol frames them: a header with the length of the body, an empty line, the body.
#ifndef LSS_MESSAGE_H
#define LSS_MESSAGE_H

#include <glib.h>

typedef struct {
  GByteArray *bytes; // received and not taken by message_next() yet
} MessageReader;

typedef enum {
  MESSAGE_INCOMPLETE, // more bytes are needed
  MESSAGE_BODY,
  MESSAGE_WRONG // it is no message, and was skipped
} MessageState;

void message_feed(MessageReader *reader, const void *bytes, gsize length);

// Takes the next message from what was fed: *body for MESSAGE_BODY, which the caller frees, or *why, a reason, for
// MESSAGE_WRONG.  To be called until it says MESSAGE_INCOMPLETE.
MessageState message_next(MessageReader *reader, char **body, const char **why);

void message_clear(MessageReader *reader);

#endif
