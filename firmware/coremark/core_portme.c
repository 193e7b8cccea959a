// CoreMark on a core without an operating system: its console and its end, what it prints, and where it begins.  With
// -DHOST the machine is examples/host, whose serial port and switch are in kseg1; else one with a `console` at
// 0xffff0000.
#include "coremark.h"
#include "marker.h"

#include <stdarg.h>
#include <stdbool.h>

#ifndef ITERATIONS
#define ITERATIONS 10
#endif

volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0,
                seed3_volatile = 0x66; // the validation run: its results are known
volatile ee_s32 seed4_volatile = ITERATIONS, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;
static bool failed;

#ifdef HOST
#define UART(n)  (*(volatile unsigned char *)(0xbf000900u + 8 * (n)))
#define POWER(n) (*(volatile uint32_t *)(0xbf000500u + (n)))
enum { DATA = 0, FIFOS = 2, LINE = 3, STATUS = 5, ROOM = 0x20, SENT = 0x40 };

static void put(char c) {
  while (!(UART(STATUS) & ROOM)) {
  }
  UART(DATA) = (unsigned char)c;
}

static void begin(void) {
  UART(LINE) = 3; // eight bits
  UART(FIFOS) = 1;
}

static void end(uint32_t status) {
  while (!(UART(STATUS) & SENT)) {
  }
  POWER(4) = status;
  POWER(0) = 0x42;
}
__asm__(".globl __start\n__start: lui $sp, 0x8180\njal run\nnop\n");
#else
#define CONSOLE ((volatile uint32_t *)0xffff0000u)
static void put(char c) {
  CONSOLE[0] = (unsigned char)c;
}
static void begin(void) {}
static void end(uint32_t status) {
  CONSOLE[1] = status;
}
#ifdef __riscv
__asm__(".globl _start\n_start: lui sp, 0x100\ncall run\n");
#else
__asm__(".globl __start\n__start: lui $sp, 0x0010\njal run\nnop\n");
#endif
#endif

int main(void);

void run(void) {
  begin();
  main();
  end(failed);
  for (;;) {
  }
}

void portable_init(core_portable *port, int *argc, char *argv[]) {
  (void)argc;
  (void)argv;
  port->portable_id = 1;
}

void portable_fini(core_portable *port) {
  port->portable_id = 0;
}

// Nothing in the machine is asked for the time: the simulator measures between the markers.
void start_time(void) {
  marker(1);
}
void stop_time(void) {
  marker(2);
}
CORE_TICKS get_time(void) {
  return 0;
}
secs_ret time_in_secs(CORE_TICKS ticks) {
  return ticks;
}

static int put_number(uint32_t value, uint32_t base, int width, char fill) {
  char digits[12];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[value % base];
  while ((value /= base));
  for (int n = count; n < width; n++) put(fill);
  for (int n = count; n--;) put(digits[n]);
  return count > width ? count : width;
}

static int put_text(const char *text) {
  int count = 0;
  for (; text[count]; count++) put(text[count]);
  return count;
}

// %d %u %x %s with a width and `l`, which is all that CoreMark prints.  What says "ERROR" makes the run fail.
int ee_printf(const char *format, ...) {
  va_list given;
  va_start(given, format);
  int count = 0;
  for (const char *at = format; *at; at++) {
    failed |= at[0] == 'E' && at[1] == 'R' && at[2] == 'R' && at[3] == 'O' && at[4] == 'R';
    if (*at != '%') {
      put(*at);
      count++;
      continue;
    }
    const char fill = at[1] == '0' ? '0' : ' ';
    int width = 0;
    for (at++; *at >= '0' && *at <= '9'; at++) width = 10 * width + *at - '0';
    if (*at == 'l') at++;
    if (*at == 's') {
      count += put_text(va_arg(given, const char *));
      continue;
    }
    uint32_t value = va_arg(given, uint32_t);
    if (*at == 'd' && (int32_t)value < 0) {
      put('-');
      value = -value;
    }
    count += put_number(value, *at == 'x' ? 16 : 10, width, fill);
  }
  va_end(given);
  return count;
}
