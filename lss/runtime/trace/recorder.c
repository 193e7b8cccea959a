// Blocks of records, packed and written by a thread of their own; see recorder.h and format.h.
#include "lss/runtime/trace/recorder.h"

#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/trace/format.h"
#include "lss/runtime/trace/profile.h"
#include "lss/runtime/trace/record.h"
#include "lss/runtime/trace/trace_file.h"
#include "lss/runtime/trace/trace_header.h"

#include <zstd.h>

enum { BLOCKS = 4, LEVEL = 1 }; // how many blocks there are; how hard zstd tries

typedef struct {
  enum { RECORDS, BEGIN, END, OVER } kind; // begin, end: of what is recorded
  uint64_t start;                          // instant from which the first record counts; or of beginning or end
  gsize size;                              // of its records
  uint8_t bytes[TRACE_BLOCK];
} Block;

static const spinach_machine *const machine = &spinach_machine_table;
spinach_recorder_block spinach_recorder;
static TraceFile file;
static spinach_trigger from, to;
static GThread *writer;
static GAsyncQueue *full, *empty; // of Block
static Block *block;              // the one at hand
static const char *profile_path;
static Profile *profile;       // NULL: none is made
static bool writes;            // a file is written
static uint64_t total;         // bytes of records in all blocks so far
static void (*listener)(void); // takes the block at hand, instead of all that

// ---- The words of a variant

bool spinach_recorder_can(const char *what) {
  for (const char *const *known = machine->records; *known; known++)
    if (!strcmp(*known, what)) return true;
  return false;
}

static void add_word(GPtrArray *words, const char *what) {
  if (spinach_recorder_can(what)) return;
  g_ptr_array_add(words, "--record");
  g_ptr_array_add(words, (gpointer)what);
}

void spinach_recorder_add_words(const spinach_options *options, GPtrArray *words) {
  if (options->profile) add_word(words, "profile");
  if (!options->record) return;
  for (guint i = 0; i < options->record_events->len; i++) add_word(words, options->record_events->pdata[i]);
  if (!options->record_events->len && !machine->records[0]) add_word(words, "instructions");
}

// ---- The thread that writes

static void write_block(ZSTD_CCtx *context, const Block *given, GByteArray *packed) {
  const gsize length = ZSTD_compress2(context, packed->data, packed->len, given->bytes, given->size);
  g_assert(!ZSTD_isError(length)); // only for want of room, of which there is as much as it says
  TraceBlock head = {.packed = (guint32)length, .unpacked = (guint32)given->size, .start = given->start};
  head.sum = trace_block_sum(&head);
  trace_file_write(&file, &head, sizeof head);
  trace_file_write(&file, packed->data, length);
}

static gpointer write_blocks(gpointer nothing) {
  (void)nothing;
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  g_autoptr(GByteArray) packed = g_byte_array_new();
  g_byte_array_set_size(packed, (guint)ZSTD_compressBound(TRACE_BLOCK));
  for (bool over = false; !over;) {
    Block *given = g_async_queue_pop(full);
    over = given->kind == OVER;
    if (given->kind == RECORDS && writes && given->size) write_block(context, given, packed);
    if (given->kind == RECORDS && profile) profile_add(profile, given->bytes, given->size, given->start);
    if (given->kind == BEGIN && profile) profile_begin(profile, given->start);
    if (given->kind == END && profile) profile_end(profile, given->start);
    g_async_queue_push(empty, given);
  }
  ZSTD_freeCCtx(context);
  return NULL;
}

// ---- The run

static void begin_block(void) {
  block = g_async_queue_pop(empty);
  block->kind = RECORDS;
  block->start = spinach_recorder.last;
  spinach_recorder.at = block->bytes;
  spinach_recorder.end = block->bytes + sizeof block->bytes;
}

static void hand_on(void) {
  block->size = (gsize)(spinach_recorder.at - block->bytes);
  total += block->size;
  g_async_queue_push(full, block);
}

void spinach_recorder_turn(void) {
  if (listener) {
    listener();
  } else {
    hand_on();
    begin_block();
  }
}

// Tells the thread that something begins or ends at this instant.
static void say(int kind) {
  spinach_recorder_turn();
  block->kind = kind;
  block->start = spinach_time.now;
  spinach_recorder_turn();
}

static void begin(void) {
  spinach_recorder.on = true;
  say(BEGIN);
}

static void end(void) {
  if (!spinach_recorder.on) return;
  spinach_recorder.on = false;
  say(END);
}

static bool refuse(const char *path, const char *why) {
  return spinach_report_error("cannot record to \"%s\": %s", path, why);
}

static bool refuse_profile(const char *path, const char *why) {
  return spinach_report_error("cannot write the profile \"%s\": %s", path, why);
}

// The sources, numbered; NULL after a line when records cannot have them.
static GArray *number_sources(const char *path) {
  uint16_t *instances = g_new(uint16_t, machine->instance_count + 1);
  uint16_t *connections = g_new(uint16_t, machine->connection_count + 1);
  g_autoptr(GArray) sources = trace_sources(instances, connections);
  spinach_recorder.instances = instances;
  spinach_recorder.connections = connections;
  if (sources->len > UINT16_MAX) return refuse(path, "there are more than 65535 kinds of events"), NULL;
  for (guint i = 0; i < sources->len; i++)
    if (trace_source_size(&g_array_index(sources, TraceSource, i)) > TRACE_BLOCK - SPINACH_RECORD_HEAD)
      return refuse(path, "an event has more than a million bytes of arguments"), NULL;
  return g_steal_pointer(&sources);
}

GArray *spinach_recorder_listen(void (*full)(void)) {
  listener = full;
  return number_sources("memory");
}

static void wait_for(spinach_trigger *trigger, const spinach_condition *condition) {
  if (!condition->kind) return;
  spinach_trigger_start(trigger, condition, false);
  trigger->prolongs = false;
}

static bool open_file(const char *path, const GArray *sources) {
  g_autoptr(GError) error = NULL;
  if (!trace_file_open(&file, path, &error)) return refuse(path, error->message);
  g_autoptr(GByteArray) header = trace_header(sources);
  trace_file_write(&file, header->data, header->len);
  return writes = true;
}

bool spinach_recorder_begin(const spinach_options *options) {
  if (!options->record && !options->profile) return true;
  g_autoptr(GError) error = NULL;
  if (options->profile && !whole_file_possible(options->profile, false, &error))
    return refuse_profile(options->profile, error->message);
  GArray *sources = number_sources(options->record ? options->record : options->profile); // as long as the process
  if (!sources || (options->record && !open_file(options->record, sources))) return false;
  profile_path = options->profile;
  if (profile_path) profile = profile_new(sources);
  full = g_async_queue_new();
  empty = g_async_queue_new();
  for (guint i = 0; i < BLOCKS; i++) g_async_queue_push(empty, g_new(Block, 1));
  wait_for(&from, &options->conditions[SPINACH_RECORD_FROM]);
  wait_for(&to, &options->conditions[SPINACH_RECORD_TO]);
  to.after = from.condition ? &from : NULL;
  writer = g_thread_new("recorder", write_blocks, NULL);
  spinach_recorder.last = spinach_time.now;
  begin_block();
  if (!from.condition) begin();
  return true;
}

void spinach_recorder_look(void) {
  if (!writer) return;
  if (from.condition && spinach_trigger_fires(&from)) begin();
  if (to.condition && spinach_trigger_fires(&to)) end();
}

void spinach_recorder_stop(void) {
  if (writer) end();
}

void spinach_recorder_detach(void) {
  spinach_recorder.on = false;
  writer = NULL;
}

static bool close_file(void) {
  TraceBlock last = {.start = spinach_time.now, .total = total};
  last.sum = trace_block_sum(&last);
  trace_file_write(&file, &last, sizeof last);
  g_autoptr(GError) error = NULL;
  return trace_file_close(&file, &error) || refuse(file.path, error->message);
}

static bool write_profile(void) {
  g_autofree char *text = profile_json(profile);
  g_autoptr(GError) error = NULL;
  return whole_file_write(profile_path, text, -1, &error) || refuse_profile(profile_path, error->message);
}

bool spinach_recorder_end(void) {
  if (!writer) return true;
  say(OVER);
  g_thread_join(writer);
  writer = NULL;
  bool fine = !writes || close_file();
  fine &= !profile || write_profile();
  return fine && (!from.waiting || spinach_report_error("error: the run ended before the condition of --record-from, "
                                                        "\"%s\", came true",
                                                        from.condition->text));
}
