// A part that runs from records; see alone.h.
#include "lss/runtime/link/alone.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/type_bytes.h"
#include "lss/runtime/link/arrival.h"
#include "lss/runtime/link/item_value.h"
#include "lss/runtime/link/record_reader.h"
#include "lss/runtime/link/recording.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  LinkRecord record;
  char *file;
  const char *from; // the part that sends
  bool absent;      // this part sends over it, and was killed
  uint64_t first;   // entry that this run may send or receive
  uint64_t next;    // entry
} Replayed;

static const Network *network;
static Replayed *replayed; // of each link of the machine

// ---- Reading --------------------------------------------------------------------------------------------------------

static bool refuse(const Replayed *link, const char *why) {
  return spinach_report_error("error: --replay-links: \"%s\": %s", link->file, why);
}

// Whether a record is of this link, and of a run that this one may be part of.
static bool fits(const Replayed *link, const spinach_link_end *end, uint64_t begins) {
  const LinkRecordStart *start = &link->record.start;
  g_autofree char *why = NULL, *shape = item_value_shape(end->item_type);
  if (memcmp(start->hash, network->hash, sizeof start->hash) != 0)
    why = g_strdup_printf("it is of another network, or another build: its hash is %.*s, that of %s %s",
                          LINK_RECORD_HASH, start->hash, network->file, network->hash);
  else if (strcmp(link->record.texts[0], end->path) != 0)
    why = g_strdup_printf("it is the record of the link %s, not of %s", link->record.texts[0], end->path);
  else if (strcmp(link->record.texts[1], shape) != 0 || start->item_size != end->item_size || start->cut != end->cut ||
           start->ticks_per_second != network->ticks_per_second)
    why = g_strdup("its items or times are not those of the link");
  else if (begins < start->begins || begins >= link->record.end.until)
    why = g_strdup_printf("it is of the time from tick %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                          ", and this run begins at tick %" G_GUINT64_FORMAT,
                          start->begins, link->record.end.until, begins);
  return !why || refuse(link, why);
}

static bool read_link(uint32_t number, const char *folder, uint64_t begins) {
  const spinach_link_end *end = &machine->links[number];
  Replayed *link = &replayed[number];
  const NetworkLink *known = network_find_link(network, end->path);
  if (!known) return spinach_report_error("error: link %s: network.json has none of that name", end->path);
  g_autoptr(GError) error = NULL;
  link->file = recording_path(folder, end->path);
  link->from = network_part(network, known->from)->path;
  if (!g_file_test(link->file, G_FILE_TEST_EXISTS) && !(link->absent = end->sends)) {
    g_autofree char *why = g_strdup_printf("there is no such record (%s writes it in a run with --record-links, "
                                           "unless it is killed)",
                                           link->from);
    return refuse(link, why);
  }
  if (link->absent) return true;
  if (!link_record_open(&link->record, link->file, &error)) return refuse(link, error->message);
  return fits(link, end, begins);
}

// ---- Where the run is in the records --------------------------------------------------------------------------------

// Back to a state in which all has come that was sent before `came`.
static void go_back(uint64_t came) {
  for (uint32_t i = 0; i < machine->link_count; i++)
    replayed[i].next = link_record_find(&replayed[i].record, machine->links[i].sends ? spinach_next_instant() : came);
  spinach_hooks.came = came;
}

// A part that was killed has left no record of what it sent.  False, after a line: there is none of what it received.
static bool say_absent(const char *part, const char *folder) {
  const char *absent = NULL;
  bool receives = false;
  for (uint32_t i = 0; i < machine->link_count; i++) {
    if (replayed[i].absent) absent = replayed[i].file;
    receives |= !machine->links[i].sends;
  }
  if (absent && receives)
    spinach_report_error("warning: there is no record \"%s\", so the items that %s sends are not compared", absent,
                         part);
  return !absent || receives ||
         spinach_report_error("error: --replay-links: the folder \"%s\" has no record of a link of %s", folder, part);
}

bool alone_begin(const Network *of, uint32_t own, const char *folder, uint64_t begins) {
  network = of;
  replayed = g_new0(Replayed, machine->link_count + 1);
  for (uint32_t i = 0; i < machine->link_count; i++)
    if (!read_link(i, folder, begins)) return false;
  if (!machine->link_count)
    return spinach_report_error("error: --replay-links: %s has no links", network_part(network, own)->path);
  if (!say_absent(network_part(network, own)->path, folder)) return false;
  arrival_begin();
  go_back(begins);
  for (uint32_t i = 0; i < machine->link_count; i++) replayed[i].first = replayed[i].next;
  spinach_hooks.go_back = go_back;
  return true;
}

// Where the part was killed: others promised it no more than this.
static uint64_t promised(void) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < machine->link_count; i++) {
    const LinkRecord *record = &replayed[i].record;
    if (!machine->links[i].sends) least = MIN(least, record->end.until + record->start.cut);
  }
  return least;
}

uint64_t alone_ends(const char **reason, bool *failed) {
  const LinkRecordEnd *last = NULL;
  bool sends = false;
  *failed = false;
  for (uint32_t i = 0; i < machine->link_count; i++) { // this part itself says it best
    const LinkRecordEnd *end = &replayed[i].record.end;
    if (replayed[i].absent) return *reason = "the record ends", promised();
    if (sends && !machine->links[i].sends) continue;
    if (!last || machine->links[i].sends != sends || end->until > last->until) last = end;
    sends = machine->links[i].sends;
  }
  *failed = sends && last->failed;
  *reason = last->reason;
  return last->until + *failed;
}

// ---- What this run does otherwise -----------------------------------------------------------------------------------

static char *instant_text(uint64_t instant) {
  return g_strdup_printf("%.12g ns (tick %" G_GUINT64_FORMAT ")",
                         (double)instant * 1e9 / (double)network->ticks_per_second, instant);
}

static char *entry_text(const spinach_link_end *end, const LinkRecordEntry *entry, const void *item) {
  g_autofree char *at = instant_text(entry->sent), *arrives = instant_text(entry->arrives),
                  *value = spinach_type_text(end->item_type, item);
  return g_strdup_printf("%s at %s, which arrives at %s", value, at, arrives);
}

static char *recorded_text(uint32_t number) {
  const Replayed *link = &replayed[number];
  const void *item;
  if (link->next == link->record.end.count) return g_strdup("has no more items");
  const LinkRecordEntry entry = link_record_entry(&link->record, link->next, &item);
  g_autofree char *text = entry_text(&machine->links[number], &entry, item);
  return g_strdup_printf("has %s, as item %" G_GUINT64_FORMAT, text, link->next);
}

// What is sent, or NULL: nothing is.
static _Noreturn void differ(uint32_t number, const LinkRecordEntry *entry, const void *item) {
  const spinach_link_end *end = &machine->links[number];
  g_autofree char *recorded = recorded_text(number), *here = entry ? entry_text(end, entry, item) : NULL;
  spinach_fail("%s: this is not the recorded run: %s sends %s; the record %s", end->path, replayed[number].from,
               here ? here : "nothing", recorded);
}

// Whether all was sent before an instant that was in the recorded run.
static void check_sent(uint64_t until) {
  uint64_t first = until;
  uint32_t missing = machine->link_count;
  for (uint32_t i = 0; i < machine->link_count; i++) {
    const void *item;
    if (!machine->links[i].sends || replayed[i].next == replayed[i].record.end.count) continue;
    const uint64_t sent = link_record_entry(&replayed[i].record, replayed[i].next, &item).sent;
    if (sent < first) first = sent, missing = i;
  }
  if (missing < machine->link_count) differ(missing, NULL, NULL);
}

void alone_send(uint32_t number, uint64_t now, uint64_t arrives, const void *item) {
  const LinkRecordEntry entry = {now, arrives};
  Replayed *link = &replayed[number];
  if (link->absent) return;
  const bool known = link->next < link->record.end.count;
  if (!known && now >= link->record.end.until) return; // an instant that failed in the recorded run
  const void *recorded_item = NULL;
  const LinkRecordEntry recorded =
      known ? link_record_entry(&link->record, link->next, &recorded_item) : (LinkRecordEntry){0};
  if (!known || recorded.sent != now || recorded.arrives != arrives ||
      !spinach_type_equal(machine->links[number].item_type, item, recorded_item))
    differ(number, &entry, item);
  link->next++;
}

bool alone_compares(void) {
  for (uint32_t i = 0; i < machine->link_count; i++)
    if (replayed[i].absent) return false;
  return true;
}

uint64_t alone_compared(void) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < machine->link_count; i++)
    if (machine->links[i].sends) count += replayed[i].next - replayed[i].first;
  return count;
}

// ---- What comes -----------------------------------------------------------------------------------------------------

// Takes what was sent over a link before `until`; returns when the next item arrives.
static uint64_t take(uint32_t number, uint64_t until) {
  Replayed *link = &replayed[number];
  for (; link->next < link->record.end.count; link->next++) {
    const void *item;
    const LinkRecordEntry entry = link_record_entry(&link->record, link->next, &item);
    if (entry.sent >= until) return entry.arrives;
    if (!arrival_add(number, link->from, entry.arrives, item))
      spinach_fail("%s: \"%s\" has more items on their way than there is room for", machine->links[number].path,
                   link->file);
  }
  return UINT64_MAX;
}

void alone_complete(uint64_t until) {
  check_sent(until);
  for (uint32_t i = 0; i < machine->link_count; i++)
    if (!machine->links[i].sends) take(i, until);
  if (until > spinach_hooks.came) spinach_hooks.came = until;
}

uint64_t alone_reach(uint64_t now, uint64_t most) {
  check_sent(now);
  for (uint32_t i = 0; i < machine->link_count; i++) {
    const Replayed *link = &replayed[i];
    uint64_t bound = UINT64_MAX;
    const void *item;
    if (!machine->links[i].sends)
      bound = take(i, now);
    else if (link->next < link->record.end.count) // so that what is not sent shows at once
      bound = link_record_entry(&link->record, link->next, &item).sent + 1;
    if (bound < most) most = bound;
  }
  if (now > spinach_hooks.came) spinach_hooks.came = now;
  return most;
}
