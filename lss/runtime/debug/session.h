// What the answers to gdb know of one session, and the packets that each file of them carries out.
#ifndef SPINACH_DEBUG_SESSION_H
#define SPINACH_DEBUG_SESSION_H

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/gdb_packet.h"
#include "lss/runtime/debug/stop.h"
#include "lss/runtime/debug/stub.h"

enum { MOST_MEMORY = PACKET_SIZE / 2 - 16, ANY = 0, ALL = UINT32_MAX };

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
  GPtrArray *wanted; // events that the packet at hand needs (const char*)
  char *refused;     // why they cannot be recorded; NULL: nobody has tried
};

void reply_with(GString *reply, const char *text);
void cannot(GString *reply, const char *why);
// Why a part among others neither goes back nor is changed; NULL: the machine may be.
const char *session_is_tied(void);
// A processor as gdb names its thread.
void append_thread(const Stub *stub, GString *out, guint core);
// The processor that a thread means: ANY, ALL, or its number; false for none.
bool read_thread(const char **text, guint32 *core);
guint first_attached(const Stub *stub);
// "ADDRESS,COUNT"
bool read_stretch(const char **text, guint32 *address, guint32 *count);

// ---- stub_resume.c

void append_stop(const Stub *stub, GString *reply);             // the latest
void resume_each(Stub *stub, const char *text, GString *reply); // vCont;s:p1.1;c
void resume_old(Stub *stub, const char *text, GString *reply);  // c, C, s, S
void resume_backward(Stub *stub, bool stepped, GString *reply); // bs, bc

// ---- stub_memory.c

void read_registers(const Stub *stub, GString *reply);
void write_registers(const Stub *stub, const char *text, GString *reply);
void read_register(const Stub *stub, const char *text, GString *reply);
void write_register(const Stub *stub, const char *text, GString *reply);
void read_memory(const Stub *stub, const char *text, GString *reply);
void write_memory(const Stub *stub, const GString *packet, bool binary, GString *reply);

// ---- stub_query.c

void query(Stub *stub, const GString *packet, GString *reply); // q, Q

#endif
