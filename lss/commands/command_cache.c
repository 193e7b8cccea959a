// lss cache: shows, bounds and empties the folder in which builds keep objects and simulators.
#include "lss/base/arena.h"
#include "lss/base/units.h"
#include "lss/build/cache.h"
#include "lss/build/cache_lock.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"

#include <stdio.h>
#include <string.h>

static int show(void) {
  const CacheUse use = cache_use();
  g_autofree char *folder = cache_folder();
  const char *limit = quantity_text(DIM_SIZE, (int64_t)MIN(use.limit, (guint64)G_MAXINT64), 1);
  printf("%s\n%.1f MiB in %u objects and %u simulators; at most %s\n", folder, (double)use.bytes / (1 << 20),
         use.objects, use.simulators, limit);
  arena_release();
  return 0;
}

static const OptionSpec own[] = {
    {"--limit", "SIZE", "keep at most SIZE, \"500 MiB\"; what was not used for longest goes first"},
    {0},
};
static const OptionSpec *const tables[] = {own, NULL};

static int cache_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  const char *limit = NULL;
  if (!options_parse(tables, argc, argv, &options, option_text, &limit, NULL)) return 2;
  const char *word = options.machine, *wrong = options.rest->len ? options.rest->pdata[0] : NULL;
  if (word && strcmp(word, "show") != 0 && strcmp(word, "clean") != 0) wrong = word;
  if (wrong) return usage_error(argv[0], "show, clean or --limit SIZE, not \"%s\"", wrong);
  int64_t bytes = 0;
  const char *error;
  if (limit && !quantity_read_base(limit, DIM_SIZE, &bytes, &error)) return usage_error(argv[0], "--limit: %s", error);
  if (bytes < 0) return usage_error(argv[0], "--limit: \"%s\" is negative", limit);
  if (word && !strcmp(word, "clean") && !cache_clean()) return 3;
  if (limit && !cache_set_limit((guint64)bytes)) return 3;
  return (word && !strcmp(word, "show")) || (!word && !limit) ? show() : 0;
}

const Command command_cache = {"cache", cache_command, "[show|clean]",
                               "what is kept of earlier builds: show its place and size, remove it, or bound it",
                               tables};
