// Where a gateway leads, in the words of a command line: `udp:OWN:HOST:PEER`, `tap:NAME`, `stream:HOST:PORT`, each also
// with `,no-wait`.
#ifndef SPINACH_GATEWAY_PLACE_H
#define SPINACH_GATEWAY_PLACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { GATEWAY_UDP, GATEWAY_TAP, GATEWAY_STREAM } GatewayKind;

typedef struct {
  GatewayKind kind;
  bool waits;         // simulated time waits for the wall clock when it is ahead
  char *text;         // all of it, as it is written
  char *host;         // of the peer; of IPv6 without brackets
  uint16_t own, peer; // ports
  char *interface;    // of a tap
} GatewayPlace;

// On failure sets *error, a whole sentence, and the place is empty.
bool gateway_place_read(const char *where, GatewayPlace *place, GError **error);
void gateway_place_clear(GatewayPlace *place);

#endif
