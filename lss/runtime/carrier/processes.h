// The parts of this host as child processes, in one process group.
#ifndef SPINACH_CARRIER_PROCESSES_H
#define SPINACH_CARRIER_PROCESSES_H

#include "lss/runtime/carrier/plan.h"

#include <sys/types.h>

enum { PROCESS_REFUSES = 2 }; // status of a simulator that cannot do with what it was given

typedef struct {
  uint32_t part;
  pid_t process;
  bool running;
  int status; // of its end: the exit status, or a signal, negative
} Child;

typedef struct {
  Child *children;
  uint32_t count, running;
  pid_t group;
} Processes;

// Starts the parts of a host.  False after a line: one of them could not be started, and the others were ended.
bool processes_start(Processes *processes, const Plan *plan, uint32_t host);
// A child that has ended since the last call; NULL: none has.
const Child *processes_reap(Processes *processes);
// Sends a signal to all of them.
void processes_signal(const Processes *processes, int number);

#endif
