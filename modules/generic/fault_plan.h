// Which of many equal things go wrong: a plan is text such as "fcs@3,fcs/100,short%0.5".  Used by whatever injects
// faults: the wire into frames, the host into bus transfers.
//
//   KIND@N   number N, counted from 1        KIND/N   every N-th        KIND%P   each with a chance of P percent
//
// Any number of rules, separated by commas; of those that apply together the first counts.
#ifndef FAULT_PLAN_H
#define FAULT_PLAN_H

#include "lss/runtime/text/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// One rule of a plan.
typedef struct {
  int kind; // place in the list of kinds; -1: none has this name
  char how; // '@', '/' or '%'; 0: the rule makes no sense
  double number;
} fault_rule;

// Takes the next rule off `text`; false at its end.
static inline bool fault_rule_next(const char **text, const char *const *kinds, int count, fault_rule *rule) {
  const char *at = *text + strspn(*text, ", ");
  if (!*at) return false;
  size_t name = strcspn(at, "@/%,");
  *rule = (fault_rule){.kind = -1, .how = at[name]};
  for (int k = 0; k < count; k++)
    if (strlen(kinds[k]) == name && memcmp(kinds[k], at, name) == 0) rule->kind = k;
  const char *digits = at + name + (rule->how != 0), *end = digits + number_length(digits);
  if (!number_nearest(digits, (size_t)(end - digits), &rule->number)) rule->number = -1;
  bool counts = rule->number >= 1 && rule->number < 1e15;
  bool sensible = rule->how == '%' ? rule->number >= 0 && rule->number <= 100
                                   : counts && rule->number == (double)(uint64_t)rule->number;
  if (rule->how == ',' || end == digits || (*end && *end != ',' && *end != ' ') || !sensible) rule->how = 0;
  *text = at + strcspn(at, ",");
  return true;
}

// Whether a plan can be followed; else `wrong` is where the rule begins that cannot.
static inline bool fault_plan_valid(const char *plan, const char *const *kinds, int count, const char **wrong) {
  fault_rule rule;
  for (*wrong = plan; fault_rule_next(&plan, kinds, count, &rule); *wrong = plan)
    if (rule.kind < 0 || rule.how == 0) return *wrong += strspn(*wrong, ", "), false;
  return true;
}

// Refuses a parameter `faults` that cannot be followed; `names` are the kinds, as a message has them.
#define FAULT_PLAN_REQUIRE(kinds, count, names)                                                                        \
  do {                                                                                                                 \
    const char *wrong = NULL;                                                                                          \
    if (!fault_plan_valid(param(faults), kinds, count, &wrong))                                                        \
      sim_input_error("faults: '%s' is not a rule; rules are KIND@N, KIND/N or KIND%%P, kinds " names, wrong);         \
  } while (0)

// The kind of fault, from `first` to before `end` of the list, that strikes number `at_number`, -1: none.  `draw` is
// evaluated for every chance and gives 64 random bits.
#define FAULT_STRIKES(plan, kinds, count, first, end, at_number, draw)                                                 \
  ({                                                                                                                   \
    const char *rest = (plan);                                                                                         \
    fault_rule rule;                                                                                                   \
    int struck = -1;                                                                                                   \
    while (fault_rule_next(&rest, kinds, count, &rule)) {                                                              \
      bool now_it = rule.how == '@'   ? (uint64_t)rule.number == (at_number)                                           \
                    : rule.how == '/' ? (at_number) % (uint64_t)rule.number == 0                                       \
                                      : (double)((draw) >> 11) * 0x1p-53 < rule.number / 100;                          \
      if (now_it && struck < 0 && rule.kind >= (first) && rule.kind < (end)) struck = rule.kind;                       \
    }                                                                                                                  \
    struck;                                                                                                            \
  })

#endif
