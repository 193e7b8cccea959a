// Files that stay below the working folder; see confined.h.
#include "lss/runtime/files/confined.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Whether a folder is the working folder or below it.
static bool is_below_here(const char *folder) {
  char *here = realpath(".", NULL), *there = realpath(folder, NULL);
  const gsize length = here ? strlen(here) : 0;
  const bool root = length == 1;
  const bool below = here && there && !strncmp(here, there, length) && (root || !there[length] || there[length] == '/');
  free(here);
  free(there);
  return below;
}

static bool begins_with(const char *path, const char *word) {
  char bytes[16] = "";
  FILE *file = fopen(path, "re");
  if (!file) return false;
  const gsize count = fread(bytes, 1, MIN(strlen(word), sizeof bytes), file);
  fclose(file);
  return count == strlen(word) && !memcmp(bytes, word, count);
}

char *confined_problem(const char *path, const char *word) {
  struct stat status;
  g_autofree char *folder = g_path_get_dirname(path);
  if (!is_below_here(folder)) return g_strdup("it is not below the folder in which the simulator runs");
  if (lstat(path, &status)) return NULL;
  if (!S_ISREG(status.st_mode)) return g_strdup("what has this name is no file");
  if (word && !begins_with(path, word)) return g_strdup("what has this name is another kind of file");
  return NULL;
}
