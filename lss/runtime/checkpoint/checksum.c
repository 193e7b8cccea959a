// The checksum of a checkpoint's header; see format.h.
#include "lss/runtime/checkpoint/format.h"
#include "lss/runtime/files/sha256.h"

void checkpoint_checksum(const CheckpointStart *start, const guint8 *packed, guint8 *checksum) {
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, G_STRUCT_OFFSET(CheckpointStart, checksum), (const uint8_t *)start);
  sha256_update(&sum, start->packed, packed);
  sha256_digest(&sum, CHECKPOINT_CHECKSUM, checksum);
}
