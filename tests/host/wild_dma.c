// Asks the first SCSI disk what it is, and has the adapter's DMA write that to where there is no memory; the exit
// status is 5.
#define POWER(n)            (*(volatile unsigned *)(0xbf000500 + (n)))
#define CONFIGURATION(d, o) (*(volatile unsigned *)(0xbb000000 + ((d) << 15) + (o)))
#define ADAPTER(n)          (*(volatile unsigned *)(0xbc000000 + 4 * (n)))

enum { COUNT_LOW, COUNT_HIGH, FIFO, COMMAND, STATUS, INTERRUPT, DMA_COMMAND = 16, DMA_COUNT, DMA_ADDRESS };
enum { BYTES = 32, DATA_IN = 1, STATUS_PHASE = 3, PENDING = 0x80, DISCONNECTED = 0x20 };

__asm__(".globl __start\n__start: lui $sp, 0x8070\nj main\nnop\n");

int main(void) {
  static const unsigned char inquiry[] = {0x12, 0, 0, 0, BYTES, 0};
  CONFIGURATION(2, 0x10) = 0x1c000000;
  CONFIGURATION(2, 4) = 6;
  ADAPTER(DMA_COUNT) = BYTES;
  ADAPTER(DMA_ADDRESS) = ADDRESS;
  ADAPTER(DMA_COMMAND) = 0x83;
  ADAPTER(COUNT_LOW) = BYTES;
  ADAPTER(COUNT_HIGH) = 0;
  ADAPTER(STATUS) = 0;
  ADAPTER(INTERRUPT) = 100;
  ADAPTER(FIFO) = 0x80; // it stays connected
  for (unsigned i = 0; i < sizeof inquiry; i++) ADAPTER(FIFO) = inquiry[i];
  ADAPTER(COMMAND) = 0x42;
  for (;;) {
    while (!(ADAPTER(STATUS) & PENDING)) continue;
    const unsigned phase = ADAPTER(STATUS) & 7, why = ADAPTER(INTERRUPT);
    if (why & DISCONNECTED) break;
    ADAPTER(COMMAND) = phase == DATA_IN ? 0x90 : phase == STATUS_PHASE ? 0x11 : 0x12;
  }
  POWER(4) = 5;
  POWER(0) = 0x42;
  for (;;) continue;
}
