// Packets that read and write registers and memory; see stub.h.
#include "lss/runtime/debug/change.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/registers.h"
#include "lss/runtime/debug/session.h"
#include "lss/runtime/debug/stepping.h"

#include <string.h>

static bool drain(const Stub *stub, GString *reply) {
  const char *why;
  if (drain_processor(stub->general, &why)) return true;
  cannot(reply, why);
  return false;
}

void read_registers(const Stub *stub, GString *reply) {
  const Core *core = core_of(stub->general);
  for (guint i = 0; i < registers_count(core); i++) registers_append(core, i, reply);
}

void write_registers(const Stub *stub, const char *text, GString *reply) {
  const Core *core = core_of(stub->general);
  const gsize count = strlen(text) / 8;
  uint32_t value;
  if (!count || count > registers_count(core) || strlen(text) % 8) return reply_with(reply, "E01");
  for (guint i = 0; i < count; i++)
    if (text[8 * i] != 'x' && !registers_value(core, text + 8 * (gsize)i, &value)) return reply_with(reply, "E01");
  if (!drain(stub, reply)) return;
  for (guint i = 0; i < count; i++)
    if (registers_value(core, text + 8 * (gsize)i, &value)) registers_set(core, i, value);
  change_state();
  reply_with(reply, "OK");
}

void read_register(const Stub *stub, const char *text, GString *reply) {
  guint32 number;
  if (!gdb_packet_number(&text, &number) || *text || !registers_append(core_of(stub->general), number, reply))
    reply_with(reply, "E01");
}

void write_register(const Stub *stub, const char *text, GString *reply) {
  const Core *core = core_of(stub->general);
  guint32 number;
  uint32_t value;
  if (!gdb_packet_number(&text, &number) || *text++ != '=' || strlen(text) != 8 ||
      !registers_value(core, text, &value) || number >= registers_count(core))
    return reply_with(reply, "E01");
  if (!drain(stub, reply)) return;
  registers_set(core, number, value);
  change_state();
  reply_with(reply, "OK");
}

bool read_stretch(const char **text, guint32 *address, guint32 *count) {
  return gdb_packet_number(text, address) && *(*text)++ == ',' && gdb_packet_number(text, count);
}

typedef struct {
  const Core *core;
  guint32 address, count, there;
  guint8 *bytes;
} Read;

static void read_now(void *arguments) {
  Read *read = arguments;
  read->there = core_read(read->core, read->address, read->bytes, read->count);
}

void read_memory(const Stub *stub, const char *text, GString *reply) {
  guint32 address, count;
  if (!read_stretch(&text, &address, &count) || *text) return reply_with(reply, "E01");
  g_autofree guint8 *bytes = g_malloc(MIN(count, MOST_MEMORY) + 1);
  Read read = {core_of(stub->general), address, MIN(count, MOST_MEMORY), 0, bytes};
  const guint32 behind = read.core->memory_behind + (next_pc_within(stub->general) > 0);
  stepping_look_ahead(core_is_of_device(read.core, address) ? 0 : behind, read_now, &read);
  if (!read.there && count) return reply_with(reply, "E14");
  gdb_packet_append_bytes(reply, bytes, read.there);
}

void write_memory(const Stub *stub, const GString *packet, bool binary, GString *reply) {
  const char *text = packet->str + 1;
  guint32 address, count;
  if (!read_stretch(&text, &address, &count) || *text++ != ':' || count > PACKET_SIZE) return reply_with(reply, "E01");
  const gsize rest = packet->len - (gsize)(text - packet->str);
  if (rest != (binary ? count : 2 * (gsize)count)) return reply_with(reply, "E01");
  g_autofree guint8 *bytes = g_malloc(count + 1);
  if (binary)
    memcpy(bytes, text, count);
  else if (!gdb_packet_bytes(text, bytes, count))
    return reply_with(reply, "E01");
  if (!count) return reply_with(reply, "OK");
  const Core *core = core_of(stub->general);
  if (!core_reaches(core, address, count)) return reply_with(reply, "E14");
  const char *why;
  if (!drain(stub, reply)) return;
  if (!drain_caches(stub->general, address, count, &why)) return cannot(reply, why);
  core_write(core, address, bytes, count);
  change_state();
  reply_with(reply, "OK");
}
