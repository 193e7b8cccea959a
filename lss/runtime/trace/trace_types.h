// Types as a file of recorded events describes them.
#ifndef SPINACH_TRACE_TYPES_H
#define SPINACH_TRACE_TYPES_H

#include "lss/runtime/text/type.h"

#include <glib.h>

typedef struct TraceTypes TraceTypes;

// From the header's entry, which must outlive them; NULL when values of such types could not be printed.
TraceTypes *trace_types_new(GVariant *types);
const struct spinach_type *trace_types_get(const TraceTypes *types, guint number); // NULL when there is none
void trace_types_free(TraceTypes *types);

#endif
