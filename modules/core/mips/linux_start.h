// What linux_start knows of MIPS and of device trees; see linux_start.lss.
#ifndef LINUX_START_H
#define LINUX_START_H

#include <stdint.h>

enum linux_file { LINUX_KERNEL, LINUX_TREE, LINUX_INITRAMFS, LINUX_FILES };

enum {
  LINUX_PIECES = 18, // 16 segments, the tree, the file system
  LINUX_TREE_ALIGNMENT = 0x10000,
  LINUX_ROM_SIZE = 0x1000,
  LINUX_CODE = 10, // words of the boot ROM
};

// What kseg0 and kseg1 are windows of.
static inline uint32_t linux_physical(uint32_t address) {
  return address >> 30 == 2 ? address & 0x1fffffff : address;
}

static inline uint32_t linux_lui(uint32_t target, uint32_t value) {
  return 0x3c000000 | target << 16 | value >> 16;
}

static inline uint32_t linux_ori(uint32_t target, uint32_t value) {
  return 0x34000000 | target << 21 | target << 16 | (value & 0xffff);
}

// addiu of a0, lui and ori of a1, lui and ori of t9, kseg0 cached, jr t9, nop.
static inline void linux_boot_code(uint32_t code[LINUX_CODE], uint32_t entry, uint32_t tree) {
  enum { A0 = 4, A1 = 5, T0 = 8, T9 = 25, DEVICE_TREE = -2, CACHED = 3, CONFIG = 16 };
  const uint32_t a0 = tree ? (uint32_t)DEVICE_TREE : 0;
  code[0] = 0x24000000 | A0 << 16 | (a0 & 0xffff); // addiu
  code[1] = linux_lui(A1, tree);
  code[2] = linux_ori(A1, tree);
  code[3] = linux_lui(T9, entry);
  code[4] = linux_ori(T9, entry);
  code[5] = 0x24000000 | T0 << 16 | CACHED;       // addiu
  code[6] = 0x40800000 | T0 << 16 | CONFIG << 11; // mtc0
  code[7] = 0x00000008 | T9 << 21;                // jr
  code[8] = code[9] = 0;
}

#endif
