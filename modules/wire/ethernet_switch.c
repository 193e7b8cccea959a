// ethernet_switch.c: stores frames and forwards them; see ethernet_switch.lss.
#include <string.h>

#include "clock/device_time.h"
#include "wire/ethernet_fcs.h"
#include "wire/ethernet_switch.h"
#include "wire/vlan_tag.h"

#define MOST        ((uint32_t)param(most))
#define ROOM        (MOST + 16)
#define OUT(port)   param(out_lane)[port]
#define PORTS       ((uint32_t)width(in))
#define PLACE(p, n) ((p) * (uint32_t)param(slots) + (n))
#define KNOWN       (UINT64_C(1) << 48) // tells an address of zeros from none
#define GROUP       UINT64_C(1)         // the bit of group addresses, in the first byte

// ---- Routes ----
// All bits of the result depend on all bits of x (the last steps of SplitMix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// The place of an address in the hash table of routes: that of its first route, or a vacant one.
static uint32_t route_place(const self_t *self, uint64_t address) {
  const uint32_t places = 2 * (uint32_t)param(route_count);
  uint32_t place = (uint32_t)(mix(address) % places);
  // Half of the places are vacant, unless a changed checkpoint says otherwise.
  for (uint32_t i = 0; i < places; i++) {
    if (!self->bucket[place] || self->destination[self->bucket[place] - 1] == address) break;
    place = place + 1 == places ? 0 : place + 1;
  }
  return place;
}

// The number that twelve hexadecimal digits are, the first byte of the address in its lowest bits.
static uint64_t address_of(const self_t *self, const char *digits) {
  uint64_t address = 0;
  for (int i = 0; i < 12; i++) {
    const char *known = "0123456789abcdefABCDEF", *digit = strchr(known, digits[i]);
    if (!digit) sim_error("routes: \"%s\" is not an Ethernet address of twelve hexadecimal digits", digits);
    const uint64_t value = (uint64_t)(digit - known);
    address |= (value < 16 ? value : value - 6) << (8 * (i / 2) + (i % 2 ? 0 : 4));
  }
  return address;
}

static uint32_t port_with(const char *key) {
  uint32_t port = 0;
  while (strcmp(param(port_keys)[port], key) != 0) port++;
  return port;
}

static void add_route(self_t *self, uint32_t route) {
  const char *digits = param(routes)[route].address;
  const uint64_t address = address_of(self, digits) | KNOWN;
  self->destination[route] = address;
  self->exit[route] = port_with(param(routes)[route].port);
  const uint32_t place = route_place(self, address);
  if (!self->bucket[place])
    self->bucket[place] = route + 1;
  else if (self->destination[route - 1] != address)
    sim_error("routes: those of %s do not follow one another", digits);
}

// The port for a frame to an address with a route; the number of ports if there is none.
static uint32_t route_of(const self_t *self, uint64_t to, uint64_t source) {
  if (!param(route_count)) return PORTS;
  const uint64_t address = to | KNOWN;
  const uint32_t first = self->bucket[route_place(self, address)];
  if (!first) return PORTS;
  uint32_t count = 1;
  while (first - 1 + count < (uint32_t)param(route_count) && self->destination[first - 1 + count] == address) count++;
  const uint64_t flow = mix(to + mix(source + (uint64_t)param(hash_seed)));
  return self->exit[first - 1 + (uint32_t)((flow >> 32) % count)];
}

init() {
  const uint64_t second = UINT64_C(1000000000000000);
  self->delay = device_cycles((uint64_t)param(latency), second, ticks_per_second(), clock_period());
  self->lifetime = device_cycles((uint64_t)param(age), second, ticks_per_second(), clock_period());
  for (uint32_t port = 0; port < PORTS; port++) self->floods[port] = !param(flood_count);
  for (uint32_t i = 0; i < (uint32_t)param(flood_count); i++) self->floods[param(flood_lanes)[i]] = true;
  for (uint32_t route = 0; route < (uint32_t)param(route_count); route++) add_route(self, route);
}

// ---- Addresses ----
// The first of the places in which an address may be.  Addresses differ in their last bytes, the highest of the number.
static uint32_t bucket_of(const self_t *self, uint64_t address) {
  const uint64_t mixed = address * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((mixed >> 40) % ((uint64_t)param(addresses) / SWITCH_WAYS)) * SWITCH_WAYS;
}

static bool is_vacant(const self_t *self, uint32_t place) {
  return !self->address[place] || passed(seen[place], self->lifetime);
}

// The place of an address; the size of the table if it is not known.
static uint32_t find(const self_t *self, uint64_t address) {
  const uint32_t first = bucket_of(self, address);
  for (uint32_t place = first; place < first + SWITCH_WAYS; place++)
    if (self->address[place] == (address | KNOWN) && !is_vacant(self, place)) return place;
  return (uint32_t)param(addresses);
}

// Where a new address goes: a vacant place, or that of the address that was seen least recently.
static uint32_t make_room(const self_t *self, uint64_t address) {
  const uint32_t first = bucket_of(self, address);
  uint32_t oldest = first;
  for (uint32_t place = first; place < first + SWITCH_WAYS; place++) {
    if (is_vacant(self, place)) return place;
    if (elapsed(seen[place]) > elapsed(seen[oldest])) oldest = place;
  }
  return oldest;
}

static void learn(self_t *self, uint64_t address, uint32_t port) {
  if (address & GROUP) return;
  uint32_t place = find(self, address);
  if (place == (uint32_t)param(addresses)) place = make_room(self, address);
  self->address[place] = address | KNOWN;
  self->port[place] = port;
  set_stamp(seen[place], 0);
}

// ---- Frames ----
// Puts the frame that has come at a port into the queue of an output.
static void enqueue(self_t *self, uint32_t from, uint32_t to) {
  const uint32_t length = self->arriving[from].length, queued = self->queued[to];
  count(copies);
  if (queued == (uint32_t)param(slots)) {
    count(dropped[to]);
    event(overflowed, to, length);
    return;
  }
  const uint32_t slot = PLACE(to, (self->first[to] + queued) % (uint32_t)param(slots));
  memcpy(store_span(queue, slot * ROOM, length), load_span(frame, from * ROOM, length), length);
  self->length[slot] = length;
  set_until(ready[slot], (self->delay ? self->delay : 1) + 1);
  self->queued[to]++;
  if (self->queued[to] > self->peak[to]) {
    self->peak[to] = self->queued[to];
    report(most_queued[to], self->peak[to]);
  }
  event(forwarded, to, length, queued + 1);
  sim_progress();
}

static void forward(self_t *self, uint32_t from) {
  uint64_t to = 0, source = 0;
  const uint8_t *bytes = load_span(frame, from * ROOM, 12);
  memcpy(&to, bytes, 6);
  memcpy(&source, bytes + 6, 6);
  const uint32_t exit = route_of(self, to, source);
  if (exit != PORTS) {
    if (exit == from)
      count(filtered[from]);
    else
      enqueue(self, from, exit);
    return;
  }
  if (!self->floods[from]) {
    count(filtered[from]);
    return;
  }
  learn(self, source, from);
  const uint32_t place = to & GROUP ? (uint32_t)param(addresses) : find(self, to);
  if (place != (uint32_t)param(addresses)) {
    if (self->port[place] == from)
      count(filtered[from]);
    else
      enqueue(self, from, self->port[place]);
    return;
  }
  count(flooded);
  for (uint32_t port = 0; port < PORTS; port++)
    if (port != from && self->floods[port]) enqueue(self, from, port);
}

// A beat has come at a port.
static void take(self_t *self, uint32_t port, const wire_beat_64 *beat) {
  wire_arrival *arriving = &self->arriving[port];
  if (!arriving->within)
    *arriving = (wire_arrival){.within = true, .fcs = ETHERNET_FCS_START, .wrong = !beat->start};
  else if (beat->start)
    arriving->wrong = true;
  if ((uint64_t)arriving->length + beat->count > MOST)
    arriving->wrong = true;
  else {
    memcpy(store_span(frame, port * ROOM + arriving->length, 8), &beat->bytes, 8);
    arriving->fcs = ethernet_fcs(arriving->fcs, beat->bytes, beat->count);
    arriving->length += beat->count;
  }
  if (!beat->end) return;
  arriving->within = false;
  count(received[port]);
  const uint32_t most =
      vlan_longest(load_span(frame, port * ROOM, 16), (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  if (arriving->wrong || beat->error || arriving->fcs != ETHERNET_FCS_RESIDUE || arriving->length > most ||
      arriving->length < (uint32_t)param(min_frame))
    count(damaged[port]);
  else
    forward(self, port);
}

// ---- Outputs ----
static bool offers(const self_t *self, uint32_t port) {
  return self->queued[port] && within(ready[PLACE(port, self->first[port])], 1);
}

handler(offer) {
  for (uint32_t port = 0; port < PORTS; port++) {
    if (!offers(self, port)) {
      send_nothing(out, OUT(port));
      continue;
    }
    const uint32_t slot = PLACE(port, self->first[port]), at = self->position[port], left = self->length[slot] - at;
    wire_beat_64 beat = {.count = (uint8_t)(left < 8 ? left : 8), .start = at == 0, .end = left <= 8};
    memcpy(&beat.bytes, load_span(queue, slot * ROOM + at, 8), 8);
    send(out, OUT(port), beat);
  }
}

// The beat at the head of an output has left.
static void advance(self_t *self, uint32_t port) {
  self->moved = true;
  self->position[port] += 8;
  if (self->position[port] < self->length[PLACE(port, self->first[port])]) return;
  self->position[port] = 0;
  count(sent[port]);
  self->first[port] = --self->queued[port] ? (self->first[port] + 1) % (uint32_t)param(slots) : 0;
}

phase_end() {
  self->moved = false;
  for (uint32_t port = 0; port < PORTS; port++)
    if (transferred(out, OUT(port))) advance(self, port);
  for (uint32_t port = 0; port < PORTS; port++)
    if (transferred(in, port)) take(self, port, &data(in, port));
}

// A beat that is offered stays so until its cable takes it, and another one may follow.
next_event() {
  if (self->moved) return cycle();
  uint64_t first = never();
  for (uint32_t port = 0; port < PORTS; port++) {
    const uint64_t wait = self->queued[port] ? until(ready[PLACE(port, self->first[port])]) : 0;
    if (wait && cycle() + wait - 1 < first) first = cycle() + wait - 1;
  }
  return unchanged(first);
}
