// Gateways as streams: a module looks for frames that came from outside, and sends frames.
//
// A module keeps a `stream` in its state.  It holds only the numbers of looks and of frames that were sent; the process
// holds the socket.  A run goes backwards in a debugger, so what a look has found is kept with its number then, and no
// frame is sent twice.  A run with one is not repeatable, but its record is (frame_record.h).
//
// Simulated time waits for the wall clock at looks, and only when it is ahead: then a frame from any gateway ends the
// wait.  What it is behind it does not make up for, but for the last 10 ms.
#ifndef SPINACH_GATEWAY_STREAM_H
#define SPINACH_GATEWAY_STREAM_H

#include "lss/runtime/files/stream.h"

// In `init`: opens what the run has for the instance; false: nothing is at its end.
bool gateway_open(stream *s);
// The length of a frame that came, without FCS; 0: none did; -1: what came has fewer than 14 bytes or more than
// `capacity`.
int32_t gateway_receive(stream *s, uint8_t *frame, uint32_t capacity);
// A frame without FCS.
void gateway_send(stream *s, const uint8_t *frame, uint32_t length);

#endif
