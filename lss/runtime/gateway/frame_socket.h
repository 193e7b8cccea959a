// Frames of a real network, without FCS, one at a time: UDP datagrams and length-prefixed frames on TCP, as QEMU's
// netdevs `dgram` and `stream` have them, or a tap interface of Linux.  Nothing here waits.
#ifndef SPINACH_FRAME_SOCKET_H
#define SPINACH_FRAME_SOCKET_H

#include "lss/runtime/gateway/gateway_place.h"

enum { FRAME_LEAST = 14 }; // bytes of a frame: its addresses and type

typedef struct FrameSocket FrameSocket;

// Without `open`, both ends of a socket are at this computer.  On failure returns NULL and sets *error, a whole
// sentence.
FrameSocket *frame_socket_open(const GatewayPlace *place, bool open, GError **error);
void frame_socket_close(FrameSocket *socket);

// The descriptor that becomes readable when something comes.
int frame_socket_handle(const FrameSocket *socket);

// The length of the next frame; 0: there is none; -1: what came has fewer than 14 bytes or more than `capacity`.
int32_t frame_socket_receive(FrameSocket *socket, uint8_t *frame, uint32_t capacity);
// A frame that the other end does not take is lost, as on a wire.
void frame_socket_send(FrameSocket *socket, const uint8_t *frame, uint32_t length);

// Why nothing comes or goes from now on; NULL: it does.
const char *frame_socket_lost(const FrameSocket *socket);

#endif
