// SPDX-License-Identifier: MIT
// The path past the driver: a card whose firmware has message queues (message_queues.h).  The program maps the card's
// window and posts its messages itself; this enters its pages into the card's table when it registers memory, and does
// nothing for a message.  The program must be trusted, as the window has all of the card.  The driver of the card stays
// as it is: it uses other places of the window, and the moving part of the window only when it starts the firmware.
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/iopoll.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "message_queues.h"
#include "uvia.h"

#define CLOSES_WITHIN 100000 // us

struct uvia_nic {
  struct pci_dev *card;
  void __iomem *window;
  u32 area; // struct message_area, in the card's memory
  struct page *completions;
  dma_addr_t completions_at;
  unsigned int pages; // in the table
  dma_addr_t page_at[MESSAGE_PAGES];
};

static unsigned long taken; // bit 0: a program has the queues

#define CONTROL(field) (offsetof(struct message_area, control) + offsetof(struct message_control, field))

static void __iomem *uvia_nic_word(struct uvia_nic *nic, u32 offset) {
  const u32 address = nic->area + offset;

  writel(address & ~(MESSAGE_WINDOW_BYTES - 1), nic->window + MESSAGE_WINDOW_BASE);
  return nic->window + MESSAGE_WINDOW + address % MESSAGE_WINDOW_BYTES;
}

static void uvia_nic_put(struct uvia_nic *nic, u32 offset, u32 value) {
  writel(value, uvia_nic_word(nic, offset));
}

// The queues are what the program finds in the moving part.
static void uvia_nic_show_queues(struct uvia_nic *nic) {
  uvia_nic_word(nic, offsetof(struct message_area, user));
}

static void uvia_nic_free(struct uvia_nic *nic) {
  while (nic->pages) dma_unmap_page(&nic->card->dev, nic->page_at[--nic->pages], PAGE_SIZE, DMA_BIDIRECTIONAL);
  if (nic->completions_at) dma_unmap_page(&nic->card->dev, nic->completions_at, PAGE_SIZE, DMA_FROM_DEVICE);
  if (nic->completions) __free_page(nic->completions);
  if (nic->window) pci_iounmap(nic->card, nic->window);
  kfree(nic);
  clear_bit(0, &taken);
}

static int uvia_nic_prepare(struct uvia_nic *nic) {
  nic->window = pci_iomap(nic->card, 0, 0);
  nic->completions = alloc_page(GFP_KERNEL | __GFP_ZERO);
  if (!nic->window || !nic->completions) return -ENOMEM;
  nic->area = readl(nic->window + MESSAGE_SHARED + MESSAGE_POINTER);
  if (!nic->area || readl(uvia_nic_word(nic, CONTROL(magic))) != MESSAGE_MAGIC) return -ENODEV; // another firmware
  if (readl(uvia_nic_word(nic, CONTROL(in_use)))) return -EBUSY;                                // they did not close
  nic->completions_at = dma_map_page(&nic->card->dev, nic->completions, 0, PAGE_SIZE, DMA_FROM_DEVICE);
  if (!dma_mapping_error(&nic->card->dev, nic->completions_at)) return 0;
  nic->completions_at = 0;
  return -ENOMEM;
}

static int uvia_nic_open(struct uvia_sender *sender) {
  struct uvia_nic *nic;
  int status;

  if (!sender->device->dev.parent || !dev_is_pci(sender->device->dev.parent)) return -ENODEV;
  if (sender->regions || test_and_set_bit(0, &taken)) return -EBUSY;
  nic = kzalloc(sizeof(*nic), GFP_KERNEL);
  if (!nic) {
    clear_bit(0, &taken);
    return -ENOMEM;
  }
  nic->card = to_pci_dev(sender->device->dev.parent);
  status = uvia_nic_prepare(nic);
  if (status) {
    uvia_nic_free(nic);
    return status;
  }
  for (unsigned int n = 0; n < MESSAGE_PAGES; n++) uvia_nic_put(nic, offsetof(struct message_area, table) + 4 * n, 0);
  uvia_nic_put(nic, CONTROL(completions), nic->completions_at);
  uvia_nic_put(nic, CONTROL(peer_high), get_unaligned_be16(sender->peer));
  uvia_nic_put(nic, CONTROL(peer_low), get_unaligned_be32(sender->peer + 2));
  uvia_nic_put(nic, CONTROL(open), 1);
  uvia_nic_show_queues(nic);
  sender->of_path = nic;
  return 0;
}

// Enters the pages of registered memory into the table.  Returns the handle for the program's entries.
static int uvia_nic_enter(struct uvia_sender *sender, const struct uvia_memory *memory) {
  struct uvia_nic *nic = sender->of_path;
  const unsigned int handle = nic->pages;

  if (memory->count > MESSAGE_PAGES - handle) return -ENOSPC;
  for (unsigned int k = 0; k < memory->count; k++) {
    const dma_addr_t at = dma_map_page(&nic->card->dev, memory->pages[k], 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
    if (dma_mapping_error(&nic->card->dev, at)) return -ENOMEM; // what is mapped goes when the file is closed
    nic->page_at[nic->pages++] = at;
    uvia_nic_put(nic, offsetof(struct message_area, table) + 4 * (handle + k), at | (memory->count - k));
  }
  uvia_nic_show_queues(nic);
  return handle;
}

static int uvia_nic_map(struct uvia_sender *sender, struct vm_area_struct *area) {
  const struct uvia_nic *nic = sender->of_path;

  if (area->vm_pgoff == UVIA_COMPLETIONS / PAGE_SIZE) return vm_insert_page(area, area->vm_start, nic->completions);
  if (area->vm_pgoff != UVIA_WINDOW / PAGE_SIZE) return -EINVAL;
  area->vm_page_prot = pgprot_noncached(area->vm_page_prot);
  return io_remap_pfn_range(area, area->vm_start, pci_resource_start(nic->card, 0) >> PAGE_SHIFT, PAGE_SIZE,
                            area->vm_page_prot);
}

static void uvia_nic_close(struct uvia_sender *sender) {
  struct uvia_nic *nic = sender->of_path;
  u32 in_use;

  uvia_nic_put(nic, CONTROL(open), 0);
  if (readl(uvia_nic_word(nic, CONTROL(in_use)))) {
    writel(0, nic->window + MESSAGE_DOORBELL(MESSAGE_SEND_MAILBOX));
    if (readl_poll_timeout(uvia_nic_word(nic, CONTROL(in_use)), in_use, !in_use, 20, CLOSES_WITHIN)) {
      // The card may still read and write the program's pages: they are never given back.
      dev_err(&nic->card->dev, "message queues do not close\n");
      sender->regions = 0;
      return;
    }
  }
  uvia_nic_free(nic);
}

const struct uvia_path uvia_nic = {
    .open = uvia_nic_open, .enter = uvia_nic_enter, .map = uvia_nic_map, .close = uvia_nic_close};
