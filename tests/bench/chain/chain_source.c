// chain_source.c: offers consecutive numbers in pseudo-random cycles; see chain_source.lss.
#include "chain_source.h"

phase_start() {
  send_if(out, chain_offers(self->noise), self->next);
}

phase_end() {
  if (transferred(out)) self->next++;
  self->noise = chain_noise(self->noise);
}
