// What all interpreters bind alike when they include bodies.h: HI and LO, and memory references.
//
// Define before including this file (it has no include guard) STATE, RS, SIGNED, TRY(action) and load(), store(),
// load_part(), store_part(), load_linked(), store_conditional(), as binding.h has them.
#define HI   STATE.hi
#define LO   STATE.lo
#define HILO ((uint64_t)STATE.hi << 32 | STATE.lo)
#define SET_HILO(v)                                                                                                    \
  do {                                                                                                                 \
    const uint64_t v_ = (v);                                                                                           \
    STATE.hi = (uint32_t)(v_ >> 32);                                                                                   \
    STATE.lo = (uint32_t)v_;                                                                                           \
  } while (0)
#define ADDRESS (RS + SIGNED)
#define LOADED(action)                                                                                                 \
  ({                                                                                                                   \
    uint32_t v_;                                                                                                       \
    TRY(action);                                                                                                       \
    v_;                                                                                                                \
  })
#define LOAD(size)      LOADED(load(m, ADDRESS, size, &v_))
#define STORE(size, v)  TRY(store(m, ADDRESS, size, v))
#define LOAD_LEFT(old)  LOADED(load_part(m, true, ADDRESS, old, &v_))
#define LOAD_RIGHT(old) LOADED(load_part(m, false, ADDRESS, old, &v_))
#define STORE_LEFT(v)   TRY(store_part(m, true, ADDRESS, v))
#define STORE_RIGHT(v)  TRY(store_part(m, false, ADDRESS, v))
#define LINK()          LOADED(load_linked(m, ADDRESS, &v_))
#define CONDITIONAL(v)  LOADED(store_conditional(m, ADDRESS, v, &v_))
