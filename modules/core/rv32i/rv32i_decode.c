// rv32i_decode.c: RV32I words to control words; see rv32i_decode.lss.
#include "core/rv32i/rv32i_decode.h"

_Static_assert((int)RV32I_COMPARED != (int)CORE_NO_SOURCE && (int)RV32I_COMPARED > (int)CORE_NO_DEST,
               "no register of the file, and not none");

static inline bool squashed(const self_t *self, bool fresh) {
  return self->squash & !fresh;
}

// Whether the first step of what is offered has gone out; what was offered then may have been withdrawn.
static inline bool second_step(const self_t *self, uint32_t pc, uint32_t word) {
  return self->compared && self->compared_pc == pc && self->compared_word == word;
}

// Whether the word goes out in two steps, and this is the first.  That one does nothing that lasts, so it is committed
// whether or not the word is; only with the second is the word taken.
static inline bool first_step(const self_t *self, uint32_t pc, uint32_t word, bool fresh, bool error) {
  return rv32i_decoded(word)->compares && !second_step(self, pc, word) && !squashed(self, fresh) && !error;
}

handler(decode) {
  if (!some(in)) {
    send_nothing(out);
    return;
  }
  const uint32_t pc = data(in).pc, word = data(in).word;
  const struct rv32i_decoding *d = rv32i_decoded(word);
  typeof_port(out) item = {.pc = pc, .word = word, .immediate = rv32i_immediate(d, pc, word), .fresh = data(in).fresh};
  item.control = second_step(self, pc, word) ? rv32i_second_step(d) : rv32i_control_word(d, word);
  if (__builtin_expect(data(in).error, false)) item.control = core_failed(trap_cause_fetch);
  if (squashed(self, data(in).fresh)) item.control = CORE_CONTROL_IDLE | control_word_of_annulled(true);
  send(out, item);
}

#define FIRST_STEP (some(in) && first_step(self, data(in).pc, data(in).word, data(in).fresh, data(in).error))

handler(accept) {
  accept(in, acked(out) && !FIRST_STEP);
}

handler(commit) {
  enable(out, enabled(in) || FIRST_STEP);
}

handler(redirect_fetch) {
  const uint32_t word = data(in).word;
  send_if(redirect, some(in) & some(taken), rv32i_target(rv32i_decoded(word), data(in).pc, word, data(taken)));
}

handler(accept_taken) {
  accept(taken, acked(redirect));
}

handler(commit_redirect) {
  enable(redirect, enabled(in) & enabled(taken));
}

handler(count) {
  send_if(done, some(retired) & (self->steps == 0), true);
}

handler(notify_done) {
  enable(done, enabled(retired));
}

phase_end() {
  if (transferred(retired) && self->steps > 0) self->steps--;
  if (!transferred(out)) return;
  if (!transferred(in)) {
    self->compared = true;
    self->compared_pc = data(in).pc;
    self->compared_word = data(in).word;
    self->steps++;
    event(first_step);
    return;
  }
  self->compared = false;
  self->squash = transferred(redirect);
}

next_event() {
  return never();
}
