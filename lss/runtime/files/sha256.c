// SHA-256 as text; see sha256.h.
#include "lss/runtime/files/sha256.h"

char *sha256_end(struct sha256_ctx *sum) {
  uint8_t digest[SHA256_DIGEST_SIZE];
  GString *text = g_string_sized_new(2 * sizeof digest);
  sha256_digest(sum, sizeof digest, digest);
  for (gsize k = 0; k < sizeof digest; k++) g_string_append_printf(text, "%02x", digest[k]);
  return g_string_free(text, FALSE);
}

char *sha256_of(const void *bytes, gsize size) {
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, size, bytes);
  return sha256_end(&sum);
}
