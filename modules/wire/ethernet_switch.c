// ethernet_switch.c: stores frames and forwards them; see ethernet_switch.lss.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/device_time.h"
#include "wire/ethernet_fcs.h"
#include "wire/ethernet_switch.h"
#include "wire/network_map.h"
#include "wire/vlan_tag.h"

#define MOST        ((uint32_t)param(most))
#define ROOM        (MOST + 16)
#define OUT(port)   param(out_lane)[port]
#define PORTS       ((uint32_t)width(in))
#define PLACE(p, n) ((p) * (uint32_t)param(slots) + (n))
#define HOSTS       ((uint32_t)param(hosts))
#define SWITCHES    ((uint32_t)param(switches))
#define NODE        ((uint32_t)param(node))
#define EXIT(to, n) self->exit[(to) * PORTS + (n)]
#define KNOWN       (UINT64_C(1) << 48) // tells an address of zeros from none
#define GROUP       UINT64_C(1)         // the bit of group addresses, in the first byte

// ---- Paths ----
// All bits of the result depend on all bits of x (the last steps of SplitMix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// The place of an address in the hash table of hosts: that of the host, or a vacant one.
static uint32_t host_place(const self_t *self, uint64_t address) {
  const uint32_t places = 2 * HOSTS;
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
    if (!digit || !*digit) sim_error("host_addresses: \"%s\" has not twelve hexadecimal digits", digits);
    const uint64_t value = (uint64_t)(digit - known);
    address |= (value < 16 ? value : value - 6) << (8 * (i / 2) + (i % 2 ? 0 : 4));
  }
  return address;
}

// The lane of a port by its number in the network.
static uint32_t lane_of_port(const self_t *self, uint32_t number) {
  char key[16];
  snprintf(key, sizeof key, "p%u", number);
  for (uint32_t lane = 0; lane < PORTS; lane++)
    if (!strcmp(param(port_keys)[lane], key)) return lane;
  sim_error("node: %u has a link for the port \"%s\" in the network, and this switch has no such port", NODE, key);
  return 0;
}

// The host n of the network, at this switch or another one.
static void add_host(self_t *self, const network_map *map, uint32_t host) {
  const uint32_t at = map->other[map->first[host]];
  self->edge[host] = at < HOSTS ? 0 : at - HOSTS;
  self->own[host] = PORTS;
  if (host >= (uint32_t)param(address_count)) return;
  self->destination[host] = address_of(self, param(host_addresses)[host]) | KNOWN;
  const uint32_t place = host_place(self, self->destination[host]);
  if (self->bucket[place]) sim_error("host_addresses: two hosts have the address %s", param(host_addresses)[host]);
  self->bucket[place] = host + 1;
}

// The ports at which the shortest paths to a switch begin, which is this far from the others.
static void add_exits(self_t *self, const network_map *map, const uint32_t *lanes, uint32_t to,
                      const uint32_t *distances) {
  const uint32_t first = map->first[NODE];
  for (uint32_t end = first; end < map->first[NODE + 1]; end++) {
    const uint32_t other = map->other[end];
    if (other >= HOSTS && distances[other] < distances[NODE]) EXIT(to, self->exits[to]++) = lanes[end - first];
  }
}

// Which ports are in the spanning tree, and those of hosts.
static void add_tree(self_t *self, const network_map *map, const uint32_t *lanes, const uint32_t *distances) {
  const uint32_t first = map->first[NODE], up = network_tree_link(map, distances, NODE);
  for (uint32_t end = first; end < map->first[NODE + 1]; end++) {
    const uint32_t other = map->other[end], lane = lanes[end - first];
    if (other < HOSTS) self->own[other] = lane;
    self->floods[lane] =
        other < HOSTS || map->link[end] == up || map->link[end] == network_tree_link(map, distances, other);
  }
}

static void find_paths(self_t *self) {
  network_map map = network_map_of(param(links), (uint32_t)param_length(links), HOSTS + SWITCHES);
  if (!map.nodes || map.hosts != HOSTS || map.first[map.nodes] == map.first[map.nodes - 1])
    sim_error("hosts, switches: the network has not %u hosts and %u switches", HOSTS, SWITCHES);
  if (NODE < HOSTS || NODE >= map.nodes)
    sim_error("node: %u is no switch of the network, whose switches are %u to %u", NODE, HOSTS, map.nodes - 1);
  uint32_t *lanes = calloc(PORTS + map.first[NODE + 1] - map.first[NODE] + 1, sizeof *lanes),
           *distances = calloc(map.nodes + 1u, sizeof *distances);
  for (uint32_t port = 0; port < map.first[NODE + 1] - map.first[NODE]; port++) lanes[port] = lane_of_port(self, port);
  for (uint32_t host = 0; host < HOSTS; host++) add_host(self, &map, host);
  for (uint32_t to = 0; to < SWITCHES; to++) {
    bool used = to == 0;
    for (uint32_t end = map.first[HOSTS + to]; end < map.first[HOSTS + to + 1]; end++) used |= map.other[end] < HOSTS;
    if (!used) continue;
    network_distances(&map, HOSTS + to, distances);
    if (distances[NODE] == NETWORK_FAR) sim_error("links: no links lead from switch %u to switch %u", NODE, HOSTS + to);
    if (to == 0) add_tree(self, &map, lanes, distances);
    add_exits(self, &map, lanes, to, distances);
  }
  free(lanes);
  free(distances);
  network_map_free(&map);
}

// The port for a frame to a host of the network; the number of ports if there is none.
static uint32_t route_of(const self_t *self, uint64_t to, uint64_t source) {
  if (!HOSTS) return PORTS;
  const uint32_t found = self->bucket[host_place(self, to | KNOWN)];
  if (!found) return PORTS;
  if (self->own[found - 1] != PORTS) return self->own[found - 1];
  const uint32_t edge = self->edge[found - 1], count = self->exits[edge];
  if (count < 2) return count ? EXIT(edge, 0) : PORTS;
  const uint64_t flow = mix(to + mix(source + NODE - HOSTS));
  return EXIT(edge, (uint32_t)((flow >> 32) % count));
}

init() {
  const uint64_t second = UINT64_C(1000000000000000);
  self->delay = device_cycles((uint64_t)param(latency), second, ticks_per_second(), clock_period());
  self->lifetime = device_cycles((uint64_t)param(age), second, ticks_per_second(), clock_period());
  for (uint32_t port = 0; port < PORTS; port++) self->floods[port] = !HOSTS;
  if (HOSTS) find_paths(self);
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
