// A functional machine around the functional system: RAM, boot ROM, and the devices that an operating system needs to
// come up, at the addresses of the host machine.
//
//   0x00000000  RAM
//   0x1b000000  PCI configuration space of bus 0: no function is there, reads are all ones
//   0x1f000500  power: 0x42 ends the run, with the status that was written to +4
//   0x1f000900  ns16550a, a register every 8 bytes, IP4
//   0x1f001000  clock and memory, Maxim DS1742
//   0x1f002000  two slots for virtio devices, both empty: they read 0
//   0x1fc00000  boot ROM, 4 KiB
//
// It has one processor, or one of several VPEs (MT ASE), which all get the interrupts of devices.
//
// Everything else is a bus error.  Devices are little-endian; for a big-endian processor numbers keep the order of
// their bytes.  Time is the number of cycles that the processor has done.
#ifndef EMULIB_HOST_MACHINE_H
#define EMULIB_HOST_MACHINE_H

#include "clock_ds1742.h"
#include "console_script.h"
#include "mips/mvp.h"
#include "program/program.h"
#include "uart16550.h"

enum { HOST_CLOCK_HZ = 200000000 };

typedef struct {
  struct mips_system cpu;     // the processor, or its first VPE,
  struct mips_system *others; // and the others
  struct mips_mvp mvp;        // which these are, without VPEs the processor alone
  guint8 *ram, *rom;
  guint32 ram_size;
  Uart16550 uart;
  ClockDs1742 clock;
  gboolean (*output)(void *user, guint8 character);
  void *user;           // of output
  ConsoleScript script; // what types at the UART, or no text; its owner's
  ConsoleProgress progress;
  guint64 script_time;  // cycle in which its step before, or the last character of that, was done
  guint32 power_status; // what was written to +4
  gboolean ended;       // power was switched off, or the output has ended it
} HostMachine;

// `output` gets what the UART sends, and ends the run by FALSE.  `vpes` up to MIPS_VPES_MOST; 0: a processor without
// the MT ASE.
HostMachine *host_machine_new(gboolean big_endian, guint vpes, guint32 ram_size,
                              gboolean (*output)(void *user, guint8 character), void *user);
void host_machine_free(HostMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostMachine, host_machine_free)

// Decodes each instruction when it is executed, instead of keeping decoded code: slower, and the same in all else.
void host_machine_interpret(HostMachine *machine);

// Puts a program into RAM and ROM: at the physical addresses of its segments, where those of kseg0 and kseg1 count as
// the physical addresses behind them.
gboolean host_machine_load(HostMachine *machine, const Program *program, GError **error);
// Puts `size` bytes at a physical address; `what` and `path` are for messages.
gboolean host_machine_place(HostMachine *machine, const char *what, const char *path, guint32 address,
                            const guint8 *bytes, gsize size, GError **error);

typedef enum {
  HOST_ENDED,   // power off: the status is `power_status`
  HOST_LIMIT,   // that many instructions have retired
  HOST_WAITING, // for an interrupt that never comes
} HostEnd;
// Told of an instruction of a VPE.
typedef void (*HostObserver)(void *user, guint vpe, const struct mips_step *did);
// `observe`, which may be NULL, is told of each instruction; that takes longer.
HostEnd host_machine_run(HostMachine *machine, guint64 instructions, HostObserver observe, void *user);
// Instructions that all VPEs have completed.
guint64 host_machine_retired(const HostMachine *machine);

#endif
