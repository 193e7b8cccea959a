// The benchmark program of the speed figures: memory copy, CRC-32, a list walk and a sort, over and over.  Each pass
// depends on the one before, and `result` is a checksum of everything done so far; main() returns it after PASSES
// passes, of which 0 means for ever.
#include <stdint.h>

#ifndef PASSES
#define PASSES 0
#endif

enum { COPY_WORDS = 512, CRC_BYTES = 512, NODES = 256, SORTED = 128 };

typedef struct Node Node;
struct Node {
  Node *next;
  uint32_t value;
};

volatile uint32_t result, passes_done;
static uint32_t source[COPY_WORDS], copy[COPY_WORDS], keys[SORTED];
static uint32_t crc_table[256];
static Node nodes[NODES];
static uint32_t seed = 12345;

static uint32_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed;
}

static void make_crc_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    crc_table[i] = c;
  }
}

static __attribute__((noinline)) void copy_words(uint32_t *to, const uint32_t *from, int count) {
  for (int i = 0; i < count; i++) to[i] = from[i];
}

static __attribute__((noinline)) uint32_t crc32(const uint8_t *p, int count) {
  uint32_t c = ~0u;
  for (int i = 0; i < count; i++) c = crc_table[(c ^ p[i]) & 255] ^ c >> 8;
  return ~c;
}

// Links the nodes in a shuffled order, so that a walk jumps about.
static __attribute__((noinline)) Node *link_nodes(void) {
  uint8_t order[NODES];
  for (int i = 0; i < NODES; i++) order[i] = (uint8_t)i;
  for (int i = NODES - 1; i > 0; i--) {
    int j = (int)(next_random() & 255) % (i + 1);
    uint8_t t = order[i];
    order[i] = order[j], order[j] = t;
  }
  for (int i = 0; i < NODES; i++) {
    nodes[order[i]].value = next_random();
    nodes[order[i]].next = i + 1 < NODES ? &nodes[order[i + 1]] : 0;
  }
  return &nodes[order[0]];
}

static __attribute__((noinline)) uint32_t walk(const Node *node) {
  uint32_t sum = 0;
  for (; node; node = node->next) sum = (sum << 1 | sum >> 31) + node->value;
  return sum;
}

static __attribute__((noinline)) void insertion_sort(uint32_t *key, int count) {
  for (int i = 1; i < count; i++) {
    uint32_t k = key[i];
    int j = i;
    for (; j > 0 && key[j - 1] > k; j--) key[j] = key[j - 1];
    key[j] = k;
  }
}

int main(void) {
  make_crc_table();
  for (int i = 0; i < COPY_WORDS; i++) source[i] = next_random();
  uint32_t sum = 0;
  for (uint32_t pass = 1; !PASSES || pass <= PASSES; pass++) {
    copy_words(copy, source, COPY_WORDS);
    source[pass % COPY_WORDS] ^= sum;
    sum = sum * 31 + crc32((const uint8_t *)copy, CRC_BYTES);
    Node *head = link_nodes();
    for (int i = 0; i < 8; i++) sum += walk(head);
    for (int i = 0; i < SORTED; i++) keys[i] = next_random();
    insertion_sort(keys, SORTED);
    for (int i = 0; i < SORTED; i++) sum = sum * 33 + keys[i];
    result = sum;
    passes_done = pass;
  }
  return (int)sum;
}
