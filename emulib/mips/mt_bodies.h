// What each instruction of set mips32r2_mt does, beside those of system_bodies.h and over the same abstract machine,
// with one thread context to a virtual processing element.
//
// Whoever includes this file defines, beside what the others want:
//   READ_THREAD WRITE_THREAD(v)   the register of a thread context that the word names
//   ENABLE_THREADS(b)             sets VPEControl.TE; the register as it was
//   ENABLE_VPES()                 sets or clears MVPControl.EVP, as the word says; the register as it was
//   FORK() YIELD(v)               leave the body when they fail

BODY(mftr) {
  PRIVILEGED();
  SET_RD(READ_THREAD);
}
BODY(mttr) {
  PRIVILEGED();
  WRITE_THREAD(RT);
}
BODY(dmt) {
  PRIVILEGED();
  SET_RT(ENABLE_THREADS(false));
}
BODY(emt) {
  PRIVILEGED();
  SET_RT(ENABLE_THREADS(true));
}
BODY(dvpe) {
  PRIVILEGED();
  SET_RT(ENABLE_VPES());
}
BODY(evpe) {
  PRIVILEGED();
  SET_RT(ENABLE_VPES());
}
BODY(fork) {
  FORK();
}
BODY(yield) {
  YIELD(RS);
  SET_RD(0);
}
