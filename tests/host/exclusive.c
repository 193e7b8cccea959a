// All virtual processing elements (VPEs) do by chance what the MT ASE lets one do that has the processor for itself, in
// turns that DVPE and EVPE alone keep apart: they add to a word, and to a general register and to TCScheFBack of each
// other; they halt another, see where it goes on, and let it go.  DVPE always says that others executed, and nothing is
// lost. The symbol `seed` has a seed as its address.
#include "console.h"
#include "mt.h"
#include "together.h"

enum { MOST = 8, STACK = 4096, TIMES = 60, SEVERAL = 3, ALONE = 8 };
#define TC_FEEDBACK "$2, 7"
#define OWN_COUNT   "$26" // k0: no interrupt comes

extern char stack_top[], other_start[], seed[];
volatile unsigned interrupts[MOST];
static volatile unsigned vpes, word, wrong, begun, done, registers, feedback;

static unsigned chance(unsigned *state) {
  *state = *state * 0x41c64e6d + 12345;
  return *state >> 16;
}

// DVPE where it is, in the delay slot of a branch, or by a move to MVPControl, which says what it was before.
static unsigned begin_alone(unsigned how) {
  if (how == 0) {
    unsigned before;
    __asm__ volatile(".set push\n .set noreorder\n .set mips32r2\n .set mt\n b 1f\n dvpe %0\n1: ehb\n .set pop"
                     : "=r"(before)::"memory");
    return before & 1;
  }
  if (how == 1 && !(read_own(MVP_CONTROL) & 1)) return 0;
  return stop_others();
}

// One of the things to do alone with another VPE.
static void use_other(unsigned what, unsigned other) {
  select_tc(other);
  if (what == 0) {
    MT_WRITE("mttgpr %0, " OWN_COUNT, MT_READ("mftgpr %0, " OWN_COUNT) + 1);
    registers++;
  } else if (what == 1) {
    write_other(TC_FEEDBACK, read_other(TC_FEEDBACK) + 1);
    feedback++;
  } else if (what == 2) {
    write_other(TC_HALT, TCHALT_H);
    const unsigned at = read_other(TC_RESTART);
    if (at < 0x80000000u || at >= (unsigned)stack_top || at % 4) wrong++;
    if (at & 8) write_other(TC_RESTART, at); // a branch comes again, when it was in its slot
    write_other(TC_HALT, 0);
  }
}

static void use(unsigned vpe) {
  unsigned state = (unsigned)seed * 0x9e3779b1 + vpe;
  MT_ASM("move " OWN_COUNT ", $0", :: : "memory");
  write_own(TC_FEEDBACK, 0);
  fetch_add(&begun, 1);
  while (begun < vpes) continue;
  for (unsigned n = 0; n < TIMES; n++) {
    for (volatile unsigned wait = chance(&state) & chance(&state) & 31; wait; wait--) continue;
    const unsigned others_went = begin_alone(chance(&state) % 4);
    order();
    wrong += !others_went;
    word++;
    for (unsigned k = chance(&state) % SEVERAL; k; k--) {
      const unsigned other = chance(&state) % vpes;
      if (other != vpe) use_other(chance(&state) % 4, other);
    }
    order();
    if (chance(&state) & 1)
      let_others_go();
    else
      write_own(MVP_CONTROL, read_own(MVP_CONTROL) | 1);
    if (chance(&state) & 1) MT_ASM("emt", :: : "memory");
  }
  fetch_add(&done, 1);
}

void reply(unsigned vpe) {
  use(vpe);
  for (;;) continue;
}

static void start_others(void) {
  stop_others();
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) | MVPCONTROL_VPC);
  for (unsigned vpe = 1; vpe < vpes; vpe++) {
    select_tc(vpe);
    write_other(TC_STATUS, TCSTATUS_A);
    write_other(STATUS, read_own(STATUS));
    write_other(CONFIG, read_own(CONFIG));
    write_other(TC_RESTART, other_start);
    write_other(TC_CONTEXT, &interrupts[vpe]);
    MT_WRITE("mttgpr %0, $29", stack_top - STACK * vpe);
    MT_WRITE("mttgpr %0, $4", vpe);
    write_other(TC_HALT, 0);
    write_other(VPE_CONF0, VPECONF0_MVP | VPECONF0_VPA);
  }
  write_own(MVP_CONTROL, read_own(MVP_CONTROL) & ~(unsigned)MVPCONTROL_VPC);
  let_others_go();
}

// What was added to registers of the VPEs, less what should have been.
static unsigned lost(void) {
  unsigned of_registers = MT_READ("move %0, " OWN_COUNT), of_feedback = read_own(TC_FEEDBACK);
  stop_others();
  for (unsigned vpe = 1; vpe < vpes; vpe++) {
    select_tc(vpe);
    of_registers += MT_READ("mftgpr %0, " OWN_COUNT);
    of_feedback += read_other(TC_FEEDBACK);
  }
  return (of_registers != registers) + 2 * (of_feedback != feedback);
}

void main(void) {
  vpes = (read_own(MVP_CONF0) >> 10 & 15) + 1;
  start_others();
  use(0);
  while (done < vpes) continue;
  const unsigned differ = lost();
  print(word == vpes * TIMES ? "no addition is lost" : "additions are LOST");
  print(differ ? ", registers DIFFER" : "");
  print(wrong ? ", DVPE or TCRestart is WRONG\n" : "\n");
  exit_with(word != vpes * TIMES || differ || wrong);
}
