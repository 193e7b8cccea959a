// The chain of small handshake modules scheduled by hand: one pass from sink to source per cycle, in which a stage
// knows whether it is emptied before it looks at the stage before it.  Usage: chain_c ripple|registered CYCLES
#include "chain_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 100 };

typedef struct {
  uint32_t source_noise, next, sink_noise, checksum;
  uint64_t items;
} Ends;

typedef struct {
  uint32_t slot;
  bool full;
} Ripple;

typedef struct {
  uint32_t head, tail;
  uint8_t count;
} Register;

static void step_ripple(Ends *e, Ripple *s) {
  bool ready = chain_offers(e->sink_noise);
  if (ready && s[STAGES - 1].full) {
    e->items++;
    e->checksum = e->checksum * 31 + s[STAGES - 1].slot;
  }
  for (int i = STAGES - 1; i > 0; i--) {
    ready = !s[i].full || ready;
    if (ready) {
      s[i].full = s[i - 1].full;
      if (s[i - 1].full) s[i].slot = s[i - 1].slot + 1;
    }
  }
  ready = !s[0].full || ready;
  const bool offered = chain_offers(e->source_noise);
  if (ready) {
    s[0].full = offered;
    if (offered) s[0].slot = e->next++ + 1;
  }
  e->source_noise = chain_noise(e->source_noise);
  e->sink_noise = chain_noise(e->sink_noise);
}

static inline void move(Register *s, bool taken, bool given, uint32_t value) {
  if (taken) {
    s->head = s->tail;
    s->count--;
  }
  if (given) {
    if (s->count)
      s->tail = value + 1;
    else
      s->head = value + 1;
    s->count++;
  }
}

static void step_registered(Ends *e, Register *s) {
  bool taken = chain_offers(e->sink_noise) && s[STAGES - 1].count;
  if (taken) {
    e->items++;
    e->checksum = e->checksum * 31 + s[STAGES - 1].head;
  }
  for (int i = STAGES - 1; i > 0; i--) {
    const bool given = s[i - 1].count && s[i].count < 2;
    move(&s[i], taken, given, s[i - 1].head);
    taken = given;
  }
  const bool given = chain_offers(e->source_noise) && s[0].count < 2;
  move(&s[0], taken, given, e->next);
  e->next += given;
  e->source_noise = chain_noise(e->source_noise);
  e->sink_noise = chain_noise(e->sink_noise);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s ripple|registered CYCLES\n", argv[0]), 2;
  static Ripple ripple[STAGES];
  static Register registered[STAGES];
  Ends ends = {.source_noise = 0x2545f491, .sink_noise = 0x9e3779b9};
  const unsigned long long cycles = strtoull(argv[2], NULL, 0);
  if (!strcmp(argv[1], "ripple"))
    for (unsigned long long i = 0; i < cycles; i++) step_ripple(&ends, ripple);
  else
    for (unsigned long long i = 0; i < cycles; i++) step_registered(&ends, registered);
  printf("{\"items\": %llu, \"checksum\": %u}\n", (unsigned long long)ends.items, ends.checksum);
  return 0;
}
