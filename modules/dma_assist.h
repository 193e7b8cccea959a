// Names used by dma_assist.c.
#ifndef DMA_ASSIST_H
#define DMA_ASSIST_H

// What is offered to NIC memory.
enum { DMA_OFFER_DATA, DMA_OFFER_DESCRIPTOR, DMA_OFFER_CHECKSUM };
// What a register update completes, when it is not a descriptor of a ring.
enum { DMA_NO_RING = -1, DMA_DIRECT_END = -2 };

#endif
