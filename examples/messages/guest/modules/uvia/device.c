// SPDX-License-Identifier: MIT
// The device file of user-level messages, /dev/uvia (requests.h), for the network interface eth0: what the kernel agent
// of M-VIA is.  It also lets `ethtool` switch the interface's checksums off, which the driver acenic does not offer.
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "uvia.h"

static const struct uvia_path *const paths[UVIA_PATHS] = {
    [UVIA_COPIED] = &uvia_copied, [UVIA_MAPPED] = &uvia_mapped, [UVIA_NIC] = &uvia_nic};
static struct net_device *interface;

static int uvia_open(struct inode *node, struct file *file) {
  struct uvia_sender *sender = kzalloc(sizeof(*sender), GFP_KERNEL);

  if (!sender) return -ENOMEM;
  sender->queue = (void *)get_zeroed_page(GFP_KERNEL);
  if (!sender->queue) {
    kfree(sender);
    return -ENOMEM;
  }
  sender->device = interface;
  ether_addr_copy(sender->peer, (const u8[]){2, 0, 0, 0, 0, 2}); // the station next to the host, by default
  mutex_init(&sender->lock);
  file->private_data = sender;
  return 0;
}

static int uvia_close(struct inode *node, struct file *file) {
  struct uvia_sender *sender = file->private_data;

  if (sender->path) sender->path->close(sender);
  while (sender->regions) uvia_release(&sender->memory[--sender->regions]);
  free_page((unsigned long)sender->queue);
  kfree(sender);
  return 0;
}

static int uvia_mmap(struct file *file, struct vm_area_struct *area) {
  struct uvia_sender *sender = file->private_data;

  if (area->vm_end - area->vm_start > PAGE_SIZE) return -EINVAL;
  if (area->vm_pgoff) return sender->path && sender->path->map ? sender->path->map(sender, area) : -EINVAL;
  return vm_insert_page(area, area->vm_start, virt_to_page(sender->queue));
}

// What was sent may be changed.
static void uvia_done(struct uvia_sender *sender) {
  while (sender->done != sender->sent) WRITE_ONCE(sender->queue[sender->done++ % UVIA_ENTRIES].flags, UVIA_DONE);
}

// Sends what was posted.  A descriptor is read once: the program may change it at any time.
static noinline long uvia_ring_bell(struct uvia_sender *sender, unsigned int posted) {
  if (!sender->path || !sender->path->send) return -ENXIO;
  if (posted - sender->sent > UVIA_ENTRIES - (sender->sent - sender->done)) return -EINVAL;
  while (sender->sent != posted) {
    const struct uvia_descriptor *entry = &sender->queue[sender->sent % UVIA_ENTRIES];
    const struct uvia_descriptor descriptor = {READ_ONCE(entry->buffer), READ_ONCE(entry->offset),
                                               READ_ONCE(entry->length), 0};
    const struct uvia_memory *memory;
    int status;

    if (descriptor.buffer >= sender->regions) return -EINVAL;
    memory = &sender->memory[descriptor.buffer];
    if (!descriptor.length || descriptor.length > memory->length) return -EINVAL;
    if (descriptor.offset > memory->length - descriptor.length) return -EINVAL;
    status = sender->path->send(sender, memory, &descriptor);
    if (status) return status;
    sender->sent++;
    if (!sender->path->wait) uvia_done(sender);
  }
  return 0;
}

static long uvia_wait(struct uvia_sender *sender) {
  const int status = sender->path && sender->path->wait ? sender->path->wait(sender) : 0;

  if (!status) uvia_done(sender);
  return status;
}

static long uvia_add_memory(struct uvia_sender *sender, const void __user *argument) {
  struct uvia_memory *memory = &sender->memory[sender->regions];
  struct uvia_region region;
  int status;

  if (copy_from_user(&region, argument, sizeof(region))) return -EFAULT;
  if (sender->regions == UVIA_REGIONS) return -ENOSPC;
  status = uvia_register(memory, &region);
  if (status) return status;
  sender->regions++;
  return sender->path && sender->path->enter ? sender->path->enter(sender, memory) : sender->regions - 1;
}

static long uvia_set_path(struct uvia_sender *sender, unsigned long number) {
  int status;

  if (number >= UVIA_PATHS) return -EINVAL;
  if (sender->path) return -EBUSY;
  status = paths[number]->open(sender);
  if (!status) sender->path = paths[number];
  return status;
}

static long uvia_set_peer(struct uvia_sender *sender, const void __user *argument) {
  if (sender->path) return -EBUSY;
  return copy_from_user(sender->peer, argument, ETH_ALEN) ? -EFAULT : 0;
}

static long uvia_request(struct uvia_sender *sender, unsigned int request, unsigned long argument) {
  switch (request) {
  case UVIA_RING_BELL: return uvia_ring_bell(sender, argument);
  case UVIA_WAIT: return uvia_wait(sender);
  case UVIA_REGISTER: return uvia_add_memory(sender, (const void __user *)argument);
  case UVIA_SET_PATH: return uvia_set_path(sender, argument);
  case UVIA_SET_PEER: return uvia_set_peer(sender, (const void __user *)argument);
  }
  return -ENOTTY;
}

static long uvia_ioctl(struct file *file, unsigned int request, unsigned long argument) {
  struct uvia_sender *sender = file->private_data;
  long status;

  if (mutex_lock_interruptible(&sender->lock)) return -EINTR; // another thread of the program sends
  status = uvia_request(sender, request, argument);
  mutex_unlock(&sender->lock);
  return status;
}

static const struct file_operations uvia_operations = {
    .owner = THIS_MODULE,
    .open = uvia_open,
    .release = uvia_close,
    .mmap = uvia_mmap,
    .unlocked_ioctl = uvia_ioctl,
};
static struct miscdevice uvia_device = {.minor = MISC_DYNAMIC_MINOR, .name = "uvia", .fops = &uvia_operations};

// The features of the interface that ethtool may change; they stay as they are.
static void uvia_offer_checksums(bool offers) {
  rtnl_lock();
  if (offers) {
    interface->hw_features |= NETIF_F_IP_CSUM;
    interface->wanted_features |= interface->features & NETIF_F_IP_CSUM;
  } else {
    interface->hw_features &= ~NETIF_F_IP_CSUM;
  }
  rtnl_unlock();
}

static int __init uvia_init(void) {
  int status;

  interface = dev_get_by_name(&init_net, "eth0");
  if (!interface) return -ENODEV;
  status = interface->priv_flags & IFF_TX_SKB_SHARING ? misc_register(&uvia_device) : -EOPNOTSUPP;
  if (status)
    dev_put(interface);
  else
    uvia_offer_checksums(true);
  return status;
}

static void __exit uvia_exit(void) {
  uvia_offer_checksums(false);
  misc_deregister(&uvia_device);
  dev_put(interface);
}

module_init(uvia_init);
module_exit(uvia_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Messages of a program to a network interface, without protocols");
