/* mips-disasm: prints the instructions of a program with symbols and source lines, or those of single words.
 *
 *   mips-disasm PROGRAM              executable segments of an ELF file (--raw: of a raw image)
 *   mips-disasm --words [--pc N]     hexadecimal words from standard input, one per line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mips/disassemble.h"
#include "program/program.h"

static char *option_set;
static gboolean option_raw, option_words;
static gint64 option_pc;

static const GOptionEntry options[] = {
    {"set", 0, 0, G_OPTION_ARG_STRING, &option_set, "instruction set: mips1, mips2 (default), prijoff", "SET"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, &option_raw, "the program is a raw image with header", NULL},
    {"words", 0, 0, G_OPTION_ARG_NONE, &option_words, "disassemble hexadecimal words from standard input", NULL},
    {"pc", 0, 0, G_OPTION_ARG_INT64, &option_pc, "address of every word of --words (default 0)", "ADDRESS"},
    G_OPTION_ENTRY_NULL,
};

static int disassemble_words(enum mips_set set) {
  char line[256], text[MIPS_TEXT_SIZE];
  for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
    char *end;
    g_strchomp(line);
    guint64 word = g_ascii_strtoull(line, &end, 16);
    if (end == line || *end != '\0' || word > G_MAXUINT32) {
      fprintf(stderr, "mips-disasm: standard input:%d: '%s' is not a 32-bit hexadecimal word\n", number, line);
      return 1;
    }
    mips_disassemble(set, (guint32)option_pc, (guint32)word, text);
    puts(text);
  }
  return 0;
}

static void disassemble_segment(Program *program, enum mips_set set, const ProgramSegment *s) {
  char text[MIPS_TEXT_SIZE];
  int last_line = 0;
  for (guint32 n = 0; n + 4 <= s->loaded; n += 4) {
    const guint8 *b = s->bytes + n;
    guint32 address = s->address + n, word;
    memcpy(&word, b, 4);
    word = program_big_endian(program) ? GUINT32_FROM_BE(word) : GUINT32_FROM_LE(word);
    const ProgramSymbol *symbol = program_symbol_at(program, address);
    if (symbol != NULL && symbol->address == address) printf("\n%s:\n", symbol->name);
    const char *file;
    int line = 0;
    if (program_line_at(program, address, &file, &line) && line != last_line) printf("; %s:%d\n", file, line);
    last_line = line;
    mips_disassemble(set, address, word, text);
    printf("%08x:  %08x  %s\n", address, word, text);
  }
}

int main(int argc, char **argv) {
  static const char *const names[] = MIPS_SET_NAMES;
  g_autoptr(GOptionContext) context = g_option_context_new("[PROGRAM] - disassemble MIPS instructions");
  g_option_context_add_main_entries(context, options, NULL);
  g_autoptr(GError) error = NULL;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "mips-disasm: %s\n", error->message);
    return 2;
  }
  enum mips_set set = MIPS_SET_mips2;
  if (option_set != NULL) {
    guint n = 0;
    while (n < G_N_ELEMENTS(names) && strcmp(names[n], option_set) != 0) n++;
    if (n == G_N_ELEMENTS(names)) {
      fprintf(stderr, "mips-disasm: there is no instruction set '%s'; there are mips1, mips2, prijoff\n", option_set);
      return 2;
    }
    set = (enum mips_set)n;
  }
  if (argc != (option_words ? 1 : 2)) {
    fprintf(stderr, "mips-disasm: one program (or --words) is expected; see mips-disasm --help\n");
    return 2;
  }
  if (option_words) return disassemble_words(set);
  g_autoptr(Program) program = program_open(argv[1], option_raw ? PROGRAM_RAW : PROGRAM_ELF, &error);
  if (program == NULL) {
    fprintf(stderr, "mips-disasm: %s\n", error->message);
    return 1;
  }
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize n = 0; n < count; n++)
    if (segments[n].executable) disassemble_segment(program, set, &segments[n]);
  return 0;
}
