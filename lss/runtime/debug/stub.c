// The packets of gdb's remote protocol; see stub.h.
#include "lss/runtime/debug/stub.h"

#include "lss/runtime/debug/monitor.h"
#include "lss/runtime/debug/packet.h"
#include "lss/runtime/debug/registers.h"
#include "lss/runtime/debug/run_control.h"

#include <string.h>

enum { MOST_MEMORY = PACKET_SIZE / 2 - 16, ANY = 0, ALL = UINT32_MAX };
enum { SIGNAL_INTERRUPT = 2, SIGNAL_TRAP = 5, SIGNAL_ABORT = 6 };

struct Stub {
  void (*say)(const char *text);
  bool *attached;                        // of each processor, by its number
  guint general, resume;                 // processors of Hg and Hc
  guint selected;                        // the one that the user looks at, as far as gdb lets on: what Hc0 means
  bool multiprocess, software, hardware; // what gdb understands
  bool quiet;                            // no acknowledgments
  bool over;                             // the run is, and gdb has been told: the next resume ends it
  bool ended;                            // gdb was told that processes exited
  Stop latest;
};

static const Core *core_of(guint number) {
  return spinach_cores()->pdata[number - 1];
}

static guint core_count(void) {
  return spinach_cores()->len;
}

static void reply_with(GString *reply, const char *text) {
  g_string_assign(reply, text);
}

static void cannot(GString *reply, const char *why) {
  g_string_printf(reply, "E.%s", why);
}

// ---- Threads --------------------------------------------------------------------------------------------------------

static void append_thread(const Stub *stub, GString *out, guint core) {
  if (stub->multiprocess)
    g_string_append_printf(out, "p%x.1", core);
  else
    g_string_append_printf(out, "%x", core);
}

static bool read_id(const char **text, guint32 *id) {
  if (!g_str_has_prefix(*text, "-1")) return packet_number(text, id);
  *text += 2;
  *id = ALL;
  return true;
}

// The processor that a thread means: ANY, ALL, or its number; false for none.
static bool read_thread(const char **text, guint32 *core) {
  guint32 thread;
  if (**text != 'p') return read_id(text, core) && (*core == ANY || *core == ALL || *core <= core_count());
  (*text)++;
  if (!read_id(text, core)) return false;
  if (**text == '.' && (++*text, !read_id(text, &thread))) return false;
  return *core == ANY || *core == ALL || *core <= core_count();
}

static guint first_attached(const Stub *stub) {
  for (guint i = 1; i <= core_count(); i++)
    if (stub->attached[i]) return i;
  return 1;
}

static void choose_thread(Stub *stub, const char *text, GString *reply) {
  guint32 core;
  guint *chosen = *text == 'g' ? &stub->general : *text == 'c' ? &stub->resume : NULL;
  if (!chosen || (text++, !read_thread(&text, &core))) return reply_with(reply, "E01");
  *chosen = core == ANY || core == ALL ? stub->selected : core;
  reply_with(reply, "OK");
}

static void list_threads(const Stub *stub, GString *reply) {
  for (guint i = 1; i <= core_count(); i++) {
    if (!stub->attached[i]) continue;
    g_string_append_c(reply, reply->len ? ',' : 'm');
    append_thread(stub, reply, i);
  }
  if (!reply->len) reply_with(reply, "l");
}

// ---- Stops ----------------------------------------------------------------------------------------------------------

static void append_reason(const Stub *stub, GString *reply) {
  const Stop *stop = &stub->latest;
  if (stop->kind == STOP_WATCHPOINT) g_string_append_printf(reply, "watch:%x;", stop->address);
  if (stop->kind == STOP_BREAKPOINT && stop->hardware && stub->hardware) g_string_append(reply, "hwbreak:;");
  if (stop->kind == STOP_BREAKPOINT && !stop->hardware && stub->software) g_string_append(reply, "swbreak:;");
  if (stop->kind == STOP_BEGINNING) g_string_append(reply, "replaylog:begin;");
}

static void append_stop(const Stub *stub, GString *reply) {
  const StopKind kind = stub->latest.kind;
  const int signal = kind == STOP_REQUESTED ? SIGNAL_INTERRUPT : kind == STOP_FAILED ? SIGNAL_ABORT : SIGNAL_TRAP;
  g_string_printf(reply, "T%02xthread:", signal);
  append_thread(stub, reply, stub->latest.core);
  g_string_append_c(reply, ';');
  append_reason(stub, reply);
}

static void report_exit(Stub *stub, GString *reply) {
  const guint core = first_attached(stub);
  g_string_printf(reply, "W%02x", stub->latest.kind == STOP_FAILED);
  if (stub->multiprocess) g_string_append_printf(reply, ";process:%x", core);
  stub->attached[core] = false;
  stub->ended = true;
}

typedef struct {
  guint core;
  bool stepped, forward;
  StopScope scope;
} Resume;

static void resume(Stub *stub, Resume how, GString *reply) {
  if (stub->ended || (stub->over && how.forward && run_control_is_at_end())) return report_exit(stub, reply);
  Stop stop =
      how.forward ? run_control_forward(how.core, how.stepped, how.scope) : run_control_backward(how.core, how.stepped);
  if (!stop.core || !stub->attached[stop.core]) stop.core = stub->attached[how.core] ? how.core : first_attached(stub);
  stub->latest = stop;
  stub->general = stub->resume = stub->selected = stop.core;
  stub->over = stop.kind == STOP_OVER || stop.kind == STOP_FAILED;
  if (stub->over) {
    g_autofree char *text = g_strdup_printf("the run %s: %s; going on ends it\n",
                                            stop.kind == STOP_OVER ? "is over" : "fails here", run_control_why());
    stub->say(text);
  }
  append_stop(stub, reply);
}

// vCont;s:p1.1;c — a machine has one time, so all go on; what is stepped, or named alone, says when they stop.  A
// thread is named alone while gdb takes it over a breakpoint, and then gdb expects no other to stop.
static void resume_each(Stub *stub, const char *text, GString *reply) {
  Resume how = {.forward = true, .scope = STOPS_OF_ALL};
  for (guint actions = 0; *text == ';'; actions++) {
    const char action = *++text;
    if (!action || !strchr("cCsS", action)) return reply_with(reply, "E01");
    text++;
    guint32 signal, core = ALL;
    if ((action == 'C' || action == 'S') && !packet_number(&text, &signal)) return reply_with(reply, "E01");
    const char *thread = text + (*text == ':');
    if (*text == ':' && (text++, !read_thread(&text, &core))) return reply_with(reply, "E01");
    const bool is_process = g_strstr_len(thread, text - thread, ".-1") != NULL;
    how.scope = actions || core == ANY || core == ALL ? STOPS_OF_ALL : is_process ? STOPS_OF_ONE : STOPS_OF_ONE_FIRST;
    if (core == ANY || core == ALL) core = stub->selected;
    if (!how.core || (!how.stepped && g_ascii_tolower(action) == 's')) how.core = core;
    how.stepped |= g_ascii_tolower(action) == 's';
  }
  if (*text || !how.core) return reply_with(reply, "E01");
  resume(stub, how, reply);
}

// ---- Registers and memory -------------------------------------------------------------------------------------------

static bool drain(const Stub *stub, GString *reply) {
  const char *why;
  if (run_control_drain(stub->general, &why)) return true;
  cannot(reply, why);
  return false;
}

static void read_registers(const Stub *stub, GString *reply) {
  const Core *core = core_of(stub->general);
  for (guint i = 0; i < registers_count(core); i++) registers_append(core, i, reply);
}

static void write_registers(const Stub *stub, const char *text, GString *reply) {
  const Core *core = core_of(stub->general);
  const gsize count = strlen(text) / 8;
  uint32_t value;
  if (!count || count > registers_count(core) || strlen(text) % 8) return reply_with(reply, "E01");
  for (guint i = 0; i < count; i++)
    if (text[8 * i] != 'x' && !registers_value(core, text + 8 * (gsize)i, &value)) return reply_with(reply, "E01");
  if (!drain(stub, reply)) return;
  for (guint i = 0; i < count; i++)
    if (registers_value(core, text + 8 * (gsize)i, &value)) registers_set(core, i, value);
  run_control_change();
  reply_with(reply, "OK");
}

static void read_register(const Stub *stub, const char *text, GString *reply) {
  guint32 number;
  if (!packet_number(&text, &number) || *text || !registers_append(core_of(stub->general), number, reply))
    reply_with(reply, "E01");
}

static void write_register(const Stub *stub, const char *text, GString *reply) {
  const Core *core = core_of(stub->general);
  guint32 number;
  uint32_t value;
  if (!packet_number(&text, &number) || *text++ != '=' || strlen(text) != 8 || !registers_value(core, text, &value) ||
      number >= registers_count(core))
    return reply_with(reply, "E01");
  if (!drain(stub, reply)) return;
  registers_set(core, number, value);
  run_control_change();
  reply_with(reply, "OK");
}

static bool read_stretch(const char **text, guint32 *address, guint32 *count) {
  return packet_number(text, address) && *(*text)++ == ',' && packet_number(text, count);
}

static void read_memory(const Stub *stub, const char *text, GString *reply) {
  guint32 address, count;
  if (!read_stretch(&text, &address, &count) || *text) return reply_with(reply, "E01");
  g_autofree guint8 *bytes = g_malloc(MIN(count, MOST_MEMORY) + 1);
  const guint32 there = core_read(core_of(stub->general), address, bytes, MIN(count, MOST_MEMORY));
  if (!there && count) return reply_with(reply, "E14");
  packet_append_bytes(reply, bytes, there);
}

static void write_memory(const Stub *stub, const GString *packet, bool binary, GString *reply) {
  const char *text = packet->str + 1;
  guint32 address, count;
  if (!read_stretch(&text, &address, &count) || *text++ != ':' || count > PACKET_SIZE) return reply_with(reply, "E01");
  const gsize rest = packet->len - (gsize)(text - packet->str);
  if (rest != (binary ? count : 2 * (gsize)count)) return reply_with(reply, "E01");
  g_autofree guint8 *bytes = g_malloc(count + 1);
  if (binary)
    memcpy(bytes, text, count);
  else if (!packet_bytes(text, bytes, count))
    return reply_with(reply, "E01");
  if (!count) return reply_with(reply, "OK");
  const Core *core = core_of(stub->general);
  if (!core_reaches(core, address, count)) return reply_with(reply, "E14");
  if (!drain(stub, reply)) return;
  core_write(core, address, bytes, count);
  run_control_change();
  reply_with(reply, "OK");
}

// ---- Breakpoints ----------------------------------------------------------------------------------------------------

// Z0,ADDRESS,KIND: 0 software, 1 hardware, 2 write watchpoint.  What reads is not known by value: 3 and 4 are refused.
static void set_point(Stub *stub, const char *text, bool set, GString *reply) {
  const char kind = *text ? *text++ : 0;
  guint32 address, count;
  if (kind < '0' || kind > '4' || *text++ != ',' || !read_stretch(&text, &address, &count))
    return reply_with(reply, "E01");
  if (*text && *text != ';') return reply_with(reply, "E01");
  bool fine = false;
  if (kind <= '1')
    fine = run_control_break(stub->general, address, kind == '1', set);
  else if (kind == '2')
    fine = run_control_watch(stub->general, address, count, set);
  else
    return;
  reply_with(reply, fine ? "OK" : "E14");
}

// ---- Queries --------------------------------------------------------------------------------------------------------

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

static void run_command(const char *digits, GString *reply) {
  const gsize length = strlen(digits) / 2;
  g_autofree char *command = g_malloc0(length + 1);
  if (strlen(digits) % 2 || !packet_bytes(digits, (guint8 *)command, length)) return reply_with(reply, "E01");
  g_autofree char *text = monitor_command(command);
  packet_append_bytes(reply, (const guint8 *)text, strlen(text));
  if (!*text) reply_with(reply, "OK");
}

static void query(Stub *stub, const GString *packet, GString *reply) {
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
    const char *path = core_of(core)->path;
    packet_append_bytes(reply, (const guint8 *)path, strlen(path));
  } else if (g_str_has_prefix(text, "qRcmd,")) {
    run_command(text + strlen("qRcmd,"), reply);
  }
}

// ---- Processes ------------------------------------------------------------------------------------------------------

static void attach(Stub *stub, const char *text, GString *reply) {
  guint32 core;
  if (!packet_number(&text, &core) || *text || core < 1 || core > core_count()) return reply_with(reply, "E01");
  stub->attached[core] = true;
  stub->general = stub->resume = stub->selected = core;
  stub->latest = (Stop){.kind = STOP_STEPPED, .core = core};
  append_stop(stub, reply);
}

static StubState detach(Stub *stub, const char *text, GString *reply) {
  guint32 core = 0;
  if (*text == ';' && (text++, !packet_number(&text, &core) || core < 1 || core > core_count()))
    return reply_with(reply, "E01"), STUB_GOES_ON;
  run_control_forget(core);
  bool any = false;
  for (guint i = 1; i <= core_count(); i++) any |= stub->attached[i] &= core != 0 && i != core;
  reply_with(reply, "OK");
  if (any) stub->general = stub->resume = stub->selected = first_attached(stub);
  return any ? STUB_GOES_ON : STUB_DETACHED;
}

static StubState reply_to_v(Stub *stub, const GString *packet, GString *reply) {
  const char *text = packet->str;
  if (!strcmp(text, "vCont?")) {
    reply_with(reply, "vCont;c;C;s;S");
  } else if (g_str_has_prefix(text, "vCont;")) {
    resume_each(stub, text + strlen("vCont"), reply);
  } else if (g_str_has_prefix(text, "vAttach;")) {
    attach(stub, text + strlen("vAttach;"), reply);
  } else if (g_str_has_prefix(text, "vKill;")) {
    reply_with(reply, "OK");
    return STUB_KILLED;
  }
  return STUB_GOES_ON;
}

// gdb asks when the user selects a thread.
static void is_alive(Stub *stub, const char *text, GString *reply) {
  guint32 core;
  const bool known = read_thread(&text, &core) && core != ANY && core != ALL;
  if (known) stub->selected = core;
  reply_with(reply, known ? "OK" : "E01");
}

// c and s may name an address to go on from, and C and S a signal before it; gdb sends neither address.
static void resume_old(Stub *stub, const char *text, GString *reply) {
  const char kind = *text++;
  guint32 signal;
  if ((g_ascii_isupper(kind) && !packet_number(&text, &signal)) || *text) return reply_with(reply, "E01");
  resume(stub, (Resume){.core = stub->resume, .stepped = g_ascii_tolower(kind) == 's', .forward = true}, reply);
}

StubState stub_reply(Stub *stub, const GString *packet, GString *reply) {
  const char *text = packet->str;
  g_string_truncate(reply, 0);
  if (strlen(text) != packet->len && *text != 'X') return STUB_GOES_ON;
  switch (*text) {
  case '?': append_stop(stub, reply); break;
  case '!': reply_with(reply, "OK"); break;
  case 'H': choose_thread(stub, text + 1, reply); break;
  case 'T': is_alive(stub, text + 1, reply); break;
  case 'g': read_registers(stub, reply); break;
  case 'G': write_registers(stub, text + 1, reply); break;
  case 'p': read_register(stub, text + 1, reply); break;
  case 'P': write_register(stub, text + 1, reply); break;
  case 'm': read_memory(stub, text + 1, reply); break;
  case 'M': write_memory(stub, packet, false, reply); break;
  case 'X': write_memory(stub, packet, true, reply); break;
  case 'Z': set_point(stub, text + 1, true, reply); break;
  case 'z': set_point(stub, text + 1, false, reply); break;
  case 'c':
  case 'C':
  case 's':
  case 'S': resume_old(stub, text, reply); break;
  case 'b':
    if (!strcmp(text, "bs") || !strcmp(text, "bc"))
      resume(stub, (Resume){.core = stub->resume, .stepped = text[1] == 's'}, reply);
    break;
  case 'q':
  case 'Q': query(stub, packet, reply); break;
  case 'v': return reply_to_v(stub, packet, reply);
  case 'D': return detach(stub, text + 1, reply);
  case 'k': return STUB_KILLED;
  default: break;
  }
  return STUB_GOES_ON;
}

bool stub_is_quiet(const Stub *stub) {
  return stub->quiet;
}

bool stub_has_ended(const Stub *stub) {
  return stub->ended;
}

void stub_forget(Stub *stub) {
  run_control_forget(0);
  stub->quiet = stub->multiprocess = stub->software = stub->hardware = false;
  for (guint i = 1; i <= core_count(); i++) stub->attached[i] = i == 1;
  stub->general = stub->resume = stub->selected = 1;
  stub->latest = (Stop){.kind = STOP_STEPPED, .core = 1};
}

Stub *stub_new(void (*say)(const char *text)) {
  Stub *stub = g_new0(Stub, 1);
  stub->say = say;
  stub->attached = g_new0(bool, core_count() + 1);
  stub_forget(stub);
  return stub;
}

void stub_free(Stub *stub) {
  g_free(stub->attached);
  g_free(stub);
}
