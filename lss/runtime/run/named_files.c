// Which options name files, and what becomes of these; see named_files.h.
#include "lss/runtime/run/named_files.h"

#include <string.h>

static const struct {
  const char *name;
  enum {
    READS,
    RESTORES,
    WRITES,
    SAVES,
    FILLS,
    LISTENS
  } use; // FILLS: a folder; LISTENS: at a socket, unless it is a port
} known[] = {
    {"checkpoint", SAVES}, {"restore", RESTORES},    {"compare", READS}, {"record", WRITES},
    {"profile", WRITES},   {"state-hashes", WRITES}, {"stats", WRITES},  {"run-dir", FILLS},
    {"wave", WRITES},      {"gdb", LISTENS},         {"symbols", READS},
};

static void note(spinach_options *options, const char *name, char *path, FileUse use) {
  const spinach_named_file file = {name, path, use};
  g_array_append_val(options->files, file);
}

// Of an option that is given twice the last counts, unless it reads.
static void forget(spinach_options *options, const char *name) {
  for (guint i = options->files->len; i--;) {
    const spinach_named_file *file = &g_array_index(options->files, spinach_named_file, i);
    if (!strcmp(file->option, name) && file->use != FILE_IS_READ) g_array_remove_index(options->files, i);
  }
}

void named_files_note(spinach_options *options, const char *name, const char *value) {
  static const char *const results[] = {"statistics.json", "manifest.json", "timing.json"};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    if (strcmp(known[i].name, name) != 0) continue;
    const char *option = known[i].name; // as long as the process
    const bool port = strchr(value, ':') || !value[strspn(value, "0123456789")];
    forget(options, name);
    switch (known[i].use) {
    case READS: return note(options, option, g_strdup(value), FILE_IS_READ);
    case RESTORES: return note(options, option, g_strdup(value), FILE_IS_RESTORED);
    case SAVES: return note(options, option, g_strdup(value), FILE_IS_SAVED);
    case WRITES: return note(options, option, g_strdup(value), FILE_IS_WRITTEN);
    case LISTENS:
      if (!port) note(options, option, g_strdup(value), FILE_IS_WRITTEN);
      return;
    case FILLS:
      for (guint k = 0; k < G_N_ELEMENTS(results); k++)
        note(options, option, g_build_filename(value, results[k], NULL), FILE_IS_WRITTEN);
    }
  }
}
