// chain_source.c: offers consecutive numbers in pseudo-random cycles; see chain_source.lss.
#include "chain_source.h"

phase_start() {
  if (chain_offers(self->noise)) send(out, self->next);
  else send_nothing(out);
}

phase_end() {
  if (transferred(out)) self->next++;
  self->noise = chain_noise(self->noise);
}
