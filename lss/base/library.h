// Where modules are found: the search path, and the tree that the compiler belongs to.
#ifndef LSS_LIBRARY_H
#define LSS_LIBRARY_H

#include "lss/base/compile_options.h"

// The folder that holds modules/, lss/runtime/ and emulib/: the environment variable SPINACH_HOME, or share/spinach
// beside the folder of the executable (an installed copy), or the source tree.  NULL when there is none.
const char *library_home(void);

// Where the build put the runtime library and generated headers: next to the folder of the executable, or below the
// installed tree.  NULL when there is none.  The caller frees it.
char *library_products(void);

// "", or the rest of a message when there is no library: that it is not found, and where it was looked for.
const char *library_missing(void);

// The path of this program, also without /proc; NULL when it is not known.  The caller frees it.
char *library_executable(void);

// The search path for imports of `importing_file`, first match wins: its folder (the working directory when it is
// NULL), each -I, each folder of LSS_PATH, then the library's modules/ and its families.  Strings are owned by the
// array.
GPtrArray *library_folders(const CompileOptions *options, const char *importing_file);

// Where a machine that another extends is looked for: the same, with the examples in place of the library's modules.
GPtrArray *library_machine_folders(const CompileOptions *options, const char *extending_file);

// The family of a file of the library: its folder below modules/, "core/mips".  NULL for other files.
const char *library_family(const char *path);

// The file of module or import `name` in the first of the folders that has name.lss or name/name.lss; NULL without.
char *library_find(const GPtrArray *folders, const char *name);

// The file that `import name;` in `importing_file` names: of the library, or, where there is none, among the examples,
// where it is meant only if it is a machine; NULL without.
char *library_find_import(const CompileOptions *options, const char *importing_file, const char *name, bool *example);

// The names of all .lss files that library_find() would find in `folder`, sorted.  Strings are owned by the array.
GPtrArray *library_names(const char *folder);
// Those of all folders, one after the other.
GPtrArray *library_all_names(const GPtrArray *folders);

#endif
