// chain_sink.c: accepts in pseudo-random cycles and keeps a checksum; see chain_sink.lss.
#include "chain_source.h"

phase_start() {
  accept(in, chain_offers(self->noise));
}

phase_end() {
  if (transferred(in)) {
    count(items);
    self->sum = self->sum * 31 + data(in);
  }
  self->noise = chain_noise(self->noise);
}

finish() {
  counted(checksum) = self->sum;
}
