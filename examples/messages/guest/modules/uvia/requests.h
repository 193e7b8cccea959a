// What the module uvia, its programs and the receiver of their messages agree on.
//
// A program opens /dev/uvia, registers memory, and maps a page, the send queue.  To send, it writes a descriptor to the
// next entry of the queue, and rings the doorbell.  Entries are used in turn; UVIA_DONE is set when the message may be
// changed: at once if it was copied, else by UVIA_WAIT.
#ifndef UVIA_REQUESTS_H
#define UVIA_REQUESTS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define UVIA_ENTRIES 64 // of the send queue

struct uvia_descriptor {
  __u32 buffer; // number of the registered memory
  __u32 offset; // of the message in it
  __u32 length; // of the message, at least 1
  __u32 flags;
};

#define UVIA_DONE 1u // in `flags`

struct uvia_region {
  __u32 address, length;
};

enum uvia_path_number { UVIA_COPIED, UVIA_MAPPED, UVIA_NIC, UVIA_PATHS };

// With UVIA_NIC, the queues are in the memory of the interface, and message_queues.h describes them.  The program may
// register memory only after it has chosen this path; the number is then a handle.  It maps at these offsets: the
// window of the interface, and its completions.
#define UVIA_WINDOW      4096
#define UVIA_COMPLETIONS 8192

#define UVIA_REGISTER  _IOW('u', 1, struct uvia_region) // pins memory, and returns its number
#define UVIA_SET_PATH  _IO('u', 2)                      // a uvia_path_number
#define UVIA_RING_BELL _IO('u', 3)           // sends the descriptors up to this count of all that were posted
#define UVIA_WAIT      _IO('u', 4)           // returns when all that was sent may be changed
#define UVIA_SET_PEER  _IOW('u', 5, __u8[6]) // the Ethernet address of the receiver, before UVIA_SET_PATH

// A message leaves in frames of at most 1,500 bytes: an Ethernet header, this one with its numbers in network order,
// and a piece of the message.
#define UVIA_ETHERTYPE 0x88b5 // for local experiments (IEEE 802)

struct uvia_header {
  __u32 number; // of the message, from 0 on
  __u32 length; // of the message
  __u32 offset; // of the piece
  __u32 piece;  // length of the piece
};

#define UVIA_PIECE (1500 - sizeof(struct uvia_header))

#endif
