// One processor's instructions from issue to retirement, and what is counted for them; see profile_core.h.
#include "lss/runtime/trace/profile_core.h"

#include <string.h>

enum { RECENT = 1 << 12 }; // rows that are found without a hash

void profile_core_start(ProfileCore *core) {
  core->tracker = g_new0(ProfileTracker, 1);
  core->tracker->rows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  core->tracker->recent = g_new0(ProfileRow *, RECENT);
}

// ---- Rows

static ProfileRow *row_of(ProfileCore *core, guint32 pc, guint32 word, bool named) {
  ProfileTracker *tracker = core->tracker;
  ProfileRow **recent = &tracker->recent[(pc >> 2) % RECENT];
  // What does not retire has no word here: it counts where that of its address does.
  if (*recent && (*recent)->pc == pc && (!named || ((*recent)->named && (*recent)->word == word))) return *recent;
  const gint64 key = (gint64)((guint64)pc << 32 | word);
  ProfileRow *row = g_hash_table_lookup(tracker->rows, &key);
  if (!row) {
    row = g_new0(ProfileRow, 1);
    row->pc = pc;
    row->word = word;
    g_hash_table_insert(tracker->rows, g_memdup2(&key, sizeof key), row);
    g_ptr_array_add(core->rows, row);
  }
  row->named |= named;
  return *recent = row;
}

// ---- In flight

static ProfileEntry *entry_at(ProfileTracker *tracker, guint64 number) {
  return &tracker->entries[number % PROFILE_FLIGHT];
}

static ProfileEntry *find_entry(ProfileTracker *tracker, guint32 pc) {
  for (guint64 i = tracker->first; i < tracker->next; i++)
    if (entry_at(tracker, i)->pc == pc && !entry_at(tracker, i)->retired) return entry_at(tracker, i);
  return NULL;
}

static gint8 region_of(const ProfileCore *core, guint32 address) {
  for (guint i = 0; i < core->regions->len; i++) {
    const ProfileRegion *region = &g_array_index(core->regions, ProfileRegion, i);
    if (address >= region->first && address <= region->last) return (gint8)i;
  }
  return (gint8)core->regions->len;
}

// Adds what was counted for an instruction to where it belongs.
static void complete(ProfileCore *core, ProfileEntry *entry, ProfileRow *row, CallNode *node) {
  guint64 cycles = 0;
  for (guint i = 0; i < PROFILE_CAUSES; i++) {
    row->counts[i] += entry->counts[i];
    cycles += entry->counts[i];
  }
  // What waited to be accepted when it ended has no address here.
  ProfileRequests *requests = &row->requests[entry->region >= 0 ? (guint)entry->region : core->regions->len];
  requests->reads += entry->region >= 0 && !entry->writes;
  requests->writes += entry->region >= 0 && entry->writes;
  requests->accept += entry->accept;
  requests->reply += entry->reply;
  row->requests[region_of(core, entry->pc)].fetch_accept += entry->fetch_accept;
  row->requests[region_of(core, entry->pc)].fetch_reply += entry->fetch_reply;
  node->cycles += cycles;
  core->cycles += cycles;
  entry->retired = true;
}

// Annulled, or dropped because the pc was set: it never retires.
static void discard(ProfileCore *core, ProfileEntry *entry) {
  if (!entry->retired) complete(core, entry, row_of(core, entry->pc, 0, false), call_tree_here(core->tree));
}

static void forget_retired(ProfileTracker *tracker) {
  while (tracker->first < tracker->next && entry_at(tracker, tracker->first)->retired) tracker->first++;
}

static ProfileFetch *fetch_of(ProfileTracker *tracker, guint32 pc) {
  return &tracker->fetches[(pc >> 2) % PROFILE_FETCHES];
}

void profile_core_fetch(ProfileCore *core, guint32 pc, guint64 cycle, ProfileFetching what) {
  ProfileFetch *fetch = fetch_of(core->tracker, pc);
  if (fetch->pc != pc || fetch->arrived)
    *fetch = (ProfileFetch){.pc = pc, .offered = cycle, .accepted = G_MAXUINT64, .end = G_MAXUINT64};
  if (what == PROFILE_REQUESTED) fetch->accepted = cycle;
  if (what != PROFILE_FETCHED) return;
  fetch->end = cycle;
  fetch->arrived = true;
}

static guint32 overlap(guint64 first, guint64 end, guint64 other_first, guint64 other_end) {
  first = MAX(first, other_first);
  end = MIN(end, other_end);
  return first < end ? (guint32)(end - first) : 0;
}

// What the issue stage waited for until it had this instruction: its memory, or nothing that one could have given.
static void split_fetch(ProfileTracker *tracker, ProfileIssue *issue, ProfileEntry *entry) {
  const ProfileFetch *fetch = fetch_of(tracker, entry->pc);
  for (guint i = 0; i < issue->window_count && fetch->pc == entry->pc; i++) {
    const guint64 first = issue->windows[i].first, end = issue->windows[i].end;
    entry->fetch_accept += overlap(first, end, fetch->offered, fetch->accepted);
    entry->fetch_reply += overlap(first, end, fetch->accepted, fetch->end);
  }
  issue->window_count = 0;
}

void profile_core_issue(ProfileCore *core, ProfileIssue *issue, guint32 pc) {
  ProfileTracker *tracker = core->tracker;
  if (tracker->next - tracker->first == PROFILE_FLIGHT) discard(core, entry_at(tracker, tracker->first++));
  ProfileEntry *entry = entry_at(tracker, tracker->next++);
  *entry = (ProfileEntry){.pc = pc, .region = -1};
  memcpy(entry->counts, issue->counts, sizeof entry->counts);
  memset(issue->counts, 0, sizeof issue->counts);
  entry->counts[0]++;
  split_fetch(tracker, issue, entry);
  issue->single++;
}

void profile_core_interlock(ProfileIssue *issue, guint cause) {
  issue->counts[cause]++;
  issue->single++;
}

void profile_core_turn(const Profile *profile, ProfileCore *core, ProfileIssue *issue, guint64 cycle, guint cause) {
  ProfileTracker *tracker = core->tracker;
  const guint waited = issue->cause;
  // In these cycles it issued, or waited for a single one: both were counted.
  guint64 cycles = cycle - issue->since - (waited == 0 || waited == PROFILE_CAUSES ? issue->single : 0);
  ProfileEntry *entry = waited == profile->memory ? find_entry(tracker, tracker->waits) : NULL;
  if (entry) {
    const guint64 before = tracker->accepted > issue->since ? MIN(tracker->accepted, cycle) - issue->since : 0;
    entry->accept += (guint32)before;
    entry->reply += (guint32)(cycles - before);
    entry->counts[waited] += (guint32)cycles;
  } else {
    issue->counts[waited == PROFILE_CAUSES ? PROFILE_CAUSES - 1 : waited] += (guint32)cycles;
  }
  if (waited == profile->fetch && issue->window_count < PROFILE_WINDOWS) {
    issue->windows[issue->window_count].first = issue->since;
    issue->windows[issue->window_count++].end = cycle;
  }
  issue->cause = cause;
  issue->since = cycle;
  issue->single = 0;
}

// ---- Memory, and the end of the pipeline

void profile_core_access(ProfileCore *core, guint32 pc, guint32 address, bool writes, guint64 cycle) {
  core->tracker->accepted = cycle;
  ProfileEntry *entry = find_entry(core->tracker, pc);
  if (!entry) return;
  entry->region = region_of(core, address);
  entry->writes = writes;
}

void profile_core_retire(Profile *profile, ProfileCore *core, guint32 pc, guint32 word, guint32 value) {
  ProfileTracker *tracker = core->tracker;
  ProfileRow *row = row_of(core, pc, word, true);
  if (!row->place) row->place = code_names_find(profile->names, pc, word);
  tracker->latest = pc;
  row->instructions++;
  core->instructions++;
  CallNode *node = call_tree_follow(core->tree, pc, word, value, row->place);
  for (guint64 i = tracker->first; i < tracker->next; i++) {
    ProfileEntry *entry = entry_at(tracker, i);
    if (entry->retired || entry->pc != pc) continue;
    complete(core, entry, row, node);
    // Those issued well before it were annulled; just before it, they may be of another slot of the same bundle.
    while (tracker->first + PROFILE_LATE < i) discard(core, entry_at(tracker, tracker->first++));
    break;
  }
  forget_retired(tracker);
}

void profile_core_finish(ProfileCore *core, ProfileIssue *issue) {
  ProfileTracker *tracker = core->tracker;
  while (tracker->first < tracker->next) discard(core, entry_at(tracker, tracker->first++));
  ProfileEntry rest = {.pc = tracker->latest, .region = -1};
  memcpy(rest.counts, issue->counts, sizeof rest.counts);
  memset(issue->counts, 0, sizeof issue->counts);
  guint64 cycles = 0;
  for (guint i = 0; i < PROFILE_CAUSES; i++) cycles += rest.counts[i];
  if (cycles) discard(core, &rest);
}
