// A stack of functions for each processor, and a tree of all that were on it; see call_tree.h.
#include "lss/runtime/trace/call_tree.h"

#include "lss/runtime/text/known_isas.h"

#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 256 }; // a recursion that goes deeper counts in one function

typedef struct {
  CallNode *node;
  guint32 back; // address to return to
} Frame;

struct CallTree {
  const Isa *isa; // NULL: not known
  GPtrArray *nodes;
  Frame frames[DEEPEST];
  guint depth;     // frames[0] is of what nobody called
  IsaFlow pending; // how the next instruction behind the delay slots was reached
  guint32 delay, back;
  CallNode *caller; // of a pending call
  CallNode *here;   // where the latest instruction belongs
};

static CallNode *child_of(CallTree *tree, CallNode *parent, const char *function, bool inlined) {
  for (CallNode *child = parent->children; child; child = child->next)
    if (child->function == function && child->inlined == inlined) return child;
  CallNode *child = g_new0(CallNode, 1);
  *child = (CallNode){
      .function = function, .inlined = inlined, .parent = parent, .next = parent->children, .number = tree->nodes->len};
  parent->children = child;
  g_ptr_array_add(tree->nodes, child);
  return child;
}

CallTree *call_tree_new(const char *isa) {
  CallTree *tree = g_new0(CallTree, 1);
  tree->isa = known_isa(isa);
  tree->nodes = g_ptr_array_new();
  g_ptr_array_add(tree->nodes, g_new0(CallNode, 1));
  tree->here = tree->frames[0].node = tree->nodes->pdata[0];
  tree->depth = 1;
  return tree;
}

static Frame *top(CallTree *tree) {
  return &tree->frames[tree->depth - 1];
}

static void enter(CallTree *tree, const char *function) {
  if (tree->depth == DEEPEST) return;
  const Frame frame = {child_of(tree, tree->caller, function, false), tree->back};
  frame.node->calls++;
  tree->frames[tree->depth++] = frame;
}

static void leave(CallTree *tree, guint32 pc) {
  for (guint i = tree->depth; i-- > 1;) {
    if (tree->frames[i].back != pc) continue;
    tree->depth = i;
    return;
  }
}

CallNode *call_tree_here(CallTree *tree) {
  return tree->here;
}

const GPtrArray *call_tree_nodes(CallTree *tree) {
  return tree->nodes;
}

// Where an instruction belongs within the function on top of the stack.
static CallNode *within(CallTree *tree, CallNode *node, const CodePlace *place) {
  for (guint i = place->inlined_count; i-- > 0;) node = child_of(tree, node, place->inlined[i].function, true);
  return node;
}

CallNode *call_tree_follow(CallTree *tree, guint32 pc, guint32 word, guint32 value, const CodePlace *place) {
  const char *function = place->function ? place->function : "";
  if (tree->pending != ISA_FLOW_OTHER && tree->delay-- == 0) {
    if (tree->pending == ISA_FLOW_CALL && pc != tree->back) enter(tree, function);
    if (tree->pending == ISA_FLOW_RETURN) leave(tree, pc);
    tree->pending = ISA_FLOW_OTHER;
  }
  CallNode *node = top(tree)->node;
  if (node->function != function) {
    node = child_of(tree, node->parent ? node->parent : node, function, false);
    node->calls++;
    if (tree->depth == 1) tree->frames[tree->depth++] = (Frame){.back = 1}; // an address that no return attends
    top(tree)->node = node;
  }
  tree->here = within(tree, node, place);
  tree->here->instructions++;
  const IsaFlow kind = tree->isa ? tree->isa->flow(word) : ISA_FLOW_OTHER;
  if (kind != ISA_FLOW_OTHER) {
    tree->pending = kind;
    tree->delay = tree->isa->delay_slots;
    tree->back = value;
    tree->caller = tree->here;
  }
  return tree->here;
}
