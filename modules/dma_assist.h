// Names used by dma_assist.c.
#ifndef DMA_ASSIST_H
#define DMA_ASSIST_H

// What is offered to somebody in a cycle; a set.
enum { DMA_OFFERS_MEMORY = 1, DMA_OFFERS_DESCRIPTOR = 2, DMA_OFFERS_REGISTER = 4, DMA_OFFERS_BUS = 8, DMA_OFFERS_BEAT = 16 };
// The descriptor read ahead: none, being read, read.
enum { DMA_FETCH_NOTHING, DMA_FETCHING, DMA_FETCHED };
// What is offered to memory.
enum { DMA_OFFER_DATA, DMA_OFFER_DESCRIPTOR, DMA_OFFER_CHECKSUM };
// What a register update completes, when it is not a descriptor of a ring.
enum { DMA_NO_RING = -1, DMA_DIRECT_END = -2 };

#endif
