// The DMA rings carried out through the direct registers, for machines or modes without the hardware assist.  It runs
// on processor B, or on processor A between events when there is no B.  A transfer that failed is started again.
#ifndef TIGON2_ENGINE_H
#define TIGON2_ENGINE_H

#include "machine.h"

struct engine {
  u32 read_entry, write_entry; // next entry to start or, while busy, in progress
  u32 read_busy, write_busy;   // control word of the transfer in progress, or 0
  u32 on;                      // rings that this processor carries out
  volatile u32 *failed;        // counts transfers that failed, writes and reads
};

enum { ENGINE_READS = 1, ENGINE_WRITES = 2 };
enum { FAILED_WRITES, FAILED_READS, FAILED_WAYS };

static inline void engine_read(struct engine *e, struct registers *r) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)e->read_entry;
  if (e->read_busy) {
    u32 dma_state = r->dma_read_state;
    if (dma_state & DMA_ACTIVE) return;
    if (dma_state & DMA_ERRORS) {
      ++e->failed[FAILED_READS];
      r->dma_read_address = d->local;
      r->dma_read_state = e->read_busy;
      return;
    }
    if (e->read_busy & DMA_FILLS_SEND_BUFFER) {
      u32 end = (r->dma_read_address + 7) & ~7u;
      r->tx_buffer_producer = end == r->rx_buffer_base ? r->tx_buffer_base : end;
    }
    if (e->read_busy & DMA_CHECKSUM) *(volatile u16 *)d->checksum_to = (u16)r->dma_read_checksum;
    e->read_busy = 0;
    e->read_entry = ring_next((u32)d, DMA_ENTRY, DMA_RING);
    r->dma_read_consumer = e->read_entry;
    d = (volatile struct dma_descriptor *)e->read_entry;
  }
  if ((u32)d == r->dma_read_producer) return;
  r->dma_read_host_high = d->host_high;
  r->dma_read_host_low = d->host_low;
  r->dma_read_address = d->local;
  r->dma_read_length = d->length & 0xffff;
  e->read_busy = d->control | DMA_ACTIVE;
  r->dma_read_state = e->read_busy;
}

static inline void engine_write(struct engine *e, struct registers *r) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)e->write_entry;
  if (e->write_busy) {
    u32 dma_state = r->dma_write_state;
    if (dma_state & DMA_ACTIVE) return;
    if (dma_state & DMA_ERRORS) {
      ++e->failed[FAILED_WRITES];
      r->dma_write_address = d->local;
      r->dma_write_state = e->write_busy;
      return;
    }
    if (e->write_busy & DMA_FREES_RECEIVE_BUFFER) {
      u32 end = (d->local + (d->length & 0xffff) + 7) & ~7u;
      r->rx_buffer_reference = end < PACKET_MEMORY_END ? end : end - PACKET_MEMORY_END + r->rx_buffer_base;
    }
    if (e->write_busy & DMA_CHECKSUM) *(volatile u16 *)d->checksum_to = (u16)r->dma_write_checksum;
    e->write_busy = 0;
    e->write_entry = ring_next((u32)d, DMA_ENTRY, DMA_RING);
    r->dma_write_consumer = e->write_entry;
    d = (volatile struct dma_descriptor *)e->write_entry;
  }
  if ((u32)d == r->dma_write_producer) return;
  r->dma_write_host_high = d->host_high;
  r->dma_write_host_low = d->host_low;
  r->dma_write_address = d->local;
  r->dma_write_length = d->length & 0xffff;
  e->write_busy = d->control | DMA_ACTIVE;
  r->dma_write_state = e->write_busy;
}

// Lets a hardware assist that is idle after a failed transfer try again; returns whether it did (host_event.c).
u32 try_again(volatile u32 *assist_state);

// What processor A requests of B, and B's reply, in SRAM.
struct second {
  volatile u32 alive;                 // set by B when it runs
  volatile u32 drive_rings;           // set by A: carry out the DMA rings
  volatile u32 read_ring, write_ring; // set by A: where they are
  volatile u32 milliseconds;          // since B started
  volatile u32 failed[FAILED_WAYS];   // transfers that B saw fail
};
extern struct second second;

#endif
