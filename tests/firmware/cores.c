// The functional model of cores.h.
#include "cores.h"

#include "mips/interpreter.h"
#include "program/program.h"
#include "registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 512, SCRATCHPAD = 1 << 18, FRAMES = 1 << 21, SLOT = 2048, MOVES_POINTER = 2, WIRE = 1024 };

#define RECEIVE_END (MAP_RX_FRAMES_BASE + MAP_RX_FRAMES_SIZE)
#define SEND_END    (MAP_TX_FRAMES_BASE + MAP_TX_FRAMES_SIZE)

struct core {
  struct mips_interpreter cpu;
  struct nic *nic;
};

struct nic {
  struct core core[NIC_CORES];
  unsigned cores, turn, left;
  uint64_t random, steps;
  uint32_t entry, file[MAP_REGISTERS_SIZE / 4], tx_next;
  bool transmitter_held;
  char stopped[160];
  uint8_t scratchpad[SCRATCHPAD], text[MAP_INSTRUCTIONS_SIZE], frames[FRAMES], host[NIC_HOST];
  struct {
    uint32_t length;
    uint8_t bytes[SLOT];
  } wire[WIRE];
  uint32_t wire_head, wire_tail;
};

#define REG(name) (n->file[REGISTERS_##name / 4])

static uint32_t load(const uint8_t *at, unsigned size) {
  uint32_t value = 0;
  for (unsigned i = 0; i < size; i++) value = value << 8 | at[i];
  return value;
}

static void store(uint8_t *at, unsigned size, uint32_t value) {
  for (unsigned i = size; i--; value >>= 8) at[i] = (uint8_t)value;
}

static void stop(struct nic *n, const char *what, uint32_t value) {
  if (n->stopped[0]) return;
  snprintf(n->stopped, sizeof n->stopped, "%s 0x%08x, core %u at pc 0x%08x", what, value, n->turn,
           n->core[n->turn].cpu.pc);
}

// One step of splitmix64.
static uint64_t draw(struct nic *n) {
  uint64_t z = n->random += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Memory as the assists see it, or NULL.
static uint8_t *memory(struct nic *n, uint32_t address) {
  if (address < SCRATCHPAD) return &n->scratchpad[address];
  if (address - MAP_TX_FRAMES_BASE < FRAMES) return &n->frames[address - MAP_TX_FRAMES_BASE];
  return NULL;
}

// ---- Registers ----------------------------------------------------------------------------------------------------

static uint32_t events(const struct nic *n) {
  static const uint32_t pairs[][2] = {
      {REGISTERS_SEND_PRODUCER, REGISTERS_SEND_CLAIM},     {REGISTERS_RECEIVE_PRODUCER, REGISTERS_RECEIVE_CLAIM},
      {REGISTERS_FETCH_CONSUMER, REGISTERS_FETCH_CLAIM},   {REGISTERS_READ_CONSUMER, REGISTERS_READ_CLAIM},
      {REGISTERS_MAC_TX_CONSUMER, REGISTERS_MAC_TX_CLAIM}, {REGISTERS_MAC_RX_PRODUCER, REGISTERS_MAC_RX_CLAIM},
      {REGISTERS_WRITE_CONSUMER, REGISTERS_WRITE_CLAIM},   {REGISTERS_REPORT_CONSUMER, REGISTERS_REPORT_CLAIM}};
  uint32_t bits = 0;
  for (unsigned i = 0; i < 8; i++) bits |= (uint32_t)(n->file[pairs[i][0] / 4] != n->file[pairs[i][1] / 4]) << i;
  return bits | (uint32_t)((int32_t)(REG(TIMER) - REG(TIMER_COMPARE)) >= 0) << 8;
}

uint32_t nic_register(struct nic *n, uint32_t at) {
  return at == REGISTERS_EVENTS ? events(n) : n->file[at / 4];
}

void nic_write(struct nic *n, uint32_t at, uint32_t value) {
  bool adds = (at >= REGISTERS_SEND_CLAIM_ADD && at <= REGISTERS_REPORT_CLAIM_ADD) ||
              (at >= REGISTERS_FETCH_PRODUCER_ADD && at <= REGISTERS_MAC_RX_REFERENCE_ADD);
  if (adds)
    n->file[at / 4 - 8] += value;
  else
    n->file[at / 4] = value;
  if (REG(FETCH_PRODUCER) - REG(FETCH_CONSUMER) >= RING) stop(n, "too many fetches, producer", REG(FETCH_PRODUCER));
  if (REG(READ_PRODUCER) - REG(READ_CONSUMER) >= RING) stop(n, "too many reads, producer", REG(READ_PRODUCER));
  if (REG(WRITE_PRODUCER) - REG(WRITE_CONSUMER) >= RING) stop(n, "too many writes, producer", REG(WRITE_PRODUCER));
  if (REG(MAC_TX_PRODUCER) - REG(MAC_TX_CONSUMER) >= RING) stop(n, "too many frames, producer", REG(MAC_TX_PRODUCER));
  if (REG(MAC_RX_PRODUCER) - REG(MAC_RX_REFERENCE) >= RING) stop(n, "reference beyond", REG(MAC_RX_PRODUCER));
}

// ---- Assists ------------------------------------------------------------------------------------------------------

// The address of byte `i` of a transfer; only the receive buffer is circular.
static uint32_t wrapped(uint32_t local, uint32_t i) {
  bool circular = local >= MAP_RX_FRAMES_BASE && local < RECEIVE_END;
  return circular && local + i >= RECEIVE_END ? local + i - MAP_RX_FRAMES_SIZE : local + i;
}

// Cores that hold a link to a word that somebody else writes lose it.
static void unlink_others(struct nic *n, const struct core *writer, uint32_t address) {
  for (unsigned i = 0; i < n->cores; i++)
    if (&n->core[i] != writer && ((n->core[i].cpu.link_address ^ address) & ~3u) == 0) n->core[i].cpu.linked = false;
}

static void transfer(struct nic *n, uint32_t ring, bool outward, uint32_t *consumer, uint32_t *pointer,
                     uint32_t round) {
  const uint8_t *d = &n->scratchpad[ring + *consumer % RING * 16];
  uint32_t host = load(d, 4), local = load(d + 4, 4), control = load(d + 8, 2), length = load(d + 10, 2);
  if (!length || host >= NIC_HOST || length > NIC_HOST - host)
    return stop(n, "impossible transfer, host address", host);
  if (control & ~(pointer ? MOVES_POINTER : 0u)) return stop(n, "control bits", control);
  for (uint32_t i = 0; i < length; i++) {
    uint32_t address = wrapped(local, i);
    uint8_t *at = memory(n, address);
    if (!at) return stop(n, "transfer to nothing at", local);
    if (outward)
      n->host[host + i] = *at;
    else {
      *at = n->host[host + i];
      unlink_others(n, NULL, address);
    }
  }
  if (control & MOVES_POINTER) {
    uint32_t end = (wrapped(local, length) + round - 1) & ~(round - 1);
    *pointer = end >= RECEIVE_END ? end - MAP_RX_FRAMES_SIZE : end == SEND_END && !outward ? MAP_TX_FRAMES_BASE : end;
  }
  ++*consumer;
}

static void transmit(struct nic *n) {
  if (n->transmitter_held || REG(MAC_TX_PRODUCER) == REG(MAC_TX_CONSUMER)) return;
  uint32_t number = REG(MAC_TX_CONSUMER);
  const uint8_t *d = &n->scratchpad[MAP_MAC_TX_RING_BASE + number % RING * 8];
  uint32_t address = load(d, 4), length = load(d + 4, 4), slot = MAP_TX_FRAMES_BASE + number % RING * SLOT;
  if (address != slot || !length || length > SLOT) return stop(n, "no frame to send at", address);
  if (REG(TX_BUFFER_PRODUCER) == slot) return;
  n->wire[n->wire_tail % WIRE].length = length;
  memcpy(n->wire[n->wire_tail++ % WIRE].bytes, memory(n, address), length);
  REG(MAC_TX_CONSUMER)++;
}

bool nic_receive(struct nic *n, const uint8_t *frame, uint32_t length) {
  uint32_t at = REG(RX_BUFFER_PRODUCER), end = REG(RX_BUFFER_REFERENCE);
  uint32_t room = end > at ? end - at : end - at + MAP_RX_FRAMES_SIZE, number = REG(MAC_RX_PRODUCER);
  if (REG(MAC_RX_STATE) != 2 || number - REG(MAC_RX_REFERENCE) >= RING - 1 || room < length + 128) return false;
  uint8_t *d = &n->scratchpad[MAP_MAC_RX_RING_BASE + number % RING * 8];
  store(d, 4, at);
  store(d + 4, 4, length);
  for (uint32_t i = 0; i < length; i++) *memory(n, wrapped(at, i)) = frame[i];
  at = (wrapped(at, length) + 63) & ~63u;
  REG(RX_BUFFER_PRODUCER) = at >= RECEIVE_END ? at - MAP_RX_FRAMES_SIZE : at;
  REG(MAC_RX_PRODUCER)++;
  return true;
}

static void assists(struct nic *n) {
  if (REG(FETCH_PRODUCER) != REG(FETCH_CONSUMER))
    transfer(n, MAP_FETCH_RING_BASE, false, &REG(FETCH_CONSUMER), NULL, 1);
  else if (REG(READ_PRODUCER) != REG(READ_CONSUMER))
    transfer(n, MAP_READ_RING_BASE, false, &REG(READ_CONSUMER), &REG(TX_BUFFER_PRODUCER), SLOT);
  if (REG(WRITE_PRODUCER) != REG(WRITE_CONSUMER))
    transfer(n, MAP_WRITE_RING_BASE, true, &REG(WRITE_CONSUMER), &REG(RX_BUFFER_REFERENCE), 64);
  transmit(n);
}

// ---- Cores --------------------------------------------------------------------------------------------------------

static bool window(struct nic *n, const struct core *c, uint32_t address, bool update, uint32_t *value) {
  uint32_t bit = address >> 18 & 31, at = address & (SCRATCHPAD - 1);
  if (!(REG(FEATURES) & 1) || at & 3) return false;
  uint32_t old = load(&n->scratchpad[at], 4), new = old | 1u << bit;
  *value = old;
  if (update) {
    uint32_t run = 0;
    for (new = old; bit + run < 32 && old >> (bit + run) & 1; run++) new &= ~(1u << (bit + run));
    *value = run;
  }
  store(&n->scratchpad[at], 4, new);
  unlink_others(n, c, at);
  return true;
}

static bool read_memory(void *user, uint32_t address, unsigned size, uint32_t *value) {
  struct core *c = user;
  struct nic *n = c->nic;
  if (address - MAP_SET_WINDOW_BASE < MAP_SET_WINDOW_SIZE) return window(n, c, address, false, value);
  if (address - MAP_UPDATE_WINDOW_BASE < MAP_UPDATE_WINDOW_SIZE) return window(n, c, address, true, value);
  if (address - MAP_REGISTERS_BASE < MAP_REGISTERS_SIZE) {
    *value = nic_register(n, address - MAP_REGISTERS_BASE);
    return size == 4;
  }
  // Fetches; what firmware loads lies elsewhere.
  const uint8_t *at = address - MAP_INSTRUCTIONS_BASE < MAP_INSTRUCTIONS_SIZE
                          ? &n->text[address - MAP_INSTRUCTIONS_BASE]
                          : memory(n, address);
  if (at) *value = load(at, size);
  return at != NULL;
}

static bool write_memory(void *user, uint32_t address, unsigned size, uint32_t value) {
  struct core *c = user;
  struct nic *n = c->nic;
  if (address - MAP_REGISTERS_BASE < MAP_REGISTERS_SIZE) {
    nic_write(n, address - MAP_REGISTERS_BASE, value);
    return size == 4;
  }
  bool sets = address - MAP_SET_WINDOW_BASE < SCRATCHPAD;
  if (sets && (!(REG(FEATURES) & 1) || size != 4)) return false;
  if (sets) address -= MAP_SET_WINDOW_BASE;
  uint8_t *at = memory(n, address);
  if (!at) return false;
  store(at, size, sets ? value | load(at, 4) : value);
  unlink_others(n, c, address);
  return true;
}

const char *nic_run(struct nic *n, uint64_t instructions) {
  for (uint64_t i = 0; i < instructions && !n->stopped[0]; i++) {
    if (!n->left) {
      uint64_t drawn = draw(n);
      n->turn = (unsigned)(drawn >> 32) % n->cores;
      n->left = 1 + (drawn & 31 ? drawn >> 8 & 7 : drawn >> 8 & 511);
    }
    n->left--;
    enum mips_stop outcome = mips_interpreter_step(&n->core[n->turn].cpu);
    if (outcome != MIPS_RUNNING) stop(n, mips_stop_text(outcome), n->core[n->turn].cpu.fault_address);
    n->steps++;
    if (n->steps % 400 == 0) REG(TIMER)++;
    if (n->steps % NIC_PACE == 0) assists(n);
  }
  return n->stopped[0] ? n->stopped : NULL;
}

struct nic *nic_new(const char *elf, unsigned cores, uint32_t features, uint64_t seed) {
  g_autoptr(Program) program = program_open(elf, PROGRAM_ELF, NULL);
  if (!program) return NULL;
  struct nic *n = calloc(1, sizeof *n);
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize i = 0; i < count; i++) {
    uint32_t at = segments[i].address;
    memcpy(at < SCRATCHPAD ? &n->scratchpad[at] : &n->text[at - MAP_INSTRUCTIONS_BASE], segments[i].bytes,
           segments[i].loaded);
  }
  n->cores = cores;
  n->random = seed;
  n->entry = (uint32_t)program_entry(program);
  REG(CORES) = cores;
  REG(FEATURES) = features;
  REG(TX_BUFFER_PRODUCER) = MAP_TX_FRAMES_BASE;
  REG(RX_BUFFER_PRODUCER) = REG(RX_BUFFER_REFERENCE) = MAP_RX_FRAMES_BASE;
  return n;
}

void nic_start(struct nic *n) {
  for (unsigned i = 0; i < n->cores; i++) {
    n->core[i].nic = n;
    struct guest_memory interface = {&n->core[i], read_memory, write_memory};
    mips_interpreter_init(&n->core[i].cpu, MIPS_SET_mips2, true, interface, n->entry + 8 * i);
  }
}

void nic_free(struct nic *n) {
  free(n);
}
uint8_t *nic_host(struct nic *n) {
  return n->host;
}
void nic_setup(struct nic *n, uint32_t at, uint32_t value) {
  store(&n->scratchpad[at], 4, value);
}
void nic_hold(struct nic *n, bool transmitter) {
  n->transmitter_held = transmitter;
}

uint32_t nic_sent(struct nic *n, uint8_t *frame) {
  if (n->wire_head == n->wire_tail) return 0;
  uint32_t length = n->wire[n->wire_head % WIRE].length;
  memcpy(frame, n->wire[n->wire_head++ % WIRE].bytes, length);
  return length;
}
