// lss schedule M.lss [INSTANCE]: the order in which functions run in a cycle of each clock, and for each the signal
// that became known last among those it waits for; which groups of instances are replayed, and whether cycles in which
// everything waits are left out.
#include "lss/base/diagnostics.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/plan/plan.h"
#include "lss/schedule/schedule.h"

#include <stdio.h>
#include <string.h>

static const OptionSpec own[] = {
    {"--single-function", NULL, "as if the machine became one C function, whatever its size"},
    {0},
};
static const OptionSpec *const tables[] = {own, folder_options, machine_options, NULL};

static bool schedule_option(const char *command, const char *name, const char *value, gpointer data) {
  (void)command, (void)name, (void)value;
  ((ScheduleOptions *)data)->single_cluster = true;
  return true;
}

static bool inside(const Instance *instance, const char *path) {
  if (!path) return true;
  gsize n = strlen(path);
  return !strncmp(instance->path, path, n) &&
         (instance->path[n] == '\0' || instance->path[n] == '.' || instance->path[n] == '[');
}

// Why a node runs no earlier: what it reads that was written last, or the functions of its instance before it.
static void print_reason(const Vertex *node, const int *position) {
  const Wire *last = NULL;
  for (guint i = 0; i < node->reads->len; i++) {
    const Wire *wire = node->reads->pdata[i];
    if (wire->writer && wire->writer != node && (!last || position[wire->writer->id] > position[last->writer->id]))
      last = wire;
  }
  if (node->kind == VERTEX_FUNCTION && node->function->kind == FUNCTION_PHASE_START) {
    printf("state alone");
  } else if (!last) {
    printf(node->before->len ? "the other functions of its instance" : "nothing: reads state alone");
  } else {
    g_autofree char *wire = wire_name(last), *writer = vertex_name(last->writer);
    printf("%s, by %d %s", wire, position[last->writer->id], writer);
  }
}

static const char *cluster_name(const Cluster *cluster) {
  return cluster->instance ? cluster->instance->path : "the top";
}

enum { MOST_NAMED = 20 };

// Whether cycles in which everything waits are left out (docs/speed.md), and why not.
static void print_jumps(const Plan *plan) {
  if (plan->leaps) {
    printf("cycles in which everything waits are left out\n");
    return;
  }
  printf("cycles in which everything waits are stepped\n");
  guint waking = 0;
  for (guint i = 0; i < plan->netlist->leaves->len; i++) {
    const Instance *leaf = plan->netlist->leaves->pdata[i];
    const char *why = plan->leaves[leaf->id].waking;
    if (why && waking++ < MOST_NAMED) printf("  %s : %s %s\n", leaf->path, leaf->module_name, why);
  }
  if (waking > MOST_NAMED) printf("  and %u more\n", waking - MOST_NAMED);
  if (!waking && !plan->jumps) printf("  what happens on connections is collected in each\n");
  if (!waking && plan->jumps) printf("  there are more than %d clocks\n", MOST_LEAPING_CLOCKS);
}

// Which clusters sleep, and which are looked up instead of stepped where they repeat themselves (docs/speed.md), and
// why others are not.
static void print_replays(Netlist *netlist, Schedule *schedule, const char *path) {
  Plan plan = {.netlist = netlist, .schedule = schedule};
  if (!plan_build(&plan)) return;
  for (guint i = 0; i < schedule->clusters->len; i++) {
    const Cluster *cluster = schedule->clusters->pdata[i];
    if (!cluster->instance || !inside(cluster->instance, path)) continue;
    const char *stepped = plan_of(&plan, cluster)->stepped, *why = plan_of(&plan, cluster)->obstacle;
    printf("%s %s%s\n", cluster->instance->path, stepped ? "is stepped while it waits: " : "sleeps while it waits",
           stepped ? stepped : "");
    printf("%s is %s%s\n", cluster->instance->path, why ? "not replayed: " : "replayed where it repeats itself",
           why ? why : "");
  }
  if (path) return;
  print_jumps(&plan);
  const char *why = plan.loops_obstacle;
  printf("whole loops are %s%s\n", why ? "not left out: " : "left out", why ? why : "");
}

static int schedule_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  ScheduleOptions schedule_options = {0};
  if (!options_parse(tables, argc, argv, &options, schedule_option, &schedule_options, NULL)) return 2;
  if (!options.machine || options.rest->len > 1)
    return usage_error(argv[0], "give a machine: lss schedule M.lss [INSTANCE]");
  const char *path = options.rest->len ? options.rest->pdata[0] : NULL;
  Netlist *netlist = compile_netlist(options.machine, &options.compile);
  if (!netlist) return 1;
  if (path) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    bool found = false;
    for (guint i = 0; i < netlist->instances->len; i++) {
      const Instance *instance = netlist->instances->pdata[i];
      found |= inside(instance, path) && *instance->path;
      g_ptr_array_add(names, (gpointer)instance->path);
    }
    if (!found) {
      const char *near = diag_suggestion(path, names);
      fprintf(stderr, "lss schedule: there is no instance \"%s\"%s%s%s\n", path, near ? "; did you mean \"" : "",
              near ? near : "", near ? "\"?" : "");
      return 1;
    }
  }
  Schedule *schedule = schedule_build(netlist, &schedule_options);
  if (!schedule) return 1;
  g_autofree int *position = g_new0(int, schedule->nodes->len + 1);
  for (guint c = 0; c < netlist->clocks->len; c++) {
    const Clock *clock = netlist->clocks->pdata[c];
    int number = 0;
    for (guint i = 0; i < schedule->steps[c]->len; i++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      for (guint k = 0; k < segment->items->len; k++) {
        const Item *item = segment->items->pdata[k];
        for (guint n = 0; n < item->nodes->len; n++) position[((Vertex *)item->nodes->pdata[n])->id] = ++number;
      }
    }
    if (!number) continue;
    guint parts = schedule->steps[c]->len;
    printf("clock %s: %d functions in %u segment%s\n", clock->name, number, parts, parts == 1 ? "" : "s");
    for (guint i = 0; i < schedule->steps[c]->len; i++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      bool said = false;
      for (guint k = 0; k < segment->items->len; k++) {
        const Item *item = segment->items->pdata[k];
        for (guint n = 0; n < item->nodes->len; n++) {
          const Vertex *node = item->nodes->pdata[n];
          if (!inside(node->instance, path)) continue;
          if (!said) printf("  segment %u, %s\n", i + 1, cluster_name(segment->cluster));
          said = true;
          g_autofree char *name = vertex_name(node);
          printf("  %5d  %-44s %safter ", position[node->id], name, item->iterated ? "iterated, " : "");
          print_reason(node, position);
          printf("\n");
        }
      }
    }
  }
  print_replays(netlist, schedule, path);
  diag_flush();
  return 0;
}

const Command command_schedule = {"schedule", schedule_command, "M.lss [INSTANCE]", "the order of handlers and why",
                                  tables};
