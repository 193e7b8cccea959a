// Processor B's program.  It carries out the DMA rings when processor A asks for that (no hardware assist), and keeps
// the time otherwise.  It is in B's own scratchpad and shares nothing with A but the words of struct second.  What A
// does to start it is here as well.
#include "state.h"

#define SECOND __attribute__((section(".second.text")))

struct second second __attribute__((section(".shared")));

enum { MILLISECOND = 1000, PAUSE = 64, TIMEOUT = 300, CPU_FLUSH = 4 };

// Runs in the scratchpad for a while, so that looking at a register does not burden those who work.
static inline void pause(void) {
  for (u32 i = 0; i < PAUSE; i++) __asm__ volatile("");
}

// Counts milliseconds by the timer event.
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
  engine.failed = second.failed;
  for (;;) {
    engine_write(&engine, r);
    engine_read(&engine, r);
  }
}

// Starts processor B, if there is one, which then copies itself while A continues.
extern void second_start(void);
void start_second(void) {
  struct registers *r = registers();
  r->cpu_b_pc = (u32)second_start;
  r->cpu_b_state = CPU_FLUSH;
}

// Leaves the DMA rings to B.  Returns false if it does not respond.
u32 second_drives_rings(void) {
  struct registers *r = registers();
  for (u32 start = r->timer; r->timer - start < TIMEOUT;) {
    if (!second.alive) continue;
    second.read_ring = state->read_next;
    second.write_ring = state->write_next;
    second.drive_rings = 1;
    return 1;
  }
  return 0;
}

// A keeps all events.
void start_roles(void) {
  choose_receive();
  choose_send();
  extension_start();
}
