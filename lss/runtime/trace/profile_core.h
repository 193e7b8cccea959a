// The account of one processor's cycles; profile.c feeds it with events.
#ifndef SPINACH_PROFILE_CORE_H
#define SPINACH_PROFILE_CORE_H

#include "lss/runtime/trace/profile.h"

// What is pending for an instruction between issue and retirement.
typedef struct {
  guint32 pc;
  bool retired; // or given up
  guint32 counts[PROFILE_CAUSES];
  guint32 accept, reply;
  gint8 region, writes; // region: -1: no request
} ProfileEntry;

enum {
  PROFILE_FLIGHT = 64,
  PROFILE_LATE = 8
}; // instructions in flight that are kept; how much later others may retire

struct ProfileIssue {
  guint cause;                    // that it waits for; PROFILE_CAUSES: not known
  guint64 since;                  // first cycle
  guint64 single;                 // cycles since then that were counted one by one
  guint32 counts[PROFILE_CAUSES]; // for the next instruction that it issues
};

typedef struct ProfileTracker {
  ProfileEntry entries[PROFILE_FLIGHT]; // a ring
  guint64 first, next;                  // numbers of the oldest and of the next entry
  GHashTable *rows;                     // ProfileRow* by pc and word
  ProfileRow **recent;                  // by low bits of the pc
  guint32 latest;                       // pc that retired
  guint32 waits;                        // pc of the latest instruction that waited in the memory stage
  guint64 accepted;                     // cycle of the latest request
} ProfileTracker;

void profile_core_issue(ProfileCore *core, ProfileIssue *issue, guint32 pc);
void profile_core_interlock(ProfileIssue *issue, guint cause);
// The issue stage waits for something else from this cycle on; `memory` is the cause that the memory stage explains.
void profile_core_turn(ProfileCore *core, ProfileIssue *issue, guint64 cycle, guint cause, guint memory);
void profile_core_access(ProfileCore *core, guint32 pc, guint32 address, bool writes, guint64 cycle);
void profile_core_retire(Profile *profile, ProfileCore *core, guint32 pc, guint32 word, guint32 value);
// What is in flight and will not retire.
void profile_core_finish(ProfileCore *core, ProfileIssue *issue);

void profile_core_start(ProfileCore *core); // makes its tracker

#endif
