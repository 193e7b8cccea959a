// Random processors that write to their own code, and whose memory others write to: with decoded code and without, all
// that programs can see is the same.
//
//   system_code SEED ROUNDS BIG_ENDIAN VPES
//
// Each round brings both worlds to the same cycle by runs of a random length, after which an agent may write to memory,
// and interrupt lines may change.  Memory is small and repeats through the address space, so stores, jumps and several
// addresses of one page meet.  At the end the number of stores to decoded code is printed.
#include <inttypes.h>
#include <string.h>

#include "mips/mvp.h"
#include "mips/system_code.h"

static char said[64];
#define CHECK_SAID said
#include "check.h"

enum { PAGES = 24, RAM = PAGES * MIPS_PAGE, DEVICE_PAGE = 23, POINTERS = 16 };

struct world {
  struct mips_mvp mvp;
  struct mips_system vpe[MIPS_VPES_MOST];
  uint32_t marked, read;
  uint8_t ram[RAM];
};

static struct world decoded, interpreted;
static struct world *const worlds[] = {&decoded, &interpreted};
static bool big_endian;
static uint64_t seed;

static uint32_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 16);
}

static void put_word(uint8_t *at, uint32_t word) {
  for (unsigned n = 0; n < 4; n++) at[n] = (uint8_t)(word >> 8 * (big_endian ? 3 - n : n));
}

// The last page is a device: a write there copies a word of memory over another, as a DMA engine would.
static uint8_t *page(void *user, uint32_t address, enum mips_access access) {
  struct world *world = user;
  const uint32_t number = address / MIPS_PAGE % PAGES;
  return number == DEVICE_PAGE && access != MIPS_FETCH ? NULL : world->ram + number * MIPS_PAGE;
}

static bool read_device(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value) {
  struct world *world = user;
  (void)cached;
  *value = (address * 2654435761u + world->read++) & (size < 4 ? (1u << 8 * size) - 1 : ~0u);
  return address % 64 != 0;
}

static bool write_device(void *user, uint32_t address, unsigned size, bool cached, uint32_t value) {
  struct world *world = user;
  (void)cached, (void)size;
  memmove(world->ram + value / 4 % (RAM / 4) * 4, world->ram + value / 65536 % (RAM / 4) * 4, 4);
  return address % 64 != 0;
}

static void mark(void *user, uint32_t number) {
  struct world *world = user;
  world->marked = world->marked * 31 + number;
}

static uint32_t thread(void *user, const struct mips_system *m, struct mips_thread_request request) {
  struct world *world = user;
  return mips_mvp_thread(&world->mvp, m, request);
}

// A word of the instruction set; branches are short, and references go to what $ra points to, mostly the code that is
// executed, or to what other pointers do.  The values that are loaded and stored are words of code.
static uint32_t random_word(void) {
  static const enum mips_instruction frequent[] = {MIPS_sw,  MIPS_sw,  MIPS_sw,     MIPS_sh,   MIPS_sb,   MIPS_swl,
                                                   MIPS_lw,  MIPS_lw,  MIPS_lw,     MIPS_lwr,  MIPS_bne,  MIPS_beql,
                                                   MIPS_bne, MIPS_jal, MIPS_bgezal, MIPS_addu, MIPS_sltu, MIPS_ori};
  enum { RA = 31, CODE_WORDS = 4 };
  const unsigned chosen =
      draw() % 4 ? frequent[draw() % (sizeof frequent / sizeof *frequent)] : 1 + draw() % (MIPS_INSTRUCTIONS - 1);
  const enum mips_instruction i = (enum mips_instruction)chosen;
  const struct mips_info *info = &mips_info[i];
  uint32_t word = info->match | (draw() & ~info->mask);
  const bool refers = info->kind == MIPS_CLASS_load || info->kind == MIPS_CLASS_store;
  if (refers && draw() % 2) // near $ra, a whole word of code
    return (word & 0xfc000000) | RA << 21 | (CODE_WORDS + draw() % 4) << 16 | ((draw() % 64 - 32) * 4 & 0xffff);
  if (refers || (info->kind == MIPS_CLASS_jump && !(info->mask & 31u << 21) && draw() % 8))
    word = (word & ~(31u << 21)) | (POINTERS + draw() % 8) << 21;
  if (refers) word = (word & 0xffff0000) | (draw() & (draw() % 8 ? 0x0ffc : 0xffff));
  if (info->kind == MIPS_CLASS_branch) word = (word & 0xffff0000) | ((draw() % 48 - 24) & 0xffff);
  if (i == MIPS_bgezal) word &= ~(31u << 21);                                                   // always taken
  if (info->kind == MIPS_CLASS_system && draw() % 4) return 0x24000000 | (draw() & 0x03ffffff); // addiu
  return word;
}

static void write_word(uint32_t address, uint32_t word) {
  for (unsigned w = 0; w < 2; w++) put_word(worlds[w]->ram + address % RAM, word);
}

static void write_words(uint32_t address, const uint32_t *words, size_t count) {
  for (size_t n = 0; n < count; n++) write_word((address & 0x1fffffff) + 4 * (uint32_t)n, words[n]);
}

// The handlers of exceptions, which programs destroy, go on after the instruction that failed; that of a refill maps
// the page to one that a register says.
static void write_handlers(void) {
  static const uint32_t vectors[] = {0x80000180, 0x80000200, 0xbfc00380, 0xbfc00400};
  static const uint32_t passes[] = {
      0x401a7000, // mfc0 $k0, EPC
      0x275a0008, // addiu $k0, $k0, 8
      0x409a7000, // mtc0 $k0, EPC
      0x42000018, // eret
  };
  static const uint32_t maps[] = {
      0x311a03c0, // andi $k0, $t0, 0x3c0
      0x375a001f, // ori $k0, $k0, 0x1f
      0x409a1000, // mtc0 $k0, EntryLo0
      0x409a1800, // mtc0 $k0, EntryLo1
      0x42000006, // tlbwr
      0x42000018, // eret
  };
  for (unsigned v = 0; v < sizeof vectors / sizeof *vectors; v++)
    write_words(vectors[v], passes, sizeof passes / sizeof *passes);
  write_words(0x80000000, maps, sizeof maps / sizeof *maps);
  write_words(0xbfc00200, maps, sizeof maps / sizeof *maps);
}

static void prepare_vpe(struct world *world, unsigned n, unsigned vpes) {
  const struct mips_environment environment = {
      .user = world, .page = page, .read = read_device, .write = write_device, .marker = mark, .thread = thread};
  struct mips_system_options options = mips_system_4kec(big_endian);
  options.vpes = vpes > 1 ? (uint8_t)vpes : 0;
  options.vpe = (uint8_t)n;
  world->mvp.vpe[n] = &world->vpe[n];
  mips_system_init(&world->vpe[n], options, environment);
  mips_system_start(&world->vpe[n], 0x80000000 + n * 2 * MIPS_PAGE);
  mips_system_write_cp0(&world->vpe[n], 12, 0, 0x1000ff01);
  world->vpe[n].cpu.cp0[MIPS_CP0_VPEConf0] |= 3; // all may execute, and be masters
}

static void prepare(unsigned vpes) {
  for (unsigned at = 0; at < RAM; at += 4) put_word(decoded.ram + at, random_word());
  memcpy(interpreted.ram, decoded.ram, RAM);
  write_handlers();
  for (unsigned w = 0; w < 2; w++) {
    mips_mvp_init(&worlds[w]->mvp, vpes);
    worlds[w]->mvp.control |= MIPS_MVPCONTROL_EVP;
    for (unsigned n = 0; n < vpes; n++) prepare_vpe(worlds[w], n, vpes);
  }
  for (unsigned n = 0; n < vpes; n++) {
    decoded.vpe[n].code = mips_code_new();
    CHECK(decoded.vpe[n].code != NULL);
  }
}

// Registers point into memory, a quarter of them through the TLB.
static void set_pointers(unsigned n) {
  for (unsigned k = 0; k < 8; k++) {
    const uint32_t value = (draw() % 4 ? 0x80000000 : 0) | (draw() % (64 * MIPS_PAGE) & ~3u);
    if (draw() % 2)
      for (unsigned w = 0; w < 2; w++) worlds[w]->vpe[n].cpu.r[POINTERS + k] = value;
  }
}

// Another agent writes: a word, or a stretch of new code.
static void write_memory(void) {
  const uint32_t at = draw() % RAM, words = draw() % 2 ? 1 : draw() % 512;
  for (unsigned n = 0; n < words; n++) write_word((at & ~3u) + 4 * n, random_word());
  if (draw() % 4 == 0) write_handlers();
}

// A processor that has lost its way begins anew, in kernel or user mode.
static void restart(unsigned n) {
  const uint32_t status = 0x1000ff01 | (draw() % 4 ? 0 : 0x10) | (draw() % 8 ? 0 : 1u << 22);
  static const uint32_t segments[] = {0x80000000, 0x80000000, 0xa0000000, 0};
  const uint32_t pc = segments[draw() % 4] + draw() % (64 * MIPS_PAGE) / 4 * 4;
  for (unsigned w = 0; w < 2; w++) {
    struct mips_system *m = &worlds[w]->vpe[n];
    mips_system_start(m, pc);
    mips_system_write_cp0(m, 12, 0, status);
    m->cpu.cp0[MIPS_CP0_TCHalt] = 0;
    m->cpu.cp0[MIPS_CP0_TCStatus] |= MIPS_TCSTATUS_A;
    m->cpu.waiting = false;
    worlds[w]->mvp.control |= MIPS_MVPCONTROL_EVP;
  }
}

static void compare(unsigned vpes) {
  for (unsigned n = 0; n < vpes; n++) {
    const struct mips_system *a = &decoded.vpe[n], *b = &interpreted.vpe[n];
    for (unsigned k = 0; k < 32; k++) CHECK(a->cpu.r[k] == b->cpu.r[k]);
    CHECK(a->cpu.pc == b->cpu.pc && a->cpu.next_pc == b->cpu.next_pc && a->cpu.delayed == b->cpu.delayed);
    CHECK(a->cpu.hi == b->cpu.hi && a->cpu.lo == b->cpu.lo && a->cpu.cycle == b->cpu.cycle);
    CHECK(a->cpu.linked == b->cpu.linked && a->cpu.waiting == b->cpu.waiting);
    CHECK(memcmp(a->cpu.cp0, b->cpu.cp0, sizeof a->cpu.cp0) == 0);
    CHECK(memcmp(a->cpu.tlb, b->cpu.tlb, sizeof a->cpu.tlb) == 0);
    CHECK(memcmp(&a->statistics, &b->statistics, sizeof a->statistics) == 0);
  }
  CHECK(decoded.marked == interpreted.marked && decoded.read == interpreted.read);
  CHECK(memcmp(decoded.ram, interpreted.ram, RAM) == 0);
}

// Brings a VPE of both worlds forward; now and then until an address is reached.
static void run(unsigned n) {
  const uint64_t cycles = draw() % (draw() % 4 ? 3000 : 30);
  const bool seeks = draw() % 4 == 0;
  const uint32_t sought = (decoded.vpe[n].cpu.pc & ~3u) + draw() % 32 * 4;
  enum mips_pause pause[2];
  for (unsigned w = 0; w < 2; w++) {
    struct mips_system *m = &worlds[w]->vpe[n];
    const uint64_t until = m->cpu.cycle + cycles;
    pause[w] = seeks ? mips_system_run_to(m, until, sought) : mips_system_run(m, until);
    if (pause[w] == MIPS_PAUSE_WAITING) mips_system_pass(m, 1 + cycles / 2);
  }
  CHECK(pause[0] == pause[1]);
}

int main(int argc, char **argv) {
  CHECK(argc == 5);
  seed = strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252u;
  big_endian = atoi(argv[3]);
  const unsigned rounds = (unsigned)atoi(argv[2]), vpes = (unsigned)atoi(argv[4]);
  prepare(vpes);
  for (unsigned round = 0; round < rounds; round++) {
    const unsigned n = draw() % vpes;
    snprintf(said, sizeof said, "round %u, VPE %u", round, n);
    set_pointers(n);
    if (draw() % 2) restart(n);
    if (mips_mvp_executes(&decoded.mvp, n)) run(n);
    if (draw() % 2 == 0) write_memory();
    const unsigned line = 2 + draw() % 5;
    const bool level = draw() % 4 == 0;
    for (unsigned w = 0; w < 2; w++) mips_system_interrupt(&worlds[w]->vpe[n], line, level);
    compare(vpes);
  }
  uint64_t cycles = 0, stores = 0;
  for (unsigned n = 0; n < vpes; n++) {
    cycles += decoded.vpe[n].cpu.cycle;
    stores += mips_code_stores(decoded.vpe[n].code);
    mips_code_free(decoded.vpe[n].code);
  }
  printf("%" PRIu64 " cycles, %" PRIu64 " stores to decoded code\n", cycles, stores);
  return 0;
}
