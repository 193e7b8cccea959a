// A profile: where the cycles, the instructions and the memory requests of each processor go, from its events.
//
// Every cycle of an issue stage counts once: as one in which it issued an instruction, or as one in which it waited for
// something, and then for the instruction that waited.  What was counted for an instruction when it was issued, and
// while it was in the memory stage, goes to its address, and to the function that it was called in, when it retires. Of
// the cycles that wait for a fetch and for the memory stage those are told apart in which a memory made them wait.
#ifndef SPINACH_PROFILE_H
#define SPINACH_PROFILE_H

#include "lss/runtime/trace/call_tree.h"
#include "lss/runtime/trace/code_names.h"
#include "lss/runtime/trace/trace_header.h"

enum { PROFILE_CAUSES = 16, PROFILE_REGIONS = 12 };

// Where an instruction refers to memory: in a region that its processor's debug views name, or in none, the last.
typedef struct {
  guint64 reads, writes;
  guint64 accept, reply;             // cycles in which the memory stage waited to hand on a request, and for its reply
  guint64 fetch_accept, fetch_reply; // likewise the issue stage, for the fetch of an instruction that is there
} ProfileRequests;

// What is counted for one instruction.
typedef struct {
  guint32 pc, word;
  bool named; // the word and the place are known: it has retired
  const CodePlace *place;
  guint64 instructions;
  guint64 counts[PROFILE_CAUSES]; // cycles by what they were spent for; the first: issuing it
  ProfileRequests requests[PROFILE_REGIONS];
} ProfileRow;

typedef struct {
  guint32 first, last; // addresses
  char *name;
} ProfileRegion;

typedef struct ProfileIssue ProfileIssue; // an issue stage of a processor

typedef struct {
  const spinach_debug_view *view;
  char *name; // of its instance, and the context where there are several
  int32_t clock;
  guint issue_stages;
  GArray *regions; // ProfileRegion, those that hide others first
  GPtrArray *rows; // ProfileRow*
  CallTree *tree;
  guint64 instructions, cycles; // cycles: of all its issue stages together
  struct ProfileTracker *tracker;
} ProfileCore;

typedef struct {
  GPtrArray *cores;                   // ProfileCore*
  const GArray *sources;              // TraceSource
  guint64 *events;                    // how often each source happened, of those that are not of processors
  const char *causes[PROFILE_CAUSES]; // names; up to NULL
  guint fetch, memory;                // those for which memories are told apart; beyond the last: there is none
  CodeNames *names;
  struct ProfileSource *readers; // how the records of each source are read
  guint64 begun, ended;          // instants
} Profile;

Profile *profile_new(const GArray *sources);
void profile_begin(Profile *profile, guint64 instant);
// A block's records, the first of which says its distance from `start`.
void profile_add(Profile *profile, const guint8 *records, gsize size, guint64 start);
void profile_end(Profile *profile, guint64 instant);

// The profile as JSON (profile_write.c); the caller frees it.
char *profile_json(const Profile *profile);

#endif
