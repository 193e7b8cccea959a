"""Frames that are told apart by their contents, for tests of a machine with its firmware."""

from harness.net.packets import Packet


def frames(lengths: list[int], to: bytes) -> list[Packet]:
    """Frames of these lengths without FCS, each with other contents; what is longer than 1514 has a VLAN tag."""
    made = []
    for number, length in enumerate(lengths):
        kind = b"\x88\xb5" if length <= 1514 else b"\x81\x00\x00\x05\x88\xb5"
        head = to + bytes.fromhex("020000000007") + kind + number.to_bytes(4, "big")
        body = bytes((number * 7 + k * 13) & 0xFF for k in range(length - len(head)))
        made.append(Packet(number * 1000, head + body))
    return made
