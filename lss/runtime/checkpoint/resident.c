// Which pages are resident; see resident.h.
#include "lss/runtime/checkpoint/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const guint64 THERE = G_GUINT64_CONSTANT(3) << 62; // in memory, or swapped out

static struct {
  const guint8 *memory;
  gsize size;
  int handle;
} noted;

void resident_note_file(const guint8 *memory, gsize size, int handle) {
  noted.memory = memory;
  noted.size = size;
  noted.handle = handle;
}

void resident_begin(ResidentPages *resident, const guint8 *memory, gsize size) {
  resident->memory = memory;
  resident->size = size;
  resident->page = (gsize)sysconf(_SC_PAGESIZE);
  resident->first = resident->count = resident->from = resident->next = 0;
  resident->list = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

// What the entries do not know of: pages of the file.
static void add_file(ResidentPages *resident) {
  for (gsize k = 0; k < resident->count; k++) {
    const guint8 *at = resident->memory + (resident->first + k) * resident->page;
    if (at < noted.memory || at >= noted.memory + noted.size) continue;
    const gsize offset = (gsize)(at - noted.memory);
    const off_t next = lseek(noted.handle, (off_t)offset, SEEK_DATA);
    if (next < 0 && errno == ENXIO) return;
    if (next > (off_t)offset)
      k += ((gsize)next - offset) / resident->page - 1;
    else
      resident->entries[k] |= THERE;
  }
}

// Gets what the list has from a page on; without it there is no list from now on.
static void fill(ResidentPages *resident, gsize page) {
  const guint64 number = (gsize)resident->memory / resident->page + page;
  const ssize_t got =
      pread(resident->list, resident->entries, sizeof resident->entries, (off_t)(number * sizeof(guint64)));
  resident->first = page;
  resident->count = got > 0 ? (gsize)got / sizeof(guint64) : 0;
  if (!resident->count) resident_end(resident);
  if (noted.memory) add_file(resident);
}

static gsize find_next(ResidentPages *resident, gsize at) {
  for (; at < resident->size; at = (at / resident->page + 1) * resident->page) {
    const gsize page = at / resident->page;
    if (resident->list >= 0 && (page < resident->first || page - resident->first >= resident->count))
      fill(resident, page);
    if (resident->list < 0 || resident->entries[page - resident->first] & THERE) return at;
  }
  return resident->size;
}

gsize resident_next(ResidentPages *resident, gsize at) {
  if (at >= resident->from && at < resident->next) return resident->next;
  resident->from = at;
  return resident->next = find_next(resident, at);
}

// The first byte of `size` from `bytes` on that is on a resident page, from `at` on.
static gsize next_in(ResidentPages *resident, const guint8 *bytes, gsize at) {
  const gsize before = (gsize)(bytes - resident->memory);
  return resident_next(resident, before + at) - before;
}

static const guint8 *page_of(const guint8 *byte) {
  return byte - (gsize)byte % (gsize)sysconf(_SC_PAGESIZE);
}

void resident_copy(guint8 *to, const guint8 *from, gsize size) {
  ResidentPages there, here;
  resident_begin(&there, page_of(from), size + (gsize)(from - page_of(from)));
  resident_begin(&here, page_of(to), size + (gsize)(to - page_of(to)));
  for (gsize at = 0, length; at < size; at += length) {
    at = MIN(next_in(&there, from, at), next_in(&here, to, at));
    length = MIN(size - at, there.page);
    memcpy(to + at, from + at, length);
  }
  resident_end(&there);
  resident_end(&here);
}

void resident_end(ResidentPages *resident) {
  if (resident->list >= 0) close(resident->list);
  resident->list = -1;
}
