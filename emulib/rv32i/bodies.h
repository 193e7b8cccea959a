// What each RV32I instruction computes: one body per line of instructions.def, of the same name.
//
// The bodies are written over an abstract machine.  Whoever includes this file (without include guard, so that several
// machines can be made from it) defines first:
//   BODY(name)                    head of the function of one instruction
//   RS1 RS2                       values of the source registers, uint32_t
//   IMM UPPER SHAMT               immediates: sign-extended (uint32_t), upper 20 bits, shift amount
//   SET_RD(v)                     the result; writes to register 0 vanish
//   PC                            address of the instruction
//   LOAD(size) STORE(size, v)     aligned reference; both leave the body when the reference is illegal
//   BRANCH(c)                     to the branch target if c
//   JUMP(a)                       to a, bit 0 cleared, with the address of the following instruction in rd
//   TARGET                        of a jump relative to the pc
//   RAISE(kind)                   leaves the body with an exception, nothing changed

BODY(lui) {
  SET_RD(UPPER);
}
BODY(auipc) {
  SET_RD(PC + UPPER);
}
BODY(jal) {
  JUMP(TARGET);
}
BODY(jalr) {
  JUMP(RS1 + IMM);
}

BODY(beq) {
  BRANCH(RS1 == RS2);
}
BODY(bne) {
  BRANCH(RS1 != RS2);
}
BODY(blt) {
  BRANCH((int32_t)RS1 < (int32_t)RS2);
}
BODY(bge) {
  BRANCH((int32_t)RS1 >= (int32_t)RS2);
}
BODY(bltu) {
  BRANCH(RS1 < RS2);
}
BODY(bgeu) {
  BRANCH(RS1 >= RS2);
}

BODY(lb) {
  SET_RD((uint32_t)(int8_t)LOAD(1));
}
BODY(lh) {
  SET_RD((uint32_t)(int16_t)LOAD(2));
}
BODY(lw) {
  SET_RD(LOAD(4));
}
BODY(lbu) {
  SET_RD((uint8_t)LOAD(1));
}
BODY(lhu) {
  SET_RD((uint16_t)LOAD(2));
}
BODY(sb) {
  STORE(1, RS2);
}
BODY(sh) {
  STORE(2, RS2);
}
BODY(sw) {
  STORE(4, RS2);
}

BODY(addi) {
  SET_RD(RS1 + IMM);
}
BODY(slti) {
  SET_RD((int32_t)RS1 < (int32_t)IMM);
}
BODY(sltiu) {
  SET_RD(RS1 < IMM);
}
BODY(xori) {
  SET_RD(RS1 ^ IMM);
}
BODY(ori) {
  SET_RD(RS1 | IMM);
}
BODY(andi) {
  SET_RD(RS1 & IMM);
}
BODY(slli) {
  SET_RD(RS1 << SHAMT);
}
BODY(srli) {
  SET_RD(RS1 >> SHAMT);
}
BODY(srai) {
  SET_RD(shift_right_arithmetic(RS1, SHAMT));
}

BODY(add) {
  SET_RD(RS1 + RS2);
}
BODY(sub) {
  SET_RD(RS1 - RS2);
}
BODY(sll) {
  SET_RD(RS1 << (RS2 & 31));
}
BODY(slt) {
  SET_RD((int32_t)RS1 < (int32_t)RS2);
}
BODY(sltu) {
  SET_RD(RS1 < RS2);
}
BODY(xor) {
  SET_RD(RS1 ^ RS2);
}
BODY(srl) {
  SET_RD(RS1 >> (RS2 & 31));
}
BODY(sra) {
  SET_RD(shift_right_arithmetic(RS1, RS2 & 31));
}
BODY(or) {
  SET_RD(RS1 | RS2);
}
BODY(and) {
  SET_RD(RS1 & RS2);
}

BODY(fence) {}
BODY(ecall) {
  RAISE(SYSCALL);
}
BODY(ebreak) {
  RAISE(BREAKPOINT);
}
