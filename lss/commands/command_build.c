// lss build M.lss -o SIM and lss run M.lss [-- …]: a simulator, kept where it is asked for, or made in the cache and
// run.
#include "lss/base/output.h"
#include "lss/build/build.h"
#include "lss/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const OptionSpec kind_options[] = {
    {"--kind", "NAME", "with --parts: only the simulator that has this name there; -o is its file"},
    {0},
};
static const OptionSpec *const options[] = {build_options, debug_options, folder_options, machine_options, NULL};
static const OptionSpec *const all_options[] = {build_options,  parts_options,   kind_options, debug_options,
                                                folder_options, machine_options, NULL};

static int build_command(int argc, char **argv) {
  BuildOptions build = {0};
  if (!options_parse(all_options, argc, argv, &build.options, build_option, &build, NULL)) return 2;
  if (!build.options.machine || build.options.rest->len || !build.output)
    return usage_error(argv[0], "give one machine and an output: lss build M.lss -o SIM");
  if (build.kind && !build.parts) return usage_error(argv[0], "--kind lacks --parts");
  g_autofree char *output = NULL;
  int status = build.parts ? build_parts(&build) : build_simulator(&build, &output);
  if (!status) output_note(argv[0], build.output, "");
  options_clear(&build.options);
  return status;
}

static int run_command(int argc, char **argv) {
  BuildOptions build = {0};
  int stop = argc;
  if (!options_parse(options, argc, argv, &build.options, build_option, &build, &stop)) return 2;
  if (!build.options.machine || build.options.rest->len)
    return usage_error(argv[0], "give one machine: lss run M.lss [-- simulator options]");
  g_autofree char *output = NULL;
  int status = build_simulator(&build, &output);
  if (status) return status;
  GPtrArray *words = g_ptr_array_new();
  g_ptr_array_add(words, output);
  for (int i = stop; i < argc; i++) g_ptr_array_add(words, argv[i]);
  g_ptr_array_add(words, NULL);
  execv(output, (char **)words->pdata);
  fprintf(stderr, "lss run: cannot run %s: %s\n", output, g_strerror(errno));
  return 3;
}

const Command command_build = {"build", build_command, "M.lss -o SIM", "compile a machine into a simulator",
                               all_options};
const Command command_run = {"run", run_command, "M.lss [-- SIMULATOR OPTIONS]", "build if needed, then run", options};
