// A functional model of the 10 Gb/s NIC for tests of its firmware: memories, registers, DMA and MAC without time, and
// any number of cores, each the instruction set interpreter.  Cores take turns in an order drawn from a seed, some
// instructions at a time, so that every interleaving comes up sooner or later.  Test code plays host and wire through
// the functions here; Python calls them.
//
// Whatever firmware must not do stops the model: an address of nothing, a ring with too many entries, a frame in
// another frame's slot, a transfer outside host memory.
#ifndef TESTS_FIRMWARE_CORES_H
#define TESTS_FIRMWARE_CORES_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

enum { NIC_HOST = 1 << 22, NIC_CORES = 16, NIC_PACE = 24 };

// The chip after reset with the image of an ELF file; `features` is what the register of that name reads.
struct nic *nic_new(const char *elf, unsigned cores, uint32_t features, uint64_t seed);
void nic_free(struct nic *n);

uint8_t *nic_host(struct nic *n);                           // NIC_HOST bytes of host memory
void nic_setup(struct nic *n, uint32_t at, uint32_t value); // a word of the setup block
void nic_write(struct nic *n, uint32_t at, uint32_t value); // a register, as the host writes it
uint32_t nic_register(struct nic *n, uint32_t at);

// Starts the cores, or lets them execute so many instructions in all; returns NULL, or what stopped it.
void nic_start(struct nic *n);
const char *nic_run(struct nic *n, uint64_t instructions);

// A frame from the wire, without FCS; false when the MAC drops it.
bool nic_receive(struct nic *n, const uint8_t *frame, uint32_t length);
// The oldest frame that left on the wire; 0 when there is none.
uint32_t nic_sent(struct nic *n, uint8_t *frame);

// Lets the wire and one core pause: what is not set goes on.
void nic_hold(struct nic *n, bool transmitter);

#endif
