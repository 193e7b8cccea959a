// Computes CRC-32 (IEEE 802.3) of 4 KiB by a table, again and again, and fails if one of the sums is another than that
// of the first, or if that of "123456789" is not the known one.  A chain of a load and two operations for each byte,
// and loads of bytes beside it.
#include "console.h"

enum { BYTES = 4096, ROUNDS = 12, POLYNOMIAL = 0xedb88320 };

static unsigned table[256];
static unsigned char message[BYTES];

static void make_table(void) {
  for (unsigned n = 0; n < 256; n++) {
    unsigned sum = n;
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ (unsigned)POLYNOMIAL : sum >> 1;
    table[n] = sum;
  }
}

static unsigned crc32(const unsigned char *bytes, unsigned length) {
  unsigned sum = ~0u;
  for (unsigned n = 0; n < length; n++) sum = sum >> 8 ^ table[(sum ^ bytes[n]) & 255];
  return ~sum;
}

int main(void) {
  make_table();
  for (unsigned n = 0; n < BYTES; n++) message[n] = (unsigned char)(n * n >> 3);
  const unsigned first = crc32(message, BYTES);
  unsigned wrong = crc32((const unsigned char *)"123456789", 9) != 0xcbf43926;
  for (unsigned round = 1; round < ROUNDS; round++) wrong += crc32(message, BYTES) != first;
  print_number(wrong);
  print(" sums wrong\n");
  return (int)wrong;
}
