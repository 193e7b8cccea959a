// Names of signals and functions in messages.
#include "lss/schedule/schedule.h"

char *wire_name(const Wire *wire) {
  static const char *const kinds[] = {"data", "enable", "ack"};
  if (wire->kind == SIGNAL_LOCAL)
    return wire->local->lanes ? g_strdup_printf("%s.%s[%d]", wire->instance->path, wire->local->name, wire->lane)
                              : g_strdup_printf("%s.%s", wire->instance->path, wire->local->name);
  bool backward = wire->kind == SIGNAL_ACK;
  Port *port = backward ? wire->connection->to : wire->connection->from;
  int lane = backward ? wire->connection->to_lane : wire->connection->from_lane;
  g_autofree char *name = port_lane_text(port, lane);
  return g_strdup_printf("%s.%s.%s", port->instance->path, name, kinds[wire->kind]);
}

char *vertex_name(const Vertex *node) {
  if (node->kind == VERTEX_PROBE)
    return g_strdup_printf("%s observation of %s", node->instance->path, node->connection->to->name);
  const Function *f = node->function;
  const char *handler = f->kind == FUNCTION_HANDLER ? "handler " : "";
  if (f->lane >= 0) return g_strdup_printf("%s %s%s[%d]", node->instance->path, handler, f->name, f->lane);
  return g_strdup_printf("%s %s%s", node->instance->path, handler, f->name);
}
