// Which pages of this process's memory are resident: in memory, or swapped out.
//
// Looking at a page that was not makes the system find one for it, which takes long over a memory that is mostly
// unused.  The system's list of pages says which are there; where it cannot be read, all count as resident.
#ifndef SPINACH_RESIDENT_H
#define SPINACH_RESIDENT_H

#include <glib.h>

enum { RESIDENT_WINDOW = 4096 };

typedef struct {
  const guint8 *memory; // begins with a page
  gsize size, page;
  int list;                         // descriptor, -1: none
  gsize from, next;                 // the latest answer, and from where on it is that
  gsize first, count;               // pages of which `entries` says it
  guint64 entries[RESIDENT_WINDOW]; // as Linux's Documentation/admin-guide/mm/pagemap.rst has them
} ResidentPages;

// Nothing may be written to the memory from now to the end.
void resident_begin(ResidentPages *resident, const guint8 *memory, gsize size);
// The offset of the first byte from `at` on that is on a resident page; `size`: none.
gsize resident_next(ResidentPages *resident, gsize at);
void resident_end(ResidentPages *resident);

// Memory at this place began as a copy of a file, in which it has bytes that this process may never have looked at.
void resident_note_file(const guint8 *memory, gsize size, int handle);

// As memcpy(), but what is zero in both because it is not resident stays so.
void resident_copy(guint8 *to, const guint8 *from, gsize size);

#endif
