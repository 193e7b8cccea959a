// Marks and the pages that were written after them; see history.h.
#include "lss/runtime/debug/history.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/trigger.h"

#include <glib.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  uint64_t page;
  uint8_t *held; // at the mark
} SavedPage;

typedef struct {
  uint64_t instant;
  struct spinach_moment moment;
  GArray *pages; // SavedPage: those that were written since
} Mark;

static GArray *marks; // Mark, oldest first
static uint64_t page_size, budget, distance, kept;
static uint8_t *written; // of each page: it was, since the latest mark
static struct sigaction earlier;

static Mark *mark_at(guint index) {
  return &g_array_index(marks, Mark, index);
}

// The first write to a page since the latest mark.
static void on_write(int number, siginfo_t *info, void *context) {
  const uint64_t offset = (uint64_t)((const uint8_t *)info->si_addr - spinach_arena);
  if ((const uint8_t *)info->si_addr < spinach_arena || offset >= spinach_arena_size || written[offset / page_size]) {
    if (earlier.sa_flags & SA_SIGINFO)
      earlier.sa_sigaction(number, info, context);
    else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
      earlier.sa_handler(number);
    else
      signal(number, SIG_DFL); // and the write fails again
    return;
  }
  const uint64_t page = offset / page_size;
  uint8_t *at = spinach_arena + page * page_size;
  const SavedPage saved = {page, g_memdup2(at, page_size)};
  g_array_append_val(mark_at(marks->len - 1)->pages, saved);
  kept += page_size;
  written[page] = 1;
  mprotect(at, page_size, PROT_READ | PROT_WRITE);
}

static void protect(void) {
  memset(written, 0, spinach_arena_size / page_size);
  mprotect(spinach_arena, spinach_arena_size, PROT_READ);
}

static void free_mark(Mark *mark) {
  for (guint i = 0; i < mark->pages->len; i++) g_free(g_array_index(mark->pages, SavedPage, i).held);
  kept -= mark->pages->len * page_size;
  g_array_unref(mark->pages);
}

// What the mark's successor kept was not written between the two, unless the mark kept it, too.
static void join_next(guint index) {
  Mark *mark = mark_at(index), *next = mark_at(index + 1);
  g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < mark->pages->len; i++)
    g_hash_table_add(known, GSIZE_TO_POINTER(g_array_index(mark->pages, SavedPage, i).page));
  for (guint i = 0; i < next->pages->len; i++) {
    const SavedPage *saved = &g_array_index(next->pages, SavedPage, i);
    if (g_hash_table_contains(known, GSIZE_TO_POINTER(saved->page))) {
      g_free(saved->held);
      kept -= page_size;
    } else {
      g_array_append_val(mark->pages, *saved);
    }
  }
  g_array_unref(next->pages);
  g_array_remove_index(marks, index + 1);
}

// Makes room: first by fewer marks in the same time, then by forgetting the oldest.
static void thin(void) {
  for (guint i = 0; kept > budget && i + 2 < marks->len;) {
    if (mark_at(i + 2)->instant - mark_at(i)->instant <= distance)
      join_next(i);
    else
      i++;
  }
  while (kept > budget && marks->len > 2) {
    free_mark(mark_at(0));
    g_array_remove_index(marks, 0);
  }
  if (spinach_hooks.forget_came) spinach_hooks.forget_came(mark_at(0)->moment.came);
}

static void add_mark(void) {
  const Mark mark = {spinach_next_instant(), spinach_now(), g_array_new(FALSE, FALSE, sizeof(SavedPage))};
  g_array_append_val(marks, mark);
  protect();
}

void history_begin(uint64_t bytes, uint64_t ticks) {
  page_size = (uint64_t)sysconf(_SC_PAGESIZE);
  budget = bytes;
  distance = ticks;
  written = g_malloc(spinach_arena_size / page_size);
  marks = g_array_new(FALSE, FALSE, sizeof(Mark));
  struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, &earlier);
  add_mark();
}

void history_end(void) {
  mprotect(spinach_arena, spinach_arena_size, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &earlier, NULL);
}

void history_restart(void) {
  for (guint i = 0; i < marks->len; i++) free_mark(mark_at(i));
  g_array_set_size(marks, 0);
  add_mark();
}

void history_rewind(const struct spinach_moment *moment) {
  spinach_rewind(moment);
  spinach_triggers_again();
  spinach_balance_begin();
}

void history_mark(void) {
  if (mark_at(marks->len - 1)->instant == spinach_next_instant()) return;
  if (kept > budget) thin();
  add_mark();
}

uint64_t history_marked(void) {
  return mark_at(marks->len - 1)->instant;
}

uint64_t history_oldest(void) {
  return mark_at(0)->instant;
}

uint64_t history_bytes(void) {
  return kept;
}

bool history_back(uint64_t instant) {
  if (instant < history_oldest()) return false;
  mprotect(spinach_arena, spinach_arena_size, PROT_READ | PROT_WRITE);
  for (;;) {
    Mark *mark = mark_at(marks->len - 1);
    for (guint i = 0; i < mark->pages->len; i++) {
      const SavedPage *saved = &g_array_index(mark->pages, SavedPage, i);
      memcpy(spinach_arena + saved->page * page_size, saved->held, page_size);
    }
    const bool there = mark->instant <= instant;
    const struct spinach_moment moment = mark->moment;
    free_mark(mark);
    if (!there) {
      g_array_remove_index(marks, marks->len - 1);
      continue;
    }
    mark->pages = g_array_new(FALSE, FALSE, sizeof(SavedPage));
    history_rewind(&moment);
    break;
  }
  protect();
  return true;
}
