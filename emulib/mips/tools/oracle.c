// mips-oracle: runs a program on the MIPS interpreter; see oracle.c.
//
// System calls are those of Linux o32: v0 = 4001 exit(a0), 4246 exit_group(a0), 4004 write(a0, a1, a2).  The result is
// in v0, and a3 says whether it failed.  With --system it runs a whole machine; see mips_system_command.c.
#include <elf.h>
#include <stdio.h>

#include "mips/disassemble.h"
#include "mips/interpreter.h"
#include "tools/mips_system_command.h"
#include "tools/oracle.h"

enum { V0 = 2, A0 = 4, A3 = 7, SP = 29 };

G_STATIC_ASSERT(MIPS_TEXT_SIZE <= ORACLE_TEXT_SIZE);

static struct mips_interpreter cpu;

static void start(unsigned set, gboolean big_endian, struct guest_memory memory, guint32 entry) {
  mips_interpreter_init(&cpu, (enum mips_set)set, big_endian, memory, entry);
}

static OracleStep step(void) {
  enum mips_stop stop = mips_interpreter_step(&cpu);
  return stop == MIPS_RUNNING ? ORACLE_RETIRED : stop == MIPS_STOP_SYSCALL ? ORACLE_SYSCALL : ORACLE_STOPPED;
}

static void result(guint32 value, guint32 error) {
  cpu.r[V0] = error != 0 ? error : value;
  cpu.r[A3] = error != 0;
}

static void resume(void) {
  mips_interpreter_resume(&cpu);
}

static char *reason(void) {
  const char *text = mips_stop_text(cpu.stop);
  switch (cpu.stop) {
  case MIPS_STOP_MISALIGNED:
  case MIPS_STOP_MEMORY: return g_strdup_printf("%s 0x%08x", text, cpu.fault_address);
  case MIPS_STOP_RESERVED: return g_strdup_printf("%s 0x%08x", text, cpu.word);
  case MIPS_STOP_BREAKPOINT: return g_strdup_printf("%s %u", text, cpu.word >> 16 & 0x3ff);
  default: return g_strdup(text);
  }
}

static const char *where(void) {
  return cpu.in_delay_slot ? ", in a delay slot" : "";
}

static void text(guint32 pc, guint32 word, char *to) {
  mips_disassemble(cpu.set, pc, word, to);
}

static void print_registers(void) {
  for (int n = 0; n < 32; n++) printf("%-5s 0x%08x%s", mips_register_names[n], cpu.r[n], n % 4 == 3 ? "\n" : "  ");
  printf("hi    0x%08x  lo    0x%08x  pc    0x%08x  retired %" G_GUINT64_FORMAT "\n", cpu.hi, cpu.lo, cpu.pc,
         cpu.retired);
}

static unsigned instruction(guint32 word) {
  return mips_find(cpu.set, word);
}

static const char *instruction_name(unsigned number) {
  return mips_info[number].name;
}

int main(int argc, char **argv) {
  if (mips_system_requested(argc, argv)) return mips_system_main(argc, argv);
  static const char *const sets[] = {MIPS_SET_NAMES, NULL};
  const OracleIsa isa = {
      .tool = "mips-oracle",
      .processor = "MIPS",
      .machine = EM_MIPS,
      .note = "Kernels, and programs without an operating system: see mips-oracle --system --help",
      .sets = sets,
      .set = MIPS_SET_mips2,
      .stack_register = SP,
      .number_register = V0,
      .argument_register = A0,
      .exit_number = 4001,
      .exit_group_number = 4246,
      .write_number = 4004,
      .instructions = MIPS_INSTRUCTIONS,
      ORACLE_INTERPRETER(cpu),
  };
  return oracle_main(argc, argv, &isa);
}
