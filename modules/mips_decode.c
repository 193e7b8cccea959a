/* mips_decode.c: instruction words to control words; see mips_decode.lss. */
#include "mips_decode.h"

handler(decode) {
  const uint32_t word = data(in).word;
  const struct mips_decoding *d = &mips_decodings[mips_find(param(pri_joff) ? MIPS_SET_prijoff : MIPS_SET_mips2, word)];
  typeof_port(out) decoded = {
      .pc = data(in).pc, .word = word, .control = mips_control_word(d, word), .immediate = mips_immediate(d, word), .fresh = data(in).fresh};
  if (__builtin_expect(data(in).error, false))
    decoded.control = mips_failed(MIPS_TRAP_fetch);
  send_if(out, some(in), decoded);
}

handler(accept) { accept(in, acked(out)); }

handler(commit) { enable(out, enabled(in)); }
