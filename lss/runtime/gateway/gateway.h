// The gateways of a run: where they lead, for the program around them; modules have gateway_stream.h.
#ifndef SPINACH_GATEWAY_H
#define SPINACH_GATEWAY_H

#include "lss/runtime/gateway/gateway_place.h"

typedef struct {
  char *instance;
  GatewayPlace place;
} GatewaySetting;

typedef struct {
  const GArray *settings; // of GatewaySetting: --gateway
  const char *record;     // folder of --record-links, or NULL
  const char *replay;     // folder of --replay-links, or NULL
  bool links;             // which may have records of links alone
  bool open;              // --open: other computers may be at the other end
  bool keep;              // the run may go backwards
  uint64_t ticks_per_second;
  const char *(*instance)(void); // that begins
  uint64_t (*now)(void);         // the instant of the run, in ticks
} GatewayWishes;

// Before the modules begin.
void spinach_gateways_wish(const GatewayWishes *wishes);
// When they have begun: false after a line, if the wishes name what is no gateway.  Says on standard
// error if frames come from outside.
bool spinach_gateways_begin(void);
// The index-th one and where it leads, a record for a run that has it again; false past the last.
bool spinach_gateway_at(guint index, const char **instance, const char **leads_to, bool *replayed);

#endif
