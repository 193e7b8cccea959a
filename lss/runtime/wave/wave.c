// Recording the wave of a run; see wave.h.
#include "lss/runtime/wave/wave.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/files/stream_private.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/wave/selection.h"

#include <errno.h>
#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static const WaveFormat *format;
static stream output; // names the file among those of the run
static spinach_trigger from, to;
static WaveSelection selection;
static GPtrArray *states;                // WavePlace*
static GPtrArray **signals;              // per clock: WavePlace*
static uint32_t *clocks;                 // per clock: its variable
static uint64_t *falls;                  // per clock: twice the instant of its falling edge; UINT64_MAX: it is low
static bool full;                        // its time is over
static bool *edges;                      // per clock: it is due at the present instant
static bool began, stepping, everything; // everything: all is written, whatever was before
static uint64_t units;                   // of time in the file, per second
static uint64_t written;                 // latest time in the file
static char *text;                       // room for the longest value

// ---- Time

// The coarsest unit in which all edges fall on whole numbers; femtoseconds, rounded down, when there is none.  Times in
// the file are of 64 bits, and viewers take them to be signed.
static int choose_unit(void) {
  int exponent = 0;
  units = 1;
  for (bool whole = false; !whole && exponent > -15; exponent -= 3, units *= 1000) {
    whole = true;
    for (uint32_t i = 0; i < machine->clock_count; i++) {
      const unsigned __int128 edge = (unsigned __int128)machine->clocks[i].period * units;
      whole &= !machine->clocks[i].rounded && edge % ((unsigned __int128)machine->ticks_per_second * 2) == 0;
    }
    if (whole) break;
  }
  return exponent;
}

// An instant, in ticks, or with `half` half a tick later.
static uint64_t in_units(uint64_t instant, bool half) {
  const unsigned __int128 time = ((unsigned __int128)instant * 2 + half) * units / machine->ticks_per_second / 2;
  return time < INT64_MAX ? (uint64_t)time : INT64_MAX;
}

static void go_to(uint64_t time) {
  if (time == written) return;
  format->time(time);
  written = time;
}

// ---- Values

static char spelled[256][8]; // the bits of a byte

static void spell_bytes(void) {
  for (uint32_t value = 0; value < 256; value++)
    for (uint32_t bit = 0; bit < 8; bit++) spelled[value][7 - bit] = (char)('0' + (value >> bit & 1));
}

// Into `text`, the highest bit first.
static void spell(const uint8_t *value, uint32_t width) {
  const uint32_t whole = width / 8, rest = width % 8;
  memcpy(text, &spelled[rest ? value[whole] : 0][8 - rest], rest);
  for (uint32_t i = 0; i < whole; i++) memcpy(text + rest + 8 * i, spelled[value[whole - 1 - i]], 8);
}

// The bits of a scalar of at most eight bytes.
static uint64_t number_of(const WaveScalar *scalar, const uint8_t *value) {
  uint64_t number = 0;
  memcpy(&number, value, scalar->size); // the hosts are little-endian
  return scalar->width ? number >> scalar->first & UINT64_MAX >> (64 - scalar->width) : number;
}

static bool is_as_before(const WaveScalar *scalar, const uint8_t *value, const uint8_t *before) {
  if (scalar->size > sizeof(uint64_t)) return !memcmp(value, before, scalar->size);
  return number_of(scalar, value) == number_of(scalar, before);
}

static void write_scalar(const WaveScalar *scalar, const uint8_t *value, bool some) {
  if (!scalar->width) {
    double real = __builtin_nan("");
    float single;
    if (some && scalar->type->size == sizeof real) memcpy(&real, value, sizeof real);
    if (some && scalar->type->size == sizeof single) memcpy(&single, value, sizeof single), real = single;
    format->real(scalar->variable, real);
    return;
  }
  const uint64_t number = scalar->size > sizeof(uint64_t) ? 0 : number_of(scalar, value);
  if (some)
    spell(scalar->size > sizeof number ? value : (const uint8_t *)&number, scalar->width);
  else
    memset(text, 'z', scalar->width);
  format->bits(scalar->variable, text, scalar->width);
}

static __attribute__((noinline)) void write_place(WavePlace *place, uint64_t time, bool some) {
  for (guint i = 0; i < place->scalars->len; i++) {
    const WaveScalar *scalar = &g_array_index(place->scalars, WaveScalar, i);
    const uint8_t *value = place->at + scalar->offset;
    if (!everything && place->shown && is_as_before(scalar, value, place->last + scalar->offset)) continue;
    go_to(time);
    write_scalar(scalar, value, some);
  }
  memcpy(place->last, place->at, place->size);
  place->shown = some;
}

static inline bool is_same(const uint8_t *a, const uint8_t *b, uint32_t size) {
  uint64_t left, right;
  for (; size >= sizeof left; a += sizeof left, b += sizeof left, size -= sizeof left) {
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    if (left != right) return false;
  }
  for (; size; a++, b++, size--)
    if (*a != *b) return false;
  return true;
}

// Writes what is new since the last time; where nothing is sent, what was sent last stays.
static inline void look_at(WavePlace *place, uint64_t time) {
  const bool some = !place->some || *place->some;
  if (everything || (some && !(place->shown && is_same(place->at, place->last, place->size))))
    write_place(place, time, some);
}

static void look_at_all(const GPtrArray *places, uint64_t time) {
  for (guint i = 0; i < places->len; i++) look_at(places->pdata[i], time);
}

// ---- Instants

// Falling edges up to an instant, which come half a period after the rising ones.
static void fall_until(uint64_t instant) {
  for (;;) {
    uint32_t first = 0;
    for (uint32_t c = 1; c < machine->clock_count; c++)
      if (falls[c] < falls[first]) first = c;
    if (falls[first] > 2 * instant) return;
    go_to(in_units(falls[first] / 2, falls[first] % 2));
    format->bits(clocks[first], "0", 1);
    falls[first] = UINT64_MAX;
  }
}

static uint64_t present; // instant, in units of the file

static void before_instant(uint64_t instant, const uint64_t *due, bool steps) {
  fall_until(instant);
  present = in_units(instant, false);
  if (present == INT64_MAX) full = true, spinach_stopping |= SPINACH_PAUSE;
  if (everything) go_to(present);
  for (uint32_t c = 0; c < machine->clock_count; c++) {
    edges[c] = due[c] == instant;
    if (edges[c]) {
      go_to(present);
      format->bits(clocks[c], "1", 1);
      falls[c] = instant * 2 + machine->clocks[c].period;
    } else if (everything) {
      format->bits(clocks[c], "0", 1);
    }
  }
  look_at_all(states, present);
  stepping = steps;
}

static void after_instant(void) {
  for (uint32_t c = 0; c < machine->clock_count; c++)
    if (edges[c] || everything) look_at_all(signals[c], present);
  stepping = everything = false;
}

// ---- The file

// Variables in their scopes, in the order of names.
static void declare(void) {
  const char *slash = strrchr(machine->file, '/');
  g_autofree char *top = g_strdup(slash ? slash + 1 : machine->file);
  if (g_str_has_suffix(top, ".lss")) top[strlen(top) - strlen(".lss")] = '\0';
  static const struct spinach_type bit = {SPINACH_BOOL, "bool", 1, sizeof(bool), NULL, 0, 0, NULL};
  format->enter(top, WAVE_MODULE);
  for (uint32_t c = 0; c < machine->clock_count; c++) clocks[c] = format->declare(machine->clocks[c].name, &bit, 1, 0);
  g_autoptr(GPtrArray) open = g_ptr_array_new();
  for (guint i = 0; i < selection.names->len; i++) {
    const WaveName *name = selection.names->pdata[i];
    const guint scopes = name->parts->len - 1;
    guint same = 0;
    while (same < MIN(scopes, open->len) && !strcmp(open->pdata[same], name->parts->pdata[same])) same++;
    for (; open->len > same; g_ptr_array_set_size(open, (gint)open->len - 1)) format->leave();
    for (guint k = same; k < scopes; k++) {
      format->enter(name->parts->pdata[k], k < name->modules                 ? WAVE_MODULE
                                           : k < name->modules + name->ports ? WAVE_PORT
                                                                             : WAVE_STRUCT);
      g_ptr_array_add(open, name->parts->pdata[k]);
    }
    const WavePlace *place = selection.places->pdata[name->place];
    WaveScalar *scalar = &g_array_index(place->scalars, WaveScalar, name->scalar);
    const uint32_t variable =
        format->declare(name->parts->pdata[scopes], scalar->type, scalar->width, scalar->variable);
    if (!scalar->variable) scalar->variable = variable;
  }
  for (guint i = 0; i <= open->len; i++) format->leave();
  format->begin();
}

static bool choose_format(const char *path) {
  if (g_str_has_suffix(path, ".vcd")) return (format = &wave_vcd);
  if (!g_str_has_suffix(path, ".fst"))
    return spinach_report_error("--wave: the name \"%s\" ends neither with .vcd nor with .fst", path);
  if (!wave_has_fst)
    return spinach_report_error("--wave: \"%s\" needs GTKWave's writer of FST, which was not found when Spinach was "
                                "built (Debian: verilator and zlib1g-dev); name a .vcd",
                                path);
  return (format = &wave_fst);
}

static void sort_places(void) {
  const uint32_t count = machine->clock_count;
  states = g_ptr_array_new();
  signals = g_new(GPtrArray *, count);
  for (uint32_t c = 0; c < count; c++) signals[c] = g_ptr_array_new();
  clocks = g_new0(uint32_t, count);
  falls = g_new(uint64_t, count);
  edges = g_new0(bool, count);
  for (uint32_t c = 0; c < count; c++) falls[c] = UINT64_MAX;
  uint32_t longest = 1;
  for (guint i = 0; i < selection.places->len; i++) {
    WavePlace *place = selection.places->pdata[i];
    g_ptr_array_add(place->clock < 0 ? states : signals[place->clock], place);
    for (guint k = 0; k < place->scalars->len; k++)
      longest = MAX(longest, g_array_index(place->scalars, WaveScalar, k).width);
  }
  text = g_malloc0(longest + 1);
}

// Without any, those that the simulator was built for, or all.
static char *patterns_of(const spinach_options *options) {
  if (options->wave_signals) return g_strdup(options->wave_signals);
  return machine->waves[0] ? g_strjoinv(",", (char **)machine->waves) : g_strdup("**");
}

void spinach_wave_add_words(const spinach_options *options, GPtrArray *words) {
  g_autofree char *patterns = options->wave ? patterns_of(options) : NULL;
  if (patterns) wave_add_words(patterns, words);
}

bool spinach_wave_begin(const spinach_options *options) {
  static const spinach_condition start = {.kind = SPINACH_AT_TIME, .text = "0 s"};
  const spinach_condition *first = &options->conditions[SPINACH_WAVE_FROM],
                          *last = &options->conditions[SPINACH_WAVE_TO];
  if (!options->wave) return true;
  if (first->kind == SPINACH_AT_END) return spinach_report_error("--wave-from: no wave begins at the end of the run");
  g_autofree char *patterns = patterns_of(options);
  if (!choose_format(options->wave) || !wave_select(patterns, &selection)) return false;
  sort_places();
  spell_bytes();
  host_file_create(host_file_new(&output, options->wave));
  const HostFile *file = host_file(&output);
  if (format == &wave_fst && !file->whole)
    return spinach_report_error("--wave: \"%s\" is no regular file, which FST needs", options->wave);
  format->open(file->out, file->path, choose_unit());
  declare();
  spinach_trigger_start(&from, first->kind ? first : &start, false);
  spinach_trigger_start(&to, last, false);
  to.after = &from;
  from.prolongs = to.prolongs = false;
  return true;
}

// What was shown last lasts until `instant`.
static void stop(uint64_t instant) {
  fall_until(instant);
  go_to(in_units(instant, false));
  spinach_hooks.before_instant = NULL;
  spinach_hooks.after_instant = NULL;
}

// The run would go on without what it was asked for.
static void end_of_wave(void) {
  full = false;
  g_autofree char *text =
      g_strdup_printf("the wave \"%s\" ends at %.6g s: its times are 64 bits wide, in units of %.3g s "
                      "(end it before that, with --wave-to)",
                      host_file(&output)->path, (double)INT64_MAX / (double)units, 1 / (double)units);
  fprintf(stderr, "%s: error: %s\n", spinach_program, text);
  spinach_set_error(text);
  spinach_stop_reason = spinach_error_text;
  spinach_stopping |= SPINACH_STOP;
  stop(spinach_time.now);
}

void spinach_wave_look(void) {
  if (!format) return;
  if (spinach_trigger_fires(&from)) {
    spinach_hooks.before_instant = before_instant;
    spinach_hooks.after_instant = after_instant;
    everything = began = true;
    written = UINT64_MAX;
  }
  if (spinach_trigger_fires(&to)) stop(spinach_time.now);
  if (full) end_of_wave();
}

bool spinach_wave_end(void) {
  if (!format) return true;
  uint64_t end = spinach_time.now;
  if (stepping) { // an error ended the cycle: it is shown as far as it came
    after_instant();
    end += machine->clocks[spinach_fastest_clock()].period;
  }
  if (spinach_hooks.before_instant) stop(end);
  if (format->close() && began) return true;
  const int code = errno;
  host_file_drop(host_file(&output));
  if (!began)
    return spinach_report_error("error: the run ended before the condition of --wave-from, \"%s\", came true",
                                from.condition->text);
  return spinach_report_error("error: cannot write \"%s\": %s", host_file(&output)->path, g_strerror(code));
}
