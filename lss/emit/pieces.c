// Large segments in pieces: what clang takes for a function that it optimises grows with the square of its length, so
// that a machine of thousands of instances without hierarchy would never be compiled.  A piece is a function with
// signals of its own as local variables; pieces of a segment are spread over further units, so that they are compiled
// side by side and none takes much memory.
#include "lss/emit/emit.h"

enum {
  WHOLE = 3000, // calls of a segment that is still one function: those of machines made of parts are
  PIECE = 1000, // calls of a piece
  PIECES_OF_UNIT = 10,
};

static guint count_calls(const Segment *segment) {
  guint calls = 0;
  for (guint i = 0; i < segment->items->len; i++) calls += ((Item *)segment->items->pdata[i])->nodes->len;
  return calls;
}

void emit_number_pieces(Emitter *emitter) {
  const Schedule *schedule = emitter->schedule;
  emitter->piece_of = g_new0(int, schedule->nodes->len + 1);
  int piece = 0;
  for (guint c = 0; c < emitter->netlist->clocks->len; c++)
    for (guint i = 0; i < schedule->steps[c]->len; i++, piece++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      const bool large = !emitter->whole && count_calls(segment) > WHOLE;
      for (guint k = 0, calls = 0; k < segment->items->len; k++) {
        const Item *item = segment->items->pdata[k];
        if (large && calls && calls + item->nodes->len > PIECE) piece++, calls = 0;
        calls += item->nodes->len;
        for (guint n = 0; n < item->nodes->len; n++) emitter->piece_of[((Vertex *)item->nodes->pdata[n])->id] = piece;
      }
    }
}

static int piece_of_item(const Emitter *emitter, const Segment *segment, guint item) {
  return emitter->piece_of[((Vertex *)((Item *)segment->items->pdata[item])->nodes->pdata[0])->id];
}

guint emit_piece_end(const Emitter *emitter, const Segment *segment, guint first) {
  const int piece = piece_of_item(emitter, segment, first);
  while (first < segment->items->len && piece_of_item(emitter, segment, first) == piece) first++;
  return first;
}

bool emit_in_pieces(const Emitter *emitter, const Segment *segment) {
  const guint items = segment->items->len;
  return items && piece_of_item(emitter, segment, 0) != piece_of_item(emitter, segment, items - 1);
}

bool emit_cluster_in_pieces(const Emitter *emitter, const Cluster *cluster) {
  for (guint i = 0; i < cluster->segments->len; i++)
    if (emit_in_pieces(emitter, cluster->segments->pdata[i])) return true;
  return false;
}

bool emit_shares_scratch(const Emitter *emitter) {
  if (emit_counts_loops(emitter)) return true;
  for (guint i = 0; !emitter->check_only && i < emitter->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->schedule->clusters->pdata[i];
    if (!cluster->instance) return emit_cluster_in_pieces(emitter, cluster);
  }
  return false;
}

GString *emit_piece_unit(Kind *kind, guint piece) {
  if (!kind->parts) kind->parts = g_ptr_array_new();
  if (piece % PIECES_OF_UNIT == 0) g_ptr_array_add(kind->parts, g_string_new(NULL));
  return kind->parts->pdata[kind->parts->len - 1];
}
