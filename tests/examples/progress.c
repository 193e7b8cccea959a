// Processors that contend with each other make progress: rounds of a barrier, of a ticket lock, of four locks that
// share a line with what they protect, or of increments of one word, as the text for the program says: "barrier 100".
// Each processor keeps the longest time that one of its rounds took, and the first one prints the longest of all, in
// counts.  The status says whether something was lost.
#include "console.h"
#include "together.h"

enum { MOST = 16, LINE = 64, LOCKS = 4 };

struct line {
  volatile unsigned word;
  char rest[LINE - sizeof(unsigned)];
};

static struct barrier begin, round_end;
static struct line next __attribute__((aligned(LINE))), serving, total, longest[MOST];
static struct {
  volatile unsigned lock[LOCKS], count[LOCKS];
} shared __attribute__((aligned(LINE)));

static unsigned now(void) {
  unsigned count;
  __asm__ volatile("mfc0 %0, $9" : "=r"(count));
  return count;
}

static void take_turn(void) {
  const unsigned ticket = fetch_add(&next.word, 1);
  while (serving.word != ticket) continue;
  order();
  total.word++;
  order();
  serving.word = ticket + 1;
}

static void take_lock(unsigned which) {
  lock(&shared.lock[which]);
  shared.count[which]++;
  unlock(&shared.lock[which]);
}

static void work(unsigned own, unsigned processors, char kind, unsigned rounds) {
  for (unsigned r = 0; r < rounds; r++) {
    const unsigned since = now();
    if (kind == 'b')
      barrier_wait(&round_end, processors);
    else if (kind == 't')
      take_turn();
    else if (kind == 'l')
      take_lock((r + own) % LOCKS);
    else
      fetch_add(&total.word, 1);
    const unsigned took = now() - since;
    if (took > longest[own].word) longest[own].word = took;
  }
}

void main(unsigned own) {
  const volatile char *text = (const volatile char *)MAP_ARGUMENTS_BASE;
  const unsigned processors = *(volatile unsigned char *)MAP_PROCESSORS_BASE;
  const char kind = *text;
  unsigned rounds = 0, most = 0;
  while (*text && *text != ' ') text++;
  while (*++text >= '0' && *text <= '9') rounds = 10 * rounds + (unsigned)(*text - '0');
  barrier_wait(&begin, processors);
  work(own, processors, kind, rounds);
  barrier_wait(&begin, processors);
  if (own) return;
  for (unsigned k = 0; k < processors; k++)
    if (longest[k].word > most) most = longest[k].word;
  print_number(most);
  print(" counts at most\n");
  unsigned done = total.word + (kind == 'b' ? processors * rounds : 0);
  for (unsigned k = 0; k < LOCKS; k++) done += shared.count[k];
  exit_with(done != processors * rounds);
}
