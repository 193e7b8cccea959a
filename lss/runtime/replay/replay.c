// When clusters are replayed, what is learnt on the way, and how they return to being stepped; see replay.h.
#include "lss/runtime/replay/replay.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/replay/check.h"
#include "lss/runtime/replay/replay_table.h"

enum {
  MOST_BACKOFF = 8192, // cycles between attempts to begin, after many that did not pay
  PAYS = 16,           // cycles replayed that pay for one that was learnt
  LEAST = 200,         // and as many for the beginning
  SAMPLE = 7,          // cycles between two states whose difference shows which word moves
  LOOKS = 100,         // states that are hashed in one attempt
  ATTEMPT = 2048,      // cycles that an attempt may take
  LEAST_CREDIT = 40,   // cycles that may be learnt before any has paid, after attempts in vain,
  KNOWN_CREDIT = 16,   // and in a loop that is known
};

const uint32_t spinach_replay_nowhere;
static bool disabled;

// ---- Beginning

static void watch_nothing(spinach_replay *r, spinach_replay_phase phase, uint32_t cycles) {
  r->witness = &spinach_replay_nowhere;
  r->anchor = 1;
  r->wait = cycles;
  r->table->phase = phase;
}

static void watch(spinach_replay *r, spinach_replay_phase phase, const uint32_t *witness, uint32_t anchor) {
  r->witness = witness;
  r->anchor = anchor;
  r->wait = ATTEMPT;
  r->table->phase = phase;
  r->table->looks = 0;
}

// The attempt, or the replay, did not pay.
static void back_off(spinach_replay *r) {
  spinach_replay_table *table = r->table;
  if (table->backoff < MOST_BACKOFF) table->backoff *= 2;
  watch_nothing(r, SPINACH_REPLAY_RESTS, table->backoff);
}

// Watches a word that moves, another one in each attempt.  False: none does.
static bool choose_anchor(spinach_replay *r) {
  const uint32_t *moving[64];
  uint32_t count = 0;
  const uint8_t *state = spinach_replay_state(r), *sample = r->table->sample;
  for (uint32_t i = 0; i < r->of->kind->span_count; sample += r->of->kind->spans[i++].size) {
    const spinach_replay_span *span = &r->of->kind->spans[i];
    for (uint32_t at = 0; at + sizeof(uint32_t) <= span->size && count < G_N_ELEMENTS(moving); at += sizeof(uint32_t)) {
      const uint32_t *word = (const uint32_t *)(state + span->offset + at);
      if (memcmp(word, sample + at, sizeof *word) != 0) moving[count++] = word;
    }
  }
  const uint32_t *chosen = count ? moving[r->table->attempts++ % count] : NULL;
  if (chosen) watch(r, SPINACH_REPLAY_TRIES, chosen, *chosen);
  return chosen;
}

// The state in the arena is that of the node at which the cluster is.
static void is_live(spinach_replay *r) {
  r->table->live = r->at;
  r->table->live_cycle = r->cycle;
}

static void enter(spinach_replay *r, uint32_t credit) {
  spinach_replay_table *table = r->table;
  spinach_replay_refresh(r);
  r->at = spinach_replay_node_now(r, true);
  for (uint32_t i = 0; i < r->of->segment_count; i++) r->output[i] = spinach_replay_output_now(r, i);
  r->cycle = table->entered = spinach_time.cycle;
  table->learnt = 0;
  is_live(r);
  table->credit = credit;
  if (r->gate) spinach_gate_reset(r->gate);
}

// Of the first words of all leaves: another one is certainly another state.
static uint32_t signature(const spinach_replay *r) {
  const uint8_t *state = spinach_replay_state(r);
  uint64_t hash = 0, word;
  for (uint32_t i = 0; i < r->of->kind->span_count; i++) {
    const spinach_replay_span *span = &r->of->kind->spans[i];
    word = 0;
    if (__builtin_expect(span->size >= sizeof word, 1))
      memcpy(&word, state + span->offset, sizeof word);
    else
      memcpy(&word, state + span->offset, span->size);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return (uint32_t)hash;
}

// Whether it was among the latest; if not, it is from now on.
static bool was_seen(spinach_replay_seen *seen, uint32_t hash) {
  for (int i = 0; i < SEEN_HASHES; i++)
    if (seen->hash[i] == hash) return true;
  seen->hash[seen->next++ % SEEN_HASHES] = hash;
  return false;
}

// The watched word has the anchor's value again.
static void look_at_state(spinach_replay *r) {
  spinach_replay_table *table = r->table;
  if (++table->looks == LOOKS) r->wait = 1; // it ends with the next cycle
  if (!was_seen(&table->signatures, signature(r))) return;
  if (spinach_replay_node_now(r, false))
    enter(r, KNOWN_CREDIT);
  else if (was_seen(&table->states, table->node->hash))
    enter(r, table->trust);
}

void spinach_replay_watch(spinach_replay *r) {
  if (disabled) return; // the count comes round again
  spinach_replay_table *table = spinach_replay_table_of(r);
  if (r->wait) {
    look_at_state(r);
    return;
  }
  switch (table->phase) {
  case SPINACH_REPLAY_RESTS:
    if (table->witness) {
      watch(r, SPINACH_REPLAY_TRIES_AGAIN, table->witness, table->anchor);
      break;
    }
    // fall through
  case SPINACH_REPLAY_TRIES_AGAIN:
    r->of->kind->keep(spinach_replay_state(r), table->sample);
    watch_nothing(r, SPINACH_REPLAY_SAMPLES, SAMPLE);
    break;
  case SPINACH_REPLAY_SAMPLES:
    if (!choose_anchor(r)) back_off(r);
    break;
  case SPINACH_REPLAY_TRIES: back_off(r); break;
  }
}

// ---- Replaying

// Puts the state where the cluster's code finds it.  What it did in this cycle it does again: its inputs are the same.
static void make_live(spinach_replay *r) {
  const spinach_replay_table *table = r->table;
  if (table->live == r->at && table->live_cycle == r->cycle) return;
  spinach_replay_restore(r, r->at->start, spinach_replay_state(r));
  spinach_replay_count(r); // before the step counts and notes
  spinach_replay_record_cycle(r);
  for (uint32_t i = 0; i < r->at->segment; i++) spinach_replay_step(r, i);
  is_live(r);
}

// From here on it is stepped; the state is live.
static void stop(spinach_replay *r) {
  spinach_replay_table *table = r->table;
  spinach_replay_count(r);
  r->at = NULL;
  r->previous = &spinach_replay_none;
  if (r->gate) spinach_gate_reset(r->gate);
  if (r->cycle - table->entered < LEAST + PAYS * table->learnt) {
    table->trust = MAX(table->trust / 2, LEAST_CREDIT);
    back_off(r);
    return;
  }
  table->trust = MIN(table->trust * 2, MOST_CREDIT);
  table->backoff = MAX(table->backoff / 4, LEAST_BACKOFF);
  table->witness = r->witness;
  table->anchor = r->anchor;
  watch(r, SPINACH_REPLAY_TRIES_AGAIN, table->witness, table->anchor);
}

// Whether something more may be learnt: what is replayed pays for it, so that what is never the same twice is left.
static bool may_learn(const spinach_replay *r) {
  const spinach_replay_table *table = r->table;
  return table->learnt < table->credit + (r->cycle - table->entered) / PAYS;
}

// A segment of which nothing is known is stepped, and becomes an edge.
static void learn(spinach_replay *r) {
  spinach_replay_node *from = r->at;
  const uint32_t segment = from->segment;
  const bool last = segment + 1 == r->of->segment_count;
  const uint64_t effects = spinach_effects;
  make_live(r);
  if (!segment) spinach_replay_record_cycle(r);
  const bool full = spinach_replay_table_full(r->table);
  if (full || !may_learn(r)) {
    stop(r);
    if (full) spinach_replay_table_clear(r->table);
    spinach_replay_step(r, segment);
    return;
  }
  r->table->learnt += last;
  r->at = NULL; // the state is live while it is stepped
  spinach_replay_step(r, segment);
  if (last) r->cycle = spinach_time.cycle;
  if (effects != spinach_effects) {
    stop(r);
    return;
  }
  const spinach_replay_edge *edge = spinach_replay_edge_add(r, from);
  r->at = edge->to;
  r->output[segment] = edge->output;
  is_live(r);
}

// A segment whose edge is known is stepped all the same, and what it does compared.
static void check(spinach_replay *r, const spinach_replay_edge *edge) {
  const spinach_replay_node *from = r->at;
  const uint64_t effects = spinach_effects;
  make_live(r);
  if (!from->segment) spinach_replay_record_cycle(r);
  r->at = NULL;
  spinach_replay_step(r, from->segment);
  spinach_replay_compare(r, from, edge, effects != spinach_effects);
  if (!edge->to->segment) r->cycle = spinach_time.cycle, r->table->checked++;
  r->at = edge->to;
  r->output[from->segment] = edge->output;
  is_live(r);
}

void spinach_replay_look(spinach_replay *r) {
  const uint32_t segment = r->at->segment;
  spinach_replay_edge *edge = spinach_replay_edge_find(r, r->at);
  if (!edge)
    learn(r);
  else if (spinach_replay_checks)
    check(r, edge);
  else if (spinach_replay_take(r, edge, segment, segment + 1 == r->of->segment_count, spinach_time.cycle))
    r->of->segments[segment].drive(edge->output->bytes);
}

// ---- Looked at from outside

void spinach_replay_disable(void) {
  disabled = true;
}

void spinach_replay_synchronize(void) {
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    if (!(*r)->table) continue;
    if ((*r)->at) make_live(*r);
    spinach_replay_count(*r);
  }
}

static void leave(void) {
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    if (!(*r)->at) continue;
    make_live(*r);
    stop(*r);
  }
}

void spinach_replay_forget(void) {
  if (spinach_hooks.forget) spinach_hooks.forget();
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    if (!(*r)->table) continue;
    (*r)->at = NULL;
    (*r)->previous = &spinach_replay_none;
    (*r)->uncounted_edges = 0;
    memset((*r)->latest, 0, ((*r)->of->kind->trace_count + 1) * sizeof *(*r)->latest);
    (*r)->logged = 0;
    spinach_replay_table_clear((*r)->table);
    (*r)->table->backoff = LEAST_BACKOFF;
    (*r)->table->witness = NULL;
    watch_nothing(*r, SPINACH_REPLAY_RESTS, LEAST_BACKOFF);
  }
}

// A cluster is on one clock.
static uint64_t period_of(uint32_t cluster) {
  const spinach_machine *machine = &spinach_machine_table;
  uint32_t i = 0;
  while (!machine->instances[i].layout || machine->instances[i].cluster != (int32_t)cluster) i++;
  return machine->clocks[machine->instances[i].clock].period;
}

void spinach_replay_shift(uint64_t ticks) {
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    if (!(*r)->at) continue;
    const uint64_t cycles = ticks / period_of((*r)->of->cluster);
    (*r)->cycle += cycles;
    (*r)->table->entered += cycles;
    (*r)->table->live_cycle += cycles;
  }
}

static spinach_replay *replaying(int32_t cluster) {
  for (spinach_replay *const *r = spinach_replays; *r; r++)
    if ((int32_t)(*r)->of->cluster == cluster) return (*r)->at ? *r : NULL;
  return NULL;
}

static uint64_t next_event(int32_t cluster, uint64_t (*ask)(const void *state)) {
  spinach_replay *r = replaying(cluster);
  if (!r) return ask(spinach_cluster_state[cluster]);
  if (r->at->idle == SPINACH_REPLAY_UNASKED || spinach_replay_checks) {
    make_live(r);
    const uint64_t first = ask(spinach_replay_state(r));
    r->at->idle = first == UINT64_MAX ? first : first > spinach_time.cycle ? first - spinach_time.cycle : 0;
  }
  return r->at->idle == UINT64_MAX ? UINT64_MAX : spinach_time.cycle + r->at->idle;
}

void spinach_replay_begin(void) {
  if (!spinach_replays[0]) return;
  spinach_hooks.next_event = next_event;
  spinach_hooks.synchronize = spinach_replay_synchronize;
  spinach_hooks.leave = leave;
}
