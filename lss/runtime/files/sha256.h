// SHA-256 by nettle, which uses the processor's own instructions for it; GLib's takes six times as long.
#ifndef SPINACH_SHA256_H
#define SPINACH_SHA256_H

#include <glib.h>
#include <nettle/sha2.h>

// The digest as 64 hexadecimal digits; the caller frees it.
char *sha256_of(const void *bytes, gsize size);

// That of what was added since sha256_init() by sha256_update(), both of nettle.
char *sha256_end(struct sha256_ctx *sum);

#endif
