"""What an Ethernet link can carry at most: the line every measured rate is drawn against.

A UDP payload of n bytes costs n + 42 (Ethernet, IP and UDP headers) + 4 (FCS) bytes of frame, at least 64, and 8 bytes
of preamble and 12 of gap on the wire.
"""

HEADERS = 42
FCS = 4
MINIMUM_FRAME = 64
PREAMBLE_AND_GAP = 20
GIGABIT = 1e9


def wire_bytes(payload: int, tag: int = 0) -> int:
    """Byte times that one UDP frame occupies on the wire; `tag` is the bytes of its VLAN tag."""
    return max(payload + HEADERS + FCS + tag, MINIMUM_FRAME) + PREAMBLE_AND_GAP


def frames_per_second(payload: int, rate: float = GIGABIT) -> float:
    """Most frames that one direction of a link of `rate` bit/s carries in a second."""
    return rate / (8 * wire_bytes(payload))


def payload_rate(payload: int, rate: float = GIGABIT) -> float:
    """Most UDP payload, in bit/s, that one direction of a link of `rate` bit/s carries."""
    return frames_per_second(payload, rate) * 8 * payload
