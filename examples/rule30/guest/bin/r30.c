// r30 MODE CELLS PACKETS [LINES]: computes the lines of a cellular automaton that follows rule 30, in one of these
// modes:
//   char      by software, a byte for each cell
//   bit       by software, a bit for each cell: each word is read once and written once
//   hw        by the accelerator and its driver
//   hwo       the same, but the accelerator takes its output as the next input
//   hw-mmap   by the registers of the accelerator, mapped into the program, which polls them; interrupts come, too
//   hw-poll   the same without interrupts
// A packet is a first line of CELLS random cells, from which LINES more are computed, 99 if nothing else is said.  One
// packet is computed in the mode and by `char`, and compared cell by cell.  PACKETS packets follow.  Markers 1 and 2
// enclose them, 4 and 5 enclose the lines of each.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../modules/rule30/requests.h"
#include "marker.h"
#include "registers.h"

#define MOST_CELLS 1024
#define RULE       30

static const uint8_t g_rules_array[8] = {0, 1, 1, 1, 1, 0, 0, 0};
static char bytes[2][MOST_CELLS];          // lines, a byte for each cell: the even ones, the odd ones
static uint32_t words[2][MOST_CELLS / 32]; // lines, a bit for each cell
static int cells, words_to_process;        // length of a line
static int device;                         // the accelerator's file
static volatile uint32_t *registers;       // its registers

// The text of the paper (its figure 4).
__attribute__((noinline)) static void char_line(char *dest, const char *source, int line_length) {
  int i;
  for (i = 0; i < line_length; i++) {
    int bit_left_index = (i == 0) ? (line_length - 1) : (i - 1);
    char bit_left = source[bit_left_index];
    char bit_mid = source[i];
    char bit_right = source[(i + 1) % line_length];
    int index = bit_left * 4 + bit_mid * 2 + bit_right;
    dest[i] = g_rules_array[index];
  }
}

__attribute__((noinline)) static void bit_line(uint32_t *dest, const uint32_t *source, int line_length) {
  const int last = (line_length - 1) / 32;
  uint32_t left = source[last] >> (line_length - 1) % 32; // bit 0: the left neighbour of the next word's first cell
  uint32_t word = source[0];
  const uint32_t first = word;
  for (int w = 0; w <= last; w++) {
    const int bits = w < last ? 32 : line_length - 32 * w;
    const uint32_t right = w < last ? source[w + 1] : first; // bit 0: the right neighbour of this word's last cell
    uint32_t out = 0;
    for (int b = 0; b < bits; b++) {
      const uint32_t bit_left = b == 0 ? left & 1 : word >> (b - 1) & 1;
      const uint32_t bit_mid = word >> b & 1;
      const uint32_t bit_right = b == bits - 1 ? right & 1 : word >> (b + 1) & 1;
      out |= (RULE >> (bit_left * 4 + bit_mid * 2 + bit_right) & 1u) << b;
    }
    dest[w] = out;
    left = word >> (bits - 1);
    word = right;
  }
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

// The driver takes a line in one call, or a word.
static void hw_line(uint32_t *dest, const uint32_t *source) {
  const int size = 4 * words_to_process;
  int done;
  for (int at = 0; source && at < size; at += done) {
    if ((done = write(device, (const char *)source + at, size - at)) <= 0) fail("/dev/rule30: write");
  }
  if (ioctl(device, RULE30_COMPUTE)) fail("/dev/rule30: compute");
  for (int at = 0; at < size; at += done) {
    if ((done = read(device, (char *)dest + at, size - at)) <= 0) fail("/dev/rule30: read");
  }
}

static void write_register(volatile uint32_t *va, int at, uint32_t value) {
  va[at / 4] = value;
}
static uint32_t read_register(volatile uint32_t *va, int at) {
  return va[at / 4];
}

// The text of the paper (its figure 14).
__attribute__((noinline)) static void mmap_line(uint32_t *out_line, const uint32_t *in_line) {
  int i;
  for (i = 0; i < words_to_process; i++) write_register(registers, RULE30_INPUT_0 + 4 * i, in_line[i]);
  write_register(registers, RULE30_START_COMPUTE, RULE30_START_COMPUTE_START);
  while ((read_register(registers, RULE30_STATUS) & RULE30_STATUS_COMPLETE) == 0) {
  }
  write_register(registers, RULE30_STATUS, RULE30_STATUS_COMPLETE);
  for (i = 0; i < words_to_process; i++) out_line[i] = read_register(registers, RULE30_OUTPUT_0 + 4 * i);
}

enum mode { CHAR, BIT, HW, HWO, HW_MMAP, HW_POLL, MODES };
static const char *const modes[MODES] = {"char", "bit", "hw", "hwo", "hw-mmap", "hw-poll"};

// The lines of a packet, whose first is at 0.
static void packet(enum mode mode, int lines) {
  for (int k = 0; k < lines; k++) {
    const int to = ~k & 1;
    switch (mode) {
    case CHAR: char_line(bytes[to], bytes[!to], cells); break;
    case BIT: bit_line(words[to], words[!to], cells); break;
    case HW: hw_line(words[to], words[!to]); break;
    case HWO: hw_line(words[to], k == 0 ? words[0] : NULL); break;
    default: mmap_line(words[to], words[!to]);
    }
  }
}

static void fill(void) {
  static uint32_t random = 12345;
  memset(words[0], 0, sizeof words[0]);
  for (int i = 0; i < cells; i++) {
    random = random * 1664525u + 1013904223u;
    bytes[0][i] = random >> 16 & 1;
    words[0][i / 32] |= (uint32_t)bytes[0][i] << i % 32;
  }
}

// Compares a packet with that of `char`.
static void verify(enum mode mode, int lines) {
  fill();
  packet(mode, lines);
  packet(CHAR, lines);
  const uint32_t *result = words[lines & 1];
  for (int i = 0; mode != CHAR && i < cells; i++) {
    if ((result[i / 32] >> i % 32 & 1) == (uint32_t)bytes[lines & 1][i]) continue;
    printf("r30: %s: cell %d of line %d is wrong\n", modes[mode], i, lines);
    exit(1);
  }
}

static void open_device(enum mode mode) {
  if (mode < HW) return;
  device = open("/dev/rule30", O_RDWR);
  if (device < 0) fail("/dev/rule30");
  if (ioctl(device, RULE30_SET_LENGTH, cells)) fail("/dev/rule30: length");
  const unsigned control = (mode == HW_POLL ? 0 : RULE30_CONTROL_NOTIFY) | (mode == HWO ? RULE30_CONTROL_CHAIN : 0);
  if (ioctl(device, RULE30_SET_CONTROL, control)) fail("/dev/rule30: control");
  registers = mmap(NULL, MAP_RULE30_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
  if (registers == MAP_FAILED) fail("/dev/rule30: mmap");
}

static int number(const char *name, const char *text, long most) {
  char *end;
  const long value = strtol(text, &end, 0);
  if (*text && !*end && value >= 1 && value <= most) return value;
  fprintf(stderr, "r30: %s is 1 to %ld, not '%s'\n", name, most, text);
  exit(2);
}

int main(int argc, char **argv) {
  int mode = 0;
  while (mode < MODES && (argc < 4 || strcmp(argv[1], modes[mode]))) mode++;
  if (mode == MODES || argc > 5) {
    fprintf(stderr, "usage: r30 char|bit|hw|hwo|hw-mmap|hw-poll CELLS PACKETS [LINES]\n");
    return 2;
  }
  cells = number("CELLS", argv[2], MOST_CELLS);
  words_to_process = (cells + 31) / 32;
  const int packets = number("PACKETS", argv[3], 1000000), lines = argc > 4 ? number("LINES", argv[4], 1000000) : 99;
  open_device(mode);
  verify(mode, lines);
  marker(1);
  for (int k = 0; k < packets; k++) {
    fill();
    marker(4);
    packet(mode, lines);
    marker(5);
  }
  marker(2);
  puts("r30: done");
  return 0;
}
