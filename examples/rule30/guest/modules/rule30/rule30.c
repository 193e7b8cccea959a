// SPDX-License-Identifier: MIT
// The Linux driver of the rule-30 accelerator: a character device, /dev/rule30 (requests.h).  The parameters of the
// module select what drivers often do at first: a buffer that is allocated in each call, and a call for each word.
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "registers.h"
#include "requests.h"

static bool allocate;
module_param(allocate, bool, 0444);
MODULE_PARM_DESC(allocate, "read() and write() allocate their buffer");
static bool wordwise;
module_param(wordwise, bool, 0444);
MODULE_PARM_DESC(wordwise, "read() and write() take one word in each call");

#define LINE_WORDS 32

static struct resource *region;
static struct rule30 __iomem *registers;
static unsigned long in_use; // bit 0: a program has the device open
static u32 line_buffer[LINE_WORDS];
static unsigned int next_input, next_output; // words of the next calls, if each takes one word
static bool is_complete;
static DECLARE_WAIT_QUEUE_HEAD(completion);

static irqreturn_t rule30_interrupt(int number, void *unused) {
  if (!(readl(&registers->status) & RULE30_STATUS_INTERRUPT)) return IRQ_NONE;
  writel(RULE30_STATUS_INTERRUPT, &registers->status);
  is_complete = true;
  wake_up_interruptible(&completion);
  return IRQ_HANDLED;
}

// The words that a call of `size` bytes takes, and the first of them.
static unsigned int rule30_words(size_t size, unsigned int *next, unsigned int *first) {
  *first = 0;
  if (!wordwise) return min_t(size_t, size / sizeof(u32), LINE_WORDS);
  *first = (*next)++ % LINE_WORDS;
  return size >= sizeof(u32);
}

static u32 *rule30_buffer(void) {
  return allocate ? kmalloc(sizeof(line_buffer), GFP_KERNEL) : line_buffer;
}

static void rule30_release_buffer(u32 *line) {
  if (allocate) kfree(line);
}

static ssize_t rule30_write(struct file *file, const char __user *from, size_t size, loff_t *at) {
  unsigned int first;
  const unsigned int words = rule30_words(size, &next_input, &first);
  u32 *line = rule30_buffer();
  ssize_t done = words * sizeof(u32);

  if (!line) return -ENOMEM;
  if (copy_from_user(line, from, done)) done = -EFAULT;
  for (unsigned int k = 0; done > 0 && k < words; k++) writel(line[k], &registers->input_0 + first + k);
  rule30_release_buffer(line);
  return done;
}

static ssize_t rule30_read(struct file *file, char __user *to, size_t size, loff_t *at) {
  unsigned int first;
  const unsigned int words = rule30_words(size, &next_output, &first);
  u32 *line = rule30_buffer();
  ssize_t done = words * sizeof(u32);

  if (!line) return -ENOMEM;
  for (unsigned int k = 0; k < words; k++) line[k] = readl(&registers->output_0 + first + k);
  if (copy_to_user(to, line, done)) done = -EFAULT;
  rule30_release_buffer(line);
  return done;
}

static long rule30_compute(void) {
  long status;

  next_input = next_output = 0;
  is_complete = false;
  writel(RULE30_START_COMPUTE_START, &registers->start_compute);
  status = wait_event_interruptible(completion, is_complete);
  writel(RULE30_STATUS_COMPLETE, &registers->status);
  return status;
}

static long rule30_ioctl(struct file *file, unsigned int request, unsigned long value) {
  switch (request) {
  case RULE30_SET_LENGTH: writel(value, &registers->line_length); return 0;
  case RULE30_SET_CONTROL: writel(value, &registers->control); return 0;
  case RULE30_COMPUTE: return rule30_compute();
  }
  return -ENOTTY;
}

static int rule30_mmap(struct file *file, struct vm_area_struct *area) {
  if (area->vm_pgoff || area->vm_end - area->vm_start > PAGE_SIZE) return -EINVAL;
  area->vm_page_prot = pgprot_noncached(area->vm_page_prot);
  return io_remap_pfn_range(area, area->vm_start, region->start >> PAGE_SHIFT, PAGE_SIZE, area->vm_page_prot);
}

static int rule30_open(struct inode *node, struct file *file) {
  if (test_and_set_bit(0, &in_use)) return -EBUSY;
  writel(1, &registers->reset);
  next_input = next_output = 0;
  return 0;
}

static int rule30_close(struct inode *node, struct file *file) {
  writel(1, &registers->reset); // no interrupt comes any more
  clear_bit(0, &in_use);
  return 0;
}

static const struct file_operations rule30_operations = {
    .owner = THIS_MODULE,
    .open = rule30_open,
    .release = rule30_close,
    .write = rule30_write,
    .read = rule30_read,
    .unlocked_ioctl = rule30_ioctl,
    .mmap = rule30_mmap,
};
static struct miscdevice rule30_device = {.minor = MISC_DYNAMIC_MINOR, .name = "rule30", .fops = &rule30_operations};

static int rule30_probe(struct platform_device *device) {
  const int number = platform_get_irq(device, 0);
  int status;

  if (number < 0) return number;
  registers = devm_platform_get_and_ioremap_resource(device, 0, &region);
  if (IS_ERR(registers)) return PTR_ERR(registers);
  status = devm_request_irq(&device->dev, number, rule30_interrupt, 0, "rule30", &rule30_device);
  if (status) return status;
  dev_info(&device->dev, "version %#x\n", readl(&registers->version));
  return misc_register(&rule30_device);
}

static int rule30_remove(struct platform_device *device) {
  misc_deregister(&rule30_device);
  return 0;
}

static const struct of_device_id rule30_known[] = {{.compatible = "spinach,rule30"}, {}};
MODULE_DEVICE_TABLE(of, rule30_known);
static struct platform_driver rule30_driver = {
    .probe = rule30_probe,
    .remove = rule30_remove,
    .driver = {.name = "rule30", .of_match_table = rule30_known},
};
module_platform_driver(rule30_driver);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Rule-30 accelerator");
