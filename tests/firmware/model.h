// A functional model of the chip for tests of its firmware: memory, registers, DMA and MAC without time.  Its one or
// two processors are instruction set interpreters; of two, chance decides which one executes the next instruction, so
// that many ways in which they can meet are seen.  Test code plays host and wire through the functions here; Python
// calls them.
//
// Transfers and frames are carried out one per `PACE` instructions, so the firmware finds them done sooner or later as
// on the machine.  Anything the firmware should not do (an address of nothing, a transfer outside host memory) stops
// it.
#ifndef TESTS_FIRMWARE_MODEL_H
#define TESTS_FIRMWARE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct model;

enum { MODEL_SRAM = 1 << 20, MODEL_HOST = 1 << 22, MODEL_PACE = 48 };

// The chip after reset with the image of an ELF file in its SRAM, or NULL.  `seed` is that of chance.
struct model *model_new(const char *elf, unsigned processors, uint32_t seed);
void model_free(struct model *m);

uint8_t *model_host(struct model *m); // MODEL_HOST bytes of host memory,
void model_place(struct model *m,
                 uint64_t begin);     // which is at this address for the chip, a multiple of 8; at first 0
uint8_t *model_sram(struct model *m); // MODEL_SRAM bytes

// A mailbox, as the host writes it.
void model_mailbox(struct model *m, unsigned mailbox, uint32_t value);

// Lets the processors that run execute so many instructions each, about; returns NULL, or what stopped one.
const char *model_run(struct model *m, uint64_t instructions);

// A frame from the wire, without FCS; false when the MAC drops it.
bool model_receive(struct model *m, const uint8_t *frame, uint32_t length);
// The oldest frame that left on the wire, without padding; 0 when there is none.  `vlan` is its tag, or -1.
uint32_t model_sent(struct model *m, uint8_t *frame, int32_t *vlan);

uint32_t model_register(struct model *m, uint32_t offset);
// A register as the host writes it, without further effect.
void model_write(struct model *m, unsigned offset, uint32_t value);
uint32_t model_interrupts(struct model *m); // raised so far
uint64_t model_executed(struct model *m);   // instructions of processor A

#endif
