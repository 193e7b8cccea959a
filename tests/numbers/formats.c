// Formats that have numbers in them, each by the function of its file: on standard input lines "KIND<tab>TEXT", on
// standard output what the number comes to, or "!".
#include "emulib/console_script.h"
#include "examples/tigon2/descriptor_trace.h"
#include "modules/core/core_switch.h"
#include "modules/generic/fault_plan.h"

#include <stdio.h>

static void print(const char *kind, char *text) {
  static const char *const kinds[] = {"fcs"};
  const char *rest = text;
  trace_record record;
  fault_rule rule;
  if (!strcmp(kind, "descriptor")) {
    const char *wrong = trace_parse(text, &record);
    printf(wrong ? "!\n" : "%llu %u %u %u\n", (unsigned long long)record.time, record.count, record.bytes,
           record.piece[0]);
  } else if (!strcmp(kind, "switch")) {
    const struct core_switch_point point = core_switch_read(text);
    printf(point.kind == CORE_SWITCH_WRONG ? "!\n" : "%llu\n", (unsigned long long)point.number);
  } else if (!strcmp(kind, "fault")) {
    const bool fine = fault_rule_next(&rest, kinds, 1, &rule) && rule.how;
    printf(fine ? "%g\n" : "!\n", rule.number);
  } else {
    const ConsoleScript script = {text, strlen(text)};
    ConsoleProgress progress = {0};
    uint64_t ns = 0;
    char why[200];
    const bool fine = !console_script_wrong_line(script, why, sizeof why);
    if (fine) console_script_next(script, &progress, &ns);
    printf(fine ? "%llu\n" : "!\n", (unsigned long long)ns);
  }
}

int main(void) {
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    char *tab = strchr(line, '\t');
    if (!tab) return 1;
    *tab = '\0';
    print(line, tab + 1);
  }
  return 0;
}
