// Multiplication and 32-bit division, which the compiler calls for where the processor has no instructions for them.
typedef unsigned int u32;
typedef unsigned long long u64;

u32 __mulsi3(u32 a, u32 b);
u64 __muldi3(u64 a, u64 b);
u32 __udivsi3(u32 dividend, u32 divisor);
u32 __umodsi3(u32 dividend, u32 divisor);
int __divsi3(int dividend, int divisor);
int __modsi3(int dividend, int divisor);

u32 __mulsi3(u32 a, u32 b) {
  u32 product = 0;
  for (; b; b >>= 1, a <<= 1)
    if (b & 1) product += a;
  return product;
}

u64 __muldi3(u64 a, u64 b) {
  u64 product = 0;
  for (; b; b >>= 1, a <<= 1)
    if (b & 1) product += a;
  return product;
}

// Quotient and, through the pointer, remainder: one bit at a time, as a restoring divider does.
static u32 divide(u32 dividend, u32 divisor, u32 *remainder) {
  u32 quotient = 0, rest = 0;
  for (int bit = 31; bit >= 0; bit--) {
    rest = rest << 1 | (dividend >> bit & 1);
    if (rest < divisor) continue;
    rest -= divisor;
    quotient |= 1u << bit;
  }
  *remainder = rest;
  return quotient;
}

u32 __udivsi3(u32 dividend, u32 divisor) {
  u32 remainder;
  return divide(dividend, divisor, &remainder);
}

u32 __umodsi3(u32 dividend, u32 divisor) {
  u32 remainder;
  divide(dividend, divisor, &remainder);
  return remainder;
}

static u32 magnitude(int number) {
  return number < 0 ? -(u32)number : (u32)number;
}

int __divsi3(int dividend, int divisor) {
  const u32 quotient = __udivsi3(magnitude(dividend), magnitude(divisor));
  return (int)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

int __modsi3(int dividend, int divisor) {
  const u32 remainder = __umodsi3(magnitude(dividend), magnitude(divisor));
  return (int)(dividend < 0 ? -remainder : remainder);
}
