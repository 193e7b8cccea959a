// Executes decoded code: a handler for each instruction, made from the bodies of bodies.h, which calls the handler of
// the next.  What is rare leaves the body before it has changed anything, and is executed as one instruction by
// system_execute.c: references that no window serves, exceptions, branches out of the page, coprocessor 0.  See
// system_code.h.
#include "arithmetic.h"
#include "system_code.h"
#include "system_private.h"
#include "unaligned.h"

#define MUSTTAIL    __attribute__((musttail))
#define RARELY(c)   __builtin_expect(!!(c), 0)
#define OPERATION   struct mips_system *m, const struct mips_op *op, const struct mips_op *next, uint64_t left
#define REGISTER(n) m->cpu.r[op->n]

// More than is ever left.
#define NOT_DELAYED (UINT64_MAX - 1)

// Where execution goes after a body; `single`: the body has done nothing, and mips_execute() does it.
struct flow {
  const struct mips_op *next, *then;
  bool single;
};

// The architectural state before an instruction.
static void write_state(OPERATION) {
  m->cpu.pc = mips_address_of(op);
  m->cpu.next_pc = mips_address_of(next);
  m->cpu.delayed = m->slot_left == left;
  m->cpu.cycle = m->end - (left + 1);
}

static MIPS_HANDLER void leave(OPERATION) {
  write_state(m, op, next, left);
}

// The operation at an address, or NULL when its page does not belong to the visit.
static inline const struct mips_op *find(const struct mips_system *m, uint32_t address) {
  const struct mips_entry *entry = &m->entry[address / MIPS_PAGE % MIPS_WINDOWS];
  if (RARELY((address & (0u - MIPS_PAGE | 3)) != entry->page)) return NULL;
  return &entry->ops[address / 4 % MIPS_PAGE_OPS];
}

static const struct mips_op *find_or_enter(struct mips_system *m, uint32_t address) {
  const struct mips_op *op = find(m, address);
  if (op != NULL) return op;
  mips_code_enter(m, address);
  return find(m, address);
}

// The operations at pc and next_pc.  The second page may displace the first.
static bool enter(struct mips_system *m, const struct mips_op **op, const struct mips_op **next, uint64_t *left) {
  m->window = m->windows[m->user_mode];
  m->entry = m->entries[m->user_mode];
  if (find_or_enter(m, m->cpu.pc) == NULL || find_or_enter(m, m->cpu.next_pc) == NULL) return false;
  *op = find(m, m->cpu.pc);
  *next = find(m, m->cpu.next_pc);
  m->end = m->deadline < UINT64_MAX ? m->deadline : UINT64_MAX - 1;
  *left = m->end - m->cpu.cycle - 1;
  m->slot_left = m->cpu.delayed ? *left : NOT_DELAYED;
  return *op != NULL && *next != NULL;
}

// Decoded code cannot go on here, or not yet.
static MIPS_HANDLER void execute_single(OPERATION) {
  write_state(m, op, next, left);
  mips_execute(m);
  if (m->cpu.cycle >= m->deadline || (m->seeks && m->cpu.pc == m->sought)) return;
  if (!enter(m, &op, &next, &left)) return;
  MUSTTAIL return op->handler(m, op, next, left);
}

bool mips_run_code(struct mips_system *m) {
  const struct mips_op *op, *next;
  uint64_t left;
  if (!enter(m, &op, &next, &left)) return false;
  op->handler(m, op, next, left);
  return true;
}

#define CONTINUE(after, then)                                                                                          \
  do {                                                                                                                 \
    const struct mips_op *after_ = (after), *then_ = (then);                                                           \
    if (RARELY(__builtin_sub_overflow(left, 1, &left))) MUSTTAIL return leave(m, after_, then_, left);                 \
    MUSTTAIL return after_->handler(m, after_, then_, left);                                                           \
  } while (0)

// References.

static inline const struct mips_window *window_at(const struct mips_system *m, uint32_t address,
                                                  enum mips_access access) {
  return &m->window[access][address / MIPS_PAGE % MIPS_WINDOWS];
}

static inline bool load_window(const struct mips_system *m, bool big_endian, uint32_t address, unsigned size,
                               uint32_t *value) {
  const struct mips_window *w = window_at(m, address, MIPS_LOAD);
  if (RARELY(!mips_window_serves(w, address, size))) return false;
  *value = mips_get(w->bytes + address % MIPS_PAGE, size, big_endian);
  return true;
}

// A store to a page that has code.
static __attribute__((noinline)) bool store_seen(struct mips_system *m, uint32_t address, unsigned size,
                                                 uint32_t value) {
  const struct mips_window *w = window_at(m, address, MIPS_STORE);
  if (((address & (0u - MIPS_PAGE | (size - 1))) | MIPS_WINDOW_CODE) != w->page) return false;
  mips_put(w->bytes + address % MIPS_PAGE, size, m->options.big_endian, value);
  mips_code_written(m, w->bytes, address % MIPS_PAGE, size);
  return true;
}

static inline bool store_window(struct mips_system *m, bool big_endian, uint32_t address, unsigned size,
                                uint32_t value) {
  const struct mips_window *w = window_at(m, address, MIPS_STORE);
  if (RARELY(!mips_window_serves(w, address, size))) return store_seen(m, address, size, value);
  mips_put(w->bytes + address % MIPS_PAGE, size, big_endian, value);
  return true;
}

static inline bool load_window_part(const struct mips_system *m, bool big_endian, bool left, uint32_t address,
                                    uint32_t old, uint32_t *result) {
  uint32_t first;
  unsigned count;
  mips_unaligned_part(big_endian, left, address, &first, &count);
  const struct mips_window *w = window_at(m, first, MIPS_LOAD);
  if (!mips_window_serves(w, first, 1)) return false;
  const uint32_t value = mips_get(w->bytes + first % MIPS_PAGE, count, big_endian);
  *result = mips_unaligned_loaded(left, count, old, value);
  return true;
}

static inline bool store_window_part(struct mips_system *m, bool big_endian, bool left, uint32_t address,
                                     uint32_t value) {
  uint32_t first;
  unsigned count;
  mips_unaligned_part(big_endian, left, address, &first, &count);
  const struct mips_window *w = window_at(m, first, MIPS_STORE);
  if (!mips_window_serves(w, first, 1)) return false;
  mips_put(w->bytes + first % MIPS_PAGE, count, big_endian, mips_unaligned_stored(left, count, value));
  return true;
}

// What the bodies are written over; each makes a handler for either byte order.  Operations that write register 0 are
// not decoded, and branches are only within their page.
#define HANDLER(name, order, body, is_big_endian)                                                                      \
  static MIPS_HANDLER void handle_##order##_##name(OPERATION) {                                                        \
    struct flow flow = {.next = next, .then = next + 1};                                                               \
    body(m, op, next, left, is_big_endian, &flow);                                                                     \
    if (RARELY(flow.single)) MUSTTAIL return execute_single(m, op, next, left);                                        \
    CONTINUE(flow.next, flow.then);                                                                                    \
  }
#define BODY(name)                                                                                                     \
  static inline void do_##name(OPERATION, bool big_endian, struct flow *flow);                                         \
  HANDLER(name, little, do_##name, false)                                                                              \
  HANDLER(name, big, do_##name, true)                                                                                  \
  static inline __attribute__((always_inline)) void do_##name(                                                         \
      [[maybe_unused]] struct mips_system *m, [[maybe_unused]] const struct mips_op *op,                               \
      [[maybe_unused]] const struct mips_op *next, [[maybe_unused]] uint64_t left, [[maybe_unused]] bool big_endian,   \
      [[maybe_unused]] struct flow *flow)

#define RS        REGISTER(rs)
#define RT        REGISTER(rt)
#define SHIFT     op->shift
#define SIGNED    mips_signed(op->word)
#define UNSIGNED  mips_unsigned(op->word)
#define EXTRACTED mips_extracted(op->word)
#define INSERTED  mips_inserted(op->word)
#define SET_RD(v) ((void)(REGISTER(rd) = (v)))
#define SET_RT(v) ((void)(REGISTER(rt) = (v)))
#define SET_RA(v) ((void)(m->cpu.r[31] = (v)))
#define STATE     m->cpu
#define TRY(action)                                                                                                    \
  do {                                                                                                                 \
    if (!(action)) {                                                                                                   \
      flow->single = true;                                                                                             \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)
#define RAISE(kind) TRY(false)
// Links are rare.
#define load_linked(...)       ((void)(v_ = 0), false)
#define store_conditional(...) ((void)(v_ = 0), false)
// The byte order is a constant of the handler.
#define load(m, ...)       load_window(m, big_endian, __VA_ARGS__)
#define store(m, ...)      store_window(m, big_endian, __VA_ARGS__)
#define load_part(m, ...)  load_window_part(m, big_endian, __VA_ARGS__)
#define store_part(m, ...) store_window_part(m, big_endian, __VA_ARGS__)
#include "binding_memory.h"

// The next operation is a delay slot, and after it comes `target`.
#define BRANCH_TO(target)                                                                                              \
  do {                                                                                                                 \
    flow->then = (target);                                                                                             \
    m->slot_left = left - 1;                                                                                           \
  } while (0)
#define JUMP_TO(a)                                                                                                     \
  do {                                                                                                                 \
    const struct mips_op *to_ = find(m, a);                                                                            \
    TRY(to_ != NULL);                                                                                                  \
    BRANCH_TO(to_);                                                                                                    \
  } while (0)
#define RETURN_ADDRESS (mips_address_of(next) + 4)
#define JUMP_TARGET()  JUMP_TO((mips_address_of(next) & 0xf0000000u) | (op->word & 0x03ffffff) << 2)
// Only where the delay slot follows: a branch in a delay slot counts from elsewhere.
#define NEAR (next + (int32_t)SIGNED)
#define BRANCH(c)                                                                                                      \
  do {                                                                                                                 \
    const bool c_ = (c);                                                                                               \
    TRY(next == op + 1);                                                                                               \
    BRANCH_TO(c_ ? NEAR : next + 1);                                                                                   \
  } while (0)
#define LIKELY(c)                                                                                                      \
  do {                                                                                                                 \
    const bool c_ = (c);                                                                                               \
    TRY(next == op + 1);                                                                                               \
    if (c_)                                                                                                            \
      BRANCH_TO(NEAR);                                                                                                 \
    else                                                                                                               \
      *flow = (struct flow){.next = next + 1, .then = next + 2};                                                       \
  } while (0)

#include "bodies.h"

// Decoding.

// Of the operation at the address that is sought, or was when one was sought last.
static MIPS_HANDLER void handle_sought(OPERATION) {
  if (m->seeks) MUSTTAIL return leave(m, op, next, left);
  MUSTTAIL return execute_single(m, op, next, left);
}

// A register that an instruction writes is 0.
static bool writes_zero(const struct mips_info *info, const struct mips_op *op) {
  return ((info->writes & MIPS_FIELD_rd) && op->rd == 0) || ((info->writes & MIPS_FIELD_rt) && op->rt == 0);
}

// What the handler of a branch relies on: its target is in the page.
static bool is_near(const struct mips_op *op) {
  const int64_t target = op - mips_code_of(op)->ops + 1 + (int32_t)mips_signed(op->word);
  return target >= 0 && target < MIPS_PAGE_OPS;
}

#define LITTLE(name) [MIPS_##name] = handle_little_##name,
#define BIG(name)    [MIPS_##name] = handle_big_##name,
static mips_handler *const handlers[2][MIPS_INSTRUCTIONS] = {{MIPS_EACH_USER_INSTRUCTION(LITTLE)},
                                                             {MIPS_EACH_USER_INSTRUCTION(BIG)}};

static mips_handler *handler_of(const struct mips_system *m, const struct mips_op *op) {
  const enum mips_set set = m->options.vpes > 0 ? MIPS_SET_mips32r2_mt : MIPS_SET_mips32r2_system;
  const enum mips_instruction i = mips_find(set, op->word);
  const struct mips_info *info = &mips_info[i];
  if (mips_address_of(op) == m->sought) return handle_sought;
  mips_handler *const handler = handlers[m->options.big_endian][i];
  if (handler == NULL) return execute_single;
  if (i == MIPS_sll && op->rd == 0) return handle_little_sync; // nop
  if (writes_zero(info, op)) return execute_single;
  if (info->kind == MIPS_CLASS_branch && !is_near(op)) return execute_single;
  // A call leaves its body when the target is not known, and must not have changed the register that says it.
  if (info->kind == MIPS_CLASS_jump && (info->writes & MIPS_FIELD_rd) && op->rd == op->rs) return execute_single;
  return handler;
}

static MIPS_HANDLER void handle_undecoded(OPERATION) {
  struct mips_op *mine = (struct mips_op *)op;
  const struct mips_code_page *page = mips_code_of(op);
  const uint32_t word = mips_get(page->bytes + 4 * (op - page->ops), 4, m->options.big_endian);
  mine->word = word;
  mine->rs = (uint8_t)mips_rs(word);
  mine->rt = (uint8_t)mips_rt(word);
  mine->rd = (uint8_t)mips_rd(word);
  mine->shift = (uint8_t)mips_shift(word);
  mine->handler = handler_of(m, op);
  MUSTTAIL return op->handler(m, op, next, left);
}

static MIPS_HANDLER void handle_beyond(OPERATION) {
  const struct mips_op *here = find(m, mips_address_of(op));
  if (here == NULL) MUSTTAIL return execute_single(m, op, next, left);
  const struct mips_op *then = next == op + 1 ? here + 1 : next;
  MUSTTAIL return here->handler(m, here, then, left);
}

struct mips_code *mips_code_new(void) {
  return mips_code_allocate(handle_undecoded, handle_beyond);
}
