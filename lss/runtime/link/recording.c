// Records of the links of a part; see recording.h.
#include "lss/runtime/link/recording.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/link/item_value.h"
#include "lss/runtime/link/record_writer.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  char *path;
  bool open;
  LinkRecordWriter writer;
} Recorded;

static Recorded *recorded; // of each link of the machine; NULL: nothing is recorded

char *recording_path(const char *folder, const char *link) {
  g_autofree char *name = g_strconcat(link, ".link", NULL);
  return g_build_filename(folder, name, NULL);
}

bool recording_begin(const Network *network, const char *folder, uint64_t begins) {
  recorded = g_new0(Recorded, machine->link_count + 1);
  for (uint32_t i = 0; i < machine->link_count; i++) {
    const spinach_link_end *end = &machine->links[i];
    if (!end->sends) continue;
    g_autoptr(GError) error = NULL;
    const NetworkLink *link = network_find_link(network, end->path);
    if (!link) return spinach_report_error("error: link %s: network.json has none of that name", end->path);
    g_autofree char *shape = item_value_shape(end->item_type);
    recorded[i].path = recording_path(folder, end->path);
    const LinkRecordAbout about = {
        .hash = network->hash,
        .texts = {end->path, shape, network_part(network, link->from)->path, network_part(network, link->to)->path},
        .item_size = end->item_size,
        .ticks_per_second = network->ticks_per_second,
        .cut = end->cut,
        .begins = begins};
    recorded[i].open = record_writer_begin(&recorded[i].writer, recorded[i].path, &about, end->item_type, &error);
    if (!recorded[i].open)
      return spinach_report_error("error: cannot write \"%s\": %s", recorded[i].path, error->message);
  }
  return true;
}

void recording_add(uint32_t link, uint64_t sent, uint64_t arrives, const void *item) {
  if (recorded) record_writer_add(&recorded[link].writer, sent, arrives, item);
}

bool recording_end(uint64_t until, bool failed, const char *reason) {
  bool fine = true;
  for (uint32_t i = 0; recorded && i < machine->link_count; i++) {
    g_autoptr(GError) error = NULL;
    if (!recorded[i].open) continue;
    recorded[i].open = false;
    if (record_writer_end(&recorded[i].writer, until, failed, reason, &error)) continue;
    if (fine) spinach_report_error("error: cannot write \"%s\": %s", recorded[i].path, error->message); // one line
    fine = false;
  }
  return fine;
}
