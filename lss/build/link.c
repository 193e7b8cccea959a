// Links a simulator in the scratch folder and moves it to its place.
#include "lss/build/link.h"

#include "lss/base/working.h"
#include "lss/build/linker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_LENGTH = 40 };

static int refuse(const char *output, const char *why) {
  fprintf(stderr, "lss: cannot write %s: %s\n", output, why);
  return 3;
}

// Why a simulator cannot be written there.  It replaces what has its name, which must not be a device.
static const char *unwritable(const char *output) {
  struct stat info;
  if (!stat(output, &info) && !S_ISREG(info.st_mode))
    return S_ISDIR(info.st_mode) ? "it is a directory" : "it is no regular file";
  g_autofree char *folder = g_path_get_dirname(output);
  return access(folder, W_OK) ? g_strerror(errno) : NULL;
}

// On another file system a rename is none: the copy is made beside the place, then takes its name.
static bool copy_and_rename(const char *made, const char *output) {
  g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", output);
  int from = open(made, O_RDONLY | O_CLOEXEC), to = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0777);
  struct stat info;
  bool fine = from >= 0 && to >= 0 && !fstat(from, &info);
  for (off_t left = fine ? info.st_size : 0; fine && left > 0;) {
    ssize_t moved = sendfile(to, from, NULL, (size_t)left);
    fine = moved > 0 || (moved < 0 && errno == EINTR);
    left -= MAX(moved, 0);
  }
  int code = errno;
  if (from >= 0) close(from);
  if (to >= 0 && close(to)) fine = false;
  if (fine && !rename(temporary, output)) return true;
  if (fine) code = errno;
  if (to >= 0) unlink(temporary);
  errno = code;
  return false;
}

static bool move(const char *made, const char *output) {
  return !rename(made, output) || (errno == EXDEV && copy_and_rename(made, output));
}

// Whether anybody looks at lines of C: else the runtime's would be most of a simulator.
static bool wants_debug_info(const Toolchain *t) {
  bool wanted = t->options->sanitize;
  for (char **flag = t->further; *flag; flag++) wanted |= g_str_has_prefix(*flag, "-g");
  return wanted;
}

static ToolResult run_linker(Toolchain *t, const GPtrArray *units, const char *made, char **messages) {
  g_autofree char *runtime = g_build_filename(t->products, "lib", "libspinach.a", NULL);
  g_autofree char *emulib = g_build_filename(t->products, "lib", "libemulib.a", NULL);
  g_autoptr(GPtrArray) words = g_ptr_array_new(), objects = g_ptr_array_new();
  g_autofree char *lld = toolchain_program(t, "ld.lld");
  if (lld) g_ptr_array_add(words, "-fuse-ld=lld");
  if (t->options->profile && !strcmp(t->options->profile, PROFILE_GENERATE)) g_ptr_array_add(words, PROFILE_GENERATE);
  if (t->options->sanitize) g_ptr_array_add(words, "-fsanitize=address,undefined");
  for (char **flag = t->further; *flag; flag++)
    if (**flag) g_ptr_array_add(words, *flag);
  if (!wants_debug_info(t)) g_ptr_array_add(words, "-Wl,--strip-debug");
  g_ptr_array_add(words, "-Wl,--as-needed");
  g_ptr_array_add(words, LINKER_OBJECTS);
  for (guint i = 0; i < units->len; i++) g_ptr_array_add(objects, ((Unit *)units->pdata[i])->object);
  g_ptr_array_add(words, runtime);
  if (g_file_test(emulib, G_FILE_TEST_EXISTS)) {
    // The runtime's references to emulib are weak and would not bring these in.
    g_ptr_array_add(words, "-Wl,-u,program_open,-u,isas");
    g_ptr_array_add(words, emulib);
  }
#ifdef SPINACH_FST
  g_ptr_array_add(words, "-lz");
#endif
  char *const rest[] = {"-lglib-2.0", "-lpcap", "-lzstd", "-lnettle", "-ldw", "-lelf", "-lm"};
  for (gsize i = 0; i < G_N_ELEMENTS(rest); i++) g_ptr_array_add(words, rest[i]);
  return linker_run(t, words, objects, made, messages);
}

// The simulator's path in the scratch folder, or NULL after printing why there is none.
static char *link_in_scratch(Toolchain *t, const GPtrArray *units, const char *output) {
  g_autofree char *made = g_build_filename(t->cache.scratch, "simulator", NULL), *messages = NULL;
  working_begin("linking", NULL, 0);
  ToolResult result = run_linker(t, units, made, &messages);
  working_end();
  if (result == TOOL_FINE) return g_steal_pointer(&made);
  fprintf(stderr, "lss: cannot link %s: %s%s", output, messages, result == TOOL_FAILED ? "\n" : "");
  return NULL;
}

int link_simulator(Toolchain *t, const GPtrArray *units, const char *output) {
  const char *why = unwritable(output);
  if (why) return refuse(output, why);
  g_autofree char *made = link_in_scratch(t, units, output);
  if (!made) return 3;
  return move(made, output) ? 0 : refuse(output, g_strerror(errno));
}

char *link_key(const Toolchain *t, const GPtrArray *units) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < units->len; i++) g_checksum_update(sum, (const guchar *)((Unit *)units->pdata[i])->key, -1);
  const char *const libraries[] = {"libspinach.a", "libemulib.a"};
  for (gsize i = 0; i < G_N_ELEMENTS(libraries); i++) {
    g_autofree char *path = g_build_filename(t->products, "lib", libraries[i], NULL);
    struct stat info = {0};
    stat(path, &info);
    g_autofree char *text = g_strdup_printf("%s %lld %lld.%09ld", path, (long long)info.st_size,
                                            (long long)info.st_mtime, info.st_mtim.tv_nsec);
    g_checksum_update(sum, (const guchar *)text, -1);
  }
  g_checksum_update(sum, (const guchar *)(t->options->sanitize ? "s" : "-"), 1);
  return g_strndup(g_checksum_get_string(sum), KEY_LENGTH);
}

int link_cached(Toolchain *t, const GPtrArray *units, const char *name, char **output) {
  g_autofree char *key = link_key(t, units), *folder = g_build_filename(t->cache.folder, key, NULL);
  *output = g_build_filename(folder, name, NULL);
  if (cache_check(*output, NULL)) return 0;
  g_autofree char *made = link_in_scratch(t, units, *output);
  if (!made) return 3;
  if (g_mkdir_with_parents(folder, 0777) || !cache_keep(&t->cache, made, *output, NULL))
    return refuse(*output, g_strerror(errno));
  return 0;
}
