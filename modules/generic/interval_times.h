// Intervals between two events, for the collector that a study makes (harness/study/intervals.py): how many there were,
// how long they lasted, and how much of that a processor spent in user mode.
//
// Counts and sums are of the whole run.  Least, most, the 99th percentile and the series are of a stretch: the
// intervals that ended after the statistics were read last.  A stretch ends with the first interval after that, so
// statistics that are read twice are the same.  All of it is plain state, which a checkpoint holds.
#ifndef INTERVAL_TIMES_H
#define INTERVAL_TIMES_H

#include "generic/latency_histogram.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { INTERVAL_SERIES = 1000 };

// A processor, or another instance, at whose events intervals begin.
typedef struct {
  uint64_t begun, user_then; // when the open interval began, and the time in user mode up to then
  uint64_t user, since;      // time in user mode, without the present mode, and when that began
  uint32_t begins, ends;     // events that counted for the next beginning, and for the end of the open interval
  bool open, in_user, moded; // moded: its mode is known
} interval_source;

typedef struct {
  uint64_t count, total;               // intervals, and their lengths
  uint64_t user_count, user_total;     // those of processors with a mode, and their time in user mode
  uint64_t stretch, least, most;       // of the present stretch
  uint64_t slots;                      // values of the series in the longest stretch
  uint64_t series[INTERVAL_SERIES];    // the first intervals of the stretch
  uint32_t histogram[LATENCY_BUCKETS]; // all of them
  bool read;                           // the next interval begins a stretch
} interval_times;

static inline uint64_t interval_user(const interval_source *source, uint64_t at) {
  return source->user + (source->in_user ? at - source->since : 0);
}

// The mode of a processor from now on.  What it was before the first change follows from that: the other one.
static inline void interval_mode(interval_source *source, uint64_t at, bool user) {
  if (!source->moded && !user) {
    source->in_user = true;
    if (source->open) source->user_then = source->begun;
  }
  source->user = interval_user(source, at);
  source->since = at;
  source->in_user = user;
  source->moded = true;
}

// The event of `from`, the last of those that have to come.  An interval that is open is dropped.
static inline void interval_begin(interval_source *source, uint64_t at, uint32_t wanted) {
  if (++source->begins < wanted) return;
  source->begins = source->ends = 0;
  source->open = true;
  source->begun = at;
  source->user_then = interval_user(source, at);
}

// The event of `to`.
static inline void interval_end(interval_times *times, interval_source *source, uint64_t at, uint32_t wanted,
                                bool has_mode) {
  if (!source->open || ++source->ends < wanted) return;
  source->open = false;
  if (times->read) {
    times->stretch = 0;
    memset(times->histogram, 0, sizeof times->histogram);
    times->read = false;
  }
  const uint64_t length = at - source->begun;
  if (!times->stretch || length < times->least) times->least = length;
  if (!times->stretch || length > times->most) times->most = length;
  if (times->stretch < INTERVAL_SERIES) times->series[times->stretch] = length;
  times->histogram[latency_bucket(length)]++;
  times->stretch++;
  if (times->slots < times->stretch && times->slots < INTERVAL_SERIES) times->slots++;
  times->count++;
  times->total += length;
  if (!has_mode) return;
  times->user_count++;
  times->user_total += interval_user(source, at) - source->user_then;
}

// The same of an instance at which no interval begins: the oldest one ends.
static inline void interval_end_oldest(interval_times *times, interval_source *sources, const bool *has_mode, int count,
                                       uint64_t at, uint32_t wanted) {
  int oldest = -1;
  for (int i = 0; i < count; i++)
    if (sources[i].open && (oldest < 0 || sources[i].begun < sources[oldest].begun)) oldest = i;
  if (oldest >= 0) interval_end(times, &sources[oldest], at, wanted, has_mode[oldest]);
}

// `scale`: cycles in a unit of the lengths.
static inline void interval_report(interval_times *times, uint32_t spinach_id, const char *name, double scale) {
  char text[160];
  const struct {
    const char *what;
    uint64_t value;
    bool gauge;
  } all[] = {{"count", times->count, false},
             {"total", times->total, false},
             {"user_count", times->user_count, false},
             {"user_total", times->user_total, false},
             {"stretch", times->stretch, true},
             {"least", times->least, true},
             {"most", times->most, true},
             {"p99", latency_quantile(times->histogram, times->stretch, 0.99), true}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    snprintf(text, sizeof text, "interval.%s.%s", name, all[i].what);
    SPINACH_REPORT(all[i].gauge, text, all[i].value, "", "of the intervals ", name);
  }
  snprintf(text, sizeof text, "interval.%s.scale", name);
  report_gauge(text, scale, "", "cycles in a unit of the lengths");
  for (uint64_t i = 0; i < times->slots; i++) {
    snprintf(text, sizeof text, "interval.%s.series[%llu]", name, (unsigned long long)i);
    report_gauge(text, times->series[i], "", "length of an interval");
  }
  times->read = true;
}

#endif
