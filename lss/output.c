// Files that a command writes; see output.h.
#include "lss/output.h"

#include "lss/runtime/whole_file.h"

#include <stdio.h>
#include <sys/stat.h>

bool output_write(const char *command, const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  if (whole_file_write(path, text, -1, &error)) return true;
  fprintf(stderr, "lss %s: cannot write \"%s\": %s\n", command, path, error->message);
  return false;
}

static bool is_file(const char *path, const struct stat *file) {
  struct stat other;
  return path && !stat(path, &other) && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

bool output_spares_sources(const char *command, const char *path, const Netlist *netlist) {
  struct stat file;
  if (stat(path, &file)) return true;
  const char *source = NULL;
  for (guint i = 0; i < netlist->sources->len && !source; i++)
    if (is_file(netlist->sources->pdata[i], &file)) source = netlist->sources->pdata[i];
  for (guint i = 0; i < netlist->leaves->len && !source; i++) {
    const LeafModule *leaf = ((Instance *)netlist->leaves->pdata[i])->leaf;
    if (is_file(leaf->c_file, &file)) source = leaf->c_file;
    if (is_file(leaf->header_file, &file)) source = leaf->header_file;
  }
  if (source)
    fprintf(stderr, "lss %s: \"%s\" is a source of this machine; -o names the file to write\n", command, path);
  return !source;
}
