// A flat 32-bit address space for programs outside any machine: pages exist where they were mapped, and only there.
#ifndef EMULIB_FLAT_MEMORY_H
#define EMULIB_FLAT_MEMORY_H

#include "guest_memory.h"
#include "program/program.h"

typedef struct FlatMemory FlatMemory;

FlatMemory *flat_memory_new(gboolean big_endian);
void flat_memory_free(FlatMemory *memory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FlatMemory, flat_memory_free)

// Makes `size` bytes from `address` exist (in whole pages of 4 KiB), reading as zero until written.
void flat_memory_map(FlatMemory *memory, guint32 address, guint32 size);
// Maps and fills the segments of a program.
void flat_memory_load(FlatMemory *memory, const Program *program);
// A byte that exists, or NULL.
guint8 *flat_memory_at(FlatMemory *memory, guint32 address);
// The interpreter's view of it.
struct guest_memory flat_memory_interface(FlatMemory *memory);

#endif
