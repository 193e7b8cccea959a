// The operations of the reconfigurable functional unit as functions.  An instruction, mfc2 rt, n, names an operation
// and the register of the result; the operands are where the unit's configuration looks for them (`sources` in
// examples/rfu_core): $t0 to $t8. The compiler is told so, and puts them there.
#ifndef CHECKSUM_UNIT_H
#define CHECKSUM_UNIT_H

// The sum of eight words and what was summed before, with end-around carry.
static inline unsigned unit_sum(const unsigned w[8], unsigned sum) {
  register unsigned t0 __asm__("$8") = w[0], t1 __asm__("$9") = w[1], t2 __asm__("$10") = w[2],
                       t3 __asm__("$11") = w[3];
  register unsigned t4 __asm__("$12") = w[4], t5 __asm__("$13") = w[5], t6 __asm__("$14") = w[6],
                       t7 __asm__("$15") = w[7];
  register unsigned t8 __asm__("$24") = sum;
  unsigned result;
  __asm__("mfc2 %0, $0"
          : "=r"(result)
          : "r"(t0), "r"(t1), "r"(t2), "r"(t3), "r"(t4), "r"(t5), "r"(t6), "r"(t7), "r"(t8));
  return result;
}

// A sum as the 16-bit checksum that goes into a packet.
static inline unsigned unit_fold(unsigned sum) {
  register unsigned t8 __asm__("$24") = sum;
  unsigned result;
  __asm__("mfc2 %0, $1" : "=r"(result) : "r"(t8));
  return result;
}

#endif
