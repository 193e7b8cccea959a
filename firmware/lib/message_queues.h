// Messages between user programs without the operating system: what this firmware shares with host software.  A Linux
// kernel module and a user's program include this file as it is.
//
// A program posts entries to two queues in the NIC's memory, one for messages to send and one for messages to receive,
// and rings a doorbell.  The NIC transfers the data from and to the program's memory, and writes a completion there.
//
// - Words.  All numbers are words of 32 bits.  Host software writes the NIC's memory through the card's window, a whole
//   word at a time.  In host memory (completions) words have the order of bytes that the driver selected for its
//   rings, which is the host's own.
// - Addresses.  Word 0x284 of the NIC's memory, at 0x684 of the window, has the address of struct message_area; a
// firmware
//   without message queues leaves it 0 or whatever was there, so host software checks `magic`, too.
// - Buffers.  A buffer consists of whole pages, which the kernel enters into consecutive words of the table.  Its
// handle
//   is the number of its first page there.  A word has the page's bus address, below 4 GiB, and in its low 12 bits how
//   many pages of the buffer follow from this one on, itself included.  Word 0 means that there is no page.
// - Numbers.  The entries of a queue are numbered from 0 on, modulo 2^32; number n has place n % 64.  A doorbell tells
//   how many entries have been posted altogether.  Entry n + 64 may be posted when entry n is complete.  The NIC
//   ignores a doorbell that contradicts this, and counts it.
// - Errors.  The NIC refuses an entry that is wrong (MESSAGE_ERROR_...): it completes it with the error, and transfers
//   nothing.
// - Protection.  A program that can write the whole window can do anything with the NIC, so the kernel must trust it.
// On a
//   card with user pages (`tigon2_nic.user_pages`), the kernel writes the address of struct message_page to
//   MESSAGE_USER_BASE and maps the page of the window at MESSAGE_USER_PAGE into the program.  The program then reaches
//   the entries and the word `doorbell`, and nothing else.
// - Opening.  The kernel fills in the table, `completions` and `peer`, and sets `open`.  From the first doorbell on,
// the
//   queues are in use, and frames of type 0x88b5 are for them; before, they go to the host's rings as all other frames.
// - Closing.  The kernel clears `open`, rings a doorbell, and waits until `in_use` is 0.  From then on the NIC does not
//   touch the program's memory, and numbers begin at 0 again.
#ifndef TIGON2_MESSAGE_QUEUES_H
#define TIGON2_MESSAGE_QUEUES_H

enum {
  MESSAGE_MAGIC = 0x4d534731,
  MESSAGE_ENTRIES = 64,         // of a queue
  MESSAGE_PAGES = 1024,         // in the table
  MESSAGE_PAGE = 4096,          // bytes of a page
  MESSAGE_POINTER = 0x284,      // NIC's memory: address of struct message_area
  MESSAGE_TYPE = 0x88b5,        // Ethernet's type for local experiments
  MESSAGE_HEADERS = 14 + 16,    // bytes of a frame before its data
  MESSAGE_DATA = 1484,          // bytes of data in a frame, at most: 1,500 with the message header
  MESSAGE_SEND_MAILBOX = 6,     // doorbells: how many entries have been posted to send,
  MESSAGE_RECEIVE_MAILBOX = 7,  // and to receive;
  MESSAGE_PAGE_MAILBOX = 8,     // or `doorbell` in the program's page was written
  MESSAGE_WINDOW_BASE = 0x68,   // window: the register with the address of the NIC's memory that it shows
  MESSAGE_WINDOW = 0x800,       // from here on,
  MESSAGE_WINDOW_BYTES = 0x800, // for so many bytes
  MESSAGE_SHARED = 0x400,       // window: the NIC's memory from address 0 on
  MESSAGE_USER_BASE = 0x264,  // window of a card with user pages: the kernel shows a program its page by this register,
  MESSAGE_USER_PAGE = 0x1000, // from here on
};

// Where a mailbox is in the window.
#define MESSAGE_DOORBELL(mailbox) (0x504 + 8 * (mailbox))

// A message to send, or where one is to be received.
struct message_entry {
  unsigned buffer; // handle
  unsigned offset; // bytes from the beginning of the buffer
  unsigned length; // bytes, 1 up to the end of the buffer; to receive: the longest message that is accepted
  unsigned flags;  // 0
};

// What the user's program writes.
struct message_page {
  struct message_entry send[MESSAGE_ENTRIES];    // 0x000
  struct message_entry receive[MESSAGE_ENTRIES]; // 0x400
  unsigned unused[MESSAGE_PAGE / 4 - 8 * MESSAGE_ENTRIES - 1];
  unsigned doorbell; // 0xffc: entries posted to send, modulo 2^16, << 16 | to receive, modulo 2^16
};

// What the kernel writes, and the firmware where it says so.
struct message_control {
  unsigned magic;               // by the firmware
  unsigned open;                // 1: the queues may be used
  unsigned completions;         // bus address of struct message_completions, a multiple of 8, below 4 GiB
  unsigned peer_high, peer_low; // Ethernet address of the other end: its first two bytes, and the other four
  unsigned in_use;              // by the firmware: 1 from the first doorbell until the queues are closed
  unsigned ignored;             // by the firmware: doorbells that were ignored,
  unsigned dropped[4];          // and frames that were dropped, by enum message_drop
};

enum message_drop {
  MESSAGE_DROP_HEADER,   // the message header contradicts itself or the frame's length
  MESSAGE_DROP_NO_ENTRY, // no entry with this number is posted, or it is complete
  MESSAGE_DROP_ORDER,    // not the next frame of its message: one before it is missing, or it came twice
  MESSAGE_DROP_REFUSED,  // longer than the entry accepts, or its pages are no longer in the table
};

struct message_area {
  struct message_page user;       // at a multiple of 4 KiB
  unsigned table[MESSAGE_PAGES];  // 0x1000
  struct message_control control; // 0x2000
};

// In host memory: the completion of entry n, at place n % 64.  `done` is written last.
struct message_completion {
  unsigned length; // bytes sent or received; 0 with an error
  unsigned done;   // number of the entry, modulo 2^24, << 8 | status; it is never 0
};
struct message_completions {
  struct message_completion send[MESSAGE_ENTRIES];    // the NIC has read the whole message
  struct message_completion receive[MESSAGE_ENTRIES]; // the whole message is in memory
  unsigned dropped;                                   // frames for these queues that were dropped, of all kinds
  unsigned unused;
};

enum message_status {
  MESSAGE_DONE = 1,
  MESSAGE_ERROR_FLAGS = 2,  // flags are not 0
  MESSAGE_ERROR_BUFFER = 3, // the handle is beyond the table
  MESSAGE_ERROR_PAGE = 4,   // there is no such buffer, or a page of it is 0
  MESSAGE_ERROR_LENGTH = 5, // length is 0, or the message ends beyond the buffer
  MESSAGE_ERROR_ROOM = 6,   // to receive: the message that came is longer
};

// The message header, behind the 14 bytes of Ethernet's, big-endian.
//   0  2 bytes  queue: 0
//   2  4 bytes  number of the message: that of the entry it was sent from, and of the one it is received into
//   6  4 bytes  offset of this frame's data in the message
//  10  4 bytes  length of the message
//  14  2 bytes  length of this frame's data, 1 to 1,484

#endif
