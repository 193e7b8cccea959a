// Clock domains: every instance's, every port's, and the connections that leave one.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

#include <string.h>

static Clock *default_clock(void) {
  for (guint i = 0; i < compile->netlist->clocks->len; i++) {
    Clock *clock = compile->netlist->clocks->pdata[i];
    if (!strchr(clock->name, '.')) return clock; // the first of the top
  }
  Clock *clock = arena_new(Clock);
  *clock = (Clock){.name = "clk", .num = 1000000000, .den = 1, .id = (int)compile->netlist->clocks->len};
  g_ptr_array_add(compile->netlist->clocks, clock);
  return clock;
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

// Time is counted in ticks of which every clock's period is a whole number: the common multiple of the frequencies.
static void check_time_base(void) {
  int64_t base = 1;
  for (guint i = 0; i < compile->netlist->clocks->len; i++) {
    const Clock *clock = compile->netlist->clocks->pdata[i];
    int64_t a = base, b = clock->num;
    while (b) {
      int64_t rest = a % b;
      a = b;
      b = rest;
    }
    if (__builtin_mul_overflow(base / a, clock->num, &base)) {
      diag_error(clock->location, "overflow",
                 "with `%s`, the clocks have no common time base below 2^63 ticks per second", clock->name);
      diag_note(NOWHERE, "frequencies with common factors, as 88 MHz and 100 MHz have, share a coarser base");
      return;
    }
  }
}

void assign_clocks(void) {
  Clock *top = default_clock();
  check_time_base();
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    inst->instance->clock = inst->clock_value ? inst->clock_value->clock
                            : inst->parent    ? inst->parent->instance->clock
                                              : top;
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
