/* mips_decode.c: instruction words to control words; see mips_decode.lss. */
#include "core/mips/mips_decode.h"

#define SET (param(pri_joff) ? MIPS_SET_prijoff : MIPS_SET_mips2)

handler(decode) {
  if (!some(in)) {
    send_nothing(out);
    return;
  }
  const uint32_t pc = data(in).pc, word = data(in).word;
  struct mips_remembered known = mips_remembered[SET][mips_place(pc)];
  if (__builtin_expect(known.word != word, false)) known = mips_remember(SET, pc, word);
  typeof_port(out)
      item = {.pc = pc, .word = word, .control = known.control, .immediate = known.immediate, .fresh = data(in).fresh};
  if (__builtin_expect(data(in).error, false)) item.control = core_failed(trap_cause_fetch);
  send(out, item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}
