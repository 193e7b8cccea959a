// The packets of gdb's remote protocol; see stub.h.
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/session.h"
#include "lss/runtime/debug/stop_conditions.h"
#include "lss/runtime/observe/window.h"
#include "lss/runtime/trace/recorder.h"

#include <string.h>

// ---- Threads --------------------------------------------------------------------------------------------------------

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

// Watchpoints on what a processor refers to need its references recorded.
static bool are_recorded(Stub *stub, GString *reply) {
  if (spinach_recorder_can(WATCH_WORD)) return true;
  g_ptr_array_add(stub->wanted, g_strdup(WATCH_WORD));
  if (stub->refused) cannot(reply, stub->refused);
  return false;
}

// Z0,ADDRESS,KIND: 0 software, 1 hardware; watchpoints: 2 for writes, by value, 3 for reads, 4 for both.
static void set_point(Stub *stub, const char *text, bool set, GString *reply) {
  static const WatchKind watches[] = {WATCH_VALUE, WATCH_READS, WATCH_ACCESSES};
  const char kind = *text ? *text++ : 0;
  guint32 address, count;
  if (kind < '0' || kind > '4' || *text++ != ',' || !read_stretch(&text, &address, &count))
    return reply_with(reply, "E01");
  if (*text && *text != ';') return reply_with(reply, "E01");
  bool fine = false;
  if (kind <= '1')
    fine = breakpoints_set(stub->general, address, kind == '1', set);
  else if (kind == '2' || !set || are_recorded(stub, reply))
    fine = breakpoints_watch(stub->general, watches[kind - '2'], address, count, set);
  else
    return;
  reply_with(reply, fine ? "OK" : "E14");
}

// ---- Processes ------------------------------------------------------------------------------------------------------

static void attach(Stub *stub, const char *text, GString *reply) {
  guint32 core;
  if (!gdb_packet_number(&text, &core) || *text || core < 1 || core > core_count()) return reply_with(reply, "E01");
  stub->attached[core] = true;
  stub->general = stub->resume = stub->selected = core;
  stub->latest = (Stop){.kind = STOP_STEPPED, .core = core};
  append_stop(stub, reply);
}

static StubState detach(Stub *stub, const char *text, GString *reply) {
  guint32 core = 0;
  if (*text == ';' && (text++, !gdb_packet_number(&text, &core) || core < 1 || core > core_count()))
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

static StubState reply_to(Stub *stub, const GString *packet, GString *reply) {
  const char *text = packet->str;
  g_string_truncate(reply, 0);
  if (strlen(text) != packet->len && *text != 'X') return STUB_GOES_ON;
  if (strchr("GPMX", *text) && *text && session_is_tied()) return cannot(reply, session_is_tied()), STUB_GOES_ON;
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

StubState stub_reply(Stub *stub, const GString *packet, GString *reply) {
  g_ptr_array_set_size(stub->wanted, 0);
  const StubState state = reply_to(stub, packet, reply);
  const bool wants = stub->wanted->len && !stub->refused;
  g_clear_pointer(&stub->refused, g_free);
  return wants ? STUB_WANTS_EVENTS : state;
}

const GPtrArray *stub_wanted(const Stub *stub) {
  return stub->wanted;
}

void stub_refuse_events(Stub *stub, const char *why) {
  g_free(stub->refused);
  stub->refused = g_strdup(why);
}

GVariant *stub_pack(const Stub *stub) {
  GVariantBuilder attached, texts;
  const char *text;
  g_variant_builder_init(&attached, G_VARIANT_TYPE("au"));
  g_variant_builder_init(&texts, G_VARIANT_TYPE("as"));
  for (guint i = 1; i <= core_count(); i++)
    if (stub->attached[i]) g_variant_builder_add(&attached, "u", i);
  for (guint i = 0; (text = stop_conditions_text(i)); i++) g_variant_builder_add(&texts, "s", text);
  const Stop *stop = &stub->latest;
  return g_variant_new(STUB_TYPE, &attached, &texts, stub->general, stub->resume, stub->selected, stub->multiprocess,
                       stub->software, stub->hardware, stub->quiet, stub->over, (guint32)stop->kind, stop->core,
                       stop->hardware, stop->address, (guint32)stop->watch, breakpoints_pack(), spinach_window_pack());
}

void stub_unpack(Stub *stub, GVariant *packed) {
  g_autoptr(GVariantIter) attached = NULL, texts = NULL;
  g_autoptr(GVariant) points = NULL, window = NULL;
  gboolean multiprocess, software, hardware, quiet, over, by_hardware;
  guint32 kind, watch, core;
  const char *text;
  Stop *stop = &stub->latest;
  g_variant_get(packed, STUB_TYPE, &attached, &texts, &stub->general, &stub->resume, &stub->selected, &multiprocess,
                &software, &hardware, &quiet, &over, &kind, &stop->core, &by_hardware, &stop->address, &watch, &points,
                &window);
  for (guint i = 1; i <= core_count(); i++) stub->attached[i] = false;
  while (g_variant_iter_next(attached, "u", &core)) stub->attached[core] = true;
  while (g_variant_iter_next(texts, "&s", &text)) g_free(stop_conditions_add(text, stub->wanted));
  stub->multiprocess = multiprocess;
  stub->software = software;
  stub->hardware = hardware;
  stub->quiet = quiet;
  stub->over = over;
  stop->kind = (StopKind)kind;
  stop->hardware = by_hardware;
  stop->watch = (WatchKind)watch;
  breakpoints_unpack(points);
  spinach_window_unpack(window);
}

bool stub_is_quiet(const Stub *stub) {
  return stub->quiet;
}

bool stub_has_ended(const Stub *stub) {
  return stub->ended;
}

void stub_forget(Stub *stub) {
  breakpoints_forget(0);
  spinach_window_forget();
  stub->quiet = stub->multiprocess = stub->software = stub->hardware = false;
  for (guint i = 1; i <= core_count(); i++) stub->attached[i] = i == 1;
  stub->general = stub->resume = stub->selected = 1;
  stub->latest = (Stop){.kind = STOP_STEPPED, .core = 1};
}

Stub *stub_new(void (*say)(const char *text)) {
  Stub *stub = g_new0(Stub, 1);
  stub->say = say;
  stub->attached = g_new0(bool, core_count() + 1);
  stub->wanted = g_ptr_array_new_with_free_func(g_free);
  stub_forget(stub);
  return stub;
}

void stub_free(Stub *stub) {
  g_free(stub->attached);
  g_free(stub->refused);
  g_ptr_array_unref(stub->wanted);
  g_free(stub);
}
