// The registers of a clock that shows a date in BCD, as Mostek's 48T02 and Maxim's DS1742 have them in the last eight
// bytes of a memory.
#ifndef EMULIB_RTC_REGISTERS_H
#define EMULIB_RTC_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { RTC_CONTROL, RTC_SECONDS, RTC_MINUTES, RTC_HOURS, RTC_DAY, RTC_DATE, RTC_MONTH, RTC_YEAR, RTC_REGISTERS };

// Bits of the control register, whose others are the century; and of the day's: of the DS1742 only.
enum { RTC_HOLD_TO_READ = 0x40, RTC_HOLD_TO_WRITE = 0x80, RTC_CENTURY = 0x3f, RTC_BATTERY_GOOD = 0x80 };

// The registers at a time, in seconds since 1970.
void rtc_registers_show(int64_t time, uint8_t registers[RTC_REGISTERS]);
// The time that they say; false when there is no such date.
bool rtc_registers_time(const uint8_t registers[RTC_REGISTERS], int64_t *time);

#endif
