// What parts find out together; see meetings.h.
#include "lss/runtime/run/meetings.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/idle_timeout.h"
#include "lss/runtime/observe/standstill.h"

enum { SLICE = 1 << 16 }; // cycles between looks for progress, as in a whole machine (run.c)

// What a part says, word by word.
enum { PROGRESS, WORK, EVENTS, FLAGS };
enum { IDLE = 1, WAITS = 2, LIVE = 4, SILENT = 8, TIMED = 16, SAME = 32 };

typedef struct {
  uint64_t progress, work, events; // the latest, and sums
  uint64_t any, all;               // flags
} Notes;

static const spinach_machine *const machine = &spinach_machine_table;
static uint64_t timeout; // of the watchdog, in ticks; 0: none
static uint64_t watch_at = UINT64_MAX, idle_at = UINT64_MAX, still_at = UINT64_MAX;
static bool trying; // all are idle but for modules that do not say when they act, whose states are compared

static const spinach_clock *fastest(void) {
  uint32_t count;
  return &spinach_clocks(&count)[spinach_fastest_of_clocks()];
}

// The first instant after a multiple of so many cycles that is later than another one.
static uint64_t multiple_behind(uint64_t instant, uint64_t cycles) {
  const uint64_t done = spinach_cycles_from(fastest(), instant) / cycles;
  return spinach_instant_after(fastest(), (done + 1) * cycles);
}

void spinach_meetings_begin(const spinach_options *options) {
  if (!machine->part || options->unwatched || options->replay_links) return; // from a record it is known how it ends
  const uint64_t now = spinach_time.now;
  const bool bounded = options->cycles != UINT64_MAX || options->until_tick != UINT64_MAX;
  timeout = spinach_ticks((spinach_count)options->watchdog);
  if (timeout) watch_at = multiple_behind(now, SLICE);
  if (spinach_idle_timeout_common(options, bounded)) idle_at = multiple_behind(now, spinach_idle_timeout_interval());
  if (!bounded) still_at = multiple_behind(now, STANDSTILL_LOOK);
}

uint64_t spinach_meetings_tick(void) {
  return MIN(watch_at, MIN(idle_at, still_at));
}

// ---- What parts say -----------------------------------------------------------------------------------------

static uint64_t flags(void) {
  uint64_t found = spinach_nothing_is_due() ? IDLE : 0;
  if (spinach_idle_timeout_can_wait()) found |= WAITS;
  if (spinach_streams_live()) found |= LIVE;
  if (machine->silent_count) found |= SILENT;
  for (uint32_t i = 0; i < machine->silent_count; i++)
    if (machine->silents[i].timed) found |= TIMED;
  if (!trying || spinach_standstill_is_same()) found |= SAME;
  return found;
}

static bool gather(uint64_t at, Notes *notes) {
  uint64_t words[BOARD_NOTE] = {spinach_passing->last_progress, 0, 0, flags()};
  uint32_t count;
  spinach_idle_timeout_say(&words[WORK], &words[EVENTS]);
  const uint64_t *all = spinach_part_attend(at, words, &count);
  *notes = (Notes){.all = UINT64_MAX};
  for (uint32_t i = 0; all && i < count; i++, all += BOARD_NOTE) {
    notes->progress = MAX(notes->progress, all[PROGRESS]);
    notes->work += all[WORK];
    notes->events += all[EVENTS];
    notes->any |= all[FLAGS];
    notes->all &= all[FLAGS];
  }
  return all;
}

// ---- What follows ---------------------------------------------------------------------------------------------------

// Without progress, and not since nothing can happen.
static char *watch(uint64_t at, const Notes *notes) {
  const bool idle = notes->all & IDLE;
  if (!idle && at - notes->progress > timeout) return spinach_standstill_stuck_text(timeout, notes->progress);
  watch_at = multiple_behind((idle ? at : notes->progress) + timeout, SLICE);
  return NULL;
}

static char *watch_idle(uint64_t at, const Notes *notes) {
  const bool judges = (notes->any & WAITS) && !(notes->any & LIVE);
  idle_at = judges ? multiple_behind(at, spinach_idle_timeout_interval()) : UINT64_MAX;
  return judges ? spinach_idle_timeout_judge(at, notes->progress, notes->work, notes->events) : NULL;
}

// The instant after which all clocks have had an edge since `at`.
static uint64_t all_ticked(uint64_t at) {
  uint32_t count;
  uint64_t latest = 0;
  const spinach_clock *clocks = spinach_clocks(&count);
  for (uint32_t i = 0; i < count; i++)
    latest = MAX(latest, spinach_instant_after(&clocks[i], spinach_cycles_from(&clocks[i], at) + 1));
  return spinach_begin_of(fastest(), spinach_cycles_from(fastest(), latest));
}

// Where some modules do not say when they act: whether a cycle of all clocks changes their states.
static bool is_at_rest(uint64_t at, const Notes *notes) {
  const bool idle = notes->all & IDLE, was_trying = trying;
  if (!(notes->any & SILENT) || (notes->any & (TIMED | LIVE))) {
    still_at = UINT64_MAX;
    return false;
  }
  trying = idle && !was_trying;
  if (trying) spinach_standstill_keep();
  still_at = trying ? all_ticked(at) : multiple_behind(at, STANDSTILL_LOOK);
  return was_trying && idle && (notes->all & SAME);
}

Meeting spinach_meetings_hold(uint64_t at, char **error) {
  Notes notes;
  const bool all = gather(at, &notes);
  // A part that had an error has left; the others end a little later, and meet no more.
  if (!all && spinach_part_end_at() != UINT64_MAX) watch_at = idle_at = still_at = UINT64_MAX;
  if (!all) return MEETING_LATER;
  const bool watches = at >= watch_at, looks = at >= idle_at, still = at >= still_at;
  if (watches && (*error = watch(at, &notes))) return MEETING_STUCK;
  if (looks && (*error = watch_idle(at, &notes))) return MEETING_IDLE;
  return still && is_at_rest(at, &notes) ? MEETING_OVER : MEETING_GOES_ON;
}
