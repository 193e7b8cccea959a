// Giving a run to a variant, and taking it; see handover.h.
#include "lss/runtime/debug/handover.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/stepping.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char HANDED[] =
    "SPINACH_DEBUG_HANDED";          // in the environment: descriptors of what is handed over, and a word
static const char TRIAL[] = "trial"; // it is only tried whether the variant takes the state over
// The instant at which it is; at the start of history, whether and why the run stops, with which status; whether the
// machine counts what another build might not take over; outputs; the session.
#define HANDED_TYPE      "(tisib@" OPEN_OUTPUTS_TYPE "v)"
#define HANDED_READ_TYPE "(tisib" OPEN_OUTPUTS_TYPE "v)"

static GVariant *handed;
static bool trial;

// ---- Giving ---------------------------------------------------------------------------------------------------------

static int in_memory(gconstpointer bytes, gsize size) {
  const int handle = memfd_create("handed", 0);
  if (handle >= 0 && write(handle, bytes, size) == (gssize)size) return handle;
  if (handle >= 0) close(handle);
  return -1;
}

static void set_inherited(const int *handles, bool inherited) {
  for (; *handles >= 0; handles++) fcntl(*handles, F_SETFD, inherited ? 0 : FD_CLOEXEC);
}

// Whether the machine counts what another build might not take over.
static bool counts(void) {
  uint32_t count;
  history_mark();
  spinach_update_statistics();
  spinach_reports(&count);
  history_back(spinach_next_instant());
  return count || spinach_machine_table.counted;
}

// Whether the variant takes the state over; else why not.
static char *try_variant(const char *variant, const spinach_options *options) {
  g_autoptr(GPtrArray) command = g_ptr_array_new();
  g_ptr_array_add(command, (gpointer)variant);
  for (int i = 1; i < options->argc; i++) g_ptr_array_add(command, options->argv[i]);
  g_ptr_array_add(command, NULL);
  g_autofree char *said = NULL;
  g_autoptr(GError) error = NULL;
  int status;
  const GSpawnFlags flags = G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_STDOUT_TO_DEV_NULL;
  if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, flags, NULL, NULL, NULL, &said, &status, &error))
    return g_strdup(error->message);
  if (!status) return NULL;
  const char *line = g_strrstr(g_strchomp(said), "\n"), *text = strstr(line ? line : said, ": ");
  return g_strdup_printf("the variant cannot go on from here: %s", text ? text + 2 : "it says nothing");
}

static char *give(const char *variant, const spinach_options *options, const int *state, const int *handles) {
  g_autofree char *words = g_strdup_printf("%d %d %s", state[0], state[1], TRIAL);
  g_setenv(HANDED, words, TRUE);
  char *why = try_variant(variant, options);
  if (!why) {
    *strrchr(words, ' ') = '\0';
    g_setenv(HANDED, words, TRUE);
    set_inherited(handles, true);
    spinach_variant_run(variant, options->argv);
    why = g_strdup_printf("cannot run %s: %s", variant, g_strerror(errno));
    set_inherited(handles, false);
  }
  g_unsetenv(HANDED);
  return why;
}

char *handover_become(const spinach_options *options, const GPtrArray *words, GVariant *session, const int *handles) {
  g_autoptr(GVariant) kept = g_variant_ref_sink(session);
  const uint64_t now = spinach_next_instant();
  g_autofree char *variant = spinach_variant_build(words);
  if (!variant) return g_strdup(spinach_reported_error());
  const bool counted = counts();
  history_back(history_oldest());
  spinach_part_complete(spinach_next_instant());
  const struct spinach_moment moment = spinach_now();
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) files = open_files_hand_over(&error);
  const int checkpoint = memfd_create("handed", 0);
  char *why = NULL;
  if (files && checkpoint >= 0 && spinach_checkpoint_append(options, checkpoint, &error)) {
    g_autoptr(GVariant) all = g_variant_ref_sink(
        g_variant_new(HANDED_TYPE, now, moment.stopping, moment.stop_reason, moment.stop_status, counted, files, kept));
    const int state[] = {checkpoint, in_memory(g_variant_get_data(all), g_variant_get_size(all))};
    why = state[1] < 0 ? g_strdup("there is no memory for its state") : give(variant, options, state, handles);
    if (state[1] >= 0) close(state[1]);
  } else {
    why = g_strdup(error ? error->message : "there is no memory for its state");
  }
  if (checkpoint >= 0) close(checkpoint);
  remove(variant);
  stepping_go_to(now);
  return why;
}

// ---- Taking ---------------------------------------------------------------------------------------------------------

bool spinach_debug_adopt(spinach_options *options) {
  const char *words = g_getenv(HANDED);
  int state[2];
  char word[8] = "";
  struct stat status;
  if (!words || sscanf(words, "%d %d %7s", &state[0], &state[1], word) < 2) return true;
  trial = !strcmp(word, TRIAL);
  if (trial) spinach_streams_close_consoles(NULL); // the process whose run it is has them open
  if (fstat(state[1], &status) || !status.st_size)
    return spinach_report_error("the state of the earlier process is lost");
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, state[1], 0);
  if (bytes == MAP_FAILED) return spinach_report_error("there is no memory for the state of the earlier process");
  handed = g_variant_new_from_data(G_VARIANT_TYPE(HANDED_READ_TYPE), bytes, (gsize)status.st_size, TRUE, NULL, NULL);
  g_variant_ref_sink(handed);
  options->restore = g_strdup_printf("/proc/self/fd/%d", state[0]);
  options->outputs_go_on = options->seed_given = false;
  options->handed = true;
  g_array_set_size(options->settings, 0); // the state has them
  g_unsetenv(HANDED);
  return true;
}

bool spinach_debug_take_over(bool *tried) {
  *tried = trial;
  if (!handed) return true;
  gboolean counted;
  g_autoptr(GVariant) files = g_variant_get_child_value(handed, 5);
  g_variant_get_child(handed, 4, "b", &counted);
  if (counted && !spinach_restored_whole())
    return spinach_report_error("the counts of this machine's collectors would begin again");
  if (trial) return true;
  g_autoptr(GError) error = NULL;
  return open_files_take_over(files, &error) || spinach_report_error("%s", error->message);
}

GVariant *handover_session(void) {
  if (!handed) return NULL;
  g_autoptr(GVariant) boxed = g_variant_get_child_value(handed, 6);
  return g_variant_get_variant(boxed);
}

void handover_arrive(void) {
  if (!handed) return;
  guint64 now;
  struct spinach_moment moment = spinach_now();
  g_variant_get_child(handed, 0, "t", &now);
  g_variant_get_child(handed, 1, "i", &moment.stopping);
  g_variant_get_child(handed, 2, "&s", &moment.stop_reason);
  g_variant_get_child(handed, 3, "i", &moment.stop_status);
  history_rewind(&moment);
  history_restart(); // its mark has that, too
  stepping_go_to(now);
}
