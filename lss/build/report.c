// What clang found in the units of a machine, as diagnostics of ours.
#include "lss/build/report.h"

#include "lss/base/diagnostics.h"
#include "lss/build/clang_errors.h"
#include "lss/build/objects.h"

#include <stdio.h>

int build_report(const GPtrArray *units) {
  const char *flags = g_getenv("LSS_CFLAGS");
  const bool flagged = flags && *flags;
  bool explained = true, wrong = false;
  for (guint i = 0; i < units->len; i++) {
    const Unit *unit = units->pdata[i];
    wrong |= unit->state == UNIT_REFUSED;
    if (unit->state == UNIT_FAILED) { // all units for the same reason, most likely
      fprintf(stderr, "lss: %s\n", unit->messages);
      return 3;
    }
    if (!unit->messages || clang_errors_report(unit->messages, unit->text) || unit->state != UNIT_REFUSED) continue;
    explained &= flagged;
    g_autofree char *why =
        flagged ? g_strdup_printf("with LSS_CFLAGS=\"%s\"", flags) : g_strdup("which is a defect of lss itself");
    diag_flush();
    fprintf(stderr, "lss: the generated C of %s does not compile, %s:\n%s", unit->name, why, unit->messages);
    if (flagged) break; // the other units say the same
  }
  diag_flush();
  return !wrong ? 0 : explained ? 1 : 3;
}
