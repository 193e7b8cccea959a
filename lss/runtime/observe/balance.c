// Looking at balances; see balance.h.
#include "lss/runtime/observe/balance.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/observe/tally.h"

#include <inttypes.h>

enum { MOST_LINES = 20 };

static const spinach_machine *const machine = &spinach_machine_table;
static int64_t *offsets; // per balance with items: left less right when counting began
static bool disturbed, in_the_middle;

// ---- Sums ----------------------------------------------------------------------------------------------------------

static int64_t operate(char operator, int64_t left, int64_t right) {
  switch (operator) {
  case '+': return (int64_t)((uint64_t)left + (uint64_t)right);
  case '-': return (int64_t)((uint64_t)left - (uint64_t)right);
  case '*': return (int64_t)((uint64_t)left * (uint64_t)right);
  case '/': return right ? left / right : 0;
  case '%': return right ? left % right : 0;
  default: return spinach_sum_holds(operator, left, right);
  }
}

static int64_t items_at(const spinach_sum_step *step) {
  if (step->type) return spinach_tally_sum(step);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < step->connection_count; i++) sum += spinach_tally_of(step->connections[i]);
  return (int64_t)sum;
}

static int64_t value_of(const spinach_sum_step *step) {
  switch (step->kind) {
  case 'n': return step->number;
  case 'c': return (int64_t)spinach_cycles(machine->instances[step->instance].clock);
  case 'p': return items_at(step);
  case 'e': return spinach_tally_of_event(step);
  default: return spinach_sum_elements(step, (uint8_t *)spinach_instance_state(step->instance) + step->field->offset);
  }
}

static int64_t sum_of(const spinach_sum_step *steps, uint32_t count) {
  g_autofree int64_t *stack = g_new(int64_t, count + 1);
  uint32_t depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (steps[i].kind != 'o') {
      stack[depth++] = value_of(&steps[i]);
    } else {
      depth--;
      stack[depth - 1] = operate(steps[i].operator, stack[depth - 1], stack[depth]);
    }
  }
  return depth ? stack[0] : 0;
}

static int64_t items_of(const spinach_sum_step *steps, uint32_t count) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += steps[i].kind == 'p' ? items_at(&steps[i]) : 0;
  return sum;
}

static bool is_counted(const spinach_sum_step *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (steps[i].kind == 'p' || steps[i].kind == 'e') return true;
  return false;
}

// Whether it holds what is counted from the beginning on.
static bool has_items(const spinach_balance *balance) {
  return is_counted(balance->left, balance->left_count) || is_counted(balance->right, balance->right_count);
}

// Whether it bounds what is counted, `hits <= in.request`.  Where counting begins in the middle of a run, that says
// nothing: what is counted on one side may have been counted on the other before.
static bool is_bound(const spinach_balance *balance) {
  return balance->relation != '=' && has_items(balance);
}

// ---- Beginning -----------------------------------------------------------------------------------------------------

static int64_t inside(const spinach_balance *balance) {
  const int64_t items = -offsets[balance - machine->balances];
  return items > 0 ? items : 0;
}

void spinach_balance_begin(void) {
  if (!machine->balance_count) return;
  spinach_update_statistics();
  if (!offsets) offsets = g_new0(int64_t, machine->balance_count);
  spinach_tally_begin(inside);
  in_the_middle = false;
  for (uint32_t c = 0; c < machine->clock_count; c++) in_the_middle |= spinach_cycles((int32_t)c) > 0;
  for (uint32_t i = 0; i < machine->balance_count; i++) {
    const spinach_balance *b = &machine->balances[i];
    if (has_items(b) && !is_bound(b)) offsets[i] = sum_of(b->left, b->left_count) - sum_of(b->right, b->right_count);
  }
  spinach_tally_begin(inside);
}

void spinach_balance_disturb(void) {
  disturbed = true;
}

bool spinach_balance_is_disturbed(void) {
  return disturbed;
}

// ---- Comparing -----------------------------------------------------------------------------------------------------

static const char *relation_text(char relation) {
  switch (relation) {
  case '=': return "is not";
  case '<': return "is not less than";
  case '>': return "is not more than";
  case 'l': return "is more than";
  default: return "is less than";
  }
}

static void print_lane(GString *text, const spinach_balance *balance) {
  if (balance->lane >= 0) g_string_append_printf(text, " (lane %d)", balance->lane);
}

// What is wrong with an account of items.
static void describe_items(GString *text, const spinach_balance *balance, int64_t missing, int64_t left,
                           int64_t right) {
  const int64_t in = items_of(balance->left, balance->left_count), out = items_of(balance->right, balance->right_count);
  const unsigned long long many = missing < 0 ? -(uint64_t)missing : (uint64_t)missing;
  if (missing > 0)
    g_string_append_printf(text, "%llu item%s in that neither left nor %s held", many, many == 1 ? "" : "s",
                           many == 1 ? "is" : "are");
  else
    g_string_append_printf(text, "%llu item%s out or held that never came in", many, many == 1 ? "" : "s");
  print_lane(text, balance);
  g_string_append_printf(text, ": %" PRId64 " in, %" PRId64 " out", in, out);
  if (right != out) g_string_append_printf(text, ", %" PRId64 " held or dropped", right - out);
  if (left != in) g_string_append_printf(text, ", %" PRId64 " made or awaited", left - in);
  g_string_append_printf(text, " (%s)", balance->text);
}

// What is wrong, or NULL; the caller frees it.
static char *error_of(uint32_t number) {
  const spinach_balance *b = &machine->balances[number];
  const int64_t left = sum_of(b->left, b->left_count), right = sum_of(b->right, b->right_count);
  if (b->suspected || (in_the_middle && is_bound(b)) || spinach_sum_holds(b->relation, left - offsets[number], right))
    return NULL;
  const char *path = machine->instances[b->instance].path;
  GString *text = g_string_new(path);
  if (*path) g_string_append(text, ": ");
  if (b->conserves)
    describe_items(text, b, left - offsets[number] - right, left, right);
  else
    g_string_append_printf(text, "the identity %s does not hold: %" PRId64 " %s %" PRId64, b->text,
                           left - offsets[number], relation_text(b->relation), right);
  return g_string_free(text, FALSE);
}

bool spinach_balance_check(void) {
  if (!machine->balance_count || disturbed) return true;
  spinach_update_statistics();
  if (machine->debug) spinach_tally_complete();
  int lines = 0;
  for (uint32_t i = 0; i < machine->balance_count && lines < MOST_LINES; i++) {
    g_autofree char *text = error_of(i);
    if (!text) continue;
    fflush(stdout);
    fprintf(stderr, "%s: error: %s (at %llu ns)\n", spinach_program, text, (unsigned long long)spinach_now_ns());
    spinach_set_error(text);
    lines++;
  }
  return lines == 0;
}

static bool is_of_state(const spinach_sum_step *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (strchr("cpe", steps[i].kind) || (steps[i].kind == 'f' && steps[i].field->statistic)) return false;
  return true;
}

char *spinach_balance_broken(int32_t instance) {
  for (uint32_t i = 0; i < machine->balance_count; i++) {
    const spinach_balance *b = &machine->balances[i];
    const bool meant = b->instance == instance && !b->conserves && !b->suspected && b->relation != '=';
    if (!meant || !is_of_state(b->left, b->left_count) || !is_of_state(b->right, b->right_count)) continue;
    char *text = error_of(i);
    if (text) return text;
  }
  return NULL;
}

void spinach_balance_note(void) {
  for (uint32_t i = 0; i < machine->balance_count && !disturbed; i++) {
    const spinach_balance *b = &machine->balances[i];
    if (!b->suspected) continue;
    const int64_t in = sum_of(b->left, b->left_count), out = sum_of(b->right, b->right_count), missing = in - out;
    if (missing <= 0 || (uint64_t)missing <= b->room) continue;
    fprintf(stderr,
            "%s: note: %s: %" PRId64 " items in that neither left nor are held: %" PRId64 " in, %" PRId64
            " out, and its state has room for %" PRIu64 " (its module may say `conserves in, out, held COUNT, dropped "
            "STATISTIC;`)\n",
            spinach_program, machine->instances[b->instance].path, missing, in, out, b->room);
  }
}
