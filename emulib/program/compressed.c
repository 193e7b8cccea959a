// Expands debug sections that are compressed with Zstandard (`-gz=zstd`), which libelf reads from version 0.189 on
// only.
//
// The expanded bytes are appended to a copy of the file, and the section headers of the copy point to them; libdw reads
// that copy.  Sections that are compressed with zlib stay as they are: every libelf expands them.  A section that
// cannot be expanded leaves the program without source lines, and program_note() says why.
#include "program_private.h"

#include <stddef.h>
#include <string.h>
#include <zstd.h>

enum { ZSTD = 2, MOST = 1 << 30 }; // MOST: bytes of one section

static guint32 in_file_order(const Program *p, guint32 word) {
  return p->big_endian ? GUINT32_FROM_BE(word) : GUINT32_FROM_LE(word);
}

static void put(const Program *p, guint8 *place, guint32 value) {
  const guint32 word = in_file_order(p, value);
  memcpy(place, &word, sizeof word);
}

// Whether a section is compressed and wholly in the file; `header` then is its own.
static gboolean is_compressed(const Program *p, size_t n, GElf_Shdr *header) {
  Elf_Scn *section = elf_getscn(p->elf, n);
  return section != NULL && gelf_getshdr(section, header) != NULL && (header->sh_flags & SHF_COMPRESSED) != 0 &&
         header->sh_type != SHT_NOBITS && header->sh_size >= sizeof(Elf32_Chdr) && header->sh_offset <= p->file_size &&
         header->sh_size <= p->file_size - header->sh_offset;
}

// Appends the contents of a section to `file`; returns why it cannot, or NULL.
static const char *expand(const Program *p, const GElf_Shdr *header, const Elf32_Chdr *compression, GByteArray *file) {
  if (in_file_order(p, compression->ch_type) != ZSTD) return "is compressed in a way other than zlib and Zstandard";
  const guint32 size = in_file_order(p, compression->ch_size);
  if (size > MOST) return "claims to hold more than 1 GiB";
  const guint at = file->len;
  g_byte_array_set_size(file, at + size);
  const guint8 *packed = p->file + header->sh_offset + sizeof *compression;
  const size_t got = ZSTD_decompress(file->data + at, size, packed, header->sh_size - sizeof *compression);
  if (ZSTD_isError(got)) return ZSTD_getErrorName(got);
  return got != size ? "holds fewer bytes than it claims" : NULL;
}

Elf *program_expand(Program *p) {
  const size_t table = elf32_getehdr(p->elf)->e_shoff;
  size_t count;
  if (elf_getshdrnum(p->elf, &count) != 0 || table > p->file_size) return NULL;
  if (count > (p->file_size - table) / sizeof(Elf32_Shdr)) return NULL;
  g_autoptr(GByteArray) file = NULL;
  for (size_t n = 1; n < count; n++) {
    GElf_Shdr header;
    Elf32_Chdr compression;
    if (!is_compressed(p, n, &header)) continue;
    memcpy(&compression, p->file + header.sh_offset, sizeof compression);
    if (in_file_order(p, compression.ch_type) == ELFCOMPRESS_ZLIB) continue;
    if (!file) file = g_byte_array_append(g_byte_array_new(), p->file, (guint)p->file_size);
    const guint32 at = file->len;
    const char *why = expand(p, &header, &compression, file);
    if (why != NULL) {
      p->note = g_strdup_printf("%s: no source lines: its section %zu, debug information, %s", p->path, n, why);
      return NULL;
    }
    guint8 *changed = file->data + table + n * sizeof(Elf32_Shdr);
    put(p, changed + offsetof(Elf32_Shdr, sh_offset), at);
    put(p, changed + offsetof(Elf32_Shdr, sh_size), file->len - at);
    put(p, changed + offsetof(Elf32_Shdr, sh_flags), (guint32)header.sh_flags & ~(guint32)SHF_COMPRESSED);
  }
  if (!file) return NULL;
  gsize size;
  p->expanded = g_byte_array_steal(file, &size);
  return elf_memory((char *)p->expanded, size);
}
