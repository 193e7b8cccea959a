// What a cycle did, written down while it is stepped: as an edge of the table, and from there into counters and traces
// when it was replayed.
#include "lss/runtime/replay/record.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/replay/replay_table.h"

enum { AHEAD = 8 }; // edges that are fetched before they are looked at

spinach_replay_edge spinach_replay_none = {.after = &spinach_replay_none};

// ---- While it is stepped

static spinach_replay_record *record; // of the cluster whose step runs

static bool in_memory(uint32_t offset) {
  for (uint32_t i = 0; i < record->kind->memory_count; i++)
    if (offset - record->kind->memories[i].offset < record->kind->memories[i].size) return true;
  return false;
}

void spinach_replay_loaded(const void *place, size_t size) {
  const uint32_t offset = (uint32_t)((const uint8_t *)place - record->state);
  if (!size || !in_memory(offset)) return;
  const uint32_t word = sizeof(uint64_t);
  for (uint32_t at = offset / word * word; at < offset + size; at += word) {
    if (record->reads == MOST_READS) {
      spinach_effects++;
      return;
    }
    record->read[record->reads++] = at;
  }
}

void spinach_replay_stored(const void *place) {
  if (in_memory((uint32_t)((const uint8_t *)place - record->state))) spinach_effects++;
}

void spinach_replay_noted(const void *place) {
  if (record->notes == MOST_NOTES)
    spinach_effects++;
  else
    record->note[record->notes++] = (uint32_t)((const uint8_t *)place - record->state);
}

void spinach_replay_counted_cycles(const void *counter, int sign) {
  if (record->timed == MOST_TIMED) {
    spinach_effects++;
    return;
  }
  record->time[record->timed].offset = (uint32_t)((const uint8_t *)counter - record->state);
  record->time[record->timed++].cycles = sign;
}

static inline uint64_t load_counter(const uint8_t *state, const spinach_replay_counter *counter) {
  uint64_t value = 0;
  if (__builtin_expect(counter->size == sizeof value, 1))
    memcpy(&value, state + counter->offset, sizeof value);
  else
    memcpy(&value, state + counter->offset, counter->size); // the low bytes come first
  return value;
}

void spinach_replay_record_cycle(spinach_replay *r) {
  record = &r->table->record;
  record->kind = r->of->kind;
  record->state = spinach_replay_state(r);
  record->reads = record->notes = record->timed = 0;
  for (uint32_t i = 0; i < record->kind->counter_count; i++)
    r->table->counters[i] = load_counter(record->state, &record->kind->counters[i]);
}

void spinach_replay_step(spinach_replay *r, uint32_t segment) {
  record = &r->table->record;
  r->of->segments[segment].step();
}

void spinach_replay_step_alone(const spinach_replay_cluster *of, uint32_t segment) {
  static const spinach_replay_kind nothing;
  static spinach_replay_record unused;
  unused = (spinach_replay_record){.kind = &nothing, .state = spinach_cluster_state[of->cluster]};
  record = &unused;
  of->segments[segment].step();
}

// ---- As an edge

static int32_t cycles_counted(const spinach_replay_counter *counter) {
  int32_t cycles = 0;
  for (uint32_t i = 0; i < record->timed; i++)
    if (record->time[i].offset == counter->offset) cycles += record->time[i].cycles;
  return cycles;
}

// What counters move by; returns how many do.
static uint32_t list_moves(const spinach_replay *r) {
  spinach_replay_move *moves = r->table->moves;
  const uint64_t *before = r->table->counters;
  uint32_t count = 0;
  for (uint32_t i = 0; i < record->kind->counter_count; i++) {
    const spinach_replay_counter *counter = &record->kind->counters[i];
    const uint64_t by = load_counter(record->state, counter) - before[i];
    if (__builtin_expect(!by & !record->timed, 1)) continue;
    const int32_t cycles = cycles_counted(counter);
    if (by || cycles)
      moves[count++] = (spinach_replay_move){i, cycles, by - (uint64_t)(int64_t)cycles * spinach_time.cycle};
  }
  return count;
}

// The trace in which an offset is.
static uint32_t trace_at(uint32_t offset) {
  uint32_t i = 0;
  while (offset - record->kind->traces[i].offset >= record->kind->traces[i].size * record->kind->traces[i].elements)
    i++;
  return i;
}

static void keep_notes(spinach_replay_edge *edge) {
  edge->first_in_ring = edge->notes;
  for (uint32_t i = edge->notes; i-- > 0;) {
    edge->note[i] = trace_at(record->note[i]);
    if (record->kind->traces[edge->note[i]].ring) edge->first_in_ring = i;
    memcpy(edge->noted + i * SPINACH_REPLAY_NOTE, record->state + record->note[i],
           record->kind->traces[edge->note[i]].size);
  }
  if (edge->notes == 1 && !record->kind->traces[edge->note[0]].ring)
    edge->single = 1 + edge->note[0];
  else
    edge->logs = edge->notes > 0;
}

// The place in the table of a word that was read.
static uint32_t place_of_word(const spinach_replay *r, uint32_t offset) {
  const spinach_replay_table *table = r->table;
  const gpointer key = GUINT_TO_POINTER(offset);
  uint32_t place = GPOINTER_TO_UINT(g_hash_table_lookup(table->word_at, key));
  if (!place) {
    spinach_replay_word word = {.offset = offset, .readers = g_ptr_array_new()};
    memcpy(&word.value, record->state + offset, sizeof word.value);
    g_array_append_val(table->words, word);
    place = table->words->len;
    g_hash_table_insert(table->word_at, key, GUINT_TO_POINTER(place));
  }
  return place - 1;
}

// An edge and all that belongs to it, in one piece.
static spinach_replay_edge *edge_new(uint32_t input_size, uint32_t reads, uint32_t notes, uint32_t moves) {
  const size_t input = (input_size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
  spinach_replay_edge *edge =
      g_aligned_alloc0(1,
                       sizeof *edge + input + moves * sizeof *edge->move +
                           notes * (SPINACH_REPLAY_NOTE + sizeof *edge->note) + reads * sizeof *edge->read,
                       SPINACH_REPLAY_LINE);
  edge->after = &spinach_replay_none;
  edge->moves = moves;
  edge->notes = notes;
  edge->reads = reads;
  edge->input = (uint8_t *)(edge + 1);
  edge->move = (spinach_replay_move *)(void *)(edge->input + input);
  edge->noted = (uint8_t *)(edge->move + moves);
  edge->note = (uint32_t *)(void *)(edge->noted + notes * SPINACH_REPLAY_NOTE);
  edge->read = edge->note + notes;
  return edge;
}

spinach_replay_edge *spinach_replay_edge_now(spinach_replay *r, const spinach_replay_node *from) {
  const spinach_replay_segment *segment = &r->of->segments[from->segment];
  const bool last = from->segment + 1 == r->of->segment_count;
  record = &r->table->record;
  const uint32_t moves = last ? list_moves(r) : 0;
  spinach_replay_edge *edge = edge_new(segment->input_size, record->reads, last ? record->notes : 0, moves);
  edge->flags = segment->flags();
  segment->input(edge->input);
  memcpy(edge->move, r->table->moves, moves * sizeof *edge->move);
  keep_notes(edge);
  for (uint32_t i = 0; i < edge->reads; i++) edge->read[i] = place_of_word(r, record->read[i]);
  return edge;
}

// ---- From there

// The latest note of a trace that is one value.
static void write_value(const spinach_replay *r, uint32_t index) {
  const spinach_replay_trace *trace = &r->of->kind->traces[index];
  const spinach_replay_edge *edge = r->latest[1 + index];
  uint32_t k = edge->notes - 1;
  while (edge->note[k] != index) k--;
  memcpy(spinach_replay_state(r) + trace->offset, edge->noted + k * SPINACH_REPLAY_NOTE, trace->size);
}

// The notes of all rings, in order.
static void write_rings(spinach_replay *r) {
  const spinach_replay_trace *traces = r->of->kind->traces;
  uint8_t *state = spinach_replay_state(r);
  for (uint32_t i = 0; i < r->logged; i++) {
    const spinach_replay_edge *edge = r->log[i];
    for (uint32_t k = edge->first_in_ring; k < edge->notes; k++) {
      const spinach_replay_trace *trace = &traces[edge->note[k]];
      if (trace->ring)
        spinach_ring_note((spinach_ring *)(void *)(state + trace->ring), state + trace->offset, trace->elements,
                          trace->size, edge->noted + k * SPINACH_REPLAY_NOTE);
    }
  }
  r->logged = 0;
}

void spinach_replay_log(spinach_replay *r, spinach_replay_edge *edge) {
  const spinach_replay_trace *traces = r->of->kind->traces;
  for (uint32_t i = 0; i < edge->notes; i++)
    if (!traces[edge->note[i]].ring) r->latest[1 + edge->note[i]] = edge;
  if (edge->first_in_ring == edge->notes) return;
  r->log[r->logged++] = edge;
  if (r->logged == SPINACH_REPLAY_LOG) write_rings(r);
}

static void count_edge(const spinach_replay *r, spinach_replay_edge *edge) {
  uint8_t *state = spinach_replay_state(r);
  for (uint32_t i = 0; i < edge->moves; i++) {
    const spinach_replay_move *move = &edge->move[i];
    const spinach_replay_counter *counter = &r->of->kind->counters[move->counter];
    const uint64_t value =
        load_counter(state, counter) + move->by * edge->uses + (uint64_t)(int64_t)move->cycles * edge->cycles;
    memcpy(state + counter->offset, &value, counter->size);
  }
  edge->uses = edge->cycles = 0;
}

void spinach_replay_count(spinach_replay *r) {
  for (uint32_t i = 0; i < r->uncounted_edges; i++) {
    if (i + AHEAD < r->uncounted_edges) {
      const uint8_t *coming = (const uint8_t *)r->uncounted[i + AHEAD];
      for (uint32_t k = 0; k < 3; k++) __builtin_prefetch(coming + k * SPINACH_REPLAY_LINE);
    }
    count_edge(r, r->uncounted[i]);
  }
  r->uncounted_edges = 0;
  for (uint32_t i = 0; i < r->of->kind->trace_count; i++) {
    if (r->latest[1 + i]) write_value(r, i);
    r->latest[1 + i] = NULL;
  }
  write_rings(r);
}
