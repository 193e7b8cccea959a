// A driver of a virtio disk of the host machine without an operating system: one queue that it polls, in memory that
// caches keep.  Who includes it defines VIRTIO, the address of the slot, and main(), where the program begins.
#ifndef TESTS_HOST_VIRTIO_DISK_H
#define TESTS_HOST_VIRTIO_DISK_H

#define PAST_CACHES(address) (*(volatile unsigned *)(0xa0000000 | (address)))
#define BYTE(address)        (*(volatile unsigned char *)(0xa0000000 | (address)))
enum { UART = 0x1f000900, POWER = 0x1f000500, SIZE = 4, NEXT = 1, WRITABLE = 2, READ = 0, WRITE = 1, SECTOR = 512 };

__asm__(".globl __start\n__start: lui $sp, 0x8020\nj main\nnop\n");

static struct {
  unsigned address, high, length;
  unsigned short flags, next;
} table[SIZE] __attribute__((aligned(16)));
static volatile struct {
  unsigned short flags, index, ring[SIZE];
} available __attribute__((aligned(4)));
static volatile struct {
  unsigned short flags, index;
  struct {
    unsigned head, length;
  } ring[SIZE];
} used __attribute__((aligned(4)));
static struct {
  unsigned kind, reserved, sector, high;
} header;
static volatile unsigned char status;

static unsigned physical(const volatile void *p) {
  return (unsigned)p & 0x1fffffff;
}

__attribute__((noreturn)) static void end(unsigned code) {
  PAST_CACHES(POWER + 4) = code;
  PAST_CACHES(POWER) = 0x42;
  for (;;) {
  }
}

static void describe(int k, const volatile void *p, unsigned length, unsigned flags) {
  table[k].address = physical(p);
  table[k].length = length;
  table[k].flags = (unsigned short)flags;
  table[k].next = (unsigned short)(k + 1);
}

static void begin(void) {
  static const unsigned writes[][2] = {{0x70, 0}, {0x70, 3}, {0x24, 1}, {0x20, 1}, {0x70, 11}, {0x30, 0}, {0x38, SIZE}};
  if (PAST_CACHES(VIRTIO) != 0x74726976) end(2);
  for (unsigned k = 0; k < sizeof writes / sizeof *writes; k++) PAST_CACHES(VIRTIO + writes[k][0]) = writes[k][1];
  PAST_CACHES(VIRTIO + 0x80) = physical(table);
  PAST_CACHES(VIRTIO + 0x90) = physical(&available);
  PAST_CACHES(VIRTIO + 0xa0) = physical(&used);
  PAST_CACHES(VIRTIO + 0x44) = 1;
  PAST_CACHES(VIRTIO + 0x70) = 15;
}

static void request(unsigned kind, unsigned sector, void *buffer) {
  header.kind = kind;
  header.sector = sector;
  status = 255;
  describe(0, &header, 16, NEXT);
  describe(1, buffer, SECTOR, NEXT | (kind == READ ? WRITABLE : 0));
  describe(2, &status, 1, WRITABLE);
  available.ring[available.index % SIZE] = 0;
  __asm__ volatile("sync" ::: "memory");
  available.index++;
  __asm__ volatile("sync" ::: "memory");
  PAST_CACHES(VIRTIO + 0x50) = 0;
  while (used.index != available.index) {
  }
  __asm__ volatile("" ::: "memory");
  if (status != 0) end(3);
  PAST_CACHES(VIRTIO + 0x64) = 1;
}

#endif
