// Prints the instructions of a program with symbols and source lines, or those of single words.
//
//   ISA-disasm PROGRAM              executable segments of an ELF file (--raw: of a raw image)
//   ISA-disasm --words [--pc N]     hexadecimal words from standard input, one per line
#include "disasm.h"

#include <stdio.h>
#include <string.h>

#include "choose.h"
#include "program/standard_streams.h"

static char *option_set, *option_pc;
static gboolean option_raw, option_words;

static const GOptionEntry options[] = {
    {"set", 0, 0, G_OPTION_ARG_STRING, &option_set, "instruction set", "SET"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, &option_raw, "the program is a raw image with header", NULL},
    {"words", 0, 0, G_OPTION_ARG_NONE, &option_words, "disassemble hexadecimal words from standard input", NULL},
    {"pc", 0, 0, G_OPTION_ARG_STRING, &option_pc, "address of every word of --words (default 0)", "ADDRESS"},
    G_OPTION_ENTRY_NULL,
};

static int disassemble_words(const DisasmIsa *isa, unsigned set, guint32 pc) {
  char line[256], text[DISASM_TEXT_SIZE];
  for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
    char *end;
    g_strchomp(line);
    guint64 word = g_ascii_strtoull(line, &end, 16);
    if (end == line || *end != '\0' || word > G_MAXUINT32) {
      fprintf(stderr, "%s: standard input:%d: '%s' is not a 32-bit hexadecimal word\n", isa->tool, number, line);
      return 1;
    }
    isa->text(set, pc, (guint32)word, text);
    puts(text);
  }
  return 0;
}

// "main.c:12", or "ring.h:7 in next (inlined), main.c:12"; empty: not known.
static char *place_of(Program *program, guint32 address) {
  GString *place = g_string_new(NULL);
  ProgramInlined inlined[PROGRAM_INLINED];
  const char *file;
  int line;
  if (program_line_at(program, address, &file, &line)) g_string_printf(place, "%s:%d", file, line);
  const guint count = program_inlined_at(program, address, inlined, PROGRAM_INLINED);
  for (guint n = 0; n < count; n++)
    g_string_append_printf(place, "%sin %s (inlined), %s:%d", place->len ? " " : "", inlined[n].name,
                           inlined[n].file != NULL ? inlined[n].file : "?", inlined[n].line);
  return g_string_free(place, FALSE);
}

static void disassemble_segment(const DisasmIsa *isa, unsigned set, Program *program, const ProgramSegment *s) {
  char text[DISASM_TEXT_SIZE];
  g_autofree char *last = NULL;
  for (guint32 n = 0; n + 4 <= s->loaded; n += 4) {
    const guint8 *b = s->bytes + n;
    guint32 address = s->linked + n, word;
    memcpy(&word, b, 4);
    word = program_big_endian(program) ? GUINT32_FROM_BE(word) : GUINT32_FROM_LE(word);
    const ProgramSymbol *symbol = program_symbol_at(program, address);
    if (symbol != NULL && symbol->address == address) printf("\n%s:\n", symbol->name);
    char *place = place_of(program, address);
    if (*place && g_strcmp0(place, last) != 0) printf("; %s\n", place);
    g_free(last);
    last = place;
    isa->text(set, address, word, text);
    printf("%08x:  %08x  %s\n", address, word, text);
  }
}

int disasm_main(int argc, char **argv, const DisasmIsa *isa) {
  standard_streams_open(isa->tool);
  g_autofree char *title = g_strdup_printf("[PROGRAM] - disassemble %s instructions", isa->processor);
  g_autofree char *sets = g_strjoinv(", ", (char **)isa->sets);
  g_autofree char *summary = g_strdup_printf("Instruction sets: %s; default: %s", sets, isa->sets[isa->set]);
  g_autoptr(GOptionContext) context = g_option_context_new(title);
  g_option_context_add_main_entries(context, options, NULL);
  g_option_context_set_summary(context, summary);
  g_autoptr(GError) error = NULL;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "%s: %s\n", isa->tool, error->message);
    return 2;
  }
  unsigned set = isa->set;
  if (!choose_set(isa->tool, isa->sets, option_set, &set)) return 2;
  if (argc != (option_words ? 1 : 2)) {
    fprintf(stderr, "%s: one program (or --words) is expected; see %s --help\n", isa->tool, isa->tool);
    return 2;
  }
  uint64_t pc = 0;
  if (!choose_number(isa->tool, "--pc", option_pc, 0, G_MAXUINT32, &pc)) return 2;
  if (option_words) return disassemble_words(isa, set, (guint32)pc);
  g_autoptr(Program) program = choose_program(isa->tool, argv[1], option_raw, isa->machine, isa->sets[set]);
  if (program == NULL) return 1;
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize n = 0; n < count; n++)
    if (segments[n].executable) disassemble_segment(isa, set, program, &segments[n]);
  return 0;
}
