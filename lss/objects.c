// Compiles generated units with clang and caches the objects by content.
//
// The key of a unit is the hash of its text, the flags and the compiler.  Beside it lies a list of the headers that the
// unit read when it was compiled last; the object's name is the hash of the key and the contents of those.  So nothing
// in the cache is ever wrong, and nothing in it need ever be removed but for space.
#include "lss/objects.h"

#include "lss/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SPINACH_GLIB_CFLAGS
#define SPINACH_GLIB_CFLAGS ""
#endif

typedef struct {
  char *clang;
  char *identity; // path, size and time of the compiler
  char *home, *products;
  GPtrArray *flags;
  char *flags_text;
  char *cache;
  const CompilerOptions *options;
  GMutex lock;
  char **further;     // flags that the user adds, for linking as well
  GHashTable *hashes; // path -> hash of the contents
} Compiler;

char *objects_cache(void) {
  const char *named = g_getenv("LSS_CACHE");
  if (named && *named) return g_canonicalize_filename(named, NULL);
  return g_build_filename(g_get_user_cache_dir(), "spinach", NULL);
}

static char *find_clang(void) {
  static const char *const names[] = {"clang-22", "clang-19", "clang"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    char *path = g_find_program_in_path(names[i]);
    if (path) return path;
  }
  return NULL;
}

// Where the build put the runtime library and generated headers: beside the executable, or below the installed tree.
static char *find_products(const char *home) {
  g_autofree char *executable = g_file_read_link("/proc/self/exe", NULL);
  if (executable) {
    g_autofree char *bin = g_path_get_dirname(executable);
    g_autofree char *top = g_path_get_dirname(bin);
    g_autofree char *library = g_build_filename(top, "lib", "libspinach.a", NULL);
    if (g_file_test(library, G_FILE_TEST_EXISTS)) return g_steal_pointer(&top);
  }
  return g_build_filename(home, "build", NULL);
}

static void add_flag(Compiler *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_flag(Compiler *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_ptr_array_add(c->flags, g_strdup_vprintf(format, arguments));
  va_end(arguments);
}

static bool compiler_open(Compiler *c, const CompilerOptions *options) {
  *c = (Compiler){.options = options};
  c->clang = find_clang();
  if (!c->clang) {
    fprintf(stderr, "lss: no clang found on PATH (clang-22, clang-19 or clang); install one\n");
    return false;
  }
  const char *home = library_home();
  if (!home) {
    fprintf(stderr, "lss: cannot find the folder that holds modules/ and lss/runtime/; set SPINACH_HOME to it\n");
    return false;
  }
  c->home = g_strdup(home);
  c->products = find_products(home);
  struct stat info = {0};
  stat(c->clang, &info);
  c->identity = g_strdup_printf("%s %lld %lld", c->clang, (long long)info.st_size, (long long)info.st_mtime);
  c->cache = objects_cache();
  if (g_mkdir_with_parents(c->cache, 0777) != 0) {
    fprintf(stderr, "lss: cannot create the cache %s: %s; LSS_CACHE names another place\n", c->cache,
            g_strerror(errno));
    return false;
  }
  c->flags = g_ptr_array_new_with_free_func(g_free);
  c->hashes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_init(&c->lock);
  // Simulators behave the same at every level of optimisation: no signed overflow, no aliasing by type, no fused
  // floating point.
  static const char *const fixed[] = {"-std=gnu11",
                                      "-Wno-everything", // -w would silence those that are made errors below
                                      "-fwrapv",
                                      "-fno-strict-aliasing",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-plt",
                                      "-fno-vectorize", // nothing to gain in straight code, and long to look for
                                      "-fno-slp-vectorize",
                                      "-fno-caret-diagnostics",
                                      "-fno-color-diagnostics",
                                      "-ferror-limit=20",
                                      "-Werror=implicit-function-declaration",
                                      "-Werror=return-type",
                                      "-Werror=int-conversion",
                                      "-Werror=incompatible-pointer-types",
                                      "-fno-crash-diagnostics",
                                      "-D_GNU_SOURCE"};
  for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++) add_flag(c, "%s", fixed[i]);
#ifdef __x86_64__
  // Conditional moves stay: turned into branches they cost long chains of small modules dearly.
  add_flag(c, "-mllvm");
  add_flag(c, "-x86-cmov-converter=false");
#endif
  // Loops over lanes must be gone before structs are taken apart: with a variable index, signals would stay in memory.
  add_flag(c, "-mllvm");
  add_flag(c, "-unroll-threshold=2000");
  if (options->sanitize) {
    add_flag(c, "-fsanitize=address,undefined");
    add_flag(c, "-fno-sanitize-recover=undefined");
    add_flag(c, "-fno-sanitize=alignment");
    add_flag(c, "-gdwarf-4");
  }
  g_auto(GStrv) glib = g_strsplit(SPINACH_GLIB_CFLAGS, " ", -1); // emulib's headers use it
  for (char **flag = glib; *flag; flag++)
    if (**flag) add_flag(c, "%s", *flag);
  add_flag(c, "-I%s", home);
  add_flag(c, "-I%s/modules", home);
  add_flag(c, "-I%s/modules/types", home);
  add_flag(c, "-I%s/emulib", home);
  add_flag(c, "-I%s/gen/emulib", c->products);
  c->further = g_strsplit_set(g_getenv("LSS_CFLAGS") ? g_getenv("LSS_CFLAGS") : "", " \t", -1);
  for (char **flag = c->further; *flag; flag++)
    if (**flag) add_flag(c, "%s", *flag);
  GString *text = g_string_new(c->identity);
  for (guint i = 0; i < c->flags->len; i++) g_string_append_printf(text, "\n%s", (char *)c->flags->pdata[i]);
  c->flags_text = g_string_free(text, FALSE);
  return true;
}

static void compiler_close(Compiler *c) {
  g_free(c->clang);
  g_free(c->identity);
  g_free(c->home);
  g_free(c->products);
  g_free(c->flags_text);
  g_strfreev(c->further);
  g_free(c->cache);
  if (c->flags) g_ptr_array_unref(c->flags);
  if (c->hashes) {
    g_hash_table_unref(c->hashes);
    g_mutex_clear(&c->lock);
  }
}

static char *hash_of_file(Compiler *c, const char *path) {
  g_mutex_lock(&c->lock);
  char *known = g_strdup(g_hash_table_lookup(c->hashes, path));
  g_mutex_unlock(&c->lock);
  if (known) return known;
  g_autofree char *bytes = NULL;
  gsize size;
  char *sum = g_file_get_contents(path, &bytes, &size, NULL)
                  ? g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guchar *)bytes, size)
                  : g_strdup("missing");
  g_mutex_lock(&c->lock);
  g_hash_table_insert(c->hashes, g_strdup(path), g_strdup(sum));
  g_mutex_unlock(&c->lock);
  return sum;
}

// The object's name from the key and the headers that `list` names, one path on a line.
static char *object_path(Compiler *c, const char *key, const char *list) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)key, -1);
  g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
  for (char **line = lines; *line; line++) {
    if (!**line) continue;
    g_autofree char *hash = hash_of_file(c, *line);
    g_checksum_update(sum, (const guchar *)hash, -1);
  }
  return g_strdup_printf("%s/%.40s.o", c->cache, g_checksum_get_string(sum));
}

// Whether a header was written while the unit that includes it was compiled, so that nobody knows what was read.
static bool changed_meanwhile(const char *list, gint64 begin) {
  g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
  for (char **line = lines; *line; line++) {
    struct stat info;
    if (**line &&
        (stat(*line, &info) != 0 || (gint64)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000 >= begin))
      return true;
  }
  return false;
}

// Paths of a make rule, one on a line, without the unit itself.
static char *rule_to_list(const char *rule, const char *unit) {
  GString *list = g_string_new(NULL), *word = g_string_new(NULL);
  const char *at = strchr(rule, ':');
  for (at = at ? at + 1 : "";; at++) {
    if (*at == '\\' && at[1] == ' ') {
      g_string_append_c(word, *++at);
    } else if (*at == '\0' || *at == ' ' || *at == '\n' || (*at == '\\' && at[1] == '\n')) {
      if (word->len && strcmp(word->str, unit) != 0) g_string_append_printf(list, "%s\n", word->str);
      g_string_truncate(word, 0);
      if (*at == '\0' || (*at == '\n' && at > rule && at[-1] != '\\')) break;
    } else {
      g_string_append_c(word, *at);
    }
  }
  g_string_free(word, TRUE);
  return g_string_free(list, FALSE);
}

static void compile_unit(gpointer data, gpointer user_data) {
  Unit *unit = data;
  Compiler *c = user_data;
  const char *level = unit->optimisation ? unit->optimisation : c->options->optimisation;
  g_autofree char *whole = g_strconcat(level, "\n", c->flags_text, "\n", unit->text, NULL);
  g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, whole, -1);
  g_autofree char *stem = g_strdup_printf("%s/%.40s", c->cache, key);
  g_autofree char *list_path = g_strconcat(stem, ".deps", NULL);
  g_autofree char *list = NULL;
  if (g_file_get_contents(list_path, &list, NULL, NULL)) {
    unit->object = object_path(c, key, list);
    if (g_file_test(unit->object, G_FILE_TEST_EXISTS)) return;
    g_clear_pointer(&unit->object, g_free);
  }
  g_autofree char *source = g_strdup_printf("%s.c", stem), *temporary = g_strdup_printf("%s.%d.o", stem, (int)getpid()),
                  *rule_path = g_strdup_printf("%s.%d.d", stem, (int)getpid());
  g_autoptr(GError) error = NULL;
  if (!g_file_set_contents(source, unit->text, -1, &error)) {
    unit->failed = true;
    unit->diagnostics = g_strdup_printf("cache: %s", error->message);
    return;
  }
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, c->clang);
  g_ptr_array_add(argv, (char *)level);
  for (guint i = 0; i < c->flags->len; i++) g_ptr_array_add(argv, c->flags->pdata[i]);
  char *const rest[] = {"-MMD", "-MF", rule_path, "-c", "-o", temporary, source, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(rest); i++) g_ptr_array_add(argv, rest[i]);
  gint64 begin = g_get_monotonic_time(), begin_real = g_get_real_time();
  int status = 0;
  char *messages = NULL;
  if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &messages, &status,
                    &error)) {
    unit->failed = true;
    unit->diagnostics = g_strdup_printf("cache: cannot run %s: %s", c->clang, error->message);
    return;
  }
  if (c->options->times)
    fprintf(stderr, "lss: %6.2f s  %s\n", (double)(g_get_monotonic_time() - begin) / 1e6, unit->name);
  if (status != 0) {
    unit->failed = true;
    unit->diagnostics = messages;
    if (strstr(messages, "No space left on device")) {
      g_free(messages);
      unit->diagnostics =
          g_strdup_printf("cache: cannot write %s: No space left on device; LSS_CACHE names another place", temporary);
    }
    remove(temporary);
    remove(rule_path);
    return;
  }
  g_free(messages);
  g_autofree char *rule = NULL;
  g_file_get_contents(rule_path, &rule, NULL, NULL);
  remove(rule_path);
  g_autofree char *fresh = rule_to_list(rule ? rule : "", source);
  if (changed_meanwhile(fresh, begin_real)) {
    unit->object = g_steal_pointer(&temporary); // good for this build, not for the cache
    return;
  }
  unit->object = object_path(c, key, fresh);
  if (rename(temporary, unit->object) != 0 || !g_file_set_contents(list_path, fresh, -1, NULL)) {
    unit->failed = true;
    unit->diagnostics = g_strdup_printf("cache: cannot write %s: %s", unit->object, g_strerror(errno));
  }
}

// What takes longest starts first, so that nobody waits for it alone.
static gint longest_first(gconstpointer a, gconstpointer b) {
  const Unit *first = *(Unit *const *)a, *second = *(Unit *const *)b;
  if (!first->optimisation != !second->optimisation) return first->optimisation ? 1 : -1;
  const gsize one = strlen(first->text), other = strlen(second->text);
  return (one < other) - (one > other);
}

int objects_compile(GPtrArray *units, const CompilerOptions *options) {
  Compiler compiler;
  if (!compiler_open(&compiler, options)) {
    compiler_close(&compiler);
    return 3;
  }
  GThreadPool *pool = g_thread_pool_new(compile_unit, &compiler, (int)g_get_num_processors(), FALSE, NULL);
  g_autoptr(GPtrArray) order = g_ptr_array_new();
  for (guint i = 0; i < units->len; i++) g_ptr_array_add(order, units->pdata[i]);
  g_ptr_array_sort(order, longest_first);
  for (guint i = 0; i < order->len; i++) g_thread_pool_push(pool, order->pdata[i], NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
  int status = 0;
  for (guint i = 0; i < units->len; i++) {
    Unit *unit = units->pdata[i];
    if (!unit->failed) continue;
    if (unit->diagnostics && g_str_has_prefix(unit->diagnostics, "cache: ")) {
      fprintf(stderr, "lss: %s\n", unit->diagnostics + strlen("cache: "));
      status = 3;
    } else if (!status) {
      status = 1;
    }
  }
  compiler_close(&compiler);
  return status;
}

char *objects_key(GPtrArray *units, const CompilerOptions *options) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < units->len; i++) g_checksum_update(sum, (const guchar *)((Unit *)units->pdata[i])->object, -1);
  g_autofree char *products = find_products(library_home());
  const char *const libraries[] = {"libspinach.a", "libemulib.a"};
  for (gsize i = 0; i < G_N_ELEMENTS(libraries); i++) {
    g_autofree char *path = g_build_filename(products, "lib", libraries[i], NULL);
    struct stat info = {0};
    stat(path, &info);
    g_autofree char *text = g_strdup_printf("%s %lld %lld.%09ld", path, (long long)info.st_size,
                                            (long long)info.st_mtime, info.st_mtim.tv_nsec);
    g_checksum_update(sum, (const guchar *)text, -1);
  }
  g_checksum_update(sum, (const guchar *)(options->sanitize ? "s" : "-"), 1);
  return g_strndup(g_checksum_get_string(sum), 40);
}

// Objects that the linker refuses were damaged in the cache; they are made anew.  False when that does not help.
static bool renew(GPtrArray *units, const CompilerOptions *options) {
  for (guint i = 0; i < units->len; i++) {
    Unit *unit = units->pdata[i];
    remove(unit->object);
    g_clear_pointer(&unit->object, g_free);
  }
  return objects_compile(units, options) == 0;
}

// Why a simulator cannot stand there.  It takes the place of what has its name, which must not be a device.
static const char *unwritable(const char *output) {
  struct stat info;
  if (!stat(output, &info) && !S_ISREG(info.st_mode))
    return S_ISDIR(info.st_mode) ? "it is a directory" : "it is no regular file";
  g_autofree char *folder = g_path_get_dirname(output);
  return access(folder, W_OK) ? g_strerror(errno) : NULL;
}

static int link_objects(GPtrArray *units, const CompilerOptions *options, const char *output, bool again);

int objects_link(GPtrArray *units, const CompilerOptions *options, const char *output) {
  return link_objects(units, options, output, true);
}

static int link_objects(GPtrArray *units, const CompilerOptions *options, const char *output, bool again) {
  Compiler compiler;
  if (!compiler_open(&compiler, options)) {
    compiler_close(&compiler);
    return 3;
  }
  g_autofree char *temporary = g_strdup_printf("%s.%d.tmp", output, (int)getpid());
  const char *why = unwritable(output);
  int handle = why ? -1 : open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0777); // before the linker complains
  if (handle < 0) {
    fprintf(stderr, "lss: cannot write %s: %s\n", output, why ? why : g_strerror(errno));
    compiler_close(&compiler);
    return 3;
  }
  close(handle);
  g_autofree char *runtime = g_build_filename(compiler.products, "lib", "libspinach.a", NULL);
  g_autofree char *emulib = g_build_filename(compiler.products, "lib", "libemulib.a", NULL);
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, compiler.clang);
  g_autofree char *folder = NULL, *lld = NULL;
  g_autofree char *real = realpath(compiler.clang, NULL);
  if (real) {
    folder = g_path_get_dirname(real);
    lld = g_build_filename(folder, "ld.lld", NULL);
    if (g_file_test(lld, G_FILE_TEST_EXISTS)) g_ptr_array_add(argv, "-fuse-ld=lld");
  }
  if (options->sanitize) g_ptr_array_add(argv, "-fsanitize=address,undefined");
  for (char **flag = compiler.further; *flag; flag++)
    if (**flag) g_ptr_array_add(argv, *flag);
  g_ptr_array_add(argv, "-Wl,--as-needed");
  for (guint i = 0; i < units->len; i++) g_ptr_array_add(argv, ((Unit *)units->pdata[i])->object);
  g_ptr_array_add(argv, runtime);
  if (g_file_test(emulib, G_FILE_TEST_EXISTS)) {
    // The runtime's references to emulib are weak and would not bring these in.
    g_ptr_array_add(argv, "-Wl,-u,program_open,-u,isa_texts");
    g_ptr_array_add(argv, emulib);
  }
  char *const rest[] = {"-lglib-2.0", "-lpcap", "-ldw", "-lelf", "-lm", "-o", temporary, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(rest); i++) g_ptr_array_add(argv, rest[i]);
  int status = 0;
  g_autofree char *messages = NULL;
  g_autoptr(GError) error = NULL;
  gint64 begin = g_get_monotonic_time();
  bool fine = g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &messages,
                           &status, &error);
  if (options->times) fprintf(stderr, "lss: %6.2f s  linking\n", (double)(g_get_monotonic_time() - begin) / 1e6);
  if (!fine || status != 0) {
    remove(temporary);
    compiler_close(&compiler);
    // lld maps its output, so a full disk shows as a bus error.
    bool full = fine && (strstr(messages, "No space left on device") || strstr(messages, "Bus error"));
    if (fine && !full && again && renew(units, options)) return link_objects(units, options, output, false);
    if (full)
      fprintf(stderr, "lss: cannot write %s: No space left on device\n", output);
    else
      fprintf(stderr, "lss: cannot link %s: %s", output, fine ? messages : error->message);
    return 3;
  }
  if (rename(temporary, output) != 0) {
    fprintf(stderr, "lss: cannot write %s: %s\n", output, g_strerror(errno));
    remove(temporary);
    compiler_close(&compiler);
    return 3;
  }
  compiler_close(&compiler);
  return 0;
}
