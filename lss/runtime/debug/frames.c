// Frames as their events come; see frames.h.
#include "lss/runtime/debug/frames.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/events.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/run_control.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/trace/code_names.h"
#include "lss/runtime/trace/recorder.h"

// Where a frame is.
typedef enum { ON_WIRE, AT_INTERFACE, IN_MEMORY, IN_TRANSFER, BEING_SENT } Place;

typedef struct {
  int64_t number; // as `spinach frames` counts; 0: not yet
  bool send;
  Place place;
  const char *path;        // of the device that it is at
  uint32_t address, bytes; // in memory; 0 bytes: not known
  uint32_t part;           // where its latest transfer began
  uint64_t since;          // instant
} Frame;

// Who computed a number: perhaps an address of a frame.
typedef struct {
  guint core;
  uint32_t pc, word;
  uint64_t instant; // the latest
} Computed;

static const char *const words[] = {"frames", "instructions"};
static GPtrArray *frames;    // Frame*, in the order in which they came
static int64_t counted[2];   // frames that have a number: received, sent
static uint32_t early;       // frames that have arrived, and of which it is not yet known that they were sent,
static uint64_t early_since; // at this instant
static uint32_t first, last; // addresses from which frames were sent; what is read from the host to elsewhere is none
static GHashTable *computed; // number: Computed*
static CodeNames *names;

static Frame *add_frame(const Event *event, bool send, Place place, int64_t address, int64_t bytes) {
  Frame *frame = g_new0(Frame, 1);
  *frame = (Frame){.send = send,
                   .place = place,
                   .path = event->source->path,
                   .address = (uint32_t)address,
                   .part = (uint32_t)address,
                   .bytes = (uint32_t)bytes,
                   .since = event->instant};
  g_ptr_array_add(frames, frame);
  return frame;
}

static void move(Frame *frame, const Event *event, Place place) {
  frame->place = place;
  frame->path = event->source->path;
  frame->since = event->instant;
}

static bool overlaps(const Frame *frame, int64_t address, int64_t bytes) {
  return frame->place >= IN_MEMORY && address < (int64_t)frame->address + frame->bytes &&
         frame->address < address + bytes;
}

// Memory is emptied or filled anew: who computed addresses of it has not dealt with what comes.
static void forget_computed(int64_t address, int64_t length) {
  for (int64_t i = 0; i < length; i++) g_hash_table_remove(computed, GUINT_TO_POINTER((uint32_t)(address + i)));
}

// The oldest in one place or another; NULL: none.
static Frame *oldest(bool send, Place one, Place other) {
  for (guint i = 0; i < frames->len; i++) {
    Frame *frame = frames->pdata[i];
    if (frame->send == send && (frame->place == one || frame->place == other)) return frame;
  }
  return NULL;
}

static Frame *oldest_within(bool send, int64_t address, int64_t bytes) {
  for (guint i = 0; i < frames->len; i++) {
    Frame *frame = frames->pdata[i];
    if (frame->send == send && overlaps(frame, address, bytes)) return frame;
  }
  return NULL;
}

// ---- Events ---------------------------------------------------------------------------------------------------------

static void receive(const Event *event, int64_t address, int64_t length) {
  Frame *frame = oldest(false, ON_WIRE, AT_INTERFACE);
  if (!frame) frame = add_frame(event, false, IN_MEMORY, address, length);
  move(frame, event, IN_MEMORY);
  frame->address = frame->part = (uint32_t)address;
  frame->bytes = (uint32_t)length;
  frame->number = ++counted[false];
  forget_computed(address, length);
}

// A DMA transfer begins or ends.  Memory that is filled anew held nothing that is still to be sent.
static void transfer(const Event *event, bool begins, int64_t outward, int64_t address, int64_t length) {
  Frame *frame = oldest_within(!outward, address, length);
  if (outward && frame && begins) {
    move(frame, event, IN_TRANSFER);
    frame->part = (uint32_t)address;
  }
  if (outward && frame && !begins) {
    forget_computed(frame->address, frame->bytes);
    g_ptr_array_remove(frames, frame);
  }
  if (outward) return;
  const bool known = frame && frame->place == IN_TRANSFER && frame->address == address;
  while (!known && frame && frame->place != BEING_SENT) {
    g_ptr_array_remove(frames, frame);
    frame = oldest_within(true, address, length);
  }
  if (!known) frame = add_frame(event, true, IN_TRANSFER, address, length);
  if (!begins) move(frame, event, IN_MEMORY);
}

// The oldest transfer of a device left nothing, and will begin again.
static void drop_transfer(const Event *event) {
  for (guint i = 0; i < frames->len; i++) {
    Frame *frame = frames->pdata[i];
    if (frame->place != IN_TRANSFER || strcmp(frame->path, event->source->path) != 0) continue;
    if (frame->send)
      g_ptr_array_remove(frames, frame);
    else
      move(frame, event, IN_MEMORY);
    return;
  }
}

// What was read from the host to these addresses is a frame.
static void send(const Event *event, bool begins, int64_t address, int64_t length) {
  Frame *part;
  uint32_t latest = (uint32_t)address;
  first = last ? MIN(first, (uint32_t)address) : (uint32_t)address;
  last = MAX(last, (uint32_t)(address + length));
  while ((part = oldest_within(true, address, length))) {
    latest = part->part;
    g_ptr_array_remove(frames, part);
  }
  if (!begins) forget_computed(address, length);
  if (!begins && early > 0 && early_since == event->instant) {
    early--;
    counted[true]++;
    return;
  }
  Frame *frame = add_frame(event, true, begins ? BEING_SENT : ON_WIRE, address, length);
  frame->part = latest;
  if (!begins) frame->number = ++counted[true];
}

// A frame has left the wire.  The device may report in the same instant, but later, that it has sent it.
static void arrive(const Event *event) {
  Frame *frame = oldest(true, ON_WIRE, ON_WIRE);
  if (frame) {
    g_ptr_array_remove(frames, frame);
    return;
  }
  early = early_since == event->instant ? early + 1 : 1;
  early_since = event->instant;
}

static void compute(const Event *event, int64_t value) {
  int64_t pc, word;
  const guint core = core_around(event->source->path);
  if (!core || !event_number(event, "pc", &pc) || !event_number(event, "word", &word)) return;
  const Computed one = {core, (uint32_t)pc, (uint32_t)word, event->instant};
  g_hash_table_insert(computed, GUINT_TO_POINTER((uint32_t)value), g_memdup2(&one, sizeof one));
}

static void take(const Event *event) {
  const char *what = event->source->event;
  int64_t value = 0, address = 0, length = 0, outward = 0;
  if (!strcmp(what, "retire")) {
    if (event_number(event, "value", &value)) compute(event, value);
    return;
  }
  const bool begins = !strcmp(what, "begun"), has_address = event_number(event, "address", &address),
             has_length = event_number(event, "length", &length);
  Frame *frame = NULL;
  if (!strcmp(what, "playing")) {
    add_frame(event, false, ON_WIRE, 0, length);
  } else if (!strcmp(what, "played")) {
    frame = oldest(false, ON_WIRE, ON_WIRE);
    if (!frame) frame = add_frame(event, false, AT_INTERFACE, 0, length);
    move(frame, event, AT_INTERFACE);
  } else if (!strcmp(what, "received")) {
    receive(event, address, length);
  } else if (!strcmp(what, "drop")) {
    counted[false]++;
    if ((frame = oldest(false, ON_WIRE, AT_INTERFACE))) g_ptr_array_remove(frames, frame);
  } else if ((begins || !strcmp(what, "done")) && event_number(event, "outward", &outward)) {
    transfer(event, begins, outward, address, length);
  } else if (!strcmp(what, "dropped")) {
    drop_transfer(event);
  } else if (has_address && has_length && (begins || !strcmp(what, "sent"))) {
    send(event, begins, address, length);
  } else if (!strcmp(what, "arrived")) {
    arrive(event);
  }
}

// ---- Text -----------------------------------------------------------------------------------------------------------

static double nanoseconds(uint64_t ticks) {
  return (double)ticks * 1e9 / (double)spinach_machine_table.ticks_per_second;
}

static const char *function_of(const Computed *one) {
  const CodePlace *place = code_names_find(names, one->pc, one->word);
  return place ? place->function : NULL;
}

// The function that dealt with it last, and since when.  It computed an address that a device was given: other numbers
// that happen to lie within a frame may be anything.
static void append_handler(GString *out, const Frame *frame) {
  const uint32_t addresses[] = {frame->address, frame->part};
  const Computed *latest = NULL;
  uint64_t since = UINT64_MAX;
  for (guint i = 0; i < G_N_ELEMENTS(addresses); i++) {
    const Computed *one = g_hash_table_lookup(computed, GUINT_TO_POINTER(addresses[i]));
    if (one && function_of(one) && (!latest || one->instant > latest->instant)) latest = one;
  }
  for (guint i = 0; latest && i < G_N_ELEMENTS(addresses); i++) {
    const Computed *one = g_hash_table_lookup(computed, GUINT_TO_POINTER(addresses[i]));
    if (one && one->core == latest->core && !g_strcmp0(function_of(one), function_of(latest)))
      since = MIN(since, one->instant);
  }
  if (!latest) return;
  g_string_append_printf(out, ", handled by %s:%s for %.0f ns", core_of(latest->core)->name, function_of(latest),
                         nanoseconds(spinach_next_instant() - since));
  const CodePlace *place = code_names_find(names, latest->pc, latest->word);
  if (place->inlined_count) g_string_append_printf(out, ", in %s (inlined)", place->inlined[0].function);
}

static void append_frame(GString *out, const Frame *frame) {
  static const char *const places[] = {"on the wire", "at the interface", "in memory", "in transfer", "being sent"};
  const uint64_t now = spinach_next_instant();
  g_autofree char *number = frame->number == 0 ? g_strdup("-") : g_strdup_printf("%" G_GINT64_FORMAT, frame->number);
  g_string_append_printf(out, "%6s %-7s %6u bytes  %s", number, frame->send ? "send" : "receive", frame->bytes,
                         places[frame->place]);
  if (frame->place == IN_TRANSFER)
    g_string_append_printf(out, " %s host by %s", frame->send ? "from" : "to", frame->path);
  if (frame->place == BEING_SENT) g_string_append_printf(out, " by %s", frame->path);
  if (frame->place >= IN_MEMORY) g_string_append_printf(out, " at 0x%08x", frame->address);
  g_string_append_printf(out, " for %.0f ns", nanoseconds(now - frame->since));
  if (frame->place >= IN_MEMORY) append_handler(out, frame);
  g_string_append_c(out, '\n');
}

static void append_all(GString *out) {
  if (history_oldest() > 0)
    g_string_append_printf(out, "since %.0f ns; frames that were there then are known by what became of them since\n",
                           nanoseconds(history_oldest()));
  const gsize before = out->len;
  for (guint i = 0; i < frames->len; i++) {
    const Frame *frame = frames->pdata[i];
    const bool known = !frame->send || frame->place == ON_WIRE || (frame->address < last && frame->address >= first);
    if (known) append_frame(out, frame);
  }
  if (out->len == before) g_string_append(out, "there is no frame\n");
}

static void name_code(void) {
  const char *path;
  if (names) return;
  names = code_names_new();
  for (guint i = 0; (path = spinach_program_path(i)); i++) {
    g_autofree char *bytes = NULL;
    gsize size;
    if (g_file_get_contents(path, &bytes, &size, NULL)) code_names_add(names, path, (guint8 *)bytes, size);
  }
}

static bool has_frames(void) {
  const spinach_machine *machine = &spinach_machine_table;
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->event_count; k++)
      if (!strcmp(layout->events[k].name, "received") || !strcmp(layout->events[k].name, "sent")) return true;
  }
  return false;
}

void frames_print(GString *out, GPtrArray *wanted) {
  if (!has_frames()) {
    g_string_append(out, "nothing in this machine receives or sends frames\n");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (!spinach_recorder_can(words[i])) g_ptr_array_add(wanted, g_strdup(words[i]));
  if (wanted->len) return;
  name_code();
  frames = g_ptr_array_new_with_free_func(g_free);
  computed = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  counted[false] = counted[true] = 0;
  first = last = early = early_since = 0;
  run_control_repeat(take);
  append_all(out);
  g_hash_table_unref(computed);
  g_ptr_array_unref(frames);
}
