// lss cache: shows, bounds and empties the folder in which builds keep objects and simulators.
#include "lss/base/arena.h"
#include "lss/base/units.h"
#include "lss/build/cache.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"

#include <stdio.h>
#include <string.h>

static int show(void) {
  CacheUse use;
  g_autofree char *folder = cache_folder();
  cache_use(&use);
  const char *limit = quantity_text(DIM_SIZE, (int64_t)MIN(use.limit, (guint64)G_MAXINT64), 1);
  printf("%s\n%.1f MiB in %u objects and %u simulators; at most %s\n", folder, (double)use.bytes / (1 << 20),
         use.objects, use.simulators, limit);
  arena_release();
  return 0;
}

int command_cache(int argc, char **argv) {
  const char *limit = NULL, *word = NULL;
  for (int i = 1; i < argc; i++) {
    if (option_value(argc, argv, &i, "--limit", &limit)) {
      if (!limit) return 2;
    } else if (word || (strcmp(argv[i], "show") != 0 && strcmp(argv[i], "clean") != 0)) {
      return usage_error(argv[0], "show, clean or --limit SIZE, not \"%s\"", argv[i]);
    } else {
      word = argv[i];
    }
  }
  int64_t bytes = 0, parts = 1;
  if (limit && (!quantity_parse(limit, DIM_SIZE, &bytes, &parts) || parts != 1))
    return usage_error(argv[0], "--limit takes whole bytes, a number and one of %s, not \"%s\"",
                       dimension_units(DIM_SIZE), limit);
  if (word && !strcmp(word, "clean") && !cache_clean()) return 3;
  if (limit && !cache_set_limit((guint64)bytes)) return 3;
  return (word && !strcmp(word, "show")) || (!word && !limit) ? show() : 0;
}
