// Fuzzes the reader of the records of links, in two ways.  An input as a file of its own is refused in one line, or
// read.  And behind the checksum: a good record around the bytes as items, whose first bytes say which bytes of its
// start and end are others.
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/link/record_reader.h"

#include <stdlib.h>
#include <string.h>

enum { ITEM = 12 };

static void read_all(const uint8_t *bytes, size_t size) {
  g_autoptr(GError) error = NULL;
  LinkRecord record;
  if (!link_record_parse(&record, bytes, size, &error)) {
    if (!error || strchr(error->message, '\n')) abort();
    link_record_close(&record);
    return;
  }
  uint64_t before = record.start.begins;
  for (uint64_t i = 0; i < record.end.count; i++) {
    const void *item;
    const LinkRecordEntry entry = link_record_entry(&record, i, &item);
    const uint8_t *last = (const uint8_t *)item + record.start.item_size;
    if (entry.sent < before || last > bytes + size || link_record_find(&record, entry.sent) > i) abort();
    before = entry.sent;
  }
  if (link_record_find(&record, UINT64_MAX) != record.end.count) abort();
  link_record_close(&record);
}

// Two bytes of place and one of content each.
static void patch(uint8_t *bytes, size_t size, const uint8_t **from, size_t *left, size_t count) {
  for (; count && *left >= 3; count--, *from += 3, *left -= 3)
    bytes[((*from)[0] | (*from)[1] << 8) % size] = (*from)[2];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_all(bytes, size);
  if (size < 2) return 0;
  const size_t starts = bytes[0], ends = bytes[1];
  bytes += 2, size -= 2;
  LinkRecordStart start = {.format = LINK_RECORD_FORMAT, .item_size = ITEM, .cut = 2, .sizes = {3, 5, 1, 1}};
  memcpy(start.word, LINK_RECORD_WORD, sizeof start.word);
  patch((uint8_t *)&start, sizeof start, &bytes, &size, starts);
  LinkRecordEnd end = {.until = UINT64_MAX, .reason = "over"};
  const size_t kept = size - size % link_record_stride(ITEM);
  end.count = kept / link_record_stride(ITEM);
  const uint8_t *items = bytes;
  patch((uint8_t *)&end, G_STRUCT_OFFSET(LinkRecordEnd, sum), &bytes, &size, ends);
  g_autoptr(GByteArray) file = g_byte_array_new();
  g_byte_array_append(file, (const guint8 *)&start, sizeof start);
  g_byte_array_append(file, (const guint8 *)"a.bint32ab\0\0\0\0\0\0", 16);
  g_byte_array_append(file, items, (guint)kept);
  g_byte_array_append(file, (const guint8 *)&end, G_STRUCT_OFFSET(LinkRecordEnd, sum));
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, file->len, file->data);
  sha256_digest(&sum, sizeof end.sum, end.sum);
  g_byte_array_append(file, end.sum, sizeof end.sum);
  read_all(file->data, file->len);
  return 0;
}
