// A functional machine runs a program and is followed in lockstep as a core is: by what it reports of its instructions.
//
//   system_follow big|little LIMIT PROGRAM [INITRAMFS TREE]
//
// Prints the number of instructions, of interrupts and of waits; fails at the first difference.  WRONG=code, epc, bad
// or none in the environment has it report all exceptions wrongly, WRONG=interrupt or level interrupts.
#include <stdio.h>
#include <string.h>

#include "mips/lockstep.h"
#include "program/input_file.h"
#include "tools/host_machine.h"

enum { A0 = 4, A1 = 5, INITRAMFS_AT = 0x02000000, TREE_AT = 0x03f00000 };

static HostMachine *leader;
static struct mips_lockstep follower;
static guint64 interrupts, waits;

static gboolean ignore(G_GNUC_UNUSED void *user, G_GNUC_UNUSED guint8 character) {
  return TRUE;
}

static void place(const char *path, guint32 address) {
  gsize size;
  g_autofree char *bytes = input_file_read(path, &size, NULL);
  g_assert_true(bytes != NULL && host_machine_place(leader, "a file", path, address, (guint8 *)bytes, size, NULL));
}

// What programs can see, without what only time decides.
static bool same_state(void) {
  const struct mips_architecture *a = &leader->cpu.cpu, *b = &follower.cpu;
  for (int n = 0; n < MIPS_CP0_REGISTERS; n++) {
    const uint32_t ignored = n == MIPS_CP0_Count ? ~0u : n == MIPS_CP0_Cause ? MIPS_CAUSE_IP | MIPS_CAUSE_TI : 0;
    if ((a->cp0[n] ^ b->cp0[n]) & ~ignored) return false;
  }
  return memcmp(a->r, b->r, sizeof a->r) == 0 && a->hi == b->hi && a->lo == b->lo && a->pc == b->pc &&
         a->next_pc == b->next_pc && a->delayed == b->delayed && memcmp(a->tlb, b->tlb, sizeof a->tlb) == 0;
}

static bool is_wrong(const char *how) {
  return g_strcmp0(g_getenv("WRONG"), how) == 0;
}

// Reports what the leader has done, in cycle n.
static bool follow(guint64 n, const struct mips_step *led) {
  struct mips_lockstep *l = &follower;
  const struct mips_architecture *cpu = &leader->cpu.cpu;
  char text[MIPS_LOCKSTEP_TEXT] = "the states differ";
  if (!led->retired) {
    if (is_wrong("none")) return true;
    mips_lockstep_exception(l,
                            (struct mips_lockstep_exception){.cycle = n,
                                                             .pc = led->pc,
                                                             .word = led->word,
                                                             .epc = cpu->cp0[MIPS_CP0_EPC] ^ (is_wrong("epc") ? 4 : 0),
                                                             .bad = cpu->cp0[MIPS_CP0_BadVAddr] ^ is_wrong("bad"),
                                                             .code = led->exception ^ is_wrong("code")});
    return true;
  }
  if (led->stored)
    mips_lockstep_access(l, (struct mips_lockstep_access){.pc = led->pc,
                                                          .address = led->store_address,
                                                          .data = led->store_value,
                                                          .size = led->stored,
                                                          .stores = true});
  const struct mips_lockstep_retired retired = {
      .cycle = n, .pc = led->pc, .word = led->word, .value = led->value, .destination = led->destination};
  if (mips_lockstep_retire(l, retired, text) && same_state()) return true;
  fprintf(stderr, "%s\n", text);
  return false;
}

// The interrupt that is taken in place of the instruction at pc.
static void follow_interrupt(guint64 n, uint32_t pc, uint32_t pending) {
  struct mips_lockstep_exception e = {.cycle = n, .pc = pc};
  e.level = (uint8_t)(31 - __builtin_clz(pending) - MIPS_CAUSE_IP_SHIFT);
  if (is_wrong("interrupt")) e.pc ^= 4;
  if (is_wrong("level")) e.level ^= 1;
  mips_lockstep_exception(&follower, e);
  interrupts++;
}

int main(int argc, char **argv) {
  const gboolean big = strcmp(argv[1], "big") == 0;
  const guint64 limit = g_ascii_strtoull(argv[2], NULL, 10);
  g_autoptr(Program) program = program_open(argv[3], PROGRAM_ELF, NULL);
  leader = host_machine_new(big, 0, 64 << 20, ignore, NULL);
  g_assert_true(host_machine_load(leader, program, NULL));
  if (argc == 6) {
    place(argv[4], INITRAMFS_AT);
    place(argv[5], TREE_AT);
  }
  struct mips_system *m = &leader->cpu;
  mips_system_start(m, program_entry(program));
  mips_lockstep_init(&follower, m->options, 64 << 20);
  if (argc == 6) {
    m->cpu.r[A0] = follower.cpu.r[A0] = (guint32)-2;
    m->cpu.r[A1] = follower.cpu.r[A1] = TREE_AT | 0x80000000u;
  }
  for (guint64 n = 0; !leader->ended && mips_system_retired(m) < limit; n++) {
    struct mips_step led;
    const uint32_t pc = m->cpu.pc;
    const uint32_t status = m->cpu.cp0[MIPS_CP0_Status];
    if (mips_system_step(m, &led) == MIPS_PAUSE_WAITING) {
      mips_system_pass(m, mips_system_next_event(m) - m->cpu.cycle);
      waits++;
      continue;
    }
    if (led.interrupted) follow_interrupt(n, pc, status & m->cpu.cp0[MIPS_CP0_Cause] & MIPS_CAUSE_IP);
    if (!follow(n + led.interrupted, &led)) return 1;
    n += led.interrupted;
  }
  printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", mips_system_retired(m), interrupts,
         waits);
  host_machine_free(leader);
  return 0;
}
