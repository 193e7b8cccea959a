// The plan of a run on several hosts, a file that `spinach network --hosts` writes: which parts each host has, and how
// they are started.
#ifndef SPINACH_CARRIER_PLAN_H
#define SPINACH_CARRIER_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  char *name;
  uint64_t cores;
  char *said; // file for what its carrier has to say
} PlanHost;

typedef struct {
  uint32_t host;
  char **command; // with NULL behind it
  char *log;      // file for all that it prints
} PlanPart;

typedef struct {
  char *network, *hash, *board; // file and hash of network.json; name of the shared memory
  GArray *hosts;                // PlanHost
  GArray *parts;                // PlanPart, in the order of network.json
} Plan;

// NULL after a line.
Plan *plan_read(const char *path);
const PlanHost *plan_host(const Plan *plan, uint32_t number);
const PlanPart *plan_part(const Plan *plan, uint32_t number);

#endif
