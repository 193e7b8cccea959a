// Value change dump (IEEE 1364): text, which every viewer reads.
#include "lss/runtime/wave/format.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

static FILE *file;
static int depth, code; // code: errno of the first write that failed
static uint32_t variables;

static void put(const char *text, size_t length) {
  if (fwrite_unlocked(text, 1, length, file) != length && !code) code = errno;
}

static void print(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void print(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  put(text, strlen(text));
}

// A variable's code: its number in the 94 printable characters.  Returns the length.
static size_t identifier(uint32_t variable, char *text) {
  size_t n = 0;
  for (; variable; variable = (variable - 1) / 94) text[n++] = (char)('!' + (variable - 1) % 94);
  return n;
}

static bool vcd_open(FILE *out, const char *path, int exponent) {
  static const char *const units[] = {"s", "ms", "us", "ns", "ps", "fs"};
  (void)path;
  file = out;
  print("$version Spinach $end\n$timescale 1 %s $end\n", units[-exponent / 3]);
  return true;
}

static void vcd_enter(const char *name, WaveScope kind) {
  (void)kind;
  print("%*s$scope module %s $end\n", depth++, "", name);
}

static void vcd_leave(void) {
  print("%*s$upscope $end\n", --depth, "");
}

static uint32_t vcd_declare(const char *name, const struct spinach_type *type, uint32_t width, uint32_t alias) {
  const uint32_t variable = alias ? alias : ++variables;
  char id[8] = {0};
  identifier(variable, id);
  if (!width)
    print("%*s$var real 64 %s %s $end\n", depth, "", id, name);
  else if (type->kind == SPINACH_INT)
    print("%*s$var integer %u %s %s $end\n", depth, "", width, id, name);
  else if (width > 1)
    print("%*s$var wire %u %s %s [%u:0] $end\n", depth, "", width, id, name, width - 1);
  else
    print("%*s$var wire 1 %s %s $end\n", depth, "", id, name);
  return variable;
}

static void vcd_begin(void) {
  print("$enddefinitions $end\n");
}

static void vcd_time(uint64_t instant) {
  char text[32];
  put(text, (size_t)g_snprintf(text, sizeof text, "#%" G_GUINT64_FORMAT "\n", instant));
}

static void vcd_bits(uint32_t variable, const char *bits, uint32_t count) {
  char id[8];
  const size_t length = identifier(variable, id);
  if (count > 1) {
    // Readers extend to the left: a 0 or 1 by zeros, a z by more of them.
    uint32_t skipped = bits[0] == 'z' ? count - 1 : 0;
    while (skipped + 1 < count && bits[skipped] == '0') skipped++;
    put("b", 1);
    put(bits + skipped, count - skipped);
    put(" ", 1);
  } else {
    put(bits, 1);
  }
  put(id, length);
  put("\n", 1);
}

static void vcd_real(uint32_t variable, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE], id[8] = {0};
  identifier(variable, id);
  print("r%s %s\n", g_ascii_dtostr(text, sizeof text, value), id);
}

static bool vcd_close(void) {
  if (fflush(file) && !code) code = errno;
  errno = code;
  return !code;
}

const WaveFormat wave_vcd = {vcd_open, vcd_enter, vcd_leave, vcd_declare, vcd_begin,
                             vcd_time, vcd_bits,  vcd_real,  vcd_close};
