// Packets that ask what the stub and the machine are; see stub.h.
#include "lss/runtime/debug/monitor.h"
#include "lss/runtime/debug/registers.h"
#include "lss/runtime/debug/session.h"

#include <string.h>

static void list_threads(const Stub *stub, GString *reply) {
  for (guint i = 1; i <= core_count(); i++) {
    if (!stub->attached[i]) continue;
    g_string_append_c(reply, reply->len ? ',' : 'm');
    append_thread(stub, reply, i);
  }
  if (!reply->len) reply_with(reply, "l");
}

static void say_supported(Stub *stub, const char *features, GString *reply) {
  stub->multiprocess = strstr(features, "multiprocess+") != NULL;
  stub->software = strstr(features, "swbreak+") != NULL;
  stub->hardware = strstr(features, "hwbreak+") != NULL;
  g_string_printf(reply,
                  "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;multiprocess+;swbreak+;hwbreak+;vContSupported+;"
                  "ReverseStep+;ReverseContinue+",
                  PACKET_SIZE);
}

static void send_description(const Stub *stub, const char *text, GString *reply) {
  guint32 offset, count;
  if (!read_stretch(&text, &offset, &count) || *text) return reply_with(reply, "E01");
  g_autofree char *description = registers_description(core_of(stub->general));
  const gsize length = strlen(description), from = MIN(offset, length),
              sent = MIN(MIN(count, MOST_MEMORY), length - from);
  g_string_append_c(reply, from + sent < length ? 'm' : 'l');
  g_string_append_len(reply, description + from, (gssize)sent);
}

static void run_command(Stub *stub, const char *digits, GString *reply) {
  const gsize length = strlen(digits) / 2;
  g_autofree char *command = g_malloc0(length + 1);
  if (strlen(digits) % 2 || !gdb_packet_bytes(digits, (guint8 *)command, length)) return reply_with(reply, "E01");
  g_autofree char *done = monitor_command(command, stub->wanted),
                  *text = stub->wanted->len && stub->refused ? g_strdup_printf("%s\n", stub->refused) : g_strdup(done);
  gdb_packet_append_bytes(reply, (const guint8 *)text, strlen(text));
  if (!*text) reply_with(reply, "OK");
}

void query(Stub *stub, const GString *packet, GString *reply) {
  const char *text = packet->str;
  if (g_str_has_prefix(text, "qSupported")) {
    say_supported(stub, text, reply);
  } else if (!strcmp(text, "QStartNoAckMode")) {
    stub->quiet = true;
    reply_with(reply, "OK");
  } else if (g_str_has_prefix(text, "qXfer:features:read:target.xml:")) {
    send_description(stub, text + strlen("qXfer:features:read:target.xml:"), reply);
  } else if (!strcmp(text, "qfThreadInfo")) {
    list_threads(stub, reply);
  } else if (!strcmp(text, "qsThreadInfo")) {
    reply_with(reply, "l");
  } else if (!strcmp(text, "qC")) {
    reply_with(reply, "QC");
    append_thread(stub, reply, stub->general);
  } else if (g_str_has_prefix(text, "qAttached")) {
    reply_with(reply, "1");
  } else if (g_str_has_prefix(text, "qThreadExtraInfo,")) {
    guint32 core;
    text += strlen("qThreadExtraInfo,");
    if (!read_thread(&text, &core) || core == ANY || core == ALL) return reply_with(reply, "E01");
    const char *name = core_of(core)->name;
    gdb_packet_append_bytes(reply, (const guint8 *)name, strlen(name));
  } else if (g_str_has_prefix(text, "qRcmd,")) {
    run_command(stub, text + strlen("qRcmd,"), reply);
  }
}
