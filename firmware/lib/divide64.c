// 64-bit division and shifts, which the compiler calls for where the processor has 32-bit instructions only.
typedef unsigned long long u64;
typedef long long s64;

u64 __udivmoddi4(u64 dividend, u64 divisor, u64 *remainder);
u64 __udivdi3(u64 dividend, u64 divisor);
u64 __umoddi3(u64 dividend, u64 divisor);
s64 __divdi3(s64 dividend, s64 divisor);
s64 __moddi3(s64 dividend, s64 divisor);
u64 __ashldi3(u64 value, int count);
u64 __lshrdi3(u64 value, int count);
s64 __ashrdi3(s64 value, int count);

union halves {
  u64 whole;
  struct {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    unsigned int high, low;
#else
    unsigned int low, high;
#endif
  };
};

u64 __ashldi3(u64 value, int count) {
  union halves v = {value};
  if (count >= 32) {
    v.high = v.low << (count - 32);
    v.low = 0;
  } else if (count) {
    v.high = v.high << count | v.low >> (32 - count);
    v.low <<= count;
  }
  return v.whole;
}

u64 __lshrdi3(u64 value, int count) {
  union halves v = {value};
  if (count >= 32) {
    v.low = v.high >> (count - 32);
    v.high = 0;
  } else if (count) {
    v.low = v.low >> count | v.high << (32 - count);
    v.high >>= count;
  }
  return v.whole;
}

s64 __ashrdi3(s64 value, int count) {
  union halves v = {(u64)value};
  int high = (int)v.high;
  if (count >= 32) {
    v.low = (unsigned int)(high >> (count - 32));
    v.high = (unsigned int)(high >> 31);
  } else if (count) {
    v.low = v.low >> count | v.high << (32 - count);
    v.high = (unsigned int)(high >> count);
  }
  return (s64)v.whole;
}

// Bit by bit; a divisor of 0 gives all ones, and the dividend as remainder.
u64 __udivmoddi4(u64 dividend, u64 divisor, u64 *remainder) {
  union halves quotient = {dividend};
  u64 rest = 0;
  for (int i = 0; i < 64; i++) {
    unsigned int top = quotient.high >> 31, carried = (unsigned int)(rest >> 63);
    quotient.high = quotient.high << 1 | quotient.low >> 31;
    quotient.low <<= 1;
    rest = rest + rest + top;
    if (carried || rest >= divisor) {
      rest -= divisor;
      quotient.low |= 1;
    }
  }
  if (remainder) *remainder = rest;
  return quotient.whole;
}

u64 __udivdi3(u64 dividend, u64 divisor) {
  return __udivmoddi4(dividend, divisor, 0);
}

u64 __umoddi3(u64 dividend, u64 divisor) {
  u64 rest;
  __udivmoddi4(dividend, divisor, &rest);
  return rest;
}

s64 __divdi3(s64 dividend, s64 divisor) {
  u64 quotient =
      __udivdi3(dividend < 0 ? 0 - (u64)dividend : (u64)dividend, divisor < 0 ? 0 - (u64)divisor : (u64)divisor);
  return (s64)((dividend ^ divisor) < 0 ? 0 - quotient : quotient);
}

s64 __moddi3(s64 dividend, s64 divisor) {
  u64 rest = __umoddi3(dividend < 0 ? 0 - (u64)dividend : (u64)dividend, divisor < 0 ? 0 - (u64)divisor : (u64)divisor);
  return (s64)(dividend < 0 ? 0 - rest : rest);
}
