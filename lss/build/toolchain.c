// Finds clang and gathers its flags.
#include "lss/build/toolchain.h"

#include "lss/base/library.h"
#include "lss/build/search_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static char *find_clang(void) {
  static const char *const names[] = {"clang-22", "clang-19", "clang"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    char *path = g_find_program_in_path(names[i]);
    if (path) return path;
  }
  return NULL;
}

char *toolchain_program(const Toolchain *t, const char *name) {
  g_autofree char *real = realpath(t->clang, NULL);
  if (!real) return NULL;
  g_autofree char *folder = g_path_get_dirname(real), *path = g_build_filename(folder, name, NULL);
  return g_file_test(path, G_FILE_TEST_IS_EXECUTABLE) ? g_steal_pointer(&path) : NULL;
}

static void add_flag(Toolchain *t, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_flag(Toolchain *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_ptr_array_add(t->flags, g_strdup_vprintf(format, arguments));
  va_end(arguments);
}

// Simulators behave the same at every level of optimisation: no signed overflow, no aliasing by type, no fused
// floating point.
static const char *const fixed_flags[] = {
    "-std=gnu11",
    // What remains after -Wno-everything are warnings about the user's C: some helpers,
    // parameters and constants are used in other specialisations only, and `&` between
    // conditions is meant, for it costs no branch.
    "-Wno-everything", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function", "-Wno-int-in-bool-context",
    "-Wno-bitwise-instead-of-logical", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno",
    "-fno-plt",
    "-fno-vectorize", // nothing to gain in straight code, and long to look for
    "-fno-slp-vectorize", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=20",
    "-Werror=implicit-function-declaration", "-Werror=return-type", "-Werror=int-conversion",
    "-Werror=incompatible-pointer-types", "-fno-crash-diagnostics", "-D_GNU_SOURCE",
#ifdef __x86_64__
    // Conditional moves stay: as branches they cost long chains of small modules
    // dearly.
    "-mllvm", "-x86-cmov-converter=false",
#endif
    // Loops over lanes must be gone before structs are taken apart: with a
    // variable index, signals would stay in memory.
    "-mllvm", "-unroll-threshold=2000"};

static void add_flags(Toolchain *t, const char *home) {
  for (gsize i = 0; i < G_N_ELEMENTS(fixed_flags); i++) add_flag(t, "%s", fixed_flags[i]);
  if (t->options->sanitize) {
    add_flag(t, "-fsanitize=address,undefined");
    add_flag(t, "-fno-sanitize-recover=undefined");
    add_flag(t, "-fno-sanitize=alignment");
    add_flag(t, "-gdwarf-4");
  } else if (t->options->checked) {
    add_flag(t, "-fsanitize=array-bounds");
    add_flag(t, "-fno-sanitize-recover=array-bounds");
  }
  if (t->options->sanitize || t->options->checked)
    add_flag(t, "-fstrict-flex-arrays=3");                          // the last array of a state has an end as well
  g_auto(GStrv) glib = g_strsplit(search_path_glib_flags, " ", -1); // emulib's headers use it
  for (char **flag = glib; *flag; flag++)
    if (**flag) add_flag(t, "%s", *flag);
  add_flag(t, "-I%s", home);
  add_flag(t, "-I%s/modules", home);
  add_flag(t, "-I%s/emulib", home);
  add_flag(t, "-I%s/gen/emulib", t->products);
  for (char **flag = t->further; *flag; flag++)
    if (**flag) add_flag(t, "%s", *flag);
}

char **toolchain_further_flags(void) {
  const char *flags = g_getenv("LSS_CFLAGS");
  g_auto(GStrv) words = g_strsplit_set(flags ? flags : "", " \t", -1);
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (char **word = words; *word; word++)
    if (**word) g_strv_builder_add(builder, *word);
  return g_strv_builder_end(builder);
}

// It goes in ticks: never later than the stamp of what is written from now on.
static gint64 time_of_files(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return (gint64)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

bool toolchain_open(Toolchain *t, const CompilerOptions *options) {
  *t = (Toolchain){.options = options, .cache = {.lock = -1}};
  g_mutex_init(&t->lock);
  g_mutex_init(&t->lookup);
  t->begin = time_of_files();
  t->clang = find_clang();
  if (!t->clang) {
    fprintf(stderr, "lss: no clang found on PATH (clang-22, clang-19 or clang); install one\n");
    return false;
  }
  const char *home = library_home();
  if (!home) {
    fprintf(stderr, "lss: cannot find the folder that holds modules/ and lss/runtime/; set SPINACH_HOME to it\n");
    return false;
  }
  t->products = library_products();
  t->flags = g_ptr_array_new_with_free_func(g_free);
  t->states = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  t->further = toolchain_further_flags();
  add_flags(t, home);
  struct stat info = {0};
  stat(t->clang, &info);
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%s %lld %lld", t->clang, (long long)info.st_size, (long long)info.st_mtime);
  for (guint i = 0; i < t->flags->len; i++) g_string_append_printf(text, "\n%s", (char *)t->flags->pdata[i]);
  g_autofree char *environment = search_path_environment(t->further);
  g_string_append(text, environment);
  t->flags_text = g_string_free(text, FALSE);
  return cache_open(&t->cache);
}

void toolchain_close(Toolchain *t) {
  cache_close(&t->cache);
  g_free(t->clang);
  g_free(t->products);
  g_free(t->flags_text);
  g_strfreev(t->further);
  if (t->flags) g_ptr_array_unref(t->flags);
  if (t->states) g_hash_table_unref(t->states);
  if (t->search) search_path_free(t->search);
  g_mutex_clear(&t->lock);
  g_mutex_clear(&t->lookup);
}
