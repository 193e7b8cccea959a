// A network in parts: elaborated once, then a simulator for each kind of part and network.json, in a folder that is
// whole or not there.
#include "lss/base/diagnostics.h"
#include "lss/base/output.h"
#include "lss/base/working.h"
#include "lss/build/build.h"
#include "lss/parts/parts.h"
#include "lss/schedule/schedule.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PASSES = 8 };

// Elaborates until all that a kind needs is there: parts that are alike by themselves may differ in what is around
// them.
static Network *find_network(BuildOptions *build) {
  CompileOptions *options = &build->options.compile;
  build_keep_memory();
  options->parts = true;
  options->bodies = g_ptr_array_new();
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    const guint before = options->bodies->len;
    Netlist *netlist = compile_netlist(build->options.machine, options);
    Network *network = netlist ? network_find(netlist, options->bodies) : NULL;
    if (network && network_prune(network)) return network;
    if (network || options->bodies->len == before) return NULL;
  }
  return NULL;
}

static int check_kind(BuildOptions *build, PartKind *kind, bool netlist_only) {
  network_number(kind->netlist);
  if (!netlist_only) return build_check(build, kind->netlist);
  const ScheduleOptions options = {0};
  working_begin("scheduling", NULL, 0);
  g_autoptr(Schedule) schedule = schedule_build(kind->netlist, &options);
  working_end();
  return schedule ? 0 : 1;
}

int build_parts_check(BuildOptions *build, bool netlist_only) {
  const Network *network = find_network(build);
  int status = network ? 0 : 1;
  for (guint i = 0; !status && i < network->kinds->len; i++)
    status = check_kind(build, network->kinds->pdata[i], netlist_only);
  return status;
}

// ---- The folder ----------------------------------------------------------------------------------------------------

// Removes a folder of simulators.
static void remove_folder(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
}

// Whether the folder may be written: there is none, or one that was written so before.
static bool may_replace(const char *folder) {
  g_autofree char *file = g_build_filename(folder, "network.json", NULL);
  if (!g_file_test(folder, G_FILE_TEST_EXISTS) || g_file_test(file, G_FILE_TEST_IS_REGULAR)) return true;
  fprintf(stderr, "lss build: \"%s\" is no network that lss has built; -o names the folder to write\n", folder);
  return false;
}

static int failed(const char *folder) {
  fprintf(stderr, "lss build: cannot write \"%s\": %s\n", folder, g_strerror(errno));
  return 3;
}

// Puts what was written into its place.
static int put(const char *written, const char *folder) {
  g_autofree char *old = g_strconcat(written, ".old", NULL);
  const bool replaces = g_file_test(folder, G_FILE_TEST_EXISTS);
  if (replaces && g_rename(folder, old)) return failed(folder);
  if (g_rename(written, folder)) return failed(folder);
  if (replaces) remove_folder(old);
  return 0;
}

static int build_kind(BuildOptions *build, PartKind *kind, const char *hash, const char *output) {
  build->kind = kind->simulator;
  kind->netlist->network = hash;
  network_number(kind->netlist);
  return build_netlist(build, kind->netlist, output);
}

static int build_kinds(BuildOptions *build, Network *network, const char *folder) {
  const char *hash, *keep = build->keep;
  g_autofree char *text = network_text(network, &hash), *file = g_build_filename(folder, "network.json", NULL);
  int status = 0;
  for (guint i = 0; !status && i < network->kinds->len; i++) {
    PartKind *kind = network->kinds->pdata[i];
    g_autofree char *simulator = g_build_filename(folder, kind->simulator, NULL),
                    *units = keep ? g_build_filename(keep, kind->simulator, NULL) : NULL;
    build->keep = units;
    status = build_kind(build, kind, hash, simulator);
  }
  build->keep = keep;
  if (!status && !output_write("build", file, text)) status = 3;
  return status;
}

static int build_one(BuildOptions *build, Network *network) {
  const char *hash;
  g_autofree char *text = network_text(network, &hash);
  for (guint i = 0; i < network->kinds->len; i++) {
    PartKind *kind = network->kinds->pdata[i];
    if (!strcmp(kind->simulator, build->kind)) return build_kind(build, kind, hash, build->output);
  }
  usage_error("build", "--kind: the network has no kind of parts \"%s\"", build->kind);
  return 2;
}

int build_parts(BuildOptions *build) {
  if (build->training) return usage_error("build", "--pgo runs one simulator, so it does not go with --parts");
  g_autofree char *folder = g_strdup(build->output);
  while (strlen(folder) > 1 && g_str_has_suffix(folder, "/")) folder[strlen(folder) - 1] = '\0';
  Network *network = find_network(build);
  working_end();
  diag_flush();
  if (!network) return 1;
  if (build->kind) return build_one(build, network);
  if (!may_replace(folder)) return 2;
  g_autofree char *written = g_strconcat(folder, ".XXXXXX", NULL);
  if (!g_mkdtemp_full(written, 0777)) return failed(folder);
  int status = build_kinds(build, network, written);
  if (!status) status = put(written, folder);
  if (status) remove_folder(written);
  return status;
}
