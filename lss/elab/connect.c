// Connections as they are made: which lanes of which ports.  Whether the ports exist, in which direction they go and
// what they carry is found out when the connected instances' bodies have run (join.c).
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

#include <string.h>

enum { MAX_LANES = 1 << 16 };

// A connection's end before lanes are taken.
typedef enum { LANE_APPEND, LANE_ONE, LANE_ALL, LANE_KEY } LaneChoice;

typedef struct {
  Inst *inst;
  bool own;
  const char *port, *member;
  LaneChoice choice;
  int64_t lane;
  const char *key;
  GPtrArray *insts; // `cpu[*].memory`: one lane of each
  Expr *expr;
} Target;

static Use *use_of(Inst *inst, bool own, const char *port, const char *member, bool create) {
  GPtrArray **uses = own ? &inst->inner : &inst->outer;
  for (guint i = 0; *uses && i < (*uses)->len; i++) {
    Use *use = (*uses)->pdata[i];
    if (!strcmp(use->port, port) && !g_strcmp0(use->member, member)) return use;
  }
  if (!create) return NULL;
  Use *use = arena_new(Use);
  use->port = port;
  use->member = member;
  if (!*uses) *uses = arena_array();
  g_ptr_array_add(*uses, use);
  return use;
}

Use *find_use(Inst *inst, bool own, const char *port, const char *member) {
  return use_of(inst, own, port, member, false);
}

// Lanes made from outside: of the whole port, or of the member that has most.
static int outer_width(Inst *inst, const char *port, const char *member, Location where) {
  int width = 0;
  for (guint i = 0; inst->outer && i < inst->outer->len; i++) {
    Use *use = inst->outer->pdata[i];
    if (strcmp(use->port, port) != 0 || (member && use->member && strcmp(use->member, member) != 0)) continue;
    width = MAX(width, use->width);
    use->was_read = true;
    use->read_place = where;
  }
  return width;
}

int port_width(Inst *inst, bool own, const char *port, const char *member, Location where) {
  if (!own && !use_of(inst, false, port, member, false)) {
    // Reading fixes the width: nothing may be appended later.
    Use *use = use_of(inst, false, port, NULL, true);
    use->was_read = true;
    use->read_place = where;
  }
  return outer_width(inst, port, member, where);
}

static bool find_target(Scope *scope, Expr *expr, Target *target) {
  // Peel from the right: members and lanes, down to what names an instance or an own port.
  *target = (Target){.expr = expr};
  Expr *index = NULL;
  Expr *at = expr;
  g_autoptr(GPtrArray) names = g_ptr_array_new(); // fields, innermost last
  while (at->kind == EXPR_FIELD || at->kind == EXPR_INDEX || at->kind == EXPR_INDEX_ALL ||
         at->kind == EXPR_INDEX_RANGE) {
    // What is on the left may already be an instance: `cpu[i]`, where the index is not a lane.
    if (at->kind != EXPR_FIELD) {
      Expr *base = at->left;
      Symbol *symbol = base->kind == EXPR_NAME ? scope_find(scope, base->text) : NULL;
      if (symbol && symbol->kind == SYMBOL_INSTANCES) break;
      if (index) {
        problem(at->location, "value-type", "a connection names one lane");
        return false;
      }
      if (symbol && symbol->kind == SYMBOL_INSTANCE) {
        problem(at->location, "index-range", "`%s` is a single instance, not an array", base->text);
        diag_note(symbol->place, "declared here");
        return false;
      }
      index = at;
    } else {
      g_ptr_array_insert(names, 0, at);
    }
    at = at->left;
  }
  guint next = 0;
  if (at->kind == EXPR_INDEX_ALL) {
    Operand all = resolve(scope, at->left);
    if (all.kind == OPERAND_NONE) return false;
    target->insts = all.insts;
  } else {
    Operand base = resolve(scope, at);
    if (base.kind == OPERAND_NONE) return false;
    if (base.kind == OPERAND_INSTANCE) {
      target->inst = base.inst;
    } else if (base.kind == OPERAND_PORT && base.own) {
      target->inst = base.inst;
      target->own = true;
      target->port = base.port;
    } else if (base.kind == OPERAND_INSTANCES) {
      problem(at->location, "value-type", "`%s` is an array of instances; say which one, or all with [*]",
              expr_text(at));
      return false;
    } else {
      problem(expr->location, "value-type", "`%s` is not a port", expr_text(expr));
      return false;
    }
  }
  if (!target->port) {
    if (names->len == 0) {
      problem(expr->location, "value-type", "`%s` is an instance; a connection names one of its ports",
              expr_text(expr));
      return false;
    }
    target->port = ((Expr *)names->pdata[next++])->text;
  }
  for (; next < names->len; next++) {
    const char *name = ((Expr *)names->pdata[next])->text;
    target->member = target->member ? arena_printf("%s.%s", target->member, name) : name;
  }
  if (!index) return true;
  if (index->kind == EXPR_INDEX_RANGE) {
    problem(index->location, "value-type", "a connection names one lane [i] or all [*], not a range");
    return false;
  }
  target->choice = index->kind == EXPR_INDEX_ALL ? LANE_ALL : LANE_ONE;
  if (target->choice == LANE_ALL) return true;
  if (!evaluate_lane(scope, index->right, 0, MAX_LANES - 1, &target->key, &target->lane)) return false;
  if (target->key) target->choice = LANE_KEY;
  return true;
}

// How many lanes a target has by itself; -1 when that is not known.
static int64_t count_of(Target *target, Location where) {
  if (target->insts) return target->insts->len;
  if (target->choice != LANE_ALL) return 1;
  if (target->own) return outer_width(target->inst, target->port, target->member, where);
  return -1;
}

// The key that the lane made at the other end of `source`, `[*]` of an own keyed port, is given too.
static const char *inherited_key(const Target *source, int64_t number) {
  if (!source->own || source->choice != LANE_ALL) return NULL;
  const PortDecl *decl = find_declared_port(source->inst, source->port);
  return decl && decl->node->keyed ? lane_key(source->inst, source->port, source->member, (int)number) : NULL;
}

static bool one_way(const Target *target, const Use *use, LaneMode mode, Location where) {
  static const char *const ways[] = {NULL, "appended", "named by index", "named by key"};
  static const char *const words[] = {NULL, "appended", "indexed", "keyed"};
  if (use->mode == LANES_UNUSED || use->mode == mode) return true;
  problem(where, "mixed-lanes", "lanes of `%s` are both %s and %s", expr_text(target->expr), ways[MIN(use->mode, mode)],
          ways[MAX(use->mode, mode)]);
  diag_note(use->first, "first %s here", words[use->mode]);
  return false;
}

// The number of the lane that a target means: for one that is to be made, the next.
static int64_t lane_of(const Target *target, Inst *inst, const Use *use, LaneMode mode, int64_t number) {
  if (target->own && target->key)
    return lane_with_key(inst, target->port, target->member, target->key, target->expr->location);
  if (mode != LANES_INDEXED) return use->width;
  if (target->choice != LANE_ALL) return target->lane;
  return target->insts ? 0 : number;
}

static bool make_lane(Target *target, const char *key, int64_t number, Location where, End *end) {
  Inst *inst = target->insts ? target->insts->pdata[number] : target->inst;
  Use *use = use_of(inst, target->own, target->port, target->member, true);
  if (target->key) key = target->key;
  if (target->choice == LANE_ONE || (target->own && !target->key)) key = NULL;
  LaneMode mode = key && !target->own ? LANES_KEYED : target->choice == LANE_APPEND ? LANES_APPENDED : LANES_INDEXED;
  if (!one_way(target, use, mode, where)) return false;
  const int64_t lane = lane_of(target, inst, use, mode, number);
  if (lane < 0) return false;
  if (use->was_read && !target->own && lane >= use->width) {
    problem(where, "set-after-read", "`%s` gets another connection after its width was read", expr_text(target->expr));
    diag_note(use->read_place, "read here");
    return false;
  }
  if (lane >= MAX_LANES) {
    problem(where, "runaway", "`%s` has more than %d lanes", expr_text(target->expr), MAX_LANES);
    compile->halted = true;
    return false;
  }
  if (use->mode == LANES_UNUSED) use->first = where;
  use->mode = mode;
  if (mode == LANES_KEYED) use_add_key(use, key, where);
  use->width = MAX(use->width, (int)lane + 1);
  *end = (End){.inst = inst,
               .own = target->own,
               .port = target->port,
               .member = target->member,
               .lane = (int)lane,
               .place = target->expr->location};
  return true;
}

// Makes the connections between two targets, a lane each.
static void connect(Target *from, Target *to, Location where, Term *annotation) {
  int64_t left = count_of(from, where), right = count_of(to, where);
  if (left < 0 && right < 0) {
    problem(where, "lane-count", "neither side of this connection has a known number of lanes");
    diag_note(NOWHERE, "[*] takes all lanes of one of the module's own ports, or of an array of instances");
    return;
  }
  bool left_many = from->insts || from->choice == LANE_ALL, right_many = to->insts || to->choice == LANE_ALL;
  int64_t count = left_many && left >= 0 ? left : right_many && right >= 0 ? right : 1;
  // A single side is repeated only when it is appended to.
  bool left_fits = left < 0 || left == count || (!left_many && from->choice == LANE_APPEND);
  bool right_fits = right < 0 || right == count || (!right_many && to->choice == LANE_APPEND);
  if (!left_fits || !right_fits) {
    problem(where, "lane-count", "`%s` has %d lane%s, `%s` has %d", expr_text(from->expr), (int)left,
            left == 1 ? "" : "s", expr_text(to->expr), (int)right);
    if (from->key || to->key)
      diag_note(NOWHERE, "a key names one lane; connect the others in a loop, each with its own");
    return;
  }
  for (int64_t i = 0; i < count && charge(1, where); i++) {
    Link *link = arena_new(Link);
    link->level = compile->running;
    link->annotation = annotation;
    link->location = where;
    if (!make_lane(from, inherited_key(to, i), i, where, &link->from) ||
        !make_lane(to, inherited_key(from, i), i, where, &link->to))
      return;
    g_ptr_array_add(compile->links, link);
  }
}

void connect_whole(Inst *inner, const PortDecl *port, Location where) {
  Expr *own = expr_new(EXPR_NAME, where), *instance = expr_new(EXPR_NAME, where), *field = expr_new(EXPR_FIELD, where);
  own->text = field->text = port->name;
  instance->text = inner->instance->name;
  field->left = instance;
  field->place = where;
  Target outside = {.inst = port->inst, .own = true, .port = port->name, .choice = LANE_ALL, .expr = own};
  Target inside = {.inst = inner, .port = port->name, .expr = field};
  if (port->output)
    connect(&inside, &outside, where, NULL);
  else
    connect(&outside, &inside, where, NULL);
}

// `a.out -> b.in, c.in;` is the same as `a.out -> b.in; a.out -> c.in;`, each reported at its receiver.
void execute_connection(Scope *scope, Node *node) {
  Target from;
  bool fine = find_target(scope, node->target, &from);
  Term *annotation = node->type ? evaluate_term(scope, node->type) : NULL;
  bool several = node->receivers->len > 1;
  for (guint i = 0; i < node->receivers->len; i++) {
    Expr *receiver = node->receivers->pdata[i];
    Target to;
    if (!find_target(scope, receiver, &to) || !fine || compile->halted) continue;
    connect(&from, &to, several ? receiver->location : node->location, annotation);
  }
}
