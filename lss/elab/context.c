// The state of a compilation, and the bounds on its work.
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

Compile *compile;

void problem(Location where, const char *check, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  diag_error_va(where, check, format, arguments);
  va_end(arguments);
  if (compile->running) diag_instance(compile->running->instance->path);
}

bool charge(int steps, Location where) {
  if (diag_gave_up()) compile->halted = true;
  if (compile->halted) return false;
  if (steps < compile->options->max_steps - compile->steps) {
    compile->steps += steps;
    return true;
  }
  compile->halted = true;
  problem(where, "runaway", "building the machine takes more than %d steps; --max-steps raises the bound",
          compile->options->max_steps);
  return false;
}

bool enter(Location where) {
  enum { MAX_NESTING = 2000 };
  if (compile->halted) return false;
  if (compile->nesting < MAX_NESTING) {
    compile->nesting++;
    return true;
  }
  compile->halted = true;
  problem(where, "runaway", "calls, statements and expressions are nested more than %d deep", MAX_NESTING);
  return false;
}

void leave(void) {
  compile->nesting--;
}
