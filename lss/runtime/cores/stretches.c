// Prints what a processor executed; see stretches.h.  The stretches become a list of items, of which a loop is one with
// items of its own; as long as some items at its level are there several times one behind the other, they are made a
// loop.  Only what is printed counts for how much is shown.
#include "lss/runtime/cores/stretches.h"

#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/roles.h"

enum { WORD = 4, SHOWN_STRETCHES = 32, SHOWN_INSTRUCTIONS = 32, INDENT = 2 };

typedef struct {
  const Stretch *stretch; // NULL: it is a loop
  uint32_t full;          // how many instructions at the end of the stretch are shown one by one
  GPtrArray *items;       // Item*, of a loop
  uint64_t times;
  bool at_least;
} Item;

static void item_free(void *pointer) {
  Item *item = pointer;
  if (item->items) g_ptr_array_unref(item->items);
  g_free(item);
}

static Item *add_item(GPtrArray *items, Item one) {
  Item *item = g_new(Item, 1);
  *item = one;
  g_ptr_array_add(items, item);
  return item;
}

static Item *add_loop(GPtrArray *items, uint64_t times) {
  return add_item(items, (Item){.times = times, .items = g_ptr_array_new_with_free_func(item_free)});
}

static GPtrArray *items_of(const GArray *stretches) {
  GPtrArray *items = g_ptr_array_new_with_free_func(item_free);
  Item *loop = NULL;
  guint end = 0; // of the loop
  for (guint i = 0; i < stretches->len; i++) {
    const Stretch *stretch = &g_array_index(stretches, Stretch, i);
    if (stretch->members) {
      loop = add_loop(items, stretch->times);
      end = i + stretch->members;
    }
    add_item(i < end ? loop->items : items, (Item){.stretch = stretch});
  }
  return items;
}

static bool is_same(const Item *one, const Item *other);

static bool are_same(const GPtrArray *items, guint at, guint other, guint count) {
  for (guint i = 0; i < count; i++)
    if (!is_same(items->pdata[at + i], items->pdata[other + i])) return false;
  return true;
}

static bool is_same(const Item *one, const Item *other) {
  if (one->stretch && other->stretch)
    return one->stretch->from == other->stretch->from && one->stretch->behind == other->stretch->behind;
  if (one->stretch || other->stretch || one->times != other->times || one->items->len != other->items->len)
    return false;
  for (guint i = 0; i < one->items->len; i++)
    if (!is_same(one->items->pdata[i], other->items->pdata[i])) return false;
  return true;
}

// How often the `period` items from `at` on are there, one time behind the other.
static guint times_there(const GPtrArray *items, guint at, guint period) {
  guint times = 1;
  while (at + (times + 1) * period <= items->len && are_same(items, at, at + times * period, period)) times++;
  return times;
}

// Makes a loop of what is there several times; false: nothing is.
static bool fold(GPtrArray *items, bool whole) {
  for (guint at = 0; at < items->len; at++) {
    for (guint period = 1; at + 2 * period <= items->len; period++) {
      const guint times = times_there(items, at, period);
      if (times < 2) continue;
      Item *loop = add_loop(items, times);
      loop->at_least = !whole && at < period;
      for (guint i = 0; i < period; i++) g_ptr_array_add(loop->items, g_ptr_array_steal_index(items, at));
      g_ptr_array_remove_range(items, at, (times - 1) * period);
      g_ptr_array_insert(items, (gint)at, g_ptr_array_steal_index(items, items->len - 1));
      return true;
    }
  }
  return false;
}

// Chooses the instructions that are shown one by one, the latest; returns how many more there may be.
static uint32_t choose_full(const GPtrArray *items, uint32_t left) {
  for (guint i = items->len; i-- > 0;) {
    Item *item = items->pdata[i];
    if (item->items) {
      left = choose_full(item->items, left);
      continue;
    }
    item->full = MIN(left, (item->stretch->behind - item->stretch->from) / WORD);
    left -= item->full;
  }
  return left;
}

static guint stretches_in(const Item *item) {
  guint count = item->stretch != NULL;
  for (guint i = 0; item->items && i < item->items->len; i++) count += stretches_in(item->items->pdata[i]);
  return count;
}

// ---- As text

// An instruction as the core's memory has it; else, where the machine does not say what memory that is, its program.
static bool word_at(const Core *core, uint32_t pc, uint32_t *word) {
  return (core && core_instruction(core, pc, word)) || spinach_program_word(pc, word);
}

static void print_instruction(FILE *out, const Core *core, uint32_t pc, int indent) {
  g_autofree char *where = spinach_describe_address(core ? core->context : NO_CONTEXT, pc);
  const char *name = strchr(where, ' '); // after the address, which precedes it already
  uint32_t word;
  g_autofree char *code = word_at(core, pc, &word) ? spinach_disassemble(pc, word) : NULL;
  fprintf(out, "%*s%08x  %-32s %s\n", indent, "", pc, code ? code : "", name ? name + 1 : "");
}

static void print_item(FILE *out, const Core *core, const Item *item, int indent) {
  if (item->items) {
    fprintf(out, "%*s%s%" G_GUINT64_FORMAT " times:\n", indent, "", item->at_least ? "at least " : "", item->times);
    for (guint i = 0; i < item->items->len; i++) print_item(out, core, item->items->pdata[i], indent + INDENT);
    return;
  }
  const Stretch *stretch = item->stretch;
  const uint32_t count = (stretch->behind - stretch->from) / WORD, few = count - item->full;
  if (few) {
    g_autofree char *where = spinach_describe_address(core ? core->context : NO_CONTEXT, stretch->from);
    const char *name = strchr(where, ' ');
    fprintf(out, "%*s%08x to %08x, %u instruction%s%s%s\n", indent, "", stretch->from, stretch->from + (few - 1) * WORD,
            few, few == 1 ? "" : "s", name ? ", from" : "", name ? name : "");
  }
  for (uint32_t i = few; i < count; i++) print_instruction(out, core, stretch->from + i * WORD, indent);
}

void spinach_print_stretches(FILE *out, const Core *core, const GArray *stretches, bool whole) {
  g_autoptr(GPtrArray) items = items_of(stretches);
  while (fold(items, whole)) {
  }
  Item *oldest = items->len ? items->pdata[0] : NULL; // which may have begun before what is known
  if (oldest && oldest->items && !whole) oldest->at_least = true;
  choose_full(items, SHOWN_INSTRUCTIONS);
  guint first = items->len, shown = 0;
  while (first > 0 && (shown += stretches_in(items->pdata[first - 1])) <= SHOWN_STRETCHES) first--;
  if (first == items->len && first > 0) first--; // no loop is cut
  for (guint i = first; i < items->len; i++) print_item(out, core, items->pdata[i], 2 * INDENT);
}
