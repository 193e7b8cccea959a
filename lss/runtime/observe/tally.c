// Counting items, and comparing them; see tally.h.
//
// Of an item a hash is kept while it is in a module.  What leaves is looked up at the end of its instant, since an item
// may pass within a cycle and its two ends are seen in any order.
#include "lss/runtime/observe/tally.h"

#include "lss/runtime/observe/ranges.h"
#include "lss/runtime/text/type.h"

// Bytes of a value that mean something: what is between them is padding.
typedef struct {
  uint64_t offset, size;
} Run;

typedef struct {
  const spinach_balance *balance;
  GHashTable *held; // hash -> how many such items are there
  GArray *left;     // hashes of what left in the instant `at`
  uint64_t at;
  int64_t unknown; // items that were there before anything was counted
} Contents;

typedef struct {
  Contents *contents;
  bool enters;
} Interest;

static const spinach_machine *const machine = &spinach_machine_table;
static uint64_t *counts;
static GArray **interests; // per connection: of Interest, or NULL
static GArray **runs;      // likewise: of Run
static Contents *all;
static guint contents_count;

// ---- Hashes --------------------------------------------------------------------------------------------------------

static void add_run(GArray *list, uint64_t offset, uint64_t size) {
  Run *last = list->len ? &g_array_index(list, Run, list->len - 1) : NULL;
  if (last && last->offset + last->size == offset) {
    last->size += size;
    return;
  }
  const Run run = {offset, size};
  g_array_append_val(list, run);
}

static void add_runs(GArray *list, const struct spinach_type *type, uint64_t offset) {
  if (type->kind == SPINACH_STRUCT) {
    for (uint32_t i = 0; i < type->member_count; i++)
      add_runs(list, type->members[i].type, offset + (uint64_t)type->members[i].offset);
  } else if (type->kind == SPINACH_ARRAY && type->element->kind == SPINACH_STRUCT) {
    for (uint32_t i = 0; i < type->length; i++) add_runs(list, type->element, offset + i * type->element->size);
  } else if (type->kind != SPINACH_STRING && type->kind != SPINACH_STREAM) {
    add_run(list, offset, type->size);
  }
}

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_of(const GArray *list, const uint8_t *value) {
  uint64_t hash = 0x2545f4914f6cdd1du;
  for (guint i = 0; i < list->len; i++) {
    const Run *run = &g_array_index(list, Run, i);
    const uint8_t *at = value + run->offset;
    uint64_t left = run->size, word;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
      memcpy(&word, at, sizeof word);
      hash = mix(hash, word);
    }
    word = left;
    memcpy(&word, at, left);
    hash = mix(hash, word ^ left << 56);
  }
  return hash;
}

// ---- Contents ------------------------------------------------------------------------------------------------------

static void add(Contents *contents, uint64_t hash, int change) {
  const gpointer key = (gpointer)hash;
  const gsize now = GPOINTER_TO_SIZE(g_hash_table_lookup(contents->held, key)) + (gsize)change;
  if (now)
    g_hash_table_insert(contents->held, key, GSIZE_TO_POINTER(now));
  else
    g_hash_table_remove(contents->held, key);
}

static void complete(Contents *contents) {
  for (guint i = 0; i < contents->left->len; i++) {
    const uint64_t hash = g_array_index(contents->left, uint64_t, i);
    if (g_hash_table_contains(contents->held, (gpointer)hash)) {
      add(contents, hash, -1);
    } else if (contents->unknown > 0) {
      contents->unknown--;
    } else {
      g_array_set_size(contents->left, 0);
      spinach_error((uint32_t)contents->balance->instance,
                    "an item left in the cycle before that had not come in, or had left already (%s; `altered` says "
                    "that items are changed)",
                    contents->balance->text);
    }
  }
  g_array_set_size(contents->left, 0);
}

static void note(Contents *contents, bool enters, uint64_t hash) {
  if (contents->left->len && contents->at != spinach_time.now) complete(contents);
  contents->at = spinach_time.now;
  if (enters)
    add(contents, hash, 1);
  else
    g_array_append_val(contents->left, hash);
}

void spinach_tally_complete(void) {
  for (guint i = 0; i < contents_count; i++) complete(&all[i]);
}

// ---- Counting ------------------------------------------------------------------------------------------------------

void spinach_tally(int clock) {
  spinach_ranges_watch();
  for (const uint32_t *c = machine->tallied[clock]; *c != UINT32_MAX; c++) {
    const spinach_observed *o = &machine->observed[*c];
    if (!o->some || !*o->some || spinach_handshake_of(o) != SPINACH_TRANSFERRED) continue;
    counts[*c]++;
    spinach_tally_note(*c, o->data);
    const GArray *who = interests[*c];
    if (!who) continue;
    const uint64_t hash = hash_of(runs[*c], o->data);
    for (guint i = 0; i < who->len; i++) {
      const Interest *interest = &g_array_index(who, Interest, i);
      note(interest->contents, interest->enters, hash);
    }
  }
}

uint64_t spinach_tally_of(uint32_t connection) {
  return counts ? counts[connection] : 0;
}

static void watch(Contents *contents, const spinach_sum_step *steps, uint32_t count, bool enters) {
  const Interest interest = {contents, enters};
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; !steps[k].type && i < steps[k].connection_count; i++) {
      const uint32_t c = steps[k].connections[i];
      if (!interests[c]) {
        interests[c] = g_array_new(FALSE, FALSE, sizeof(Interest));
        runs[c] = g_array_new(FALSE, FALSE, sizeof(Run));
        add_runs(runs[c], machine->connections[c].type, 0);
      }
      g_array_append_val(interests[c], interest);
    }
}

static void prepare(void) {
  counts = g_new0(uint64_t, machine->connection_count + 1);
  interests = g_new0(GArray *, machine->connection_count + 1);
  runs = g_new0(GArray *, machine->connection_count + 1);
  all = g_new0(Contents, machine->balance_count + 1);
  for (uint32_t i = 0; i < machine->balance_count; i++) {
    const spinach_balance *balance = &machine->balances[i];
    if (!balance->contents) continue;
    Contents *contents = &all[contents_count++];
    *contents = (Contents){balance, g_hash_table_new(NULL, NULL), g_array_new(FALSE, FALSE, sizeof(uint64_t)), 0, 0};
    watch(contents, balance->left, balance->left_count, true);
    watch(contents, balance->right, balance->right_count, false);
  }
}

void spinach_tally_begin(int64_t (*inside)(const spinach_balance *balance)) {
  if (!machine->debug) return;
  if (!counts) prepare();
  spinach_tally_weights_begin();
  memset(counts, 0, machine->connection_count * sizeof *counts);
  for (guint i = 0; i < contents_count; i++) {
    g_hash_table_remove_all(all[i].held);
    g_array_set_size(all[i].left, 0);
    all[i].unknown = inside(all[i].balance);
  }
}
