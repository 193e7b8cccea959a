// Behaviour: the functions of leaf instances, with the signals that they read and write expanded lane by lane.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

#include <string.h>

// A signal as written, taken apart.
typedef struct {
  Expr *expr;
  Expr *index; // the [..] in it, or NULL
  PortMember *member;
  Local *local;
  SignalKind kind;
  int width; // lanes there are; 1 for single locals
} Parsed;

static const char *const kind_names[] = {"data", "enable", "ack"};

static PortMember *find_member(PortDecl *decl, const char *path) {
  for (guint i = 0; i < decl->members->len; i++) {
    PortMember *member = decl->members->pdata[i];
    if (!strcmp(member->path ? member->path : "", path)) return member;
  }
  return NULL;
}

static bool parse_local(Symbol *symbol, GPtrArray *names, Parsed *parsed) {
  parsed->local = symbol->local;
  parsed->kind = SIGNAL_LOCAL;
  parsed->width = symbol->local->lanes;
  if (names->len > 0) {
    problem(parsed->expr->location, "signal", "`%s` is a local; it has no .%s", symbol->name,
            ((Expr *)names->pdata[0])->text);
    return false;
  }
  return true;
}

static bool parse_signal(Inst *inst, Expr *expr, Parsed *parsed) {
  *parsed = (Parsed){.expr = expr};
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  Expr *at = expr;
  for (; at->kind == EXPR_FIELD || at->kind == EXPR_INDEX || at->kind == EXPR_INDEX_ALL || at->kind == EXPR_INDEX_RANGE;
       at = at->left) {
    if (at->kind == EXPR_FIELD) {
      g_ptr_array_insert(names, 0, at);
    } else if (parsed->index) {
      problem(at->location, "signal", "a signal has one index, its lane");
      return false;
    } else {
      parsed->index = at;
    }
  }
  Symbol *symbol = at->kind == EXPR_NAME ? scope_find(inst->scope, at->text) : NULL;
  if (!symbol || (symbol->kind != SYMBOL_PORT && symbol->kind != SYMBOL_LOCAL)) {
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < inst->port_list->len; i++)
      g_ptr_array_add(known, (gpointer)((PortDecl *)inst->port_list->pdata[i])->name);
    for (guint i = 0; i < inst->instance->locals->len; i++)
      g_ptr_array_add(known, (gpointer)((Local *)inst->instance->locals->pdata[i])->name);
    const char *near = at->kind == EXPR_NAME ? diag_suggestion(at->text, known) : NULL;
    problem(at->location, "signal", "`%s` is neither a port nor a local of this module%s", expr_text(at),
            did_you_mean(near));
    return false;
  }
  if (symbol->kind == SYMBOL_LOCAL) return parse_local(symbol, names, parsed);
  PortDecl *decl = symbol->port;
  Expr *last = names->len ? names->pdata[names->len - 1] : NULL;
  int kind = -1;
  for (int k = 0; last && k < 3; k++)
    if (!strcmp(last->text, kind_names[k])) kind = k;
  if (kind < 0) {
    problem(expr->location, "signal", "`%s` names no signal; a signal of a port ends in .data, .enable or .ack",
            expr_text(expr));
    return false;
  }
  const char *path = "";
  for (guint i = 0; i + 1 < names->len; i++)
    path = arena_printf("%s%s%s", path, *path ? "." : "", ((Expr *)names->pdata[i])->text);
  parsed->kind = (SignalKind)kind;
  parsed->member = find_member(decl, path);
  if (!parsed->member) {
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < decl->members->len; i++)
      g_ptr_array_add(known, (gpointer)((PortMember *)decl->members->pdata[i])->path);
    if (!*path)
      problem(expr->location, "signal", "`%s` is a bundle; say which member, as in `%s.%s.%s`", decl->name, decl->name,
              decl->members->len ? ((PortMember *)decl->members->pdata[0])->path : "member", kind_names[kind]);
    else if (decl->is_bundle)
      problem(expr->location, "signal", "the bundle `%s` has no member `%s`%s", decl->bundle, path,
              did_you_mean(diag_suggestion(path, known)));
    else
      problem(expr->location, "signal", "the port `%s` is not a bundle; it has no member `%s`", decl->name, path);
    diag_note(decl->node->location, "declared here");
    return false;
  }
  parsed->width = (int)parsed->member->port->lanes->len;
  return true;
}

// A module reads what comes in and drives what goes out; acknowledgments go the other way.
static bool check_access(const Parsed *parsed, bool write) {
  if (!parsed->member) return true;
  Port *port = parsed->member->port;
  bool own = (parsed->kind == SIGNAL_ACK) != port->output;
  if (own == write) return true;
  const char *text = expr_text(parsed->expr);
  if (write)
    problem(parsed->expr->location, "signal",
            "`%s` is driven by the other end of the connection; a module writes the data and enable of its outports "
            "and the ack of its inports",
            text);
  else
    problem(
        parsed->expr->location, "signal",
        "`%s` is driven by this module itself; a function reads the data and enable of inports and the ack of outports",
        text);
  diag_note(port->location, "`%s` is declared here", port->name);
  return false;
}

static bool same_signals(const Signal *a, const Signal *b) {
  return a->kind == b->kind && a->port == b->port && a->local == b->local;
}

// Adds lanes that are not among the signals yet.
static void add_signals(GArray *signals, const Parsed *parsed, int first, int last) {
  Signal signal = {parsed->kind, parsed->member ? parsed->member->port : NULL, parsed->local, 0};
  const guint before = signals->len;
  bool repeated = false; // something names lanes of the same signal, so that each must be looked for
  for (guint i = 0; i < before && !repeated; i++) repeated = same_signals(&g_array_index(signals, Signal, i), &signal);
  for (signal.lane = first; signal.lane <= last; signal.lane++) {
    bool known = false;
    for (guint i = 0; repeated && i < before && !known; i++) {
      const Signal *other = &g_array_index(signals, Signal, i);
      known = same_signals(other, &signal) && other->lane == signal.lane;
    }
    if (!known) g_array_append_val(signals, signal);
  }
}

static bool add_lanes(Scope *scope, const Parsed *parsed, GArray *signals) {
  bool single = parsed->local && parsed->local->lanes == 0;
  int64_t first = 0, last = parsed->width - 1;
  const int64_t far = G_MAXINT32;
  if (single) {
    // A local declared with no lanes at all has no signals; a scalar has one.
    if (!g_ptr_array_find(compile->running->instance->locals, parsed->local, NULL)) return true;
    if (parsed->index) {
      problem(parsed->index->location, "signal", "`%s` is a single value; it has no lanes", parsed->local->name);
      return false;
    }
    add_signals(signals, parsed, 0, 0);
    return true;
  }
  if (parsed->index && parsed->index->kind == EXPR_INDEX) {
    const char *key = NULL;
    if (!evaluate_lane(scope, parsed->index->right, -far, far, &key, &first)) return false;
    if (key && parsed->local) {
      problem(parsed->index->location, "signal", "`%s` is a local; its lanes have no keys", parsed->local->name);
      return false;
    }
    if (key) {
      const PortDecl *decl = parsed->member->decl;
      first = lane_with_key(decl->inst, decl->name, parsed->member->path, key, parsed->index->location);
      if (first < 0) return false;
    }
    if (first < 0 || first >= parsed->width) {
      if (parsed->width == 0) return true; // an unconnected optional port
      problem(parsed->index->location, "index-range", "lane %d of `%s` does not exist; it has %d", (int)first,
              parsed->local ? parsed->local->name : parsed->member->port->name, parsed->width);
      return false;
    }
    last = first;
  } else if (parsed->index && parsed->index->kind == EXPR_INDEX_RANGE) {
    int64_t low = 0, high = last;
    if (parsed->index->right && !evaluate_int(scope, parsed->index->right, "the first lane", -far, far, &low))
      return false;
    if (parsed->index->third && !evaluate_int(scope, parsed->index->third, "the last lane", -far, far, &high))
      return false;
    first = MAX(low, 0);
    last = MIN(high, last);
  }
  if (last - first >= 0 && !charge((int)(last - first) + 1, parsed->expr->location)) return false;
  add_signals(signals, parsed, (int)first, (int)last);
  return true;
}

static bool expand_list(Inst *inst, Scope *scope, GPtrArray *exprs, bool write, Function *function) {
  GArray *signals = write ? function->writes : function->reads,
         **bare = write ? &function->bare_writes : &function->bare_reads;
  bool fine = true;
  for (guint i = 0; exprs && i < exprs->len; i++) {
    Parsed parsed;
    if (!parse_signal(inst, exprs->pdata[i], &parsed) || !check_access(&parsed, write)) {
      fine = false;
      continue;
    }
    const guint before = signals->len;
    fine &= add_lanes(scope, &parsed, signals);
    if (signals->len > before) continue;
    if (*bare == compile->nothing) *bare = arena_garray(sizeof(Signal));
    add_signals(*bare, &parsed, -1, -1);
  }
  return fine;
}

// The lanes over which an indexed handler runs: those of the ports and locals indexed by plain [i].
static int index_range(Inst *inst, Node *node) {
  int range = -1;
  Expr *first = NULL;
  GPtrArray *lists[] = {node->reads, node->writes};
  for (int l = 0; l < 2; l++) {
    for (guint i = 0; lists[l] && i < lists[l]->len; i++) {
      Parsed parsed;
      if (!parse_signal(inst, lists[l]->pdata[i], &parsed)) return -2;
      Expr *index = parsed.index;
      if (!index || index->kind != EXPR_INDEX || index->right->kind != EXPR_NAME ||
          strcmp(index->right->text, node->index_name) != 0)
        continue;
      int width = parsed.width;
      if (range >= 0 && range != width) {
        problem(index->location, "lane-count", "`%s` has %d lanes, but `%s` has %d; one index cannot run over both",
                expr_text(index->left), width, expr_text(first->left), range);
        return -2;
      }
      range = width;
      first = index;
    }
  }
  if (range < 0)
    problem(node->place, "signal", "no port of handler `%s` is indexed by plain [%s], so their number is not known",
            node->name, node->index_name);
  return range;
}

// In a crossing, a function belongs to the domain of the port that its signals name.
static void find_domain(Function *function, Node *node, bool crossing) {
  function->clock = function->instance->clock;
  if (!crossing) return;
  GArray *lists[] = {function->reads, function->writes};
  for (int l = 0; l < 2; l++) {
    for (guint i = 0; i < lists[l]->len; i++) {
      Port *port = g_array_index(lists[l], Signal, i).port;
      if (!port) continue;
      if (!function->domain_port) {
        function->domain_port = port;
        function->clock = port->clock;
      } else if (function->clock != port->clock) {
        problem(node->location, "clock-crossing", "`%s` names signals of two clock domains: `%s` and `%s`",
                function->name, function->domain_port->name, port->name);
        return;
      }
    }
  }
}

static Function *add_function(Inst *inst, Node *node, int lane) {
  Function *function = arena_new(Function);
  *function = (Function){.kind = node->function,
                         .name = node->name,
                         .partial = node->partial,
                         .indexed = node->index_name != NULL,
                         .lane = lane,
                         .reads = node->reads && node->reads->len ? arena_garray(sizeof(Signal)) : compile->nothing,
                         .writes = node->writes && node->writes->len ? arena_garray(sizeof(Signal)) : compile->nothing,
                         .bare_reads = compile->nothing,
                         .bare_writes = compile->nothing,
                         .instance = inst->instance,
                         .location = node->location};
  g_ptr_array_add(inst->instance->functions, function);
  return function;
}

static void expand_handler(Inst *inst, Node *node, bool crossing) {
  if (!node->index_name) {
    Function *function = add_function(inst, node, -1);
    expand_list(inst, inst->scope, node->reads, false, function);
    expand_list(inst, inst->scope, node->writes, true, function);
    find_domain(function, node, crossing);
    return;
  }
  int range = index_range(inst, node);
  for (int lane = 0; lane < range; lane++) {
    Scope *scope = scope_new(inst->scope, inst);
    Symbol *symbol = scope_declare(scope, SYMBOL_VALUE, node->index_name, node->place);
    symbol->value = value_int(lane, node->place);
    Function *function = add_function(inst, node, lane);
    bool fine = expand_list(inst, scope, node->reads, false, function);
    fine &= expand_list(inst, scope, node->writes, true, function);
    find_domain(function, node, crossing);
    scope_end(scope);
    if (!fine) return;
  }
}

static Port *domain_port(Inst *inst, Node *node) {
  Symbol *symbol = node->value->kind == EXPR_NAME ? scope_find(inst->scope, node->value->text) : NULL;
  if (symbol && symbol->kind == SYMBOL_PORT && symbol->port->members->len > 0)
    return ((PortMember *)symbol->port->members->pdata[0])->port;
  problem(node->value->location, "signal", "`%s` is not a port of this module", expr_text(node->value));
  return NULL;
}

static void check_always(Inst *inst, const Node *node) {
  for (guint i = 0; i < node->writes->len; i++) {
    Expr *expr = node->writes->pdata[i];
    Parsed parsed;
    if (!parse_signal(inst, expr, &parsed) || parsed.kind == SIGNAL_ACK || parsed.kind == SIGNAL_ENABLE) continue;
    problem(expr->location, "signal", "`%s` cannot always be true; only an enable or an ack can", expr_text(expr));
    return;
  }
}

// One that acts only at the start may be when it is text: the name of a file that is read all the time.
static bool may_be_reset(const Parameter *parameter) {
  return parameter->runtime && (!parameter->initial || !strcmp(parameter->type_name, "string"));
}

// `handler reset(x)` follows a run-time parameter of the module that may be set later.
static void expand_reset(Inst *inst, Node *node, Function *function) {
  const char *name = expr_text(node->value);
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; i < inst->instance->parameters->len; i++) {
    const Parameter *parameter = inst->instance->parameters->pdata[i];
    if (may_be_reset(parameter)) g_ptr_array_add(known, (gpointer)parameter->name);
    if (!strcmp(parameter->name, name)) function->parameter = parameter;
  }
  function->name = arena_printf("reset_%s", name);
  if (node->partial) problem(node->location, "misplaced", "a reset reads no signals; it cannot be partial");
  if (!function->parameter) {
    problem(node->value->location, "unknown-parameter", "`%s` is no parameter of this module%s", name,
            did_you_mean(diag_suggestion(name, known)));
  } else if (!may_be_reset(function->parameter)) {
    problem(node->value->location, "reset-parameter", "`%s` is %s: it is never set after the start of a run", name,
            function->parameter->initial ? "a `runtime init parameter`" : "no run-time parameter");
    diag_note(function->parameter->location, "declared here");
  }
}

static void expand_single(Inst *inst, Node *node, bool crossing) {
  Function *function = add_function(inst, node, -1);
  function->clock = inst->instance->clock;
  if (node->function == FUNCTION_ALWAYS && expand_list(inst, inst->scope, node->writes, true, function))
    check_always(inst, node);
  if (node->function == FUNCTION_PHASE_START) {
    expand_list(inst, inst->scope, node->writes, true, function);
    find_domain(function, node, crossing);
  }
  if (node->function == FUNCTION_RESET) expand_reset(inst, node, function);
  if (node->function != FUNCTION_PHASE_END && node->function != FUNCTION_NEXT_EVENT) return;
  if (node->value && !crossing) {
    problem(node->value->location, "misplaced", "only in a crossing does %s belong to a port", node->name);
  } else if (crossing && !node->value) {
    problem(node->location, "clock-crossing", "in a crossing, %s belongs to the domain of a port: `%s in;`", node->name,
            node->name);
  } else if (node->value) {
    function->domain_port = domain_port(inst, node);
    if (function->domain_port) function->clock = function->domain_port->clock;
    function->name = arena_printf("%s_%s", node->name, expr_text(node->value)); // `phase_end in;` is phase_end(in) in C
  }
}

static void check_repeated(Inst *inst, Node *node, guint before) {
  for (guint i = 0; i < before; i++) {
    Node *other = inst->behaviours->pdata[i];
    if (other->function != node->function || node->function == FUNCTION_HANDLER || node->function == FUNCTION_ALWAYS)
      continue;
    const bool differ = node->value && other->value && strcmp(expr_text(node->value), expr_text(other->value)) != 0;
    if (node->function == FUNCTION_RESET
            ? differ
            : inst->instance->leaf->crossing && (node->function == FUNCTION_PHASE_START || differ))
      continue;
    problem(node->location, "duplicate-name", "`%s` is declared twice", node->name);
    diag_note(other->location, "first declared here");
    return;
  }
}

static void note_enable_writers(Inst *inst) {
  for (guint f = 0; f < inst->instance->functions->len; f++) {
    Function *function = inst->instance->functions->pdata[f];
    for (guint i = 0; i < function->writes->len; i++) {
      Signal *signal = &g_array_index(function->writes, Signal, i);
      if (signal->kind == SIGNAL_ENABLE) signal->port->drives_enable = true;
    }
  }
}

void expand_behaviour(void) {
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (!inst->instance->leaf) continue;
    compile->running = inst;
    bool crossing = inst->instance->leaf->crossing;
    for (guint k = 0; k < inst->behaviours->len; k++) {
      Node *node = inst->behaviours->pdata[k];
      check_repeated(inst, node, k);
      if (node->function == FUNCTION_HANDLER)
        expand_handler(inst, node, crossing);
      else
        expand_single(inst, node, crossing);
    }
    note_enable_writers(inst);
  }
  compile->running = NULL;
}
