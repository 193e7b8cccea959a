// What a wave shows: the signals and states that patterns name.
//
//   cpu[0].fetch.out            the signals of a port: data with `valid`, enable and ack
//   cpu[0].fetch.out.data.pc    one of them, or a member of its data, of a struct or of a packed word
//   cpu[0].fetch.pc             a state or a statistic; a[3], a[2..5]: of elements of an array
//   cpu[0].**                   all ports, states and statistics of instances; of arrays those of few elements
//   port cpu[0].**              only ports; likewise `state` and `stat`
#ifndef SPINACH_WAVE_SELECTION_H
#define SPINACH_WAVE_SELECTION_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/wave/format.h"

// A scalar that is shown: where it is within its place, and the variable that shows it.
typedef struct {
  uint32_t offset, size; // bytes
  uint32_t first, width; // bits of these bytes: all that the type has, or of a packed word those of a member
  uint32_t variable;
  const struct spinach_type *type;
} WaveScalar;

// Memory that is looked at as a whole: the data of a connection, one handshake signal, a state.
typedef struct {
  const uint8_t *at;
  const bool *some; // whether there is anything; NULL: always
  uint32_t size;
  int32_t clock;   // of a signal; -1: a state, which may change at any instant
  GArray *scalars; // WaveScalar
  uint8_t *last;   // what was shown
  bool shown;      // there was something to show
} WavePlace;

// A name under which a scalar is shown.
typedef struct {
  GPtrArray *parts;     // char*: scopes below the machine, and the variable's name
  guint modules, ports; // how many of them are instances; how many of the next are of a port
  guint place, scalar;
} WaveName;

typedef struct {
  GPtrArray *places; // WavePlace*
  GPtrArray *names;  // WaveName*, in the order of the netlist
} WaveSelection;

// Finds all that the patterns, separated by commas, name.  When one names nothing prints a line and returns false.
// Connections that this simulator does not keep visible are left out.
bool wave_select(const char *patterns, WaveSelection *selection);

// Adds the words for `lss build` that make visible what the patterns name and this simulator does not keep visible.
void wave_add_words(const char *patterns, GPtrArray *words);

#endif
