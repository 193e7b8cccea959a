// The kinds of an instance's state, as declared (docs/module_reference.md).
#ifndef LSS_STATE_KIND_H
#define LSS_STATE_KIND_H

typedef enum {
  STATE_BEHAVIOUR, // what decides, as a member of self
  STATE_INSTANT,   // a cycle of the instance's clock
  STATE_STAMP,     // likewise, or an instant of a crossing, and it counts how long ago it was
  STATE_COUNTER,   // what is only counted: statistics, and what they are made of
  STATE_TRACE,     // what is noted for reports
  STATE_FLIGHT,    // a ring of items, each with the instant at which it arrives
  STATE_MEMORY,    // a large array
  STATE_KINDS
} StateKind;

#endif
