// The raw format: 4 version bytes, start address, load address (both big-endian), then the image up to the end of the
// file.  There is nothing in it to recognise it by, so what can be checked is checked.
#include "program_private.h"

enum { HEADER = 12 };

static guint32 big_endian_word(const guint8 *at) {
  return (guint32)at[0] << 24 | (guint32)at[1] << 16 | (guint32)at[2] << 8 | at[3];
}

gboolean program_read_raw(Program *p, GError **error) {
  if (p->file_size <= HEADER)
    return program_refuse(p, error,
                          "%" G_GSIZE_FORMAT " bytes are no raw image: a header of 12 bytes (version, start address, "
                          "load address) and an image after it are needed",
                          p->file_size);
  gsize size = p->file_size - HEADER;
  p->entry = big_endian_word(p->file + 4);
  guint32 address = big_endian_word(p->file + 8);
  p->big_endian = TRUE;
  p->machine = EM_MIPS;
  if (size > 0x100000000u - address)
    return program_refuse(p, error,
                          "a raw image of %" G_GSIZE_FORMAT " bytes at load address 0x%08x (byte 8 of the file) passes "
                          "the end of the address space",
                          size, address);
  if (p->entry - address >= size)
    return program_refuse(p, error,
                          "start address 0x%08x (byte 4 of the file) is outside the raw image from 0x%08x to "
                          "0x%08x",
                          p->entry, address, (guint32)(address + size - 1));
  ProgramSegment s = {
      .address = address,
      .linked = address,
      .size = (guint32)size,
      .loaded = (guint32)size,
      .bytes = p->file + HEADER,
      .writable = TRUE,
      .executable = TRUE,
  };
  g_array_append_val(p->segments, s);
  return TRUE;
}
