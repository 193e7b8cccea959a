// The C compiler, its flags, and what it is given of the installed tree.
#ifndef LSS_TOOLCHAIN_H
#define LSS_TOOLCHAIN_H

#include "lss/build/cache.h"

#define PROFILE_GENERATE "-fprofile-generate"

typedef struct {
  const char *optimisation; // "-O2"
  bool sanitize;
  bool checked; // indices into arrays are checked (runtime/engine/bounds.c)
  bool times;   // report the seconds that each unit took
  // Of units that are optimised: PROFILE_GENERATE, or -fprofile-use= of a file whose name identifies its contents.
  const char *profile;
} CompilerOptions;

typedef struct {
  const CompilerOptions *options;
  char *clang;
  char *products;   // where the build put the runtime library and generated headers
  GPtrArray *flags; // char*, for compiling
  char **further;   // flags that the user adds, for linking as well
  char *flags_text; // the compiler's identity and all flags, for keys
  Cache cache;
  gint64 begin;       // when it was opened, by the clock that stamps files
  GMutex lock;        // of states
  GHashTable *states; // path -> what an object that reads it depends on (dependencies.c)
  GMutex lookup;      // of search, which is looked up once
  bool search_known;
  struct SearchPath *search; // NULL when clang does not say
} Toolchain;

// Finds the compiler and opens the cache.  On failure prints one line and returns false.
bool toolchain_open(Toolchain *toolchain, const CompilerOptions *options);
void toolchain_close(Toolchain *toolchain);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Toolchain, toolchain_close)

// The words of LSS_CFLAGS.
char **toolchain_further_flags(void);

// A program that belongs to clang, "ld.lld", beside it; NULL when it is not there.
char *toolchain_program(const Toolchain *toolchain, const char *name);

#endif
