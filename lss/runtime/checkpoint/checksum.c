// The checksum of a checkpoint's header; see format.h.
#include "lss/runtime/checkpoint/format.h"

void checkpoint_checksum(const CheckpointStart *start, const guint8 *packed, guint8 *checksum) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  gsize length = CHECKPOINT_CHECKSUM;
  g_checksum_update(sum, (const guchar *)start, G_STRUCT_OFFSET(CheckpointStart, checksum));
  g_checksum_update(sum, packed, (gssize)start->packed);
  g_checksum_get_digest(sum, checksum, &length);
}
