// What a compiled device tree (a "flattened device tree", Devicetree Specification 0.4, chapter 5) says of the machine
// it was made for, as far as a boot loader can compare it with the machine it is on: the clock of the processors, the
// memory, and where the initramfs is.  Free of GLib, for simulated boot loaders.
#ifndef EMULIB_DEVICE_TREE_H
#define EMULIB_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_TREE_MAGIC = 0xd00dfeed };

typedef struct {
  bool has_clock;
  uint64_t clock_hz; // of the first node below /cpus: its clock-frequency, or that of the fixed clock it refers to
  bool has_memory;
  uint64_t memory_end; // the end of the last region of /memory, in bytes from address 0
  bool has_initramfs;
  uint64_t initramfs_start, initramfs_end; // as the kernel addresses them
} DeviceTree;

// Returns NULL, or why the bytes are no device tree.
const char *device_tree_read(const uint8_t *bytes, size_t size, DeviceTree *tree);

#endif
