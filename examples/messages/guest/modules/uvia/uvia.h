// SPDX-License-Identifier: MIT
// The parts of the module uvia: the device file with the doorbell (device.c), registered memory (memory.c), and the
// paths on which messages leave (frames.c, nic.c).  A path gets a descriptor and the memory; it knows nothing of files.
#ifndef UVIA_H
#define UVIA_H

#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>

#include "requests.h"

#define UVIA_REGIONS 4
#define UVIA_MOST    (1u << 20) // bytes of a region

// Registered memory: its pages stay where they are.
struct uvia_memory {
  struct page **pages;
  unsigned int count, first, length; // of the pages; place of the first byte in its page; bytes
};

struct uvia_sender;

struct uvia_path {
  int (*open)(struct uvia_sender *sender);
  int (*send)(struct uvia_sender *sender, const struct uvia_memory *memory, const struct uvia_descriptor *descriptor);
  int (*wait)(struct uvia_sender *sender); // until the memory of all that was sent may change; NULL: it may at once
  // Of a path with queues of its own: takes memory that was registered, and returns its number; and maps what is at
  // other offsets than 0.
  int (*enter)(struct uvia_sender *sender, const struct uvia_memory *memory);
  int (*map)(struct uvia_sender *sender, struct vm_area_struct *area);
  void (*close)(struct uvia_sender *sender);
};

// An open device file.
struct uvia_sender {
  struct mutex lock; // of all that follows
  struct net_device *device;
  u8 peer[ETH_ALEN];             // the receiver
  struct uvia_descriptor *queue; // the page that the program maps
  unsigned int sent, done;       // descriptors so far: sent, and with UVIA_DONE
  struct uvia_memory memory[UVIA_REGIONS];
  unsigned int regions;
  const struct uvia_path *path;
  void *of_path;
};

extern const struct uvia_path uvia_copied, uvia_mapped, uvia_nic;

int uvia_register(struct uvia_memory *memory, const struct uvia_region *region);
void uvia_release(struct uvia_memory *memory);
struct page *uvia_translate(const struct uvia_memory *memory, unsigned int at, unsigned int *offset);

#endif
