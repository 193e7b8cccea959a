// Where frames come from that somebody plays, the wire or a host's driver: checks of its parameters, and of what a
// packet file has.  `self` needs the fields and the module the parameters that are named here.
#ifndef TRAFFIC_SOURCE_H
#define TRAFFIC_SOURCE_H

#include "wire/udp_traffic.h"

// Reads how frames are offered.
#define TRAFFIC_CHOOSE_MODE()                                                                                          \
  do {                                                                                                                 \
    const int named = traffic_mode_named(param(mode));                                                                 \
    if (named < 0) sim_input_error("mode is fast, rate, timed or correlated, not '%s'", param(mode));                  \
    self->traffic = (traffic_mode)named;                                                                               \
    if (param(payload) != 0 && (param(payload) < 18 || param(payload) > 1472))                                         \
      sim_input_error("generated frames have 18 to 1472 bytes of payload, not %lld", (long long)param(payload));       \
    if (self->traffic == traffic_mode_timed && !param(input)[0] && param(payload))                                     \
      sim_input_error("generated frames carry no time stamps: mode timed needs a packet file");                        \
  } while (0)

// Frame `number` of the file, counted from 1, has this time stamp; what counts is its distance from the first.
#define TRAFFIC_TAKE_STAMP(number, file_stamp)                                                                         \
  do {                                                                                                                 \
    if (!self->stamped) self->first_stamp = (file_stamp);                                                              \
    self->stamped = true;                                                                                              \
    if (self->traffic == traffic_mode_timed && (file_stamp) < self->first_stamp + self->stamp)                         \
      sim_input_error("%s: the time stamps run backwards at frame %llu", param(input), (unsigned long long)(number));  \
    self->stamp = (file_stamp) - self->first_stamp;                                                                    \
  } while (0)

// Refuses one that is no Ethernet frame.
#define TRAFFIC_REQUIRE_HEADER(number, length)                                                                         \
  do {                                                                                                                 \
    if ((length) < 14)                                                                                                 \
      sim_input_error("%s: frame %llu has %u bytes, less than an Ethernet header", param(input),                       \
                      (unsigned long long)(number), (length));                                                         \
  } while (0)

#endif
