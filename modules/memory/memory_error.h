// memory_error.h: what becomes of a posted write that gets an error as its reply: its requester has gone on, so that
// the error has no one to go to.  For all modules that post writes, or send on what others posted.  Such a module
// declares
//
//     runtime parameter on_memory_error = "end" : string;   with `init;` and `handler reset(on_memory_error);`
//     stat uint64 memory_errors "requests";
//     state { memory_error_action on_error; }
//
// and calls MEMORY_ERROR_CHOOSE() in both of them.
#ifndef MEMORY_ERROR_H
#define MEMORY_ERROR_H

#include <string.h>

// -1: it has no such name.
static inline int memory_error_action_named(const char *name) {
  static const char *const names[] = {"end", "drop", "bus_error"};
  for (int k = 0; k < 3; k++)
    if (!strcmp(name, names[k])) return k;
  return -1;
}

#define MEMORY_ERROR_CHOOSE()                                                                                          \
  do {                                                                                                                 \
    const int action = memory_error_action_named(param(on_memory_error));                                              \
    if (action < 0) sim_input_error("on_memory_error is end, drop or bus_error, not '%s'", param(on_memory_error));    \
    self->on_error = (memory_error_action)action;                                                                      \
  } while (0)

// A write failed, which the format and what follows it say.
#define MEMORY_ERROR(format, ...)                                                                                      \
  do {                                                                                                                 \
    count(memory_errors);                                                                                              \
    if (self->on_error == memory_error_action_end) sim_error(format, __VA_ARGS__);                                     \
    sim_warn(format "; it is dropped, as further ones are (memory_errors counts them)", __VA_ARGS__);                  \
  } while (0)

#endif
