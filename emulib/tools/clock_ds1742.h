// A functional Maxim DS1742: 2 KiB of memory that keeps its contents, whose last eight bytes are a clock.
#ifndef EMULIB_CLOCK_DS1742_H
#define EMULIB_CLOCK_DS1742_H

#include <glib.h>

#include "rtc_registers.h"

enum { DS1742_SIZE = 2048 };

typedef struct {
  guint8 memory[DS1742_SIZE]; // its last bytes: the clock's registers while they are held
  gint64 offset;              // seconds since 1970 at time 0
} ClockDs1742;

// `start`: what the clock shows at time 0, in seconds since 1970.
void clock_ds1742_init(ClockDs1742 *clock, gint64 start);
// `now`: seconds since time 0.
guint8 clock_ds1742_read(const ClockDs1742 *clock, gint64 now, unsigned offset);
void clock_ds1742_write(ClockDs1742 *clock, gint64 now, unsigned offset, guint8 value);

#endif
