// Computes SHA-256 of two known messages on a RISC-V core, prints the digests, and fails if one of them is wrong (FIPS
// 180-4 and its examples: "abc", and a million times "a", here cut to a thousand).
#include "console.h"

typedef unsigned int word;

static const word constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static word rotate_right(word x, int n) {
  return x >> n | x << (32 - n);
}

// One block of 64 bytes into the state.
static void compress(word state[8], const unsigned char *block) {
  word w[64], s[8];
  for (int t = 0; t < 16; t++)
    w[t] = (word)block[4 * t] << 24 | (word)block[4 * t + 1] << 16 | (word)block[4 * t + 2] << 8 | block[4 * t + 3];
  for (int t = 16; t < 64; t++) {
    const word a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[t - 7] +
           (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
  }
  for (int n = 0; n < 8; n++) s[n] = state[n];
  for (int t = 0; t < 64; t++) {
    const word e = s[4], a = s[0];
    const word x = s[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                   ((e & s[5]) ^ (~e & s[6])) + constants[t] + w[t];
    const word y =
        (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    for (int n = 7; n > 0; n--) s[n] = s[n - 1];
    s[4] += x;
    s[0] = x + y;
  }
  for (int n = 0; n < 8; n++) state[n] += s[n];
}

static void digest(const unsigned char *message, word length, word state[8]) {
  static const word start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char last[128] = {0};
  for (int n = 0; n < 8; n++) state[n] = start[n];
  word done = 0;
  for (; length - done >= 64; done += 64) compress(state, message + done);
  const word rest = length - done, end = rest < 56 ? 64 : 128;
  for (word n = 0; n < rest; n++) last[n] = message[done + n];
  last[rest] = 0x80;
  for (int n = 0; n < 4; n++) last[end - 1 - n] = (unsigned char)(length << 3 >> 8 * n);
  for (word n = 0; n < end; n += 64) compress(state, last + n);
}

static int show(const unsigned char *message, word length, const word expected[8]) {
  word state[8];
  int wrong = 0;
  digest(message, length, state);
  print_number(length);
  print(" bytes: ");
  for (int n = 0; n < 64; n++) print_char("0123456789abcdef"[state[n / 8] >> (28 - n % 8 * 4) & 15]);
  for (int n = 0; n < 8; n++) wrong |= state[n] != expected[n];
  print(wrong ? " wrong\n" : "\n");
  return wrong;
}

int main(void) {
  static const word of_abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  static const word of_as[8] = {0x41edece4, 0x2d63e8d9, 0xbf515a9b, 0xa6932e1c,
                                0x20cbc9f5, 0xa5d13464, 0x5adb5db1, 0xb9737ea3};
  static unsigned char as[1000];
  for (unsigned n = 0; n < sizeof as; n++) as[n] = 'a';
  return show((const unsigned char *)"abc", 3, of_abc) | show(as, sizeof as, of_as);
}
