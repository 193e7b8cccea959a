// Runs a program on a functional interpreter, outside any machine.
//
// The program sees a flat address space with its segments and a stack, and requests service with the system calls of
// Linux for its processor, so that the same file runs under qemu-user too: exit and exit_group with a status, write to
// descriptor 1 or 2.  Any other exception ends the run with a line that says where.
//
// Exit status: the program's; 124 at the instruction limit; 125 when the program stopped with an exception; 2 for a
// wrong command line or a file that is no program; 1 when
// something could not be written.  The output of the program is written as it comes.
#include "oracle.h"

#include <errno.h>
#include <stdio.h>

#include "choose.h"
#include "flat_memory.h"
#include "lss/runtime/text/number.h"
#include "program/program.h"
#include "program/standard_streams.h"
#include "trace_output.h"

enum {
  STACK_TOP = 0x7ffff000,
  STACK_SIZE = 1 << 20,
  STATUS_LIMIT = 124,
  STATUS_EXCEPTION = 125,
  STATUS_WRITE = 1,
  STATUS_USAGE = 2,
};

static char *option_set, *option_trace, *option_dump, *option_limit;
static gboolean option_raw, option_registers, option_counts;

static const GOptionEntry options[] = {
    {"set", 0, 0, G_OPTION_ARG_STRING, &option_set, "instruction set", "SET"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, &option_raw, "the program is a raw image with header", NULL},
    {"limit", 0, 0, G_OPTION_ARG_STRING, &option_limit, "stop after N instructions", "N"},
    {"trace", 0, 0, G_OPTION_ARG_FILENAME, &option_trace, "write every retired instruction to FILE (- = stderr)",
     "FILE"},
    {"registers", 0, 0, G_OPTION_ARG_NONE, &option_registers, "print the registers at the end", NULL},
    {"counts", 0, 0, G_OPTION_ARG_NONE, &option_counts, "print how often each instruction ran", NULL},
    {"dump", 0, 0, G_OPTION_ARG_STRING, &option_dump, "print memory at the end, as hexadecimal words", "ADDRESS:BYTES"},
    G_OPTION_ENTRY_NULL,
};

typedef struct {
  const OracleIsa *isa;
  FlatMemory *memory;
  Program *program;
  FILE *trace;
  uint64_t limit;  // of instructions
  guint64 *counts; // by instruction
  int status;      // of the program, once it has ended
} Run;

// False when it could not be written.
static gboolean service_write(Run *run) {
  const OracleIsa *isa = run->isa;
  const guint32 *a = isa->registers + isa->argument_register;
  const guint32 fd = a[0], address = a[1], length = a[2];
  FILE *out = fd == 1 ? stdout : fd == 2 ? stderr : NULL;
  if (out == NULL) {
    isa->result(0, EBADF);
    return TRUE;
  }
  for (guint32 n = 0; n < length; n++) {
    const guint8 *byte = flat_memory_at(run->memory, address + n);
    if (byte == NULL) {
      isa->result(0, EFAULT);
      return standard_streams_pass_on(out);
    }
    putc(*byte, out);
  }
  isa->result(length, 0);
  return standard_streams_pass_on(out);
}

// Serves a system call; false when the program has ended.
static gboolean service(Run *run) {
  const OracleIsa *isa = run->isa;
  const guint32 number = isa->registers[isa->number_register];
  if (number == isa->exit_number || number == isa->exit_group_number) {
    run->status = (int)(isa->registers[isa->argument_register] & 0xff);
    return FALSE;
  }
  if (number != isa->write_number)
    isa->result(0, ENOSYS);
  else if (!service_write(run)) {
    run->status = STATUS_WRITE;
    return FALSE;
  }
  isa->resume();
  return TRUE;
}

// False when it could not be written.
static gboolean trace_retired(Run *run, guint32 pc) {
  char text[ORACLE_TEXT_SIZE];
  run->isa->text(pc, *run->isa->word, text);
  return fprintf(run->trace, "0x%08x %08x %s\n", pc, *run->isa->word, text) >= 0;
}

static void report_stop(Run *run) {
  g_autofree char *where = program_describe(run->program, *run->isa->pc);
  g_autofree char *reason = run->isa->reason();
  fflush(stdout);
  fprintf(stderr, "%s: %s: %s at %s%s\n", run->isa->tool, program_path(run->program), reason, where, run->isa->where());
}

static int run_program(Run *run) {
  const OracleIsa *isa = run->isa;
  while (*isa->retired < run->limit) {
    const guint32 pc = *isa->pc;
    const OracleStep step = isa->step();
    if (step == ORACLE_STOPPED) {
      report_stop(run);
      return STATUS_EXCEPTION;
    }
    const gboolean ended = step == ORACLE_SYSCALL && !service(run);
    if (run->trace != NULL && !trace_retired(run, pc)) return STATUS_WRITE;
    run->counts[isa->instruction(*isa->word)]++;
    if (ended) return run->status;
  }
  return STATUS_LIMIT;
}

static gboolean print_dump(Run *run) {
  const char *at = option_dump;
  uint64_t address = 0, size = 0;
  const gboolean fine = number_take_count(&at, G_MAXUINT32, &address) && *at++ == ':' && address % 4 == 0 &&
                        number_parse(at, 0x100000000ull - address, &size) && size > 0;
  if (!fine) {
    fprintf(stderr, "%s: --dump %s: expected ADDRESS:BYTES, such as 0x1000:64\n", run->isa->tool, option_dump);
    return FALSE;
  }
  struct guest_memory memory = flat_memory_interface(run->memory);
  for (guint64 n = 0; n < size; n += 4) {
    uint32_t value;
    bool mapped = memory.read(memory.user, (guint32)(address + n), 4, &value);
    printf(mapped ? "0x%08x 0x%08x\n" : "0x%08x unmapped\n", (guint32)(address + n), mapped ? value : 0);
  }
  return TRUE;
}

static void prepare(Run *run, unsigned set) {
  const gboolean big = program_big_endian(run->program);
  run->memory = flat_memory_new(big);
  flat_memory_map(run->memory, STACK_TOP - STACK_SIZE, STACK_SIZE);
  flat_memory_load(run->memory, run->program);
  run->isa->start(set, big, flat_memory_interface(run->memory), program_entry(run->program));
  // Zeros above it: no arguments, no environment.
  run->isa->registers[run->isa->stack_register] = STACK_TOP - 64;
}

// The end of a run: what was asked for beside the program's own output.
static int conclude(Run *run, int status) {
  const OracleIsa *isa = run->isa;
  if (option_registers) isa->print_registers();
  if (option_counts)
    for (unsigned n = 0; n < isa->instructions; n++)
      if (run->counts[n] != 0) printf("%-8s %" G_GUINT64_FORMAT "\n", isa->instruction_name(n), run->counts[n]);
  if (option_dump != NULL && !print_dump(run)) status = STATUS_USAGE;
  const gboolean traced = trace_output_close(isa->tool, option_trace, run->trace);
  return standard_streams_flush(isa->tool) && traced ? status : STATUS_WRITE;
}

int oracle_main(int argc, char **argv, const OracleIsa *isa) {
  standard_streams_open(isa->tool);
  g_autofree char *title = g_strdup_printf("PROGRAM - run a %s program functionally", isa->processor);
  g_autofree char *sets = g_strjoinv(", ", (char **)isa->sets);
  g_autofree char *summary = g_strdup_printf("Instruction sets: %s; default: %s%s%s", sets, isa->sets[isa->set],
                                             isa->note != NULL ? "\n" : "", isa->note != NULL ? isa->note : "");
  g_autoptr(GOptionContext) context = g_option_context_new(title);
  g_option_context_add_main_entries(context, options, NULL);
  g_option_context_set_summary(context, summary);
  g_autoptr(GError) error = NULL;
  Run run = {.isa = isa, .limit = G_MAXUINT64};
  unsigned set = isa->set;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "%s: %s\n", isa->tool, error->message);
    return STATUS_USAGE;
  }
  if (argc != 2) {
    fprintf(stderr, "%s: one program is expected; see %s --help\n", isa->tool, isa->tool);
    return STATUS_USAGE;
  }
  if (!choose_set(isa->tool, isa->sets, option_set, &set) ||
      !choose_number(isa->tool, "--limit", option_limit, 0, G_MAXUINT64, &run.limit))
    return STATUS_USAGE;
  g_autoptr(Program) program = choose_program(isa->tool, argv[1], option_raw, isa->machine, isa->sets[set]);
  if (program == NULL) return STATUS_USAGE;
  run.program = program;
  if (option_trace != NULL) {
    const char *const inputs[] = {argv[1], NULL};
    run.trace = trace_output_open(isa->tool, option_trace, inputs);
    if (run.trace == NULL) return STATUS_USAGE;
  }
  prepare(&run, set);
  g_autoptr(FlatMemory) memory = run.memory;
  g_autofree guint64 *counts = run.counts = g_new0(guint64, isa->instructions);
  return conclude(&run, run_program(&run));
}
