// Writing the record of a link; see record_writer.h.
#include "lss/runtime/link/record_writer.h"

#include "lss/runtime/link/item_value.h"

#include <string.h>

enum { BLOCK = 1 << 16 }; // bytes of a write

static void flush(LinkRecordWriter *writer) {
  sha256_update(&writer->sum, writer->waiting->len, writer->waiting->data);
  trace_file_write(&writer->file, writer->waiting->data, writer->waiting->len);
  g_byte_array_set_size(writer->waiting, 0);
}

static void append(LinkRecordWriter *writer, const void *bytes, size_t size) {
  g_byte_array_append(writer->waiting, bytes, (guint)size);
}

static void pad(LinkRecordWriter *writer, size_t size) {
  static const uint8_t zeros[8];
  append(writer, zeros, (8 - size % 8) % 8);
}

bool record_writer_begin(LinkRecordWriter *writer, const char *path, const LinkRecordAbout *about,
                         const struct spinach_type *type, GError **error) {
  *writer = (LinkRecordWriter){.type = type, .item_size = about->item_size};
  if (!trace_file_open(&writer->file, path, error)) return false;
  writer->waiting = g_byte_array_sized_new(BLOCK + 4096);
  writer->item = g_malloc0(about->item_size);
  sha256_init(&writer->sum);
  LinkRecordStart start = {.format = LINK_RECORD_FORMAT,
                           .item_size = about->item_size,
                           .ticks_per_second = about->ticks_per_second,
                           .cut = about->cut,
                           .begins = about->begins};
  size_t texts = 0;
  for (int i = 0; i < LINK_RECORD_TEXTS; i++) texts += start.sizes[i] = (uint32_t)strlen(about->texts[i]);
  memcpy(start.word, LINK_RECORD_WORD, sizeof start.word);
  memcpy(start.hash, about->hash, sizeof start.hash);
  append(writer, &start, sizeof start);
  for (int i = 0; i < LINK_RECORD_TEXTS; i++) append(writer, about->texts[i], start.sizes[i]);
  pad(writer, texts);
  return true;
}

void record_writer_add(LinkRecordWriter *writer, uint64_t sent, uint64_t arrives, const void *item) {
  const LinkRecordEntry entry = {sent, arrives};
  item_value_copy(writer->type, item, writer->item);
  append(writer, &entry, sizeof entry);
  append(writer, writer->item, writer->item_size);
  pad(writer, writer->item_size);
  writer->count++;
  if (writer->waiting->len >= BLOCK) flush(writer);
}

bool record_writer_end(LinkRecordWriter *writer, uint64_t until, bool failed, const char *reason, GError **error) {
  LinkRecordEnd end = {.count = writer->count, .until = until, .failed = failed};
  memcpy(end.reason, reason, MIN(strlen(reason), sizeof end.reason - 1));
  append(writer, &end, G_STRUCT_OFFSET(LinkRecordEnd, sum));
  flush(writer);
  sha256_digest(&writer->sum, sizeof end.sum, end.sum);
  trace_file_write(&writer->file, end.sum, sizeof end.sum);
  g_byte_array_unref(writer->waiting);
  g_free(writer->item);
  return trace_file_close(&writer->file, error);
}
