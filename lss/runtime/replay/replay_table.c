// What a cluster did in which state on which inputs: the nodes, edges and outputs of its replay.
#include "lss/runtime/replay/replay_table.h"

#include "lss/runtime/engine/machine.h"

enum { MOST_NODES = 4096, MOST_EDGES = 8192, MOST_OUTPUTS = 4096, MOST_READINGS = 65536 };

// Of the flags of edges that are looked at each time they are taken.
#define CHECKED (UINT64_C(1) << 63)

bool spinach_replay_checks;

static spinach_replay_edge no_edge = {.flags = UINT64_MAX}; // more flags than there are

// ---- Sets

static uint32_t hash_bytes(const uint8_t *bytes, uint32_t size) {
  const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t hash = size, other = 0, word[2];
  for (; size >= sizeof word; bytes += sizeof word, size -= (uint32_t)sizeof word) {
    memcpy(word, bytes, sizeof word);
    hash = (hash ^ word[0]) * factor;
    other = (other + (hash >> 32) + word[1]) * factor;
  }
  for (; size; size--) hash = (hash ^ *bytes++) * factor;
  return (uint32_t)((hash ^ other) >> 32);
}

static guint node_hash(gconstpointer node) {
  return ((const spinach_replay_node *)node)->hash;
}

static gboolean node_equal(gconstpointer a, gconstpointer b) {
  const spinach_replay_node *one = a, *other = b;
  return one->hash == other->hash && memcmp(one->bytes, other->bytes, one->size) == 0;
}

static guint output_hash(gconstpointer output) {
  return ((const spinach_replay_output *)output)->hash;
}

static gboolean output_equal(gconstpointer a, gconstpointer b) {
  const spinach_replay_output *one = a, *other = b;
  return one->hash == other->hash && one->size == other->size && memcmp(one->bytes, other->bytes, one->size) == 0;
}

static void node_free(gpointer pointer) {
  spinach_replay_node *node = pointer;
  for (spinach_replay_edge *edge = node->edges, *next; edge != &no_edge; edge = next) {
    next = edge->next;
    if (edge->within) node_free(edge->to); // the others are the set's, and may be gone
    g_aligned_free(edge);
  }
  g_free(node);
}

static void word_clear(gpointer word) {
  g_ptr_array_unref(((spinach_replay_word *)word)->readers);
}

spinach_replay_table *spinach_replay_table_of(spinach_replay *r) {
  if (r->table) return r->table;
  spinach_replay_table *table = r->table = g_new0(spinach_replay_table, 1);
  table->nodes = g_hash_table_new_full(node_hash, node_equal, node_free, NULL);
  table->outputs = g_hash_table_new_full(output_hash, output_equal, g_free, NULL);
  const spinach_replay_kind *kind = r->of->kind;
  for (uint32_t i = 0; i < kind->span_count; i++) table->spans_size += kind->spans[i].size;
  for (uint32_t i = 0; i < r->of->segment_count; i++)
    table->output_size = MAX(table->output_size, r->of->segments[i].output_size);
  table->state_size = table->spans_size + kind->instant_count * (uint32_t)sizeof(uint64_t);
  table->words = g_array_new(FALSE, FALSE, sizeof(spinach_replay_word));
  g_array_set_clear_func(table->words, word_clear);
  table->word_at = g_hash_table_new(NULL, NULL);
  table->moves = g_new(spinach_replay_move, kind->counter_count);
  r->uncounted = g_new(spinach_replay_edge *, MOST_EDGES);
  r->latest = g_new0(spinach_replay_edge *, kind->trace_count + 1);
  r->log = g_new(spinach_replay_edge *, SPINACH_REPLAY_LOG);
  table->sample = g_malloc0(table->state_size);
  table->counters = g_new0(uint64_t, kind->counter_count);
  table->backoff = LEAST_BACKOFF;
  table->trust = MOST_CREDIT;
  return table;
}

void spinach_replay_table_clear(spinach_replay_table *table) {
  g_hash_table_remove_all(table->nodes);
  g_hash_table_remove_all(table->outputs);
  g_hash_table_remove_all(table->word_at);
  g_array_set_size(table->words, 0);
  table->edges = table->readings = 0;
}

static guint edges_from(const spinach_replay_node *node) {
  guint count = 0;
  for (const spinach_replay_edge *edge = node->edges; edge != &no_edge; edge = edge->next)
    count += 1 + (edge->within ? edges_from(edge->to) : 0);
  return count;
}

// Takes the edges out that read one of the words.
static void remove_readers(spinach_replay_table *table, spinach_replay_node *node, const GByteArray *changed) {
  for (spinach_replay_edge **link = &node->edges; *link != &no_edge;) {
    spinach_replay_edge *edge = *link;
    bool reads = false;
    for (uint32_t i = 0; i < edge->reads; i++) reads |= changed->data[edge->read[i]];
    if (edge->within) remove_readers(table, edge->to, changed);
    if (!reads) {
      link = &edge->next;
      continue;
    }
    *link = edge->next;
    table->edges -= 1 + (edge->within ? edges_from(edge->to) : 0);
    if (edge->within) node_free(edge->to);
    g_aligned_free(edge);
  }
}

void spinach_replay_refresh(spinach_replay *r) {
  const uint8_t *state = spinach_replay_state(r);
  spinach_replay_table *table = r->table;
  g_autoptr(GByteArray) changed = g_byte_array_new();
  bool any = false;
  for (guint i = 0; i < table->words->len; i++) {
    spinach_replay_word *word = &g_array_index(table->words, spinach_replay_word, i);
    const guint8 differs = memcmp(state + word->offset, &word->value, sizeof word->value) != 0;
    memcpy(&word->value, state + word->offset, sizeof word->value);
    g_byte_array_append(changed, &differs, 1);
    any |= differs;
  }
  for (guint i = 0; any && i < table->words->len; i++) {
    if (!changed->data[i]) continue;
    GPtrArray *readers = g_array_index(table->words, spinach_replay_word, i).readers;
    for (guint k = 0; k < readers->len; k++) remove_readers(table, readers->pdata[k], changed);
    g_ptr_array_set_size(readers, 0);
  }
}

bool spinach_replay_table_full(const spinach_replay_table *table) {
  return g_hash_table_size(table->nodes) >= MOST_NODES || table->edges >= MOST_EDGES ||
         g_hash_table_size(table->outputs) >= MOST_OUTPUTS || table->words->len >= MOST_WORDS ||
         table->readings >= MOST_READINGS;
}

// ---- Nodes and outputs

// Instants are kept as the cycles until they come, from the cycle that comes on.
static void keep_instants(const spinach_replay *r, const uint8_t *state, uint8_t *to) {
  const uint64_t coming = spinach_time.cycle + 1;
  for (uint32_t i = 0; i < r->of->kind->instant_count; i++, to += sizeof(uint64_t)) {
    uint64_t instant;
    memcpy(&instant, state + r->of->kind->instants[i], sizeof instant);
    if (instant != UINT64_MAX) instant = instant > coming ? instant - coming : 0;
    memcpy(to, &instant, sizeof instant);
  }
}

spinach_replay_node *spinach_replay_node_now(spinach_replay *r, bool add) {
  spinach_replay_table *table = r->table;
  const uint32_t size = table->state_size;
  if (!table->node) table->node = g_malloc0(sizeof *table->node + size);
  uint8_t *to = table->node->bytes;
  const uint8_t *state = spinach_replay_state(r);
  r->of->kind->keep(state, to);
  keep_instants(r, state, to + table->spans_size);
  table->node->size = size;
  table->node->hash = hash_bytes(table->node->bytes, size);
  spinach_replay_node *known = g_hash_table_lookup(table->nodes, table->node);
  if (known || !add) return known;
  known = g_steal_pointer(&table->node);
  known->edges = &no_edge;
  known->start = known;
  known->idle = SPINACH_REPLAY_UNASKED;
  g_hash_table_add(table->nodes, known);
  return known;
}

void spinach_replay_restore(const spinach_replay *r, const spinach_replay_node *node, uint8_t *state) {
  const uint8_t *from = node->bytes;
  r->of->kind->put(state, from);
  from += r->table->spans_size;
  for (uint32_t i = 0; i < r->of->kind->instant_count; i++, from += sizeof(uint64_t)) {
    uint64_t instant;
    memcpy(&instant, from, sizeof instant);
    if (instant && instant != UINT64_MAX) instant += r->cycle + 1;
    memcpy(state + r->of->kind->instants[i], &instant, sizeof instant);
  }
}

const spinach_replay_output *spinach_replay_output_now(spinach_replay *r, uint32_t segment) {
  spinach_replay_table *table = r->table;
  const uint32_t size = r->of->segments[segment].output_size;
  if (!table->output) table->output = g_malloc0(sizeof *table->output + table->output_size);
  r->of->segments[segment].output(table->output->bytes);
  table->output->size = size;
  table->output->hash = hash_bytes(table->output->bytes, size);
  const spinach_replay_output *known = g_hash_table_lookup(table->outputs, table->output);
  if (known) return known;
  known = table->output;
  g_hash_table_add(table->outputs, g_steal_pointer(&table->output));
  return known;
}

// ---- Edges

static spinach_replay_node *node_within(const spinach_replay_node *from) {
  spinach_replay_node *node = g_new0(spinach_replay_node, 1);
  *node = (spinach_replay_node){.edges = &no_edge, .start = from->start, .segment = from->segment + 1};
  return node;
}

spinach_replay_edge *spinach_replay_edge_add(spinach_replay *r, spinach_replay_node *from) {
  const bool last = from->segment + 1 == r->of->segment_count;
  spinach_replay_edge *edge = spinach_replay_edge_now(r, from);
  edge->output = spinach_replay_output_now(r, from->segment);
  edge->within = !last;
  edge->to = last ? spinach_replay_node_now(r, true) : node_within(from);
  edge->next = from->edges;
  if (spinach_replay_checks) edge->flags |= CHECKED;
  from->edges = edge;
  r->table->edges++;
  for (uint32_t i = 0; i < edge->reads; i++)
    g_ptr_array_add(g_array_index(r->table->words, spinach_replay_word, edge->read[i]).readers, from->start);
  r->table->readings += edge->reads;
  return edge;
}

spinach_replay_edge *spinach_replay_edge_find(const spinach_replay *r, spinach_replay_node *from) {
  const spinach_replay_segment *segment = &r->of->segments[from->segment];
  const uint64_t flags = segment->flags() | (spinach_replay_checks ? CHECKED : 0);
  for (spinach_replay_edge **link = &from->edges; *link != &no_edge; link = &(*link)->next) {
    spinach_replay_edge *edge = *link;
    if (edge->flags != flags || !segment->same(edge->input)) continue;
    *link = edge->next;
    edge->next = from->edges;
    from->edges = edge;
    return edge;
  }
  return NULL;
}
