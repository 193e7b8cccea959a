// What each MIPS instruction computes: one body per line of instructions.def, of the same name.
//
// The bodies are written over an abstract machine.  Whoever includes this file (without include guard, so that several
// machines can be made from it) defines first:
//   BODY(name)                    head of the function of one instruction
//   RS RT                         values of the source registers, uint32_t
//   SHIFT SIGNED UNSIGNED         immediates: shift amount, sign-extended (uint32_t), zero-extended
//   EXTRACTED INSERTED            size of the field from bit SHIFT on
//   SET_RD(v) SET_RT(v) SET_RA(v) register results; writes to register 0 vanish
//   HI LO                         lvalues of the multiply/divide registers
//   HILO SET_HILO(v)              both, 64 bits
//   ADDRESS                       address of a memory reference
//   LOAD(size) STORE(size, v)     aligned reference at ADDRESS; both leave the body when the reference is illegal
//   LOAD_LEFT(old) LOAD_RIGHT(old) STORE_LEFT(v) STORE_RIGHT(v)   the two halves of an unaligned word
//   LINK() CONDITIONAL(v)         load linked; store conditional, 1 when it stored
//   RETURN_ADDRESS                of a call: behind the delay slot
//   BRANCH(c) LIKELY(c)           to the branch target if c; the second annuls the delay slot otherwise
//   JUMP_TARGET() JUMP_TO(a)      unconditional
//   RAISE(kind)                   leaves the body with an exception, nothing changed

BODY(add) {
  uint32_t sum = RS + RT;
  if (add_overflows(RS, RT)) RAISE(OVERFLOW);
  SET_RD(sum);
}
BODY(addu) {
  SET_RD(RS + RT);
}
BODY(sub) {
  uint32_t difference = RS - RT;
  if (sub_overflows(RS, RT)) RAISE(OVERFLOW);
  SET_RD(difference);
}
BODY(subu) {
  SET_RD(RS - RT);
}
BODY(and) {
  SET_RD(RS & RT);
}
BODY(or) {
  SET_RD(RS | RT);
}
BODY(xor) {
  SET_RD(RS ^ RT);
}
BODY(nor) {
  SET_RD(~(RS | RT));
}
BODY(slt) {
  SET_RD((int32_t)RS < (int32_t)RT);
}
BODY(sltu) {
  SET_RD(RS < RT);
}

BODY(sll) {
  SET_RD(RT << SHIFT);
}
BODY(srl) {
  SET_RD(RT >> SHIFT);
}
BODY(sra) {
  SET_RD(shift_right_arithmetic(RT, SHIFT));
}
BODY(sllv) {
  SET_RD(RT << (RS & 31));
}
BODY(srlv) {
  SET_RD(RT >> (RS & 31));
}
BODY(srav) {
  SET_RD(shift_right_arithmetic(RT, RS & 31));
}

BODY(addi) {
  uint32_t sum = RS + SIGNED;
  if (add_overflows(RS, SIGNED)) RAISE(OVERFLOW);
  SET_RT(sum);
}
BODY(addiu) {
  SET_RT(RS + SIGNED);
}
BODY(slti) {
  SET_RT((int32_t)RS < (int32_t)SIGNED);
}
BODY(sltiu) {
  SET_RT(RS < SIGNED);
}
BODY(andi) {
  SET_RT(RS & UNSIGNED);
}
BODY(ori) {
  SET_RT(RS | UNSIGNED);
}
BODY(xori) {
  SET_RT(RS ^ UNSIGNED);
}
BODY(lui) {
  SET_RT(UNSIGNED << 16);
}

BODY(mult) {
  SET_HILO(product_signed(RS, RT));
}
BODY(multu) {
  SET_HILO(product_unsigned(RS, RT));
}
BODY(div) {
  uint32_t n = RS, d = RT;
  HI = remainder_signed(n, d);
  LO = quotient_signed(n, d);
}
BODY(divu) {
  uint32_t n = RS, d = RT;
  HI = remainder_unsigned(n, d);
  LO = quotient_unsigned(n, d);
}
BODY(mfhi) {
  SET_RD(HI);
}
BODY(mthi) {
  HI = RS;
}
BODY(mflo) {
  SET_RD(LO);
}
BODY(mtlo) {
  LO = RS;
}

BODY(j) {
  JUMP_TARGET();
}
BODY(jal) {
  SET_RA(RETURN_ADDRESS);
  JUMP_TARGET();
}
BODY(jr) {
  JUMP_TO(RS);
}
BODY(jalr) {
  uint32_t target = RS;
  SET_RD(RETURN_ADDRESS);
  JUMP_TO(target);
}

BODY(beq) {
  BRANCH(RS == RT);
}
BODY(bne) {
  BRANCH(RS != RT);
}
BODY(blez) {
  BRANCH((int32_t)RS <= 0);
}
BODY(bgtz) {
  BRANCH((int32_t)RS > 0);
}
BODY(bltz) {
  BRANCH((int32_t)RS < 0);
}
BODY(bgez) {
  BRANCH((int32_t)RS >= 0);
}
BODY(bltzal) {
  bool taken = (int32_t)RS < 0;
  SET_RA(RETURN_ADDRESS);
  BRANCH(taken);
}
BODY(bgezal) {
  bool taken = (int32_t)RS >= 0;
  SET_RA(RETURN_ADDRESS);
  BRANCH(taken);
}
BODY(beql) {
  LIKELY(RS == RT);
}
BODY(bnel) {
  LIKELY(RS != RT);
}
BODY(blezl) {
  LIKELY((int32_t)RS <= 0);
}
BODY(bgtzl) {
  LIKELY((int32_t)RS > 0);
}
BODY(bltzl) {
  LIKELY((int32_t)RS < 0);
}
BODY(bgezl) {
  LIKELY((int32_t)RS >= 0);
}
BODY(bltzall) {
  bool taken = (int32_t)RS < 0;
  SET_RA(RETURN_ADDRESS);
  LIKELY(taken);
}
BODY(bgezall) {
  bool taken = (int32_t)RS >= 0;
  SET_RA(RETURN_ADDRESS);
  LIKELY(taken);
}

BODY(lb) {
  SET_RT((uint32_t)(int8_t)LOAD(1));
}
BODY(lbu) {
  SET_RT((uint8_t)LOAD(1));
}
BODY(lh) {
  SET_RT((uint32_t)(int16_t)LOAD(2));
}
BODY(lhu) {
  SET_RT((uint16_t)LOAD(2));
}
BODY(lw) {
  SET_RT(LOAD(4));
}
BODY(lwl) {
  SET_RT(LOAD_LEFT(RT));
}
BODY(lwr) {
  SET_RT(LOAD_RIGHT(RT));
}
BODY(sb) {
  STORE(1, RT);
}
BODY(sh) {
  STORE(2, RT);
}
BODY(sw) {
  STORE(4, RT);
}
BODY(swl) {
  STORE_LEFT(RT);
}
BODY(swr) {
  STORE_RIGHT(RT);
}
BODY(ll) {
  SET_RT(LINK());
}
BODY(sc) {
  SET_RT(CONDITIONAL(RT));
}

BODY(tge) {
  if ((int32_t)RS >= (int32_t)RT) RAISE(TRAP);
}
BODY(tgeu) {
  if (RS >= RT) RAISE(TRAP);
}
BODY(tlt) {
  if ((int32_t)RS < (int32_t)RT) RAISE(TRAP);
}
BODY(tltu) {
  if (RS < RT) RAISE(TRAP);
}
BODY(teq) {
  if (RS == RT) RAISE(TRAP);
}
BODY(tne) {
  if (RS != RT) RAISE(TRAP);
}
BODY(tgei) {
  if ((int32_t)RS >= (int32_t)SIGNED) RAISE(TRAP);
}
BODY(tgeiu) {
  if (RS >= SIGNED) RAISE(TRAP);
}
BODY(tlti) {
  if ((int32_t)RS < (int32_t)SIGNED) RAISE(TRAP);
}
BODY(tltiu) {
  if (RS < SIGNED) RAISE(TRAP);
}
BODY(teqi) {
  if (RS == SIGNED) RAISE(TRAP);
}
BODY(tnei) {
  if (RS != SIGNED) RAISE(TRAP);
}
BODY(syscall) {
  RAISE(SYSCALL);
}
BODY(break) {
  RAISE(BREAKPOINT);
}
BODY(sync) {}

BODY(pri) {
  SET_RD(priority(RS & RT));
}
BODY(joff) {
  JUMP_TO(RS + 8 * RT);
}

BODY(movz) {
  if (RT == 0) SET_RD(RS);
}
BODY(movn) {
  if (RT != 0) SET_RD(RS);
}
BODY(clz) {
  SET_RD(leading_zeros(RS));
}
BODY(clo) {
  SET_RD(leading_zeros(~RS));
}
BODY(mul) {
  SET_RD(RS * RT);
}
BODY(madd) {
  SET_HILO(HILO + product_signed(RS, RT));
}
BODY(maddu) {
  SET_HILO(HILO + product_unsigned(RS, RT));
}
BODY(msub) {
  SET_HILO(HILO - product_signed(RS, RT));
}
BODY(msubu) {
  SET_HILO(HILO - product_unsigned(RS, RT));
}
BODY(pref) {}

BODY(ext) {
  SET_RT(extract_field(RS, SHIFT, EXTRACTED));
}
BODY(ins) {
  SET_RT(insert_field(RS, RT, SHIFT, INSERTED));
}
BODY(wsbh) {
  SET_RD(swap_bytes_in_halves(RT));
}
BODY(seb) {
  SET_RD((uint32_t)(int8_t)RT);
}
BODY(seh) {
  SET_RD((uint32_t)(int16_t)RT);
}
BODY(rotr) {
  SET_RD(rotate_right(RT, SHIFT));
}
BODY(rotrv) {
  SET_RD(rotate_right(RT, RS & 31));
}
BODY(jr_hb) {
  JUMP_TO(RS);
}
BODY(jalr_hb) {
  uint32_t target = RS;
  SET_RD(RETURN_ADDRESS);
  JUMP_TO(target);
}
