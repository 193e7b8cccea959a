// The processes of a network, their borders and their kinds; see parts.h.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"
#include "lss/parts/parts.h"

#include <string.h>

typedef struct {
  Netlist *netlist;
  GHashTable *part_of;   // Instance* -> Part* that it is or is in
  GHashTable *number_of; // Part* -> 1 + its number
  GPtrArray *borders;    // Border*: `from` and `to` are numbers of parts at first
  guint *joined;         // per part: one that it is joined to, or itself
  bool zero;             // some crossing takes no time
  bool quiet;            // nothing is reported: it is built as a whole
} Search;

static guint root_of(const Search *search, guint part) {
  while (search->joined[part] != part) part = search->joined[part];
  return part;
}

// ---- What belongs to which part ------------------------------------------------------------------------------------

static void find_parts(Search *search) {
  const GPtrArray *parts = search->netlist->parts;
  for (guint i = 0; i < parts->len; i++) {
    Part *part = parts->pdata[i];
    g_hash_table_insert(search->part_of, part->instance, part);
    g_hash_table_insert(search->number_of, part, GUINT_TO_POINTER(i + 1));
    search->joined[i] = i;
  }
  for (guint i = 0; i < search->netlist->instances->len; i++) {
    Instance *instance = search->netlist->instances->pdata[i];
    Part *around = instance->parent ? g_hash_table_lookup(search->part_of, instance->parent) : NULL;
    if (around) g_hash_table_insert(search->part_of, instance, around);
  }
}

// The part at one end of a crossing; false after an error.
static bool end_in_part(const Search *search, const Instance *crossing, const Port *port, guint *number) {
  if (port->lanes->len != 1) {
    if (!search->quiet)
      diag_error(crossing->location, "part-border",
                 "`%s` leads from one part of a network to another: its port `%s` has one lane, not %u", crossing->path,
                 port->name, port->lanes->len);
    return false;
  }
  const Connection *connection = port->lanes->pdata[0];
  const Port *other = port->output ? connection->to : connection->from;
  const Part *part = g_hash_table_lookup(search->part_of, other->instance);
  if (part) {
    *number = GPOINTER_TO_UINT(g_hash_table_lookup(search->number_of, part)) - 1;
    return true;
  }
  if (!search->quiet && port->output && other->instance->leaf->crossing && other->instance->cut)
    diag_error(connection->location, "part-border", "between the crossings `%s` and `%s` is no part of the network",
               crossing->path, other->instance->path);
  return false; // else it is reported itself
}

static bool has_flight(const Instance *crossing) {
  for (guint i = 0; i < crossing->state->len; i++)
    if (((StateField *)crossing->state->pdata[i])->kind == STATE_FLIGHT) return true;
  return false;
}

static bool find_border(Search *search, Instance *crossing) {
  Border *border = arena_new(Border);
  border->crossing = crossing;
  for (guint i = 0; i < crossing->ports->len; i++) {
    Port *port = crossing->ports->pdata[i];
    *(port->output ? &border->out : &border->in) = port;
  }
  if (!end_in_part(search, crossing, border->in, &border->from) ||
      !end_in_part(search, crossing, border->out, &border->to))
    return false;
  if (!has_flight(crossing)) {
    if (!search->quiet)
      diag_error(crossing->location, "part-border",
                 "`%s` has no flight, so that nothing gets from one part of the network to the other", crossing->path);
    return false;
  }
  g_ptr_array_add(search->borders, border);
  return true;
}

static bool find_borders(Search *search) {
  bool fine = true;
  for (guint i = 0; i < search->netlist->leaves->len; i++) {
    Instance *leaf = search->netlist->leaves->pdata[i];
    if (g_hash_table_lookup(search->part_of, leaf)) continue;
    if (leaf->leaf->crossing && leaf->cut) {
      fine &= find_border(search, leaf);
      continue;
    }
    fine = false;
    if (search->quiet) return false;
    diag_error(leaf->location, "part-border", "`%s` is in no part of the network, and no crossing between two parts",
               leaf->path);
    diag_note(NOWHERE, "`part instance` makes a part of an instance, and `part module` of all of a module");
  }
  return fine;
}

// ---- Cuts of no time, and short ones -------------------------------------------------------------------------------

enum { SHORT_CUT = 100 }; // nanoseconds

static void join_parts(Search *search) {
  const guint64 per_second = search->netlist->ticks_per_second;
  const Border *shortest = NULL;
  for (guint i = 0; i < search->borders->len; i++) {
    const Border *border = search->borders->pdata[i];
    const guint one = root_of(search, border->from), other = root_of(search, border->to);
    if (one == other) continue;
    const guint64 cut = instance_cut(border->crossing, per_second);
    if (cut) {
      if (!shortest || cut < instance_cut(shortest->crossing, per_second)) shortest = border;
      continue;
    }
    search->zero = true;
    search->joined[MAX(one, other)] = MIN(one, other);
    if (search->quiet) continue;
    const Part *from = search->netlist->parts->pdata[border->from], *to = search->netlist->parts->pdata[border->to];
    diag_warning(border->crossing->location, "cut-zero",
                 "`%s` takes no time, so that `%s` and `%s` are one part of the network", border->crossing->path,
                 from->instance->path, to->instance->path);
    diag_note(border->crossing->cut_place, "its cut is declared here");
  }
  if (!shortest || search->quiet ||
      (unsigned __int128)instance_cut(shortest->crossing, per_second) * 1000000000 >=
          (unsigned __int128)SHORT_CUT * per_second)
    return;
  diag_warning(
      shortest->crossing->location, "cut-short",
      "`%s` takes less than %d ns: parts wait for each other twice in that time, which costs more than what they do",
      shortest->crossing->path, SHORT_CUT);
  diag_note(shortest->crossing->cut_place, "its cut is declared here");
}

// ---- Processes -----------------------------------------------------------------------------------------------------

// The port of the part through which a connection leads, and its lane.
static const char *key_of(const Instance *part, const Connection *connection, const Port *port, int lane) {
  for (guint i = 0; connection->passages && i < connection->passages->len; i++) {
    const Passage *passage = connection->passages->pdata[i];
    if (passage->instance == part) return passage->text + strlen(part->path) + 1;
  }
  g_autofree char *text = port_lane_text(port, lane);
  return arena_strdup(text);
}

static void add_end(Process *process, const Part *part, const Border *border, bool sends) {
  const Connection *connection = (sends ? border->in : border->out)->lanes->pdata[0];
  BorderEnd *end = arena_new(BorderEnd);
  *end = (BorderEnd){border,
                     sends ? key_of(part->instance, connection, connection->from, connection->from_lane)
                           : key_of(part->instance, connection, connection->to, connection->to_lane),
                     sends};
  g_ptr_array_add(process->ends, end);
}

static gint by_key(gconstpointer a, gconstpointer b) {
  const BorderEnd *one = *(BorderEnd *const *)a, *other = *(BorderEnd *const *)b;
  const int order = strcmp(one->key, other->key);
  return order ? order : one->sends - other->sends;
}

static void make_processes(Search *search, Network *network) {
  const GPtrArray *parts = search->netlist->parts;
  g_autofree guint *number = g_new0(guint, parts->len);
  for (guint i = 0; i < parts->len; i++) {
    if (root_of(search, i) == i) {
      Process *process = arena_new(Process);
      *process = (Process){arena_array(), arena_array(), arena_array(), 0};
      number[i] = network->processes->len;
      g_ptr_array_add(network->processes, process);
    }
    number[i] = number[root_of(search, i)];
    g_ptr_array_add(((Process *)network->processes->pdata[number[i]])->parts, parts->pdata[i]);
  }
  for (guint i = 0; i < search->borders->len; i++) {
    Border *border = search->borders->pdata[i];
    const Part *from = parts->pdata[border->from], *to = parts->pdata[border->to];
    border->from = number[border->from];
    border->to = number[border->to];
    if (border->from == border->to) {
      g_ptr_array_add(((Process *)network->processes->pdata[border->from])->inside, border->crossing);
      continue;
    }
    g_ptr_array_add(network->borders, border);
    add_end(network->processes->pdata[border->from], from, border, true);
    add_end(network->processes->pdata[border->to], to, border, false);
  }
  for (guint i = 0; i < network->processes->len; i++)
    g_ptr_array_sort(((Process *)network->processes->pdata[i])->ends, by_key);
}

// ---- Kinds ---------------------------------------------------------------------------------------------------------

static bool crossings_alike(const Instance *one, const Instance *other) {
  if (one->leaf != other->leaf || one->parameters->len != other->parameters->len) return false;
  for (guint i = 0; i < one->parameters->len; i++) {
    const Parameter *a = one->parameters->pdata[i], *b = other->parameters->pdata[i];
    if (strcmp(a->name, b->name) != 0 || !a->value != !b->value) return false;
    if (!a->runtime && a->value && !value_equal(a->value, b->value)) return false;
  }
  return true;
}

static const Part *only(const Process *process) {
  return process->parts->len == 1 ? process->parts->pdata[0] : NULL;
}

static bool processes_alike(const Process *one, const Process *other) {
  const Part *a = only(one), *b = only(other);
  if (!a || !b || a->like != b->like || one->ends->len != other->ends->len || one->inside->len || other->inside->len)
    return false;
  for (guint i = 0; i < one->ends->len; i++) {
    const BorderEnd *x = one->ends->pdata[i], *y = other->ends->pdata[i];
    if (x->sends != y->sends || strcmp(x->key, y->key) != 0 ||
        !crossings_alike(x->border->crossing, y->border->crossing))
      return false;
  }
  return true;
}

static bool is_elaborated(const Process *process) {
  for (guint i = 0; i < process->parts->len; i++) {
    const Part *part = process->parts->pdata[i];
    if (part->like != part->instance) return false;
  }
  return true;
}

// Whether all of a process is elaborated, or will be.
static bool want_bodies(const Process *process, GPtrArray *bodies) {
  for (guint i = 0; i < process->parts->len; i++) {
    const Part *part = process->parts->pdata[i];
    if (part->like != part->instance) g_ptr_array_add(bodies, (gpointer)part->instance->path);
  }
  return is_elaborated(process);
}

static bool find_kinds(Network *network, GPtrArray *bodies) {
  bool complete = true;
  g_autoptr(GPtrArray) elaborated = g_ptr_array_new(); // per kind: whether its representative is
  for (guint i = 0; i < network->processes->len; i++) {
    Process *process = network->processes->pdata[i];
    guint k = 0;
    for (; k < network->kinds->len; k++) {
      const PartKind *kind = network->kinds->pdata[k];
      if (processes_alike(network->processes->pdata[kind->representative], process)) break;
    }
    process->kind = k;
    if (k == network->kinds->len) {
      PartKind *kind = arena_new(PartKind);
      kind->representative = i;
      g_ptr_array_add(network->kinds, kind);
      g_ptr_array_add(elaborated, GINT_TO_POINTER(is_elaborated(process)));
    } else if (!elaborated->pdata[k] && is_elaborated(process)) {
      ((PartKind *)network->kinds->pdata[k])->representative = i;
      elaborated->pdata[k] = GINT_TO_POINTER(true);
    }
  }
  for (guint k = 0; k < network->kinds->len; k++) {
    PartKind *kind = network->kinds->pdata[k];
    const Process *process = network->processes->pdata[kind->representative];
    complete &= want_bodies(process, bodies);
    kind->simulator = arena_printf("%s-%u", ((Part *)process->parts->pdata[0])->instance->module_name, k);
  }
  return complete;
}

// ---- All of it -----------------------------------------------------------------------------------------------------

static void find_order(const Search *search, const Instance *instance, GHashTable *borders, GPtrArray *order) {
  const Part *part = g_hash_table_lookup(search->part_of, instance);
  if (part || g_hash_table_contains(borders, instance)) {
    g_ptr_array_add(order, (gpointer)instance->path);
    return;
  }
  for (guint i = 0; i < instance->children->len; i++) find_order(search, instance->children->pdata[i], borders, order);
}

static bool check_count(const Search *search, const Network *network) {
  if (network->processes->len > 1) return true;
  const Location where = {.file = search->netlist->file};
  const Border *first = search->borders->len ? search->borders->pdata[0] : NULL;
  if (search->zero)
    diag_error(where, "cut-zero", "nothing to cut: the latency of `%s` is 0", first->crossing->path);
  else
    diag_error(where, "part-border", "nothing to cut: `%s` is the only part of the network",
               ((Part *)search->netlist->parts->pdata[0])->instance->path);
  return false;
}

Network *network_find(Netlist *whole, GPtrArray *bodies) {
  g_autoptr(GHashTable) part_of = g_hash_table_new(NULL, NULL), number_of = g_hash_table_new(NULL, NULL),
                        borders = g_hash_table_new(NULL, NULL);
  g_autofree guint *joined = g_new0(guint, whole->parts->len + 1);
  Search search = {
      .netlist = whole, .part_of = part_of, .number_of = number_of, .borders = arena_array(), .joined = joined};
  Network *network = arena_new(Network);
  *network = (Network){.whole = whole,
                       .processes = arena_array(),
                       .kinds = arena_array(),
                       .borders = arena_array(),
                       .order = arena_array()};
  find_parts(&search);
  if (!whole->parts->len) {
    diag_error((Location){.file = whole->file}, "part-border",
               "no part of a network is declared here; `part instance a : host;` declares one");
    return NULL;
  }
  if (!find_borders(&search)) return NULL;
  join_parts(&search);
  make_processes(&search, network);
  if (!check_count(&search, network) || !find_kinds(network, bodies)) return NULL;
  for (guint i = 0; i < search.borders->len; i++)
    g_hash_table_add(borders, ((Border *)search.borders->pdata[i])->crossing);
  find_order(&search, whole->top, borders, network->order);
  network->distance = network_farthest(network);
  return network;
}

guint64 network_distance(Netlist *whole) {
  if (!whole->parts->len) return 0;
  g_autoptr(GHashTable) part_of = g_hash_table_new(NULL, NULL), number_of = g_hash_table_new(NULL, NULL);
  g_autofree guint *joined = g_new0(guint, whole->parts->len + 1);
  Search search = {.netlist = whole,
                   .part_of = part_of,
                   .number_of = number_of,
                   .borders = arena_array(),
                   .joined = joined,
                   .quiet = true};
  Network network = {.whole = whole, .processes = arena_array(), .borders = arena_array()};
  find_parts(&search);
  if (!find_borders(&search)) return 0;
  join_parts(&search);
  make_processes(&search, &network);
  return network.processes->len > 1 ? network_farthest(&network) : 0;
}
