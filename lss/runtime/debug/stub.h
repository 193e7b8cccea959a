// The answers to gdb: what each packet of the remote protocol asks of the machine.  Every processor is a process of one
// thread, p1.1, p2.1, …: memory at one address differs from processor to processor.
#ifndef SPINACH_STUB_H
#define SPINACH_STUB_H

#include <glib.h>
#include <stdbool.h>

typedef struct Stub Stub;

typedef enum {
  STUB_GOES_ON,      // more packets may come
  STUB_DETACHED,     // from all processors: the run goes on without gdb
  STUB_KILLED,       // gdb wants the run to end
  STUB_WANTS_EVENTS, // stub_wanted() has to be recorded first; then the packet is to be given again
} StubState;

// `say` sends text that gdb prints, while the machine runs.
Stub *stub_new(void (*say)(const char *text));
void stub_free(Stub *stub);

// Carries out one packet; *reply is the answer, perhaps an empty one.
StubState stub_reply(Stub *stub, const GString *packet, GString *reply);
// What is to be recorded, as --record of the compiler has it (const char*).
const GPtrArray *stub_wanted(const Stub *stub);
// It cannot be recorded, and why: the next packet is answered without it.
void stub_refuse_events(Stub *stub, const char *why);
// What gdb has set, for another process, and back.
#define STUB_TYPE "(auasuuubbbbb(uubuu)vv)"
GVariant *stub_pack(const Stub *stub);
void stub_unpack(Stub *stub, GVariant *packed);
// What the packet is for: no more acknowledgments after this one.
bool stub_is_quiet(const Stub *stub);
// The run is over, and gdb has been told.
bool stub_has_ended(const Stub *stub);
// The connection is gone; what was set is removed.
void stub_forget(Stub *stub);

#endif
