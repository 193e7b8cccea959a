// Stands for a guest with the program `job`: at its prompt it waits for a line that ends in "job", takes the file
// job/run from the archive on the disk of jobs, and packs out/said, with that file's text, and the status, the number
// that the text begins with.  A line that ends in "use" reads the disk and prints the prompt again.
#define PAST_CACHES(address) (*(volatile unsigned *)(0xa0000000 | (address)))
#define BYTE(address)        (*(volatile unsigned char *)(0xa0000000 | (address)))
enum {
  UART = 0x1f000900,
  POWER = 0x1f000500,
  VIRTIO = 0x1f002200,
  SIZE = 4,
  NEXT = 1,
  WRITABLE = 2,
  READ = 0,
  WRITE = 1,
  SECTOR = 512,
  PACKED = 8, // sectors of the results
};

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
static char in[SECTOR] __attribute__((aligned(64))), out[PACKED][SECTOR] __attribute__((aligned(64)));
static volatile unsigned char state;

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

static void request(unsigned kind, unsigned sector, char *buffer) {
  header.kind = kind;
  header.sector = sector;
  state = 255;
  describe(0, &header, 16, NEXT);
  describe(1, buffer, SECTOR, NEXT | (kind == READ ? WRITABLE : 0));
  describe(2, &state, 1, WRITABLE);
  available.ring[available.index % SIZE] = 0;
  __asm__ volatile("sync" ::: "memory");
  available.index++;
  __asm__ volatile("sync" ::: "memory");
  PAST_CACHES(VIRTIO + 0x50) = 0;
  while (used.index != available.index) {
  }
  __asm__ volatile("" ::: "memory");
  if (state != 0) end(3);
  PAST_CACHES(VIRTIO + 0x64) = 1;
}

static void print(const char *text) {
  while (*text) BYTE(UART) = (unsigned char)*text++;
}

// The last three characters of a line are "job".
static int asked(void) {
  char last[4] = "...";
  for (;;) {
    while (!(BYTE(UART + 0x28) & 1)) {
    }
    const char c = (char)BYTE(UART);
    if (c == '\n') return last[0] == 'j' ? 1 : last[0] == 'u' ? 2 : 0;
    last[0] = last[1];
    last[1] = last[2];
    last[2] = c;
  }
}

static void head(char *block, const char *name, char type, unsigned size) {
  unsigned sum = 0;
  for (unsigned k = 0; k < SECTOR; k++) block[k] = k >= 148 && k < 156 ? ' ' : 0;
  for (unsigned k = 0; name[k]; k++) block[k] = name[k];
  for (unsigned k = 0; k < 3; k++) block[100 + k] = "755"[k];
  for (unsigned k = 0; k < 11; k++) block[124 + k] = (char)('0' + (size >> 3 * (10 - k) & 7));
  block[156] = type;
  for (unsigned k = 0; k < 6; k++) block[257 + k] = "ustar"[k];
  block[263] = block[264] = '0';
  for (unsigned k = 0; k < SECTOR; k++) sum += (unsigned char)block[k];
  for (unsigned k = 0; k < 6; k++) block[148 + k] = (char)('0' + (sum >> 3 * (5 - k) & 7));
  block[154] = 0;
}

static int is_run(void) {
  for (unsigned k = 0; k < 8; k++)
    if (in[k] != "job/run"[k]) return 0;
  return 1;
}

int main(void) {
  unsigned sector = 0, size = 0, status = 0, digits = 0;
  begin();
  BYTE(UART + 0x18) = 3;
  BYTE(UART + 0x10) = 1;
  __asm__ volatile("lui $zero, 3");
  print("/ # ");
  for (int wish = asked(); wish != 1; wish = asked()) {
    for (unsigned k = 0; wish == 2 && k < 16; k++) request(READ, k, in);
    print("/ # ");
  }
  do request(READ, sector++, in);
  while (!is_run());
  for (unsigned k = 0; k < 11; k++) size = size << 3 | (unsigned)(in[124 + k] - '0');
  request(READ, sector, in);
  for (; in[digits] >= '0' && in[digits] <= '9'; digits++) status = 10 * status + (unsigned)(in[digits] - '0');
  head(out[0], "out/", '5', 0);
  head(out[1], "out/said", '0', size);
  for (unsigned k = 0; k < size; k++) out[2][k] = in[k];
  head(out[3], "status", '0', digits + 1);
  for (unsigned k = 0; k < digits; k++) out[4][k] = in[k];
  out[4][digits] = '\n';
  for (unsigned k = 0; k < PACKED; k++) request(WRITE, k, out[k]);
  in[size] = 0;
  print(in);
  end(status);
}
