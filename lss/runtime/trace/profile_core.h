// The account of one processor's cycles; profile.c feeds it with events.
#ifndef SPINACH_PROFILE_CORE_H
#define SPINACH_PROFILE_CORE_H

#include "lss/runtime/trace/profile.h"

// What is pending for an instruction between issue and retirement.
typedef struct {
  guint32 pc;
  bool retired; // or given up
  guint32 counts[PROFILE_CAUSES];
  guint32 accept, reply, fetch_accept, fetch_reply;
  gint8 region, writes; // region: -1: no request
} ProfileEntry;

// How a word was fetched: cycles.
typedef struct {
  guint32 pc;
  bool arrived;
  guint64 offered, accepted, end; // its request, first; when it was accepted; when it arrived
} ProfileFetch;

enum { PROFILE_FETCHES = 64, PROFILE_WINDOWS = 8 }; // powers of two: words; times without an instruction ahead of one

enum {
  PROFILE_FLIGHT = 64,
  PROFILE_LATE = 8
}; // instructions in flight that are kept; how much later others may retire

struct ProfileIssue {
  guint cause;                    // that it waits for; PROFILE_CAUSES: not known
  guint64 since;                  // first cycle
  guint64 single;                 // cycles since then that were counted one by one
  guint32 counts[PROFILE_CAUSES]; // for the next instruction that it issues
  struct {
    guint64 first, end;
  } windows[PROFILE_WINDOWS]; // in which it waited for the fetch of that
  guint window_count;
};

typedef struct ProfileTracker {
  ProfileEntry entries[PROFILE_FLIGHT];  // a ring
  guint64 first, next;                   // numbers of the oldest and of the next entry
  GHashTable *rows;                      // ProfileRow* by pc and word
  ProfileRow **recent;                   // by low bits of the pc
  guint32 latest;                        // pc that retired
  guint32 waits;                         // pc of the latest instruction that waited in the memory stage
  guint64 accepted;                      // cycle of the latest request
  ProfileFetch fetches[PROFILE_FETCHES]; // by low bits of the pc
} ProfileTracker;

void profile_core_issue(ProfileCore *core, ProfileIssue *issue, guint32 pc);
void profile_core_interlock(ProfileIssue *issue, guint cause);
// The issue stage waits for something else from this cycle on.
void profile_core_turn(const Profile *profile, ProfileCore *core, ProfileIssue *issue, guint64 cycle, guint cause);
typedef enum { PROFILE_BLOCKED, PROFILE_REQUESTED, PROFILE_FETCHED } ProfileFetching;
void profile_core_fetch(ProfileCore *core, guint32 pc, guint64 cycle, ProfileFetching what);
void profile_core_access(ProfileCore *core, guint32 pc, guint32 address, bool writes, guint64 cycle);
void profile_core_retire(Profile *profile, ProfileCore *core, guint32 pc, guint32 word, guint32 value);
// What is in flight and will not retire.
void profile_core_finish(ProfileCore *core, ProfileIssue *issue);

void profile_core_start(ProfileCore *core); // makes its tracker

#endif
