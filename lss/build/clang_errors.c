// Reads clang's messages.  An access to an undeclared signal shows as a missing member of a context (lss/emit/spec.c),
// an unknown port, parameter or userpoint as an undeclared SP_ name; the rest is an error in the user's C, reported in
// clang's words without our prefixes.
#include "lss/build/clang_errors.h"

#include "lss/base/diagnostics.h"
#include "lss/build/module_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *group(GMatchInfo *match, const char *name) {
  return g_match_info_fetch_named(match, name);
}

// "handler advance" from the name of a context's type.
static char *function_in_words(const char *context) {
  if (g_str_has_prefix(context, "handler_")) return g_strdup_printf("handler %s", context + strlen("handler_"));
  return g_strdup(context);
}

static void report_signal(Location at, const char *access, const char *name, const char *context) {
  g_autofree char *function = function_in_words(context);
  bool read = !strcmp(access, "read");
  g_autofree char *signal = NULL;
  if (g_str_has_prefix(name, "local_")) {
    signal = g_strdup(name + strlen("local_"));
  } else {
    const char *last = strrchr(name, '_');
    signal = last ? g_strdup_printf("%.*s.%s", (int)(last - name), name, last + 1) : g_strdup(name);
  }
  diag_error(at, read ? "undeclared-read" : "undeclared-write", "%s %s %s, which its declaration does not list",
             function, read ? "reads" : "drives", signal);
  if (read)
    diag_note(NOWHERE, "a function reads only signals named before \"->\" in the .lss; phase_end sees them all");
  else
    diag_note(NOWHERE, "a function drives only signals named after \"->\" in the .lss");
}

static const char *word_for(const char *kind) {
  static const char *const ports[] = {"some",   "data",   "enabled", "acked", "send",       "send_nothing", "send_if",
                                      "enable", "accept", "width",   "type",  "descriptor", "lane",         "key"};
  for (gsize i = 0; i < G_N_ELEMENTS(ports); i++)
    if (!strcmp(kind, ports[i])) return "port";
  if (g_str_has_prefix(kind, "param")) return "parameter";
  if (!strcmp(kind, "get") || !strcmp(kind, "set")) return "local";
  if (!strcmp(kind, "event")) return "event";
  return kind;
}

// "; did you mean in_request?" where there is no `name`; of a bundle, its ports.
static char *name_meant(Location at, const char *name, const char *kind, const char *text) {
  const bool port = g_str_has_suffix(kind, "port");
  const char *word = port ? "width" : !strcmp(kind, "parameter") ? "param" : kind;
  g_autoptr(GPtrArray) names = module_names(at.file, text, word);
  g_autofree char *prefix = g_strdup_printf("%s_", name);
  g_autoptr(GString) members = g_string_new(NULL);
  for (guint i = 0; port && i < names->len; i++)
    if (g_str_has_prefix(names->pdata[i], prefix))
      g_string_append_printf(members, "%s%s", members->len ? " or " : "", (char *)names->pdata[i]);
  if (members->len) return g_strdup_printf("; %s is a bundle: write %s", name, members->str);
  const char *near = diag_suggestion(name, names);
  return near ? g_strdup_printf("; did you mean %s?", near) : g_strdup("");
}

static void report_missing(Location at, const char *kind, const char *name, const char *text) {
  g_autofree char *meant = name_meant(at, name, kind, text);
  diag_error(at, "unknown-name", "this module has no %s called %s%s", kind, name, meant);
}

// SP_data_foo: the word and the name in it.
static bool report_name(Location at, const char *identifier, const char *text) {
  static const char *const kinds[] = {
      "send_nothing", "send_if", "param_length", "known_data", "known_enable", "known_ack", "known_local", "some",
      "data",         "enabled", "acked",        "send",       "enable",       "accept",    "width",       "type",
      "param",        "get",     "set",          "event",      "descriptor",   "lane",      "key"};
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autofree char *prefix = g_strdup_printf("SP_%s_", kinds[i]);
    if (!g_str_has_prefix(identifier, prefix)) continue;
    const char *name = identifier + strlen(prefix);
    if (g_str_has_prefix(kinds[i], "known_"))
      diag_error(at, "c-code", "%s(%s) is for partial handlers", kinds[i], name);
    else if (!strcmp(kinds[i], "accept") || g_str_has_prefix(kinds[i], "send") || !strcmp(kinds[i], "enable"))
      report_missing(at, kinds[i][0] == 'a' ? "inport" : "outport", name, text);
    else
      report_missing(at, word_for(kinds[i]), name, text);
    return true;
  }
  return false;
}

// lane(port, key), of which emit_keys (lss/emit/ports.c) makes the name root_0_S1_lane0_of_PORT_key_KEY: the names that
// begin alike in the unit are the keys there are.
static bool report_key(Location at, const char *identifier, const char *text) {
  static GRegex *form;
  if (!form)
    form =
        g_regex_new("^(?<lanes>\\w+_S[0-9]+_lane[0-9]+_of_(?<port>\\w+)_key_)(?<key>\\w+)$", G_REGEX_OPTIMIZE, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_regex_match(form, identifier, 0, &match)) return false;
  g_autofree char *lanes = group(match, "lanes"), *port = group(match, "port"), *key = group(match, "key");
  g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) list = g_string_new(NULL);
  bool repeated = false;
  for (const char *at_lane = text; (at_lane = strstr(at_lane, lanes)); at_lane++) {
    const char *start = at_lane + strlen(lanes), *end = start;
    while (g_ascii_isalnum(*end) || *end == '_') end++;
    const bool several = g_str_has_prefix(end, " = several");
    if (!several && !g_str_has_prefix(end, " = ")) continue;
    char *name = g_strndup(start, (gsize)(end - start));
    g_string_append_printf(list, "%s%s", list->len ? ", " : "", name);
    repeated |= several && !strcmp(name, key);
    g_ptr_array_add(known, name);
  }
  if (repeated) {
    diag_error(at, "ambiguous-key", "several lanes of %s have the key %s; key(%s, i) returns which", port, key, port);
    return true;
  }
  const char *near = diag_suggestion(key, known);
  diag_error(at, "unknown-key", "no lane of %s has the key %s%s%s%s", port, key, near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "");
  if (list->len)
    diag_note(NOWHERE, "the keys of %s are %s", port, list->str);
  else
    diag_note(NOWHERE, "the lanes of %s have no keys", port);
  return true;
}

// 'root_0_S1_handler_take' is handler(take) to the user.
static char *without_prefixes(const char *text) {
  static GRegex *handler, *prefix;
  if (!prefix) {
    handler = g_regex_new("\\b\\w+_[0-9]+_S[0-9]+_handler_(\\w+)", G_REGEX_OPTIMIZE, 0, NULL);
    prefix = g_regex_new("\\b\\w+_[0-9]+_S[0-9]+_(helper_|userpoint_)?", G_REGEX_OPTIMIZE, 0, NULL);
  }
  g_autofree char *handlers = g_regex_replace(handler, text, -1, 0, "handler(\\1)", 0, NULL);
  return g_regex_replace(prefix, handlers, -1, 0, "", 0, NULL);
}

// An undeclared function: a userpoint, or a word of the vocabulary that is misspelt.
static void report_function(Location at, const char *name) {
  static const char vocabulary[] =
      "some data item enabled acked transferred send send_if send_nothing enable accept count count_cycles report "
      "counted after set_until until within set_stamp copy_stamp stamped passed until_passed elapsed note load "
      "store load_span store_span flight_send flight_due flight_item flight_next flight_drop flight_empty unchanged "
      "get set is_known width lane key "
      "param param_length typeof_port call typeof_argument event observed phase_start phase_end init finish next_event "
      "skip "
      "statistics awaits check_state handler now cycle due is_cycle cycle_modulo clock_period never random_bits "
      "random_seed sim_error sim_input_error sim_difference sim_check sim_warn sim_exit sim_progress waits_for "
      "type_print "
      "type_parse ticks_per_second";
  const char *userpoint = strstr(name, "_userpoint_");
  if (userpoint) {
    diag_error(at, "unknown-name", "this module has no userpoint called %s", userpoint + strlen("_userpoint_"));
    return;
  }
  g_auto(GStrv) words = g_strsplit(vocabulary, " ", -1);
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; words[i]; i++) g_ptr_array_add(known, words[i]);
  const char *near = diag_suggestion(name, known);
  diag_error(at, "unknown-name", "there is no function `%s`%s%s%s", name, near ? "; did you mean `" : "",
             near ? near : "", near ? "`?" : "");
}

// A type that is called otherwise: those of the generated C, of which clang names only near misses.  A struct family's
// member is its name and its arguments, mem_request_32.
static bool report_type(Location at, const char *name, const char *text) {
  static GRegex *declared;
  if (!declared)
    declared = g_regex_new("^(?:typedef \\w.*|\\}) (\\w+);$", G_REGEX_MULTILINE | G_REGEX_OPTIMIZE, 0, NULL);
  g_autofree char *stem = g_strdup(name);
  if (g_str_has_suffix(stem, "_t")) stem[strlen(stem) - 2] = '\0';
  while (*stem && strchr("_0123456789", stem[strlen(stem) - 1])) stem[strlen(stem) - 1] = '\0';
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GString) members = g_string_new(NULL);
  for (g_regex_match(declared, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
    g_autofree char *type = g_match_info_fetch(match, 1);
    const char *rest = type + strlen(stem);
    if (!g_str_has_prefix(type, stem) || *rest != '_' || strspn(rest, "_0123456789") != strlen(rest)) continue;
    g_string_append_printf(members, "%s`%s`", members->len ? ", " : "", type);
  }
  if (!members->len) return false;
  diag_error(at, "unknown-name", "there is no type `%s` here; of this family there is %s", name, members->str);
  diag_note(NOWHERE, "a struct with parameters is called by its name and their values; typeof_port(p) is the type of a "
                     "port, of whatever width");
  return true;
}

// A userpoint has an argument more in C than the user knows of.
static char *without_self(Location at, const char *message) {
  int length, expected, given, end = 0;
  const char *line = source_line(at.file, at.line, &length), *count = strstr(message, "expected ");
  if (!line || !count || sscanf(count, "expected %d, have %d%n", &expected, &given, &end) != 2 || count[end])
    return g_strdup(message);
  g_autofree char *before = g_strndup(line, (gsize)MIN(length, at.column - 1 + (int)strlen("call(")));
  if (!strstr(before, "call(")) return g_strdup(message);
  return g_strdup_printf("%.*sexpected %d, have %d", (int)(count - message), message, expected - 1, given - 1);
}

// A field of the state that there is not: a parameter is no state.
static void report_field(Location at, const char *name, const char *near, const char *text) {
  g_autofree char *parameter = g_strdup_printf("#define SP_param_%s ", name);
  if (strstr(text, parameter))
    diag_error(at, "unknown-name", "%s is a parameter, not state: write param(%s)", name, name);
  else
    diag_error(at, "unknown-name", "the state of this module has no field called %s%s", name, near);
}

// A word of the vocabulary, a macro, that lacks an argument.
static bool report_arguments(Location at) {
  static const char *const forms[] = {"send(port, value)", "send_if(port, condition, value)", "enable(port, value)",
                                      "accept(port, value)", "set(local, value)"};
  int length;
  const char *line = source_line(at.file, at.line, &length);
  for (gsize i = 0; line && at.column <= length && i < G_N_ELEMENTS(forms); i++) {
    const gsize n = strcspn(forms[i], "(") + 1;
    if ((gsize)(length - at.column + 1) < n || strncmp(line + at.column - 1, forms[i], n) != 0) continue;
    diag_error(at, "c-code", "an argument is missing: %s; a port with several lanes has the lane after the port",
               forms[i]);
    return true;
  }
  return false;
}

static void report_one(Location at, const char *message, const char *text) {
  static GRegex *member, *field, *identifier, *constant;
  if (!member) {
    member =
        g_regex_new("^no member named '(?<access>read|write)_(?<name>\\w+)' in '\\w+_S[0-9]+_ctx_(?<context>\\w+)'",
                    G_REGEX_OPTIMIZE, 0, NULL);
    field =
        g_regex_new("^no member named '(?<name>\\w+)' in '\\w+_S[0-9]+_state'(?<near>.*)", G_REGEX_OPTIMIZE, 0, NULL);
    identifier =
        g_regex_new("(undeclared (identifier|function)|unknown type name) '(?<name>\\w+)'", G_REGEX_OPTIMIZE, 0, NULL);
    constant = g_regex_new("(read-only|cannot assign to .*const-qualified)", G_REGEX_OPTIMIZE, 0, NULL);
  }
  g_autoptr(GMatchInfo) match = NULL, match2 = NULL, match3 = NULL, match4 = NULL;
  if (g_regex_match(member, message, 0, &match)) {
    g_autofree char *access = group(match, "access"), *name = group(match, "name"), *context = group(match, "context");
    report_signal(at, access, name, context);
    return;
  }
  if (g_regex_match(identifier, message, 0, &match2)) {
    g_autofree char *name = group(match2, "name");
    if (!strcmp(name, "ctx")) {
      diag_error(at, "c-code", "signals exist in phase_start, handlers and phase_end only");
      return;
    }
    if (report_name(at, name, text) || report_key(at, name, text)) return;
    if (report_type(at, name, text)) return;
    if (module_has_field(at.file, text, name)) {
      diag_error(at, "unknown-name", "%s is state of the module: write self->%s", name, name);
      return;
    }
    if (strstr(message, "undeclared function") || strstr(message, "undeclared library function")) {
      report_function(at, name);
      return;
    }
  }
  if (g_regex_match(field, message, 0, &match4)) {
    g_autofree char *name = group(match4, "name"), *near = group(match4, "near");
    report_field(at, name, near, text);
    return;
  }
  if (!strcmp(message, "expected expression") && report_arguments(at)) return;
  if (strstr(message, "no member named 'unchanged'")) {
    diag_error(at, "c-code", "unchanged() is for next_event");
    return;
  }
  if (g_regex_match(constant, message, 0, &match3)) {
    diag_error(at, "c-code", "state changes in phase_end only, and data that was received is not changed");
    return;
  }
  g_autofree char *counted = without_self(at, message), *clean = without_prefixes(counted);
  diag_error(at, "c-code", "%s", clean);
}

bool clang_errors_report(const char *messages, const char *text) {
  g_autoptr(GRegex) regex =
      g_regex_new("^(?<file>[^\\n]+?):(?<line>[0-9]+):(?<column>[0-9]+): (fatal )?(?<kind>error|warning): "
                  "(?<message>.*?)(?<flag> \\[-W[^\\]]*\\])?$",
                  0, 0, NULL);
  bool any = false;
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);
  // One by one: each match within a long text would check all of it anew.
  for (char **one = lines; *one; one++) {
    g_autoptr(GMatchInfo) match = NULL;
    if (g_str_has_prefix(*one, "generated:") || !g_regex_match(regex, *one, 0, &match)) continue;
    g_autofree char *file = group(match, "file"), *line = group(match, "line"), *column = group(match, "column"),
                    *message = group(match, "message"), *kind = group(match, "kind"), *flag = group(match, "flag");
    const bool warning = !strcmp(kind, "warning");
    if (strstr(file, warning ? "lss/runtime/" : "lss/runtime/engine/vocabulary.h")) continue;
    any |= !warning;
    // One access can be several errors of the C compiler at one place; the first says it.
    char *place = g_strdup_printf("%s:%s:%s", file, line, column);
    if (!g_hash_table_add(seen, place)) continue;
    Location at = {g_intern_string(file), atoi(line), atoi(column), atoi(line), atoi(column) + 1};
    if (strstr(message, "function declared in block scope cannot have 'static'")) { // of emit_closed
      diag_error(at, "c-code", "the C ends before all of its braces are closed");
      return true; // what follows is a consequence
    }
    if (warning) {
      g_autofree char *clean = without_prefixes(message);
      diag_warning(at, "c-warning", "%s%s", clean, flag ? flag : "");
    } else {
      report_one(at, message, text);
    }
  }
  return any;
}
