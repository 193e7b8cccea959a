// A machine that fuzzers debug; see two_processors.h.
#include "tests/fuzz/two_processors.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/files/stream.h"
#include "lss/runtime/replay/replay.h"
#include "lss/runtime/trace/record.h"

#include <stdlib.h>

enum { CORES = 2, MEMORY = 256, CYCLES = 3000 };

typedef struct {
  uint32_t id, pc, fetch_pc, fetching;
  uint64_t retired, in_flight;
  bool halt, pc_set, branch_pending;
  uint8_t registers[128], memory[MEMORY];
} State;

static const struct spinach_type byte = {SPINACH_UINT, "uint8", 8, 1, NULL, 0, 0, NULL},
                                 word = {SPINACH_UINT, "uint32", 32, 4, NULL, 0, 0, NULL},
                                 count = {SPINACH_UINT, "uint64", 64, 8, NULL, 0, 0, NULL},
                                 truth = {SPINACH_BOOL, "bool", 1, 1, NULL, 0, 0, NULL};
#define FIELD(name, type) {#name, "", NULL, &type, offsetof(State, name), 0, {0}, false, false}
static const spinach_field fields[] = {
    FIELD(pc, word),
    FIELD(fetch_pc, word),
    FIELD(fetching, word),
    FIELD(retired, count),
    FIELD(in_flight, count),
    FIELD(halt, truth),
    FIELD(pc_set, truth),
    FIELD(branch_pending, truth),
    {"registers", "", NULL, &byte, offsetof(State, registers), 1, {128}, false, false},
    {"memory", "", NULL, &byte, offsetof(State, memory), 1, {MEMORY}, false, false},
};
static const spinach_argument access_arguments[] = {{"pc", &word}, {"address", &word}, {"size", &byte}, {NULL, NULL}};
static const spinach_event events[] = {{"access", "uint32 pc, uint32 address, uint8 size", "", access_arguments}};
static const spinach_layout layout = {
    "core", sizeof(State), offsetof(State, id), G_N_ELEMENTS(fields), fields, G_N_ELEMENTS(events), events};
static const spinach_instance instances[] = {
    {"", NULL, 0, -1, -1, 0}, {"core[0]", &layout, 0, 0, 0, 0}, {"core[1]", &layout, 0, 1, 0, 0}};

#define ROLE(name, i, n) {name, {i, &fields[n], 0, 1}, {0}}
#define ROLES(i)                                                                                                       \
  {                                                                                                                    \
    ROLE("pc", i, 0), ROLE("fetch_pc", i, 1), ROLE("fetching", i, 2), ROLE("retired", i, 3), ROLE("in_flight", i, 4),  \
        ROLE("halt", i, 5), ROLE("pc_set", i, 6), ROLE("branch_pending", i, 7), {                                      \
      "registers", {i, &fields[8], 0, 128}, {0}                                                                        \
    }                                                                                                                  \
  }
static const spinach_debug_role roles[CORES][9] = {ROLES(1), ROLES(2)};
static const spinach_debug_property properties[CORES][2] = {{{"isa", "mips"}, {"big_endian", "true"}},
                                                            {{"isa", "riscv32"}, {"big_endian", "false"}}};
static const spinach_debug_region regions[CORES] = {{0x1000, 0x10ff, {1, &fields[9], 0, MEMORY}, 0, NULL},
                                                    {0x1000, 0x13ff, {2, &fields[9], 0, MEMORY}, 0, NULL}};
static const spinach_debug_view views[] = {{"cpu", 1, 9, roles[0], 2, properties[0], 1, &regions[0]},
                                           {"cpu", 2, 9, roles[1], 2, properties[1], 1, &regions[1]}};
static const spinach_clock clocks[] = {{"clk", 1, 1, 1}};
static const spinach_cluster clusters[] = {{sizeof(State), NULL, NULL, NULL, NULL},
                                           {sizeof(State), NULL, NULL, NULL, NULL}};
static const char *const nothing[] = {NULL}, *const records[] = {"memory", NULL};
void *spinach_cluster_state[CORES];
spinach_watch spinach_watches[1];

static void do_nothing(void) {}

static void emit_access(const State *state, uint32_t address) {
  const uint8_t size = 1;
  uint8_t *at = spinach_record(spinach_recorder.instances[state->id], sizeof state->pc + sizeof address + sizeof size);
  memcpy(at, &state->pc, sizeof state->pc);
  memcpy(at + sizeof state->pc, &address, sizeof address);
  memcpy(at + sizeof state->pc + sizeof address, &size, sizeof size);
}

static void run(uint64_t *cycles, uint64_t *due, const uint64_t *period, int clock, uint64_t end, uint64_t until) {
  (void)clock;
  for (; *cycles < end && *due < until; ++*cycles, *due += *period)
    for (int i = 0; i < CORES; i++) {
      State *state = spinach_cluster_state[i];
      if (state->halt) continue;
      state->pc = state->fetch_pc;
      state->fetch_pc = 0x1000 + (state->pc + 4) % MEMORY;
      spinach_time.now = *due;
      if (spinach_recorder.on) emit_access(state, 0x1000 + (uint32_t)(state->retired % MEMORY));
      state->memory[state->retired++ % MEMORY]++;
    }
}

spinach_replay *const spinach_replays[] = {NULL};
const spinach_machine spinach_machine_table = {.file = "fuzz.lss",
                                               .version = "",
                                               .build = "",
                                               .ticks_per_second = 1000000,
                                               .instance_count = 1 + CORES,
                                               .clock_count = 1,
                                               .view_count = CORES,
                                               .cluster_count = CORES,
                                               .instances = instances,
                                               .clocks = clocks,
                                               .views = views,
                                               .clusters = clusters,
                                               .sources = nothing,
                                               .join = do_nothing,
                                               .wake = do_nothing,
                                               .run = run,
                                               .shared_start = do_nothing,
                                               .shared_report = do_nothing,
                                               .watches = nothing,
                                               .records = records};

// ---- Of the program around it

static const char *run_begin(void) {
  if (spinach_cycles(0) >= CYCLES) return "all cycles were simulated";
  spinach_advance_begin(0, CYCLES, UINT64_MAX, (struct spinach_slice){64, 64}, false);
  return NULL;
}

static char *run_stuck(void) {
  return NULL;
}

static const char *run_end_stuck(const char *text) {
  (void)text;
  abort();
}

static int end_run(const char *ended) {
  (void)ended;
  abort();
}

static double run_share(void) {
  return (double)spinach_cycles(0) / CYCLES;
}

static uint8_t *begin;

void two_processors_begin(const spinach_options *options) {
  run_conduct = (RunConduct){options, run_begin, run_stuck, run_end_stuck, run_share};
  spinach_on_end = end_run;
  spinach_arena_map();
  spinach_phase = SPINACH_RUNS;
  spinach_start();
  for (int i = 0; i < CORES; i++) ((State *)spinach_cluster_state[i])->fetch_pc = 0x1000;
  begin = g_memdup2(spinach_arena, spinach_arena_size);
}

void two_processors_again(void) {
  memcpy(spinach_arena, begin, spinach_arena_size);
  const struct spinach_moment start = {.stop_reason = ""};
  spinach_rewind(&start);
}
