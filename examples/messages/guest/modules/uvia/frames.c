// SPDX-License-Identifier: MIT
// The paths through the ordinary driver of a network interface.  A message leaves in frames, each in a buffer of its
// own, which is kept and used again when the driver has given it back.  The pieces of the message are copied into the
// buffers, as M-VIA does for interfaces without a VIA of their own, or the buffers refer to the registered pages.
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "uvia.h"

#define KEPT 8 // buffers: more than a level-1 cache holds would be cold when their turn comes

struct kept_buffers {
  struct sk_buff *skb[KEPT];
  unsigned int next;
};

static bool uvia_is_free(const struct sk_buff *skb) {
  return refcount_read(&skb->users) == 1;
}

static void uvia_close_frames(struct uvia_sender *sender) {
  struct kept_buffers *kept = sender->of_path;

  for (unsigned int k = 0; k < KEPT; k++) {
    struct sk_buff *skb = kept->skb[k];
    if (!skb) continue;
    while (!uvia_is_free(skb)) usleep_range(50, 100);
    skb_shinfo(skb)->nr_frags = 0; // their pages belong to the registered memory
    skb->len -= skb->data_len;
    skb->data_len = 0;
    kfree_skb(skb);
  }
  kfree(kept);
}

static int uvia_open_frames(struct uvia_sender *sender) {
  struct kept_buffers *kept = kzalloc(sizeof(*kept), GFP_KERNEL);

  if (!kept) return -ENOMEM;
  sender->of_path = kept;
  for (unsigned int k = 0; k < KEPT; k++) {
    kept->skb[k] = __netdev_alloc_skb_ip_align(sender->device, ETH_FRAME_LEN, GFP_KERNEL);
    if (kept->skb[k]) continue;
    uvia_close_frames(sender);
    return -ENOMEM;
  }
  return 0;
}

// The next buffer, empty.  The driver gives buffers back in order.
static noinline struct sk_buff *uvia_buffer(struct uvia_sender *sender) {
  struct kept_buffers *kept = sender->of_path;
  struct sk_buff *skb = kept->skb[kept->next];

  while (!uvia_is_free(skb)) {
    if (signal_pending(current)) return NULL;
    usleep_range(20, 40);
  }
  kept->next = (kept->next + 1) % KEPT;
  skb_shinfo(skb)->nr_frags = 0;
  skb->len = skb->data_len = 0;
  skb_reset_tail_pointer(skb);
  skb->dev = sender->device;
  skb->protocol = htons(UVIA_ETHERTYPE);
  return skb;
}

static noinline void uvia_headers(struct sk_buff *skb, const struct uvia_sender *sender, unsigned int length,
                                  unsigned int at, unsigned int piece) {
  struct ethhdr *link = skb_put(skb, sizeof(*link));
  struct uvia_header *header = skb_put(skb, sizeof(*header));

  skb_reset_mac_header(skb);
  ether_addr_copy(link->h_dest, sender->peer);
  ether_addr_copy(link->h_source, sender->device->dev_addr);
  link->h_proto = htons(UVIA_ETHERTYPE);
  *header = (struct uvia_header){htonl(sender->sent), htonl(length), htonl(at), htonl(piece)};
}

static noinline void uvia_copy(struct sk_buff *skb, struct page *page, unsigned int offset, unsigned int length) {
  skb_put_data(skb, page_address(page) + offset, length);
}

static noinline void uvia_attach(struct sk_buff *skb, struct page *page, unsigned int offset, unsigned int length) {
  skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset, length);
  skb->len += length;
  skb->data_len += length;
}

// To the driver, past the queues of the network layer.  The buffer stays ours, so the driver gives it back.
static noinline int uvia_transmit(struct sk_buff *skb) {
  for (;;) {
    int status;
    skb_get(skb);
    status = dev_direct_xmit(skb, 0);
    if (status == NETDEV_TX_OK) return 0;
    if (status != NETDEV_TX_BUSY) return -ENETDOWN;
    if (signal_pending(current)) return -EINTR;
    usleep_range(20, 40); // the driver's ring is full
  }
}

typedef void uvia_fill(struct sk_buff *skb, struct page *page, unsigned int offset, unsigned int length);

static __always_inline int uvia_frames(struct uvia_sender *sender, const struct uvia_memory *memory,
                                       const struct uvia_descriptor *descriptor, uvia_fill *fill) {
  const unsigned int length = descriptor->length;
  unsigned int at = 0;

  while (at < length) {
    const unsigned int end = min_t(unsigned int, at + UVIA_PIECE, length);
    struct sk_buff *skb = uvia_buffer(sender);
    int status;

    if (!skb) return -EINTR;
    uvia_headers(skb, sender, length, at, end - at);
    while (at < end) {
      unsigned int offset;
      struct page *page = uvia_translate(memory, descriptor->offset + at, &offset);
      const unsigned int part = min_t(unsigned int, end - at, PAGE_SIZE - offset);
      fill(skb, page, offset, part);
      at += part;
    }
    status = uvia_transmit(skb);
    if (status) return status;
  }
  return 0;
}

static noinline int uvia_send_copied(struct uvia_sender *sender, const struct uvia_memory *memory,
                                     const struct uvia_descriptor *descriptor) {
  return uvia_frames(sender, memory, descriptor, uvia_copy);
}

static noinline int uvia_send_mapped(struct uvia_sender *sender, const struct uvia_memory *memory,
                                     const struct uvia_descriptor *descriptor) {
  return uvia_frames(sender, memory, descriptor, uvia_attach);
}

// Buffers come back when the interface has read the pages to which they refer.
static noinline int uvia_wait_mapped(struct uvia_sender *sender) {
  const struct kept_buffers *kept = sender->of_path;

  for (unsigned int k = 0; k < KEPT; k++) {
    while (!uvia_is_free(kept->skb[k])) {
      if (signal_pending(current)) return -EINTR;
      usleep_range(20, 40);
    }
  }
  return 0;
}

const struct uvia_path uvia_copied = {.open = uvia_open_frames, .send = uvia_send_copied, .close = uvia_close_frames};
const struct uvia_path uvia_mapped = {
    .open = uvia_open_frames, .send = uvia_send_mapped, .wait = uvia_wait_mapped, .close = uvia_close_frames};
