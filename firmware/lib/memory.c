// The memory functions that a C compiler calls on its own.
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);

typedef unsigned int __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (!(((size_t)t | (size_t)f) & 3))
    for (; count >= 4; count -= 4, t += 4, f += 4) *(word *)t = *(const word *)f;
  for (; count; count--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t <= f || t >= f + count) return memcpy(to, from, count);
  while (count--) t[count] = f[count];
  return to;
}

void *memset(void *to, int value, size_t count) {
  unsigned char *t = to;
  unsigned int pattern = (unsigned char)value * 0x01010101u;
  for (; count && (size_t)t & 3; count--) *t++ = (unsigned char)value;
  for (; count >= 4; count -= 4, t += 4) *(word *)t = pattern;
  for (; count; count--) *t++ = (unsigned char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (; count; count--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
