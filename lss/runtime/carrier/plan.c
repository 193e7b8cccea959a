// Reading a plan; see plan.h.  A plan lives as long as the process.
#include "lss/runtime/carrier/plan.h"

#include "lss/runtime/text/json_reader.h"
#include "lss/runtime/text/report.h"

enum { MOST_CORES = 1 << 20 };

static bool read_hosts(const JsonValue *document, Plan *plan) {
  const JsonValue *list = json_member_of(document, "hosts", JSON_LIST);
  for (const JsonValue *value = list ? list->first : NULL; value; value = value->after) {
    PlanHost host = {.name = g_strdup(json_text_of(value, "name")), .said = g_strdup(json_text_of(value, "said"))};
    if (!host.name || !host.said || !json_count_of(value, "cores", MOST_CORES, &host.cores) || !host.cores)
      return false;
    g_array_append_val(plan->hosts, host);
  }
  return plan->hosts->len;
}

static char **read_words(const JsonValue *part) {
  const JsonValue *list = json_member_of(part, "command", JSON_LIST);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  for (const JsonValue *word = list ? list->first : NULL; word; word = word->after)
    if (word->kind == JSON_STRING) g_ptr_array_add(words, g_strdup(word->text));
  if (!words->len) return NULL;
  g_ptr_array_add(words, NULL);
  return (char **)g_ptr_array_steal(words, NULL);
}

static bool read_parts(const JsonValue *document, Plan *plan) {
  const JsonValue *list = json_member_of(document, "parts", JSON_LIST);
  for (const JsonValue *value = list ? list->first : NULL; value; value = value->after) {
    uint64_t host;
    if (!json_count_of(value, "host", plan->hosts->len - 1, &host)) return false;
    const PlanPart part = {(uint32_t)host, read_words(value), g_strdup(json_text_of(value, "log"))};
    if (!part.command || !part.log) return false;
    g_array_append_val(plan->parts, part);
  }
  return plan->parts->len;
}

Plan *plan_read(const char *path) {
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, &error))
    return spinach_report_error("cannot read the plan \"%s\": %s", path, error->message), NULL;
  g_autoptr(JsonValue) document = json_read(text, &error);
  if (!document) return spinach_report_error("the plan \"%s\" is not JSON: %s", path, error->message), NULL;
  Plan *plan = g_new0(Plan, 1);
  plan->network = g_strdup(json_text_of(document, "network"));
  plan->hash = g_strdup(json_text_of(document, "hash"));
  plan->board = g_strdup(json_text_of(document, "board"));
  plan->hosts = g_array_new(FALSE, TRUE, sizeof(PlanHost));
  plan->parts = g_array_new(FALSE, TRUE, sizeof(PlanPart));
  if (plan->network && plan->hash && plan->board && read_hosts(document, plan) && read_parts(document, plan))
    return plan;
  return spinach_report_error("\"%s\" is no plan that `spinach network` has written", path), NULL;
}

const PlanHost *plan_host(const Plan *plan, uint32_t number) {
  return &g_array_index(plan->hosts, PlanHost, number);
}

const PlanPart *plan_part(const Plan *plan, uint32_t number) {
  return &g_array_index(plan->parts, PlanPart, number);
}
