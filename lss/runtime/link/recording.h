// Records of the links of a part (--record-links): its simulator writes a file for each link over which it sends.
#ifndef SPINACH_LINK_RECORDING_H
#define SPINACH_LINK_RECORDING_H

#include "lss/runtime/link/network.h"

// The file of a link in such a folder; the caller frees it.
char *recording_path(const char *folder, const char *link);
// The run begins at the instant `begins`.  False: after a line.
bool recording_begin(const Network *network, const char *folder, uint64_t begins);
// An item is sent over the link of that number in the machine's table.
void recording_add(uint32_t link, uint64_t sent, uint64_t arrives, const void *item);
// Nothing is sent any more; all that was sent before `until` is there.  `failed`: by an error of this part in that
// instant.  The files get their names.  False: after a line.
bool recording_end(uint64_t until, bool failed, const char *reason);

#endif
