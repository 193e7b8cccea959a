// What a machine shows of its processors, when a run ends in an error or gets stuck: program counter, registers, the
// latest instructions.  Debug views name the state that holds them.
//
// Roles: `pc` (address of the next instruction), `registers` (an array; one of bytes holds 32-bit registers), `program`
// (a runtime string parameter or state string that names the executable, for functions and lines), `history` (a trace
// of executed instructions: structs with fields pc and word, or addresses).  Other roles are printed as they are when
// they are small.
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/text/names.h"

#include <glib.h>

enum { SMALL = 64, SHOWN_HISTORY = 32, REGISTERS_PER_LINE = 8 };

static const spinach_machine *const machine = &spinach_machine_table;

static const spinach_debug_role *role_of(const spinach_debug_view *view, const char *name) {
  for (uint32_t i = 0; i < view->role_count; i++)
    if (!strcmp(view->roles[i].role, name)) return &view->roles[i];
  return NULL;
}

static void *element(const spinach_debug_role *role, uint64_t index) {
  spinach_place place = {role->instance, role->field, 0, spinach_field_elements(role->field)};
  return spinach_element(&place, index);
}

static bool integer_member(const struct spinach_type *type, const char *name, const void *value, uint64_t *result) {
  for (uint32_t i = 0; type->kind == SPINACH_STRUCT && i < type->member_count; i++) {
    const struct spinach_member *member = &type->members[i];
    if (strcmp(member->name, name) != 0 || !spinach_is_integer(member->type)) continue;
    *result = (uint64_t)spinach_integer(member->type, (const uint8_t *)value + member->offset);
    return true;
  }
  return false;
}

static void print_registers(FILE *out, const spinach_debug_role *role) {
  // A memory that serves as register file holds bytes, as the host would lay out the numbers.
  const bool bytes = role->field->type->size == 1;
  uint64_t count = spinach_field_elements(role->field) / (bytes ? sizeof(uint32_t) : 1);
  for (uint64_t i = 0; i < count; i++) {
    if (i % REGISTERS_PER_LINE == 0) fprintf(out, "%s    r%-2llu", i ? "\n" : "", (unsigned long long)i);
    if (bytes) {
      uint32_t value;
      memcpy(&value, element(role, i * sizeof value), sizeof value);
      fprintf(out, " %08x", value);
    } else if (spinach_is_integer(role->field->type)) {
      uint64_t value = (uint64_t)spinach_integer(role->field->type, element(role, i));
      fprintf(out, role->field->type->size > 4 ? " %016llx" : " %08llx",
              (unsigned long long)(role->field->type->size > 4 ? value : (uint32_t)value));
    } else {
      char text[256];
      spinach_type_print(role->field->type, element(role, i), text, sizeof text);
      fprintf(out, " %s", text);
    }
  }
  fputc('\n', out);
}

typedef struct {
  uint32_t pc, word;
  bool has_word;
} Executed;

// The latest instructions, oldest first.
static GArray *executed(const spinach_debug_role *role) {
  const struct spinach_type *type = role->field->type;
  uint64_t count = spinach_field_elements(role->field);
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Executed));
  for (uint64_t i = 0; i < count; i++) {
    const void *entry = element(role, i);
    uint64_t pc = 0, word = 0;
    bool known = spinach_is_integer(type);
    if (known)
      pc = (uint64_t)spinach_integer(type, entry);
    else if (!integer_member(type, "pc", entry, &pc) || !integer_member(type, "word", entry, &word))
      break;
    const Executed one = {(uint32_t)pc, (uint32_t)word, !known};
    if (pc || word) g_array_append_val(all, one);
  }
  return all;
}

// How many at the end repeat the `period` before them.
static guint repeating(const GArray *all, guint period) {
  guint n = 0;
  while (n + period < all->len && g_array_index(all, Executed, all->len - 1 - n).pc ==
                                      g_array_index(all, Executed, all->len - 1 - n - period).pc)
    n++;
  return n;
}

// The shortest loop that the end consists of, at least three times; 0: none.
static guint loop_length(const GArray *all) {
  for (guint period = 1; period <= all->len / 3; period++)
    if (repeating(all, period) >= 2 * period) return period;
  return 0;
}

static void print_executed(FILE *out, const Executed *one) {
  g_autofree char *where = spinach_describe_address(one->pc);
  if (!one->has_word) {
    fprintf(out, "    %s\n", where);
    return;
  }
  g_autofree char *code = spinach_disassemble(one->pc, one->word);
  const char *name = strchr(where, ' '); // after the address, which precedes it already
  fprintf(out, "    %08x  %-32s %s\n", one->pc, code, name ? name + 1 : "");
}

// A loop at the end is printed once, so that what led to it shows.
static void print_history(FILE *out, const spinach_debug_role *role) {
  g_autoptr(GArray) all = executed(role);
  const guint loop = loop_length(all), folded = loop ? repeating(all, loop) : 0, first = all->len - folded - loop;
  const guint shown = loop ? first : all->len;
  fprintf(out, "  the latest instructions, oldest first:\n");
  for (guint i = shown > SHOWN_HISTORY ? shown - SHOWN_HISTORY : 0; i < shown; i++)
    print_executed(out, &g_array_index(all, Executed, i));
  if (!loop) return;
  fprintf(out, "    the last %u%s repeat %s:\n", folded + loop, first ? "" : ", all that are remembered,",
          loop == 1 ? "this one" : "these");
  for (guint i = 0; i < loop; i++) print_executed(out, &g_array_index(all, Executed, first + i));
}

// What other roles are read with, or only debuggers use.
static const char *const unprinted[] = {"memory", "retired",   "fetch_pc", "pc_set", "branch_pending",
                                        "halt",   "in_flight", "fetching", NULL};

// What holds parts of memory, or is only for debuggers, says nothing that people could read here.
static bool says_nothing(const spinach_debug_view *view) {
  if (role_of(view, "line_bytes") || role_of(view, "line_number")) return true;
  for (uint32_t i = 0; i < view->role_count; i++)
    if (!g_strv_contains(unprinted, view->roles[i].role)) return false;
  return true;
}

static void print_view(FILE *out, const spinach_debug_view *view) {
  if (says_nothing(view)) return;
  const char *path = machine->instances[view->instance].path;
  fprintf(out, "%s%s%s:\n", view->name, *path ? " " : "", path);
  const spinach_debug_role *pc = role_of(view, "pc"), *registers = role_of(view, "registers"),
                           *history = role_of(view, "history");
  if (pc && spinach_is_integer(pc->field->type)) {
    g_autofree char *where = spinach_describe_address((uint32_t)spinach_integer(pc->field->type, element(pc, 0)));
    fprintf(out, "  pc = %s\n", where);
  }
  if (registers) {
    fprintf(out, "  registers\n");
    print_registers(out, registers);
  }
  for (uint32_t i = 0; i < view->role_count; i++) {
    const spinach_debug_role *role = &view->roles[i];
    if (role == pc || role == registers || role == history || g_strv_contains(unprinted, role->role)) continue;
    if (spinach_field_elements(role->field) != 1 || role->field->type->size > SMALL) continue;
    char text[512];
    spinach_type_print(role->field->type, element(role, 0), text, sizeof text);
    fprintf(out, "  %s = %s\n", role->role, text);
  }
  if (history) print_history(out, history);
}

static bool encloses(int32_t outer, int32_t inner) {
  for (; inner >= 0; inner = machine->instances[inner].parent)
    if (inner == outer) return true;
  return false;
}

void spinach_print_views(FILE *out, int32_t instance) {
  if (instance >= (int32_t)machine->instance_count) return;
  bool any = false;
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = &machine->views[i];
    if (says_nothing(view) || (instance >= 0 && !encloses(view->instance, instance))) continue;
    print_view(out, view);
    any = true;
  }
  // An error outside every processor is still caused by one: show where all of them are.
  if (!any && instance >= 0)
    for (uint32_t i = 0; i < machine->view_count; i++) print_view(out, &machine->views[i]);
}
