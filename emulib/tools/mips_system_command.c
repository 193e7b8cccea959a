// mips-oracle --system [OPTION...] PROGRAM: the functional host machine of host_machine.h with a kernel, or any program
// that runs without an operating system, a device tree and a file system for it.
//
// It starts as MIPS's boot protocol (UHI) wants: a0 = -2 and a1 = the address of the device tree, which lies at the end
// of RAM; the file system lies at 32 MiB, where the tree says that it is.
//
// Exit status: the one that the program gave to power; 124 at the instruction limit; 125 when it waits for an interrupt
// that never comes; 2 for a wrong command line or a file that does not fit; 1 when something
// could not be written.  What the UART sends is written as it comes.
#include "mips_system_command.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "choose.h"
#include "host_machine.h"
#include "lss/runtime/text/quantity.h"
#include "mips/disassemble.h"
#include "program/input_file.h"
#include "program/standard_streams.h"
#include "trace_output.h"

enum {
  A0 = 4,
  A1 = 5,
  INITRAMFS_AT = 0x02000000,
  TREE_ALIGNMENT = 0x10000,
  STATUS_LIMIT = 124,
  STATUS_WAITING = 125,
  STATUS_WRITE = 1,
  STATUS_USAGE = 2,
};

static gboolean option_system, option_big_endian, option_registers, option_counts, option_interpret;
static char *option_memory, *option_dtb, *option_initramfs, *option_script, *option_trace, *option_limit, *option_vpes;
static uint64_t limit = G_MAXUINT64, vpes;

static const GOptionEntry options[] = {
    {"system", 0, 0, G_OPTION_ARG_NONE, &option_system, "run on a whole machine", NULL},
    {"big-endian", 0, 0, G_OPTION_ARG_NONE, &option_big_endian, "the machine is big-endian", NULL},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &option_memory, "RAM, 1MiB to 256MiB (default 64MiB)", "SIZE"},
    {"dtb", 0, 0, G_OPTION_ARG_FILENAME, &option_dtb, "device tree, as dtc writes it", "FILE"},
    {"initramfs", 0, 0, G_OPTION_ARG_FILENAME, &option_initramfs, "first file system, put at 32 MiB", "FILE"},
    {"console-script", 0, 0, G_OPTION_ARG_FILENAME, &option_script,
     "what is typed, and when: lines of wait TEXT, send TEXT, after TIME", "FILE"},
    {"vpes", 0, 0, G_OPTION_ARG_STRING, &option_vpes,
     "virtual processing elements (MT ASE), 1 to 8 (default: no MT ASE)", "N"},
    {"trace", 0, 0, G_OPTION_ARG_FILENAME, &option_trace,
     "write every instruction, interrupt and exception to FILE (- = stderr)", "FILE"},
    {"limit", 0, 0, G_OPTION_ARG_STRING, &option_limit, "stop after N instructions", "N"},
    {"interpret", 0, 0, G_OPTION_ARG_NONE, &option_interpret,
     "decode each instruction when it is executed: slower, and the same in all else", NULL},
    {"registers", 0, 0, G_OPTION_ARG_NONE, &option_registers, "print the registers at the end", NULL},
    {"counts", 0, 0, G_OPTION_ARG_NONE, &option_counts, "print what was counted, at the end", NULL},
    G_OPTION_ENTRY_NULL,
};

static const char tool[] = "mips-oracle";

int mips_system_requested(int argc, char **argv) {
  for (int n = 1; n < argc; n++)
    if (strcmp(argv[n], "--system") == 0) return 1;
  return 0;
}

static gboolean memory_size(guint32 *size) {
  enum { MIB = 1 << 20, MOST = 256 };
  if (option_memory == NULL) return *size = 64 * MIB, TRUE;
  const char *error = "expected whole MiB, 1 MiB to 256 MiB";
  int64_t bytes;
  const bool fine = quantity_read_base(option_memory, DIM_SIZE, &bytes, &error);
  if (!fine || bytes % MIB != 0 || bytes < MIB || bytes > MOST * MIB) {
    fprintf(stderr, "%s: --memory %s: %s\n", tool, option_memory, error);
    return FALSE;
  }
  *size = (guint32)bytes;
  return TRUE;
}

// Puts a file into RAM; its address, if it is not given, is the last that is aligned.
static gboolean place_file(HostMachine *machine, const char *what, const char *path, guint32 address, guint32 *at,
                           GError **error) {
  gsize size;
  g_autoptr(GError) failure = NULL;
  g_autofree char *bytes = input_file_read(path, &size, &failure);
  if (bytes == NULL) {
    g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FILE, "cannot read %s: %s", path, failure->message);
    return FALSE;
  }
  if (address == 0 && size < machine->ram_size)
    address = (guint32)(machine->ram_size - size) & ~(guint32)(TREE_ALIGNMENT - 1);
  *at = address;
  return host_machine_place(machine, what, path, address, (const guint8 *)bytes, size, error);
}

static gboolean prepare(HostMachine *machine, const Program *program, GError **error) {
  guint32 at;
  if (!host_machine_load(machine, program, error)) return FALSE;
  if (option_initramfs != NULL && !place_file(machine, "the file system", option_initramfs, INITRAMFS_AT, &at, error))
    return FALSE;
  if (option_dtb != NULL) {
    if (!place_file(machine, "the device tree", option_dtb, 0, &at, error)) return FALSE;
    machine->cpu.cpu.r[A0] = (guint32)-2;
    machine->cpu.cpu.r[A1] = at | 0x80000000u;
  }
  mips_system_start(&machine->cpu, program_entry(program));
  return TRUE;
}

static gboolean read_script(ConsoleScript *script, char **text, GError **error) {
  g_autoptr(GError) failure = NULL;
  if (option_script == NULL) return TRUE;
  *text = input_file_read(option_script, &script->size, &failure);
  if (*text == NULL) {
    g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FILE, "cannot read %s: %s", option_script, failure->message);
    return FALSE;
  }
  script->text = *text;
  char why[CONSOLE_WHY];
  const guint32 wrong = console_script_wrong_line(*script, why, sizeof why);
  if (wrong > 0) g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FORMAT, "%s:%u: %s", option_script, wrong, why);
  return wrong == 0;
}

static gboolean send(G_GNUC_UNUSED void *user, guint8 character) {
  return putchar(character) != EOF && standard_streams_pass_on(stdout);
}

static void print_registers(struct mips_system *m) {
  const struct mips_architecture *cpu = &m->cpu;
  for (int n = 0; n < 32; n++) printf("%-5s 0x%08x%s", mips_register_names[n], cpu->r[n], n % 4 == 3 ? "\n" : "  ");
  printf("hi    0x%08x  lo    0x%08x  pc    0x%08x\n", cpu->hi, cpu->lo, cpu->pc);
#define PRINT(name, number, select, reset, writable, text) printf("%-10s 0x%08x\n", #name, cpu->cp0[MIPS_CP0_##name]);
#define PRINT_VPE(name, n, s, reset, writable, text)                                                                   \
  printf("%-10s 0x%08x\n", #name,                                                                                      \
         mips_system_read_thread(m, (struct mips_thread_request){.number = (n), .select = (s)}, false));
  MIPS_EACH_CP0_REGISTER(PRINT)
  if (m->options.vpes > 0) {
    MIPS_EACH_VPE_REGISTER(PRINT_VPE)
  }
}

static void print_counts(const struct mips_system *cpu) {
  static const char *const names[] = {"interrupts",    "modified",  "tlb load", "tlb store", "address load",
                                      "address store", "bus fetch", "bus data", "syscall",   "breakpoint",
                                      "reserved",      "unusable",  "overflow", "trap"};
  const guint64 *exceptions = cpu->statistics.exceptions;
  printf("instructions  %" G_GUINT64_FORMAT "\nidle cycles   %" G_GUINT64_FORMAT "\n", mips_system_retired(cpu),
         cpu->statistics.idle);
  for (gsize n = 0; n < G_N_ELEMENTS(names); n++) printf("%-13s %" G_GUINT64_FORMAT "\n", names[n], exceptions[n]);
  if (cpu->options.vpes > 0) printf("thread        %" G_GUINT64_FORMAT "\n", exceptions[MIPS_EXCEPTION_THREAD]);
  printf("refills       %" G_GUINT64_FORMAT "\nunimplemented %" G_GUINT64_FORMAT "\n", cpu->statistics.refills,
         cpu->statistics.unimplemented);
}

static void trace(void *user, guint vpe, const struct mips_step *did) {
  char text[MIPS_TEXT_SIZE], who[16] = "";
  FILE *file = user;
  if (vpes > 0) g_snprintf(who, sizeof who, "%u: ", vpe);
  mips_disassemble(vpes > 0 ? MIPS_SET_mips32r2_mt : MIPS_SET_mips32r2_system, did->pc, did->word, text);
  if (did->interrupted) fprintf(file, "%sinterrupt\n", who);
  fprintf(file, "%s0x%08x %08x %s", who, did->pc, did->word, text);
  if (did->destination != 0) fprintf(file, "  %s = 0x%08x", mips_register_names[did->destination], did->value);
  if (did->stored != 0) fprintf(file, "  [0x%08x] = 0x%0*x", did->store_address, 2 * did->stored, did->store_value);
  if (!did->retired) fprintf(file, "  exception %u", did->exception);
  putc('\n', file);
}

static int run(HostMachine *machine, Program *program, FILE *traced) {
  const HostEnd end = host_machine_run(machine, limit, traced != NULL ? trace : NULL, traced);
  const gboolean written = trace_output_close(tool, option_trace, traced);
  for (guint n = 0; n < machine->mvp.vpes; n++) {
    if (vpes > 1 && (option_registers || option_counts)) printf("VPE %u\n", n);
    if (option_registers) print_registers(machine->mvp.vpe[n]);
    if (option_counts) print_counts(machine->mvp.vpe[n]);
  }
  if (!standard_streams_flush(tool) || !written) return STATUS_WRITE;
  if (end == HOST_ENDED) return (int)(machine->power_status & 0xff);
  if (end == HOST_LIMIT) return STATUS_LIMIT;
  g_autofree char *where = program_describe(program, machine->cpu.cpu.pc);
  fprintf(stderr, "%s: %s: waits at %s for an interrupt that never comes\n", tool, program_path(program), where);
  return STATUS_WAITING;
}

int mips_system_main(int argc, char **argv) {
  standard_streams_open(tool);
  g_autoptr(GOptionContext) context = g_option_context_new("PROGRAM - run a kernel or bare program functionally");
  g_option_context_add_main_entries(context, options, NULL);
  g_autoptr(GError) error = NULL;
  guint32 size;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "%s: %s\n", tool, error->message);
    return STATUS_USAGE;
  }
  if (argc != 2) {
    fprintf(stderr, "%s: one program is expected; see %s --system --help\n", tool, tool);
    return STATUS_USAGE;
  }
  if (!memory_size(&size)) return STATUS_USAGE;
  if (!choose_number(tool, "--limit", option_limit, 0, G_MAXUINT64, &limit) ||
      !choose_number(tool, "--vpes", option_vpes, 1, MIPS_VPES_MOST, &vpes))
    return STATUS_USAGE;
  g_autoptr(Program) program =
      choose_program(tool, argv[1], FALSE, EM_MIPS, vpes > 0 ? "mips32r2_mt" : "mips32r2_system");
  if (program == NULL) return STATUS_USAGE;
  if (program_big_endian(program) != option_big_endian) {
    fprintf(stderr, "%s: %s is %s-endian, the machine is not: %s --big-endian\n", tool, argv[1],
            option_big_endian ? "little" : "big", option_big_endian ? "leave out" : "say");
    return STATUS_USAGE;
  }
  g_autoptr(HostMachine) machine = host_machine_new(option_big_endian, (guint)vpes, size, send, NULL);
  if (option_interpret) host_machine_interpret(machine);
  g_autofree char *script = NULL;
  if (!read_script(&machine->script, &script, &error) || !prepare(machine, program, &error)) {
    fprintf(stderr, "%s: %s\n", tool, error->message);
    return STATUS_USAGE;
  }
  const char *const inputs[] = {argv[1], option_dtb != NULL ? option_dtb : argv[1],
                                option_initramfs != NULL ? option_initramfs : argv[1],
                                option_script != NULL ? option_script : argv[1], NULL};
  FILE *traced = option_trace != NULL ? trace_output_open(tool, option_trace, inputs) : NULL;
  return option_trace != NULL && traced == NULL ? STATUS_USAGE : run(machine, program, traced);
}
