// Compares a processor with the functional system, instruction by instruction; see lockstep.h.
#include <stdarg.h>
#include <stdio.h>

#include "disassemble.h"
#include "lockstep.h"
#include "system_private.h"

// What steps: its architectural state is that of the lockstep that is served, everything else is decoded words and an
// empty cache of translations, whoever it serves.
static struct mips_system machine;

// What the reference functions of the machine are for.
struct step {
  struct mips_lockstep *l;
  uint64_t accepted;    // cycle in which a load was accepted, 0: not known
  uint32_t word, value; // as the processor has them
  int fails;            // the bus error that it had, or -1
  bool fetched, shows;  // `shows`: a load's value is known from what it wrote
  bool impossible;      // a register of another VPE was said to hold what it cannot
  bool wrong_evp;       // MVPControl.EVP was said to be what it is not while this VPE executes
};

static struct mips_lockstep_page *page_of(struct mips_lockstep *l, uint32_t address) {
  const uint32_t number = address / MIPS_PAGE;
  struct mips_lockstep_page *page = &l->pages[number % MIPS_LOCKSTEP_PAGES];
  if (page->number != number + 1) {
    memset(page->known, 0, sizeof page->known);
    page->number = number + 1;
  }
  return page;
}

static void remember(struct mips_lockstep *l, uint32_t address, unsigned size, uint32_t value) {
  if (address >= l->memory) return;
  struct mips_lockstep_page *page = page_of(l, address);
  const uint32_t at = address % MIPS_PAGE;
  page->known[at / 8] |= (uint8_t)(((1u << size) - 1) << at % 8);
  mips_put(page->bytes + at, size, l->options.big_endian, value);
}

// What memory holds; false: that is not known.
static bool recall(struct mips_lockstep *l, uint32_t address, unsigned size, uint32_t *value) {
  if (address >= l->memory) return false;
  const struct mips_lockstep_page *page = page_of(l, address);
  const uint32_t at = address % MIPS_PAGE, mask = (1u << size) - 1;
  if ((page->known[at / 8] >> at % 8 & mask) != mask) return false;
  *value = mips_get(page->bytes + at, size, l->options.big_endian);
  return true;
}

// The bytes that were loaded, from what the load left in its register.
static uint32_t loaded(uint32_t word, unsigned size, uint32_t value) {
  enum { LWL = 0x22 };
  if (word >> 26 == LWL) return value >> (32 - 8 * size);
  return size < 4 ? value & ((1u << 8 * size) - 1) : value;
}

// Whether others may have written to a page since a cycle, which is 0 where it is not known.
static bool overtaken(struct mips_lockstep *l, uint32_t address, uint64_t since) {
  return address < l->memory && page_of(l, address)->changed > since;
}

static bool read(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value) {
  struct step *step = user;
  const bool fetches = !step->fetched;
  step->fetched = true;
  if (step->fails == (fetches ? MIPS_EXCEPTION_IBE : MIPS_EXCEPTION_DBE)) return false;
  const bool doubtful = overtaken(step->l, address, fetches ? 0 : step->accepted);
  if (cached && (fetches || !doubtful) && recall(step->l, address, size, value)) return true;
  *value = fetches ? step->word : loaded(step->word, size, step->value);
  step->l->unchecked += !fetches;
  if (!doubtful && (fetches || step->shows)) remember(step->l, address, size, *value);
  return true;
}

static bool write(void *user, uint32_t address, unsigned size, bool cached, uint32_t value) {
  struct step *step = user;
  (void)cached;
  if (step->fails == MIPS_EXCEPTION_DBE) return false;
  remember(step->l, address, size, value);
  return true;
}

static uint8_t *no_page(void *user, uint32_t address, enum mips_access access) {
  (void)user, (void)address, (void)access;
  return NULL;
}

// Bits that a register of another VPE may have.
static uint32_t possible(enum mips_cp0 n, uint32_t vpe) {
#define VPE vpe
#define POSSIBLE(name, number, select, reset, writable, text)                                                          \
  case MIPS_CP0_##name: return (reset) | (writable);
  switch (n) {
  case MIPS_CP0_MVPControl: return MIPS_MVPCONTROL_EVP | MIPS_MVPCONTROL_VPC;
  case MIPS_CP0_VPEControl:
    return MIPS_VPECONTROL_YSI | MIPS_VPECONTROL_EXCPT | MIPS_VPECONTROL_TE | MIPS_VPECONTROL_TARGTC;
  case MIPS_CP0_TCStatus:
    return MIPS_TCSTATUS_OWN | MIPS_TCSTATUS_TDS | MIPS_TCSTATUS_WAITS | mips_tc_status(0, ~0u, ~0u);
  default: break;
  }
  switch (n) {
    MIPS_EACH_VPE_REGISTER(POSSIBLE)
  default: return ~0u;
  }
#undef POSSIBLE
#undef VPE
}

// Which interrupts wait is taken unchecked.
static void believe_lines(struct mips_system *m, uint32_t cause) {
  for (unsigned line = 2; line < 8; line++) mips_system_interrupt(m, line, cause >> (MIPS_CAUSE_IP_SHIFT + line) & 1);
}

// What is read of MVPControl, and what becomes of it.  While EVP is 0 this VPE alone executes, so nobody else sets it.
static uint32_t ask_mvp_control(struct step *step, const struct mips_system *m, struct mips_thread_request request) {
  const uint32_t enabled = step->l->alone ? 0 : MIPS_MVPCONTROL_EVP;
  const bool master = m->cpu.cp0[MIPS_CP0_VPEConf0] & MIPS_VPECONF0_MVP;
  if (request.op != MIPS_THREAD_WRITE && step->shows) {
    step->impossible |= (step->value & ~possible(MIPS_CP0_MVPControl, 0)) != 0;
    step->wrong_evp |= (step->value & MIPS_MVPCONTROL_EVP) != enabled;
  }
  step->l->alone = !(mips_mvp_control_after(enabled, request, master) & MIPS_MVPCONTROL_EVP);
  return step->value;
}

// Its own registers the machine knows, those that VPEs share but for MVPControl, too.
static uint32_t thread(void *user, const struct mips_system *m, struct mips_thread_request request) {
  struct step *step = user;
  const enum mips_cp0 n =
      request.kind == MIPS_THREAD_CP0 ? mips_cp0_find(true, request.number, request.select) : MIPS_CP0_NONE;
  const bool reads = request.op != MIPS_THREAD_WRITE;
  if (n == MIPS_CP0_MVPControl) return ask_mvp_control(step, m, request);
  if (mips_is_mvp(n)) return mips_mvp_read(n, 0, m->options.vpes);
  if (!mips_is_mvp(n) && request.tc == m->options.vpe) {
    if (reads && n == MIPS_CP0_Cause) believe_lines(&machine, step->value);
    if (reads) return mips_system_read_thread(&machine, request, true);
    mips_system_write_thread(&machine, request, true);
    return 0;
  }
  step->impossible |= reads && step->shows && (step->value & ~possible(n, request.tc));
  return step->value;
}

static struct mips_environment environment_of(struct step *step) {
  return (struct mips_environment){.user = step, .page = no_page, .read = read, .write = write, .thread = thread};
}

void mips_lockstep_init(struct mips_lockstep *l, struct mips_system_options options, uint32_t memory) {
  mips_system_init(&machine, options, environment_of(NULL));
  memset(l, 0, sizeof *l);
  l->cpu = machine.cpu;
  l->cpu.timer_cycle = UINT64_MAX; // what the timer does is taken unchecked
  l->options = options;
  l->memory = memory;
  l->alone = options.vpe == 0;
}

// The machine becomes the one that `l` remembers.
static struct mips_system *assume(const struct mips_lockstep *l, struct step *step) {
  struct mips_system *m = &machine;
  if (m->environment.page == NULL) mips_system_init(m, l->options, environment_of(step)); // a restored state
  m->options = l->options;
  m->environment = environment_of(step);
  m->cpu = l->cpu;
  m->following = true;
  m->given = (struct mips_given){.count = step->value, .stores = step->value != 0};
  mips_status_changed(m);
  return m;
}

static void note_load(struct mips_lockstep *l, struct mips_lockstep_load load) {
  if (l->load_count == MIPS_LOCKSTEP_QUEUE) memmove(l->loads, l->loads + 1, --l->load_count * sizeof load);
  l->loads[l->load_count++] = load;
}

// When the instruction that completes was accepted as a load; those before it complete no more.
static uint64_t take_load(struct mips_lockstep *l, uint32_t pc) {
  for (uint8_t n = 0; n < l->load_count; n++) {
    if (l->loads[n].pc != pc) continue;
    const uint64_t cycle = l->loads[n++].cycle;
    l->load_count -= n;
    memmove(l->loads, l->loads + n, l->load_count * sizeof l->loads[0]);
    return cycle;
  }
  return 0;
}

void mips_lockstep_external(struct mips_lockstep *l, uint64_t cycle, uint32_t address, uint32_t size) {
  l->external++;
  for (; size > 0 && address < l->memory; address++, size--) {
    struct mips_lockstep_page *page = page_of(l, address);
    page->known[address % MIPS_PAGE / 8] &= (uint8_t)~(1u << address % 8);
    page->changed = cycle + 1;
  }
}

void mips_lockstep_know(struct mips_lockstep *l, uint32_t address, uint32_t size, uint32_t value) {
  remember(l, address, size, value);
}

void mips_lockstep_exception(struct mips_lockstep *l, struct mips_lockstep_exception exception) {
  if (l->exception_count < MIPS_LOCKSTEP_QUEUE) l->exceptions[l->exception_count++] = exception;
}

static void begin_anew(struct mips_lockstep *l, uint32_t pc) {
  struct mips_architecture *cpu = &l->cpu;
  cpu->pc = pc;
  cpu->next_pc = pc + 4;
  cpu->delayed = cpu->waiting = cpu->linked = false;
  l->started = true;
  l->passing = false;
  l->access_count = l->exception_count = l->load_count = 0;
  for (unsigned n = 0; n < MIPS_LOCKSTEP_PAGES; n++) l->pages[n].number = 0;
}

void mips_lockstep_load(struct mips_lockstep *l, uint32_t word, uint32_t value) {
  struct mips_architecture *cpu = &l->cpu;
  switch (word) {
  case MIPS_WORD_PC:
    if (l->options.vpes > 0)
      mips_lockstep_exception(
          l, (struct mips_lockstep_exception){.written = true, .number = 2, .select = 3, .value = value});
    else
      begin_anew(l, value);
    return;
  case MIPS_WORD_HI: cpu->hi = value; return;
  case MIPS_WORD_LO: cpu->lo = value; return;
  case MIPS_WORD_RANDOM: cpu->random = (uint16_t)value; return;
  default: break;
  }
  const uint32_t field = word - MIPS_WORD_TLB;
  if (word < 32) {
    cpu->r[word] = value;
  } else if (word >= MIPS_WORD_CP0 && word - MIPS_WORD_CP0 < MIPS_CP0_REGISTERS) {
    cpu->cp0[word - MIPS_WORD_CP0] = value;
  } else if (field / 4 < MIPS_TLB_MOST) {
    struct mips_tlb_entry *e = &cpu->tlb[field / 4];
    uint32_t *const fields[] = {&e->mask, &e->hi, &e->lo[0], &e->lo[1]};
    *fields[field % 4] = value;
  }
}

void mips_lockstep_access(struct mips_lockstep *l, struct mips_lockstep_access access) {
  if (!access.stores) {
    note_load(l, (struct mips_lockstep_load){access.cycle, access.pc});
    return;
  }
  if (l->access_count == MIPS_LOCKSTEP_QUEUE) memmove(l->accesses, l->accesses + 1, --l->access_count * sizeof access);
  l->accesses[l->access_count++] = access;
}

// Reports: always false.
static bool differs(char text[MIPS_LOCKSTEP_TEXT], uint32_t pc, uint32_t word, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool differs(char text[MIPS_LOCKSTEP_TEXT], uint32_t pc, uint32_t word, const char *format, ...) {
  char instruction[MIPS_TEXT_SIZE];
  va_list arguments;
  mips_disassemble(MIPS_SET_mips32r2_mt, pc, word, instruction);
  const int used = snprintf(text, MIPS_LOCKSTEP_TEXT, "pc 0x%08x, %s: ", (unsigned)pc, instruction);
  va_start(arguments, format);
  vsnprintf(text + used, (size_t)(MIPS_LOCKSTEP_TEXT - used), format, arguments);
  va_end(arguments);
  return false;
}

static void take_access(struct mips_lockstep *l) {
  memmove(l->accesses, l->accesses + 1, --l->access_count * sizeof l->accesses[0]);
}

static bool take_interrupt(struct mips_lockstep *l, const struct mips_lockstep_exception *e,
                           char text[MIPS_LOCKSTEP_TEXT]) {
  struct step step = {.l = l};
  struct mips_system *m = assume(l, &step);
  const uint32_t status = m->cpu.cp0[MIPS_CP0_Status];
  const bool lets = mips_system_enables_interrupts(m);
  if (e->pc != m->cpu.pc)
    return differs(text, e->pc, 0, "an interrupt was taken there, expected the instruction at 0x%08x",
                   (unsigned)m->cpu.pc);
  if (!lets || !(status >> (MIPS_CAUSE_IP_SHIFT + e->level) & 1))
    return differs(text, e->pc, 0, "interrupt %u was taken where Status 0x%08x does not let it", e->level,
                   (unsigned)status);
  mips_system_take_interrupt(m);
  l->cpu = m->cpu;
  l->interrupts++;
  return true;
}

static bool take_exception(struct mips_lockstep *l, const struct mips_lockstep_exception *e,
                           char text[MIPS_LOCKSTEP_TEXT]) {
  struct step step = {.l = l, .word = e->word, .fails = e->code};
  struct mips_step did;
  struct mips_system *m = assume(l, &step);
  mips_system_step(m, &did);
  l->cpu = m->cpu;
  l->raised++;
  while (l->access_count && l->accesses[0].pc == did.pc) take_access(l);
  if (did.pc != e->pc)
    return differs(text, e->pc, e->word, "exception %u there, expected the instruction at 0x%08x", e->code,
                   (unsigned)did.pc);
  if (did.retired)
    return differs(text, did.pc, did.word, "exception %u with EPC 0x%08x, expected none", e->code, (unsigned)e->epc);
  if (did.exception != e->code)
    return differs(text, did.pc, did.word, "exception %u, expected %u", e->code, did.exception);
  const uint32_t epc = m->cpu.cp0[MIPS_CP0_EPC], bad = m->cpu.cp0[MIPS_CP0_BadVAddr];
  if (e->epc != epc)
    return differs(text, did.pc, did.word, "exception %u with EPC 0x%08x, expected 0x%08x", e->code, (unsigned)e->epc,
                   (unsigned)epc);
  const bool addressed = e->code >= MIPS_EXCEPTION_MOD && e->code <= MIPS_EXCEPTION_ADES;
  if (addressed && e->bad != bad)
    return differs(text, did.pc, did.word, "exception %u with BadVAddr 0x%08x, expected 0x%08x", e->code,
                   (unsigned)e->bad, (unsigned)bad);
  return true;
}

// What another VPE wrote; a pc is known from then on.
static void take_written(struct mips_lockstep *l, const struct mips_lockstep_exception *e) {
  struct step step = {.l = l};
  struct mips_system *m = assume(l, &step);
  const struct mips_thread_request request = {
      .op = MIPS_THREAD_WRITE, .number = e->number, .select = e->select, .value = e->value};
  mips_system_write_thread(m, request, false);
  l->started |= mips_cp0_find(true, e->number, e->select) == MIPS_CP0_TCRestart;
  l->cpu = m->cpu;
}

// Those before the instruction that completes now; what others wrote if it was executed behind that.
static bool take_exceptions(struct mips_lockstep *l, uint64_t cycle, char text[MIPS_LOCKSTEP_TEXT]) {
  uint8_t n = 0;
  bool same = true;
  while (same && n < l->exception_count && l->exceptions[n].cycle < cycle) {
    const struct mips_lockstep_exception *e = &l->exceptions[n];
    if (e->written && l->passing && e->cycle > l->passed) break;
    n++;
    if (e->written) {
      take_written(l, e);
      continue;
    }
    if (!l->started) mips_system_start(assume(l, &(struct step){.l = l}), e->pc), l->cpu = machine.cpu;
    l->started = true;
    same = e->code == MIPS_EXCEPTION_INT ? take_interrupt(l, e, text) : take_exception(l, e, text);
  }
  l->exception_count -= n;
  memmove(l->exceptions, l->exceptions + n, l->exception_count * sizeof l->exceptions[0]);
  return same;
}

void mips_lockstep_passed(struct mips_lockstep *l, uint64_t cycle, uint32_t pc) {
  l->passing = true;
  l->passing_pc = pc;
  l->passed = cycle;
}

bool mips_lockstep_written(struct mips_lockstep *l, uint64_t cycle, unsigned number, unsigned select, uint32_t value,
                           char text[MIPS_LOCKSTEP_TEXT]) {
  if (!take_exceptions(l, cycle, text)) return false;
  mips_lockstep_exception(
      l,
      (struct mips_lockstep_exception){
          .cycle = cycle + 1, .written = true, .number = (uint8_t)number, .select = (uint8_t)select, .value = value});
  return true;
}

// Whether sc stores is taken unchecked, but not that it does behind an eret.
static bool stores_without_link(const struct mips_system *m, const struct mips_lockstep_retired *r) {
  enum { SC = 0x38 };
  return r->word >> 26 == SC && r->value != 0 && !m->cpu.linked;
}

// Which interrupts wait is taken unchecked where the program looks.
static void believe_cause(struct mips_system *m, const struct mips_lockstep_retired *r) {
  enum { MFC0_CAUSE = 0x40006800, FIELDS = 0xffe0ffff };
  if ((r->word & FIELDS) == MFC0_CAUSE) believe_lines(m, r->value);
}

static bool same_store(struct mips_lockstep *l, const struct mips_lockstep_retired *r, const struct mips_step *did,
                       char text[MIPS_LOCKSTEP_TEXT]) {
  struct mips_lockstep_access a = {0};
  if (l->access_count && l->accesses[0].pc == r->pc) {
    a = l->accesses[0];
    take_access(l);
  }
  const uint32_t data = a.size < 4 ? a.data & ((1u << 8 * a.size) - 1) : a.data;
  if (!did->stored && (!a.stores || a.conditional)) return true;
  if (!did->stored) return differs(text, r->pc, r->word, "stored at 0x%08x, expected no store", (unsigned)a.address);
  if (!a.stores)
    return differs(text, r->pc, r->word, "stored nothing, expected a store at 0x%08x", (unsigned)did->store_address);
  if (a.address == did->store_address && a.size == did->stored && data == did->store_value) return true;
  return differs(text, r->pc, r->word, "stored 0x%x in %u bytes at 0x%08x, expected 0x%x in %u at 0x%08x",
                 (unsigned)data, a.size, (unsigned)a.address, (unsigned)did->store_value, did->stored,
                 (unsigned)did->store_address);
}

// A register that gets what it had is as good as none: so moves are made that are not, where the destination is
// renamed.
static bool same_register(const struct mips_lockstep *l, const struct mips_lockstep_retired *r,
                          const struct mips_step *did, char text[MIPS_LOCKSTEP_TEXT]) {
  const unsigned destination = r->destination < 32 ? r->destination : 0;
  if (destination == did->destination && (destination == 0 || r->value == did->value)) return true;
  if (did->destination == 0 && r->value == l->cpu.r[destination]) return true;
  if (did->destination == 0)
    return differs(text, r->pc, r->word, "wrote %s, expected no register", mips_register_names[destination]);
  if (destination == 0)
    return differs(text, r->pc, r->word, "wrote no register, expected %s = 0x%08x",
                   mips_register_names[did->destination], (unsigned)did->value);
  return differs(text, r->pc, r->word, "wrote %s = 0x%08x, expected %s = 0x%08x", mips_register_names[destination],
                 (unsigned)r->value, mips_register_names[did->destination], (unsigned)did->value);
}

bool mips_lockstep_retire(struct mips_lockstep *l, struct mips_lockstep_retired retired,
                          char text[MIPS_LOCKSTEP_TEXT]) {
  const struct mips_lockstep_retired *r = &retired;
  const bool writes = r->destination > 0 && r->destination < 32;
  struct step step = {.l = l, .word = r->word, .value = r->value, .fails = -1, .shows = writes};
  step.accepted = take_load(l, r->pc);
  struct mips_step did;
  if (!take_exceptions(l, r->cycle, text)) return false;
  l->passing &= l->passing_pc != r->pc;
  struct mips_system *m = assume(l, &step);
  if (!l->started) mips_system_start(m, r->pc);
  l->started = true;
  if (m->cpu.pc != r->pc)
    return differs(text, r->pc, r->word, "it was completed, expected the one at 0x%08x", (unsigned)m->cpu.pc);
  if (stores_without_link(m, r)) return differs(text, r->pc, r->word, "stored, expected no link to stand");
  believe_cause(m, r);
  mips_system_step(m, &did);
  l->cpu = m->cpu;
  l->instructions++;
  if (did.word != r->word && (did.retired || step.fetched))
    return differs(text, r->pc, r->word, "its word is 0x%08x, expected 0x%08x", (unsigned)r->word, (unsigned)did.word);
  if (!did.retired) return differs(text, r->pc, r->word, "it was completed, expected exception %u", did.exception);
  if (step.impossible)
    return differs(text, r->pc, r->word, "read 0x%08x, which that register cannot hold", (unsigned)r->value);
  if (step.wrong_evp)
    return differs(text, r->pc, r->word, "read 0x%08x, expected MVPControl.EVP to be %u", (unsigned)r->value,
                   (unsigned)!(r->value & MIPS_MVPCONTROL_EVP));
  return same_store(l, r, &did, text) && same_register(l, r, &did, text);
}
