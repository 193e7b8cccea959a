// The functional model of model.h.
#include "model.h"

#include "mips/interpreter.h"
#include "program/program.h"
#include "registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WORD_VALUES = 2,
  ACTIVE = 4,
  BEGINS = 0x400,
  CHECKSUM = 0x800,
  FILLS = 0x20000,
  FREES = 0x80000,
  LIMIT = 0x200000,
  WIRE = 1024,
  ATTENTION = 0x100 // of a MAC
};

struct sent {
  uint32_t length;
  int32_t vlan;
  uint8_t bytes[16384];
};

// A processor and what is its own.
struct core {
  struct mips_interpreter cpu;
  struct model *m;
  unsigned number;
  bool running;
  uint8_t scratchpad[MAP_SCRATCHPAD_A_SIZE];
};

struct model {
  struct core core[2];
  unsigned processors;
  uint32_t chance;
  uint32_t holder[2]; // of each semaphore: 1 + processor, or 0
  uint32_t file[MAP_REGISTERS_SIZE / 4];
  uint32_t timer_steps, interrupts;
  uint32_t sum[2]; // of each direction, and
  bool odd[2];     // whether it is that of an odd number of bytes
  char stopped[160];
  uint8_t sram[MODEL_SRAM], host[MODEL_HOST];
  uint64_t begin; // of host memory
  struct sent wire[WIRE];
  uint32_t wire_head, wire_tail;
};

#define REG(name) (m->file[REGISTERS_##name / 4])

static uint32_t load(const uint8_t *at, unsigned size) {
  uint32_t value = 0;
  for (unsigned i = 0; i < size; i++) value = value << 8 | at[i];
  return value;
}

static void store(uint8_t *at, unsigned size, uint32_t value) {
  for (unsigned i = size; i--; value >>= 8) at[i] = (uint8_t)value;
}

static uint8_t *sram(struct model *m, uint32_t address) {
  return &m->sram[address % MODEL_SRAM];
}

static void stop(struct model *m, const char *what, uint32_t value) {
  if (!m->stopped[0])
    snprintf(m->stopped, sizeof m->stopped, "%s 0x%08x at pc 0x%08x of A, 0x%08x of B", what, value, m->core[0].cpu.pc,
             m->core[1].cpu.pc);
}

// ---- Registers ----------------------------------------------------------------------------------------------------

static uint32_t fixed(const struct model *m) {
  return 0xbff000 - REG(STACK_OFFSET_A);
}

// Ring pointers keep their low bits and read back as addresses.
static uint32_t ring_pointer(const struct model *m, uint32_t offset) {
  uint32_t value = m->file[offset / 4];
  switch (offset) {
  case REGISTERS_DMA_READ_PRODUCER:
  case REGISTERS_DMA_READ_CONSUMER:
  case REGISTERS_DMA_READ_REFERENCE: return fixed(m) + 0x4000 + (value & 0x7ff);
  case REGISTERS_DMA_WRITE_PRODUCER:
  case REGISTERS_DMA_WRITE_CONSUMER:
  case REGISTERS_DMA_WRITE_REFERENCE: return fixed(m) + 0x4800 + (value & 0x7ff);
  case REGISTERS_MAC_TX_PRODUCER:
  case REGISTERS_MAC_TX_CONSUMER:
  case REGISTERS_MAC_TX_REFERENCE: return fixed(m) + 0x2800 + (value & 0x7ff);
  case REGISTERS_MAC_RX_PRODUCER:
  case REGISTERS_MAC_RX_CONSUMER:
  case REGISTERS_MAC_RX_REFERENCE: return fixed(m) + 0x3000 + (value & 0xfff);
  default: return value;
  }
}

static bool passed(uint32_t producer, uint32_t consumer, uint32_t reference) {
  return ((producer - consumer) & 0x7ff) < ((producer - reference) & 0x7ff);
}

static uint32_t events(const struct model *m, bool b) {
  uint32_t e = (b ? REG(EVENT_B) : REG(EVENT_A)) & 0x01800b98;
  if ((int32_t)(REG(TIMER) - (b ? REG(TIMER_COMPARE_B) : REG(TIMER_COMPARE_A))) >= 0) e |= 1u << 28;
  if (b ? REG(MAILBOX_EVENT_B) : REG(MAILBOX_EVENT_A)) e |= 1u << 22;
  if (passed(REG(DMA_READ_PRODUCER), REG(DMA_READ_CONSUMER), REG(DMA_READ_REFERENCE))) e |= 1u << 15;
  if (passed(REG(DMA_WRITE_PRODUCER), REG(DMA_WRITE_CONSUMER), REG(DMA_WRITE_REFERENCE))) e |= 1u << 14;
  if ((REG(MAC_RX_PRODUCER) ^ REG(MAC_RX_CONSUMER)) & 0xff8) e |= 1u << 6;
  if (REG(MAC_TX_STATE) & ATTENTION) e |= 1u << 26;
  if (REG(MAC_RX_STATE) & ATTENTION) e |= 1u << 25;
  return e;
}

uint32_t model_register(struct model *m, uint32_t offset) {
  if (offset == REGISTERS_EVENT_A || offset == REGISTERS_EVENT_B) return events(m, offset == REGISTERS_EVENT_B);
  return ring_pointer(m, offset);
}

// ---- Transfers ----------------------------------------------------------------------------------------------------

// Addresses in the two packet buffers wrap at their ends.
static uint32_t advance(const struct model *m, uint32_t address, uint32_t count) {
  uint32_t end = address + count, tx = REG(TX_BUFFER_BASE), rx = REG(RX_BUFFER_BASE);
  if (address >= rx && address < LIMIT) return end >= LIMIT ? end - LIMIT + rx : end;
  if (address >= tx && address < rx) return end >= rx ? end - rx + tx : end;
  return end;
}

static uint32_t rounded(const struct model *m, uint32_t address) {
  return advance(m, address, -address & 7);
}

static void transfer(struct model *m, bool outward, uint32_t high, uint32_t low, uint32_t local, uint32_t length,
                     uint32_t control, uint32_t checksum_to) {
  const uint64_t address = ((uint64_t)high << 32 | low) - m->begin;
  if (address >= MODEL_HOST || length > MODEL_HOST - address || !length || length > 0xffff) {
    stop(m, "impossible transfer, host address", low);
    return;
  }
  // With a bit the bytes of each whole word of the host go in opposite order.
  const uint32_t from = (uint32_t)address, begin = (from + 3) & ~3u,
                 end = control & WORD_VALUES ? (from + length) & ~3u : begin;
  const bool sums = control & (BEGINS | CHECKSUM), goes_on = sums && !(control & BEGINS);
  uint32_t sum = goes_on ? m->sum[outward] : 0, at = local;
  const bool odd = goes_on && m->odd[outward];
  for (uint32_t i = 0; i < length; i++, at = advance(m, at, 1)) {
    const uint32_t host = from + i, word = host & ~3u;
    uint8_t *outside = &m->host[word >= begin && word < end ? host ^ 3 : host], *inside = sram(m, at);
    if (outward)
      *outside = *inside;
    else
      *inside = *outside;
    sum += (uint32_t)*inside << ((i & 1) != odd ? 0 : 8);
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  if (sums) m->sum[outward] = sum, m->odd[outward] = odd ^ (length & 1);
  if (control & CHECKSUM && checksum_to) store(sram(m, checksum_to), 2, sum);
  if (outward)
    REG(DMA_WRITE_CHECKSUM) = sum;
  else
    REG(DMA_READ_CHECKSUM) = sum;
  if (!outward && control & FILLS) REG(TX_BUFFER_PRODUCER) = rounded(m, at);
  if (outward && control & FREES) REG(RX_BUFFER_REFERENCE) = rounded(m, at);
}

static void step_ring(struct model *m, bool outward, uint32_t ring, uint32_t producer, uint32_t *consumer) {
  if (((producer ^ *consumer) & 0x7ff) == 0) return;
  const uint8_t *d = sram(m, fixed(m) + ring + (*consumer & 0x7ff));
  transfer(m, outward, load(d, 4), load(d + 4, 4), load(d + 8, 4), load(d + 14, 2), load(d + 16, 4), load(d + 20, 4));
  *consumer = (*consumer + 32) & 0x7ff;
}

// The direct registers: no ring, so no checksum is stored and no buffer pointer moves.
static void step_direct(struct model *m) {
  if (REG(DMA_READ_STATE) & ACTIVE) {
    transfer(m, false, REG(DMA_READ_HOST_HIGH), REG(DMA_READ_HOST_LOW), REG(DMA_READ_ADDRESS), REG(DMA_READ_LENGTH),
             REG(DMA_READ_STATE) & (WORD_VALUES | BEGINS | CHECKSUM), 0);
    REG(DMA_READ_ADDRESS) = advance(m, REG(DMA_READ_ADDRESS), REG(DMA_READ_LENGTH));
    REG(DMA_READ_STATE) &= ~ACTIVE;
  }
  if (REG(DMA_WRITE_STATE) & ACTIVE) {
    transfer(m, true, REG(DMA_WRITE_HOST_HIGH), REG(DMA_WRITE_HOST_LOW), REG(DMA_WRITE_ADDRESS), REG(DMA_WRITE_LENGTH),
             REG(DMA_WRITE_STATE) & (WORD_VALUES | BEGINS | CHECKSUM), 0);
    REG(DMA_WRITE_STATE) &= ~ACTIVE;
  }
}

static void step_send(struct model *m) {
  if (REG(MAC_TX_STATE) != 2 || ((REG(MAC_TX_PRODUCER) ^ REG(MAC_TX_CONSUMER)) & 0x7ff) == 0) return;
  const uint8_t *d = sram(m, ring_pointer(m, REGISTERS_MAC_TX_CONSUMER));
  uint32_t word = load(d, 4), length = load(d + 6, 2), address = word & 0x3fffffff;
  uint32_t size = REG(RX_BUFFER_BASE) - REG(TX_BUFFER_BASE), produced = REG(TX_BUFFER_PRODUCER);
  uint32_t arrived = produced >= address ? produced - address : produced - address + size;
  if (arrived < length) return;
  struct sent *s = &m->wire[m->wire_tail++ % WIRE];
  s->length = length;
  s->vlan = word & 0x40000000 ? (int32_t)load(d + 4, 2) : -1;
  for (uint32_t i = 0; i < length; i++, address = advance(m, address, 1)) s->bytes[i] = *sram(m, address);
  REG(TX_BUFFER_CONSUMER) = rounded(m, address);
  REG(MAC_TX_CONSUMER) = (REG(MAC_TX_CONSUMER) + 8) & 0x7ff;
}

static void step(struct model *m) {
  if ((REG(ASSIST_STATE) & 3) == 1) {
    step_ring(m, false, 0x4000, REG(DMA_READ_PRODUCER), &REG(DMA_READ_CONSUMER));
    step_ring(m, true, 0x4800, REG(DMA_WRITE_PRODUCER), &REG(DMA_WRITE_CONSUMER));
  }
  step_direct(m);
  step_send(m);
}

bool model_receive(struct model *m, const uint8_t *frame, uint32_t length) {
  uint32_t at = REG(RX_BUFFER_PRODUCER), reference = REG(RX_BUFFER_REFERENCE), stored = length + 4;
  uint32_t room = reference > at ? reference - at : reference - at + LIMIT - REG(RX_BUFFER_BASE);
  uint32_t slot = REG(MAC_RX_PRODUCER) & 0xff8, next = (slot + 8) & 0xff8;
  if (REG(MAC_RX_STATE) & 4 || !(REG(MAC_RX_STATE) & 2)) return false; // ignored
  if (next == (REG(MAC_RX_REFERENCE) & 0xff8) || room < stored + 8) {
    store(sram(m, 0xec), 4, load(sram(m, 0xec), 4) + 1);
    return false;
  }
  const bool everybody = !memcmp(frame, "\xff\xff\xff\xff\xff\xff", 6);
  const uint32_t kept = everybody ? 0xf4 : frame[0] & 1 ? 0xf8 : 0xfc;
  store(sram(m, kept), 4, load(sram(m, kept), 4) + 1);
  uint8_t *d = sram(m, fixed(m) + 0x3000 + slot);
  store(d, 4, at);
  store(d + 4, 4, stored);
  for (uint32_t i = 0; i < stored; i++, at = advance(m, at, 1)) *sram(m, at) = i < length ? frame[i] : 0xfc;
  at = rounded(m, at);
  store(sram(m, fixed(m) + 0x3000 + next), 4, at);
  REG(RX_BUFFER_PRODUCER) = at;
  REG(MAC_RX_PRODUCER) = next;
  return true;
}

// ---- The processors -----------------------------------------------------------------------------------------------

static uint8_t *memory(struct core *c, uint32_t address) {
  struct model *m = c->m;
  uint32_t scratchpad = c->number ? MAP_SCRATCHPAD_B_SIZE : MAP_SCRATCHPAD_A_SIZE;
  if (address < 0x800000) return sram(m, address);
  if (address >= MAP_SCRATCHPAD_A_BASE && address < MAP_SCRATCHPAD_A_BASE + scratchpad)
    return &c->scratchpad[address - MAP_SCRATCHPAD_A_BASE];
  if (address >= 0xbf0000 && address < 0xc00000)
    return sram(m, address - (c->number ? REG(STACK_OFFSET_B) : REG(STACK_OFFSET_A)));
  return NULL;
}

// Semaphores are per processor: reading tells whether it holds one, writing asks for it or gives it back.
static uint32_t *semaphore(struct model *m, uint32_t offset) {
  if (offset == REGISTERS_SEMAPHORE_A) return &m->holder[0];
  return offset == REGISTERS_SEMAPHORE_B ? &m->holder[1] : NULL;
}

static void command_second(struct model *m, uint32_t state) {
  struct core *b = &m->core[1];
  b->running = m->processors == 2 && !(state & 0x10000);
}

static bool read_memory(void *user, uint32_t address, unsigned size, uint32_t *value) {
  struct core *c = user;
  struct model *m = c->m;
  if (address >= MAP_REGISTERS_BASE && address < MAP_REGISTERS_BASE + MAP_REGISTERS_SIZE && size == 4) {
    const uint32_t *holder = semaphore(m, address - MAP_REGISTERS_BASE);
    *value = holder ? *holder == 1 + c->number : model_register(m, address - MAP_REGISTERS_BASE);
    return true;
  }
  const uint8_t *at = memory(c, address);
  if (at) *value = load(at, size);
  return at != NULL;
}

static bool write_memory(void *user, uint32_t address, unsigned size, uint32_t value) {
  struct core *c = user;
  struct model *m = c->m;
  if (address >= MAP_REGISTERS_BASE && address < MAP_REGISTERS_BASE + MAP_REGISTERS_SIZE && size == 4) {
    uint32_t offset = address - MAP_REGISTERS_BASE;
    uint32_t *holder = semaphore(m, offset);
    if (holder && (*holder == 0 || *holder == 1 + c->number)) *holder = *holder ? 0 : 1 + c->number;
    if (offset == REGISTERS_MAILBOX_EVENT_A || offset == REGISTERS_MAILBOX_EVENT_B)
      value = m->file[offset / 4] & ~value;
    if (offset == REGISTERS_CPU_B_PC) m->core[1].cpu.pc = value, m->core[1].cpu.next_pc = value + 4;
    if (offset == REGISTERS_CPU_B_STATE) command_second(m, value);
    if (offset == REGISTERS_MISC_LOCAL_CTL && value & 2) m->interrupts++;
    m->file[offset / 4] = value;
    return true;
  }
  uint8_t *at = memory(c, address);
  if (at) store(at, size, value);
  return at != NULL;
}

// Who executes the next instruction.
static struct core *choose(struct model *m) {
  m->chance ^= m->chance << 13;
  m->chance ^= m->chance >> 17;
  m->chance ^= m->chance << 5;
  return &m->core[m->core[1].running && m->chance >> 31];
}

const char *model_run(struct model *m, uint64_t instructions) {
  for (uint64_t i = 0; i < instructions * m->processors && !m->stopped[0]; i++) {
    struct mips_interpreter *cpu = &choose(m)->cpu;
    enum mips_stop outcome = mips_interpreter_step(cpu);
    if (outcome != MIPS_RUNNING) stop(m, mips_stop_text(outcome), cpu->fault_address);
    if (++m->timer_steps % (50 * m->processors) == 0) REG(TIMER)++;
    if (m->timer_steps % (MODEL_PACE * m->processors) == 0) step(m);
  }
  return m->stopped[0] ? m->stopped : NULL;
}

struct model *model_new(const char *elf, unsigned processors, uint32_t seed) {
  g_autoptr(Program) program = program_open(elf, PROGRAM_ELF, NULL);
  if (!program) return NULL;
  struct model *m = calloc(1, sizeof *m);
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize i = 0; i < count; i++)
    if (segments[i].address < MODEL_SRAM) memcpy(sram(m, segments[i].address), segments[i].bytes, segments[i].loaded);
  m->processors = processors;
  m->chance = seed * 2654435761u | 1;
  for (unsigned i = 0; i < 2; i++) {
    struct core *c = &m->core[i];
    c->m = m;
    c->number = i;
    struct guest_memory interface = {c, read_memory, write_memory};
    mips_interpreter_init(&c->cpu, MIPS_SET_prijoff, true, interface, program_entry(program));
  }
  m->core[0].running = true;
  return m;
}

void model_free(struct model *m) {
  free(m);
}
uint8_t *model_host(struct model *m) {
  return m->host;
}
void model_place(struct model *m, uint64_t begin) {
  m->begin = begin;
}
uint8_t *model_sram(struct model *m) {
  return m->sram;
}
uint32_t model_interrupts(struct model *m) {
  return m->interrupts;
}
void model_write(struct model *m, unsigned offset, uint32_t value) {
  m->file[offset / 4] = value;
}
uint64_t model_executed(struct model *m) {
  return m->core[0].cpu.retired;
}

void model_mailbox(struct model *m, unsigned mailbox, uint32_t value) {
  store(sram(m, 0x104 + 8 * mailbox), 4, value);
  REG(MAILBOX_EVENT_A) |= 1u << mailbox;
  REG(MAILBOX_EVENT_B) |= 1u << mailbox;
}

uint32_t model_sent(struct model *m, uint8_t *frame, int32_t *vlan) {
  if (m->wire_head == m->wire_tail) return 0;
  const struct sent *s = &m->wire[m->wire_head++ % WIRE];
  memcpy(frame, s->bytes, s->length);
  *vlan = s->vlan;
  return s->length;
}
