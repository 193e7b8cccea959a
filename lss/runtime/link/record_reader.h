// Reads the record of a link (record_format.h).
#ifndef SPINACH_LINK_RECORD_READER_H
#define SPINACH_LINK_RECORD_READER_H

#include "lss/runtime/link/record_format.h"

#include <glib.h>
#include <stdbool.h>

typedef struct {
  LinkRecordStart start;
  LinkRecordEnd end;
  char *texts[LINK_RECORD_TEXTS]; // the path of the link, the type of its items, who sends and who receives them
  const uint8_t *entries;
  GMappedFile *file; // NULL: the bytes are somebody else's
} LinkRecord;

// On failure these set *error to a sentence about the file, without its name.
bool link_record_open(LinkRecord *record, const char *path, GError **error);
// The same of bytes, which live as long as the record.
bool link_record_parse(LinkRecord *record, const uint8_t *bytes, size_t size, GError **error);
void link_record_close(LinkRecord *record);

// An entry, by its number below the count, and its item.
LinkRecordEntry link_record_entry(const LinkRecord *record, uint64_t number, const void **item);
// The number of the first entry that was sent at this instant or later.
uint64_t link_record_find(const LinkRecord *record, uint64_t instant);

#endif
