// The first virtual processing element (VPE) of a processor with the MT ASE starts the others, as Linux does,
// interrupts each a few times, which they reply to by interrupting it, and takes them down.  What it prints depends on
// how many there are alone.
#include "console.h"
#include "mt.h"
#include "together.h"

enum { MOST = 8, ROUNDS = 3, STACK = 4096 };

extern char stack_top[], other_start[];

volatile unsigned interrupts[MOST]; // of each VPE, counted by start.S

// All others are halted, and what they will execute with is as it is here.
static void configure(unsigned vpes) {
  stop_others();
  MT_ASM("dmt", :: : "memory");
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) | MVPCONTROL_VPC);
  for (unsigned vpe = 1; vpe < vpes; vpe++) {
    select_tc(vpe);
    write_other(TC_BIND, read_other(TC_BIND) | vpe);
    write_other(TC_STATUS, (read_other(TC_STATUS) & ~(unsigned)(TCSTATUS_A | TCSTATUS_DA)) | TCSTATUS_IXMT);
    write_other(TC_HALT, TCHALT_H);
    write_other(VPE_CONF0, (read_other(VPE_CONF0) & ~(unsigned)VPECONF0_VPA) | VPECONF0_MVP);
    write_other(VPE_CONTROL, read_other(VPE_CONTROL) & ~(unsigned)VPECONTROL_TE);
    write_other(STATUS, read_own(STATUS));
    write_other(CONFIG, read_own(CONFIG));
    write_other(CAUSE, 0);
  }
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) & ~(unsigned)MVPCONTROL_VPC);
}

// A VPE executes from other_start on.
static void start(unsigned vpe) {
  stop_others();
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) | MVPCONTROL_VPC);
  select_tc(vpe);
  write_other(TC_RESTART, other_start);
  write_other(TC_STATUS, (read_other(TC_STATUS) & ~(unsigned)TCSTATUS_IXMT) | TCSTATUS_A);
  write_other(TC_CONTEXT, &interrupts[vpe]);
  write_other(TC_HALT, 0);
  write_other(VPE_CONF0, read_other(VPE_CONF0) | VPECONF0_VPA);
  MT_WRITE("mttgpr %0, $29", stack_top - STACK * vpe);
  MT_WRITE("mttgpr %0, $4", vpe);
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) & ~(unsigned)MVPCONTROL_VPC);
  let_others_go();
}

// Of another VPE: it executes, and was interrupted.
void reply(unsigned vpe) {
  (void)vpe;
  order();
  interrupt_vpe(0);
}

static void wait_for_reply(unsigned before) {
  while (interrupts[0] == before) continue;
}

// Halts a VPE between two interrupts; whether it is where it then waits, with what it has counted.
static int take_down(unsigned vpe) {
  unsigned sum = 0;
  for (unsigned n = 1; n <= ROUNDS; n++) sum += n * n;
  stop_others();
  select_tc(vpe);
  write_other(TC_HALT, TCHALT_H);
  const unsigned at = read_other(TC_RESTART);
  const int right = MT_READ("mftgpr %0, $16") == ROUNDS && MT_READ("mftlo %0") == sum && MT_READ("mfthi %0") == 0 &&
                    MT_READ("mftgpr %0, $29") == (unsigned)(stack_top - STACK * vpe) && at >= (unsigned)other_start &&
                    at < (unsigned)stack_top;
  write_other(TC_STATUS, read_other(TC_STATUS) & ~(unsigned)TCSTATUS_A);
  write_other(VPE_CONF0, read_other(VPE_CONF0) & ~(unsigned)VPECONF0_VPA);
  let_others_go();
  return right;
}

static void say(unsigned vpe, const char *what) {
  print("VPE ");
  print_number(vpe);
  print(what);
}

void main(void) {
  const unsigned vpes = (read_own(MVP_CONF0) >> 10 & 15) + 1;
  int right = vpes <= MOST;
  print_number(vpes);
  print(" VPEs\n");
  configure(vpes);
  write_own(STATUS, read_own(STATUS) | CAUSE_SW0 | 1);
  for (unsigned vpe = 1; vpe < vpes; vpe++) {
    const unsigned before = interrupts[0];
    start(vpe);
    wait_for_reply(before);
    say(vpe, " executes\n");
  }
  for (unsigned round = 1; round <= ROUNDS; round++)
    for (unsigned vpe = 1; vpe < vpes; vpe++) {
      const unsigned before = interrupts[0];
      interrupt_vpe(vpe);
      wait_for_reply(before);
    }
  for (unsigned vpe = 1; vpe < vpes; vpe++) {
    const int fine = take_down(vpe) && interrupts[vpe] == ROUNDS;
    right &= fine;
    say(vpe, fine ? " has replied to 3 interrupts and is halted\n" : " is NOT as it should be\n");
  }
  right &= interrupts[0] == (vpes - 1) * (ROUNDS + 1);
  exit_with(right ? 0 : 1);
}
