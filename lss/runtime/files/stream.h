// Streams: the files that modules read and write.
//
// A module keeps a `stream` in its state; the state holds only which stream it is and how far it has come, the process
// holds the file.  So a restored run continues where it was.  Inputs other than images are read whole when they are
// opened; outputs go to a temporary file next to their final place, which they take only when the run ends well.
// Whatever fails stops the run with one line that names the file and what is wrong with it: no function here returns an
// error.
#ifndef SPINACH_STREAM_H
#define SPINACH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// All of it is simulated state.  Zero is a stream that was never opened.
typedef struct {
  uint64_t id;       // which open file of this process, counted from 1
  uint64_t position; // bytes read or written so far
  uint64_t records;  // lines or packets read or written so far
} spinach_stream;

typedef spinach_stream stream;

// ---- Bytes and lines -------------------------------------------------------------------------------------------
void stream_read_open(stream *s, const char *path);
// Up to `size` bytes; 0 only at the end.
size_t stream_read(stream *s, void *buffer, size_t size);
// The next line without its end; false at the end of the file.  A line that does not fit in `size` stops the run.
bool stream_line(stream *s, char *buffer, size_t size);
// All bytes of an input, valid until the end of the run, and their number.
const uint8_t *stream_contents(const stream *s, size_t *size);

// "-" is standard output.
void stream_write_open(stream *s, const char *path);
void stream_write(stream *s, const void *bytes, size_t size);
void stream_printf(stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

// That many zeros, which take no room in a file that can have holes.
void stream_write_zeros(stream *s, uint64_t size);

// What was written is to be seen at once.
void stream_flush(stream *s);
// Drops what was written, also by the run that a restored one goes on from: the file begins anew.
void stream_restart(stream *s);

// ---- Images: inputs of any size, whose parts are read when they are asked for ------------------------------------
void stream_image_open(stream *s, const char *path);
uint64_t stream_image_size(const stream *s); // in bytes
// `size` bytes from `offset` on; there are zeros past the end.
void stream_image_read(const stream *s, uint64_t offset, void *bytes, size_t size);
// The first place from `offset` on that may hold other bytes than zeros; UINT64_MAX: none.
uint64_t stream_image_next(const stream *s, uint64_t offset);

// ---- A console -------------------------------------------------------------------------------------------------
// Where a person or a program types at the machine, a character at a time.  A run with one is not repeatable.  `where`
// is "false" for none: both streams stay closed; "true" or "-" for standard input, without echo when it is a terminal:
// `shown` stays closed; or a pseudo-terminal or socket as in console_place.h, to which what is shown is sent, too.
void stream_terminal_open(stream *typed, stream *shown, const char *where);
// The next character; false when there is none.  Looks that follow each other take at least a millisecond of real time
// if they find nothing, so a machine that has nothing to do lets no more time pass in the simulation than goes by.
bool stream_terminal_read(stream *typed, uint8_t *character);
// Waits for no client: the last 64 KiB are kept for one.
void stream_terminal_write(stream *shown, const void *bytes, size_t size);

bool stream_is_open(const stream *s);
// Whether a restored run gave an input other bytes than the stream had at the checkpoint, or a file where it had none.
bool stream_is_replaced(const stream *s);

// ---- Packets: pcap and pcapng in, pcap with nanoseconds out, Ethernet frames without FCS

void packet_read_open(stream *s, const char *path);
// The next frame, its length in bytes and its time stamp in nanoseconds since 1970; false at the end.  A frame longer
// than `capacity` stops the run.
bool packet_next(stream *s, uint8_t *frame, uint32_t capacity, uint32_t *length, uint64_t *stamp_ns);
// How many frames the file has, and any of them by its number from 0; not to be mixed with packet_next on one stream.
uint64_t packet_count(const stream *s);
void packet_at(stream *s, uint64_t number, uint8_t *frame, uint32_t capacity, uint32_t *length, uint64_t *stamp_ns);
void packet_write_open(stream *s, const char *path);
void packet_write(stream *s, const uint8_t *frame, uint32_t length, uint64_t stamp_ns);

// ---- For the runtime -----------------------------------------------------------------------------------------------
// Of a forked process, which is to leave no trace: what streams write from here on is lost, and consoles are silent.
void spinach_streams_detach(void);
// Gives every output its final name; false, after a line on standard error, when one cannot be written completely.
bool spinach_streams_commit(void);
// Removes every unfinished output.  Safe to call at any time, also twice.
void spinach_streams_abandon(void);
// The same in a signal handler, of a process that ends there.
void spinach_streams_remove(void);
// The run goes on otherwise than it did: what was written beyond where it is now is dropped, but not from a terminal, a
// pipe or a device.
void spinach_streams_diverge(void);
// The path of the index-th file that was opened, and whether it is an output; NULL beyond the last.
const char *spinach_streams_file(uint32_t index, bool *output);
// How much of the inputs has been read, 0 to 1; negative when there are none.
double spinach_streams_share(void);
// Whether it has a console or a gateway, where something may come at any time.
bool spinach_streams_live(void);
// Consoles and gateways are not opened from here on: for the reason `why`, a sentence without its end, the run fails;
// without one (NULL) they are left out.
void spinach_streams_close_consoles(const char *why);
// The same of the console at standard input alone.
void spinach_streams_close_input(const char *why);
// Whether the machine prints to this terminal or reads from it, so that the run shows nothing there on its own account.
bool spinach_streams_at_terminal(void);

#endif
