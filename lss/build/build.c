// From a machine to a simulator: the stages of a build in their order, and what clang has to say.
#include "lss/build/build.h"

#include "lss/base/diagnostics.h"
#include "lss/base/library.h"
#include "lss/base/output.h"
#include "lss/base/working.h"
#include "lss/build/link.h"
#include "lss/build/named_headers.h"
#include "lss/build/profile_guided.h"
#include "lss/build/report.h"
#include "lss/build/search_path.h"
#include "lss/emit/emit.h"
#include "lss/parts/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const OptionSpec debug_options[] = {
    {"--debug", NULL, "check what handlers declare, and keep all signals visible"},
    {0},
};

const OptionSpec parts_options[] = {
    {"--parts", NULL, "of a network: a simulator for each kind of part, in a folder with network.json"},
    {0},
};

const OptionSpec build_options[] = {
    {"-o", "SIM", "where the simulator goes; without it `run` keeps it in the cache"},
    {"-O", "0|1|2|3", "how hard clang optimises: 2, with --debug 1"},
    {"--sanitize", NULL, "add checks of addresses and of undefined behaviour"},
    {"--pgo", "RUN", "optimise for what a run with these options executes; may be repeated"},
    {"--single-function", NULL, "make one C function of the machine, whatever its size"},
    {"--collect", "WHAT", "count what happens on `connections`, or add the collectors of a file X.lss"},
    {"--watch", "EVENT", "count an event for conditions of runs; may be repeated"},
    {"--record", "WHAT", "let runs record events, or instructions, memory, ports, frames; may be repeated"},
    {"--wave", "PORTS", "keep the signals of these ports visible, for --wave of runs; may be repeated"},
    {"--keep", "DIR", "keep the generated C in DIR"},
    {0},
};

static bool take_collect(const char *command, const char *value, BuildOptions *build) {
  if (!strcmp(value, "connections"))
    build->collect_connections = true;
  else if (g_str_has_suffix(value, ".lss"))
    g_ptr_array_add(build->options.compile.collectors, (gpointer)value);
  else
    return !usage_error(command, "--collect takes \"connections\" or a file of collectors, X.lss, not \"%s\"", value);
  return true;
}

bool build_option(const char *command, const char *name, const char *value, gpointer data) {
  BuildOptions *build = data;
  if (!strcmp(name, "--collect")) return take_collect(command, value, build);
  if (!strcmp(name, "-O")) {
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3"};
    if (value[0] < '0' || value[0] > '3' || value[1])
      return !usage_error(command, "-O takes 0, 1, 2 or 3, not \"%s\"", value);
    build->compiler.optimisation = levels[value[0] - '0'];
  } else if (!strcmp(name, "--watch")) {
    g_ptr_array_add(build->options.compile.watches, (gpointer)value);
  } else if (!strcmp(name, "--record")) {
    g_ptr_array_add(build->options.compile.records, (gpointer)value);
  } else if (!strcmp(name, "--wave")) {
    g_ptr_array_add(build->options.compile.waves, (gpointer)value);
  } else if (!strcmp(name, "-o")) {
    build->output = value;
  } else if (!strcmp(name, "--pgo")) {
    if (!build->training) build->training = g_ptr_array_new();
    g_ptr_array_add(build->training, (gpointer)value);
  } else if (!strcmp(name, "--keep")) {
    build->keep = value;
  } else if (!strcmp(name, "--kind")) {
    build->kind = value;
  } else {
    build->options.compile.debug |= !strcmp(name, "--debug");
    build->compiler.sanitize |= !strcmp(name, "--sanitize");
    build->single_cluster |= !strcmp(name, "--single-function");
    build->parts |= !strcmp(name, "--parts");
  }
  return true;
}

static Unit *unit_new(const char *name, const char *text, const char *optimisation) {
  Unit *unit = g_new0(Unit, 1);
  unit->optimisation = optimisation;
  unit->name = g_strdup(name);
  unit->text = g_strdup(text);
  return unit;
}

static void unit_free(gpointer data) {
  Unit *unit = data;
  g_free(unit->name);
  g_free(unit->text);
  g_free(unit->object);
  g_free(unit->key);
  g_free(unit->list);
  g_free(unit->messages);
  g_free(unit);
}

static void append_all(GString *text, const char *option, const GPtrArray *values) {
  for (guint i = 0; i < values->len; i++) g_string_append_printf(text, "\n%s\n%s", option, (char *)values->pdata[i]);
}

// The command line that builds the machine again, without -o, with absolute paths of machine and folders.
static char *command_line(const BuildOptions *build) {
  GString *text = g_string_new(NULL);
  g_autofree char *executable = library_executable();
  g_autofree char *machine = g_canonicalize_filename(build->options.machine, NULL);
  g_string_append_printf(text, "%s\nbuild\n%s", executable ? executable : "lss", machine);
  const GPtrArray *folders = build->options.compile.include_dirs, *defines = build->options.compile.defines;
  for (guint i = 0; i < folders->len; i++) {
    g_autofree char *folder = g_canonicalize_filename(folders->pdata[i], NULL);
    g_string_append_printf(text, "\n-I%s", folder);
  }
  for (guint i = 0; i < defines->len; i++) g_string_append_printf(text, "\n-D%s", (char *)defines->pdata[i]);
  const GPtrArray *collectors = build->options.compile.collectors;
  for (guint i = 0; i < collectors->len; i++) {
    g_autofree char *file = g_canonicalize_filename(collectors->pdata[i], NULL);
    g_string_append_printf(text, "\n--collect\n%s", file);
  }
  if (build->collect_connections) g_string_append(text, "\n--collect\nconnections");
  append_all(text, "--watch", build->options.compile.watches);
  append_all(text, "--record", build->options.compile.records);
  append_all(text, "--wave", build->options.compile.waves);
  if (build->compiler.sanitize) g_string_append(text, "\n--sanitize");
  if (build->single_cluster) g_string_append(text, "\n--single-function");
  if (build->parts) g_string_append(text, "\n--parts");
  if (build->kind) g_string_append_printf(text, "\n--kind\n%s", build->kind);
  return g_string_free(text, FALSE);
}

static bool keep_units(const char *folder, const GPtrArray *units) {
  if (g_mkdir_with_parents(folder, 0777) != 0) {
    fprintf(stderr, "lss: cannot create %s: %s\n", folder, g_strerror(errno));
    return false;
  }
  for (guint i = 0; i < units->len; i++) {
    const Unit *unit = units->pdata[i];
    g_autofree char *name = g_strconcat(unit->name, ".c", NULL);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_file_set_contents(path, unit->text, -1, &error)) {
      fprintf(stderr, "lss: %s\n", error->message);
      return false;
    }
  }
  return true;
}

// A further unit of a kind, if it has a text.
static void add_repeating(GPtrArray *units, const Kind *kind, const char *word, const char *text,
                          const char *optimisation) {
  if (!text) return;
  g_autofree char *name = g_strdup_printf("%s_%s", kind->name, word);
  Unit *unit = unit_new(name, text, optimisation);
  unit->repeats = true;
  g_ptr_array_add(units, unit);
}

// The unit of tables, in which a small machine's once is as well.
static void add_tables(GPtrArray *units, Emitter *emitter, bool joined) {
  g_autofree char *tables = joined ? emit_joined(emitter) : emit_table_unit(emitter);
  Unit *constant = unit_new("tables", tables, "-O0");
  constant->repeats =
      !emitter->plan->netlist->collectors->len; // collectors shared by all instances have functions there
  g_ptr_array_add(units, constant);
}

// The variables that clang's work depends on, and their values, alternating.
static GPtrArray *environment_of_clang(void) {
  GPtrArray *pairs = g_ptr_array_new();
  g_ptr_array_add(pairs, (gpointer) "LSS_CFLAGS");
  g_ptr_array_add(pairs, (gpointer)g_getenv("LSS_CFLAGS"));
  for (const char *const *name = search_path_variables; *name; name++) {
    g_ptr_array_add(pairs, (gpointer)*name);
    g_ptr_array_add(pairs, (gpointer)g_getenv(*name));
  }
  return pairs;
}

// The words of LSS_CFLAGS that define macros, which decide like parameters what a machine is.
static char *macros_of_flags(void) {
  g_auto(GStrv) words = toolchain_further_flags();
  GString *macros = g_string_new(NULL);
  for (char **word = words; *word; word++) {
    if (!g_str_has_prefix(*word, "-D") && !g_str_has_prefix(*word, "-U")) continue;
    g_string_append_printf(macros, "%s%s", macros->len ? " " : "", *word);
    if (!(*word)[2] && word[1]) g_string_append(macros, *++word);
  }
  return g_string_free(macros, FALSE);
}

// The units of a machine; with `check_only` those that hold the C of modules, and no more of them than that needs.
static GPtrArray *make_units(Netlist *netlist, BuildOptions *build, bool check_only) {
  ScheduleOptions schedule_options = {build->collect_connections, build->single_cluster};
  working_begin("scheduling", NULL, 0);
  Schedule *schedule = schedule_build(netlist, &schedule_options);
  if (!schedule) return NULL;
  working_begin("writing C", NULL, 0);
  Plan plan = {.netlist = netlist,
               .schedule = schedule,
               .debug = build->options.compile.debug,
               .collect_connections = build->collect_connections,
               .whole = build->single_cluster,
               .check_only = check_only};
  if (!plan_build(&plan) || !plan_check(&plan)) return NULL;
  Emitter emitter = {.plan = &plan, .unoptimised = !strcmp(build->compiler.optimisation, "-O0")};
  emit_kinds(&emitter);
  g_autofree char *command = command_line(build), *macros = macros_of_flags();
  g_autoptr(GPtrArray) environment = environment_of_clang();
  emitter.build_command = command;
  emitter.environment = environment;
  emitter.macros = macros;
  GPtrArray *units = g_ptr_array_new_with_free_func(unit_free);
  const bool joined = !check_only && emit_is_joined(&emitter);
  if (joined && emitter.unoptimised) {
    g_autofree char *all = emit_joined(&emitter);
    g_ptr_array_add(units, unit_new(((Kind *)emitter.kinds->pdata[0])->name, all, NULL));
    return units;
  }
  for (guint i = 0; i < emitter.kinds->len; i++) {
    const Kind *kind = emitter.kinds->pdata[i];
    g_ptr_array_add(units, unit_new(kind->name, kind->unit, NULL));
    for (guint k = 0; !check_only && kind->parts && k < kind->parts->len; k++) {
      g_autofree char *word = g_strdup_printf("part_%u", k);
      add_repeating(units, kind, word, kind->parts->pdata[k], NULL);
    }
  }
  if (check_only) return units;
  for (guint i = 0; i < emitter.kinds->len; i++) {
    const Kind *kind = emitter.kinds->pdata[i];
    // It runs seldom: what is inlined into it are the functions of the modules, which say so themselves.
    add_repeating(units, kind, "record", kind->record, emitter.unoptimised ? NULL : "-O1 -fno-inline-functions");
    if (!joined) add_repeating(units, kind, "once", kind->once, "-O0"); // optimising takes longer than running it
  }
  add_tables(units, &emitter, joined);
  return units;
}

// A profile is of code that clang optimises, and of nothing that it adds to it.
static bool may_train(const BuildOptions *build) {
  const char *without = build->options.compile.debug                      ? "--debug"
                        : build->compiler.sanitize                        ? "--sanitize"
                        : !g_strcmp0(build->compiler.optimisation, "-O0") ? "-O 0"
                                                                          : NULL;
  if (build->training && without) usage_error("build", "--pgo optimises, so it does not go with %s", without);
  return !build->training || !without;
}

// What follows from other options and from the environment.
static void complete_options(BuildOptions *build) {
  const bool debug = build->options.compile.debug;
  g_auto(GStrv) further = toolchain_further_flags();
  for (char **flag = further; *flag; flag++) // which come last
    if (g_str_has_prefix(*flag, "-O")) build->compiler.optimisation = g_intern_string(*flag);
  if (!build->compiler.optimisation) build->compiler.optimisation = debug ? "-O1" : "-O2";
  build->compiler.checked = debug;
  build->compiler.times = g_getenv("LSS_TIMES") != NULL;
}

#pragma weak __lsan_disable
void __lsan_disable(void);

void build_keep_memory(void) {
  if (__lsan_disable) __lsan_disable();
}

int build_check(BuildOptions *build, Netlist *netlist) {
  build_keep_memory();
  complete_options(build);
  g_autoptr(GPtrArray) units = make_units(netlist, build, true);
  working_end();
  diag_flush();
  g_auto(Toolchain) toolchain = {.cache = {.lock = -1}};
  if (!units) return 1;
  if (!toolchain_open(&toolchain, &build->compiler)) return 3;
  objects_check(&toolchain, units);
  return build_report(units);
}

// What is only known when the others are compiled.
static int add_headers(Toolchain *toolchain, GPtrArray *units, const Netlist *netlist) {
  Unit *unit = named_headers(toolchain, units, netlist);
  if (!unit) return 0;
  g_autoptr(GPtrArray) only = g_ptr_array_new();
  g_ptr_array_add(only, unit);
  g_ptr_array_add(units, unit);
  objects_compile(toolchain, only);
  return build_report(only);
}

int build_netlist(BuildOptions *build, Netlist *netlist, const char *output) {
  build_keep_memory();
  complete_options(build);
  g_autoptr(GPtrArray) units = make_units(netlist, build, false);
  working_end();
  diag_flush();
  if (!units) return 1;
  if (build->keep && !keep_units(build->keep, units)) return 3;
  g_auto(Toolchain) toolchain = {0};
  if (!toolchain_open(&toolchain, &build->compiler)) return 3;
  objects_compile(&toolchain, units);
  int status = build_report(units);
  if (!status) status = add_headers(&toolchain, units, netlist);
  return status ? status : link_simulator(&toolchain, units, output);
}

int build_simulator(BuildOptions *build, char **output) {
  gint64 begin = g_get_monotonic_time();
  if (!may_train(build)) return 2;
  complete_options(build);
  // The netlist and its schedule live as long as the process: it ends, or becomes the simulator, right afterwards.
  Netlist *netlist = compile_netlist(build->options.machine, &build->options.compile);
  if (!netlist) return 1;
  netlist->distance = network_distance(netlist);
  g_autoptr(GPtrArray) sources = netlist_files(netlist);
  if (build->output && !output_spares_sources("build", build->output, sources)) return 2;
  g_autoptr(GPtrArray) units = make_units(netlist, build, false);
  working_end();
  if (!units) {
    diag_flush();
    return 1;
  }
  diag_flush();
  if (build->compiler.times) fprintf(stderr, "lss: %6.2f s  to C\n", (double)(g_get_monotonic_time() - begin) / 1e6);
  if (build->keep && !keep_units(build->keep, units)) return 3;
  g_autofree char *profile = NULL;
  int status = build->training ? profile_guided(build, units, &profile) : 0;
  if (status) return status;
  build->compiler.profile = profile;
  g_auto(Toolchain) toolchain = {0};
  if (!toolchain_open(&toolchain, &build->compiler)) return 3;
  objects_compile(&toolchain, units);
  status = build_report(units);
  if (!status) status = add_headers(&toolchain, units, netlist);
  if (status) return status;
  if (build->output) {
    *output = g_strdup(build->output);
    return link_simulator(&toolchain, units, *output);
  }
  g_autofree char *base = g_path_get_basename(build->options.machine);
  if (g_str_has_suffix(base, ".lss")) base[strlen(base) - strlen(".lss")] = '\0';
  return link_cached(&toolchain, units, base, output);
}
