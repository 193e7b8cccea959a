// mips_decode.c: instruction words to control words; see mips_decode.lss.
#include "core/mips/mips_decode.h"

#define SAME(set) ((int)mips_isa_##set == (int)MIPS_SET_##set)
_Static_assert(SAME(mips1) && SAME(mips2) && SAME(prijoff) && SAME(mips32) && SAME(mips32r2) && SAME(mips32r2_system) &&
                   SAME(mips32r2_mt),
               "sets have emulib's names");

#define SET ((enum mips_set)param(set))

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
  if (__builtin_expect(data(in).error, false)) {
    item.control = mips_unfetched();
    item.immediate = pc & 3 ? (uint32_t)param(unaligned) : word;
  }
  send(out, item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}
