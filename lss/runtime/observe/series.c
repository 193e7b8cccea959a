// The samples of a run, written down as they come; see series.h.
#include "lss/runtime/observe/series.h"

#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/observe/statistics.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;
static const char NAMES[] = "{\"statistics\"", VALUES[] = "\"values\": [";

static struct {
  char *beside; // the statistics
  bool wanted;
  char *problem;  // why a sample could not be written
  char *left;     // where the samples are that could not be copied
  WholeFile file; // its place is empty when the file has no name
  int handle;
  uint64_t bytes, count; // of whole lines; samples
  GPtrArray *reports;    // GArray of const char *: what collectors reported, one for each line of names
  spinach_snapshot *latest;
} series = {.handle = -1};

static char *place_of(const spinach_options *options) {
  if (options->stats && !g_str_has_suffix(options->stats, ".csv")) return g_strdup(options->stats);
  return options->run_dir ? g_build_filename(options->run_dir, "statistics.json", NULL) : NULL;
}

void spinach_series_begin(const spinach_options *options) {
  series.reports = g_ptr_array_new();
  series.beside = place_of(options);
  series.wanted = series.beside || options->checkpoint;
}

// ---- The file

// A file that has no name, for samples that end in a pipe, on standard output or in a checkpoint alone.
static bool open_nameless(GError **error) {
  g_autofree char *name = NULL;
  series.handle = g_file_open_tmp("spinach-samples-XXXXXX", &name, error);
  if (series.handle >= 0) unlink(name);
  return series.handle >= 0;
}

static bool open_file(GError **error) {
  if (series.handle >= 0) return true;
  if (!series.beside || file_path_in_place(series.beside)) return open_nameless(error);
  g_autofree char *folder = g_path_get_dirname(series.beside);
  g_mkdir_with_parents(folder, 0777); // that of --run-dir may still be to be made; what fails is said of the file
  if (!whole_file_begin(&series.file, series.beside, error)) return false;
  series.handle = series.file.handle;
  return true;
}

// Appends a whole line; what was written of one that does not fit is dropped.
static bool append(const char *text, gsize length) {
  g_autoptr(GError) error = NULL;
  if (series.problem) return false;
  if (open_file(&error) && whole_file_append(series.handle, text, length, &error)) {
    series.bytes += length;
    return true;
  }
  series.problem = g_strdup(error->message);
  if (series.handle >= 0 && ftruncate(series.handle, (off_t)series.bytes)) return false; // its last line is no line
  return false;
}

static bool append_json(Json *json) {
  g_autofree char *text = json_finish(json);
  return append(text, strlen(text));
}

// ---- Samples

static GArray *reported_in(const GArray *values) {
  GArray *reports = g_array_new(FALSE, FALSE, sizeof(char *));
  for (guint i = 0; i < values->len; i++) {
    const char *reported = g_array_index(values, spinach_value, i).reported;
    if (reported) g_array_append_val(reports, reported);
  }
  return reports;
}

static bool same_reports(const GArray *a, const GArray *b) {
  return a->len == b->len && (a->len == 0 || !memcmp(a->data, b->data, a->len * sizeof(char *)));
}

// The names of what follows, unless they are those of the samples before.
static bool append_names(const spinach_snapshot *sample) {
  GArray *reports = reported_in(sample->values);
  const guint lists = series.reports->len;
  if (lists && same_reports(series.reports->pdata[lists - 1], reports)) {
    g_array_free(reports, TRUE);
    return true;
  }
  g_ptr_array_add(series.reports, reports);
  Json json;
  json_start_line(&json);
  json_open(&json, '{');
  spinach_statistics_names(&json);
  if (sample->connections->len) json_open_member(&json, "connections", '[');
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    if (!spinach_connection_counts(i)) continue;
    json_open(&json, '[');
    json_string(&json, machine->connections[i].from);
    json_string(&json, machine->connections[i].to);
    json_close(&json, ']');
  }
  if (sample->connections->len) json_close(&json, ']');
  json_close(&json, '}');
  return append_json(&json);
}

bool spinach_series_add(spinach_snapshot *sample) {
  if (!series.wanted || !append_names(sample)) {
    spinach_snapshot_free(sample);
    return !series.wanted;
  }
  Json json;
  json_start_line(&json);
  spinach_snapshot_write(&json, sample, series.latest);
  const bool fine = append_json(&json);
  series.count += fine;
  spinach_snapshot_free(series.latest);
  series.latest = sample;
  return fine;
}

uint64_t spinach_series_count(void) {
  return series.count;
}

// ---- Into the statistics

// Where the values of collectors at the end of the run are among those of a line, or -1; NULL: at the same places.
static GArray *places(const GArray *there, const GArray *final, guint declared) {
  if (same_reports(there, final)) return NULL;
  GArray *at = g_array_new(FALSE, FALSE, sizeof(gint));
  for (guint i = 0; i < final->len; i++) {
    gint place = -1;
    for (guint k = 0; k < there->len && place < 0; k++)
      if (g_array_index(there, char *, k) == g_array_index(final, char *, i)) place = (gint)(declared + k);
    g_array_append_val(at, place);
  }
  return at;
}

// A line whose values are those that there are at the end: the declared ones, then those of `reported`.
static bool copy_moved(FILE *out, char *line, guint declared, const GArray *reported) {
  char *begin = strstr(line, VALUES), *end = begin ? strchr(begin, ']') : NULL;
  if (!end) return errno = EIO, false;
  begin += strlen(VALUES);
  g_autofree char *row = g_strndup(begin, (gsize)(end - begin));
  g_auto(GStrv) values = g_strsplit(row, ", ", -1);
  const guint count = g_strv_length(values);
  fwrite(line, 1, (size_t)(begin - line), out);
  for (guint i = 0; i < declared + reported->len; i++) {
    const gint place = i < declared ? (gint)i : g_array_index(reported, gint, i - declared);
    fprintf(out, "%s%s", i ? ", " : "", place < 0 || (guint)place >= count ? "null" : values[place]);
  }
  return fputs(end, out) != EOF && !ferror(out);
}

bool spinach_series_copy(FILE *out, int depth) {
  if (series.handle < 0) return true;
  g_autoptr(GArray) last = g_array_new(FALSE, FALSE, sizeof(spinach_value));
  spinach_statistics_values(last);
  g_autoptr(GArray) final = reported_in(last), moved = NULL;
  const guint declared = last->len - final->len;
  const int own = lseek(series.handle, 0, SEEK_SET) ? -1 : dup(series.handle);
  FILE *in = own < 0 ? NULL : fdopen(own, "r");
  if (!in) return false;
  g_autofree char *line = NULL;
  size_t room = 0;
  guint lists = 0;
  uint64_t copied = 0;
  bool fine = true;
  for (ssize_t length; fine && copied < series.count && (length = getline(&line, &room, in)) > 0;) {
    if (g_str_has_prefix(line, NAMES)) {
      g_clear_pointer(&moved, g_array_unref);
      if (lists < series.reports->len) moved = places(series.reports->pdata[lists++], final, declared);
      continue;
    }
    line[length - 1] = 0;
    fine = fprintf(out, "%s\n%*s", copied++ ? "," : "", 2 * depth, "") >= 0 &&
           (moved ? copy_moved(out, line, declared, moved) : fputs(line, out) != EOF);
  }
  if (fine && copied < series.count) fine = false, errno = ferror(in) ? errno : EIO;
  const int code = errno;
  fclose(in);
  lseek(series.handle, 0, SEEK_END);
  errno = code;
  return fine;
}

const char *spinach_series_leave(void) {
  if (!series.left && series.file.temporary) {
    series.left = whole_file_growing(&series.file);
    g_clear_pointer(&series.file.temporary, g_free); // so that it is not removed
  }
  return series.left;
}

const char *spinach_series_left(void) {
  return series.left;
}

void spinach_series_end(void) {
  if (series.file.place.path) whole_file_end(&series.file);
  if (series.handle >= 0) close(series.handle);
  series.handle = -1;
}

const char *spinach_series_problem(void) {
  return series.problem;
}

// ---- In checkpoints

GVariant *spinach_series_pack(void) {
  g_autoptr(GVariantBuilder) latest = g_variant_builder_new(G_VARIANT_TYPE("a" SNAPSHOT_TYPE)),
                             reports = g_variant_builder_new(G_VARIANT_TYPE("aas"));
  if (series.latest) g_variant_builder_add_value(latest, spinach_snapshot_pack(series.latest));
  for (guint i = 0; series.reports && i < series.reports->len; i++) {
    const GArray *list = series.reports->pdata[i];
    g_variant_builder_add_value(reports, g_variant_new_strv((const char *const *)list->data, (gssize)list->len));
  }
  GMappedFile *lines =
      series.bytes && series.handle >= 0 ? g_mapped_file_new_from_fd(series.handle, FALSE, NULL) : NULL;
  g_autoptr(GBytes) bytes = lines ? g_mapped_file_get_bytes(lines) : g_bytes_new(NULL, 0);
  if (lines) g_mapped_file_unref(lines);
  return g_variant_new("(ta" SNAPSHOT_TYPE "aas@ay)", series.count, latest, reports,
                       g_variant_new_from_bytes(G_VARIANT_TYPE("ay"), bytes, TRUE));
}

static void unpack_reports(GVariant *all) {
  for (gsize i = 0; i < g_variant_n_children(all); i++) {
    g_autoptr(GVariant) packed = g_variant_get_child_value(all, i);
    g_autofree const char **names = g_variant_get_strv(packed, NULL);
    GArray *list = g_array_new(FALSE, FALSE, sizeof(char *));
    for (const char **name = names; *name; name++) {
      const char *kept = g_intern_string(*name);
      g_array_append_val(list, kept);
    }
    g_ptr_array_add(series.reports, list);
  }
}

bool spinach_series_unpack(GVariant *packed, char **misfit) {
  g_autoptr(GVariant) latest = g_variant_get_child_value(packed, 1), reports = g_variant_get_child_value(packed, 2),
                      lines = g_variant_get_child_value(packed, 3);
  if (g_variant_n_children(latest)) {
    g_autoptr(GVariant) one = g_variant_get_child_value(latest, 0);
    series.latest = spinach_snapshot_unpack(one);
    if ((*misfit = spinach_snapshot_misfit(series.latest))) return false;
  }
  unpack_reports(reports);
  g_variant_get_child(packed, 0, "t", &series.count);
  gsize length;
  const char *bytes = g_variant_get_fixed_array(lines, &length, 1);
  return !length || !series.wanted || append(bytes, length);
}
