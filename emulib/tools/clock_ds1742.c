/* The functional clock; see clock_ds1742.h.  Reference: Maxim, DS1742 Y2KC Nonvolatile Timekeeping RAM.  Mostek's 48T02
 * has the same registers, but for the century. */
#include "clock_ds1742.h"

#include <string.h>

enum { CONTROL, SECONDS, MINUTES, HOURS, DAY, DATE, MONTH, YEAR };
enum { HOLD_TO_READ = 0x40, HOLD_TO_WRITE = 0x80, CENTURY = 0x3f, BATTERY_GOOD = 0x80 };

static guint8 to_bcd(int n) {
  return (guint8)(n / 10 << 4 | n % 10);
}

static int from_bcd(guint8 n) {
  return (n >> 4) * 10 + (n & 15);
}

static guint8 *registers(ClockDs1742 *clock) {
  return clock->memory + DS1742_SIZE - DS1742_REGISTERS;
}

/* The registers at a time. */
static void show(const ClockDs1742 *clock, gint64 now, guint8 shown[DS1742_REGISTERS]) {
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(clock->offset + now);
  const int year = g_date_time_get_year(time);
  shown[CONTROL] = to_bcd(year / 100) & CENTURY;
  shown[SECONDS] = to_bcd(g_date_time_get_second(time));
  shown[MINUTES] = to_bcd(g_date_time_get_minute(time));
  shown[HOURS] = to_bcd(g_date_time_get_hour(time));
  shown[DAY] = BATTERY_GOOD | to_bcd(g_date_time_get_day_of_week(time));
  shown[DATE] = to_bcd(g_date_time_get_day_of_month(time));
  shown[MONTH] = to_bcd(g_date_time_get_month(time));
  shown[YEAR] = to_bcd(year % 100);
}

/* The time that the registers say; one that there is not changes nothing. */
static void set(ClockDs1742 *clock, gint64 now) {
  const guint8 *r = registers(clock);
  g_autoptr(GDateTime) time = g_date_time_new_utc(
      from_bcd(r[CONTROL] & CENTURY) * 100 + from_bcd(r[YEAR]), from_bcd(r[MONTH] & 0x1f), from_bcd(r[DATE] & 0x3f),
      from_bcd(r[HOURS] & 0x3f), from_bcd(r[MINUTES] & 0x7f), from_bcd(r[SECONDS] & 0x7f));
  if (time != NULL) clock->offset = g_date_time_to_unix(time) - now;
}

void clock_ds1742_init(ClockDs1742 *clock, gint64 start) {
  memset(clock, 0, sizeof *clock);
  clock->offset = start;
}

guint8 clock_ds1742_read(const ClockDs1742 *clock, gint64 now, unsigned offset) {
  const unsigned first = DS1742_SIZE - DS1742_REGISTERS;
  const gboolean held = (clock->memory[first] & (HOLD_TO_READ | HOLD_TO_WRITE)) != 0;
  if (offset < first || held) return clock->memory[offset];
  guint8 shown[DS1742_REGISTERS];
  show(clock, now, shown);
  return shown[offset - first];
}

void clock_ds1742_write(ClockDs1742 *clock, gint64 now, unsigned offset, guint8 value) {
  const unsigned first = DS1742_SIZE - DS1742_REGISTERS;
  guint8 *control = &registers(clock)[CONTROL];
  const guint8 held = *control & (HOLD_TO_READ | HOLD_TO_WRITE);
  if (offset != first) {
    if (offset < first || (held & HOLD_TO_WRITE)) clock->memory[offset] = value;
    return;
  }
  if (held == 0) show(clock, now, registers(clock));
  if (held & HOLD_TO_WRITE) {
    *control = (guint8)((*control & ~CENTURY) | (value & CENTURY));
    if (!(value & HOLD_TO_WRITE)) set(clock, now);
  }
  *control = (guint8)((*control & CENTURY) | (value & (HOLD_TO_READ | HOLD_TO_WRITE)));
}
