// The document of a run; see document.h.
#include "lss/runtime/run/document.h"

#include "lss/runtime/engine/own_part.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/series.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/run/manifest.h"

static const spinach_machine *const machine = &spinach_machine_table;

static void write_connections(Json *json) {
  if (!machine->counted) return;
  json_open_member(json, "connections", '[');
  spinach_connections_entries(json);
  json_close(json, ']');
}

static void write_run(Json *json, const char *ended) {
  json_open_member(json, "run", '{');
  g_autofree char *how = *spinach_error_text ? g_strconcat("error: ", spinach_error_text, NULL) : g_strdup(ended);
  json_member(json, "ended", how);
  json_key(json, "simulated_ns");
  json_uint(json, spinach_ns_of(*spinach_error_text ? spinach_time.now : spinach_completed_next()));
  if (machine->part) { // which the cycles of all clocks follow from
    json_key(json, "until");
    json_uint(json, spinach_completed());
  }
  if (!machine->distance && !machine->part) { // in parts each one skips what it can
    json_key(json, "skipped_cycles");
    json_uint(json, spinach_skipped());
  }
  json_open_member(json, "cycles", '{');
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    json_key(json, machine->clocks[i].name);
    json_uint(json, spinach_cycles((int32_t)i));
  }
  json_close(json, '}');
  json_close(json, '}');
}

bool spinach_document_write(FILE *out, const spinach_options *options, const char *ended) {
  Json json;
  json_start(&json);
  json_open(&json, '{');
  json_key(&json, "manifest");
  spinach_manifest_write(&json, options);
  write_run(&json, ended);
  spinach_statistics_entries(&json);
  write_connections(&json);
  spinach_measure_write(&json);
  if (spinach_measure_samples()) {
    json_open_member(&json, "samples", '[');
    const bool fine =
        fwrite(json.text->str, 1, json.text->len, out) == json.text->len && spinach_series_copy(out, json.depth);
    g_string_truncate(json.text, 0);
    json.first = !spinach_series_count();
    if (!fine) return g_free(json_finish(&json)), false;
    json_close(&json, ']');
  }
  json_close(&json, '}');
  g_autofree char *text = json_finish(&json);
  return fputs(text, out) != EOF;
}
