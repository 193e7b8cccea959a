// The tables of balances: identities and, in debug builds, what modules conserve, with the connections on which items
// are counted there.
#include "lss/emit/emit.h"
#include "lss/front/tree.h"

static bool is_emitted(const Emitter *emitter, const Balance *balance) {
  return emitter->plan->debug || !balance->debug;
}

static char relation_letter(int relation) {
  switch (relation) {
  case 0: return '\0';
  case OP_EQ: return '=';
  case OP_NE: return '!';
  case OP_LE: return 'l';
  case OP_GE: return 'g';
  default: return (char)relation;
  }
}

// A letter or a number, as C has it.
static void emit_letter(GString *out, int relation) {
  const char letter = relation_letter(relation);
  if (letter)
    g_string_append_printf(out, "'%c', ", letter);
  else
    g_string_append(out, "0, ");
}

static void emit_step(const Emitter *emitter, GString *out, const BalanceStep *step, const char *connections) {
  g_string_append_printf(out, "  {'%c', ", step->kind);
  emit_letter(out, step->operator);
  const Instance *instance = step->kind == 'p' ? step->port->instance : step->instance;
  g_string_append_printf(out, "%" G_GINT64_FORMAT ", %d, ", step->number, instance ? instance->id : -1);
  guint index = 0;
  if (step->kind == 'f' && g_ptr_array_find(step->instance->state, step->field, &index)) {
    g_autofree char *spec = emit_spec_name(emitter, step->instance);
    g_string_append_printf(out, "&%s_fields[%u], ", spec, index);
  } else {
    g_string_append(out, "NULL, ");
  }
  g_autofree char *type = step->type ? emit_type_symbol(step->type) : NULL;
  g_string_append_printf(out, "%s%s, %u, %u, %s, ", type ? "&" : "", type ? type : "NULL", step->shift, step->bits,
                         step->ones ? "true" : "false");
  g_string_append_printf(out, "%" G_GUINT64_FORMAT ", %u, {", step->offset, step->range_count);
  for (guint i = 0; i < step->range_count; i++)
    g_string_append_printf(out, "{%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "}, ", step->ranges[i].stride,
                           step->ranges[i].count);
  g_string_append_printf(out, "%s}, %u, %s},\n", step->range_count ? "" : "{0}", step->kind == 'p' ? step->count : 0,
                         step->kind == 'p' ? connections : "NULL");
}

static void emit_sum(const Emitter *emitter, GString *out, const char *name, const GArray *steps) {
  for (guint k = 0; k < steps->len; k++) {
    const BalanceStep *step = &g_array_index(steps, BalanceStep, k);
    if (step->kind != 'p') continue;
    g_string_append_printf(out, "static const uint32_t %s_%u[] = {", name, k);
    for (guint i = 0; i < step->count; i++)
      g_string_append_printf(out, "%d, ", ((Connection *)step->port->lanes->pdata[step->first + i])->id);
    g_string_append(out, "0};\n");
  }
  g_string_append_printf(out, "static const spinach_sum_step %s[] = {\n", name);
  for (guint k = 0; k < steps->len; k++) {
    g_autofree char *connections = g_strdup_printf("%s_%u", name, k);
    emit_step(emitter, out, &g_array_index(steps, BalanceStep, k), connections);
  }
  g_string_append(out, "  {0}\n};\n");
}

static void emit_row(GString *out, const Balance *balance, guint number) {
  g_string_append_printf(out, "  {%d, %d, ", balance->instance->id, balance->lane);
  emit_quoted(out, balance->text);
  g_string_append(out, ", ");
  emit_quoted(out, balance->doc);
  g_string_append(out, ", ");
  emit_letter(out, balance->relation);
  g_string_append_printf(out,
                         "%s, %s, %s, %" G_GUINT64_FORMAT ", %u, %u, spinach_table_left_%u, "
                         "spinach_table_right_%u},\n",
                         balance->conserves ? "true" : "false", balance->contents ? "true" : "false",
                         balance->suspected ? "true" : "false", balance->room, balance->left->len, balance->right->len,
                         number, number);
}

guint emit_balances(const Emitter *emitter, GString *out) {
  const GPtrArray *all = emitter->plan->netlist->balances;
  guint count = 0;
  for (guint i = 0; i < all->len; i++) {
    const Balance *balance = all->pdata[i];
    if (!is_emitted(emitter, balance)) continue;
    g_autofree char *left = g_strdup_printf("spinach_table_left_%u", i),
                    *right = g_strdup_printf("spinach_table_right_%u", i);
    emit_sum(emitter, out, left, balance->left);
    emit_sum(emitter, out, right, balance->right);
  }
  g_string_append(out, "static const spinach_balance spinach_table_balances[] = {\n");
  for (guint i = 0; i < all->len; i++) {
    if (!is_emitted(emitter, all->pdata[i])) continue;
    emit_row(out, all->pdata[i], i);
    count++;
  }
  g_string_append(out, "  {0}\n};\n");
  return count;
}

// ---- Where items are counted ---------------------------------------------------------------------------------------

static void mark(const GArray *steps, const Clock *clock, bool *counted, bool *any) {
  for (guint k = 0; k < steps->len; k++) {
    const BalanceStep *step = &g_array_index(steps, BalanceStep, k);
    for (guint i = 0; step->kind == 'p' && i < step->count; i++) {
      const Connection *connection = step->port->lanes->pdata[step->first + i];
      if (connection->to->clock != clock) continue;
      counted[connection->id] = *any = true;
    }
  }
}

// Which connections of a clock are counted; NULL: none.  The caller frees it.
static bool *counted_on(const Emitter *emitter, const Clock *clock) {
  const GPtrArray *all = emitter->plan->netlist->balances;
  bool *counted = g_new0(bool, emitter->plan->netlist->connections->len + 1), any = false;
  for (guint i = 0; emitter->plan->debug && i < all->len; i++) {
    mark(((Balance *)all->pdata[i])->left, clock, counted, &any);
    mark(((Balance *)all->pdata[i])->right, clock, counted, &any);
  }
  if (any) return counted;
  g_free(counted);
  return NULL;
}

bool emit_tallies(const Emitter *emitter, const Clock *clock) {
  g_autofree bool *counted = counted_on(emitter, clock);
  return counted != NULL;
}

void emit_tallied(const Emitter *emitter, GString *out) {
  const GPtrArray *clocks = emitter->plan->netlist->clocks;
  for (guint c = 0; c < clocks->len; c++) {
    g_autofree bool *counted = counted_on(emitter, clocks->pdata[c]);
    g_string_append_printf(out, "static const uint32_t spinach_table_tallied_%u[] = {", c);
    for (guint i = 0; counted && i < emitter->plan->netlist->connections->len; i++)
      if (counted[i]) g_string_append_printf(out, "%u, ", i);
    g_string_append(out, "UINT32_MAX};\n");
  }
  g_string_append(out, "static const uint32_t *const spinach_table_tallied[] = {");
  for (guint c = 0; c < clocks->len; c++) g_string_append_printf(out, "spinach_table_tallied_%u, ", c);
  g_string_append(out, "};\n");
}

bool emit_tallied_event(const Spec *spec, const Event *event) {
  return spec->debug && event->tallied;
}

void emit_event_tallies(GString *out, const Event *event) {
  for (guint i = 0; i < event->tallied->len; i++) {
    const EventTally *tally = &g_array_index(event->tallied, EventTally, i);
    const Field *argument = tally->argument < 0 ? NULL : event->arguments->pdata[tally->argument];
    g_string_append_printf(out, "  spinach_tally_event(self->spinach_id, %d, %s%s);\n", tally->number,
                           argument ? "(int64_t)" : "1", argument ? argument->name : "");
  }
}
