// Packets that let the machine go on, and how its stops are reported to gdb; see stub.h.
#include "lss/runtime/debug/run_control.h"
#include "lss/runtime/debug/session.h"
#include "lss/runtime/debug/stepping.h"

#include <string.h>

enum { SIGNAL_INTERRUPT = 2, SIGNAL_TRAP = 5, SIGNAL_ABORT = 6 };

static void append_reason(const Stub *stub, GString *reply) {
  const Stop *stop = &stub->latest;
  static const char *const watches[] = {[WATCH_VALUE] = "watch", [WATCH_READS] = "rwatch", [WATCH_ACCESSES] = "awatch"};
  if (stop->kind == STOP_WATCHPOINT) g_string_append_printf(reply, "%s:%x;", watches[stop->watch], stop->address);
  if (stop->kind == STOP_BREAKPOINT && stop->hardware && stub->hardware) g_string_append(reply, "hwbreak:;");
  if (stop->kind == STOP_BREAKPOINT && !stop->hardware && stub->software) g_string_append(reply, "swbreak:;");
  if (stop->kind == STOP_BEGINNING) g_string_append(reply, "replaylog:begin;");
}

void append_stop(const Stub *stub, GString *reply) {
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
  if (stub->ended || (stub->over && how.forward && stepping_is_at_end())) return report_exit(stub, reply);
  Stop stop =
      how.forward ? run_control_forward(how.core, how.stepped, how.scope) : run_control_backward(how.core, how.stepped);
  if (!stop.core || !stub->attached[stop.core]) stop.core = stub->attached[how.core] ? how.core : first_attached(stub);
  stub->latest = stop;
  stub->general = stub->resume = stub->selected = stop.core;
  stub->over = stop.kind == STOP_OVER || stop.kind == STOP_FAILED;
  if (stub->over) {
    g_autofree char *text = g_strdup_printf("the run %s: %s; going on ends it\n",
                                            stop.kind == STOP_OVER ? "is over" : "fails here", stepping_why());
    stub->say(text);
  }
  if (stop.why) {
    g_autofree char *text = g_strdup_printf("%s\n", stop.why);
    stub->say(text);
  }
  append_stop(stub, reply);
}

// vCont;s:p1.1;c — a machine has one time, so all go on; what is stepped, or named alone, says when they stop.  A
// thread is named alone while gdb takes it over a breakpoint, and then gdb expects no other to stop.
void resume_each(Stub *stub, const char *text, GString *reply) {
  Resume how = {.forward = true, .scope = STOPS_OF_ALL};
  for (guint actions = 0; *text == ';'; actions++) {
    const char action = *++text;
    if (!action || !strchr("cCsS", action)) return reply_with(reply, "E01");
    text++;
    guint32 signal, core = ALL;
    if ((action == 'C' || action == 'S') && !gdb_packet_number(&text, &signal)) return reply_with(reply, "E01");
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

// c and s may name an address to go on from, and C and S a signal before it; gdb sends neither address.
void resume_old(Stub *stub, const char *text, GString *reply) {
  const char kind = *text++;
  guint32 signal;
  if ((g_ascii_isupper(kind) && !gdb_packet_number(&text, &signal)) || *text) return reply_with(reply, "E01");
  resume(stub, (Resume){.core = stub->resume, .stepped = g_ascii_tolower(kind) == 's', .forward = true}, reply);
}

void resume_backward(Stub *stub, bool stepped, GString *reply) {
  if (session_is_tied()) {
    g_autofree char *text = g_strdup_printf("%s\n", session_is_tied());
    stub->say(text);
    stub->latest = (Stop){.kind = STOP_BEGINNING, .core = stub->resume};
    return append_stop(stub, reply);
  }
  resume(stub, (Resume){.core = stub->resume, .stepped = stepped}, reply);
}
