// Bytes as rows of sixteen, with their address and what they are as characters.
#ifndef SPINACH_HEXDUMP_H
#define SPINACH_HEXDUMP_H

#include <stddef.h>
#include <stdint.h>

// Rows of all bytes, of which the first has this address; rows that repeat the one before are one `*`.  The caller
// frees it.
char *spinach_hexdump(const uint8_t *bytes, size_t count, uint64_t address);

// The rows in which two stretches of bytes differ, each row twice, with a mark below each byte that differs; at most a
// few rows.  The caller frees it.
char *spinach_hexdump_difference(const uint8_t *expected, size_t expected_count, const uint8_t *actual,
                                 size_t actual_count);

#endif
