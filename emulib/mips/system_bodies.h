// What each instruction of set mips32r2_system does, beside the bodies of bodies.h and over the same abstract machine.
//
// Whoever includes this file defines, beside what bodies.h wants:
//   PRIVILEGED()                  leaves the body, coprocessor 0 unusable, when the mode may not touch it
//   UNUSABLE(n)                   leaves the body, coprocessor n unusable
//   READ_CP0 WRITE_CP0(v)         the register that the word names by number and selection
//   HARDWARE_REGISTER             that which rdhwr names; leaves the body when the mode does not see it
//   STATUS SET_STATUS(v)          the register of that name
//   INTERRUPTS_ENABLED            its bit IE
//   TLB_READ() TLB_PROBE() TLB_WRITE_INDEXED() TLB_WRITE_RANDOM()
//   EXCEPTION_RETURN() WAIT()
//   MAINTAIN()                    a cache operation at ADDRESS; leaves the body when the address is illegal

BODY(mfc0) {
  PRIVILEGED();
  SET_RT(READ_CP0);
}
BODY(mtc0) {
  PRIVILEGED();
  WRITE_CP0(RT);
}
BODY(rdpgpr) {
  PRIVILEGED();
  SET_RD(RT);
}
BODY(wrpgpr) {
  PRIVILEGED();
  SET_RD(RT);
}
BODY(di) {
  PRIVILEGED();
  uint32_t old = STATUS;
  SET_STATUS(old & ~INTERRUPTS_ENABLED);
  SET_RT(old);
}
BODY(ei) {
  PRIVILEGED();
  uint32_t old = STATUS;
  SET_STATUS(old | INTERRUPTS_ENABLED);
  SET_RT(old);
}
BODY(tlbr) {
  PRIVILEGED();
  TLB_READ();
}
BODY(tlbwi) {
  PRIVILEGED();
  TLB_WRITE_INDEXED();
}
BODY(tlbwr) {
  PRIVILEGED();
  TLB_WRITE_RANDOM();
}
BODY(tlbp) {
  PRIVILEGED();
  TLB_PROBE();
}
BODY(eret) {
  PRIVILEGED();
  EXCEPTION_RETURN();
}
BODY(wait) {
  PRIVILEGED();
  WAIT();
}
BODY(cache) {
  PRIVILEGED();
  MAINTAIN();
}
BODY(synci) {
  MAINTAIN();
}
BODY(rdhwr) {
  SET_RT(HARDWARE_REGISTER);
}

BODY(movci) {
  UNUSABLE(1);
}
BODY(cop1) {
  UNUSABLE(1);
}
BODY(cop2) {
  UNUSABLE(2);
}
BODY(cop1x) {
  UNUSABLE(1);
}
BODY(lwc1) {
  UNUSABLE(1);
}
BODY(lwc2) {
  UNUSABLE(2);
}
BODY(ldc1) {
  UNUSABLE(1);
}
BODY(ldc2) {
  UNUSABLE(2);
}
BODY(swc1) {
  UNUSABLE(1);
}
BODY(swc2) {
  UNUSABLE(2);
}
BODY(sdc1) {
  UNUSABLE(1);
}
BODY(sdc2) {
  UNUSABLE(2);
}
