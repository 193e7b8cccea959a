// Where a gateway leads; see gateway_place.h.
#include "lss/runtime/gateway/gateway_place.h"

#include "lss/runtime/text/number.h"
#include "lss/runtime/text/refusal.h"

#include <net/if.h>
#include <string.h>

static const char NO_WAIT[] = ",no-wait";

static bool refuse_word(const char *where, GError **error) {
  return spinach_refuse(error,
                        "a gateway cannot lead to \"%s\" (write udp:OWN:HOST:PEER, tap:NAME or stream:HOST:PORT, each "
                        "also with \"%s\")",
                        where, NO_WAIT);
}

static bool read_port(const char *where, const char *text, uint16_t *port, GError **error) {
  uint64_t number;
  if (!number_parse(text, 65535, &number) || !number)
    return spinach_refuse(error, "the gateway to \"%s\" has no port \"%s\" (write a number from 1 to 65535)", where,
                          text);
  *port = (uint16_t)number;
  return true;
}

// `HOST:PORT`, where an address of IPv6 is in brackets.
static bool read_peer(const char *where, const char *text, GatewayPlace *place, GError **error) {
  const char *colon = strrchr(text, ':');
  if (!colon || colon == text) return refuse_word(where, error);
  const bool brackets = text[0] == '[' && colon[-1] == ']';
  place->host = brackets ? g_strndup(text + 1, (gsize)(colon - text - 2)) : g_strndup(text, (gsize)(colon - text));
  if (!*place->host) return refuse_word(where, error);
  return read_port(where, colon + 1, &place->peer, error);
}

static bool read_udp(const char *where, const char *text, GatewayPlace *place, GError **error) {
  const char *colon = strchr(text, ':');
  if (!colon) return refuse_word(where, error);
  g_autofree char *own = g_strndup(text, (gsize)(colon - text));
  return read_port(where, own, &place->own, error) && read_peer(where, colon + 1, place, error);
}

static bool read_tap(const char *where, const char *text, GatewayPlace *place, GError **error) {
  if (!*text || strchr(text, '/') || strchr(text, '%') || strlen(text) >= IFNAMSIZ)
    return spinach_refuse(error, "the gateway to \"%s\" has no name of an interface (1 to %d characters, no \"/\")",
                          where, IFNAMSIZ - 1);
  place->interface = g_strdup(text);
  return true;
}

bool gateway_place_read(const char *where, GatewayPlace *place, GError **error) {
  static const struct {
    const char *word;
    bool (*read)(const char *where, const char *text, GatewayPlace *place, GError **error);
  } kinds[] = {[GATEWAY_UDP] = {"udp:", read_udp},
               [GATEWAY_TAP] = {"tap:", read_tap},
               [GATEWAY_STREAM] = {"stream:", read_peer}};
  *place = (GatewayPlace){.waits = !g_str_has_suffix(where, NO_WAIT)};
  g_autofree char *text = g_strndup(where, strlen(where) - (place->waits ? 0 : strlen(NO_WAIT)));
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (!g_str_has_prefix(text, kinds[i].word)) continue;
    place->kind = (GatewayKind)i;
    place->text = g_strdup(where);
    if (kinds[i].read(where, text + strlen(kinds[i].word), place, error)) return true;
    gateway_place_clear(place);
    return false;
  }
  return refuse_word(where, error);
}

void gateway_place_clear(GatewayPlace *place) {
  g_free(place->text);
  g_free(place->host);
  g_free(place->interface);
  *place = (GatewayPlace){0};
}
