// rv32i-oracle: runs a program on the RV32I interpreter; see oracle.c.
//
// System calls are those of Linux: a7 = 93 exit(a0), 94 exit_group(a0), 64 write(a0, a1, a2).  The result is in a0, an
// error as its negative number.
#include <elf.h>
#include <stdio.h>

#include "rv32i/disassemble.h"
#include "rv32i/interpreter.h"
#include "tools/oracle.h"

enum { SP = 2, A0 = 10, A7 = 17 };

G_STATIC_ASSERT(RV32I_TEXT_SIZE <= ORACLE_TEXT_SIZE);

static struct rv32i_interpreter cpu;

static void start(unsigned set, gboolean big_endian, struct guest_memory memory, guint32 entry) {
  (void)set, (void)big_endian;
  rv32i_interpreter_init(&cpu, memory, entry);
}

static OracleStep step(void) {
  enum rv32i_stop stop = rv32i_interpreter_step(&cpu);
  return stop == RV32I_RUNNING ? ORACLE_RETIRED : stop == RV32I_STOP_SYSCALL ? ORACLE_SYSCALL : ORACLE_STOPPED;
}

static void result(guint32 value, guint32 error) {
  cpu.r[A0] = error != 0 ? -error : value;
}

static void resume(void) {
  rv32i_interpreter_resume(&cpu);
}

static char *reason(void) {
  const char *text = rv32i_stop_text(cpu.stop);
  switch (cpu.stop) {
  case RV32I_STOP_MISALIGNED:
  case RV32I_STOP_MEMORY: return g_strdup_printf("%s 0x%08x", text, cpu.fault_address);
  case RV32I_STOP_RESERVED: return g_strdup_printf("%s 0x%08x", text, cpu.word);
  default: return g_strdup(text);
  }
}

static const char *where(void) {
  return "";
}

static void text(guint32 pc, guint32 word, char *to) {
  rv32i_disassemble(pc, word, to);
}

static void print_registers(void) {
  for (int n = 0; n < 32; n++) printf("%-4s 0x%08x%s", rv32i_register_names[n], cpu.r[n], n % 4 == 3 ? "\n" : "  ");
  printf("pc   0x%08x  retired %" G_GUINT64_FORMAT "\n", cpu.pc, cpu.retired);
}

static unsigned instruction(guint32 word) {
  return rv32i_find(RV32I_SET_rv32i, word);
}

static const char *instruction_name(unsigned number) {
  return rv32i_info[number].name;
}

int main(int argc, char **argv) {
  static const char *const sets[] = {RV32I_SET_NAMES, NULL};
  const OracleIsa isa = {
      .tool = "rv32i-oracle",
      .processor = "RISC-V",
      .machine = EM_RISCV,
      .sets = sets,
      .set = RV32I_SET_rv32i,
      .stack_register = SP,
      .number_register = A7,
      .argument_register = A0,
      .exit_number = 93,
      .exit_group_number = 94,
      .write_number = 64,
      .instructions = RV32I_INSTRUCTIONS,
      ORACLE_INTERPRETER(cpu),
  };
  return oracle_main(argc, argv, &isa);
}
