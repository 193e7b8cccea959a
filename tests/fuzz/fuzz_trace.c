// Fuzzes the reader of recorded events, in two ways.  An input as a file of its own is refused in one line, or read.
// And behind the checksums: its first byte says how many bytes of a good header it replaces, each by two bytes of place
// and one of content; the rest are the records of one block.
#include "lss/commands/trace.h"
#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/trace/format.h"

#include <stdlib.h>
#include <string.h>

static const char HEADER[] =
    "{'format': <uint32 3>, 'machine': <'m'>, 'version': <'v'>, 'ticks-per-second': <uint64 100>,"
    " 'clocks': <[('clk', int64 100, int64 3, uint64 3, false)]>, 'views': <[('cpu', 'c')]>, 'programs': <[('p', [byte "
    "1, 2, 3])]>,"
    " 'types': <[(byte 2, 'uint32', uint32 32, uint64 4, -1, uint32 0, @a(sutxu) []),"
    "            (byte 6, 'op', 32, 4, -1, 0, [('read', 0, 0, int64 0, uint32 0), ('write', 0, 0, 1, 0)]),"
    "            (byte 7, 'pair', 0, 12, -1, 0, [('a', 0, 0, 0, 0), ('b', 1, 4, 0, 0)]),"
    "            (byte 8, 'pair[3]', 0, 36, 2, 3, []), (byte 3, 'bits(70)', 70, 16, -1, 0, []),"
    "            (byte 5, 'float32', 32, 4, -1, 0, []),"
    "            (byte 4, 'word', 16, 2, 0, 0, [('op', 1, 0, 0, 4), ('n', 0, 4, 0, 12)])]>,"
    " 'sources': <[('c.w', 'retire', uint32 0, [('pc', uint32 0), ('word', 0), ('value', 0)]),"
    "              ('x', 'happened', 0, [('op', 1), ('pairs', 3), ('wide', 4), ('real', 5), ('word', 6)])]>}";

static void print_all(GBytes *file) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceReader) reader = trace_reader_new(file, &error);
  g_autoptr(GString) out = g_string_new(NULL);
  g_autoptr(CodeNames) names = code_names_new();
  TraceRecord record;
  while (reader && trace_reader_next(reader, &record, &error)) {
    const TraceReadHeader *header = trace_reader_header(reader);
    TraceLine line = {.record = &record, .place = code_names_find(names, 0, 0)};
    g_string_truncate(out, 0);
    trace_append_text(out, header, &line, names);
    trace_append_json(out, header, &line);
    trace_append_header(out, header);
  }
  if ((!reader && !error) || (error && strchr(error->message, '\n'))) abort();
}

static void append(GByteArray *file, const void *bytes, gsize size) {
  g_byte_array_append(file, bytes, (guint)size);
}

// A whole file around a header and records.
static GBytes *file_of(const guint8 *header, gsize header_size, const guint8 *records, gsize size) {
  g_autoptr(GByteArray) packed = g_byte_array_new(), block = g_byte_array_new();
  pages_append_compressed(packed, header, header_size);
  pages_append_compressed(block, records, size);
  TraceStart start = {.unpacked = header_size, .packed = packed->len};
  memcpy(start.word, TRACE_WORD, sizeof start.word);
  trace_checksum(&start, packed->data, start.checksum);
  TraceBlock head = {.packed = block->len, .unpacked = (guint32)size}, end = {.total = size};
  head.sum = trace_block_sum(&head);
  end.sum = trace_block_sum(&end);
  GByteArray *file = g_byte_array_new();
  append(file, &start, sizeof start);
  append(file, packed->data, packed->len);
  append(file, &head, sizeof head);
  append(file, block->data, block->len);
  append(file, &end, sizeof end);
  return g_byte_array_free_to_bytes(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  print_all(g_bytes_new(bytes, size));
  if (!size) return 0;
  g_autoptr(GVariant) header = g_variant_ref_sink(g_variant_parse(G_VARIANT_TYPE_VARDICT, HEADER, NULL, NULL, NULL));
  const gsize header_size = g_variant_get_size(header);
  g_autofree guint8 *changed = g_memdup2(g_variant_get_data(header), header_size);
  gsize patches = *bytes++;
  for (size--; patches && size >= 3; patches--, bytes += 3, size -= 3)
    changed[(bytes[0] | bytes[1] << 8) % header_size] = bytes[2];
  if (size) print_all(file_of(changed, header_size, bytes, size));
  return 0;
}
