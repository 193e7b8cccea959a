// The functional clock; see clock_ds1742.h.  Reference: Maxim, DS1742 Y2KC Nonvolatile Timekeeping RAM.  Mostek's 48T02
// has the same registers, but for the century.
#include "clock_ds1742.h"

#include <string.h>

static guint8 *registers(ClockDs1742 *clock) {
  return clock->memory + DS1742_SIZE - RTC_REGISTERS;
}

// The time that the registers say; one that there is not changes nothing.
static void set(ClockDs1742 *clock, gint64 now) {
  gint64 time;
  if (rtc_registers_time(registers(clock), &time)) clock->offset = time - now;
}

void clock_ds1742_init(ClockDs1742 *clock, gint64 start) {
  memset(clock, 0, sizeof *clock);
  clock->offset = start;
}

guint8 clock_ds1742_read(const ClockDs1742 *clock, gint64 now, unsigned offset) {
  const unsigned first = DS1742_SIZE - RTC_REGISTERS;
  const gboolean held = (clock->memory[first] & (RTC_HOLD_TO_READ | RTC_HOLD_TO_WRITE)) != 0;
  if (offset < first || held) return clock->memory[offset];
  guint8 shown[RTC_REGISTERS];
  rtc_registers_show(clock->offset + now, shown);
  return shown[offset - first];
}

void clock_ds1742_write(ClockDs1742 *clock, gint64 now, unsigned offset, guint8 value) {
  const unsigned first = DS1742_SIZE - RTC_REGISTERS;
  guint8 *control = &registers(clock)[RTC_CONTROL];
  const guint8 held = *control & (RTC_HOLD_TO_READ | RTC_HOLD_TO_WRITE);
  if (offset != first) {
    if (offset < first || (held & RTC_HOLD_TO_WRITE)) clock->memory[offset] = value;
    return;
  }
  if (held == 0) rtc_registers_show(clock->offset + now, registers(clock));
  if (held & RTC_HOLD_TO_WRITE) {
    *control = (guint8)((*control & ~RTC_CENTURY) | (value & RTC_CENTURY));
    if (!(value & RTC_HOLD_TO_WRITE)) set(clock, now);
  }
  *control = (guint8)((*control & RTC_CENTURY) | (value & (RTC_HOLD_TO_READ | RTC_HOLD_TO_WRITE)));
}
