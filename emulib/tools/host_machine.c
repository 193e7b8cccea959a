// The functional host machine: memory, address map, interrupts, time; see host_machine.h.
#include "host_machine.h"
#include "host/registers.h" // the address map of examples/host
#include "mips/system_code.h"

#include <string.h>

enum { UART_LINE = 4, UART_STRIDE = 8, UART_CLOCK_HZ = 3686400, POWER_OFF = 0x42 };

typedef enum { NOTHING, PCI_CONFIGURATION, POWER, UART, CLOCK, VIRTIO } Device;

static const struct {
  guint32 base, size;
  Device device;
} map[] = {
    {MAP_PCI_CONFIGURATION_BASE, MAP_PCI_CONFIGURATION_SIZE, PCI_CONFIGURATION},
    {MAP_POWER_BASE, MAP_POWER_SIZE, POWER},
    {MAP_UART_BASE, MAP_UART_SIZE, UART},
    {MAP_RTC_BASE, MAP_RTC_SIZE, CLOCK},
    {MAP_VIRTIO_BASE, MAP_VIRTIO_SIZE, VIRTIO},
};

G_STATIC_ASSERT(MAP_RTC_SIZE == DS1742_SIZE && MAP_UART_SIZE == 8 * UART_STRIDE);

static Device find(guint32 address, unsigned size, guint32 *offset) {
  for (gsize n = 0; n < G_N_ELEMENTS(map); n++)
    if (address >= map[n].base && address - map[n].base + size <= map[n].size) {
      *offset = address - map[n].base;
      return map[n].device;
    }
  return NOTHING;
}

static gint64 seconds(const HostMachine *machine) {
  return (gint64)(machine->cpu.cpu.cycle / HOST_CLOCK_HZ);
}

// `size` bytes of RAM or ROM, or NULL.
static guint8 *memory(HostMachine *machine, guint32 address, gsize size) {
  if (address < machine->ram_size && size <= machine->ram_size - address) return machine->ram + address;
  if (address >= MAP_ROM_BASE && address - MAP_ROM_BASE < MAP_ROM_SIZE &&
      size <= MAP_ROM_SIZE - (address - MAP_ROM_BASE))
    return machine->rom + (address - MAP_ROM_BASE);
  return NULL;
}

static uint8_t *page(void *user, uint32_t address, enum mips_access access) {
  if (access == MIPS_STORE && address >= MAP_ROM_BASE) return NULL;
  return memory(user, address, MIPS_PAGE);
}

static guint8 read_byte(HostMachine *machine, Device device, guint32 offset) {
  switch (device) {
  case PCI_CONFIGURATION: return 0xff;
  case UART: return offset % UART_STRIDE == 0 ? uart16550_read(&machine->uart, offset / UART_STRIDE) : 0;
  case CLOCK: return clock_ds1742_read(&machine->clock, seconds(machine), offset);
  case POWER: return offset < 4 ? 0 : (guint8)(machine->power_status >> 8 * (offset - 4));
  default: return 0;
  }
}

static void end(HostMachine *machine) {
  machine->ended = TRUE;
  for (guint n = 0; n < machine->mvp.vpes; n++) mips_system_stop(machine->mvp.vpe[n]);
}

static void write_byte(HostMachine *machine, Device device, guint32 offset, guint8 value) {
  switch (device) {
  case UART:
    if (offset % UART_STRIDE == 0) uart16550_write(&machine->uart, offset / UART_STRIDE, value);
    return;
  case CLOCK: clock_ds1742_write(&machine->clock, seconds(machine), offset, value); return;
  case POWER:
    if (offset >= 4) {
      const unsigned shift = 8 * (offset - 4);
      machine->power_status = (machine->power_status & ~(0xffu << shift)) | (guint32)value << shift;
    } else if (offset == 0 && value == POWER_OFF) {
      end(machine);
    }
    return;
  default: return;
  }
}

static void update_lines(HostMachine *machine) {
  for (guint n = 0; n < machine->mvp.vpes; n++)
    mips_system_interrupt(machine->mvp.vpe[n], UART_LINE, uart16550_interrupts(&machine->uart));
}

static bool read_device(void *user, uint32_t address, unsigned size, G_GNUC_UNUSED bool cached, uint32_t *value) {
  HostMachine *machine = user;
  guint32 offset;
  const Device device = find(address, size, &offset);
  if (device == NOTHING) return false;
  *value = 0;
  for (unsigned n = 0; n < size; n++)
    *value |= (uint32_t)read_byte(machine, device, offset + n)
              << 8 * (machine->cpu.options.big_endian ? size - 1 - n : n);
  update_lines(machine);
  return true;
}

static bool write_device(void *user, uint32_t address, unsigned size, G_GNUC_UNUSED bool cached, uint32_t value) {
  HostMachine *machine = user;
  guint32 offset;
  const Device device = find(address, size, &offset);
  if (device == NOTHING) return memory(machine, address, size) != NULL; // ROM keeps what it has
  for (unsigned n = 0; n < size; n++)
    write_byte(machine, device, offset + n,
               (guint8)(value >> 8 * (machine->cpu.options.big_endian ? size - 1 - n : n)));
  update_lines(machine);
  return true;
}

static void print(void *user, guint8 character) {
  HostMachine *machine = user;
  if (machine->script.text != NULL && console_script_printed(machine->script, &machine->progress, character))
    machine->script_time = machine->cpu.cpu.cycle;
  if (!machine->output(machine->user, character)) end(machine);
}

static uint32_t thread(void *user, const struct mips_system *m, struct mips_thread_request request) {
  HostMachine *machine = user;
  return mips_mvp_thread(&machine->mvp, m, request);
}

// Several VPEs are those of a 34K.
static void init_processor(HostMachine *machine, gboolean big_endian, guint vpes) {
  enum { PRID_34K = 0x00019500 };
  const struct mips_environment environment = {
      .user = machine, .page = page, .read = read_device, .write = write_device, .thread = thread};
  struct mips_system_options options = mips_system_4kec(big_endian);
  mips_mvp_init(&machine->mvp, MAX(vpes, 1));
  if (vpes > 0) options.prid = PRID_34K;
  options.vpes = (guint8)vpes;
  machine->others = g_new0(struct mips_system, machine->mvp.vpes - 1u);
  for (guint n = 0; n < machine->mvp.vpes; n++) {
    machine->mvp.vpe[n] = n == 0 ? &machine->cpu : &machine->others[n - 1];
    options.vpe = (guint8)n;
    mips_system_init(machine->mvp.vpe[n], options, environment);
    machine->mvp.vpe[n]->code = mips_code_new();
  }
}

HostMachine *host_machine_new(gboolean big_endian, guint vpes, guint32 ram_size,
                              gboolean (*output)(void *user, guint8 character), void *user) {
  enum { START = 1767225600 }; // 2026-01-01 00:00:00
  HostMachine *machine = g_new0(HostMachine, 1);
  machine->ram_size = ram_size;
  machine->ram = g_malloc0(ram_size);
  machine->rom = g_malloc0(MAP_ROM_SIZE);
  machine->output = output;
  machine->user = user;
  uart16550_init(&machine->uart, print, machine);
  clock_ds1742_init(&machine->clock, START);
  init_processor(machine, big_endian, vpes);
  return machine;
}

void host_machine_free(HostMachine *machine) {
  if (machine == NULL) return;
  uart16550_clear(&machine->uart);
  host_machine_interpret(machine);
  g_free(machine->others);
  g_free(machine->ram);
  g_free(machine->rom);
  g_free(machine);
}

void host_machine_interpret(HostMachine *machine) {
  for (guint n = 0; n < machine->mvp.vpes; n++) {
    mips_code_free(machine->mvp.vpe[n]->code);
    machine->mvp.vpe[n]->code = NULL;
  }
}

gboolean host_machine_place(HostMachine *machine, const char *what, const char *path, guint32 address,
                            const guint8 *bytes, gsize size, GError **error) {
  guint8 *to = memory(machine, address, size);
  if (to == NULL) {
    g_set_error(error, PROGRAM_ERROR, PROGRAM_ERROR_FORMAT,
                "%s: %s: %" G_GSIZE_FORMAT " bytes at physical address 0x%08x are not within RAM of %u MiB or the boot "
                "ROM",
                path, what, size, address, machine->ram_size >> 20);
    return FALSE;
  }
  memcpy(to, bytes, size);
  return TRUE;
}

// What kseg0 and kseg1 are windows of.
static guint32 physical(guint32 address) {
  return address >> 30 == 2 ? address & 0x1fffffff : address;
}

gboolean host_machine_load(HostMachine *machine, const Program *program, GError **error) {
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize n = 0; n < count; n++) {
    g_autofree guint8 *bytes = g_malloc0(segments[n].size);
    memcpy(bytes, segments[n].bytes, segments[n].loaded);
    if (!host_machine_place(machine, "a segment", program_path(program), physical(segments[n].address), bytes,
                            segments[n].size, error))
      return FALSE;
  }
  return TRUE;
}

// Ten bits, each of 16 ticks of the divided clock.
static guint64 character_time(const HostMachine *machine) {
  return 160ull * MAX(machine->uart.divisor, 1) * HOST_CLOCK_HZ / UART_CLOCK_HZ;
}

// Gives the UART what has arrived by now; the cycle in which more does.
static guint64 receive(HostMachine *machine) {
  enum { SECOND = 1000000000 };
  if (machine->script.text == NULL) return G_MAXUINT64;
  guint64 ns, arrival;
  for (;; machine->script_time = arrival) {
    const ConsoleStep step = console_script_next(machine->script, &machine->progress, &ns);
    machine->script_time += ns / SECOND * HOST_CLOCK_HZ + ns % SECOND * HOST_CLOCK_HZ / SECOND;
    arrival = step == CONSOLE_SENDS ? machine->script_time + character_time(machine) : G_MAXUINT64;
    if (arrival > machine->cpu.cpu.cycle) break;
    uart16550_receive(&machine->uart, console_script_take(machine->script, &machine->progress));
  }
  update_lines(machine);
  return arrival;
}

// The next cycle in which a VPE that waits may have an interrupt.
static guint64 next_interrupt(const HostMachine *machine, guint vpe, guint64 arrival) {
  const struct mips_system *cpu = machine->mvp.vpe[vpe];
  const guint32 enabled = cpu->cpu.cp0[MIPS_CP0_Status] >> MIPS_CAUSE_IP_SHIFT;
  const guint64 timer = enabled >> 7 & 1 ? mips_system_next_event(cpu) : G_MAXUINT64;
  return MIN(timer, enabled >> UART_LINE & 1 ? arrival : G_MAXUINT64);
}

typedef struct {
  HostObserver observe;
  void *user;
} Run;

static enum mips_pause run_until(HostMachine *machine, guint vpe, guint64 until, const Run *run) {
  struct mips_step did;
  struct mips_system *cpu = machine->mvp.vpe[vpe];
  if (run->observe == NULL) return mips_system_run(cpu, until);
  const enum mips_pause pause = mips_system_step(cpu, &did);
  if (pause == MIPS_PAUSE_CYCLE) run->observe(run->user, vpe, &did);
  return pause;
}

static void pass_until(struct mips_system *cpu, guint64 until) {
  if (until > cpu->cpu.cycle) mips_system_pass(cpu, until - cpu->cpu.cycle);
}

// Brings a VPE to a cycle, unless the run ends before.  True: it executes nothing; one of several that waits only part
// of the time lets it pass.
static gboolean bring(HostMachine *machine, guint vpe, guint64 until, guint64 arrival, const Run *run) {
  struct mips_system *cpu = machine->mvp.vpe[vpe];
  const guint64 before = mips_system_retired(cpu);
  while (cpu->cpu.cycle < until && !machine->ended) {
    const gboolean executes = mips_mvp_executes(&machine->mvp, vpe);
    if (executes && run_until(machine, vpe, until, run) != MIPS_PAUSE_WAITING) continue;
    const guint64 next = executes ? next_interrupt(machine, vpe, arrival) : G_MAXUINT64;
    if (machine->mvp.vpes == 1 || (next >= until && mips_system_retired(cpu) == before)) return TRUE;
    pass_until(cpu, MIN(next, until));
  }
  return FALSE;
}

// Lets a slice of time pass; true: nobody executes anything.
static gboolean run_slice(HostMachine *machine, guint64 until, guint64 arrival, const Run *run) {
  const guint vpes = machine->mvp.vpes;
  gboolean idle = TRUE;
  for (guint n = 0; n < vpes; n++) {
    if (vpes > 1) machine->mvp.vpe[n]->cpu.linked = false; // others have written
    idle &= bring(machine, n, until, arrival, run);
  }
  for (guint n = 0; n < vpes && vpes > 1 && !idle; n++) pass_until(machine->mvp.vpe[n], until);
  return idle;
}

guint64 host_machine_retired(const HostMachine *machine) {
  guint64 retired = 0;
  for (guint n = 0; n < machine->mvp.vpes; n++) retired += mips_system_retired(machine->mvp.vpe[n]);
  return retired;
}

HostEnd host_machine_run(HostMachine *machine, guint64 instructions, HostObserver observe, void *user) {
  // A character that the script types in reply arrives a character time later, and VPEs take turns; runs are cut no
  // coarser than that.
  enum { SLICE = 1000 };
  const Run run = {.observe = observe, .user = user};
  const guint vpes = machine->mvp.vpes;
  for (;;) {
    const guint64 retired = host_machine_retired(machine), now = machine->cpu.cpu.cycle;
    if (machine->ended) return HOST_ENDED;
    if (retired >= instructions) return HOST_LIMIT;
    const guint64 left = (instructions - retired - 1) / vpes + 1;
    const guint64 arrival = receive(machine);
    guint64 until = left > G_MAXUINT64 - now ? G_MAXUINT64 : now + left, next = G_MAXUINT64;
    if (machine->script.text != NULL) until = MIN(until, MIN(arrival, now + SLICE));
    if (vpes > 1) until = MIN(until, now + SLICE);
    if (!run_slice(machine, until, arrival, &run)) continue;
    const guint64 arrives = receive(machine);
    for (guint n = 0; n < vpes; n++)
      if (mips_mvp_executes(&machine->mvp, n)) next = MIN(next, next_interrupt(machine, n, arrives));
    if (next == G_MAXUINT64) return HOST_WAITING;
    for (guint n = 0; n < vpes; n++) pass_until(machine->mvp.vpe[n], next);
  }
}
