// ELF executables through libelf.  The headers are checked here and not left to libelf, whose messages do not say which
// header is wrong.
#include "program_private.h"

#include <string.h>

// The flags name the instruction set.
static const char *const architectures[] = {"MIPS I", "MIPS II",  "MIPS III", "MIPS IV",  "MIPS V",  "MIPS32",
                                            "MIPS64", "MIPS32r2", "MIPS64r2", "MIPS32r6", "MIPS64r6"};

static guint32 architecture(guint32 flags) {
  return (flags & EF_MIPS_ARCH) >> 28;
}

static const char *architecture_name(guint32 flags) {
  return architecture(flags) < G_N_ELEMENTS(architectures) ? architectures[architecture(flags)] : "newer";
}

// The sets of MIPS processors: what newest code each executes, among that which one of them does.  Code for others
// would mean something else there (MIPS32's MOVN is PRI), or nothing.
static const struct {
  const char *name;
  guint32 newest;
  const char *option; // of compilers
} mips_sets[] = {
    {"mips1", 0, "-mips1"},          {"mips2", 1, "-mips2"},       {"prijoff", 1, "-mips2"},
    {"mips32", 5, "-mips32"},        {"mips32r2", 7, "-mips32r2"}, {"mips32r2_system", 7, "-mips32r2"},
    {"mips32r2_mt", 7, "-mips32r2"},
};

gboolean program_runs_on(const Program *p, const char *set, GError **error) {
  if (p->machine != EM_MIPS) return TRUE;
  size_t n = 0;
  while (n < G_N_ELEMENTS(mips_sets) && strcmp(mips_sets[n].name, set) != 0) n++;
  if (n == G_N_ELEMENTS(mips_sets)) return program_refuse(p, error, "there is no MIPS instruction set '%s'", set);
  if (architecture(p->flags) > mips_sets[n].newest)
    return program_refuse(p, error, "ELF flags 0x%08x say %s code, the processors execute up to %s: build with %s",
                          p->flags, architecture_name(p->flags), set, mips_sets[n].option);
  return TRUE;
}

static gboolean check_instructions(Program *p, const Elf32_Ehdr *h, GError **error) {
  enum { MICROMIPS = 0x02000000, MIPS16 = 0x04000000 };
  p->flags = h->e_flags;
  if (h->e_machine == EM_MIPS) {
    gboolean known = FALSE;
    for (size_t n = 0; n < G_N_ELEMENTS(mips_sets); n++) known |= mips_sets[n].newest == architecture(p->flags);
    if (!known)
      return program_refuse(p, error,
                            "ELF flags 0x%08x say %s code, which no processor executes: build with -mips2 or -mips32r2",
                            p->flags, architecture_name(p->flags));
    if (p->flags & (MIPS16 | MICROMIPS))
      return program_refuse(
          p, error, "ELF flags 0x%08x say 16-bit code (MIPS16, microMIPS), which no processor executes", p->flags);
  } else if (h->e_machine == EM_RISCV && p->flags & (EF_RISCV_RVC | EF_RISCV_FLOAT_ABI | EF_RISCV_RVE)) {
    return program_refuse(p, error,
                          "ELF flags 0x%08x say compressed, floating-point or embedded code, the processors execute "
                          "RV32I: build with -march=rv32i -mabi=ilp32",
                          p->flags);
  }
  return TRUE;
}

static gboolean check_machine(Program *p, guint16 machine, GError **error) {
  g_autoptr(GString) known = g_string_new(NULL);
  for (const Isa *const *isa = isas; isa && *isa; isa++) {
    if ((*isa)->machine == machine) return TRUE;
    g_string_append_printf(known, "%s%s (%u)", known->len ? ", " : "", (*isa)->title, (*isa)->machine);
  }
  return !known->len || program_refuse(p, error, "ELF machine %u is none of %s", machine, known->str);
}

static gboolean check_header(Program *p, const Elf32_Ehdr *h, GError **error) {
  if (!check_machine(p, h->e_machine, error)) return FALSE;
  if (!check_instructions(p, h, error)) return FALSE;
  if (h->e_type != ET_EXEC)
    return program_refuse(p, error, "ELF type %u is not an executable (2); link it statically", h->e_type);
  if (h->e_phnum == 0) return program_refuse(p, error, "nothing to load: the ELF file has no program headers");
  if (h->e_phentsize != sizeof(Elf32_Phdr))
    return program_refuse(p, error, "ELF program headers of %u bytes, expected %zu", h->e_phentsize,
                          sizeof(Elf32_Phdr));
  if (h->e_phoff > p->file_size || (guint64)h->e_phnum * h->e_phentsize > p->file_size - h->e_phoff)
    return program_refuse(
        p, error, "truncated: %u ELF program headers at offset 0x%x, but the file has only %" G_GSIZE_FORMAT " bytes",
        h->e_phnum, h->e_phoff, p->file_size);
  return TRUE;
}

static gboolean add_segment(Program *p, size_t n, const Elf32_Phdr *h, GError **error) {
  if (h->p_type == PT_INTERP || h->p_type == PT_DYNAMIC)
    return program_refuse(p, error, "program header %zu: needs a dynamic linker; link it statically", n);
  if (h->p_type != PT_LOAD || h->p_memsz == 0) return TRUE;
  if (h->p_filesz > h->p_memsz)
    return program_refuse(p, error, "program header %zu: 0x%x bytes in the file but only 0x%x in memory", n,
                          h->p_filesz, h->p_memsz);
  if (h->p_offset > p->file_size || h->p_filesz > p->file_size - h->p_offset)
    return program_refuse(p, error,
                          "truncated: program header %zu needs 0x%x bytes at offset 0x%x, but the file has only "
                          "%" G_GSIZE_FORMAT " bytes",
                          n, h->p_filesz, h->p_offset, p->file_size);
  // Code that copies itself elsewhere is linked for one address (p_vaddr) and loaded at another (p_paddr): that one
  // counts here.
  if (h->p_memsz > 0x100000000u - h->p_paddr)
    return program_refuse(p, error, "program header %zu: 0x%x bytes at 0x%08x pass the end of the address space", n,
                          h->p_memsz, h->p_paddr);
  ProgramSegment s = {
      .address = h->p_paddr,
      .linked = h->p_vaddr,
      .size = h->p_memsz,
      .loaded = h->p_filesz,
      .bytes = p->file + h->p_offset,
      .writable = (h->p_flags & PF_W) != 0,
      .executable = (h->p_flags & PF_X) != 0,
  };
  g_array_append_val(p->segments, s);
  return TRUE;
}

static gboolean is_code(Elf *elf, size_t section) {
  GElf_Shdr header;
  Elf_Scn *found = elf_getscn(elf, section);
  return found != NULL && gelf_getshdr(found, &header) != NULL && (header.sh_flags & SHF_EXECINSTR) != 0;
}

static gboolean add_symbols(Program *p, Elf_Scn *section, const GElf_Shdr *header, GError **error) {
  size_t index = elf_ndxscn(section);
  Elf_Data *data = elf_getdata(section, NULL);
  if (data == NULL || header->sh_entsize != sizeof(Elf32_Sym))
    return program_refuse(p, error, "section %zu: malformed symbol table: %s", index,
                          data == NULL ? elf_errmsg(-1) : "wrong entry size");
  size_t count = data->d_size / sizeof(Elf32_Sym);
  for (size_t n = 1; n < count; n++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, (int)n, &symbol) == NULL)
      return program_refuse(p, error, "section %zu: symbol %zu: %s", index, n, elf_errmsg(-1));
    int type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE)) continue;
    const char *name = elf_strptr(p->elf, header->sh_link, symbol.st_name);
    if (name == NULL)
      return program_refuse(p, error, "section %zu: symbol %zu: its name (offset 0x%x) is not in the string table",
                            index, n, (unsigned)symbol.st_name);
    // Local labels and the assembler's marks would hide the function around them.
    if (name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L')) continue;
    ProgramSymbol s = {
        .name = name,
        .address = (guint32)symbol.st_value,
        .size = (guint32)symbol.st_size,
        .function = type == STT_FUNC,
        .code = is_code(p->elf, symbol.st_shndx),
    };
    g_array_append_val(p->symbols, s);
  }
  return TRUE;
}

gboolean program_read_elf(Program *p, GError **error) {
  elf_version(EV_CURRENT);
  if (p->file_size < sizeof(Elf32_Ehdr))
    return program_refuse(p, error, "truncated: %" G_GSIZE_FORMAT " bytes are less than an ELF header", p->file_size);
  if (memcmp(p->file, ELFMAG, SELFMAG) != 0) return program_refuse(p, error, "not an ELF file");
  guint8 class = p->file[EI_CLASS], order = p->file[EI_DATA];
  if (class != ELFCLASS32) return program_refuse(p, error, "ELF class %u is not 32-bit (1)", class);
  if (order != ELFDATA2LSB && order != ELFDATA2MSB)
    return program_refuse(p, error, "ELF byte order %u is neither little (1) nor big (2)", order);
  p->elf = elf_memory((char *)p->file, p->file_size);
  Elf32_Ehdr *header = p->elf != NULL && elf_kind(p->elf) == ELF_K_ELF ? elf32_getehdr(p->elf) : NULL;
  if (header == NULL) return program_refuse(p, error, "not an ELF file: %s", elf_errmsg(-1));
  p->big_endian = order == ELFDATA2MSB;
  p->entry = header->e_entry;
  p->machine = header->e_machine;
  if (!check_header(p, header, error)) return FALSE;
  const Elf32_Phdr *segments = elf32_getphdr(p->elf);
  if (segments == NULL) return program_refuse(p, error, "malformed ELF program headers: %s", elf_errmsg(-1));
  for (size_t n = 0; n < header->e_phnum; n++)
    if (!add_segment(p, n, &segments[n], error)) return FALSE;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(p->elf, section)) != NULL;) {
    GElf_Shdr shdr;
    if (gelf_getshdr(section, &shdr) == NULL)
      return program_refuse(p, error, "section %zu: malformed header: %s", elf_ndxscn(section), elf_errmsg(-1));
    if (shdr.sh_type == SHT_SYMTAB && !add_symbols(p, section, &shdr, error)) return FALSE;
  }
  p->debug_elf = program_expand(p);
  return TRUE;
}
