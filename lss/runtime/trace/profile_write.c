// A profile as JSON: addresses with their places in the source, the tree of calls, and sums, for each processor.
//
//   {"machine", "ticks_per_second", "begun", "ended" (ticks), "events": {"PATH.EVENT": n}, "causes": [name],
//    "cores": [{"path", "clock", "period", "issue_stages", "instructions", "cycles",
//               "regions": [{"name", "first", "last"}],
//               "places": [{"pc", "word", "text", "function", "offset", "file", "line",
//                           "inlined": [{"function", "file", "line"}] (where there are any), "instructions",
//                           "cycles": [of each cause], "requests": [[region, reads, writes, accept, reply,
//                            fetch accept, fetch reply]]}],
//               "calls": [{"parent", "function", "inlined" (where true), "calls", "instructions", "cycles"}]}]}
//
// Of inlined functions the innermost, to which the line belongs, comes first, each with the place of its call.
// The last region of a request is that of addresses in none.
#include "lss/runtime/trace/profile.h"

#include "lss/runtime/text/json.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static void member_uint(Json *json, const char *key, guint64 number) {
  json_key(json, key);
  json_uint(json, number);
}

static void write_inlined(Json *json, const CodePlace *place) {
  if (!place->inlined_count) return;
  json_open_member(json, "inlined", '[');
  for (guint i = 0; i < place->inlined_count; i++) {
    json_open(json, '{');
    json_member(json, "function", place->inlined[i].function);
    json_member(json, "file", place->inlined[i].file);
    json_member_int(json, "line", place->inlined[i].line);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_row(Json *json, const Profile *profile, const ProfileCore *core, const ProfileRow *row) {
  const CodePlace *place = row->place ? row->place : code_names_find(profile->names, row->pc, row->word);
  char text[64] = "";
  if (row->named) code_names_disassemble(profile->names, row->pc, row->word, text, sizeof text);
  json_open(json, '{');
  member_uint(json, "pc", row->pc);
  member_uint(json, "word", row->word);
  json_member(json, "text", text);
  if (place->function) {
    json_member(json, "function", place->function);
    member_uint(json, "offset", place->offset);
  }
  if (place->file) {
    json_member(json, "file", place->file);
    json_member_int(json, "line", place->line);
  }
  write_inlined(json, place);
  member_uint(json, "instructions", row->instructions);
  json_key(json, "cycles");
  json_open_row(json);
  for (guint i = 0; i < PROFILE_CAUSES; i++)
    if (profile->causes[i]) json_uint(json, row->counts[i]);
  json_close(json, ']');
  json_key(json, "requests");
  json_open_row(json);
  for (guint i = 0; i <= core->regions->len; i++) {
    const ProfileRequests *r = &row->requests[i];
    if (!r->reads && !r->writes && !r->accept && !r->reply && !r->fetch_accept && !r->fetch_reply) continue;
    json_open(json, '[');
    json_uint(json, i);
    json_uint(json, r->reads);
    json_uint(json, r->writes);
    json_uint(json, r->accept);
    json_uint(json, r->reply);
    json_uint(json, r->fetch_accept);
    json_uint(json, r->fetch_reply);
    json_close(json, ']');
  }
  json_close(json, ']');
  json_close(json, '}');
}

static int by_pc(gconstpointer a, gconstpointer b) {
  const ProfileRow *left = *(const ProfileRow *const *)a, *right = *(const ProfileRow *const *)b;
  if (left->pc != right->pc) return left->pc < right->pc ? -1 : 1;
  return (left->word > right->word) - (left->word < right->word);
}

static void write_calls(Json *json, const ProfileCore *core) {
  const GPtrArray *nodes = call_tree_nodes(core->tree);
  json_open_member(json, "calls", '[');
  for (guint i = 0; i < nodes->len; i++) {
    const CallNode *node = nodes->pdata[i];
    json_open(json, '{');
    json_member_int(json, "parent", node->parent ? (gint64)node->parent->number : -1);
    json_member(json, "function", node->function && *node->function ? node->function : NULL);
    if (node->inlined) json_member_bool(json, "inlined", true);
    member_uint(json, "calls", node->calls);
    member_uint(json, "instructions", node->instructions);
    member_uint(json, "cycles", node->cycles);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_core(Json *json, const Profile *profile, const ProfileCore *core) {
  json_open(json, '{');
  json_member(json, "path", core->name);
  json_member(json, "clock", machine->clocks[core->clock].name);
  member_uint(json, "period", machine->clocks[core->clock].period);
  member_uint(json, "issue_stages", core->issue_stages);
  member_uint(json, "instructions", core->instructions);
  member_uint(json, "cycles", core->cycles);
  json_open_member(json, "regions", '[');
  for (guint i = 0; i < core->regions->len; i++) {
    const ProfileRegion *region = &g_array_index(core->regions, ProfileRegion, i);
    json_open(json, '{');
    json_member(json, "name", region->name);
    member_uint(json, "first", region->first);
    member_uint(json, "last", region->last);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open_member(json, "places", '[');
  g_ptr_array_sort(core->rows, by_pc);
  for (guint i = 0; i < core->rows->len; i++) write_row(json, profile, core, core->rows->pdata[i]);
  json_close(json, ']');
  write_calls(json, core);
  json_close(json, '}');
}

char *profile_json(const Profile *profile) {
  Json json;
  json_start(&json);
  json_open(&json, '{');
  json_member(&json, "machine", machine->file);
  member_uint(&json, "ticks_per_second", machine->ticks_per_second);
  member_uint(&json, "begun", profile->begun);
  member_uint(&json, "ended", profile->ended);
  json_open_member(&json, "events", '{');
  for (guint i = 0; i < profile->sources->len; i++) {
    const TraceSource *source = &g_array_index(profile->sources, TraceSource, i);
    g_autofree char *name = g_strdup_printf("%s.%s", source->path, source->event);
    if (profile->events[i]) member_uint(&json, name, profile->events[i]);
  }
  json_close(&json, '}');
  json_open_member(&json, "causes", '[');
  for (guint i = 0; i < PROFILE_CAUSES; i++)
    if (profile->causes[i]) json_string(&json, profile->causes[i]);
  json_close(&json, ']');
  json_open_member(&json, "cores", '[');
  for (guint i = 0; i < profile->cores->len; i++) write_core(&json, profile, profile->cores->pdata[i]);
  json_close(&json, ']');
  json_close(&json, '}');
  return json_finish(&json);
}
