// What has come and left; see retrace.h.
#include "lss/runtime/link/retrace.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/link/arrival.h"
#include "lss/runtime/link/record_reader.h"

enum { LARGE = 1 << 20 }; // bytes of entries, from which on it is worth to forget some

static const spinach_machine *const machine = &spinach_machine_table;

// Of a link: what was sent, as in a record; of what this part sends without the items.
typedef struct {
  GByteArray *bytes;
  LinkRecord entries;
  const char *from;
  uint64_t next; // entry
} Kept;

static Kept *kept; // of each link of the machine
static uint64_t latest;

static void note(Kept *link, LinkRecordEntry entry, const void *item, uint32_t size) {
  static const uint8_t zeros[8];
  g_byte_array_append(link->bytes, (const guint8 *)&entry, sizeof entry);
  if (size) g_byte_array_append(link->bytes, item, size);
  g_byte_array_append(link->bytes, zeros, (8 - size % 8) % 8);
  link->entries.entries = link->bytes->data;
  link->entries.end.count++;
  link->next++;
}

static void go_back(uint64_t came) {
  for (uint32_t i = 0; i < machine->link_count; i++)
    kept[i].next = link_record_find(&kept[i].entries, machine->links[i].sends ? spinach_next_instant() : came);
  spinach_hooks.came = came;
}

// Nobody goes back further than to a state in which all has come that was sent before `came`, which was later stepped.
static void forget(uint64_t came) {
  for (uint32_t i = 0; i < machine->link_count; i++) {
    Kept *link = &kept[i];
    if (link->bytes->len < LARGE) continue;
    const uint64_t count = link_record_find(&link->entries, came);
    g_byte_array_remove_range(link->bytes, 0, (guint)(count * link_record_stride(link->entries.start.item_size)));
    link->entries.entries = link->bytes->data;
    link->entries.end.count -= count;
    link->next -= count;
  }
}

void retrace_begin(uint64_t begins) {
  kept = g_new0(Kept, machine->link_count + 1);
  for (uint32_t i = 0; i < machine->link_count; i++) {
    kept[i].bytes = g_byte_array_new();
    kept[i].entries.start.item_size = machine->links[i].sends ? 0 : machine->links[i].item_size;
  }
  latest = spinach_hooks.came = begins;
  spinach_hooks.go_back = go_back;
  spinach_hooks.forget_came = forget;
}

void retrace_came(uint32_t link, const char *from, uint64_t sent, uint64_t arrives, const void *item) {
  kept[link].from = from;
  note(&kept[link], (LinkRecordEntry){sent, arrives}, item, machine->links[link].item_size);
}

void retrace_reached(uint64_t until) {
  if (until > latest) latest = until;
  if (until > spinach_hooks.came) spinach_hooks.came = until;
}

// Puts what was sent over a link before an instant into the state; returns when the next one arrives.
static uint64_t take(uint32_t number, uint64_t until) {
  Kept *link = &kept[number];
  for (; link->next < link->entries.end.count; link->next++) {
    const void *item;
    const LinkRecordEntry entry = link_record_entry(&link->entries, link->next, &item);
    if (entry.sent >= until) return entry.arrives;
    arrival_add(number, link->from, entry.arrives, item); // it had room before
  }
  return UINT64_MAX;
}

bool retrace_again(uint64_t until, uint64_t *limit) {
  *limit = latest;
  for (uint32_t i = 0; i < machine->link_count; i++) {
    if (machine->links[i].sends) continue;
    const uint64_t arrives = take(i, until);
    if (arrives < *limit) *limit = arrives;
  }
  if (until > spinach_hooks.came) spinach_hooks.came = MIN(until, latest);
  return until < latest;
}

bool retrace_has_left(uint32_t link, uint64_t now) {
  if (kept[link].next < kept[link].entries.end.count) return kept[link].next++, true;
  note(&kept[link], (LinkRecordEntry){now, now}, NULL, 0);
  return false;
}

uint64_t retrace_latest(void) {
  return latest;
}
