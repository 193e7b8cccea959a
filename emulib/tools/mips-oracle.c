/* mips-oracle: runs a program on the functional interpreter, outside any machine.
 *
 * The program sees a flat address space with its segments and a stack, and asks for service by `syscall` with the
 * numbers and registers of Linux o32, so that the same file runs under qemu-mips too: v0 = 4001 exit(a0),
 * 4246 exit_group(a0), 4004 write(a0 = 1 or 2, a1, a2).  The result is in v0, and a3 tells an error.  Any other
 * exception ends the run with a line that says where.
 *
 * Exit status: the program's; 124 at the instruction limit; 125 when the program stopped with an exception; 2 for a
 * wrong command line or a file that is no program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flat_memory.h"
#include "mips/disassemble.h"

enum {
  STACK_TOP = 0x7ffff000,
  STACK_SIZE = 1 << 20,
  STATUS_LIMIT = 124,
  STATUS_EXCEPTION = 125,
  STATUS_USAGE = 2,
  SYSCALL_EXIT = 4001,
  SYSCALL_WRITE = 4004,
  SYSCALL_EXIT_GROUP = 4246,
};

enum { V0 = 2, A0 = 4, A1 = 5, A2 = 6, A3 = 7, SP = 29 };

static char *option_set, *option_trace, *option_dump;
static gboolean option_raw, option_registers, option_counts;
static gint64 option_limit = -1;

static const GOptionEntry options[] = {
    {"set", 0, 0, G_OPTION_ARG_STRING, &option_set, "instruction set: mips1, mips2 (default), prijoff", "SET"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, &option_raw, "the program is a raw image with header", NULL},
    {"limit", 0, 0, G_OPTION_ARG_INT64, &option_limit, "stop after N instructions", "N"},
    {"trace", 0, 0, G_OPTION_ARG_FILENAME, &option_trace, "write every retired instruction to FILE (- = stderr)",
     "FILE"},
    {"registers", 0, 0, G_OPTION_ARG_NONE, &option_registers, "print the registers at the end", NULL},
    {"counts", 0, 0, G_OPTION_ARG_NONE, &option_counts, "print how often each instruction ran", NULL},
    {"dump", 0, 0, G_OPTION_ARG_STRING, &option_dump, "print memory at the end, as hexadecimal words", "ADDRESS:BYTES"},
    G_OPTION_ENTRY_NULL,
};

typedef struct {
  struct mips_interpreter cpu;
  FlatMemory *memory;
  Program *program;
  FILE *trace;
  guint64 counts[MIPS_INSTRUCTIONS];
  int status; /* of the program, once it has ended */
} Run;

static gboolean parse_set(const char *name, enum mips_set *set) {
  static const char *const names[] = MIPS_SET_NAMES;
  *set = MIPS_SET_mips2;
  if (name == NULL) return TRUE;
  for (guint n = 0; n < G_N_ELEMENTS(names); n++)
    if (strcmp(name, names[n]) == 0) return *set = (enum mips_set)n, TRUE;
  fprintf(stderr, "mips-oracle: there is no instruction set '%s'; there are mips1, mips2, prijoff\n", name);
  return FALSE;
}

static void service_write(Run *run) {
  uint32_t *r = run->cpu.r, fd = r[A0], address = r[A1], length = r[A2];
  FILE *out = fd == 1 ? stdout : fd == 2 ? stderr : NULL;
  r[A3] = 1;
  if (out == NULL) {
    r[V0] = EBADF;
    return;
  }
  for (uint32_t n = 0; n < length; n++) {
    const guint8 *byte = flat_memory_at(run->memory, address + n);
    if (byte == NULL) {
      r[V0] = EFAULT;
      return;
    }
    putc(*byte, out);
  }
  r[V0] = length;
  r[A3] = 0;
}

/* Serves a system call; false when the program has ended. */
static gboolean service(Run *run) {
  uint32_t *r = run->cpu.r;
  switch (r[V0]) {
  case SYSCALL_EXIT:
  case SYSCALL_EXIT_GROUP: run->status = (int)(r[A0] & 0xff); return FALSE;
  case SYSCALL_WRITE: service_write(run); break;
  default: r[V0] = ENOSYS; r[A3] = 1;
  }
  mips_interpreter_resume(&run->cpu);
  return TRUE;
}

static void trace_retired(Run *run, uint32_t pc) {
  char text[MIPS_TEXT_SIZE];
  mips_disassemble(run->cpu.set, pc, run->cpu.word, text);
  fprintf(run->trace, "0x%08x %08x %s\n", pc, run->cpu.word, text);
}

static void report_stop(Run *run, enum mips_stop stop) {
  g_autofree char *where = program_describe(run->program, run->cpu.pc);
  g_autofree char *detail = stop == MIPS_STOP_MISALIGNED || stop == MIPS_STOP_MEMORY
                                ? g_strdup_printf(" 0x%08x", run->cpu.fault_address)
                            : stop == MIPS_STOP_RESERVED   ? g_strdup_printf(" 0x%08x", run->cpu.word)
                            : stop == MIPS_STOP_BREAKPOINT ? g_strdup_printf(" %u", run->cpu.word >> 16 & 0x3ff)
                                                           : g_strdup("");
  fflush(stdout);
  fprintf(stderr, "mips-oracle: %s: %s%s at %s%s\n", program_path(run->program), mips_stop_text(stop), detail, where,
          run->cpu.in_delay_slot ? ", in a delay slot" : "");
}

static int run_program(Run *run) {
  while (option_limit < 0 || run->cpu.retired < (guint64)option_limit) {
    uint32_t pc = run->cpu.pc;
    enum mips_stop stop = mips_interpreter_step(&run->cpu);
    gboolean ended = stop == MIPS_STOP_SYSCALL && !service(run);
    if (stop == MIPS_RUNNING || stop == MIPS_STOP_SYSCALL) {
      if (run->trace != NULL) trace_retired(run, pc);
      run->counts[mips_find(run->cpu.set, run->cpu.word)]++;
    }
    if (ended) return run->status;
    if (stop != MIPS_RUNNING && stop != MIPS_STOP_SYSCALL) {
      report_stop(run, stop);
      return STATUS_EXCEPTION;
    }
  }
  return STATUS_LIMIT;
}

static void print_registers(const struct mips_interpreter *cpu) {
  for (int n = 0; n < 32; n++) printf("%-5s 0x%08x%s", mips_register_names[n], cpu->r[n], n % 4 == 3 ? "\n" : "  ");
  printf("hi    0x%08x  lo    0x%08x  pc    0x%08x  retired %" G_GUINT64_FORMAT "\n", cpu->hi, cpu->lo, cpu->pc,
         cpu->retired);
}

static gboolean print_dump(Run *run) {
  char *end;
  guint64 address = g_ascii_strtoull(option_dump, &end, 0), size = 0;
  if (*end == ':') size = g_ascii_strtoull(end + 1, &end, 0);
  if (*end != '\0' || size == 0 || (address & 3) || address + size > 0x100000000ull) {
    fprintf(stderr, "mips-oracle: --dump %s: expected ADDRESS:BYTES, such as 0x1000:64\n", option_dump);
    return FALSE;
  }
  struct mips_memory memory = flat_memory_interface(run->memory);
  for (guint64 n = 0; n < size; n += 4) {
    uint32_t value;
    bool mapped = memory.read(memory.user, (guint32)(address + n), 4, &value);
    printf(mapped ? "0x%08x 0x%08x\n" : "0x%08x unmapped\n", (guint32)(address + n), mapped ? value : 0);
  }
  return TRUE;
}

static void prepare(Run *run, enum mips_set set) {
  gboolean big = program_big_endian(run->program);
  run->memory = flat_memory_new(big);
  flat_memory_map(run->memory, STACK_TOP - STACK_SIZE, STACK_SIZE);
  flat_memory_load(run->memory, run->program);
  mips_interpreter_init(&run->cpu, set, big, flat_memory_interface(run->memory), program_entry(run->program));
  run->cpu.r[SP] = STACK_TOP - 64; /* zeros above it: no arguments, no environment */
}

int main(int argc, char **argv) {
  g_autoptr(GOptionContext) context = g_option_context_new("PROGRAM - run a MIPS program functionally");
  g_option_context_add_main_entries(context, options, NULL);
  g_autoptr(GError) error = NULL;
  Run run = {0};
  enum mips_set set;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "mips-oracle: %s\n", error->message);
    return STATUS_USAGE;
  }
  if (argc != 2) {
    fprintf(stderr, "mips-oracle: one program is expected; see mips-oracle --help\n");
    return STATUS_USAGE;
  }
  if (!parse_set(option_set, &set)) return STATUS_USAGE;
  g_autoptr(Program) program = program_open(argv[1], option_raw ? PROGRAM_RAW : PROGRAM_ELF, &error);
  if (program == NULL) {
    fprintf(stderr, "mips-oracle: %s\n", error->message);
    return STATUS_USAGE;
  }
  run.program = program;
  if (option_trace != NULL) {
    run.trace = strcmp(option_trace, "-") == 0 ? stderr : fopen(option_trace, "w");
    if (run.trace == NULL) {
      fprintf(stderr, "mips-oracle: cannot write %s: %s\n", option_trace, g_strerror(errno));
      return STATUS_USAGE;
    }
  }
  prepare(&run, set);
  g_autoptr(FlatMemory) memory = run.memory;
  int status = run_program(&run);
  if (option_registers) print_registers(&run.cpu);
  if (option_counts)
    for (int n = 0; n < MIPS_INSTRUCTIONS; n++)
      if (run.counts[n] != 0) printf("%-8s %" G_GUINT64_FORMAT "\n", mips_info[n].name, run.counts[n]);
  if (option_dump != NULL && !print_dump(&run)) status = STATUS_USAGE;
  if (run.trace != NULL && run.trace != stderr && fclose(run.trace) != 0) {
    fprintf(stderr, "mips-oracle: cannot write %s: %s\n", option_trace, g_strerror(errno));
    return STATUS_USAGE;
  }
  return status;
}
