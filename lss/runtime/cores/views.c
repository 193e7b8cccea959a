// What a machine shows of its processors, when a run ends in an error or gets stuck: program counter, registers, the
// way there.  Debug views name the state that holds them.
//
// Roles: `pc` (address of the next instruction), `registers` (an array; one of bytes holds 32-bit registers), `program`
// (a runtime string parameter or state string that names the executable, for functions and lines), `history` (a trace
// of jumps, see jumps.h).  Other roles are printed as they are when they are small.
#include "lss/runtime/cores/jumps.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/observe/device_registers.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/roles.h"

#include <glib.h>

enum { SMALL = 64, REGISTERS_PER_LINE = 8 };

static const spinach_machine *const machine = &spinach_machine_table;

static void print_registers(FILE *out, const spinach_debug_role *role) {
  // A memory that serves as register file holds bytes, as the host would lay out the numbers.
  const bool bytes = role->state.field->type->size == 1 && !role->map.field;
  uint64_t count = spinach_role_elements(role) / (bytes ? sizeof(uint32_t) : 1);
  for (uint64_t i = 0; i < count; i++) {
    if (i % REGISTERS_PER_LINE == 0) fprintf(out, "%s    r%-2llu", i ? "\n" : "", (unsigned long long)i);
    if (bytes) {
      uint32_t value;
      memcpy(&value, spinach_role_element(role, i * sizeof value), sizeof value);
      fprintf(out, " %08x", value);
    } else if (spinach_is_integer(role->state.field->type)) {
      uint64_t value = (uint64_t)spinach_integer(role->state.field->type, spinach_role_element(role, i));
      fprintf(out, role->state.field->type->size > 4 ? " %016llx" : " %08llx",
              (unsigned long long)(role->state.field->type->size > 4 ? value : (uint32_t)value));
    } else {
      char text[256];
      spinach_type_print(role->state.field->type, spinach_role_element(role, i), text, sizeof text);
      fprintf(out, " %s", text);
    }
  }
  fputc('\n', out);
}

// What other roles are read with, or only debuggers use.
static const char *const unprinted[] = {"memory",   "retired",        "fetch_pc",       "pc_set",      "branch_pending",
                                        "halt",     "in_flight",      "in_flight_from", "halt_behind", "fetching",
                                        "retiring", "retiring_first", "idle",           "halted",      NULL};

// What holds parts of memory, or is only for debuggers, says nothing that people could read here.
static bool says_nothing(const spinach_debug_view *view) {
  if (view_role(view, "history") && !view_role(view, "pc")) return true;
  if (view_role(view, "line_bytes") || view_role(view, "line_number") || view_role(view, "write_count")) return true;
  for (uint32_t i = 0; i < view->role_count; i++)
    if (!g_strv_contains(unprinted, view->roles[i].role)) return false;
  return true;
}

// How the processor came where it is; of several programs a view of its own may say that.
static const spinach_debug_role *history_of(const spinach_debug_view *view) {
  const spinach_debug_role *history = view_role(view, "history");
  const spinach_debug_view *other;
  for (uint32_t i = 0; i < machine->view_count && !history && view_role(view, "pc"); i++)
    if (machine->views[i].instance == view->instance && (other = view_about(view_context(view), i)))
      history = view_role(other, "history");
  return history;
}

static void print_view(FILE *out, const spinach_debug_view *view) {
  if (says_nothing(view)) return;
  g_autofree char *name = view_name(view);
  fprintf(out, "%s%s%s:\n", view->name, *name ? " " : "", name);
  const spinach_debug_role *pc = view_role(view, "pc"), *registers = view_role(view, "registers"),
                           *history = history_of(view);
  if (pc && spinach_is_integer(pc->state.field->type)) {
    g_autofree char *where = spinach_describe_address(
        view_context(view), (uint32_t)spinach_integer(pc->state.field->type, spinach_role_element(pc, 0)));
    fprintf(out, "  pc = %s\n", where);
  }
  if (registers) {
    fprintf(out, "  registers\n");
    print_registers(out, registers);
  }
  for (uint32_t i = 0; i < view->role_count; i++) {
    const spinach_debug_role *role = &view->roles[i];
    if (role == pc || role == registers || role == history || g_strv_contains(unprinted, role->role)) continue;
    if (spinach_role_elements(role) != 1 || role->state.field->type->size > SMALL) continue;
    char text[512];
    spinach_type_print(role->state.field->type, spinach_role_element(role, 0), text, sizeof text);
    fprintf(out, "  %s = %s\n", role->role, text);
  }
  if (history && pc && history->state.field->ring_offset)
    spinach_print_jumps(out, view, history,
                        (uint32_t)spinach_integer(pc->state.field->type, spinach_role_element(pc, 0)));
}

// Where the instruction is that the error names: a store that failed, for example, is older than the processor's pc.
static void print_cause(FILE *out) {
  const char *named = strstr(spinach_error_text, "pc 0x");
  if (!named) return;
  const guint64 pc = g_ascii_strtoull(named + strlen("pc "), NULL, 16);
  g_autofree char *where = spinach_describe_address(NO_CONTEXT, (uint32_t)pc);
  if (strchr(where, '<')) fprintf(out, "  that pc is %s\n", where);
}

void spinach_print_views(FILE *out, int32_t instance) {
  bool any = false;
  if (instance >= 0) print_cause(out);
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = &machine->views[i];
    if (says_nothing(view) || (instance >= 0 && !view_encloses(view->instance, instance))) continue;
    print_view(out, view);
    any = true;
  }
  // An error outside every processor is still caused by one: show where all of them are.
  if (!any && instance >= 0)
    for (uint32_t i = 0; i < machine->view_count; i++) print_view(out, &machine->views[i]);
  spinach_registers_report(out);
}
