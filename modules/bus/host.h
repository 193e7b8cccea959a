// Names used by host.c.
#ifndef HOST_H
#define HOST_H

// How a transfer may fail, and how rules of `faults` call it: reads, then writes.
enum { HOST_FAULT_READ_ABORT, HOST_FAULT_READ_PARITY, HOST_FAULT_WRITE_ABORT, HOST_FAULT_WRITE_PARITY, HOST_FAULTS };
static const char *const host_faults[HOST_FAULTS] = {"read_abort", "read_parity", "write_abort", "write_parity"};

#endif
