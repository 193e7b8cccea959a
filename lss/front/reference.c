// Documentation of a parsed file.  It is a walk over the tree: nothing is elaborated, so a module is documented as it
// is written, for every way of using it.  Declarations inside `if` and `for` are listed like all others.
#include "lss/front/reference.h"

#include "lss/base/arena.h"
#include "lss/runtime/text/json.h"

#include <string.h>

// One table: a title, column heads, rows of cells (the last is running text, the others code), and pieces of C code.
typedef struct {
  const char *title;
  const char *const *heads; // NULL-terminated
  GPtrArray *rows;          // const char **
  GPtrArray *code;          // const char*: name, text, name, text ...
  const char *of;           // the wrapped instance that the next rows come from, "" for none; NULL: without that column
} Section;

enum {
  SECTION_PARAMETERS,
  SECTION_PORTS,
  SECTION_USERPOINTS,
  SECTION_STATE,
  SECTION_STATISTICS,
  SECTION_BALANCES,
  SECTION_EVENTS,
  SECTION_FUNCTIONS,
  SECTION_CLOCKS,
  SECTION_INSTANCES,
  SECTION_COUNT
};

static const char *const parameter_heads[] = {"parameter", "type", "default", "set", "meaning", NULL};
static const char *const port_heads[] = {"port", "direction", "type", "meaning", NULL};
static const char *const userpoint_heads[] = {"userpoint", "meaning", NULL};
static const char *const state_heads[] = {"state", "type", "meaning", NULL};
static const char *const statistic_heads[] = {"statistic", "type", "unit", "meaning", NULL};
static const char *const balance_heads[] = {"statement", "meaning", NULL};
static const char *const event_heads[] = {"event", "meaning", NULL};
static const char *const function_heads[] = {"function", "reads", "writes", "meaning", NULL};
static const char *const clock_heads[] = {"clock", "frequency", "meaning", NULL};
static const char *const instance_heads[] = {"instance", "module", "meaning", NULL};

static char *join_lines(const char *text) {
  g_autoptr(GString) out = g_string_new(NULL);
  for (const char *c = text ? text : ""; *c; c++) {
    bool blank = g_ascii_isspace(*c);
    if (!blank)
      g_string_append_c(out, *c);
    else if (out->len && out->str[out->len - 1] != ' ')
      g_string_append_c(out, ' ');
  }
  while (out->len && out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
  return arena_strndup(out->str, out->len);
}

char *reference_summary(const char *doc) {
  char *line = join_lines(doc);
  for (char *c = line; *c; c++)
    if (*c == '.' && (c[1] == ' ' || c[1] == '\0')) {
      c[1] = '\0';
      break;
    }
  return line;
}

char *reference_opening(const char *text) {
  g_autoptr(GString) out = g_string_new(NULL);
  bool kept = false; // the line before is one that stands by itself
  while (g_str_has_prefix(text, "//")) {
    const char *end = strchrnul(text, '\n');
    text += 2;
    if (*text == ' ') text++;
    bool indented = *text == ' ' && out->len; // examples and lists keep their lines
    if (text == end || *text == '\n') {
      g_string_append(out, "\n\n");
    } else {
      if (out->len && out->str[out->len - 1] != '\n') g_string_append(out, indented || kept ? "\n" : " ");
      g_string_append_len(out, text, end - text);
    }
    kept = indented;
    text = *end ? end + 1 : end;
  }
  while (out->len && g_ascii_isspace(out->str[out->len - 1])) g_string_truncate(out, out->len - 1);
  return out->len ? arena_strndup(out->str, out->len) : NULL;
}

static const char *declared(const Node *node) {
  g_autoptr(GString) out = g_string_new(node->name);
  for (guint i = 0; node->dimensions && i < node->dimensions->len; i++)
    g_string_append_printf(out, "[%s]", expr_text(node->dimensions->pdata[i]));
  return arena_strndup(out->str, out->len);
}

static const char *signature(const Node *node) {
  g_autoptr(GString) out = g_string_new(node->name);
  g_string_append_c(out, '(');
  for (guint i = 0; node->arguments && i < node->arguments->len; i++) {
    const Node *argument = node->arguments->pdata[i];
    g_string_append_printf(out, "%s%s %s", i ? ", " : "", expr_text(argument->type), declared(argument));
  }
  g_string_append_c(out, ')');
  if (node->type) g_string_append_printf(out, " -> %s", expr_text(node->type));
  return arena_strndup(out->str, out->len);
}

static const char *signals(const GPtrArray *list) {
  g_autoptr(GString) out = g_string_new(NULL);
  for (guint i = 0; list && i < list->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "", expr_text(list->pdata[i]));
  return arena_strndup(out->str, out->len);
}

static void add_row(Section *section, const char *first, ...) {
  GPtrArray *row = arena_array();
  g_ptr_array_add(row, (gpointer)first);
  if (section->of) g_ptr_array_add(row, (gpointer)section->of);
  va_list cells;
  va_start(cells, first);
  for (int i = section->of ? 2 : 1; section->heads[i]; i++) g_ptr_array_add(row, (gpointer)va_arg(cells, const char *));
  va_end(cells);
  g_ptr_array_add(section->rows, row->pdata);
}

static void add_behaviour(Section *section, const Node *node, const char *doc) {
  const char *name = node->name;
  if (node->function == FUNCTION_HANDLER)
    name = arena_printf("%shandler %s%s", node->partial ? "partial " : "", name,
                        node->index_name ? arena_printf("[%s]", node->index_name) : "");
  else if (node->function == FUNCTION_RESET)
    name = arena_printf("handler %s(%s)", name, expr_text(node->value));
  else if (node->value)
    name = arena_printf("%s %s", name, expr_text(node->value));
  add_row(section, name, signals(node->reads), signals(node->writes), doc);
}

static const char *range_text(const Expr *range) {
  const Expr *least = range->right, *most = range->third;
  return arena_printf("%s..%s", least ? expr_text(least) : "", most ? expr_text(most) : "");
}

// "int in 1..64": the type, and the range as it is written.
static const char *in_range(const char *type, const Expr *range) {
  return range ? arena_printf("%s in %s", type, range_text(range)) : type;
}

// "alu_op : 0..3": the type, and the bits as they are written.
static const char *member_type(const Node *member) {
  const Expr *range = member->range;
  if (!range) return expr_text(member->type);
  return arena_printf("%s : %s", expr_text(member->type), range->third ? range_text(range) : expr_text(range->right));
}

static void collect(Section *sections, const GPtrArray *nodes);

// "instant", "trace uint32": the kind of a field, unless it is behaviour, and its type.
static const char *kind_and_type(const Node *field) {
  switch (field->state) {
  case STATE_INSTANT: return "instant";
  case STATE_STAMP: return "stamp";
  case STATE_COUNTER: return arena_printf("counter %s", expr_text(field->type));
  case STATE_TRACE: return arena_printf("trace %s", expr_text(field->type));
  case STATE_MEMORY: return arena_printf("memory %s", expr_text(field->type));
  case STATE_FLIGHT: return arena_printf("flight %s", expr_text(field->type));
  default: return expr_text(field->type);
  }
}

// A field of the state, or what a member of one may be.
static void add_state(Section *section, const Node *node) {
  const char *target = node->kind == NODE_RANGE ? expr_text(node->target) : NULL;
  if (target && node->value) target = arena_printf("%s %% %s", target, expr_text(node->value));
  if (target)
    add_row(section, target, arena_printf("in %s", range_text(node->within)), join_lines(node->doc));
  else
    add_row(section, declared(node), in_range(kind_and_type(node), node->within), join_lines(node->doc));
}

static void collect_node(Section *s, const Node *node) {
  const char *doc = join_lines(node->doc);
  switch (node->kind) {
  case NODE_PARAMETER:
    add_row(&s[SECTION_PARAMETERS], node->name, in_range(expr_text(node->type), node->range),
            node->value ? expr_text(node->value) : "(must be set)",
            node->bare      ? "fixed by this machine"
            : node->initial ? "when it starts (init only)"
            : node->runtime ? "when it starts"
                            : "when built",
            doc);
    break;
  case NODE_PORT:
    add_row(&s[SECTION_PORTS], node->name,
            arena_printf("%s%s%s%s%s", node->optional ? "optional " : "", node->paced ? "paced " : "",
                         node->keyed ? "keyed " : "", node->repeated ? "repeated " : "",
                         node->output ? "outport" : "inport"),
            expr_text(node->type), doc);
    break;
  case NODE_USERPOINT:
    add_row(&s[SECTION_USERPOINTS], signature(node), node->value ? doc : arena_printf("%s (must be set)", doc));
    if (node->value) {
      g_ptr_array_add(s[SECTION_USERPOINTS].code, (gpointer)node->name);
      g_ptr_array_add(s[SECTION_USERPOINTS].code, (gpointer)node->value->text);
    }
    break;
  case NODE_STATE:
    for (guint i = 0; i < node->body->len; i++) add_state(&s[SECTION_STATE], node->body->pdata[i]);
    break;
  case NODE_STAT:
    add_row(&s[SECTION_STATISTICS], declared(node),
            node->gauge ? arena_printf("gauge %s", expr_text(node->type)) : expr_text(node->type),
            node->text ? node->text : "", doc);
    break;
  case NODE_DERIVED:
    add_row(&s[SECTION_STATISTICS], node->name, arena_printf("= %s", expr_text(node->value)),
            node->text ? node->text : "", doc);
    break;
  case NODE_CONSERVATION: add_row(&s[SECTION_BALANCES], node_conserved_text(node), doc); break;
  case NODE_IDENTITY: add_row(&s[SECTION_BALANCES], arena_printf("identity %s", expr_text(node->value)), doc); break;
  case NODE_CUT: add_row(&s[SECTION_BALANCES], arena_printf("cut %s", expr_text(node->value)), doc); break;
  case NODE_EVENT: add_row(&s[SECTION_EVENTS], signature(node), doc); break;
  case NODE_BEHAVIOUR: add_behaviour(&s[SECTION_FUNCTIONS], node, doc); break;
  case NODE_CLOCK: add_row(&s[SECTION_CLOCKS], node->name, expr_text(node->value), doc); break;
  case NODE_WRAPS:
  case NODE_INSTANCE:
    add_row(&s[SECTION_INSTANCES],
            node->value ? arena_printf("%s[%s]", node->name, expr_text(node->value)) : node->name,
            expr_text(node->type), doc);
    break;
  case NODE_IF:
    collect(s, node->body);
    if (node->other) collect(s, node->other);
    break;
  case NODE_FOR:
  case NODE_FOR_IN:
  case NODE_WHILE: collect(s, node->body); break;
  default: break;
  }
}

static void collect(Section *sections, const GPtrArray *nodes) {
  for (guint i = 0; i < nodes->len; i++) collect_node(sections, nodes->pdata[i]);
}

// The heads of a table with the column that says where a declaration comes from.
static const char *const *heads_with_of(const char *const *heads) {
  GPtrArray *all = arena_array();
  for (int i = 0; heads[i]; i++) {
    g_ptr_array_add(all, (gpointer)heads[i]);
    if (i == 0) g_ptr_array_add(all, (gpointer) "of");
  }
  g_ptr_array_add(all, NULL);
  return (const char *const *)all->pdata;
}

// What the module has itself, then what it passes on of modules that it wraps.
static void collect_module(Section *sections, const Node *module, ModuleLookup find, gpointer data) {
  static const int kinds[] = {SECTION_PARAMETERS, SECTION_PORTS, SECTION_USERPOINTS};
  const GPtrArray *passed = wrapped_declarations(module->body, find, data);
  for (guint k = 0; passed->len && k < G_N_ELEMENTS(kinds); k++) {
    sections[kinds[k]].heads = heads_with_of(sections[kinds[k]].heads);
    sections[kinds[k]].of = "";
  }
  collect(sections, module->body);
  for (guint i = 0; i < passed->len; i++) {
    const PassedOn *one = passed->pdata[i];
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) sections[kinds[k]].of = one->of;
    collect_node(sections, one->node);
  }
}

// ---- Output --------------------------------------------------------------------------------------------------------

static void markdown_cell(GString *out, const char *text, bool code) {
  g_string_append(out, code && *text ? " `" : " ");
  for (; *text; text++) {
    if (*text == '|') g_string_append_c(out, '\\');
    g_string_append_c(out, *text == '\n' ? ' ' : *text);
  }
  g_string_append(out, code && out->str[out->len - 1] != ' ' ? "` |" : " |");
}

static void print_markdown(GString *out, const Section *section, guint columns) {
  g_string_append_printf(out, "\n### %s\n\n|", section->title);
  for (guint c = 0; c < columns; c++) g_string_append_printf(out, " %s |", section->heads[c]);
  g_string_append(out, "\n|");
  for (guint c = 0; c < columns; c++) g_string_append(out, "---|");
  g_string_append_c(out, '\n');
  for (guint r = 0; r < section->rows->len; r++) {
    const char **row = section->rows->pdata[r];
    g_string_append_c(out, '|');
    for (guint c = 0; c < columns; c++) markdown_cell(out, row[c], c + 1 < columns);
    g_string_append_c(out, '\n');
  }
}

static void print_text_row(GString *out, const char *const *row, const int *width, guint columns) {
  g_string_append(out, "  ");
  for (guint c = 0; c + 1 < columns; c++) {
    int gap = width[c] - (int)g_utf8_strlen(row[c], -1);
    g_string_append_printf(out, "%s%*s  ", row[c], MAX(gap, 0), "");
  }
  g_string_append(out, row[columns - 1]);
  while (out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
  g_string_append_c(out, '\n');
}

static void print_text(GString *out, const Section *section, guint columns) {
  enum { WIDEST = 44 }; // a longer cell pushes its own row only
  int width[8] = {0};
  bool heads = columns > 2;
  for (guint c = 0; heads && c + 1 < columns; c++) width[c] = (int)strlen(section->heads[c]);
  for (guint r = 0; r < section->rows->len; r++)
    for (guint c = 0; c + 1 < columns; c++) {
      int length = (int)g_utf8_strlen(((const char **)section->rows->pdata[r])[c], -1);
      if (length <= WIDEST) width[c] = MAX(width[c], length);
    }
  g_string_append_printf(out, "\n%s\n", section->title);
  if (heads) print_text_row(out, section->heads, width, columns);
  for (guint r = 0; r < section->rows->len; r++) print_text_row(out, section->rows->pdata[r], width, columns);
}

static void print_code(GString *out, const Section *section, ReferenceStyle style) {
  for (guint i = 0; i + 1 < section->code->len; i += 2) {
    const char *name = section->code->pdata[i];
    g_autofree char *text = g_strstrip(g_strdup(section->code->pdata[i + 1]));
    if (style == REFERENCE_MARKDOWN)
      g_string_append_printf(out, "\nDefault of `%s`:\n\n```c\n%s\n```\n", name, text);
    else
      g_string_append_printf(out, "  default of %s: %s\n", name, text);
  }
}

static void print_section(GString *out, const Section *section, ReferenceStyle style) {
  if (!section->rows->len) return;
  guint columns = g_strv_length((gchar **)section->heads);
  if (style == REFERENCE_MARKDOWN)
    print_markdown(out, section, columns);
  else
    print_text(out, section, columns);
  print_code(out, section, style);
}

static void print_title(GString *out, const Node *node, const char *kind, const char *path, const char *about,
                        ReferenceStyle style) {
  bool markdown = style == REFERENCE_MARKDOWN;
  g_string_append_printf(out, markdown ? "## %s\n\n*%s, `%s`*\n" : "%s: %s, %s\n", node->name, kind, path);
  if (node->doc) {
    g_string_append_c(out, '\n');
    g_auto(GStrv) lines = g_strsplit(node->doc, "\n", -1);
    for (char **line = lines; *line; line++) g_string_append_printf(out, "%s\n", g_strstrip(*line));
  }
  if (about) g_string_append_printf(out, "\n%s\n", about);
}

// "items_and_identities" of "Items and identities".
static const char *key_of(const char *title) {
  char *key = arena_strndup(title, strlen(title));
  for (char *c = key; *c; c++) *c = *c == ' ' ? '_' : g_ascii_tolower(*c);
  return key;
}

// Each section is a list of rows, whose cells are called as the heads of their columns; the first one is a name.
static void print_json(GString *out, const Node *node, const char *kind, const char *path, const char *about,
                       const Section *sections, int count) {
  Json json;
  json_start_line(&json);
  json_open(&json, '{');
  json_member(&json, "name", node->name);
  json_member(&json, "kind", kind);
  json_member(&json, "file", path);
  json_member(&json, "summary", node->doc ? join_lines(node->doc) : NULL);
  json_member(&json, "about", about);
  for (int i = 0; i < count; i++) {
    json_open_member(&json, key_of(sections[i].title), '[');
    for (guint r = 0; r < sections[i].rows->len; r++) {
      const char **row = sections[i].rows->pdata[r];
      json_open(&json, '{');
      for (int c = 0; sections[i].heads[c]; c++) json_member(&json, c ? sections[i].heads[c] : "name", row[c]);
      json_close(&json, '}');
    }
    json_close(&json, ']');
  }
  json_close(&json, '}');
  g_autofree char *text = json_finish(&json);
  g_string_append(out, text);
}

// What C calls a member of a family of types: its name and the values of its arguments, as lss/elab/typeexpr.c joins
// them.
static void print_c_name(GString *out, const Node *node, ReferenceStyle style) {
  const char *quote = style == REFERENCE_MARKDOWN ? "`" : "";
  g_autoptr(GString) general = g_string_new(node->name);
  g_autoptr(GString) example = g_string_new(node->name);
  bool known = true;
  for (guint i = 0; i < node->arguments->len; i++) {
    const Node *argument = node->arguments->pdata[i];
    g_autofree char *upper = g_ascii_strup(argument->name, -1);
    g_string_append_printf(general, "_%s", upper);
    known = known && argument->value && argument->value->kind == EXPR_INT;
    if (known) g_string_append_printf(example, "_%s", expr_text(argument->value));
  }
  g_string_append_printf(out, "\nIn C: %s%s%s", quote, general->str, quote);
  if (known) g_string_append_printf(out, ", by default %s%s%s", quote, example->str, quote);
  g_string_append_printf(out, "; the type of a port p is %stypeof_port(p)%s.\n", quote, quote);
}

// A struct, packed word, enum or bundle: one table of what it is made of.
static void print_type(GString *out, const Node *node, const char *path, const char *about, ReferenceStyle style) {
  static const char *const heads[] = {"name", "type", "meaning", NULL};
  g_autoptr(GString) kind = g_string_new(node_kind_name(node->kind));
  for (guint i = 0; node->arguments && i < node->arguments->len; i++) {
    const Node *a = node->arguments->pdata[i];
    g_string_append_printf(kind, "%s%s %s%s%s%s", i ? ", " : " (", expr_text(a->type), a->name, a->value ? " = " : "",
                           a->value ? expr_text(a->value) : "", i + 1 == node->arguments->len ? ")" : "");
  }
  if (node->kind == NODE_PACKED) g_string_append_printf(kind, " of %s", expr_text(node->type));
  Section section = {"Parts", heads, arena_array(), arena_array(), NULL};
  for (guint i = 0; node->body && i < node->body->len; i++) {
    const Node *part = node->body->pdata[i];
    const char *type = part->type    ? in_range(member_type(part), part->within)
                       : part->value ? arena_printf("= %s", expr_text(part->value))
                                     : "";
    if (part->kind == NODE_MEMBER) type = arena_printf("%s %s", part->output ? "forward" : "backward", type);
    add_row(&section, declared(part), type, join_lines(part->doc));
  }
  if (style == REFERENCE_JSON) {
    print_json(out, node, kind->str, path, about, &section, 1);
    return;
  }
  print_title(out, node, kind->str, path, about, style);
  if (node_is_family(node) && node->arguments && node->arguments->len) print_c_name(out, node, style);
  print_section(out, &section, style);
}

bool reference_covers(const Node *node) {
  return node->kind == NODE_MODULE || node_is_family(node) || node->kind == NODE_ENUM || node->kind == NODE_BUNDLE;
}

const Node *reference_module(const SourceFile *file, const char *name) {
  for (guint i = 0; i < file->nodes->len; i++) {
    const Node *node = file->nodes->pdata[i];
    if (node->kind == NODE_MODULE && !strcmp(node->name, name)) return node;
  }
  return NULL;
}

bool reference_is_leaf(const Node *module) {
  for (guint i = 0; i < module->body->len; i++) {
    NodeKind kind = ((const Node *)module->body->pdata[i])->kind;
    if (kind == NODE_BEHAVIOUR || kind == NODE_STATE) return true;
  }
  return false;
}

void reference_print(GString *out, const Node *node, const char *path, const char *about, ReferenceStyle style,
                     ModuleLookup find, gpointer data) {
  if (node->kind != NODE_MODULE) {
    print_type(out, node, path, about, style);
    return;
  }
  Section sections[SECTION_COUNT] = {
      [SECTION_PARAMETERS] = {"Parameters", parameter_heads, NULL, NULL, NULL},
      [SECTION_PORTS] = {"Ports", port_heads, NULL, NULL, NULL},
      [SECTION_USERPOINTS] = {"Userpoints", userpoint_heads, NULL, NULL, NULL},
      [SECTION_STATE] = {"State", state_heads, NULL, NULL, NULL},
      [SECTION_STATISTICS] = {"Statistics", statistic_heads, NULL, NULL, NULL},
      [SECTION_BALANCES] = {"Items and identities", balance_heads, NULL, NULL, NULL},
      [SECTION_EVENTS] = {"Events", event_heads, NULL, NULL, NULL},
      [SECTION_FUNCTIONS] = {"Functions", function_heads, NULL, NULL, NULL},
      [SECTION_CLOCKS] = {"Clocks", clock_heads, NULL, NULL, NULL},
      [SECTION_INSTANCES] = {"Made of", instance_heads, NULL, NULL, NULL},
  };
  for (int i = 0; i < SECTION_COUNT; i++) {
    sections[i].rows = arena_array();
    sections[i].code = arena_array();
  }
  collect_module(sections, node, find, data);
  const char *kind = node->machine             ? "machine"
                     : node->part              ? "part of networks"
                     : node->crossing          ? "clock-domain crossing"
                     : reference_is_leaf(node) ? "leaf module"
                                               : "hierarchical module";
  if (style == REFERENCE_JSON) {
    print_json(out, node, kind, path, about, sections, SECTION_COUNT);
    return;
  }
  print_title(out, node, kind, path, about, style);
  for (int i = 0; i < SECTION_COUNT; i++) print_section(out, &sections[i], style);
}
