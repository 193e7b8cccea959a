// Reading the record of a link; see record_reader.h.
#include "lss/runtime/link/record_reader.h"

#include "lss/runtime/files/sha256.h"
#include "lss/runtime/text/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *take_text(const uint8_t **at, uint32_t size) {
  char *text = g_strndup((const char *)*at, size);
  *at += size;
  return text;
}

static size_t texts_size(const LinkRecordStart *start) {
  size_t size = 0;
  for (int i = 0; i < LINK_RECORD_TEXTS; i++) size += start->sizes[i];
  return (size + 7) / 8 * 8;
}

static bool is_whole(const LinkRecord *record, size_t size) {
  const LinkRecordStart *start = &record->start;
  for (int i = 0; i < LINK_RECORD_TEXTS; i++)
    if (start->sizes[i] > LINK_RECORD_MOST_TEXT) return false;
  if (!start->item_size || start->item_size > LINK_RECORD_MOST_ITEM) return false;
  const size_t around = sizeof *start + texts_size(start) + sizeof record->end,
               stride = link_record_stride(start->item_size);
  return size >= around && (size - around) % stride == 0 && (size - around) / stride == record->end.count;
}

static bool has_its_sum(const LinkRecord *record, const uint8_t *bytes, size_t size) {
  uint8_t digest[LINK_RECORD_SUM];
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, size - sizeof digest, bytes);
  sha256_digest(&sum, sizeof digest, digest);
  return !memcmp(digest, record->end.sum, sizeof digest);
}

// Instants as a simulator writes them.
static bool check_entries(const LinkRecord *record, GError **error) {
  uint64_t before = record->start.begins;
  for (uint64_t i = 0; i < record->end.count; i++) {
    const void *item;
    const LinkRecordEntry entry = link_record_entry(record, i, &item);
    const bool late = record->end.failed ? entry.sent > record->end.until : entry.sent >= record->end.until;
    if (entry.sent < before || late || entry.arrives < entry.sent || entry.arrives - entry.sent < record->start.cut)
      return spinach_refuse(error, "item %" G_GUINT64_FORMAT " has instants that no simulator writes", i);
    before = entry.sent;
  }
  return true;
}

bool link_record_parse(LinkRecord *record, const uint8_t *bytes, size_t size, GError **error) {
  *record = (LinkRecord){0};
  LinkRecordStart *start = &record->start;
  if (size < sizeof start->word + sizeof start->format || memcmp(bytes, LINK_RECORD_WORD, sizeof start->word) != 0)
    return spinach_refuse(error, "it is no record of a link");
  memcpy(&start->format, bytes + sizeof start->word, sizeof start->format);
  if (start->format != LINK_RECORD_FORMAT)
    return spinach_refuse(error, "it has format %u, not %d (record the run again)", start->format, LINK_RECORD_FORMAT);
  if (size < sizeof *start + sizeof record->end) return spinach_refuse(error, "it is not whole");
  memcpy(start, bytes, sizeof *start);
  memcpy(&record->end, bytes + size - sizeof record->end, sizeof record->end);
  if (!is_whole(record, size)) return spinach_refuse(error, "it is not whole");
  if (!has_its_sum(record, bytes, size)) return spinach_refuse(error, "it is damaged: its checksum is another one");
  const uint8_t *at = bytes + sizeof *start;
  record->entries = at + texts_size(start);
  record->end.reason[LINK_RECORD_REASON - 1] = 0;
  if (record->end.count && !check_entries(record, error)) return false;
  for (int i = 0; i < LINK_RECORD_TEXTS; i++) record->texts[i] = take_text(&at, start->sizes[i]);
  return true;
}

// Maps an ordinary file; nothing else is waited for.
static GMappedFile *map(const char *path, GError **error) {
  struct stat status;
  const int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (handle < 0) return spinach_refuse(error, "%s", g_strerror(errno)), NULL;
  GMappedFile *file = NULL;
  if (!fstat(handle, &status) && S_ISREG(status.st_mode))
    file = g_mapped_file_new_from_fd(handle, FALSE, error);
  else
    spinach_refuse(error, "it is no ordinary file");
  close(handle);
  return file;
}

bool link_record_open(LinkRecord *record, const char *path, GError **error) {
  *record = (LinkRecord){0};
  GMappedFile *file = map(path, error);
  if (!file) return false;
  const uint8_t *bytes = (const uint8_t *)g_mapped_file_get_contents(file);
  const bool fine = link_record_parse(record, bytes, g_mapped_file_get_length(file), error);
  if (fine)
    record->file = file;
  else
    g_mapped_file_unref(file);
  return fine;
}

void link_record_close(LinkRecord *record) {
  for (int i = 0; i < LINK_RECORD_TEXTS; i++) g_clear_pointer(&record->texts[i], g_free);
  g_clear_pointer(&record->file, g_mapped_file_unref);
}

LinkRecordEntry link_record_entry(const LinkRecord *record, uint64_t number, const void **item) {
  LinkRecordEntry entry;
  const uint8_t *at = record->entries + number * link_record_stride(record->start.item_size);
  memcpy(&entry, at, sizeof entry);
  *item = at + sizeof entry;
  return entry;
}

uint64_t link_record_find(const LinkRecord *record, uint64_t instant) {
  uint64_t low = 0, high = record->end.count;
  const void *item;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (link_record_entry(record, middle, &item).sent < instant)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
