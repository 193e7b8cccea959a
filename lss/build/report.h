// What clang found in the units of a machine, as diagnostics of ours.
#ifndef LSS_REPORT_H
#define LSS_REPORT_H

#include <glib.h>

// Says what clang found in the units (lss/build/objects.h), warnings too; the same module in several units is reported
// once.  Returns the exit status.
int build_report(const GPtrArray *units);

#endif
