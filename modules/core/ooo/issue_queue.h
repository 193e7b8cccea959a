// issue_queue.h: what userpoints of issue queues may use; see issue_queue.lss.
#ifndef ISSUE_QUEUE_H
#define ISSUE_QUEUE_H

#include "core/ooo/places.h"

// Whether something is a load or store.
static inline bool operation_moves(operation control) {
  return operation_kind(control) >= operation_class_load && operation_kind(control) <= operation_class_store;
}

// Whether something is arithmetic or a branch.
static inline bool operation_computes(operation control) {
  return operation_kind(control) < operation_class_multiply;
}

// Whether something is a multiplication or a division.
static inline bool operation_is_product(operation control) {
  return operation_kind(control) == operation_class_multiply || operation_kind(control) == operation_class_divide;
}

// What a decoded instruction needs to be renamed.
static inline rename_needs needs_of(const micro_op *op) {
  return rename_needs_of_memory(operation_moves(op->control)) |
         rename_needs_of_integer(operation_computes(op->control)) |
         rename_needs_of_product(operation_is_product(op->control)) | rename_needs_of_dest(op->dest != 0) |
         rename_needs_of_snapshot(operation_flow(op->control) != branch_kind_none);
}

// What a context would be granted next, and when it came.
struct issue_candidate {
  uint32_t at, since;
};

#endif
