// Reading network.json; see network.h.
#include "lss/runtime/link/network.h"

#include "lss/runtime/text/json_reader.h"
#include "lss/runtime/text/report.h"

#include <malloc.h>
#include <string.h>

enum { MOST_PARTS = 1 << 20, MOST_ITEM = 1 << 16, MOST_SLOTS = 1 << 24, HASH_LENGTH = 64 };

static void clear_pair(void *data) {
  NetworkPair *pair = data;
  g_free(pair->name);
  g_free(pair->value);
}

static void clear_part(void *data) {
  NetworkPart *part = data;
  g_free(part->path);
  g_array_unref(part->renamed);
  g_array_unref(part->settings);
}

static void clear_link(void *data) {
  NetworkLink *link = data;
  g_free(link->path);
  g_free(link->type);
}

static void clear_clock(void *data) {
  g_free((char *)((spinach_clock *)data)->name);
}

static GArray *array_of(guint size, GDestroyNotify clear) {
  GArray *array = g_array_new(FALSE, TRUE, size);
  g_array_set_clear_func(array, clear);
  return array;
}

void network_free(Network *network) {
  g_free(network->hash);
  g_free(network->file);
  g_array_unref(network->clocks);
  g_array_unref(network->parts);
  g_array_unref(network->links);
  g_free(network);
}

static bool read_pairs(const JsonValue *part, const char *key, GArray *pairs) {
  const JsonValue *list = json_member_of(part, key, JSON_LIST);
  if (!list) return false;
  for (const JsonValue *pair = list->first; pair; pair = pair->after) {
    const JsonValue *name = pair->kind == JSON_LIST ? pair->first : NULL, *value = name ? name->after : NULL;
    if (!value || value->after || name->kind != JSON_STRING || value->kind != JSON_STRING) return false;
    const NetworkPair read = {g_strdup(name->text), g_strdup(value->text)};
    g_array_append_val(pairs, read);
  }
  return true;
}

static bool read_clocks(const JsonValue *document, Network *network) {
  const JsonValue *list = json_member_of(document, "clocks", JSON_LIST);
  for (const JsonValue *value = list ? list->first : NULL; value; value = value->after) {
    const char *name = json_text_of(value, "name");
    const JsonValue *rounded = json_member_of(value, "rounded", JSON_BOOL);
    uint64_t num, den, period;
    if (!name || !rounded || !json_count_of(value, "num", INT64_MAX, &num) || !num ||
        !json_count_of(value, "den", INT64_MAX, &den) || !den || !json_count_of(value, "period", INT64_MAX, &period) ||
        !period)
      return false;
    const spinach_clock clock = {g_strdup(name), (int64_t)num, (int64_t)den, period, !strcmp(rounded->text, "true")};
    g_array_append_val(network->clocks, clock);
  }
  return network->clocks->len;
}

static bool read_parts(const JsonValue *document, Network *network) {
  const JsonValue *list = json_member_of(document, "parts", JSON_LIST);
  for (const JsonValue *value = list ? list->first : NULL; value; value = value->after) {
    const char *path = json_text_of(value, "path");
    const NetworkPart part = {g_strdup(path), array_of(sizeof(NetworkPair), clear_pair),
                              array_of(sizeof(NetworkPair), clear_pair)};
    g_array_append_val(network->parts, part);
    if (!path || !read_pairs(value, "renamed", part.renamed) || !read_pairs(value, "settings", part.settings) ||
        network->parts->len > MOST_PARTS)
      return false;
  }
  return network->parts->len;
}

static bool read_links(const JsonValue *document, Network *network) {
  const JsonValue *list = json_member_of(document, "links", JSON_LIST);
  if (!list) return false;
  const uint64_t last = network->parts->len - 1;
  for (const JsonValue *value = list->first; value; value = value->after) {
    const char *path = json_text_of(value, "path"), *type = json_text_of(value, "type");
    uint64_t from, to, cut, bytes, slots;
    if (!path || !type || !json_count_of(value, "from", last, &from) || !json_count_of(value, "to", last, &to) ||
        !json_count_of(value, "cut", INT64_MAX, &cut) || !json_count_of(value, "bytes", MOST_ITEM, &bytes) ||
        !json_count_of(value, "slots", MOST_SLOTS, &slots) || !cut || !bytes || !slots || from == to)
      return false;
    const NetworkLink link = {g_strdup(path),  g_strdup(type), (uint32_t)from, (uint32_t)to, cut,
                              (uint32_t)bytes, (uint32_t)slots};
    g_array_append_val(network->links, link);
  }
  return true;
}

static bool read_document(const JsonValue *document, Network *network) {
  uint64_t format;
  network->hash = g_strdup(json_text_of(document, "hash"));
  network->file = g_strdup(json_text_of(document, "file"));
  return json_count_of(document, "format", 1, &format) && format == 1 && network->hash &&
         strlen(network->hash) == HASH_LENGTH && network->file &&
         json_count_of(document, "ticks_per_second", INT64_MAX, &network->ticks_per_second) &&
         network->ticks_per_second && json_count_of(document, "distance", INT64_MAX, &network->distance) &&
         network->distance && read_clocks(document, network) && read_parts(document, network) &&
         read_links(document, network);
}

static Network *read_file(const char *path) {
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, &error))
    return spinach_report_error("--network: cannot read \"%s\": %s", path, error->message), NULL;
  g_autoptr(JsonValue) document = json_read(text, &error);
  if (!document) return spinach_report_error("--network: \"%s\" is not JSON: %s", path, error->message), NULL;
  Network *network = g_new0(Network, 1);
  network->clocks = array_of(sizeof(spinach_clock), clear_clock);
  network->parts = array_of(sizeof(NetworkPart), clear_part);
  network->links = array_of(sizeof(NetworkLink), clear_link);
  if (read_document(document, network)) return network;
  network_free(network);
  return spinach_report_error("--network: \"%s\" is no network that `lss build --parts` has written", path), NULL;
}

// The document takes ten times what is kept of it, in each of perhaps a thousand processes.
Network *network_read(const char *path) {
  Network *network = read_file(path);
  malloc_trim(0);
  return network;
}

uint32_t network_find_part(const Network *network, const char *path) {
  for (guint i = 0; i < network->parts->len; i++)
    if (!strcmp(network_part(network, i)->path, path)) return i;
  return UINT32_MAX;
}

const NetworkPart *network_part(const Network *network, uint32_t number) {
  return &g_array_index(network->parts, NetworkPart, number);
}

const NetworkLink *network_link(const Network *network, uint32_t number) {
  return &g_array_index(network->links, NetworkLink, number);
}

const NetworkLink *network_find_link(const Network *network, const char *path) {
  for (guint i = 0; i < network->links->len; i++)
    if (!strcmp(network_link(network, i)->path, path)) return network_link(network, i);
  return NULL;
}
