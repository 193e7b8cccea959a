// Large segments in pieces: what clang takes for a function that it optimises grows with the square of its length, so
// that a machine of thousands of instances without hierarchy would never be compiled.  A piece is a function with
// signals of its own as local variables; pieces of a segment are spread over further units, so that they are compiled
// side by side and none takes much memory.
#include "lss/plan/plan.h"

enum {
  WHOLE = 3000, // calls of a segment that is still one function: those of machines made of parts are
  PIECE = 1000, // calls of a piece
};

static guint count_calls(const Segment *segment) {
  guint calls = 0;
  for (guint i = 0; i < segment->items->len; i++) calls += ((Item *)segment->items->pdata[i])->nodes->len;
  return calls;
}

void plan_number_pieces(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  plan->piece_of = g_new0(int, schedule->nodes->len + 1);
  int piece = 0;
  for (guint c = 0; c < plan->netlist->clocks->len; c++)
    for (guint i = 0; i < schedule->steps[c]->len; i++, piece++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      const bool large = !plan->whole && count_calls(segment) > WHOLE;
      for (guint k = 0, calls = 0; k < segment->items->len; k++) {
        const Item *item = segment->items->pdata[k];
        if (large && calls && calls + item->nodes->len > PIECE) piece++, calls = 0;
        calls += item->nodes->len;
        for (guint n = 0; n < item->nodes->len; n++) plan->piece_of[((Vertex *)item->nodes->pdata[n])->id] = piece;
      }
    }
}

static int piece_of_item(const Plan *plan, const Segment *segment, guint item) {
  return plan->piece_of[((Vertex *)((Item *)segment->items->pdata[item])->nodes->pdata[0])->id];
}

guint plan_piece_end(const Plan *plan, const Segment *segment, guint first) {
  const int piece = piece_of_item(plan, segment, first);
  while (first < segment->items->len && piece_of_item(plan, segment, first) == piece) first++;
  return first;
}

bool plan_in_pieces(const Plan *plan, const Segment *segment) {
  const guint items = segment->items->len;
  return items && piece_of_item(plan, segment, 0) != piece_of_item(plan, segment, items - 1);
}

bool plan_cluster_in_pieces(const Plan *plan, const Cluster *cluster) {
  for (guint i = 0; i < cluster->segments->len; i++)
    if (plan_in_pieces(plan, cluster->segments->pdata[i])) return true;
  return false;
}
