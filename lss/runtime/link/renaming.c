// Paths in the tables of a machine; see renaming.h.
//
// The tables are constant for everybody else: their pages are made writable for the time of this, which comes before
// anything has read them.
#include "lss/runtime/link/renaming.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/variant.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const spinach_machine *const machine = &spinach_machine_table;
static const NetworkPart *named;

// Lets the pages of a table be written, or protects them again.
static bool open_table(const void *table, size_t size, bool open) {
  if (!size) return true;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)table / page * page,
                  end = ((uintptr_t)table + size + page - 1) / page * page;
  return !mprotect((void *)first, end - first, open ? PROT_READ | PROT_WRITE : PROT_READ);
}

// The longest of the renamed units that a path is in, by its name here or in the representative; NULL: none.
static const NetworkPair *unit_of(const char *path, bool here, size_t *length) {
  const NetworkPair *best = NULL;
  for (guint i = 0; path && i < named->renamed->len; i++) {
    const NetworkPair *pair = &g_array_index(named->renamed, NetworkPair, i);
    const char *name = here ? pair->value : pair->name;
    const size_t n = strlen(name);
    if (strncmp(path, name, n) || (path[n] && path[n] != '.' && path[n] != '[')) continue;
    if (!best || n > *length) best = pair, *length = n;
  }
  return best;
}

// The name in this part, which lives as long as the process; the same text where nothing is renamed.
static const char *renamed(const char *text) {
  size_t length;
  const NetworkPair *unit = unit_of(text, false, &length);
  return unit ? g_strconcat(unit->value, text + length, NULL) : text;
}

// A word for the compiler, which knows the representative.
static char *word_there(const char *word) {
  size_t length;
  const NetworkPair *unit = unit_of(word, true, &length);
  return unit ? g_strconcat(unit->name, word + length, NULL) : g_strdup(word);
}

static void rename_at(const char *const *place) {
  const char *text = renamed(*place);
  if (text != *place) *(const char **)(uintptr_t)place = text;
}

static void rename_list(const char *const *texts) {
  for (const char *const *text = texts; *text; text++) rename_at(text);
}

static size_t list_size(const char *const *texts) {
  size_t count = 1;
  for (const char *const *text = texts; *text; text++) count++;
  return count * sizeof *texts;
}

static bool open_lists(bool open) {
  bool fine = open_table(machine->watches, list_size(machine->watches), open) &&
              open_table(machine->records, list_size(machine->records), open) &&
              open_table(machine->waves, list_size(machine->waves), open);
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    fine = fine && (!parameter->aliases || open_table(parameter->aliases, list_size(parameter->aliases), open));
  }
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *connection = &machine->connections[i];
    fine = fine && open_table(connection->passages, connection->passage_count * sizeof *connection->passages, open);
  }
  return fine;
}

static bool open_tables(bool open) {
  return open_table(machine->instances, machine->instance_count * sizeof *machine->instances, open) &&
         open_table(machine->parameters, machine->parameter_count * sizeof *machine->parameters, open) &&
         open_table(machine->constants, machine->constant_count * sizeof *machine->constants, open) &&
         open_table(machine->connections, machine->connection_count * sizeof *machine->connections, open) &&
         open_table(machine->clocks, machine->clock_count * sizeof *machine->clocks, open) &&
         open_table(machine->views, machine->view_count * sizeof *machine->views, open) &&
         open_table(machine->identity, machine->identity_count * sizeof *machine->identity, open) &&
         open_table(machine->links, machine->link_count * sizeof *machine->links, open) && open_lists(open);
}

static void rename_all(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) rename_at(&machine->instances[i].path);
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    rename_at(&machine->parameters[i].name);
    if (machine->parameters[i].aliases) rename_list(machine->parameters[i].aliases);
  }
  for (uint32_t i = 0; i < machine->constant_count; i++) rename_at(&machine->constants[i].name);
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *connection = &machine->connections[i];
    rename_at(&connection->from);
    rename_at(&connection->to);
    for (uint32_t k = 0; k < connection->passage_count; k++) rename_at(&connection->passages[k].port);
  }
  for (uint32_t i = 0; i < machine->clock_count; i++) rename_at(&machine->clocks[i].name);
  for (uint32_t i = 0; i < machine->view_count; i++) rename_at(&machine->views[i].name);
  for (uint32_t i = 0; i < machine->identity_count; i++) rename_at(&machine->identity[i].name);
  for (uint32_t i = 0; i < machine->link_count; i++) rename_at(&machine->links[i].path);
  rename_list(machine->watches);
  rename_list(machine->records);
  rename_list(machine->waves);
}

bool spinach_rename_tables(const NetworkPart *part) {
  named = part;
  spinach_variant_word = word_there;
  if (!open_tables(true))
    return spinach_report_error("error: the names of %s cannot be given: %s", part->path, g_strerror(errno));
  rename_all();
  open_tables(false);
  return true;
}
