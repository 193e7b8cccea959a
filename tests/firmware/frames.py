"""Frames that are told apart by their contents, for tests of a machine with its firmware."""

from harness.net.packets import Packet


def frames(lengths: list[int], to: bytes) -> list[Packet]:
    """Frames of these lengths without FCS, each with other contents."""
    made = []
    for number, length in enumerate(lengths):
        head = to + bytes.fromhex("020000000007") + b"\x88\xb5" + number.to_bytes(4, "big")
        body = bytes((number * 7 + k * 13) & 0xFF for k in range(length - len(head)))
        made.append(Packet(number * 1000, head + body))
    return made
