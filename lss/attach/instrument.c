// Instrumentation: what refers to the instances, connections and state of a complete netlist, one kind after the other.
#include "lss/attach/instrument.h"

void attach_instrumentation(void) {
  for (guint i = 0; i < compile->collectors->len; i++) {
    Attached *attached = compile->collectors->pdata[i];
    compile->running = attached->inst;
    attach_collector(attached);
  }
  compile->running = NULL;
  const GPtrArray *watches = compile->options->watches;
  for (guint i = 0; watches && i < watches->len; i++) attach_watch(watches->pdata[i]);
  const GPtrArray *records = compile->options->records;
  for (guint i = 0; records && i < records->len; i++) attach_record(records->pdata[i]);
  const GPtrArray *waves = compile->options->waves;
  for (guint i = 0; waves && i < waves->len; i++) attach_wave(waves->pdata[i]);
  for (guint i = 0; i < compile->debugs->len; i++) {
    Attached *attached = compile->debugs->pdata[i];
    compile->running = attached->inst;
    attach_debug(attached);
  }
  for (guint i = 0; i < compile->derived->len; i++) {
    const Attached *attached = compile->derived->pdata[i];
    compile->running = attached->inst;
    attach_derived(attached);
  }
  compile->running = NULL;
  attach_balances();
}
