// Who waits for whom in recorded traffic: what traffic_replay.c works out once, before the first cycle.  The arrays
// that the run needs are in the module's state, all else is for the time of the study.  Functions that find something
// wrong with the input say so in `error`, a line for the user, and return false.
#ifndef TRAFFIC_DEPENDENCIES_H
#define TRAFFIC_DEPENDENCIES_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lss/runtime/text/number.h"
#include "wire/traffic_replay.h"

typedef struct {
  const char *path[2], *dependencies;
  uint32_t count[2]; // frames of each direction
  // In the module's state; see traffic_replay.lss.
  uint32_t *conversation[2], *following[2], *pending[2], *first_edge[2];
  uint64_t *thinking[2];
  replay_edge *edge_frame;
  uint32_t *edge_next, edges, most_edges;
  // Of the study alone.
  uint8_t *keys; // of conversations
  uint32_t conversations, room;
  uint32_t *table; // conversation + 1, by hash
  ReplayFlow *flow[2];
  ReplayFrame *frame[2];
  uint64_t *stamp[2];
  uint32_t *think_from[2]; // frame of the other direction that it waits for and that comes last, + 1
  bool *think_given[2];    // its think time was given
  char error[3 * PATH_MAX + 512];
} ReplayStudy;

static inline void replay_study_begin(ReplayStudy *study) {
  uint32_t all = study->count[0] + study->count[1];
  for (study->room = 16; study->room < 2 * all;) study->room *= 2;
  study->keys = calloc(all + 1u, TRAFFIC_REPLAY_KEY);
  study->table = calloc(study->room, sizeof *study->table);
  for (int d = 0; d < 2; d++) {
    study->flow[d] = calloc(all + 1u, sizeof *study->flow[d]);
    for (uint32_t c = 0; c <= all; c++) study->flow[d][c].first = study->flow[d][c].last = TRAFFIC_REPLAY_NONE;
    study->frame[d] = calloc(study->count[d] + 1u, sizeof *study->frame[d]);
    study->stamp[d] = calloc(study->count[d] + 1u, sizeof *study->stamp[d]);
    study->think_from[d] = calloc(study->count[d] + 1u, sizeof *study->think_from[d]);
    study->think_given[d] = calloc(study->count[d] + 1u, sizeof *study->think_given[d]);
  }
}

static inline void replay_study_end(ReplayStudy *study) {
  for (int d = 0; d < 2; d++) {
    for (uint32_t c = 0; c < study->conversations; c++) free(study->flow[d][c].ahead);
    free(study->flow[d]);
    free(study->frame[d]);
    free(study->stamp[d]);
    free(study->think_from[d]);
    free(study->think_given[d]);
  }
  free(study->keys);
  free(study->table);
}

// Frame n of direction d waits for frame m of the other one.
static inline void replay_add_edge(ReplayStudy *study, int d, uint32_t n, uint32_t m, bool room) {
  int other = TRAFFIC_REPLAY_OTHER(d);
  study->edge_frame[study->edges] = replay_edge_of_frame(n) | replay_edge_of_room(room);
  study->edge_next[study->edges] = study->first_edge[other][m];
  study->first_edge[other][m] = ++study->edges;
  study->pending[d][n]++;
  uint32_t known = study->think_from[d][n];
  if (known == 0 || study->stamp[other][m] >= study->stamp[other][known - 1]) study->think_from[d][n] = m + 1;
}

static inline uint32_t replay_find_conversation(ReplayStudy *study, const uint8_t *key) {
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < TRAFFIC_REPLAY_KEY; i++) hash = (hash ^ key[i]) * 1099511628211u;
  for (uint32_t at = (uint32_t)hash & (study->room - 1);; at = (at + 1) & (study->room - 1)) {
    uint32_t known = study->table[at];
    if (known && memcmp(study->keys + (size_t)TRAFFIC_REPLAY_KEY * (known - 1), key, TRAFFIC_REPLAY_KEY) != 0) continue;
    if (!known) {
      memcpy(study->keys + (size_t)TRAFFIC_REPLAY_KEY * study->conversations, key, TRAFFIC_REPLAY_KEY);
      study->table[at] = ++study->conversations;
    }
    return study->table[at] - 1;
  }
}

// The next frame of a direction: puts it into its conversation, and follows what that side of it has sent.
static inline void replay_add_frame(ReplayStudy *study, int d, uint32_t n, const uint8_t *bytes, uint32_t length,
                                    uint64_t stamp) {
  ReplayFrame *frame = &study->frame[d][n];
  *frame = replay_parse(bytes, length, d == TRAFFIC_REPLAY_FROM_HOST);
  uint32_t c = study->conversation[d][n] = replay_find_conversation(study, frame->key);
  ReplayFlow *flow = &study->flow[d][c];
  study->stamp[d][n] = stamp;
  study->pending[d][n] = 1;
  study->following[d][n] = TRAFFIC_REPLAY_NONE;
  if (flow->first == TRAFFIC_REPLAY_NONE)
    flow->first = n;
  else
    study->following[d][flow->last] = n;
  flow->last = n;
  if (!frame->tcp) return;
  if (!flow->based) flow->base = frame->seq, flow->based = true;
  if (frame->flags & TRAFFIC_REPLAY_SYN) flow->syn = true, flow->scale = frame->scale;
  int64_t from = replay_distance(flow, frame->seq, flow->frontier);
  replay_sent(flow, from, from + frame->length);
}

// ---- What TCP says -----------------------------------------------------------------------------------------------

// The data up to a place have arrived with the first frame of their flow at which there is no hole before it; NONE when
// that is no later than what was requested before.  `replay` follows the flow as far as was needed.
static inline uint32_t replay_frame_that_sends(const ReplayStudy *study, int d, ReplayFlow *flow, ReplayFlow *replay,
                                               int64_t upto) {
  uint32_t last = TRAFFIC_REPLAY_NONE;
  while (replay->frontier < upto && flow->acked_by != TRAFFIC_REPLAY_NONE) {
    last = flow->acked_by;
    const ReplayFrame *frame = &study->frame[d][last];
    int64_t from = replay_distance(flow, frame->seq, replay->frontier);
    if (frame->tcp) replay_sent(replay, from, from + frame->length);
    flow->acked_by = study->following[d][last];
  }
  return last;
}

// The window is open up to a place with the first frame of the receiving side that says so; NONE if it was before.
static inline uint32_t replay_frame_that_opens(const ReplayStudy *study, int d, ReplayFlow *flow,
                                               const ReplayFlow *sender, int64_t upto) {
  int32_t scale = sender->scale >= 0 && flow->scale >= 0 ? flow->scale : 0;
  uint32_t last = TRAFFIC_REPLAY_NONE;
  while ((!flow->opened_before || flow->opened < upto) && flow->opened_by != TRAFFIC_REPLAY_NONE) {
    const ReplayFrame *frame = &study->frame[d][flow->opened_by];
    if (frame->flags & TRAFFIC_REPLAY_ACK) {
      int64_t window = (int64_t)frame->window << (frame->flags & TRAFFIC_REPLAY_SYN ? 0 : scale);
      int64_t limit = replay_distance(sender, frame->ack, flow->opened) + window;
      last = flow->opened_before ? flow->opened_by : TRAFFIC_REPLAY_NONE;
      if (!flow->opened_before || limit > flow->opened) flow->opened = limit;
      flow->opened_before = true;
    }
    flow->opened_by = study->following[d][flow->opened_by];
  }
  return flow->opened >= upto ? last : TRAFFIC_REPLAY_NONE;
}

// One side of a conversation: each frame waits for the data that it acknowledges and the window that it needs.
static inline bool replay_derive_flow(ReplayStudy *study, int d, uint32_t c) {
  int other = TRAFFIC_REPLAY_OTHER(d);
  ReplayFlow *flow = &study->flow[d][c], *peer = &study->flow[other][c], replay = {.base = peer->base};
  if (!peer->based || !flow->based) return true;
  bool windows = flow->syn && peer->syn, fine = true;
  int64_t acked = 0, sending = 0;
  peer->acked_by = peer->opened_by = peer->first;
  for (uint32_t n = flow->first; n != TRAFFIC_REPLAY_NONE && fine; n = study->following[d][n]) {
    const ReplayFrame *frame = &study->frame[d][n];
    if (!frame->tcp) continue;
    if (frame->flags & TRAFFIC_REPLAY_ACK && !(frame->flags & TRAFFIC_REPLAY_RST)) {
      acked = replay_distance(peer, frame->ack, acked);
      fine = acked <= peer->frontier;
      if (!fine)
        snprintf(study->error, sizeof study->error,
                 "%s: frame %u acknowledges data that %s never sends (%lld bytes more than there are)", study->path[d],
                 n + 1, study->path[other], (long long)(acked - peer->frontier));
      uint32_t m = fine ? replay_frame_that_sends(study, other, peer, &replay, acked) : TRAFFIC_REPLAY_NONE;
      if (m != TRAFFIC_REPLAY_NONE) replay_add_edge(study, d, n, m, false);
    }
    int64_t from = replay_distance(flow, frame->seq, sending);
    if (from + frame->length > sending) sending = from + frame->length;
    if (!windows || !frame->length) continue;
    uint32_t m = replay_frame_that_opens(study, other, peer, flow, from + frame->length);
    if (m != TRAFFIC_REPLAY_NONE) replay_add_edge(study, d, n, m, true);
  }
  free(replay.ahead);
  return fine;
}

// ---- What a file says --------------------------------------------------------------------------------------------

static inline int replay_direction(const char *word) {
  return !strcmp(word, "send") ? TRAFFIC_REPLAY_FROM_HOST : !strcmp(word, "receive") ? TRAFFIC_REPLAY_FROM_WIRE : -1;
}

// One line of a file of dependencies, with its number.
static inline bool replay_add_line(ReplayStudy *study, char *line, unsigned long long number) {
  enum { WHO, FRAME, AFTER, WHOM, OTHER, THINK, TIME, MOST };
  uint64_t n = 0, m = 0, think = 0;
  char what[128] = "", *words[MOST + 1];
  int count = 0;
  line[strcspn(line, "#")] = 0;
  for (char *rest, *word = strtok_r(line, " \t\r", &rest); word && count <= MOST; word = strtok_r(NULL, " \t\r", &rest))
    words[count++] = word;
  if (count == 0) return true;
  const bool thinks = count == MOST;
  const char *who = words[WHO], *whom = count > WHOM ? words[WHOM] : "";
  int d = replay_direction(who), o = replay_direction(whom);
  if ((count != THINK && !thinks) || d < 0 || o < 0 || strcmp(words[AFTER], "after") ||
      !number_parse(words[FRAME], UINT64_MAX, &n) || !number_parse(words[OTHER], UINT64_MAX, &m) ||
      (thinks && (strcmp(words[THINK], "think") || !number_parse(words[TIME], UINT64_MAX, &think))))
    snprintf(what, sizeof what,
             "expected 'send N after receive M' or 'receive N after send M', then perhaps 'think NANOSECONDS'");
  else if (d == o)
    snprintf(what, sizeof what,
             "frames of one end keep their order by themselves; a frame waits for one of the other end");
  else if (n < 1 || n > study->count[d])
    snprintf(what, sizeof what, "there is no frame %llu to %s, there are %u", (unsigned long long)n, who,
             study->count[d]);
  else if (m < 1 || m > study->count[o])
    snprintf(what, sizeof what, "there is no frame %llu to %s, there are %u", (unsigned long long)m, whom,
             study->count[o]);
  else if (study->edges == study->most_edges)
    snprintf(what, sizeof what, "more than %u lines say who waits for whom", study->most_edges);
  if (what[0]) {
    snprintf(study->error, sizeof study->error, "%s:%llu: %s", study->dependencies, number, what);
    return false;
  }
  replay_add_edge(study, d, (uint32_t)n - 1, (uint32_t)m - 1, false);
  if (thinks) {
    study->thinking[d][n - 1] = think;
    study->think_given[d][n - 1] = true;
  }
  return true;
}

// ---- Whether any frame can begin ---------------------------------------------------------------------------------

// What a frame waits for that cannot go either; `open` are the frames of the other direction that cannot.
static inline uint32_t replay_waits_for(const ReplayStudy *study, int d, uint32_t n, const uint32_t *open) {
  for (uint32_t m = 0; m < study->count[TRAFFIC_REPLAY_OTHER(d)]; m++)
    for (uint32_t e = open[m] ? study->first_edge[TRAFFIC_REPLAY_OTHER(d)][m] : 0; e; e = study->edge_next[e - 1])
      if (replay_edge_frame(study->edge_frame[e - 1]) == n) return m;
  return TRAFFIC_REPLAY_NONE;
}

// The error: frames that wait for each other.
static inline void replay_report_circular_wait(ReplayStudy *study, int d, uint32_t n, uint32_t *const open[2],
                                               uint32_t *const at[2]) {
  int other = TRAFFIC_REPLAY_OTHER(d);
  uint32_t m = replay_waits_for(study, d, n, open[other]), head = at[other][study->conversation[other][m]];
  uint32_t back = replay_waits_for(study, other, head, open[d]);
  char between[64] = "and that";
  if (head != m) snprintf(between, sizeof between, "which comes after frame %u, and that", head + 1);
  snprintf(study->error, sizeof study->error,
           "frame %u of %s waits for frame %u of %s, %s waits for frame %u of %s: no frame can begin", n + 1,
           study->path[d], m + 1, study->path[other], between, back + 1, study->path[d]);
}

// Lets everything go as if no time passed; what cannot go waits for itself in the end.
static inline bool replay_can_begin(ReplayStudy *study) {
  uint32_t *open[2], *at[2];
  for (int d = 0; d < 2; d++) {
    open[d] = calloc(study->count[d] + 1u, sizeof **open);
    at[d] = calloc(study->conversations + 1u, sizeof **at);
    for (uint32_t n = 0; n < study->count[d]; n++) open[d][n] = study->pending[d][n];
    for (uint32_t c = 0; c < study->conversations; c++) at[d][c] = study->flow[d][c].first;
  }
  // A frame is open while it counts: 1 for the one before it, 1 for each that it waits for.
  for (bool moved = true; moved;) {
    moved = false;
    for (int d = 0; d < 2; d++) {
      for (uint32_t c = 0; c < study->conversations; c++) {
        for (uint32_t n = at[d][c]; n != TRAFFIC_REPLAY_NONE && open[d][n] == 1; n = at[d][c]) {
          open[d][n] = 0;
          moved = true;
          for (uint32_t e = study->first_edge[d][n]; e; e = study->edge_next[e - 1])
            open[TRAFFIC_REPLAY_OTHER(d)][replay_edge_frame(study->edge_frame[e - 1])]--;
          at[d][c] = study->following[d][n];
        }
      }
    }
  }
  for (int d = 0; d < 2 && !study->error[0]; d++)
    for (uint32_t c = 0; c < study->conversations && !study->error[0]; c++)
      if (at[d][c] != TRAFFIC_REPLAY_NONE) replay_report_circular_wait(study, d, at[d][c], open, at);
  for (int d = 0; d < 2; d++) {
    free(open[d]);
    free(at[d]);
  }
  return !study->error[0];
}

// ---- Think times -------------------------------------------------------------------------------------------------

// From what comes last of all that a frame waits for, the frame before it included, to its own stamp; ns.
static inline void replay_times(ReplayStudy *study, int d) {
  uint64_t first = UINT64_MAX;
  for (int e = 0; e < 2; e++)
    for (uint32_t n = 0; n < study->count[e]; n++)
      if (study->stamp[e][n] < first) first = study->stamp[e][n];
  for (uint32_t c = 0; c < study->conversations; c++) {
    uint64_t before = first;
    for (uint32_t n = study->flow[d][c].first; n != TRAFFIC_REPLAY_NONE; n = study->following[d][n]) {
      uint64_t own = study->stamp[d][n], from = before;
      uint32_t cause = study->think_from[d][n];
      if (cause && (n == study->flow[d][c].first || study->stamp[TRAFFIC_REPLAY_OTHER(d)][cause - 1] > from))
        from = study->stamp[TRAFFIC_REPLAY_OTHER(d)][cause - 1];
      if (!study->think_given[d][n]) study->thinking[d][n] = own > from ? own - from : 0;
      before = own;
    }
  }
}

#endif
