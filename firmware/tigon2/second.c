/* Processor B's program.  It carries out the DMA rings when processor A asks for that (no hardware assist), and keeps
 * the time otherwise.  It lies in B's own scratchpad and shares nothing with A but the words of struct second.
 */
#include "engine.h"

#define SECOND __attribute__((section(".second.text")))

struct second second __attribute__((section(".shared")));

enum { MILLISECOND = 1000, PAUSE = 64 };

/* Time goes on in the scratchpad, so that looking at a register does not burden those who work. */
static inline void pause(void) {
  for (u32 i = 0; i < PAUSE; i++) __asm__ volatile("");
}

/* Counts milliseconds by the timer event. */
SECOND static void keep_time(struct registers *r) {
  if (!(r->event_b & TIMER_EVENT)) {
    pause();
    return;
  }
  r->timer_compare_b = r->timer_compare_b + MILLISECOND;
  second.milliseconds++;
}

SECOND __attribute__((noreturn)) void second_main(void) {
  struct registers *r = registers();
  struct engine engine = {0};
  r->timer_compare_b = r->timer + MILLISECOND;
  second.alive = 1;
  while (!second.drive_rings) keep_time(r);
  engine.read_entry = second.read_ring;
  engine.write_entry = second.write_ring;
  for (;;) {
    engine_write(&engine, r);
    engine_read(&engine, r);
  }
}
