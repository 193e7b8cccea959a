// Clock domains: the time base of all clocks, every instance's and every port's domain, and the connections that leave
// one.
//
// Time is counted in ticks, 64 bits wide (lss/runtime/engine/clock.h).  Every clock's period is a whole number of them,
// unless time would then end too early: where the common multiple of all frequencies is too fine, the base is that of
// as many clocks as have a coarse one.  Each cycle of another clock begins in the tick into which it falls.  So its
// frequency stays exact, it does not drift, and edges that coincide still do.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/runtime/engine/clock.h"

#include <math.h>
#include <string.h>

// ---- The time base

enum {
  LEAST_SECONDS = 366 * 24 * 3600, // that a machine must be able to simulate
  LEAST_PERIOD = 10,               // ticks of a cycle whose beginning is rounded
  ROUNDED = 250,                   // ticks in a nanosecond, at most, where some are
};

static guint64 finest(void) {
  return SPINACH_LAST_INSTANT / LEAST_SECONDS;
}

static guint64 gcd(guint64 a, guint64 b) {
  return b ? gcd(b, a % b) : a;
}

// The common multiple; 0 where it is too fine.
static guint64 common(guint64 base, int64_t num) {
  guint64 product;
  if (__builtin_mul_overflow(base / gcd(base, (guint64)num), (guint64)num, &product) || product > finest()) return 0;
  return product;
}

// Frequencies that share a coarse base with others differ from them in factors of 2 and 5 alone.
static guint64 odd_part(const Clock *clock) {
  guint64 part = (guint64)clock->num;
  while (part % 2 == 0) part /= 2;
  while (part % 5 == 0) part /= 5;
  return part;
}

static gint compare(gconstpointer a, gconstpointer b) {
  const Clock *one = *(Clock *const *)a, *other = *(Clock *const *)b;
  const guint64 first = odd_part(one), second = odd_part(other);
  if (first != second) return first < second ? -1 : 1;
  return one->num != other->num ? (one->num < other->num ? -1 : 1) : one->id - other->id;
}

static char *frequency_text(const Clock *clock) {
  static const struct {
    const char *name;
    int64_t hertz;
  } units[] = {{"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}};
  for (guint i = 0; i < G_N_ELEMENTS(units); i++)
    if (clock->den == 1 && clock->num % units[i].hertz == 0)
      return g_strdup_printf("%" G_GINT64_FORMAT " %s", clock->num / units[i].hertz, units[i].name);
  if (clock->den == 1) return g_strdup_printf("%" G_GINT64_FORMAT " Hz", clock->num);
  return g_strdup_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT " Hz", clock->num, clock->den);
}

// A frequency that was rounded when it was written, as 66.666667 MHz: the fraction of a whole number that is meant, if
// the base would not be too fine with it; else NULL.
static char *fraction_meant(const Clock *clock, guint64 base) {
  static const int divisors[] = {1, 3, 6, 7, 9};
  const double hertz = (double)clock->num / (double)clock->den;
  const int64_t unit = hertz < 1e6 ? 1000 : 1000000;
  for (guint i = 0; i < G_N_ELEMENTS(divisors); i++) {
    const double times = hertz * divisors[i] / (double)unit, whole = round(times);
    if (whole < 1 || fabs(times - whole) > times * 1e-5) continue;
    const guint64 product = (guint64)whole * (guint64)unit;
    if (!common(base, (int64_t)(product / gcd(product, (guint64)divisors[i])))) continue;
    const char *name = unit == 1000 ? "kHz" : "MHz";
    return divisors[i] == 1 ? g_strdup_printf("%.0f %s", whole, name)
                            : g_strdup_printf("%.0f %s / %d", whole, name, divisors[i]);
  }
  return NULL;
}

// Of the clocks that have a common base, one that has none with this; NULL: it has none by itself.
static const Clock *rival_of(const Clock *clock, const GPtrArray *exact) {
  if (!common(1, clock->num) || !exact->len) return NULL;
  for (guint i = 0; i < exact->len; i++)
    if (!common((guint64)clock->num, ((Clock *)exact->pdata[i])->num)) return exact->pdata[i];
  return exact->pdata[exact->len - 1];
}

static void set_period(Clock *clock, guint64 base) {
  const unsigned __int128 ticks = (unsigned __int128)base * (guint64)clock->den, num = (guint64)clock->num;
  const unsigned __int128 period = (ticks + num - 1) / num;
  clock->rounded = ticks % num != 0;
  clock->period = period > SPINACH_LAST_INSTANT ? SPINACH_LAST_INSTANT : (guint64)period;
}

// " with `b` (88 MHz)"; "" without a rival.
static char *rival_text(const Clock *rival) {
  g_autofree char *frequency = rival ? frequency_text(rival) : NULL;
  return rival ? g_strdup_printf(" with `%s` (%s)", rival->name, frequency) : g_strdup("");
}

static bool check_range(const Clock *clock, const Clock *rival) {
  const bool fast = clock->rounded && clock->period < LEAST_PERIOD;
  if (!fast && clock->period <= SPINACH_LAST_INSTANT / 2) return true;
  g_autofree char *own = frequency_text(clock), *other = rival_text(rival);
  if (fast)
    diag_error(clock->location, "clock-range", "`%s` (%s) is too fast%s: a cycle has fewer than %d ticks of %.3g ps",
               clock->name, own, other, LEAST_PERIOD, 1e12 / (double)compile->netlist->ticks_per_second);
  else
    diag_error(clock->location, "clock-range", "`%s` (%s) is too slow%s: simulated time ends before its second cycle",
               clock->name, own, other);
  if (rival && rival->location.file) diag_note(rival->location, "`%s` is declared here", rival->name);
  return false;
}

static void report_rounded(const Clock *clock, const Clock *rival, guint64 exact_base) {
  g_autofree char *own = frequency_text(clock), *other = rival_text(rival), *meant = fraction_meant(clock, exact_base);
  diag_warning(clock->location, "time-base",
               "`%s` (%s)%s needs ticks so fine that time ends within a year: its cycles begin up to %.3g ps early",
               clock->name, own, other, 1e12 / (double)compile->netlist->ticks_per_second);
  if (rival && rival->location.file) diag_note(rival->location, "`%s` is declared here", rival->name);
  if (meant) diag_note(NOWHERE, "if %s is meant, write `%s`: all cycles then begin exactly in time", meant, meant);
}

static void choose_time_base(void) {
  Netlist *netlist = compile->netlist;
  g_autoptr(GPtrArray) sorted = g_ptr_array_copy(netlist->clocks, NULL, NULL), exact = g_ptr_array_new();
  g_ptr_array_sort(sorted, compare);
  guint64 base = 1;
  for (guint i = 0; i < sorted->len; i++) {
    const guint64 finer = common(base, ((Clock *)sorted->pdata[i])->num);
    if (finer) base = finer, g_ptr_array_add(exact, sorted->pdata[i]);
  }
  const guint64 exact_base = base, grid = ROUNDED * G_GUINT64_CONSTANT(1000000000);
  if (exact->len < sorted->len && base < grid) base *= grid / base;
  netlist->ticks_per_second = base;
  const Clock *fastest = NULL;
  for (guint i = 0; i < netlist->clocks->len; i++) {
    Clock *clock = netlist->clocks->pdata[i];
    set_period(clock, base);
    if (!fastest || clock->period < fastest->period) fastest = clock;
  }
  for (guint i = 0; i < netlist->clocks->len; i++) {
    const Clock *clock = netlist->clocks->pdata[i], *rival = clock->rounded ? rival_of(clock, exact) : NULL;
    if (!check_range(clock, rival ? rival : clock == fastest ? NULL : fastest)) continue;
    if (clock->rounded) report_rounded(clock, rival, exact_base);
  }
}

// ---- Domains

// The first clock that an instance declares; NULL: it declares none.
static Clock *first_clock(const Inst *inst) {
  g_autofree char *prefix = g_strdup_printf("%s.", inst->instance->path);
  for (guint i = 0; i < compile->netlist->clocks->len; i++) {
    Clock *clock = compile->netlist->clocks->pdata[i];
    if (g_str_has_prefix(clock->name, prefix) && !strchr(clock->name + strlen(prefix), '.')) return clock;
  }
  return NULL;
}

// Whether an instance, with all in it, needs no clock of the level around it: it has one, is a machine with clocks, or
// is a crossing, whose ports have those of their connections.
static bool has_clock(const Inst *inst) {
  const Inst *body = inst->like ? inst->like : inst;
  if (inst->clock_value || (inst->machine && first_clock(body))) return true;
  if (inst->instance->leaf) return inst->instance->leaf->crossing;
  for (guint i = 0; i < body->children->len; i++)
    if (!has_clock(body->children->pdata[i])) return false;
  return body->children->len > 0;
}

// Whether nothing at the top needs a clock of the top, as where a netlist is made of machines and cables.
static bool all_have_clocks(const Inst *top) {
  return compile->netlist->clocks->len > 0 && has_clock(top);
}

static Clock *default_clock(void) {
  for (guint i = 0; i < compile->netlist->clocks->len; i++) {
    Clock *clock = compile->netlist->clocks->pdata[i];
    if (!strchr(clock->name, '.')) return clock; // the first of the top
  }
  if (all_have_clocks(compile->insts->pdata[0])) return compile->netlist->clocks->pdata[0];
  Clock *clock = arena_new(Clock);
  *clock = (Clock){.name = "clk", .num = 1000000000, .den = 1, .id = (int)compile->netlist->clocks->len};
  g_ptr_array_add(compile->netlist->clocks, clock);
  return clock;
}

// The domain of an instance without `on`: its parent's, but of a machine that is a part of another that of the machine.
static Clock *domain_of(const Inst *inst, Clock *top) {
  if (!inst->parent) return top;
  Clock *own = inst->machine ? first_clock(inst) : NULL;
  return own ? own : inst->parent->instance->clock;
}

static bool is_crossing(const Port *port) {
  return port->instance->leaf && port->instance->leaf->crossing;
}

// A crossing's port belongs to the domain of what it is connected to.
static void assign_crossing_port(Port *port, GHashTable *torn) {
  Connection *first = NULL;
  for (guint i = 0; i < port->lanes->len; i++) {
    Connection *connection = port->lanes->pdata[i];
    if (!connection) continue;
    Port *peer = port->output ? connection->to : connection->from;
    if (is_crossing(peer)) continue;
    if (!first) {
      port->clock = peer->clock;
      first = connection;
    } else if (port->clock != peer->clock) {
      diag_error(connection->location, "clock-crossing",
                 "port `%s` of a crossing belongs to clock `%s`, but this connection to `%s`", port->name,
                 port->clock->name, peer->clock->name);
      diag_note(first->location, "the domain of the port follows from this connection");
      diag_instance(port->instance->path);
      g_hash_table_add(torn, port);
      return;
    }
  }
}

static void check_connection(Connection *connection) {
  Port *from = connection->from, *to = connection->to;
  if (from->clock == to->clock) return;
  diag_error(connection->location, "clock-crossing",
             "this connects clock `%s` (`%s.%s`) to clock `%s` (`%s.%s`); put a crossing between them",
             from->clock->name, from->instance->path, from->name, to->clock->name, to->instance->path, to->name);
  if (from->clock->location.file) diag_note(from->clock->location, "`%s` is declared here", from->clock->name);
  if (to->clock->location.file) diag_note(to->clock->location, "`%s` is declared here", to->clock->name);
}

void assign_clocks(void) {
  Clock *top = default_clock();
  choose_time_base();
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    inst->instance->clock = inst->clock_value ? inst->clock_value->clock : domain_of(inst, top);
    for (guint p = 0; p < inst->instance->ports->len; p++)
      ((Port *)inst->instance->ports->pdata[p])->clock = inst->instance->clock;
  }
  g_autoptr(GHashTable) torn = g_hash_table_new(NULL, NULL); // ports in two domains, reported
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    for (guint p = 0; p < inst->instance->ports->len; p++) {
      Port *port = inst->instance->ports->pdata[p];
      if (is_crossing(port)) assign_crossing_port(port, torn);
    }
  }
  for (guint i = 0; i < compile->netlist->connections->len; i++) {
    Connection *connection = compile->netlist->connections->pdata[i];
    if (!g_hash_table_contains(torn, connection->from) && !g_hash_table_contains(torn, connection->to))
      check_connection(connection);
  }
}
