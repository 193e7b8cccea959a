// Reading a checkpoint's file; see file.h.  Nothing in it is believed before its checksum was seen.
#include "lss/runtime/checkpoint/file.h"
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/checkpoint/identity.h"
#include "lss/runtime/checkpoint/open_files.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/text/refusal.h"

#include <string.h>

static GVariant *unpack_header(const CheckpointStart *start, const guint8 *packed, GError **error) {
  guint8 checksum[CHECKPOINT_CHECKSUM];
  checkpoint_checksum(start, packed, checksum);
  if (memcmp(checksum, start->checksum, sizeof checksum) != 0 || start->unpacked > CHECKPOINT_LARGEST) {
    spinach_refuse(error, "it is damaged: the checksum of its header is not that of what it holds");
    return NULL;
  }
  g_autofree guint8 *bytes = g_try_malloc(start->unpacked + 1);
  if (!bytes || !pages_decompress(bytes, start->unpacked, packed, start->packed)) {
    spinach_refuse(error, "it is damaged: its header cannot be unpacked");
    return NULL;
  }
  g_autoptr(GBytes) content = g_bytes_new(bytes, start->unpacked);
  g_autoptr(GVariant) header = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARDICT, content, FALSE));
  if (g_variant_is_normal_form(header)) return g_steal_pointer(&header);
  spinach_refuse(error, "it is damaged: its header is none");
  return NULL;
}

static bool has_entry(GVariant *header, const char *key, const char *type, GError **error) {
  g_autoptr(GVariant) value = g_variant_lookup_value(header, key, G_VARIANT_TYPE(type));
  return value || spinach_refuse(error, "it is damaged: its header lacks `%s`", key);
}

static bool is_whole(GVariant *header, GError **error) {
  static const struct {
    const char *key, *type;
  } entries[] = {{"arena", "t"},
                 {"layout", "s"},
                 {"instances", CHECKPOINT_INSTANCES_TYPE},
                 {"layouts", "as"},
                 {"clocks", CHECKPOINT_CLOCKS_TYPE},
                 {"ticks-per-second", "t"},
                 {"until", "t"}, // all instants before it are over, and no other
                 {"seed", "t"},
                 {"parameters", CHECKPOINT_PAIRS_TYPE},
                 {"inputs", CHECKPOINT_PAIRS_TYPE},
                 {"files", OPEN_FILES_TYPE},
                 {"measured", MEASURE_TYPE},
                 {"changed", "b"}, // the user set a state
                 {"identity", IDENTITY_TYPE},
                 {"origins", ORIGINS_TYPE},
                 {"version", "s"},
                 {"machine", "ay"}};
  guint32 format;
  if (!has_entry(header, "format", "u", error) || !g_variant_lookup(header, "format", "u", &format)) return false;
  if (format != CHECKPOINT_FORMAT)
    return spinach_refuse(error, "it has format %u, and this simulator reads %d", format, CHECKPOINT_FORMAT);
  for (guint i = 0; i < G_N_ELEMENTS(entries); i++)
    if (!has_entry(header, entries[i].key, entries[i].type, error)) return false;
  return true;
}

bool checkpoint_file_open(CheckpointFile *file, const guint8 *bytes, gsize size, GError **error) {
  CheckpointStart start;
  *file = (CheckpointFile){0};
  if (size < sizeof start || memcmp(bytes, CHECKPOINT_WORD, sizeof start.word) != 0)
    return spinach_refuse(error, "it is no checkpoint");
  memcpy(&start, bytes, sizeof start);
  if (start.packed > size - sizeof start) return spinach_refuse(error, "it is cut off");
  file->header = unpack_header(&start, bytes + sizeof start, error);
  if (!file->header) return false;
  if (!is_whole(file->header, error)) {
    checkpoint_file_close(file);
    return false;
  }
  memcpy(file->sum, start.checksum, sizeof file->sum);
  file->pages = bytes + sizeof start + start.packed;
  file->length = size - sizeof start - start.packed;
  return true;
}

void checkpoint_file_close(CheckpointFile *file) {
  g_clear_pointer(&file->header, g_variant_unref);
}

GVariant *checkpoint_file_entry(const CheckpointFile *file, const char *key) {
  return g_variant_lookup_value(file->header, key, NULL);
}

gsize checkpoint_file_size(const CheckpointFile *file) {
  guint64 size = 0;
  g_variant_lookup(file->header, "arena", "t", &size);
  return size;
}

bool checkpoint_file_expand(const CheckpointFile *file, guint8 *memory, GError **error) {
  return pages_expand(file->pages, file->length, file->sum, memory, checkpoint_file_size(file), error);
}
