// Executes a quantum of instructions on plain data; see quantum.h.
#include "quantum.h"

#include "system_code.h"
#include "system_private.h"

// What executes: its architectural state is that of the processor that is served.  Everything else is decoded code,
// which is compared before it is used, and recent translations, which are forgotten unless those of the processor
// served before are right for this one.
static struct mips_system machine;
static const uint8_t *machine_memory;
static struct mips_code *machine_code;

// The reference that page() was asked about last: read() and write() follow it.
static enum mips_access access_kind;

static uint8_t *page(void *user, uint32_t address, enum mips_access access) {
  const struct mips_quantum *q = user;
  access_kind = access;
  return address < q->size ? q->memory + address : NULL;
}

// The reply to a request; there is none the first time.
static bool serve(struct mips_quantum *q, struct mips_quantum_request request, uint32_t *value) {
  const struct mips_quantum_reply *reply = request.access == MIPS_FETCH ? &q->fetched : &q->referred;
  if (!reply->present) {
    q->request = request;
    mips_system_postpone(&machine);
    return false;
  }
  *value = reply->value;
  return !reply->error;
}

static bool read(void *user, uint32_t address, unsigned size, bool cached, uint32_t *value) {
  (void)cached;
  return serve(
      user,
      (struct mips_quantum_request){.present = true, .access = access_kind, .address = address, .size = (uint8_t)size},
      value);
}

static bool write(void *user, uint32_t address, unsigned size, bool cached, uint32_t value) {
  uint32_t unused;
  (void)cached;
  return serve(user,
               (struct mips_quantum_request){
                   .present = true, .access = MIPS_STORE, .address = address, .size = (uint8_t)size, .value = value},
               &unused);
}

static void marker(void *user, uint32_t number) {
  struct mips_quantum *q = user;
  q->marker = number;
  mips_system_stop(&machine);
}

static void mode(void *user, bool user_mode) {
  struct mips_quantum *q = user;
  q->mode[q->modes++] = (struct mips_quantum_mode){.cycle = machine.cpu.cycle, .user = user_mode};
  if (q->modes == MIPS_QUANTUM_MODES) mips_system_stop(&machine);
}

// Whether what the machine remembers of translations holds for another state.
static bool same_translations(const struct mips_quantum *q) {
  const struct mips_architecture *mine = &machine.cpu, *theirs = q->cpu;
  const uint32_t status = mine->cp0[MIPS_CP0_Status] ^ theirs->cp0[MIPS_CP0_Status];
  const uint32_t space = mine->cp0[MIPS_CP0_EntryHi] ^ theirs->cp0[MIPS_CP0_EntryHi];
  return machine_memory == q->memory && !(status & MIPS_STATUS_ERL) && !(space & MIPS_ENTRYHI_ASID) &&
         memcmp(mine->tlb, theirs->tlb, sizeof mine->tlb) == 0;
}

static bool same_options(const struct mips_system_options *a, const struct mips_system_options *b) {
  return a->big_endian == b->big_endian && a->user_local == b->user_local && a->bare == b->bare &&
         a->tlb_entries == b->tlb_entries && a->count_divider == b->count_divider && a->prid == b->prid &&
         memcmp(&a->icache, &b->icache, sizeof a->icache) == 0 && memcmp(&a->dcache, &b->dcache, sizeof a->dcache) == 0;
}

// The machine becomes the processor that is served.
static void assume(struct mips_quantum *q) {
  const struct mips_environment environment = {.user = q, .page = page, .read = read, .write = write, .marker = marker};
  if (machine.environment.page == NULL || !same_options(&machine.options, q->options)) {
    mips_system_init(&machine, *q->options, environment);
    machine_memory = NULL;
    if (machine_code == NULL) machine_code = mips_code_new();
    machine.code = machine_code;
    mips_code_clear(&machine);
  }
  const bool same = same_translations(q);
  machine.environment = environment;
  machine.cpu = *q->cpu;
  memset(&machine.statistics, 0, sizeof machine.statistics);
  if (!same) mips_forget_windows(&machine);
  machine_memory = q->memory;
  mips_status_changed(&machine);
  machine.environment.mode = mode; // the mode that it begins in is no change
}

// Executes the instruction whose replies are known; its word is kept while what it loads or stores is not.
static enum mips_pause finish(struct mips_quantum *q) {
  const enum mips_pause pause = mips_system_finish(&machine);
  q->fetched.present = q->fetched.present && q->request.present;
  q->referred.present = false;
  return pause;
}

enum mips_pause mips_quantum_run(struct mips_quantum *q) {
  enum mips_pause pause = MIPS_PAUSE_CYCLE;
  q->request.present = false;
  q->marker = 0;
  q->modes = 0;
  assume(q);
  if (q->fetched.present || q->referred.present) pause = finish(q);
  if (pause == MIPS_PAUSE_CYCLE)
    pause = q->to_pc ? mips_system_run_to(&machine, q->until, q->pc) : mips_system_run(&machine, q->until);
  *q->cpu = machine.cpu;
  q->statistics = machine.statistics;
  return pause;
}

void mips_quantum_reset(const struct mips_system_options *options, struct mips_architecture *cpu) {
  mips_system_init(&machine, *options, (struct mips_environment){0});
  *cpu = machine.cpu;
}
