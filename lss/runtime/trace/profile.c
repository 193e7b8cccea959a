// The events of which a profile is made, and the processors that they are of; see profile.h.
#include "lss/runtime/trace/profile.h"

#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/roles.h"
#include "lss/runtime/trace/profile_core.h"
#include "lss/runtime/trace/record.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

typedef enum { OTHER, RETIRE, ISSUE, INTERLOCK, TURN, ACCESS, WAIT, BLOCKED, REQUESTED, FETCHED, EVENTS } EventKind;

static const struct {
  const char *event, *arguments[3];
} known[EVENTS] = {
    [RETIRE] = {"retire", {"pc", "word", "value"}},
    [ISSUE] = {"issue", {"pc"}},
    [INTERLOCK] = {"interlock", {"stall", "pc"}},
    [TURN] = {"turn", {"stall"}},
    [ACCESS] = {"access", {"pc", "op", "address"}},
    [WAIT] = {"wait", {"pc"}},
    [BLOCKED] = {"blocked", {"pc"}},
    [REQUESTED] = {"requested", {"pc"}},
    [FETCHED] = {"fetched", {"pc", "word"}},
};

// How the records of a source are read.
struct ProfileSource {
  EventKind kind;
  gsize size, offsets[3]; // of the arguments that count
  const spinach_clock *clock;
  ProfileCore *core;
  GPtrArray
      *contexts; // ProfileCore* by the argument `context`, of a processor with several programs; NULL: it is of one
  gsize context; // offset of that
  ProfileIssue *issue;
  gint64 write; // which operations of memory write, a bit for each
};

// ---- Sources

static const spinach_argument *argument_of(const TraceSource *source, const char *name, gsize *offset) {
  *offset = 0;
  for (const spinach_argument *argument = source->arguments; argument->name; argument++) {
    if (!strcmp(argument->name, name)) return argument;
    *offset += argument->type->size;
  }
  return NULL;
}

// What kind of event a source is; of one that only has such a name it is none.
static EventKind kind_of(const TraceSource *source, struct ProfileSource *reader) {
  for (EventKind kind = RETIRE; kind < EVENTS; kind++) {
    if (strcmp(known[kind].event, source->event) != 0) continue;
    bool complete = true;
    for (guint i = 0; i < G_N_ELEMENTS(known[kind].arguments) && known[kind].arguments[i]; i++) {
      const spinach_argument *argument = argument_of(source, known[kind].arguments[i], &reader->offsets[i]);
      complete &= argument && argument->type->size == sizeof(guint32);
    }
    if (complete) return kind;
  }
  return OTHER;
}

// The operations whose names say that they write.
static gint64 writing(const TraceSource *source) {
  gsize offset;
  const spinach_argument *operation = argument_of(source, "op", &offset);
  gint64 mask = 0;
  for (uint32_t i = 0; operation && i < operation->type->member_count; i++) {
    const struct spinach_member *member = &operation->type->members[i];
    if (trace_operation_writes(member->name) && member->value < 64) mask |= (gint64)1 << member->value;
  }
  return mask;
}

static void name_causes(Profile *profile, const TraceSource *source) {
  gsize offset;
  const spinach_argument *stall = argument_of(source, "stall", &offset);
  for (uint32_t i = 0; stall && i < stall->type->member_count; i++) {
    const struct spinach_member *member = &stall->type->members[i];
    if (member->value > 0 && member->value < PROFILE_CAUSES - 1) profile->causes[member->value] = member->name;
  }
}

static guint cause_named(const Profile *profile, const char *name) {
  for (guint i = 1; i < PROFILE_CAUSES; i++)
    if (profile->causes[i] && !strcmp(profile->causes[i], name)) return i;
  return PROFILE_CAUSES + 1;
}

// ---- Processors

static bool is_around(const char *outer, const char *path) {
  const gsize length = strlen(outer);
  return !length || (g_str_has_prefix(path, outer) && (path[length] == '.' || !path[length]));
}

// Views further inside come first: what they have hides what those around them have.
static int by_depth(gconstpointer a, gconstpointer b) {
  const spinach_debug_view *left = *(const spinach_debug_view *const *)a,
                           *right = *(const spinach_debug_view *const *)b;
  return (int)strlen(machine->instances[right->instance].path) - (int)strlen(machine->instances[left->instance].path);
}

static GArray *regions_of(const char *path) {
  g_autoptr(GPtrArray) views = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->view_count; i++)
    if (machine->views[i].region_count && is_around(machine->instances[machine->views[i].instance].path, path))
      g_ptr_array_add(views, (gpointer)&machine->views[i]);
  g_ptr_array_sort(views, by_depth);
  GArray *regions = g_array_new(FALSE, FALSE, sizeof(ProfileRegion));
  for (guint i = 0; i < views->len; i++) {
    const spinach_debug_view *view = views->pdata[i];
    for (uint32_t k = 0; k < view->region_count && regions->len < PROFILE_REGIONS - 1; k++) {
      const spinach_debug_region *given = &view->regions[k];
      const ProfileRegion region = {given->first, given->last,
                                    g_strdup(machine->instances[given->state.instance].path)};
      g_array_append_val(regions, region);
    }
  }
  return regions;
}

// The innermost processor around a path; of several programs of one the first.
static const spinach_debug_view *view_around(const char *inner) {
  const spinach_debug_view *view = NULL;
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *one = &machine->views[i];
    const char *path = machine->instances[one->instance].path;
    if (!view_role(one, "pc") || !is_around(path, inner)) continue;
    if (!view || strlen(path) > strlen(machine->instances[view->instance].path)) view = one;
  }
  return view;
}

static ProfileCore *core_of(Profile *profile, const spinach_debug_view *view, int32_t clock) {
  for (guint i = 0; i < profile->cores->len; i++)
    if (((ProfileCore *)profile->cores->pdata[i])->view == view) return profile->cores->pdata[i];
  ProfileCore *core = g_new0(ProfileCore, 1);
  *core = (ProfileCore){.view = view,
                        .name = view_name(view),
                        .clock = clock,
                        .regions = regions_of(machine->instances[view->instance].path),
                        .rows = g_ptr_array_new(),
                        .tree = call_tree_new(view_property(view, "isa"))};
  profile_core_start(core);
  g_ptr_array_add(profile->cores, core);
  return core;
}

// The processor whose events these are, or its programs, if they say of which they are.
static void find_cores(Profile *profile, const TraceSource *source, struct ProfileSource *reader) {
  const spinach_debug_view *view = view_around(source->path);
  if (!view) return;
  reader->core = core_of(profile, view, source->clock);
  const spinach_argument *context = argument_of(source, "context", &reader->context);
  if (view_context(view) == NO_CONTEXT || !context || context->type->size != sizeof(guint32)) return;
  reader->contexts = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *one = &machine->views[i];
    if (one->instance == view->instance && view_role(one, "pc") && view_context(one) == reader->contexts->len)
      g_ptr_array_add(reader->contexts, core_of(profile, one, source->clock));
  }
}

// The issue stages, by the path of their instance.
static ProfileIssue *issue_of(Profile *profile, guint number) {
  const TraceSource *sources = &g_array_index(profile->sources, TraceSource, 0);
  for (guint i = 0; i < number; i++)
    if (sources[i].path == sources[number].path && profile->readers[i].issue) return profile->readers[i].issue;
  profile->readers[number].core->issue_stages++;
  return g_new0(ProfileIssue, 1);
}

Profile *profile_new(const GArray *sources) {
  Profile *profile = g_new0(Profile, 1);
  profile->cores = g_ptr_array_new();
  profile->sources = sources;
  profile->events = g_new0(guint64, sources->len + 1);
  profile->readers = g_new0(struct ProfileSource, sources->len + 1);
  profile->causes[0] = "issued";
  profile->causes[PROFILE_CAUSES - 1] = "unknown";
  profile->names = code_names_new();
  const char *path;
  for (guint i = 0; (path = spinach_program_path(i)); i++) {
    g_autofree char *bytes = NULL;
    gsize size;
    if (g_file_get_contents(path, &bytes, &size, NULL)) code_names_add(profile->names, path, (guint8 *)bytes, size);
  }
  for (guint i = 0; i < sources->len; i++) {
    const TraceSource *source = &g_array_index(sources, TraceSource, i);
    struct ProfileSource *reader = &profile->readers[i];
    reader->size = trace_source_size(source);
    reader->clock = &machine->clocks[source->clock];
    reader->kind = kind_of(source, reader);
    if (reader->kind != OTHER) find_cores(profile, source, reader);
    if (!reader->core) reader->kind = OTHER;
    if (reader->kind == ACCESS) reader->write = writing(source);
    if (reader->kind == TURN) name_causes(profile, source);
    if (reader->kind == ISSUE || reader->kind == INTERLOCK || reader->kind == TURN)
      reader->issue = issue_of(profile, i);
  }
  profile->fetch = cause_named(profile, "fetch");
  profile->memory = cause_named(profile, "memory");
  return profile;
}

// ---- Records

static guint32 word_at(const guint8 *bytes, gsize offset) {
  guint32 word;
  memcpy(&word, bytes + offset, sizeof word);
  return word;
}

static guint cause_of(guint32 stall) {
  return MIN(stall, PROFILE_CAUSES - 1);
}

// Whether an interlock is counted cycle by cycle: what lasts is counted from turn to turn.
static bool is_single(const ProfileIssue *issue) {
  return issue->cause == 0 || issue->cause == PROFILE_CAUSES;
}

static void add_record(Profile *profile, guint number, const guint8 *bytes, guint64 cycle) {
  const struct ProfileSource *reader = &profile->readers[number];
  ProfileCore *core = reader->core;
  const gsize *at = reader->offsets;
  switch (reader->kind) {
  case RETIRE:
    if (reader->contexts) core = reader->contexts->pdata[word_at(bytes, reader->context) % reader->contexts->len];
    profile_core_retire(profile, core, word_at(bytes, at[0]), word_at(bytes, at[1]), word_at(bytes, at[2]));
    break;
  case ISSUE: profile_core_issue(core, reader->issue, word_at(bytes, at[0])); break;
  case INTERLOCK:
    if (is_single(reader->issue)) profile_core_interlock(reader->issue, cause_of(word_at(bytes, at[0])));
    break;
  case TURN: profile_core_turn(profile, core, reader->issue, cycle, cause_of(word_at(bytes, at[0]))); break;
  case ACCESS:
    profile_core_access(core, word_at(bytes, at[0]), word_at(bytes, at[2]),
                        reader->write >> (word_at(bytes, at[1]) & 63) & 1, cycle);
    break;
  case WAIT: core->tracker->waits = word_at(bytes, at[0]); break;
  case BLOCKED: profile_core_fetch(core, word_at(bytes, at[0]), cycle, PROFILE_BLOCKED); break;
  case REQUESTED: profile_core_fetch(core, word_at(bytes, at[0]), cycle, PROFILE_REQUESTED); break;
  case FETCHED: profile_core_fetch(core, word_at(bytes, at[0]), cycle, PROFILE_FETCHED); break;
  default: profile->events[number]++;
  }
}

// The first cycle of its clock that is not over at an instant.
static guint64 cycle_at(guint64 instant, const struct ProfileSource *reader) {
  return spinach_cycle_from(reader->clock, machine->ticks_per_second, instant);
}

void profile_add(Profile *profile, const guint8 *records, gsize size, guint64 start) {
  for (const guint8 *at = records, *end = records + size; at < end;) {
    uint16_t number;
    uint64_t ticks;
    at = spinach_record_head(at, &number, &ticks);
    start += ticks;
    add_record(profile, number, at, cycle_at(start, &profile->readers[number]));
    at += profile->readers[number].size;
  }
}

void profile_begin(Profile *profile, guint64 instant) {
  profile->begun = instant;
  for (guint i = 0; i < profile->sources->len; i++) {
    const struct ProfileSource *reader = &profile->readers[i];
    if (reader->kind != TURN) continue;
    // At the start of a run nobody waits; later it is not known before it changes.
    *reader->issue = (ProfileIssue){.cause = instant ? PROFILE_CAUSES : 0, .since = cycle_at(instant, reader)};
  }
}

void profile_end(Profile *profile, guint64 instant) {
  profile->ended = instant;
  for (guint i = 0; i < profile->sources->len; i++) {
    const struct ProfileSource *reader = &profile->readers[i];
    if (reader->kind != TURN) continue;
    profile_core_turn(profile, reader->core, reader->issue, cycle_at(instant, reader), 0);
    profile_core_finish(reader->core, reader->issue);
  }
}
