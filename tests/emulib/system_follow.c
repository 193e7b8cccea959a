/* Two functional machines run the same program, one instruction after the other.  The second follows the first: it is
 * given what the first had from time, devices and interrupts, and must do the same.  So a reference follows a core.
 *
 *   system_follow big|little LIMIT PROGRAM [INITRAMFS TREE]
 *
 * Prints the number of instructions, of interrupts and of waits; fails at the first difference.
 */
#include <stdio.h>
#include <string.h>

#include "program/input_file.h"
#include "tools/host_machine.h"

enum { A0 = 4, A1 = 5, INITRAMFS_AT = 0x02000000, TREE_AT = 0x03f00000, SC = 0x38 };

static HostMachine *leader, *follower;
static struct mips_environment devices;
static uint32_t loaded;
static bool responded;

static bool lead_read(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value) {
  responded = devices.read(user, address, size, cached, value);
  loaded = *value;
  return responded;
}

static bool lead_write(void *user, uint32_t address, unsigned size, bool cached, uint32_t value) {
  return responded = devices.write(user, address, size, cached, value);
}

static bool follow_read(G_GNUC_UNUSED void *user, G_GNUC_UNUSED uint32_t address, G_GNUC_UNUSED unsigned size,
                        G_GNUC_UNUSED bool cached, uint32_t *value) {
  *value = loaded;
  return responded;
}

static bool follow_write(G_GNUC_UNUSED void *user, G_GNUC_UNUSED uint32_t address, G_GNUC_UNUSED unsigned size,
                         G_GNUC_UNUSED bool cached, G_GNUC_UNUSED uint32_t value) {
  return responded;
}

static void ignore(G_GNUC_UNUSED void *user, G_GNUC_UNUSED guint8 character) {}

static void place(const char *path, guint32 address) {
  gsize size;
  g_autofree char *bytes = input_file_read(path, &size, NULL);
  HostMachine *machines[] = {leader, follower};
  for (int n = 0; n < 2; n++) {
    g_assert_true(bytes != NULL &&
                  host_machine_place(machines[n], "a file", path, address, (guint8 *)bytes, size, NULL));
    machines[n]->cpu.cpu.r[A0] = (guint32)-2;
    machines[n]->cpu.cpu.r[A1] = address | 0x80000000u;
  }
}

/* What programs can see, without what only time decides. */
static bool same_state(void) {
  const struct mips_architecture *a = &leader->cpu.cpu, *b = &follower->cpu.cpu;
  for (int n = 0; n < MIPS_CP0_REGISTERS; n++) {
    const uint32_t ignored = n == MIPS_CP0_Count ? ~0u : n == MIPS_CP0_Cause ? MIPS_CAUSE_IP | MIPS_CAUSE_TI : 0;
    if ((a->cp0[n] ^ b->cp0[n]) & ~ignored) return false;
  }
  return memcmp(a->r, b->r, sizeof a->r) == 0 && a->hi == b->hi && a->lo == b->lo && a->pc == b->pc &&
         a->next_pc == b->next_pc && a->delayed == b->delayed && memcmp(a->tlb, b->tlb, sizeof a->tlb) == 0;
}

static bool same_step(const struct mips_step *a, const struct mips_step *b) {
  return a->pc == b->pc && a->word == b->word && a->in_delay_slot == b->in_delay_slot && a->retired == b->retired &&
         a->exception == b->exception && a->destination == b->destination && a->value == b->value &&
         a->stored == b->stored && a->store_address == b->store_address && a->store_value == b->store_value;
}

/* The follower does the instruction that the leader has done. */
static bool follow(const struct mips_step *led, uint32_t cause) {
  struct mips_system *m = &follower->cpu;
  struct mips_step did;
  for (unsigned line = 2; line < 8; line++) mips_system_interrupt(m, line, cause >> (MIPS_CAUSE_IP_SHIFT + line) & 1);
  m->given.count = mips_system_read_cp0(&leader->cpu, 9, 0);
  m->given.stores = led->word >> 26 == SC && led->value != 0;
  if (led->interrupted) mips_system_take_interrupt(m);
  mips_system_step(m, &did);
  if (same_step(led, &did) && same_state()) return true;
  fprintf(stderr, "they differ at 0x%08x (0x%08x, exception %u), where the follower is at 0x%08x (exception %u)\n",
          led->pc, led->word, led->exception, did.pc, did.exception);
  return false;
}

int main(int argc, char **argv) {
  const gboolean big = strcmp(argv[1], "big") == 0;
  const guint64 limit = g_ascii_strtoull(argv[2], NULL, 10);
  g_autoptr(Program) program = program_open(argv[3], PROGRAM_ELF, NULL);
  guint64 interrupts = 0, waits = 0;
  leader = host_machine_new(big, 64 << 20, ignore, NULL);
  follower = host_machine_new(big, 64 << 20, ignore, NULL);
  g_assert_true(host_machine_load(leader, program, NULL) && host_machine_load(follower, program, NULL));
  if (argc == 6) {
    place(argv[4], INITRAMFS_AT);
    place(argv[5], TREE_AT);
  }
  struct mips_system *m = &leader->cpu;
  devices = m->environment;
  m->environment.read = lead_read;
  m->environment.write = lead_write;
  follower->cpu.environment.read = follow_read;
  follower->cpu.environment.write = follow_write;
  follower->cpu.following = true;
  mips_system_start(m, program_entry(program));
  mips_system_start(&follower->cpu, program_entry(program));
  while (!leader->ended && mips_system_retired(m) < limit) {
    struct mips_step led;
    const bool expires = m->cpu.cycle >= m->cpu.timer_cycle;
    const uint32_t cause = m->cpu.cp0[MIPS_CP0_Cause] | (expires ? 0x8000 : 0);
    if (mips_system_step(m, &led) == MIPS_PAUSE_WAITING) {
      mips_system_pass(m, mips_system_next_event(m) - m->cpu.cycle);
      waits++;
      continue;
    }
    interrupts += led.interrupted;
    if (!follow(&led, cause)) return 1;
  }
  printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", mips_system_retired(m), interrupts,
         waits);
  host_machine_free(leader);
  host_machine_free(follower);
  return 0;
}
