// Whether modules keep what their next_event says (--check-idle): an instance must not change its state, its statistics
// or its outputs before the cycle that it named, unless an input changes or an item comes in that it might have
// refused. What it sends anew is a change; that the same item is transferred again is none, nor that it is gone in the
// cycle after.  Inputs excuse no output that is decided without looking at any: its change is what the others are to be
// woken for.
//
// Every instant is stepped.  Before it, each instance of its clocks is asked; after it, the signals that debug builds
// keep in memory are compared with those of the cycle before, and the state with what it was.  Cycles in which nothing
// changed although next_event had named them are counted: those are stepped for nothing.
#include "lss/runtime/observe/idle_check.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/leap.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/type_bytes.h"

#include <glib.h>
#include <string.h>

enum { MOST_STATE = 1 << 16 }; // bytes of an instance's state that are compared

static const spinach_machine *const machine = &spinach_machine_table;

// One of the signals of a connection, and what it carried in the cycle before.
typedef struct {
  const void *value;
  const bool *some; // of data; NULL for the others
  const struct spinach_type *type;
  gsize size;
  void *before;
  bool was_some, input;
  bool from_state; // its module decides it without looking at a signal
  const char *port, *word;
} Signal;

typedef struct {
  const spinach_sleeper *who;
  GArray *signals;     // of Signal
  GArray *connections; // of uint32_t
  void *state;         // before the cycle at hand; NULL when it is not compared
  bool gave;           // in the cycle before an item was transferred, and the state changed by it
  bool took;           // in the cycle before one came in that might have been refused
  bool compared;       // a cycle was
  bool repeated;       // the cycle before had the inputs of the one before it, and changed nothing
  uint64_t next;       // the cycle that was named
  uint64_t idle, needless;
} Sleeper;

static Sleeper *sleepers;
static uint64_t *cycle_of; // per clock: the cycle at hand, UINT64_MAX when it has no edge in this instant
static bool *moved;        // per clock: since its last cycle an item was transferred that might have been refused

// ---- What is looked at

static void add_signal(Sleeper *sleeper, const spinach_connection *c, bool output, int word) {
  static const char *const words[] = {"data", "enable", "ack"};
  const spinach_observed *o = &machine->observed[c - machine->connections];
  const void *const values[] = {o->data, o->enable, o->ack};
  if (!values[word]) return;
  Signal signal = {.value = values[word],
                   .some = word ? NULL : o->some,
                   .type = word ? NULL : c->type,
                   .size = word ? sizeof(bool) : c->type->size,
                   .input = output == (word == 2),
                   .from_state = o->from_state[word],
                   .port = output ? c->from : c->to,
                   .word = words[word]};
  signal.before = g_malloc0(signal.size);
  g_array_append_val(sleeper->signals, signal);
}

// ---- Comparing

static bool is_same(const Signal *signal) {
  return signal->type ? spinach_type_equal(signal->type, signal->value, signal->before)
                      : !memcmp(signal->value, signal->before, signal->size);
}

// Keeps the signal for the next cycle; returns whether it is another than in the cycle before.
static bool take_signal(Signal *signal) {
  const bool some = !signal->some || *signal->some;
  const bool same = some == signal->was_some && (!some || is_same(signal));
  signal->was_some = some;
  if (some) memcpy(signal->before, signal->value, signal->size);
  return !same;
}

// Nothing is sent any more, or no longer committed.
static bool is_gone(const Signal *signal) {
  return signal->some ? !*signal->some : !*(const bool *)signal->value;
}

typedef struct {
  bool any;                 // item was transferred
  bool received, handshake; // one came in, and any one, that might have been refused
} Transfers;

static Transfers transfers_of(const Sleeper *sleeper) {
  Transfers transfers = {0};
  for (guint i = 0; i < sleeper->connections->len; i++) {
    const uint32_t id = g_array_index(sleeper->connections, uint32_t, i);
    if (spinach_handshake_of(&machine->observed[id]) != SPINACH_TRANSFERRED) continue;
    transfers.any = true;
    if (!machine->observed[id].may_refuse) continue;
    transfers.handshake = true;
    transfers.received |= machine->connections[id].to_instance == sleeper->who->instance;
  }
  return transfers;
}

// After each instant.
static void follow_moves(void) {
  bool any = false;
  for (uint32_t k = 0; k < machine->connection_count && !any; k++)
    any = cycle_of[machine->connections[k].clock] != UINT64_MAX && machine->observed[k].may_refuse &&
          spinach_handshake_of(&machine->observed[k]) == SPINACH_TRANSFERRED;
  for (uint32_t c = 0; c < machine->clock_count; c++) moved[c] = any || (moved[c] && cycle_of[c] == UINT64_MAX);
}

// What is worked out from the time is another in each cycle.
static void follow_time(const Sleeper *sleeper) {
  const spinach_layout *layout = machine->instances[sleeper->who->instance].layout;
  const uint8_t *state = spinach_instance_state(sleeper->who->instance);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const spinach_field *field = &layout->fields[i];
    if (!field->computed || !field->passes) continue;
    memcpy((uint8_t *)sleeper->state + field->offset, state + field->offset,
           spinach_field_elements(field) * field->type->size);
  }
}

// The first field of the state in which the cycle did more than pass; NULL when there is none.
static char *changed_field(const Sleeper *sleeper) {
  if (!sleeper->state) return NULL;
  if (sleeper->who->skip) sleeper->who->skip(sleeper->state, 1);
  follow_time(sleeper);
  return spinach_first_difference(machine->instances[sleeper->who->instance].layout,
                                  spinach_instance_state(sleeper->who->instance), sleeper->state);
}

// Whether the other side of a crossing acted in this instant too: what each of them changed cannot be told apart.
static bool is_shared(const Sleeper *sleeper) {
  for (uint32_t i = 0; i < machine->sleeper_count; i++)
    if (&sleepers[i] != sleeper && sleepers[i].who->instance == sleeper->who->instance &&
        cycle_of[sleepers[i].who->clock] != UINT64_MAX)
      return true;
  return false;
}

// ---- One instant

static void before_step(const uint64_t *cycles, const uint64_t *due, uint64_t instant) {
  for (uint32_t c = 0; c < machine->clock_count; c++) cycle_of[c] = due[c] == instant ? cycles[c] : UINT64_MAX;
  for (uint32_t i = 0; i < machine->sleeper_count; i++) {
    Sleeper *sleeper = &sleepers[i];
    if (cycle_of[sleeper->who->clock] == UINT64_MAX) continue;
    const uint32_t size = (uint32_t)machine->instances[sleeper->who->instance].layout->size;
    const void *state = spinach_instance_state(sleeper->who->instance);
    spinach_time =
        (struct spinach_time){instant, cycle_of[sleeper->who->clock], machine->clocks[sleeper->who->clock].period};
    const uint64_t next = sleeper->who->next_event(state);
    const bool unchanged = sleeper->repeated && sleeper->state && !memcmp(sleeper->state, state, size);
    sleeper->next = unchanged ? MAX(sleeper->next, next) : next;
    if (sleeper->state) memcpy(sleeper->state, state, size);
  }
}

static void fail(const Sleeper *sleeper, uint64_t cycle, const char *what, const char *why) {
  const int32_t id = sleeper->who->instance;
  spinach_time.cycle = cycle;
  g_autofree char *named = sleeper->next == UINT64_MAX ? g_strdup("never()")
                           : sleeper->next == SPINACH_WAITING
                               ? g_strdup("unchanged()")
                               : g_strdup_printf("cycle %" G_GUINT64_FORMAT, sleeper->next);
  spinach_error((uint32_t)id, "next_event said %s, and %s changed in cycle %" G_GUINT64_FORMAT " %s", named, what,
                cycle, why);
}

// Whether somebody who speaks for the instance on this clock named the cycle: a crossing has two sides on it, perhaps.
static bool is_named(const Sleeper *sleeper, uint64_t cycle) {
  for (uint32_t i = 0; i < machine->sleeper_count; i++) {
    const spinach_sleeper *who = sleepers[i].who;
    if (who->instance == sleeper->who->instance && who->clock == sleeper->who->clock && sleepers[i].next <= cycle)
      return true;
  }
  return false;
}

// An output has changed.
static void check_output(const Sleeper *sleeper, const Signal *signal, uint64_t cycle) {
  if (!signal->from_state || !sleeper->compared || is_named(sleeper, cycle)) return;
  g_autofree char *what = g_strdup_printf("%s.%s", signal->port, signal->word);
  fail(sleeper, cycle, what, "whatever its inputs are");
}

// Whether what was transferred may be gone without notice.  Who says `unchanged` is taken at its word, except for what
// it offers from its state alone: then the engine sees that it was transferred.  It sees as well what an instance gets
// that waits, so that the cycle after that is stepped.
static bool is_excused(const Sleeper *sleeper, const Signal *signal) {
  return sleeper->gave && (signal->from_state || !sleeper->who->repeats);
}

// An item that comes again to a port that always accepts is no other input.  The cycle after one with `moves` is
// stepped whatever modules say: what an instance does with an item that came in then, or comes again, needs no name.
static void compare(Sleeper *sleeper, uint64_t cycle, bool moves) {
  bool other_inputs = !sleeper->compared; // of the run, or after its checkpoint, there is no cycle before the first
  const Signal *other = NULL;
  for (guint k = 0; k < sleeper->signals->len; k++) {
    Signal *signal = &g_array_index(sleeper->signals, Signal, k);
    if (!take_signal(signal)) continue;
    other_inputs |= signal->input;
    if (signal->input || (is_gone(signal) && is_excused(sleeper, signal))) continue;
    check_output(sleeper, signal, cycle);
    other = signal;
  }
  const Transfers transfers = transfers_of(sleeper);
  g_autofree char *field = changed_field(sleeper);
  const bool stepped = moves && (transfers.any || (sleeper->took && sleeper->next == SPINACH_WAITING));
  sleeper->gave = transfers.any && (field || !sleeper->state);
  sleeper->took = transfers.received;
  sleeper->compared = true;
  sleeper->repeated = false;
  if (other_inputs || transfers.received || is_shared(sleeper) || (transfers.handshake && !other)) return;
  g_autofree char *what = other ? g_strdup_printf("%s.%s", other->port, other->word) : g_strdup(field);
  if (what && cycle < sleeper->next && !stepped) fail(sleeper, cycle, what, "although no input did");
  if (what) return;
  sleeper->repeated = true;
  sleeper->idle++;
  sleeper->needless += sleeper->next <= cycle;
}

static void after_step(void) {
  spinach_work_out_statistics(-1);
  for (uint32_t i = 0; i < machine->sleeper_count; i++) {
    const uint64_t cycle = cycle_of[sleepers[i].who->clock];
    if (cycle != UINT64_MAX) compare(&sleepers[i], cycle, moved[sleepers[i].who->clock]);
  }
  follow_moves();
}

// ---- Before the run, and after it

void spinach_idle_check_begin(void) {
  spinach_hooks.before_step = before_step;
  spinach_hooks.after_step = after_step;
  spinach_work_out_statistics(-1);
  sleepers = g_new0(Sleeper, machine->sleeper_count + 1);
  cycle_of = g_new(uint64_t, machine->clock_count);
  moved = g_new0(bool, machine->clock_count);
  for (uint32_t i = 0; i < machine->sleeper_count; i++) {
    Sleeper *sleeper = &sleepers[i];
    sleeper->who = &machine->sleepers[i];
    sleeper->signals = g_array_new(FALSE, TRUE, sizeof(Signal));
    const spinach_layout *layout = machine->instances[sleeper->who->instance].layout;
    if (layout->size <= MOST_STATE) sleeper->state = g_malloc0(layout->size);
    sleeper->connections = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t k = 0; k < machine->connection_count; k++) {
      const spinach_connection *c = &machine->connections[k];
      const bool in = c->to_instance == sleeper->who->instance, out = c->from_instance == sleeper->who->instance;
      if (c->clock != sleeper->who->clock || !(in || out)) continue;
      g_array_append_val(sleeper->connections, k);
      for (int word = 0; word < 3; word++) {
        if (in) add_signal(sleeper, c, false, word);
        if (out) add_signal(sleeper, c, true, word);
      }
    }
  }
}

bool spinach_idle_check_active(void) {
  return sleepers;
}

void spinach_idle_check_report(FILE *out) {
  for (uint32_t i = 0; i < machine->sleeper_count; i++) {
    const Sleeper *sleeper = &sleepers[i];
    const spinach_instance *instance = &machine->instances[sleeper->who->instance];
    fprintf(out, "%s : %s on %s: idle in %llu cycles, in %llu of them needlessly stepped\n", instance->path,
            instance->layout->module, machine->clocks[sleeper->who->clock].name, (unsigned long long)sleeper->idle,
            (unsigned long long)sleeper->needless);
  }
}
