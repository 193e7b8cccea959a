// Whether processors only wait, and nothing new happens; see idle_timeout.h.
#include "lss/runtime/observe/idle_timeout.h"

#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/observe/roles.h"
#include "lss/runtime/observe/trigger.h"

enum {
  LOOKS = 16,       // in the time of the option
  LEAST = 1 << 16,  // cycles of the fastest clock between two
  WORKED_PART = 10, // of the time in which one works for more than 1 / WORKED_PART, it does not only wait
};

static const spinach_machine *const machine = &spinach_machine_table;

static uint64_t limit;    // ticks; 0: there is none
static uint64_t interval; // cycles of the fastest clock between two looks
static bool always;       // also where something bounds the run
static uint64_t counted;  // events for conditions, at the latest look

// The time in which the processor of a view did anything but wait, in ticks; 0 of other views.
static uint64_t work_of(const spinach_debug_view *view) {
  const spinach_debug_role *idle = view_role(view, "idle"), *halted = view_role(view, "halted");
  if (!idle) return 0;
  const int32_t clock = machine->instances[idle->state.instance].clock;
  spinach_work_out_statistics(idle->state.instance);
  uint64_t waited = (uint64_t)spinach_integer(idle->state.field->type, spinach_element(&idle->state, 0));
  if (halted) waited += (uint64_t)spinach_integer(halted->state.field->type, spinach_element(&halted->state, 0));
  return (spinach_cycles(clock) - waited) * machine->clocks[clock].period;
}

static uint64_t work(void) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < machine->view_count; i++) sum += work_of(&machine->views[i]);
  return sum;
}

static uint64_t events(void) {
  uint64_t sum = 0;
  for (int i = 0; machine->watches[i]; i++) sum += spinach_watch_count(i);
  return sum;
}

bool spinach_idle_timeout_can_wait(void) {
  for (uint32_t i = 0; i < machine->view_count; i++)
    if (view_role(&machine->views[i], "idle")) return true;
  return false;
}

static void begin(const spinach_options *options) {
  uint32_t count;
  const spinach_clock *fastest = &spinach_clocks(&count)[spinach_fastest_of_clocks()];
  limit = spinach_ticks((spinach_count)options->idle_timeout);
  always = options->idle_timeout_given;
  interval = MAX(limit / LOOKS / fastest->period, LEAST);
  counted = events();
}

void spinach_idle_timeout_begin(const spinach_options *options) {
  if (options->idle_timeout && !options->unwatched && !spinach_streams_live() && spinach_idle_timeout_can_wait())
    begin(options);
}

bool spinach_idle_timeout_common(const spinach_options *options, bool bounded) {
  if (!options->idle_timeout || options->unwatched) return false;
  begin(options);
  return always || !bounded;
}

uint64_t spinach_idle_timeout_interval(void) {
  return interval;
}

uint64_t spinach_idle_timeout_distance(void) {
  return limit && !machine->part ? interval - spinach_cycles(spinach_fastest_clock()) % interval : UINT64_MAX;
}

// Whether something new has happened since the latest look.
static bool is_new(uint64_t now, uint64_t progress, uint64_t worked, uint64_t happened) {
  spinach_clockwork *passing = spinach_passing;
  const uint64_t before = passing->worked, looked = passing->looked, known = counted;
  passing->worked = worked;
  passing->looked = now;
  counted = happened;
  return !looked || looked > now || passing->idle_since > now || known != happened || progress >= looked ||
         worked - before > (now - looked) / WORKED_PART;
}

void spinach_idle_timeout_say(uint64_t *worked, uint64_t *happened) {
  *worked = work();
  *happened = events();
}

char *spinach_idle_timeout_judge(uint64_t now, uint64_t progress, uint64_t worked, uint64_t happened) {
  if (is_new(now, progress, worked, happened)) spinach_passing->idle_since = now;
  if (now - spinach_passing->idle_since < limit) return NULL;
  const double second = (double)machine->ticks_per_second;
  return g_strdup_printf("nothing new has happened for %.6g s of simulated time: processors only wait for interrupts, "
                         "and the last output or transfer was at %.9g s (--idle-timeout TIME waits longer, off: for "
                         "ever)",
                         (double)limit / second, (double)progress / second);
}

char *spinach_idle_timeout_error(void) {
  if (!limit || machine->part || spinach_advancing.active || !(always || spinach_advancing.endless)) return NULL;
  const uint64_t cycles = spinach_cycles(spinach_fastest_clock()), now = spinach_time.now;
  if (!cycles || cycles % interval || spinach_passing->looked == now) return NULL;
  return spinach_idle_timeout_judge(now, spinach_passing->last_progress, work(), events());
}
