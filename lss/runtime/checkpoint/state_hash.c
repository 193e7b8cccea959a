// Hashes of the state; see state_hash.h.
#include "lss/runtime/checkpoint/state_hash.h"

#include "lss/runtime/checkpoint/pages.h"
#include "lss/runtime/checkpoint/resident.h"
#include "lss/runtime/engine/instants.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/engine/names.h"
#include "lss/runtime/engine/request.h"
#include "lss/runtime/engine/type_bytes.h"
#include "lss/runtime/files/sha256.h"
#include "lss/runtime/files/whole_file.h"

#include <errno.h>
#include <unistd.h>

enum { DIGITS = 16, STRETCH = 4096 };

static const spinach_machine *const machine = &spinach_machine_table;
static struct {
  WholeFile whole;
  int handle; // 0: it is still to be opened
  GError *error;
} file;

// Of large memories only what is not 0, with where it is behind `place`, the bytes of all memories before this one: a
// disk is mostly zeros, which take long to hash.
static void add_memory(struct sha256_ctx *sum, ResidentPages *resident, uint64_t place, const uint8_t *bytes,
                       uint64_t size) {
  const gsize before = (gsize)(bytes - spinach_arena);
  for (uint64_t at = 0; at < size; at += STRETCH) {
    at = (resident_next(resident, before + at) - before) / STRETCH * STRETCH;
    if (at >= size) return;
    const uint64_t length = MIN(size - at, (uint64_t)STRETCH), where = place + at;
    if (pages_is_zero(bytes + at, length)) continue;
    sha256_update(sum, sizeof where, (const uint8_t *)&where);
    sha256_update(sum, length, bytes + at);
  }
}

static void add_field(struct sha256_ctx *sum, ResidentPages *resident, uint64_t *place, uint8_t *state,
                      const spinach_field *field) {
  const uint64_t count = spinach_field_elements(field), size = field->type->size;
  if (spinach_type_is_dense(field->type) && !field->ring_offset) {
    if (count * size > STRETCH) {
      add_memory(sum, resident, *place, state + field->offset, count * size);
      *place += count * size;
    } else {
      sha256_update(sum, count * size, state + field->offset);
    }
    return;
  }
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  for (uint64_t i = 0; i < count; i++)
    spinach_type_append_bytes(field->type, spinach_field_element(field, state, i), bytes);
  sha256_update(sum, bytes->len, bytes->data);
}

char *spinach_state_hash(void) {
  struct sha256_ctx sum;
  uint64_t place = 0;
  ResidentPages resident;
  spinach_clear_all_past();
  spinach_order_flights();
  spinach_update_statistics(); // which a checkpoint on the way does, too
  sha256_init(&sum);
  sha256_update(&sum, machine->clock_count * sizeof *spinach_passing->clocks, (const uint8_t *)spinach_passing->clocks);
  resident_begin(&resident, spinach_arena, spinach_arena_size);
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++)
      add_field(&sum, &resident, &place, spinach_instance_state((int32_t)i), &layout->fields[k]);
  }
  resident_end(&resident);
  g_autofree char *all = sha256_end(&sum);
  return g_strndup(all, DIGITS);
}

// Where lines go, as they come: a run that is killed leaves them.
static bool open_file(const char *path) {
  if (file.handle) return true;
  if (!file_path_in_place(path)) {
    if (!whole_file_begin(&file.whole, path, &file.error)) return false;
    file.handle = file.whole.handle;
    return true;
  }
  fflush(stdout); // which it may be by another name
  const int handle = file_path_open_in_place(path);
  if (handle >= 0) return file.handle = handle, true;
  g_set_error_literal(&file.error, G_FILE_ERROR, G_FILE_ERROR_FAILED, g_strerror(errno));
  return false;
}

static bool write_line(const char *path, const char *line) {
  if (!strcmp(path, "-")) return fputs(line, stdout), true; // what is lost there is said at the end
  return open_file(path) && whole_file_append(file.handle, line, strlen(line), &file.error);
}

bool spinach_state_hash_note(const spinach_options *options) {
  static uint64_t latest = UINT64_MAX;
  const uint64_t cycles = spinach_cycles(options->clock);
  if (cycles == latest || file.error) return !file.error;
  latest = cycles;
  g_autofree char *hash = spinach_state_hash(), *line = g_strdup_printf("%" G_GUINT64_FORMAT " %s\n", cycles, hash);
  if (write_line(options->state_hashes, line)) return true;
  spinach_set_error("a hash of the state could not be written");
  return false;
}

bool spinach_state_hash_end(const char *path) {
  if (!file.error && !strcmp(path, "-")) return true;
  const bool fine =
      !file.error && open_file(path) && (!file.whole.place.path || whole_file_complete(&file.whole, &file.error));
  spinach_state_hash_abandon();
  return fine || spinach_report_error("cannot write \"%s\": %s", path, file.error->message);
}

void spinach_state_hash_abandon(void) {
  if (file.handle) close(file.handle);
  if (file.whole.place.path) whole_file_end(&file.whole);
  file.handle = 0;
}
