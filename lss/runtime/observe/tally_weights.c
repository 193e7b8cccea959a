// What balances add up in addition to items: values in items, such as `in.count`, and events; see tally.h.
#include "lss/runtime/observe/tally.h"

#include "lss/runtime/engine/names.h"

// A step of a sum, of which an item on a connection says something.
typedef struct {
  const spinach_sum_step *step;
  int64_t *sum;
} Weight;

// What is counted of the events of an instance.
typedef struct {
  int64_t *of;
  uint32_t room;
} Events;

static const spinach_machine *const machine = &spinach_machine_table;
static GArray **weights;    // per connection: of Weight, or NULL
static GHashTable *amounts; // step -> int64_t*
static Events *events;      // per instance

// ---- Elements ------------------------------------------------------------------------------------------------------

bool spinach_sum_holds(char operator, int64_t left, int64_t right) {
  switch (operator) {
  case '=': return left == right;
  case '!': return left != right;
  case '<': return left < right;
  case '>': return left > right;
  case 'l': return left <= right;
  default: return left >= right;
  }
}

static int64_t element(const spinach_sum_step *step, const uint8_t *at) {
  int64_t value = spinach_integer(step->type, at);
  if (step->bits) value = (int64_t)((uint64_t)value >> step->shift & (UINT64_MAX >> (64 - step->bits)));
  if (step->ones) return __builtin_popcountll((uint64_t)value);
  return step->operator ? spinach_sum_holds(step->operator, value, step->number) : value;
}

static int64_t elements_from(const spinach_sum_step *step, uint32_t dimension, const uint8_t *at) {
  if (dimension == step->range_count) return element(step, at);
  uint64_t sum = 0;
  const spinach_range *range = &step->ranges[dimension];
  for (uint64_t i = 0; i < range->count; i++)
    sum += (uint64_t)elements_from(step, dimension + 1, at + i * range->stride);
  return (int64_t)sum;
}

int64_t spinach_sum_elements(const spinach_sum_step *step, const void *first) {
  return elements_from(step, 0, (const uint8_t *)first + step->offset);
}

// ---- Items ---------------------------------------------------------------------------------------------------------

static void prepare_sum(const spinach_sum_step *steps, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    if (steps[k].kind != 'p' || !steps[k].type) continue;
    const Weight weight = {&steps[k], g_new0(int64_t, 1)};
    g_hash_table_insert(amounts, (gpointer)&steps[k], weight.sum);
    for (uint32_t i = 0; i < steps[k].connection_count; i++) {
      GArray **list = &weights[steps[k].connections[i]];
      if (!*list) *list = g_array_new(FALSE, FALSE, sizeof(Weight));
      g_array_append_val(*list, weight);
    }
  }
}

void spinach_tally_weights_begin(void) {
  if (!amounts) {
    amounts = g_hash_table_new(NULL, NULL);
    weights = g_new0(GArray *, machine->connection_count + 1);
    for (uint32_t i = 0; i < machine->balance_count; i++) {
      const spinach_balance *balance = &machine->balances[i];
      prepare_sum(balance->left, balance->left_count);
      prepare_sum(balance->right, balance->right_count);
    }
  }
  GHashTableIter iterator;
  gpointer sum;
  g_hash_table_iter_init(&iterator, amounts);
  while (g_hash_table_iter_next(&iterator, NULL, &sum)) *(int64_t *)sum = 0;
  for (uint32_t i = 0; events && i < machine->instance_count; i++)
    if (events[i].of) memset(events[i].of, 0, events[i].room * sizeof *events[i].of);
}

void spinach_tally_note(uint32_t connection, const void *item) {
  const GArray *list = weights[connection];
  for (guint i = 0; list && i < list->len; i++) {
    const Weight *weight = &g_array_index(list, Weight, i);
    *weight->sum += spinach_sum_elements(weight->step, item);
  }
}

int64_t spinach_tally_sum(const spinach_sum_step *step) {
  const int64_t *sum = amounts ? g_hash_table_lookup(amounts, step) : NULL;
  return sum ? *sum : 0;
}

// ---- Events --------------------------------------------------------------------------------------------------------

void spinach_tally_event(uint32_t instance, int number, int64_t amount) {
  if (!events) events = g_new0(Events, machine->instance_count);
  Events *own = &events[instance];
  if ((uint32_t)number >= own->room) {
    const uint32_t room = (uint32_t)number + 4;
    own->of = g_renew(int64_t, own->of, room);
    memset(own->of + own->room, 0, (room - own->room) * sizeof *own->of);
    own->room = room;
  }
  own->of[number] += amount;
}

int64_t spinach_tally_of_event(const spinach_sum_step *step) {
  const Events *own = events ? &events[step->instance] : NULL;
  return own && (uint64_t)step->number < own->room ? own->of[step->number] : 0;
}
