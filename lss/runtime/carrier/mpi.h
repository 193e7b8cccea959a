// The beginning and the end of MPI in a carrier; what lies between is transport.h.
#ifndef SPINACH_CARRIER_MPI_H
#define SPINACH_CARRIER_MPI_H

#include <stdbool.h>
#include <stdint.h>

// Before anything else of the program; it may take words from the command line.
void mpi_begin(int *argc, char ***argv);
// Whether there are so many carriers; this one is that of `host`.
bool mpi_join(uint32_t host, uint32_t host_count);
// Whether messages do not come through any more, since another carrier is gone.
bool mpi_has_failed(void);
// When no host needs another any more.
void mpi_end(void);
// Ends the carriers of all hosts at once.
_Noreturn void mpi_abort(void);

#endif
