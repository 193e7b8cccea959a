/* mesi.h: the MESI protocol as pure functions, for every cache that is an agent of a system bus; see coherence_types.
 */
#ifndef MESI_H
#define MESI_H

#include <stdbool.h>

/* Tags of a cache's requests to the bus. */
enum { MESI_FILL, MESI_WRITE_BACK };

/* What an agent does about another's transaction for a line of which it has `now`. */
typedef struct {
  snoop_result result;
  line_state next;
} mesi_step;

static inline mesi_step mesi_snooped(line_state now, bus_op op) {
  const snoop_result sent = now == line_state_modified    ? snoop_result_modified
                            : now == line_state_exclusive ? snoop_result_clean
                                                          : snoop_result_none;
  if (now == line_state_invalid) return (mesi_step){snoop_result_none, now};
  switch (op) {
  case bus_op_read_shared:
    return (mesi_step){sent == snoop_result_none ? snoop_result_shared : sent, line_state_shared};
  case bus_op_read_exclusive:
  case bus_op_upgrade: return (mesi_step){sent, line_state_invalid};
  case bus_op_read_once: return (mesi_step){now == line_state_modified ? sent : snoop_result_shared, now};
  case bus_op_write_part: return (mesi_step){now == line_state_modified ? sent : snoop_result_none, line_state_invalid};
  case bus_op_write_line: return (mesi_step){snoop_result_none, line_state_invalid};
  default: return (mesi_step){snoop_result_none, now}; /* another's write_back is of a line that only it has */
  }
}

/* Whether a transaction writes the line, so that a link to it ends. */
static inline bool mesi_writes(bus_op op) {
  return op == bus_op_read_exclusive || op == bus_op_upgrade || op == bus_op_write_part || op == bus_op_write_line;
}

/* The request of a cache that has `now` of a line, for an operation that writes or only reads. */
static inline bus_op mesi_request(line_state now, bool writes) {
  return !writes ? bus_op_read_shared : now == line_state_invalid ? bus_op_read_exclusive : bus_op_upgrade;
}

/* What a cache has of a line after the response to that. */
static inline line_state mesi_filled(bool writes, bool shared) {
  return writes ? line_state_modified : shared ? line_state_shared : line_state_exclusive;
}

#endif
