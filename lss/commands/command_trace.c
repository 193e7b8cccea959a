// lss trace: prints what a run recorded, chosen by processor, address, function, event and cycle.
#include "emulib/program/input_file.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/build/options.h"
#include "lss/commands/commands.h"
#include "lss/commands/trace.h"
#include "lss/runtime/text/number.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>
#include <unistd.h>

enum { FLUSH = 1 << 16 }; // bytes of text that are kept
enum { LISTED = 200 };    // bytes of a list of names, about

// The file is fine, and the options name what it does not have.
#define WRONG_CHOICE g_quark_from_static_string("lss-trace-choice")

static const OptionSpec own[] = {
    {"--core", "PATTERN", "only what processors do whose path, or that of something around them, matches"},
    {"--event", "PATTERN", "only these events: \"**.retire\", \"nic.dma_read.*\""},
    {"--address", "A[-B]", "only what has a pc or an address in this range"},
    {"--function", "NAME", "only what instructions of this function do, inlined or not"},
    {"--cycles", "A[-B]", "only from cycle A to cycle B of the clock of what happens"},
    {"--json", NULL, "a line of JSON for each, and one ahead that says what they are of"},
    {0},
};
static const OptionSpec *const tables[] = {own, NULL};

typedef struct {
  guint64 first, last;
} Range;

typedef struct {
  const char *core, *event, *function;
  Range address, cycles;
  bool by_address, json;
  bool *chosen; // of the sources, by path
} Filter;

// "A" or "A-B".
static bool read_range(const char *command, const char *name, const char *text, const char *example, Range *range) {
  const char *at = text;
  bool fine = number_take_count(&at, UINT64_MAX, &range->first);
  range->last = range->first;
  if (fine && *at == '-') {
    at++;
    fine = number_take_count(&at, UINT64_MAX, &range->last);
  }
  if (fine && !*at && range->first <= range->last) return true;
  return !usage_error(command, "%s takes a number or a range, \"%s\", not \"%s\"", name, example, text);
}

static bool take(const char *command, const char *name, const char *value, gpointer data) {
  Filter *filter = data;
  if (!strcmp(name, "--address")) {
    filter->by_address = true;
    return read_range(command, name, value, "0xc00000-0xc00fff", &filter->address);
  }
  if (!strcmp(name, "--cycles")) return read_range(command, name, value, "1000-2000", &filter->cycles);
  if (!strcmp(name, "--core")) filter->core = value;
  if (!strcmp(name, "--event")) filter->event = value;
  if (!strcmp(name, "--function")) filter->function = value;
  filter->json |= !strcmp(name, "--json");
  return true;
}

// ---- What is chosen

// A path, or that of something around it.
static bool matches_around(const char *pattern, const char *path) {
  g_autofree char *part = g_strdup(path);
  for (char *dot = part; dot; dot = strrchr(part, '.')) {
    if (dot != part) *dot = '\0';
    if (spinach_path_matches(pattern, part)) return true;
  }
  return false;
}

static bool is_of_core(const Filter *filter, const TraceReadSource *source) {
  return !filter->core || (source->core && matches_around(filter->core, source->path));
}

static bool is_of_event(const Filter *filter, const char *name) {
  return !filter->event || spinach_path_matches(filter->event, name);
}

// "; did you mean `retire`?", or else which there are, each once.
static const char *what_there_is(const char *wanted, const GPtrArray *names) {
  const char *suggestion = diag_suggestion(wanted, (GPtrArray *)names);
  if (suggestion) return did_you_mean(suggestion);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint i = 0; i < names->len && list->len < LISTED; i++)
    if (g_hash_table_add(seen, names->pdata[i]))
      g_string_append_printf(list, "%s%s", list->len ? ", " : "; there are ", (char *)names->pdata[i]);
  if (list->len >= LISTED) g_string_append(list, ", …");
  return arena_strdup(list->str);
}

// The sources that are chosen; false: a pattern is of none, which is a mistake.
static bool choose_sources(Filter *filter, const TraceReadHeader *header, GError **error) {
  g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func(g_free), cores = g_ptr_array_new();
  bool by_core = !filter->core, by_event = !filter->event; // a file may have no sources
  for (guint i = 0; i < header->source_count; i++) {
    const TraceReadSource *source = &header->sources[i];
    char *name = g_strdup_printf("%s.%s", source->path, source->event);
    const bool of_core = is_of_core(filter, source), of_event = is_of_event(filter, name);
    g_ptr_array_add(events, name);
    if (source->core) g_ptr_array_add(cores, (char *)source->path);
    filter->chosen[i] = of_core && of_event;
    by_core |= of_core;
    by_event |= of_event;
  }
  const char *what = !by_event ? "event" : "processor", *pattern = !by_event ? filter->event : filter->core;
  if (by_core && by_event) return true;
  g_set_error(error, WRONG_CHOICE, 0, "has no %s \"%s\"%s", what, pattern,
              what_there_is(pattern, !by_event ? events : cores));
  return false;
}

// Whether a program of the file has the function that is chosen, if any; false: none has, which is a mistake.
static bool knows_function(const Filter *filter, const CodeNames *names, GError **error) {
  if (!filter->function) return true;
  g_autoptr(GPtrArray) functions = code_names_functions(names);
  for (guint i = 0; i < functions->len; i++)
    if (!strcmp(functions->pdata[i], filter->function)) return true;
  g_set_error(error, WRONG_CHOICE, 0, "has no instruction of a function \"%s\"%s", filter->function,
              did_you_mean(diag_suggestion(filter->function, functions)));
  return false;
}

static bool is_within(Range range, guint64 number) {
  return number >= range.first && number <= range.last;
}

static bool is_chosen(const Filter *filter, const TraceLine *line) {
  guint64 address;
  if (filter->function && (!line->place || !code_place_is_in(line->place, filter->function))) return false;
  if (!filter->by_address) return true;
  if (line->place && is_within(filter->address, line->pc)) return true;
  return trace_record_integer(line->record, "address", &address) && is_within(filter->address, address);
}

// ---- The file

static void add_place(TraceLine *line, GHashTable *words, CodeNames *names) {
  guint64 pc, word;
  if (!trace_record_integer(line->record, "pc", &pc)) return;
  line->pc = (guint32)pc;
  // Events that know no instruction word mean what was last executed at their address.
  if (trace_record_integer(line->record, "word", &word))
    g_hash_table_insert(words, GUINT_TO_POINTER(line->pc), GUINT_TO_POINTER((guint32)word));
  else
    word = GPOINTER_TO_UINT(g_hash_table_lookup(words, GUINT_TO_POINTER(line->pc)));
  line->word = (guint32)word;
  line->place = code_names_find(names, line->pc, line->word);
}

static bool print_records(TraceReader *reader, const Filter *filter, CodeNames *names, GError **error) {
  const TraceReadHeader *header = trace_reader_header(reader);
  g_autoptr(GString) out = g_string_new(NULL);
  g_autoptr(GHashTable) words = g_hash_table_new(NULL, NULL);
  if (filter->json) trace_append_header(out, header);
  TraceRecord record;
  bool any = false;
  while (trace_reader_next(reader, &record, error)) {
    if (!filter->chosen[record.source - header->sources]) continue;
    TraceLine line = {.record = &record, .cycle = trace_reader_cycle(header, &record)};
    if (!is_within(filter->cycles, line.cycle)) continue;
    add_place(&line, words, names);
    if (!is_chosen(filter, &line)) continue;
    any = true;
    if (filter->json)
      trace_append_json(out, header, &line);
    else
      trace_append_text(out, header, &line, names);
    if (out->len < FLUSH) continue;
    if (fwrite(out->str, 1, out->len, stdout) != out->len) return true; // which main() reports
    g_string_truncate(out, 0);
  }
  fwrite(out->str, 1, out->len, stdout);
  // The functions that are inlined everywhere are known only by the places where they are.
  if (!any && !*error && !knows_function(filter, names, error)) return false;
  if (!any && !*error) fputs("lss trace: note: nothing that was recorded is what the options choose\n", stderr);
  return !*error;
}

static bool print_file(const char *path, Filter *filter, GError **error) {
  const int handle = input_file_open(path, error);
  if (handle < 0) return false;
  g_autoptr(GMappedFile) mapped = g_mapped_file_new_from_fd(handle, FALSE, error);
  close(handle);
  if (!mapped) return false;
  g_autoptr(TraceReader) reader = trace_reader_new(g_mapped_file_get_bytes(mapped), error);
  if (!reader) return false;
  const TraceReadHeader *header = trace_reader_header(reader);
  g_autoptr(CodeNames) names = code_names_new();
  for (guint i = 0; i < header->program_count; i++)
    code_names_add(names, header->programs[i].path, header->programs[i].bytes, header->programs[i].size);
  g_autofree bool *chosen = g_new0(bool, header->source_count + 1);
  filter->chosen = chosen;
  return choose_sources(filter, header, error) && print_records(reader, filter, names, error);
}

static int trace_command(int argc, char **argv) {
  g_auto(Options) options = {0};
  Filter filter = {.cycles = {0, G_MAXUINT64}};
  if (!options_parse(tables, argc, argv, &options, take, &filter, NULL)) return 2;
  if (!options.machine || options.rest->len) return usage_error(argv[0], "needs one file, of recorded events");
  g_autoptr(GError) error = NULL;
  if (print_file(options.machine, &filter, &error)) return 0;
  fflush(stdout);
  const bool readable = error->domain == WRONG_CHOICE;
  fprintf(stderr, "lss trace: %s\"%s\"%s %s\n", readable ? "" : "cannot read ", options.machine, readable ? "" : ":",
          error->message);
  return 1;
}

const Command command_trace = {"trace", trace_command, "FILE", "print what a run recorded with --record", tables};
