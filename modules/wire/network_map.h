// The map of a network that a switch has, and the paths on it, as switches of a network with link-state routing find
// them (IEEE 802.1aq): the distances of switches, breadth first, and the links of a spanning tree.
#ifndef NETWORK_MAP_H
#define NETWORK_MAP_H

#include <stdint.h>
#include <stdlib.h>

enum { NETWORK_FAR = INT32_MAX }; // a distance that no switch has, and a link that there is not

typedef struct {
  uint32_t nodes, hosts; // the hosts, which have one link each, come first
  uint32_t *first;       // per node: where the ends of its links begin; also behind the last
  uint32_t *other;       // per end: the node at the other end
  uint32_t *link;        // per end: the link; those of a node are in the order of the links
} network_map;

// The map of a list of links; `nodes` is 0 when one of them has no right numbers, and nothing has to be freed then.
static inline network_map network_map_of(const network_link *links, uint32_t count, uint32_t nodes) {
  network_map map = {.nodes = nodes};
  for (uint32_t i = 0; i < count; i++)
    if (links[i].from < 0 || links[i].to < 0 || (uint32_t)links[i].from >= nodes || (uint32_t)links[i].to >= nodes)
      return (network_map){0};
  map.first = calloc(nodes + 2u, sizeof *map.first);
  map.other = calloc(2u * count + 1, sizeof *map.other);
  map.link = calloc(2u * count + 1, sizeof *map.link);
  for (uint32_t i = 0; i < count; i++) map.first[links[i].from + 2]++, map.first[links[i].to + 2]++;
  while (map.hosts < nodes && map.first[map.hosts + 2] == 1) map.hosts++;
  for (uint32_t node = 2; node < nodes + 2; node++) map.first[node] += map.first[node - 1];
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t ends[] = {(uint32_t)links[i].from, (uint32_t)links[i].to};
    for (int k = 0; k < 2; k++) {
      const uint32_t at = map.first[ends[k] + 1]++;
      map.other[at] = ends[1 - k];
      map.link[at] = i;
    }
  }
  return map;
}

static inline void network_map_free(network_map *map) {
  free(map->first);
  free(map->other);
  free(map->link);
  *map = (network_map){0};
}

// The number of links between each switch, by its node, and the switch `root`; hosts forward nothing.
static inline void network_distances(const network_map *map, uint32_t root, uint32_t *distances) {
  uint32_t *wave = calloc(map->nodes + 1u, sizeof *wave), known = 1;
  for (uint32_t node = 0; node < map->nodes; node++) distances[node] = NETWORK_FAR;
  distances[root] = 0;
  wave[0] = root;
  for (uint32_t at = 0; at < known; at++)
    for (uint32_t end = map->first[wave[at]]; end < map->first[wave[at] + 1]; end++) {
      const uint32_t other = map->other[end];
      if (other < map->hosts || distances[other] != NETWORK_FAR) continue;
      distances[other] = distances[wave[at]] + 1;
      wave[known++] = other;
    }
  free(wave);
}

// The link by which a switch is in the spanning tree: the first one to a switch nearer the root, from which the
// distances are; NETWORK_FAR of the root.
static inline uint32_t network_tree_link(const network_map *map, const uint32_t *distances, uint32_t node) {
  for (uint32_t end = map->first[node]; end < map->first[node + 1]; end++)
    if (map->other[end] >= map->hosts && distances[map->other[end]] < distances[node]) return map->link[end];
  return NETWORK_FAR;
}

#endif
