// Without an operating system: computes lines by the accelerator, awaits its interrupt, and compares each with the same
// line from a loop.  The exit status is 5 if all agree, else the number of the step that failed.
#include "registers.h"

#define DEVICE ((struct rule30 *)(0xa0000000u + MAP_RULE30_BASE))
#define POWER  ((volatile unsigned char *)(0xa0000000u + MAP_POWER_BASE))
enum { LENGTH = 88, WORDS = 3, LINES = 4, IP5 = 1 << 13 };

__asm__(".globl __start\n__start: lui $sp, 0x8100\nj main\nnop\n");

static unsigned pending(void) // interrupt lines, in the register Cause
{
  unsigned cause;
  __asm__ volatile("mfc0 %0, $13" : "=r"(cause));
  return cause;
}

static unsigned cell(const unsigned *line, int k) {
  k = (k + LENGTH) % LENGTH;
  return line[k / 32] >> k % 32 & 1;
}

static int same_line(const unsigned *line) {
  unsigned next[WORDS] = {0};
  for (int k = 0; k < LENGTH; k++)
    next[k / 32] |= (0x1eu >> (4 * cell(line, k - 1) + 2 * cell(line, k) + cell(line, k + 1)) & 1) << k % 32;
  const volatile unsigned *output = &DEVICE->output_0;
  for (int k = 0; k < WORDS; k++)
    if (output[k] != next[k]) return 0;
  return 1;
}

static int run(void) {
  unsigned line[WORDS] = {0x80000001, 0x00010000, 0x00800000};
  volatile unsigned *input = &DEVICE->input_0, *output = &DEVICE->output_0;
  if (DEVICE->version != 0x00010000 || DEVICE->irq_num != 5) return 1;
  DEVICE->line_length = LENGTH;
  DEVICE->control = RULE30_CONTROL_NOTIFY;
  for (int n = 0; n < LINES; n++) {
    for (int k = 0; k < WORDS; k++) input[k] = line[k];
    DEVICE->start_compute = RULE30_START_COMPUTE_START;
    while (!(pending() & IP5)) {
    }
    if (DEVICE->status != (RULE30_STATUS_COMPLETE | RULE30_STATUS_INTERRUPT)) return 2;
    DEVICE->status = RULE30_STATUS_COMPLETE | RULE30_STATUS_INTERRUPT;
    while (pending() & IP5) {
    }
    if (!same_line(line)) return 3;
    for (int k = 0; k < WORDS; k++) line[k] = output[k];
  }
  return 5;
}

int main(void) {
  POWER[4] = (unsigned char)run();
  POWER[0] = 0x42;
  for (;;) {
  }
}
