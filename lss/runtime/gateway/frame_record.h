// Records of a gateway: each frame that came or was sent, with its instant; and a run that has them again.
//
// A record is a text, PATH.frames in the folder of --record-links, where PATH is the gateway's.  Its first line is
// `frames 1`, the ticks in a second of the machine and the instant at which the run began.  Then `< INSTANT BYTES` is a
// frame that came, `! INSTANT` something that was no frame, and `> INSTANT BYTES` a frame that was sent; bytes are
// hexadecimal.
#ifndef SPINACH_FRAME_RECORD_H
#define SPINACH_FRAME_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct FrameRecord FrameRecord;
typedef struct FrameReplay FrameReplay;

// The file of a gateway in such a folder; the caller frees it.
char *frame_record_path(const char *folder, const char *gateway);

// All functions from here on stop the run for a file that cannot be read or written.
FrameRecord *frame_record_open(const char *path);
void frame_record_begin(FrameRecord *record, uint64_t ticks_per_second, uint64_t now);
// `length` is as frame_socket_receive() returns it.
void frame_record_came(FrameRecord *record, uint64_t now, const uint8_t *frame, int32_t length);
void frame_record_sent(FrameRecord *record, uint64_t now, const uint8_t *frame, uint32_t length);

// A record is read whole.
FrameReplay *frame_replay_open(const char *path);
// Whether it is of such a machine and began at this instant.
void frame_replay_begin(const FrameReplay *replay, uint64_t ticks_per_second, uint64_t now);
// What came at this look, as frame_socket_receive() returns it.  A look that the record knows at another instant stops
// the run, and so does a frame that is sent and is not that of the record: it is another run.
int32_t frame_replay_came(FrameReplay *replay, uint64_t now, uint8_t *frame, uint32_t capacity);
void frame_replay_sent(FrameReplay *replay, uint64_t now, const uint8_t *frame, uint32_t length);

#endif
