/* mips_decode.c: instruction words to control words; see mips_decode.lss. */
#include "mips_decode.h"

enum { PLACES = sizeof(((self_t *)0)->remembered) / sizeof(mips_remembered) };

static inline uint32_t place_of(uint32_t pc) { return pc / 4 % PLACES; }

static __attribute__((noinline)) mips_remembered decoded(uint32_t word) {
  const struct mips_decoding *d = &mips_decodings[mips_find(param(pri_joff) ? MIPS_SET_prijoff : MIPS_SET_mips2, word)];
  return (mips_remembered){.word = word, .immediate = mips_immediate(d, word), .control = mips_control_word(d, word)};
}

/* What is not remembered yet reads as the word 0. */
init() {
  for (int i = 0; i < PLACES; i++)
    self->remembered[i] = decoded(0);
}

handler(decode) {
  if (!some(in)) {
    set(unknown, false);
    send_nothing(out);
    return;
  }
  const uint32_t word = data(in).word;
  const mips_remembered *known = &self->remembered[place_of(data(in).pc)];
  uint64_t control = known->control;
  uint32_t immediate = known->immediate;
  set(unknown, known->word != word);
  if (__builtin_expect(known->word != word, false)) {
    const mips_remembered fresh = decoded(word);
    control = fresh.control;
    immediate = fresh.immediate;
  }
  typeof_port(out) item = {.pc = data(in).pc, .word = word, .control = control, .immediate = immediate, .fresh = data(in).fresh};
  if (__builtin_expect(data(in).error, false))
    item.control = mips_failed(MIPS_TRAP_fetch);
  send(out, item);
}

handler(accept) { accept(in, acked(out)); }

handler(commit) { enable(out, enabled(in)); }

phase_end() {
  if (__builtin_expect(get(unknown), false) && transferred(in))
    self->remembered[place_of(data(in).pc)] = decoded(data(in).word);
  else
    steady();
}

next_event() { return never(); }
