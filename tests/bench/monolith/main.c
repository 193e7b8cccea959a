// Runs the monolithic core on a big-endian MIPS ELF file.  With several cores each has its own scratchpad and all run
// the same program.  See core.h for what is modelled.
#include "core.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <time.h>

const Decoded undecoded = {.rd = NO_REGISTER};

static _Noreturn void fail(const char *name, const char *why) {
  fprintf(stderr, "monolith: %s: %s\n", name, why);
  exit(1);
}

static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  if (!memory) fail("memory", "not enough");
  return memset(memory, 0, bytes);
}

// Reads a whole file; the caller frees it.
static uint8_t *read_file(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (!file) fail(name, strerror(errno));
  if (fseek(file, 0, SEEK_END) || (long)(*size = (size_t)ftell(file)) < 0) fail(name, strerror(errno));
  rewind(file);
  uint8_t *bytes = allocate(*size + 1);
  if (fread(bytes, 1, *size, file) != *size) fail(name, "cannot be read whole");
  fclose(file);
  return bytes;
}

// Copies the loadable segments of an ELF32 big-endian file into memory and returns the entry address.
static uint32_t load_elf(const char *name, uint8_t *memory, uint32_t memory_size) {
  size_t size;
  uint8_t *elf = read_file(name, &size);
  if (size < 52 || memcmp(elf, "\177ELF\1\2", 6) || load16(elf + 18) != 8)
    fail(name, "not an ELF32 big-endian MIPS file");
  uint32_t entry = load32(elf + 24), headers = load32(elf + 28), entry_size = load16(elf + 42),
           count = load16(elf + 44);
  if (entry_size < 32 || headers > size || (uint64_t)count * entry_size > size - headers)
    fail(name, "program headers outside the file");
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *h = elf + headers + i * entry_size;
    uint32_t type = load32(h), offset = load32(h + 4), address = load32(h + 12), in_file = load32(h + 16),
             in_memory = load32(h + 20);
    if (type != 1 || !in_memory) continue;
    if (offset > size || in_file > size - offset || in_file > in_memory) fail(name, "segment outside the file");
    if (address > memory_size || in_memory > memory_size - address) fail(name, "segment outside the scratchpad");
    memcpy(memory + address, elf + offset, in_file);
  }
  free(elf);
  return entry;
}

static void reset(Core *core, const char *program, uint32_t size) {
  *core = (Core){.size = size, .skid = &bubble, .f = &bubble, .x = &bubble, .m = &bubble, .w = &bubble};
  core->r = allocate((NO_REGISTER + 1) * sizeof *core->r);
  core->fault = allocate(sizeof *core->fault);
  core->fresh = allocate(FRESH * sizeof *core->fresh);
  core->bytes = allocate(size + 4);
  core->decoded = allocate(sizeof *core->decoded * (size / 4));
  for (uint32_t i = 0; i < size / 4; i++) core->decoded[i] = &undecoded;
  core->pc = load_elf(program, core->bytes, size);
  core->next = core->pc + 4;
}

// Runs until the core's end or until it stops.  A single core is stepped on a copy whose address nobody knows, so that
// the compiler may keep latches in registers.
static __attribute__((noinline)) void run_one(Core *core) {
  Core c = *core;
  while (c.cycle < c.end) step(&c, false, NULL);
  *core = c;
}

static __attribute__((noinline)) void run_anew(Core *core) {
  while (core->cycle < core->end) step(core, true, NULL);
}

static __attribute__((noinline)) void run_traced(Core *core, FILE *trace) {
  while (core->cycle < core->end) step(core, false, trace);
}

static __attribute__((noinline)) void run_many(Core *cores, int count, uint64_t end) {
  for (uint64_t cycle = 0; cycle < end; cycle++) {
    for (int i = 0; i < count; i++) {
      step(&cores[i], false, NULL);
      if (__builtin_expect(cores[i].stopped != NULL, 0)) return;
    }
  }
}

static uint64_t number(const char *option, const char *text) {
  char *rest;
  errno = 0;
  unsigned long long value = strtoull(text, &rest, 0);
  if (errno || *rest || rest == text || *text == '-') fail(option, "takes a number");
  return value;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"cores", required_argument, NULL, 'n'}, {"cycles", required_argument, NULL, 'c'},
      {"trace", required_argument, NULL, 't'}, {"decode-anew", no_argument, NULL, 'a'},
      {"size", required_argument, NULL, 's'},  {"state", no_argument, NULL, 'S'},
      {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
  uint64_t cycles = 100000000, size = 65536;
  int cores = 1;
  bool anew = false, state = false;
  const char *trace = NULL;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (o == 'n')
      cores = (int)number("--cores", optarg);
    else if (o == 'c')
      cycles = number("--cycles", optarg);
    else if (o == 's')
      size = number("--size", optarg);
    else if (o == 't')
      trace = optarg;
    else if (o == 'a')
      anew = true;
    else if (o == 'S')
      state = true;
    else {
      fprintf(
          o == 'h' ? stdout : stderr,
          "monolith [--cycles N] [--cores N] [--size BYTES] [--decode-anew] [--trace FILE] [--state] PROGRAM.elf\n");
      return o == 'h' ? 0 : 2;
    }
  }
  if (optind != argc - 1) fail("command line", "exactly one program is needed");
  if (cores < 1 || cores > 64) fail("--cores", "between 1 and 64");
  if (size < 1024 || size > 1u << 24 || size % 4) fail("--size", "between 1024 and 16777216, a multiple of 4");
  if ((anew || trace) && cores > 1) fail("--cores", "only 1 together with --trace or --decode-anew");

  Core *core = allocate(sizeof *core * (size_t)cores);
  for (int i = 0; i < cores; i++) {
    reset(&core[i], argv[optind], (uint32_t)size);
    core[i].end = cycles;
  }
  FILE *trace_file = NULL;
  if (trace && !(trace_file = strcmp(trace, "-") ? fopen(trace, "w") : stdout)) fail(trace, strerror(errno));

  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  if (trace_file)
    run_traced(core, trace_file);
  else if (anew)
    run_anew(core);
  else if (cores == 1)
    run_one(core);
  else
    run_many(core, cores, cycles);
  clock_gettime(CLOCK_MONOTONIC, &to);
  if (trace_file && trace_file != stdout && fclose(trace_file)) fail(trace, strerror(errno));

  double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
  fprintf(stderr,
          "{\"cycles\": %llu, \"retired\": %llu, \"cores\": %d, \"seconds\": %.6f, \"ns_per_core_cycle\": %.4f, "
          "\"stopped\": \"%s\"}\n",
          (unsigned long long)core->cycle, (unsigned long long)core->retired, cores, seconds,
          seconds * 1e9 / ((double)core->cycle * cores), core->stopped ? core->stopped : "");
  if (state) {
    for (int i = 0; i < 32; i++) printf("r%d %08x\n", i, core->r[i]);
    printf("hi %08x\nlo %08x\npc %08x\n", core->hi, core->lo, core->w->pc);
  }
  return 0;
}
