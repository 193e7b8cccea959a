// A small scanner of C: comments, strings and the contents of braces are skipped, and what remains at file scope shows
// which functions a module defines.
#include "lss/plan/module_source.h"

#include "lss/plan/state_words.h"

#include <ctype.h>
#include <string.h>

static const char *const hook_words[] = {"phase_start", "handler", "phase_end",  "init",   "finish",
                                         "next_event",  "skip",    "statistics", "awaits", "check_state"};

typedef struct {
  const char *at, *end;
  int line;
} Cursor;

// Moves over one comment, literal or character; returns the character, or ' ' for what is skipped.
static int next_char(Cursor *c) {
  char ch = *c->at;
  if (ch == '/' && c->at + 1 < c->end && c->at[1] == '/') {
    while (c->at < c->end && *c->at != '\n') c->at++;
    return ' ';
  }
  if (ch == '/' && c->at + 1 < c->end && c->at[1] == '*') {
    c->at += 2;
    while (c->at < c->end && !(c->at[0] == '*' && c->at + 1 < c->end && c->at[1] == '/')) {
      c->line += *c->at == '\n';
      c->at++;
    }
    c->at = MIN(c->at + 2, c->end);
    return ' ';
  }
  if (ch == '"' || ch == '\'') {
    c->at++;
    while (c->at < c->end && *c->at != ch && *c->at != '\n') c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
    if (c->at < c->end && *c->at == ch) c->at++;
    return '"';
  }
  c->line += ch == '\n';
  c->at++;
  return (unsigned char)ch;
}

// In which function something is.
typedef struct {
  const char *function, *where; // as in NameUse
} Within;

static const Within outside = {"", ""};

static void add_use(GPtrArray *uses, const Within *in, char *name) {
  NameUse *use = g_new0(NameUse, 1);
  use->function = g_strdup(in->function);
  use->where = in->where;
  use->name = name;
  g_ptr_array_add(uses, use);
}

// Words whose answer depends on the time.
static const char *const times[] = {"now",         "cycle",      "after",       "due",     "is_cycle",   "cycle_modulo",
                                    "set_stamp",   "stamped",    "passed",      "elapsed", "copy_stamp", "until_passed",
                                    "flight_send", "flight_due", "flight_next", NULL};

// `word (` in a function, or in a macro, which may be used anywhere: a call, or a parameter's name.
static void read_call(ModuleSource *source, const char *word, const char *at, const Within *in) {
  const char *function = in->function;
  static const char *const others[] = {"next_event", "init", "statistics", "awaits", "check_state", "finish", NULL};
  const bool outside_cycles = g_strv_contains(others, function);
  source->repeats |= !strcmp(word, "unchanged") && !strcmp(function, "next_event");
  source->timed |= !outside_cycles && g_strv_contains(times, word);
  source->waits |= !outside_cycles && (!strcmp(word, "until") || !strcmp(word, "within"));
  const struct {
    const char *word;
    GPtrArray *uses;
  } named[] = {{"data", source->payloads}, {"item", source->payloads},  {"param", source->parameters},
               {"send", source->sends},    {"send_if", source->pauses}, {"send_nothing", source->pauses},
               {"event", source->events}};
  for (gsize i = 0; i < G_N_ELEMENTS(named); i++) {
    if (strcmp(word, named[i].word) != 0) continue;
    at += strspn(at, " (");
    add_use(named[i].uses, in, g_strndup(at, strcspn(at, " ,)")));
    return;
  }
  add_use(source->calls, in, g_strdup(word));
}

// The fields that a text uses by self->f or by another word of the state.
static void read_macro_fields(ModuleSource *source, const char *text) {
  g_autoptr(GRegex) form = g_regex_new("\\b(\\w+)\\s*(?:->|\\()\\s*(\\w+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  for (g_regex_match(form, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
    g_autofree char *word = g_match_info_fetch(match, 1);
    if (is_state_word(word)) g_ptr_array_add(source->in_macros, g_match_info_fetch(match, 2));
  }
}

static void read_macros(ModuleSource *source, const char *text) {
  g_autoptr(GRegex) form = g_regex_new("\\b(\\w+)(?=\\()", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  for (g_regex_match(form, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
    g_autofree char *word = g_match_info_fetch(match, 1);
    int end;
    if (g_match_info_fetch_pos(match, 0, NULL, &end)) read_call(source, word, text + end, &outside);
  }
}

static void read_directive(ModuleSource *source, Cursor *c) {
  const char *start = c->at;
  int line = c->line;
  while (c->at < c->end && *c->at != '\n') {
    if (*c->at == '\\' && c->at + 1 < c->end && c->at[1] == '\n') {
      c->at++;
      c->line++;
    }
    c->at++;
  }
  g_autofree char *text = g_strndup(start, (gsize)(c->at - start));
  char *word = g_strchug(text);
  if (g_str_has_prefix(word, "include")) {
    g_ptr_array_add(source->includes, g_strdup(g_strstrip(word + strlen("include"))));
    g_array_append_val(source->include_lines, line);
  } else if (g_str_has_prefix(word, "define")) {
    char *name = g_strchug(word + strlen("define"));
    gsize n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_') n++;
    g_ptr_array_add(source->defines, g_strndup(name, n));
    read_macros(source, name + n);
    read_macro_fields(source, name + n);
  }
}

// The port of a handler that does nothing but send an item there.
static char *sent_port(const char *body) {
  static GRegex *form;
  if (!form) form = g_regex_new("^\\s*send\\(\\s*(\\w+)\\s*,[^;]*\\)\\s*;\\s*$", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  return g_regex_match(form, body, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
}

// Whether a handler does nothing but send an item, and whether that is a field of its state, or of an array there the
// element that belongs to its lane.
static void read_body(ModuleSource *source, const char *start, const char *end) {
  if (!source->hooks->len) return;
  Hook *hook = source->hooks->pdata[source->hooks->len - 1];
  g_autofree char *body = g_strndup(start, (gsize)(end - start));
  hook->sent_port = sent_port(body);
  if (!hook->sent_port) return;
  static GRegex *form;
  if (!form)
    form = g_regex_new(
        "^\\s*send\\(\\s*(\\w+)\\s*(?:,\\s*i\\s*)?,\\s*self->(\\w+)(\\[\\s*i\\s*(?:/\\s*(\\d{1,6})\\s*)?\\])?\\s*\\)"
        "\\s*;\\s*$",
        0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_regex_match(form, body, 0, &match)) return;
  hook->shown_port = g_match_info_fetch(match, 1);
  hook->shown_field = g_match_info_fetch(match, 2);
  g_autofree char *element = g_match_info_fetch(match, 3), *divisor = g_match_info_fetch(match, 4);
  hook->shown_divisor = !element || !*element ? 0 : divisor && *divisor ? atoi(divisor) : 1;
  if (divisor && *divisor && !hook->shown_divisor) g_clear_pointer(&hook->shown_field, g_free); // divides by zero
}

const char *module_source_where(const char *word, const char *argument, const char *second) {
  if (!*argument || (strcmp(word, "handler") && strcmp(word, "phase_end") && strcmp(word, "next_event")))
    return g_intern_string(word);
  const bool reset = !strcmp(word, "handler") && !strcmp(argument, "reset");
  g_autofree char *text = g_strdup_printf("%s(%s%s%s)", word, argument, reset ? ", " : "", reset ? second : "");
  return g_intern_string(text);
}

// The same of a function whose body begins.
static const char *where_of_body(const char *name, const char *arguments) {
  g_auto(GStrv) parts = g_strsplit(arguments, ",", 2);
  return module_source_where(name, parts[0] ? g_strstrip(parts[0]) : "",
                             parts[0] && parts[1] ? g_strstrip(parts[1]) : "");
}

static void add_function(ModuleSource *source, const char *name, const char *arguments, int line) {
  for (gsize i = 0; i < G_N_ELEMENTS(hook_words); i++) {
    if (strcmp(name, hook_words[i]) != 0) continue;
    Hook *hook = g_new0(Hook, 1);
    g_auto(GStrv) parts = g_strsplit(arguments, ",", 2);
    hook->word = g_strdup(name);
    hook->argument = g_strstrip(g_strdup(parts[0] ? parts[0] : ""));
    hook->second = g_strstrip(g_strdup(parts[0] && parts[1] ? parts[1] : ""));
    hook->line = line;
    g_ptr_array_add(source->hooks, hook);
    return;
  }
  if (!g_ptr_array_find_with_equal_func(source->helpers, name, g_str_equal, NULL))
    g_ptr_array_add(source->helpers, g_strdup(name));
}

bool module_source_uses_time(const char *text) {
  return g_regex_match_simple("\\b((now|cycle)\\s*\\(\\s*\\)|(after|due|is_cycle|cycle_modulo)\\s*\\()", text, 0, 0);
}

// The next sign, blanks and comments left out; 0 at the end.
static int next_sign(Cursor *c) {
  while (c->at < c->end) {
    int sign = next_char(c);
    if (!isspace(sign)) return sign;
  }
  return 0;
}

// Whether `counted(field`, the cursor being behind that, is assigned to.
static bool is_assigned(Cursor c) {
  for (int depth = 1; c.at < c.end && depth > 0;) {
    const int sign = next_char(&c);
    depth += (sign == '(') - (sign == ')');
  }
  int sign = next_sign(&c);
  for (; sign == '['; sign = next_sign(&c))
    while (c.at < c.end && next_char(&c) != ']') continue;
  const int second = c.at < c.end ? *c.at : 0;
  if (sign == '=') return second != '=';
  return sign && (strchr("+-*/%|&^", sign) && (second == '=' || second == sign));
}

// `self->field`, `count(field` or another word of the state, the cursor being behind the word.
static void read_field(ModuleSource *source, const Cursor *at, const char *text, const char *word, const Within *in) {
  Cursor c = *at;
  const bool member = !strcmp(word, "self");
  if (next_sign(&c) != (member ? '-' : '(') || (member && next_sign(&c) != '>')) return;
  while (c.at < c.end && isspace((unsigned char)*c.at)) c.line += *c.at++ == '\n';
  const char *start = c.at, *line = start;
  while (c.at < c.end && (isalnum((unsigned char)*c.at) || *c.at == '_')) c.at++;
  if (c.at == start) return;
  while (line > text && line[-1] != '\n') line--;
  FieldUse *use = g_new0(FieldUse, 1);
  use->field = g_strndup(start, (gsize)(c.at - start));
  use->word = g_intern_string(word);
  use->set = !member && (strcmp(word, "counted") != 0 || is_assigned(c));
  use->function = g_strdup(in->function);
  use->where = in->where;
  use->line = c.line;
  use->column = (int)(start - line) + 1;
  use->end_column = (int)(c.at - line) + 1;
  g_ptr_array_add(source->uses, use);
}

// The word at the cursor, which moves behind it.
static char *take_word(Cursor *c) {
  const char *start = c->at;
  while (c->at < c->end && (isalnum((unsigned char)*c->at) || *c->at == '_')) c->at++;
  return g_strndup(start, (gsize)(c->at - start));
}

// What `static` declares, behind which the cursor is, if it is a variable that may be written: the last word before
// what ends its declarator.  A parenthesis belongs to a function, or to an attribute.
static void read_static(ModuleSource *source, Cursor c) {
  g_autofree char *name = NULL;
  const int line = c.line;
  for (int sign = 0; c.at < c.end && !(sign && strchr("=;[,", sign));) {
    if (isalpha((unsigned char)*c.at) || *c.at == '_') {
      g_free(name);
      name = take_word(&c);
      if (!strcmp(name, "const")) return;
      continue;
    }
    sign = next_char(&c);
    const bool attribute = name && (!strcmp(name, "__attribute__") || !strcmp(name, "_Alignas"));
    if (sign == '(' && attribute)
      for (int depth = 1; c.at < c.end && depth > 0;) {
        const int inner = next_char(&c);
        depth += (inner == '(') - (inner == ')');
      }
    else if (sign && strchr("(){}", sign))
      return;
  }
  if (!name || c.at >= c.end) return;
  StaticVariable *variable = g_new0(StaticVariable, 1);
  *variable = (StaticVariable){g_steal_pointer(&name), line};
  g_ptr_array_add(source->statics, variable);
}

// A word in the body of a function.
static void read_word(ModuleSource *source, Cursor *c, const char *text, const Within *in) {
  g_autofree char *word = take_word(c);
  if (!strcmp(word, "static")) read_static(source, *c);
  if (is_state_word(word)) read_field(source, c, text, word, in);
  if (*c->at == '(') read_call(source, word, c->at, in);
}

char *module_source_header(const char *file, const char *include) {
  g_autofree char *name = g_strndup(include + 1, strcspn(include + 1, "\"")), *folder = g_path_get_dirname(file);
  char *beside = g_build_filename(folder, name, NULL);
  if (g_file_test(beside, G_FILE_TEST_EXISTS)) return beside;
  g_free(beside);
  return NULL;
}

// A header beside the module may ask for the time or for a parameter in a macro.
static void read_header(ModuleSource *source, const char *include) {
  if (include[0] != '"') return;
  g_autofree char *path = module_source_header(source->file, include), *text = NULL;
  if (!path || !g_file_get_contents(path, &text, NULL, NULL)) return;
  source->timed |= module_source_uses_time(text);
  read_macros(source, text);
  read_macro_fields(source, text);
}

// What points to the state, and what it is called.
static void read_pointers(ModuleSource *source, const char *text) {
  g_autoptr(GRegex) form =
      g_regex_new("\\bself_t\\b[\\s\\w]*\\*[\\s*]*(?:(?:const|restrict)\\b\\s*)*(\\w+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  for (g_regex_match(form, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
    g_autofree char *name = g_match_info_fetch(match, 1);
    if (strcmp(name, "self") != 0) g_ptr_array_add(source->renamed, g_steal_pointer(&name));
  }
}

// The text of a module's C; NULL when it cannot be read or included.
static char *read_text(const char *file, gsize *size, GError **error) {
  char *text;
  // Between the quotation marks of #include is any name without quotation marks and line breaks; a backslash is
  // lost when clang lists what it read.
  if (strpbrk(file, "\"\\\n")) {
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "its path holds a quotation mark, a backslash or a line break, which C cannot include");
    return NULL;
  }
  if (!g_file_get_contents(file, &text, size, error)) return NULL;
  if (memchr(text, 0, *size)) {
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "it holds a zero byte and is no text");
    g_free(text);
    return NULL;
  }
  return text;
}

static ModuleSource *source_new(const char *file) {
  ModuleSource *source = g_new0(ModuleSource, 1);
  source->file = g_strdup(file);
  source->hooks = g_ptr_array_new();
  source->uses = g_ptr_array_new();
  source->parameters = g_ptr_array_new();
  source->calls = g_ptr_array_new();
  source->payloads = g_ptr_array_new();
  source->sends = g_ptr_array_new();
  source->events = g_ptr_array_new();
  source->in_macros = g_ptr_array_new();
  source->renamed = g_ptr_array_new();
  source->pauses = g_ptr_array_new();
  source->helpers = g_ptr_array_new();
  source->statics = g_ptr_array_new();
  source->includes = g_ptr_array_new();
  source->include_lines = g_array_new(FALSE, FALSE, sizeof(int));
  source->defines = g_ptr_array_new();
  return source;
}

// What is between the parenthesis that was read and the one that closes it.
static void read_arguments(Cursor *c, GString *arguments) {
  g_string_truncate(arguments, 0);
  for (int depth = 1; c->at < c->end && depth > 0;) {
    int inner = next_char(c);
    depth += inner == '(' ? 1 : inner == ')' ? -1 : 0;
    if (depth > 0) g_string_append_c(arguments, (char)inner);
  }
}

ModuleSource *module_source_read(const char *file, GError **error) {
  gsize size;
  g_autofree char *text = read_text(file, &size, error);
  if (!text) return NULL;
  ModuleSource *source = source_new(file);
  read_pointers(source, text);
  Cursor c = {text, text + size, 1};
  const char *where = "";
  g_autoptr(GString) name = g_string_new(NULL), arguments = g_string_new(NULL), function = g_string_new(NULL);
  int braces = 0, name_line = 0, brace_line = 0;
  const char *body = NULL;                  // of a handler
  bool line_start = true, complete = false; // complete: `name ( … )` was seen and a brace may follow
  while (c.at < c.end) {
    if (*c.at == '#' && line_start) {
      c.at++;
      read_directive(source, &c);
      continue;
    }
    if (braces == 0 && (isalpha((unsigned char)*c.at) || *c.at == '_')) {
      g_string_truncate(name, 0);
      name_line = c.line;
      while (c.at < c.end && (isalnum((unsigned char)*c.at) || *c.at == '_')) g_string_append_c(name, *c.at++);
      if (!strcmp(name->str, "static")) read_static(source, c);
      complete = line_start = false;
      continue;
    }
    if (braces > 0 && (isalpha((unsigned char)*c.at) || *c.at == '_')) {
      read_word(source, &c, text, &(Within){function->str, where});
      line_start = false;
      continue;
    }
    int ch = next_char(&c);
    if (ch == '\n')
      line_start = true;
    else if (!isspace(ch))
      line_start = false;
    if (ch == '{') {
      if (braces == 0) brace_line = c.line;
      if (braces++ == 0 && complete && name->len) {
        add_function(source, name->str, arguments->str, name_line);
        g_string_assign(function, name->str);
        where = where_of_body(name->str, arguments->str);
        body = strcmp(name->str, "handler") ? NULL : c.at;
      }
      complete = false;
    } else if (ch == '}') {
      braces = MAX(braces - 1, 0);
      if (braces == 0 && body) {
        read_body(source, body, c.at - 1);
        body = NULL;
      }
      g_string_truncate(name, 0);
    } else if (ch == '(' && braces == 0) {
      read_arguments(&c, arguments);
      complete = name->len > 0;
    } else if (braces == 0 && !isspace(ch)) {
      complete = false;
      g_string_truncate(name, 0);
    }
  }
  source->lines = size && text[size - 1] == '\n' ? c.line - 1 : c.line;
  source->open_line = braces ? brace_line : 0;
  for (guint i = 0; i < source->includes->len; i++) read_header(source, source->includes->pdata[i]);
  return source;
}

const Hook *module_source_hook(const ModuleSource *source, const char *word, const char *argument) {
  for (guint i = 0; i < source->hooks->len; i++) {
    const Hook *hook = source->hooks->pdata[i];
    if (!strcmp(hook->word, word) && !strcmp(hook->argument, argument)) return hook;
  }
  return NULL;
}

const Hook *module_source_reset(const ModuleSource *source, const char *parameter) {
  for (guint i = 0; i < source->hooks->len; i++) {
    const Hook *hook = source->hooks->pdata[i];
    if (!strcmp(hook->word, "handler") && !strcmp(hook->argument, "reset") && !strcmp(hook->second, parameter))
      return hook;
  }
  return NULL;
}

static bool names(const GPtrArray *uses, const char *port) {
  for (guint i = 0; i < uses->len; i++) {
    const NameUse *use = uses->pdata[i];
    if (!*use->function || !strcmp(use->name, port)) return true;
  }
  return false;
}

bool module_source_looks_at(const ModuleSource *source, const char *port) {
  return names(source->payloads, port);
}

bool module_source_always_sends(const ModuleSource *source, const char *port) {
  return names(source->sends, port) && !names(source->pauses, port);
}

// Adds to a set of functions all that they call.
static void add_called(const ModuleSource *source, GHashTable *functions) {
  for (bool more = true; more;) {
    more = false;
    for (guint i = 0; i < source->calls->len; i++) {
      const NameUse *call = source->calls->pdata[i];
      if (g_hash_table_contains(functions, call->function)) more |= g_hash_table_add(functions, call->name);
    }
  }
}

// A hook, what it calls, and all macros.
static GHashTable *functions_of(const ModuleSource *source, const char *word) {
  GHashTable *functions = g_hash_table_new(g_str_hash, g_str_equal);
  bool any = false;
  for (guint i = 0; i < source->hooks->len; i++) any |= !strcmp(((Hook *)source->hooks->pdata[i])->word, word);
  if (!any) return functions;
  g_hash_table_add(functions, (gpointer)word);
  g_hash_table_add(functions, (gpointer) "");
  add_called(source, functions);
  return functions;
}

static bool uses(const ModuleSource *source, GHashTable *functions, const char *field) {
  for (guint i = 0; i < source->uses->len; i++) {
    const FieldUse *use = source->uses->pdata[i];
    if (!strcmp(use->field, field) && g_hash_table_contains(functions, use->function)) return true;
  }
  return false;
}

bool module_source_computes(const ModuleSource *source, const char *field) {
  for (guint i = 0; i < source->uses->len; i++) {
    const FieldUse *use = source->uses->pdata[i];
    if (use->set && !strcmp(use->field, field) && !strcmp(use->function, "statistics")) return true;
  }
  return false;
}

// Whether what statistics() works out may change in time that is skipped, of which `skip` accounts for some fields.
static bool computes_from_time(const ModuleSource *source, GHashTable *skip) {
  g_autoptr(GHashTable) functions = functions_of(source, "statistics");
  for (gsize i = 0; times[i]; i++)
    if (g_hash_table_contains(functions, times[i])) return true;
  if (g_hash_table_contains(functions, "until") || g_hash_table_contains(functions, "within")) return true;
  for (guint i = 0; i < source->uses->len; i++) {
    const FieldUse *use = source->uses->pdata[i];
    if (g_hash_table_contains(functions, use->function) && uses(source, skip, use->field)) return true;
  }
  return false;
}

bool module_source_accounts_for(const ModuleSource *source, const char *field) {
  g_autoptr(GHashTable) skip = functions_of(source, "skip");
  if (uses(source, skip, field)) return true;
  return module_source_computes(source, field) && computes_from_time(source, skip);
}

bool module_source_starts_with(const ModuleSource *source, const char *parameter) {
  g_autoptr(GHashTable) start = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) run = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_add(start, (gpointer) "init");
  g_hash_table_add(run, (gpointer) "");
  for (gsize i = 0; i < G_N_ELEMENTS(hook_words); i++)
    if (strcmp(hook_words[i], "init") != 0) g_hash_table_add(run, (gpointer)hook_words[i]);
  add_called(source, start);
  add_called(source, run);
  bool reads = false;
  for (guint i = 0; i < source->parameters->len; i++) {
    const NameUse *use = source->parameters->pdata[i];
    if (strcmp(use->name, parameter) != 0) continue;
    if (g_hash_table_contains(run, use->function) || !g_hash_table_contains(start, use->function)) return false;
    reads = true;
  }
  return reads;
}
