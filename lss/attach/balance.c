// Balances: what a module says of its items and its statistics.  `conserves in, out, held count;` is an account of
// items at ports, `identity hits + misses == accesses;` one of statistics and state.  Both become two sums that are
// compared when a run is looked at: at its end, in its checkpoints.  `makes out;` and `consumes in;` name ports without
// account.
#include "lss/attach/balance.h"
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

// A balance at work, whose steps grow in arrays that are used again: what is kept of them has no room to spare.
static GArray *growing[2];

static Balance *balance_new(const Attached *attached, const char *text) {
  Balance *balance = arena_new(Balance);
  for (int side = 0; side < 2; side++) {
    if (!growing[side]) growing[side] = g_array_new(FALSE, TRUE, sizeof(BalanceStep));
    g_array_set_size(growing[side], 0);
  }
  *balance = (Balance){.instance = attached->inst->instance,
                       .doc = attached->node->doc,
                       .text = text,
                       .left = growing[0],
                       .right = growing[1],
                       .relation = OP_EQ,
                       .lane = -1,
                       .location = attached->node->location};
  return balance;
}

static GArray *kept(const GArray *steps) {
  const gsize size = steps->len * sizeof(BalanceStep);
  GArray *copy = arena_alloc(sizeof *copy);
  *copy = (GArray){arena_alloc(size), steps->len};
  memcpy(copy->data, steps->data, size);
  return copy;
}

static void balance_keep(Balance *balance) {
  balance->left = kept(balance->left);
  balance->right = kept(balance->right);
  g_ptr_array_add(compile->netlist->balances, balance);
}

// ---- Identities ----------------------------------------------------------------------------------------------------

static bool names_port(const GArray *steps) {
  for (guint i = 0; i < steps->len; i++)
    if (g_array_index(steps, BalanceStep, i).kind == 'p') return true;
  return false;
}

// Whether it holds what debug builds count.
static bool counts_in_debug(const GArray *steps) {
  for (guint i = 0; i < steps->len; i++)
    if (g_array_index(steps, BalanceStep, i).kind == 'e') return true;
  return names_port(steps);
}

static bool is_relation(const Expr *expr) {
  return expr->kind == EXPR_BINARY &&
         (expr->op == OP_EQ || expr->op == OP_LE || expr->op == OP_GE || expr->op == '<' || expr->op == '>');
}

static void attach_identity(const Attached *attached) {
  Expr *expr = attached->node->value;
  if (!is_relation(expr)) {
    problem(expr->location, "value-type", "an identity compares two sums, as in `hits + misses == requests`");
    return;
  }
  Balance *balance = balance_new(attached, expr_text(expr));
  balance->relation = expr->op;
  if (!balance_add(attached->scope, balance, expr->left, balance->left) ||
      !balance_add(attached->scope, balance, expr->right, balance->right))
    return;
  balance->debug = counts_in_debug(balance->left) || counts_in_debug(balance->right);
  balance_keep(balance);
}

// ---- Conservation --------------------------------------------------------------------------------------------------

// The name by which ports are indexed lane by lane, `in[i]`; NULL without one.
static const char *index_name(Scope *scope, const Node *node) {
  for (guint i = 0; i < node->body->len; i++) {
    const Node *part = node->body->pdata[i];
    for (const Expr *at = part->name ? NULL : part->value; at; at = at->left)
      if (at->kind == EXPR_INDEX && at->right->kind == EXPR_NAME && !scope_find(scope, at->right->text))
        return at->right->text;
  }
  return NULL;
}

// The lanes of the ports that are indexed by that name, which must be as many; -1 after an error.
static int lanes_of(const Attached *attached, const char *index) {
  int lanes = -1;
  for (guint i = 0; i < attached->node->body->len; i++) {
    const Node *part = attached->node->body->pdata[i];
    const Expr *lane = NULL;
    Port *port = part->name ? NULL : balance_port(attached->inst, part->value, &lane, true);
    if (!part->name && !port) return -1;
    if (!lane || lane->kind != EXPR_NAME || strcmp(lane->text, index) != 0) continue;
    const int width = (int)port->lanes->len;
    if (lanes >= 0 && lanes != width) {
      problem(part->location, "index-range", "`%s` and a port before it have %d and %d lanes: one index goes over both",
              port->name, width, lanes);
      return -1;
    }
    lanes = width;
  }
  return lanes;
}

// Items at a port, of which a balance has some lanes; false after an error.
static bool add_port(Scope *scope, Balance *balance, const Node *part, Inst *inst) {
  const Expr *lane;
  Port *port = balance_port(inst, part->value, &lane, true);
  if (!port) return false;
  GArray *sum = port->output ? balance->right : balance->left;
  int64_t first = 0, last = (int64_t)port->lanes->len - 1;
  if (lane) {
    if (!evaluate_int(scope, (Expr *)lane, "the lane", 0, last, &first)) return false;
    last = first;
  }
  const BalanceStep step = {.kind = 'p', .port = port, .first = (guint)first, .count = (guint)(last + 1 - first)};
  g_array_append_val(sum, step);
  if (sum->len > 1) balance_operator(sum, '+');
  return true;
}

// The side of the account on which a term stands: what is there or gone is on the right, as what left.
static GArray *side_of(Balance *balance, const char *word) {
  return !strcmp(word, "made") || !strcmp(word, "awaited") ? balance->left : balance->right;
}

static bool add_term(Scope *scope, Balance *balance, const Node *part) {
  if (!part->value) return balance->altered = true;
  GArray *sum = side_of(balance, part->name);
  const bool first = sum->len == 0;
  if (!balance_add(scope, balance, part->value, sum)) return false;
  if (!first) balance_operator(sum, '+');
  if (!strcmp(part->name, "made")) balance->altered = true; // an item may be there twice
  return true;
}

// How many lanes of ports a sum has.
static guint lane_count(const GArray *steps) {
  guint lanes = 0;
  for (guint i = 0; i < steps->len; i++)
    if (g_array_index(steps, BalanceStep, i).kind == 'p') lanes += g_array_index(steps, BalanceStep, i).count;
  return lanes;
}

// Whether all that comes and goes is of one type.
static bool one_type(const Balance *balance) {
  const Type *type = NULL;
  const GArray *sides[] = {balance->left, balance->right};
  for (int s = 0; s < 2; s++)
    for (guint i = 0; i < sides[s]->len; i++) {
      const BalanceStep *step = &g_array_index(sides[s], BalanceStep, i);
      if (step->kind != 'p' || !step->count) continue;
      if (type && step->port->type != type) return false;
      type = step->port->type;
    }
  return true;
}

static void conserve(Scope *scope, const Attached *attached, int lane) {
  const Node *node = attached->node;
  Balance *balance = balance_new(attached, node_conserved_text(node));
  balance->conserves = balance->debug = true;
  balance->lane = lane;
  for (guint i = 0; i < node->body->len; i++) {
    const Node *part = node->body->pdata[i];
    if (!part->name && !add_port(scope, balance, part, attached->inst)) return;
  }
  for (guint i = 0; i < node->body->len; i++) {
    const Node *part = node->body->pdata[i];
    if (part->name && !add_term(scope, balance, part)) return;
  }
  if (!balance->left->len || !balance->right->len) {
    problem(node->location, "conservation", "something comes in and something leaves what is conserved: this has %s",
            balance->left->len ? "nothing that leaves" : "nothing that comes in");
    return;
  }
  balance->contents = !balance->altered && one_type(balance);
  // What is sent where nothing is connected is discarded, and nothing comes from there.
  if (names_port(balance->left) != (lane_count(balance->left) > 0) ||
      names_port(balance->right) != (lane_count(balance->right) > 0))
    return;
  balance_keep(balance);
}

static void account_for(const Attached *attached) {
  const char *word = attached->node->name;
  for (guint i = 0; i < attached->node->body->len; i++) {
    const Node *part = attached->node->body->pdata[i];
    const Expr *lane;
    if (part->name) continue;
    Port *port = balance_port(attached->inst, part->value, &lane, !strcmp(word, "conserves"));
    if (!port) return;
    port->accounted = true;
  }
}

static void attach_conservation(const Attached *attached) {
  const int errors = diag_error_count();
  if (!attached->inst->instance->leaf) {
    problem(attached->node->location, "misplaced",
            "`%s` is said by a module that has behaviour, not by one of instances", attached->node->name);
    return;
  }
  account_for(attached);
  if (diag_error_count() > errors || strcmp(attached->node->name, "conserves") != 0) return;
  const char *index = index_name(attached->scope, attached->node);
  if (!index) {
    conserve(attached->scope, attached, -1);
    return;
  }
  const int lanes = lanes_of(attached, index);
  for (int lane = 0; lane < lanes; lane++) {
    Scope *inner = scope_new(attached->scope, NULL);
    Symbol *symbol = scope_declare(inner, SYMBOL_VALUE, index, attached->node->location);
    symbol->value = value_int(lane, attached->node->location);
    conserve(inner, attached, lane);
    scope_end(inner);
    if (diag_error_count() > errors) return;
  }
}

// ---- Modules that do not say it ------------------------------------------------------------------------------------

// Bytes in which a module may hold items.
static guint64 room_of(const Instance *leaf) {
  guint64 bytes = 0;
  for (guint i = 0; i < leaf->state->len; i++) {
    const StateField *field = leaf->state->pdata[i];
    if (field->kind == STATE_COUNTER || field->kind == STATE_TRACE) continue;
    guint64 count = 1;
    for (guint d = 0; d < field->dimensions->len; d++) count *= (guint64)g_array_index(field->dimensions, int, d);
    bytes += count * type_size(field->type, NULL);
  }
  return bytes;
}

// A module with one input and one output of one type that says nothing of them probably passes items on.
static void suspect(Instance *leaf) {
  Port *in = NULL, *out = NULL;
  for (guint i = 0; i < leaf->ports->len; i++) {
    Port *port = leaf->ports->pdata[i], **place = port->output ? &out : &in;
    if (port->accounted || *place) return;
    *place = port;
  }
  if (!in || !out || in->type != out->type || !in->lanes->len || !out->lanes->len) return;
  const Attached attached = {&(Node){.location = leaf->location}, &(Inst){.instance = leaf}, NULL};
  Balance *balance = balance_new(&attached, NULL);
  balance->debug = balance->suspected = true;
  balance->room = room_of(leaf) / MAX(type_size(in->type, NULL), 1);
  const BalanceStep left = {.kind = 'p', .port = in, .count = in->lanes->len},
                    right = {.kind = 'p', .port = out, .count = out->lanes->len};
  g_array_append_val(balance->left, left);
  g_array_append_val(balance->right, right);
  balance_keep(balance);
}

void attach_balances(void) {
  for (guint i = 0; i < compile->balances->len; i++) {
    const Attached *attached = compile->balances->pdata[i];
    compile->running = attached->inst;
    if (attached->node->kind == NODE_IDENTITY)
      attach_identity(attached);
    else
      attach_conservation(attached);
  }
  compile->running = NULL;
  for (guint i = 0; i < compile->netlist->leaves->len; i++) suspect(compile->netlist->leaves->pdata[i]);
}
