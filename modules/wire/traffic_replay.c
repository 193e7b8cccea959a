// traffic_replay.c: recorded conversations; see traffic_replay.lss.
#include "clock/exact_time.h"
#include "generic/latency_histogram.h"
#include "wire/traffic_dependencies.h"
#include "wire/udp_traffic.h"

#define PATH(d)       ((d) == TRAFFIC_REPLAY_FROM_HOST ? param(send) : param(receive))
#define SINCE_ORIGIN  (now() - self->origin)
#define PLACE(number) ((number) % (uint32_t)param(frames))
#define RESEND_TIME   ((uint64_t)((unsigned __int128)param(resend) * ticks_per_second() / 1000000000000000u))

// ---- A state that comes from outside --------------------------------------------------------------------------------

// Frames follow in the order of their file, and edges of a frame come in the opposite order: so no list is a circle.
static bool links_end(const self_t *self, int d) {
  const uint32_t frames = (uint32_t)param(frames);
  bool end = true;
  for (uint32_t n = 0; n < self->count[d]; n++) {
    const uint32_t next = self->following[d][n];
    end &= next == TRAFFIC_REPLAY_NONE || (next > n && next < self->count[d]);
  }
  for (uint32_t c = 0; c < 2 * frames; c++)
    end &= self->front[d][c] == TRAFFIC_REPLAY_NONE || self->front[d][c] < frames;
  for (uint32_t n = 0; n < frames; n++) end &= replay_departure_frame(self->order[d][n]) < frames;
  return end;
}

check_state() {
  const uint32_t frames = (uint32_t)param(frames);
  for (int d = 0; d < 2; d++) {
    if (!links_end(self, d)) sim_error("frames of %s follow each other that there are not", PATH(d));
    if (self->gone[d] - self->completed[d] > frames)
      sim_error("%u frames of %s are on their way", self->gone[d] - self->completed[d], PATH(d));
  }
  for (uint32_t e = 0; e < 4 * frames; e++)
    if (self->edge_next[e] > e || replay_edge_frame(self->edge_frame[e]) >= frames)
      sim_error("a frame waits for one that there is not");
}

// ---- Frames that may go ---------------------------------------------------------------------------------------------

static bool earlier(const self_t *self, int d, uint32_t a, uint32_t b) {
  return self->due[d][a] != self->due[d][b] ? self->due[d][a] < self->due[d][b] : a < b;
}

static void may_go(self_t *self, int d, uint32_t n) {
  if (self->heap_size[d] == (uint32_t)param(frames)) sim_error("more frames of %s may go than there are", PATH(d));
  uint32_t at = self->heap_size[d]++;
  for (; at > 0 && earlier(self, d, n, self->heap[d][(at - 1) / 2]); at = (at - 1) / 2)
    self->heap[d][at] = self->heap[d][(at - 1) / 2];
  self->heap[d][at] = n;
}

static void take_first(self_t *self, int d) {
  uint32_t last = self->heap[d][--self->heap_size[d]], at = 0;
  for (uint32_t child; (child = 2 * at + 1) < self->heap_size[d]; at = child) {
    if (child + 1 < self->heap_size[d] && earlier(self, d, self->heap[d][child + 1], self->heap[d][child])) child++;
    if (!earlier(self, d, self->heap[d][child], last)) break;
    self->heap[d][at] = self->heap[d][child];
  }
  self->heap[d][at] = last;
}

// One of the things that a frame waits for has happened.
static void one_less(self_t *self, int d, uint32_t n, uint64_t when) {
  if (--self->pending[d][n]) return;
  const double wait = (double)self->thinking[d][n] * param(think);
  const uint64_t nanoseconds = wait < (double)INT64_MAX ? (uint64_t)wait : INT64_MAX;
  const exact_time thought = exact_time_of(nanoseconds, 1000000000, ticks_per_second());
  const uint64_t due = exact_time_ticks(exact_time_sum(exact_time_at(when), thought));
  self->due[d][n] = due < INT64_MAX ? due : INT64_MAX; // what is added to it still fits
  may_go(self, d, n);
}

// Reads the files and works out who waits for whom.
static void read_all(self_t *self, ReplayStudy *study) {
  uint8_t bytes[param(max_frame)];
  uint32_t length = 0;
  uint64_t stamp = 0;
  for (int d = 0; d < 2; d++) {
    for (uint32_t n = 0; n < self->count[d]; n++) {
      packet_at(&self->file[d], n, bytes, (uint32_t)param(max_frame) - 4, &length, &stamp);
      replay_add_frame(study, d, n, bytes, length, stamp);
    }
  }
  bool fine = true;
  if (!param(dependencies)[0]) {
    for (int d = 0; d < 2; d++)
      for (uint32_t c = 0; c < study->conversations && fine; c++) fine = replay_derive_flow(study, d, c);
  } else {
    stream text = {0};
    char line[256];
    stream_read_open(&text, param(dependencies));
    if (!stream_line(&text, line, sizeof line) || strcmp(line, "dependencies 1") != 0)
      sim_input_error("%s: a file of dependencies begins with the line 'dependencies 1'", param(dependencies));
    while (fine && stream_line(&text, line, sizeof line)) fine = replay_add_line(study, line, text.records);
  }
  if (!fine || !replay_can_begin(study)) sim_input_error("%s", study->error);
}

init() {
  self->active = !strcmp(param(mode), "correlated");
  if (!self->active) return;
  if (!param(send)[0] && !param(receive)[0])
    sim_input_error("mode correlated needs packet files: give --send and --receive");
  ReplayStudy study = {.path = {param(send), param(receive)},
                       .dependencies = param(dependencies),
                       .edge_frame = self->edge_frame,
                       .edge_next = self->edge_next,
                       .most_edges = 4u * param(frames)};
  for (int d = 0; d < 2; d++) {
    study.conversation[d] = self->conversation[d];
    study.following[d] = self->following[d];
    study.pending[d] = self->pending[d];
    study.first_edge[d] = self->first_edge[d];
    study.thinking[d] = self->thinking[d];
    if (!PATH(d)[0]) continue;
    packet_read_open(&self->file[d], PATH(d));
    uint64_t count = packet_count(&self->file[d]);
    if (count > (uint64_t)param(frames))
      sim_input_error("%s has %llu frames, at most %d can be played", PATH(d), (unsigned long long)count,
                      (int)param(frames));
    self->count[d] = self->remaining[d] = study.count[d] = (uint32_t)count;
  }
  replay_study_begin(&study);
  read_all(self, &study);
  counted(conversations) = study.conversations;
  for (int d = 0; d < 2; d++) {
    replay_times(&study, d);
    for (uint32_t n = 0; n < self->count[d]; n++) {
      count(dependent, study.think_from[d][n] != 0);
      if (study.frame[d][n].tcp)
        self->marks[d][n] = replay_marks_of_tcp(true) | replay_marks_of_data(study.frame[d][n].length != 0);
    }
    for (uint32_t c = 0; c < study.conversations; c++) {
      self->front[d][c] = study.flow[d][c].first;
      if (study.flow[d][c].first != TRAFFIC_REPLAY_NONE) one_less(self, d, study.flow[d][c].first, 0);
    }
  }
  replay_study_end(&study);
}

// Frames of a restored run are those that it has worked out, by their numbers.
static void check_frames(const self_t *self, int d) {
  const uint64_t count = stream_is_open(&self->file[d]) ? packet_count(&self->file[d]) : 0;
  if (self->active && count != self->count[d])
    sim_input_error("\"%s\": %llu frames, and the run began with %u (give it the file that it began with)", PATH(d),
                    (unsigned long long)count, self->count[d]);
}

handler(reset, send) {
  check_frames(self, 0);
}

handler(reset, receive) {
  check_frames(self, 1);
}

// ---- The run ---------------------------------------------------------------------------------------------------

// The instant from which on there is no frame left for an end, if it was not notified of that.  Where it is known what
// is faulty and dropped, frames on their way may have to be played again.
__attribute__((noinline)) static uint64_t over_at(const self_t *self, int d) {
  if (self->remaining[d] || self->end_notified[d] || !PATH(d)[0]) return never();
  if (d == TRAFFIC_REPLAY_FROM_HOST || self->gone[d] == self->completed[d]) return 0;
  if (width(wire_offered) && self->offered != self->gone[d]) return never();
  return width(drops) ? self->last_played + RESEND_TIME : 0;
}

static inline bool is_over(const self_t *self, int d) {
  uint64_t over = over_at(self, d);
  return over != never() && due(over + self->origin);
}

// Whether an end is notified in this cycle: of a frame, or once that there is no more.
__attribute__((noinline)) static bool has_next(const self_t *self, int d, uint32_t *frame) {
  *frame = TRAFFIC_NO_MORE;
  if (is_over(self, d)) return true;
  if (self->gone[d] - self->completed[d] == (uint32_t)param(frames)) return false;
  if (!self->started || self->heap_size[d] == 0 || !due(self->due[d][self->heap[d][0]] + self->origin)) return false;
  *frame = self->heap[d][0];
  return true;
}

static inline bool notification(const self_t *self, int d, uint32_t *frame) {
  return __builtin_expect(self->active, false) && has_next(self, d, frame);
}

handler(notify_host) {
  uint32_t frame = 0;
  const bool notifies = notification(self, TRAFFIC_REPLAY_FROM_HOST, &frame);
  send_if(host_next, notifies, frame);
}

handler(notify_wire) {
  uint32_t frame = 0;
  const bool notifies = notification(self, TRAFFIC_REPLAY_FROM_WIRE, &frame);
  send_if(wire_next, notifies, frame);
}

// An end has accepted a notification.
static void begins(self_t *self, int d, uint32_t frame) {
  if (frame == TRAFFIC_NO_MORE) {
    self->end_notified[d] = true;
    return;
  }
  take_first(self, d);
  self->remaining[d]--;
  self->order[d][PLACE(self->gone[d]++)] = replay_departure_of_frame(frame);
  self->played_at[d][frame] = SINCE_ORIGIN;
  if (d == TRAFFIC_REPLAY_FROM_WIRE) self->last_played = SINCE_ORIGIN;
  event(released, d == TRAFFIC_REPLAY_FROM_HOST, frame);
  if (self->losses[d][frame]) {
    count(resent);
    return;
  }
  self->begun_at[d][frame] = now();
  if (self->following[d][frame] != TRAFFIC_REPLAY_NONE) one_less(self, d, self->following[d][frame], SINCE_ORIGIN);
}

// A frame is there: those that wait for it and for all before it in its conversation have one thing less to wait for.
static void is_there(self_t *self, int d, uint32_t frame) {
  self->marks[d][frame] |= replay_marks_of_arrived(true);
  uint32_t *front = &self->front[d][self->conversation[d][frame]];
  for (; *front != TRAFFIC_REPLAY_NONE && replay_marks_arrived(self->marks[d][*front]);
       *front = self->following[d][*front]) {
    for (uint32_t e = self->first_edge[d][*front]; e; e = self->edge_next[e - 1]) {
      const replay_edge edge = self->edge_frame[e - 1];
      if (!replay_edge_room(edge)) self->responds_to[TRAFFIC_REPLAY_OTHER(d)][replay_edge_frame(edge)] = *front + 1;
      one_less(self, TRAFFIC_REPLAY_OTHER(d), replay_edge_frame(edge), SINCE_ORIGIN);
    }
  }
}

static void arrives(self_t *self, int d, uint32_t frame) {
  is_there(self, d, frame);
  uint32_t request = self->responds_to[d][frame];
  if (!request) return;
  int requester = TRAFFIC_REPLAY_OTHER(d);
  uint64_t ns =
      (uint64_t)((unsigned __int128)(now() - self->begun_at[requester][request - 1]) * 1000000000 / ticks_per_second());
  self->histogram[requester][latency_bucket(ns)]++;
  if (self->measured[requester]++ == 0 || ns < self->minimum[requester]) self->minimum[requester] = ns;
  event(responded, requester == TRAFFIC_REPLAY_FROM_HOST, frame, ns);
}

// A frame that will not arrive is played again if TCP would: with data in it, or if another waits for it.  If it is
// not, all is well unless another waits for it, or for the data behind a hole.
static void is_lost(self_t *self, int d, uint32_t frame) {
  event(missed, d == TRAFFIC_REPLAY_FROM_HOST, frame);
  const bool data = replay_marks_data(self->marks[d][frame]);
  uint32_t awaited = frame;
  while (awaited != TRAFFIC_REPLAY_NONE && !self->first_edge[d][awaited])
    awaited = data ? self->following[d][awaited] : TRAFFIC_REPLAY_NONE;
  if (param(resend) > 0 && !self->end_notified[d] &&
      (data || (replay_marks_tcp(self->marks[d][frame]) && awaited == frame))) {
    if (self->losses[d][frame]++ == MOST_LOSSES)
      sim_error("frame %u of %s did not reach %s however often it was sent", frame + 1, PATH(d),
                replay_end[TRAFFIC_REPLAY_OTHER(d)]);
    uint64_t due = self->played_at[d][frame] + RESEND_TIME;
    self->due[d][frame] = due > SINCE_ORIGIN ? due : SINCE_ORIGIN;
    self->remaining[d]++;
    may_go(self, d, frame);
    return;
  }
  if (awaited != TRAFFIC_REPLAY_NONE)
    sim_error(
        "frame %u of %s did not reach %s, and frame %u of %s responds to %s: a conversation cannot continue without",
        frame + 1, PATH(d), replay_end[TRAFFIC_REPLAY_OTHER(d)],
        replay_edge_frame(self->edge_frame[self->first_edge[d][awaited] - 1]) + 1, PATH(TRAFFIC_REPLAY_OTHER(d)),
        awaited == frame ? "it" : "what follows it");
  is_there(self, d, frame);
}

// The oldest of those on their way is lost.
static void complete_lost(self_t *self, int d) {
  const replay_departure oldest = self->order[d][PLACE(self->completed[d]++)];
  if (d == TRAFFIC_REPLAY_FROM_WIRE) self->lost++;
  if (!replay_departure_lost(oldest)) is_lost(self, d, replay_departure_frame(oldest));
}

// The end of a frame: which of those on their way is it?  Those before it are lost, for frames keep their order.
static void finish_arrival(self_t *self, int d, uint32_t length) {
  uint8_t expected[param(max_frame)];
  uint32_t size = 0;
  uint64_t stamp = 0;
  for (; self->completed[d] != self->gone[d]; complete_lost(self, d)) {
    const replay_departure oldest = self->order[d][PLACE(self->completed[d])];
    const uint32_t frame = replay_departure_frame(oldest);
    if (replay_departure_lost(oldest)) continue;
    packet_at(&self->file[d], frame, expected, (uint32_t)param(max_frame) - 4, &size, &stamp);
    if (size < (uint32_t)param(pad_to)) {
      memset(expected + size, 0, (uint32_t)param(pad_to) - size);
      size = (uint32_t)param(pad_to);
    }
    if (size == length && !memcmp(expected, self->arrival[d], length)) {
      self->completed[d]++;
      arrives(self, d, frame);
      return;
    }
  }
  sim_error("a frame of %u bytes reached %s that is none of those on their way", length,
            replay_end[TRAFFIC_REPLAY_OTHER(d)]);
}

#define ARRIVE(port, d, fcs)                                                                                           \
  do {                                                                                                                 \
    if (data(port).start) self->arriving[d] = 0;                                                                       \
    if (self->arriving[d] + data(port).count > (uint32_t)param(max_frame))                                             \
      sim_error("a frame is longer than %d bytes", (int)param(max_frame));                                             \
    memcpy(self->arrival[d] + self->arriving[d], &data(port).bytes, data(port).count);                                 \
    self->arriving[d] += data(port).count;                                                                             \
    if (data(port).end && !data(port).error) finish_arrival(self, d, self->arriving[d] - (fcs));                       \
  } while (0)

phase_end() {
  if (!self->active) return;
  if (!self->started && (acked(host_next) || !PATH(TRAFFIC_REPLAY_FROM_HOST)[0]) &&
      (acked(wire_next) || !PATH(TRAFFIC_REPLAY_FROM_WIRE)[0])) {
    self->started = true;
    self->origin = now();
  }
  if (transferred(host_next)) begins(self, TRAFFIC_REPLAY_FROM_HOST, data(host_next));
  if (transferred(wire_next)) begins(self, TRAFFIC_REPLAY_FROM_WIRE, data(wire_next));
  if (width(wire_offered) && transferred(wire_offered) && data(wire_offered).end) {
    replay_departure *offered = &self->order[TRAFFIC_REPLAY_FROM_WIRE][PLACE(self->offered++)];
    if (data(wire_offered).error) {
      is_lost(self, TRAFFIC_REPLAY_FROM_WIRE, replay_departure_frame(*offered));
      *offered = replay_departure_set_lost(*offered, true);
    }
  }
  if (transferred(wire_received)) ARRIVE(wire_received, TRAFFIC_REPLAY_FROM_HOST, 4u);
  if (transferred(host_received)) ARRIVE(host_received, TRAFFIC_REPLAY_FROM_WIRE, param(host_fcs) ? 4u : 0u);
  uint32_t drops = 0;
  for (int i = 0; i < width(drops); i++) drops += some(drops, i) ? data(drops, i) : 0;
  if (drops == self->drops_now) return;
  self->drops_now = drops;
  // As many as are on their way: none of them will come.
  if (drops - self->lost >= self->gone[TRAFFIC_REPLAY_FROM_WIRE] - self->completed[TRAFFIC_REPLAY_FROM_WIRE])
    while (self->completed[TRAFFIC_REPLAY_FROM_WIRE] != self->gone[TRAFFIC_REPLAY_FROM_WIRE])
      complete_lost(self, TRAFFIC_REPLAY_FROM_WIRE);
}

statistics() {
  counted(round_trips_host) = self->measured[TRAFFIC_REPLAY_FROM_HOST];
  counted(round_trip_host_min) = self->minimum[TRAFFIC_REPLAY_FROM_HOST];
  counted(round_trip_host_median) =
      latency_quantile(self->histogram[TRAFFIC_REPLAY_FROM_HOST], self->measured[TRAFFIC_REPLAY_FROM_HOST], 0.5);
  counted(round_trip_host_p99) =
      latency_quantile(self->histogram[TRAFFIC_REPLAY_FROM_HOST], self->measured[TRAFFIC_REPLAY_FROM_HOST], 0.99);
  counted(round_trips_wire) = self->measured[TRAFFIC_REPLAY_FROM_WIRE];
  counted(round_trip_wire_min) = self->minimum[TRAFFIC_REPLAY_FROM_WIRE];
  counted(round_trip_wire_median) =
      latency_quantile(self->histogram[TRAFFIC_REPLAY_FROM_WIRE], self->measured[TRAFFIC_REPLAY_FROM_WIRE], 0.5);
  counted(round_trip_wire_p99) =
      latency_quantile(self->histogram[TRAFFIC_REPLAY_FROM_WIRE], self->measured[TRAFFIC_REPLAY_FROM_WIRE], 0.99);
}

next_event() {
  uint64_t first = never();
  if (!self->active) return first;
  for (int d = 0; d < 2; d++) {
    uint64_t due = over_at(self, d);
    if (self->started && self->heap_size[d] && self->due[d][self->heap[d][0]] < due)
      due = self->due[d][self->heap[d][0]];
    if (due == never()) continue;
    uint64_t wait = due > SINCE_ORIGIN ? (due - SINCE_ORIGIN + clock_period() - 1) / clock_period() : 0;
    if (cycle() + wait < first) first = cycle() + wait;
  }
  return first;
}
