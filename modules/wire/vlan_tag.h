// Frames with a VLAN tag, IEEE 802.1Q: it stands before the type, and by IEEE 802.3ac the frame may be longer by it.
#ifndef VLAN_TAG_H
#define VLAN_TAG_H

#include <stdbool.h>
#include <stdint.h>

// Bytes; of frames without FCS, and the most of one that a host sends, without a tag and with it.
enum { VLAN_TYPE_AT = 12, VLAN_TAG_BYTES = 4, VLAN_MOST_UNTAGGED = 1514, VLAN_MOST_TAGGED = 1518 };

// Whether this type is that of a tag: a customer's, or a provider's of IEEE 802.1ad.
static inline bool vlan_is_tag(uint32_t type) {
  return type == 0x8100 || type == 0x88a8;
}

// The most bytes of a frame that begins so, when it may have `longest` without a tag, and `tag` more with one.
static inline uint32_t vlan_longest(const uint8_t *frame, uint32_t longest, uint32_t tag) {
  return vlan_is_tag((uint32_t)frame[VLAN_TYPE_AT] << 8 | frame[VLAN_TYPE_AT + 1]) ? longest + tag : longest;
}

// Refuses a frame of a packet file that is too long for what it is; one that is so with a tag did not fit before.
#define VLAN_REQUIRE_LENGTH(path, number, frame, length, longest, tag)                                                 \
  do {                                                                                                                 \
    if ((length) > vlan_longest(frame, longest, tag))                                                                  \
      sim_input_error("\"%s\", packet %llu: it has %u bytes; at most %u fit without a VLAN tag", path,                 \
                      (unsigned long long)(number), length, longest);                                                  \
  } while (0)

// The same for the frame that a driver sends.
#define VLAN_REQUIRE_SENT(number, length)                                                                              \
  VLAN_REQUIRE_LENGTH(param(input), number, self->frame, length, VLAN_MOST_UNTAGGED, VLAN_TAG_BYTES)

#endif
