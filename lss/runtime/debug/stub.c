// The packets of gdb's remote protocol; see stub.h.
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/session.h"

#include <string.h>

void reply_with(GString *reply, const char *text) {
  g_string_assign(reply, text);
}

// ---- Threads --------------------------------------------------------------------------------------------------------

void append_thread(const Stub *stub, GString *out, guint core) {
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

bool read_thread(const char **text, guint32 *core) {
  guint32 thread;
  if (**text != 'p') return read_id(text, core) && (*core == ANY || *core == ALL || *core <= core_count());
  (*text)++;
  if (!read_id(text, core)) return false;
  if (**text == '.' && (++*text, !read_id(text, &thread))) return false;
  return *core == ANY || *core == ALL || *core <= core_count();
}

guint first_attached(const Stub *stub) {
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

// gdb asks when the user selects a thread.
static void is_alive(Stub *stub, const char *text, GString *reply) {
  guint32 core;
  const bool known = read_thread(&text, &core) && core != ANY && core != ALL;
  if (known) stub->selected = core;
  reply_with(reply, known ? "OK" : "E01");
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
    fine = breakpoints_set(stub->general, address, kind == '1', set);
  else if (kind == '2')
    fine = breakpoints_watch(stub->general, address, count, set);
  else
    return;
  reply_with(reply, fine ? "OK" : "E14");
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
  breakpoints_forget(core);
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

// ---- Sessions -------------------------------------------------------------------------------------------------------

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
    if (!strcmp(text, "bs") || !strcmp(text, "bc")) resume_backward(stub, text[1] == 's', reply);
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
  breakpoints_forget(0);
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
