// A date in BCD; see rtc_registers.h.  Reference: Maxim, DS1742 Y2KC Nonvolatile Timekeeping RAM.
#include "rtc_registers.h"

#include <glib.h>

static uint8_t to_bcd(int n) {
  return (uint8_t)(n / 10 << 4 | n % 10);
}

static int from_bcd(uint8_t n) {
  return (n >> 4) * 10 + (n & 15);
}

void rtc_registers_show(int64_t time, uint8_t registers[RTC_REGISTERS]) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time);
  const int year = g_date_time_get_year(date);
  registers[RTC_CONTROL] = to_bcd(year / 100) & RTC_CENTURY;
  registers[RTC_SECONDS] = to_bcd(g_date_time_get_second(date));
  registers[RTC_MINUTES] = to_bcd(g_date_time_get_minute(date));
  registers[RTC_HOURS] = to_bcd(g_date_time_get_hour(date));
  registers[RTC_DAY] = RTC_BATTERY_GOOD | to_bcd(g_date_time_get_day_of_week(date));
  registers[RTC_DATE] = to_bcd(g_date_time_get_day_of_month(date));
  registers[RTC_MONTH] = to_bcd(g_date_time_get_month(date));
  registers[RTC_YEAR] = to_bcd(year % 100);
}

bool rtc_registers_time(const uint8_t r[RTC_REGISTERS], int64_t *time) {
  g_autoptr(GDateTime) date =
      g_date_time_new_utc(from_bcd(r[RTC_CONTROL] & RTC_CENTURY) * 100 + from_bcd(r[RTC_YEAR]),
                          from_bcd(r[RTC_MONTH] & 0x1f), from_bcd(r[RTC_DATE] & 0x3f), from_bcd(r[RTC_HOURS] & 0x3f),
                          from_bcd(r[RTC_MINUTES] & 0x7f), from_bcd(r[RTC_SECONDS] & 0x7f));
  if (date != NULL) *time = g_date_time_to_unix(date);
  return date != NULL;
}
