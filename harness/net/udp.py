"""UDP in IPv4 in Ethernet: builds frames with correct checksums and takes them apart again."""

import struct
from dataclasses import dataclass

ETHERTYPE_IPV4, ETHERTYPE_VLAN = 0x0800, 0x8100
VLAN_TAG = 4  # bytes
VLANS = range(1, 4095)
PROTOCOL_UDP = 17
HEADER_BYTES = 42
MINIMUM_FRAME = 60  # without FCS


@dataclass(frozen=True)
class Endpoint:
    """One side of a conversation: MAC address, IPv4 address and UDP port."""

    mac: bytes
    address: bytes
    port: int


HOST = Endpoint(bytes.fromhex("020000000001"), bytes([192, 0, 2, 1]), 5001)
PEER = Endpoint(bytes.fromhex("020000000002"), bytes([192, 0, 2, 2]), 5001)


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of data, an odd byte padded with zero."""
    if len(data) % 2:
        data += b"\0"
    # Arithmetic modulo 65535 is end-around carry; zero has two forms there, and a sum of non-zero data is 65535.
    total = int.from_bytes(data, "big")
    folded = total % 0xFFFF
    if folded == 0 and total:
        folded = 0xFFFF
    return folded ^ 0xFFFF


def frame(source: Endpoint, target: Endpoint, payload: bytes, identification: int = 0) -> bytes:
    """An Ethernet frame without FCS, padded to 60 bytes."""
    length = 8 + len(payload)
    header = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + length, identification & 0xFFFF, 0x4000, 64, PROTOCOL_UDP, 0,
        source.address, target.address,
    )  # fmt: skip
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    pseudo = source.address + target.address + struct.pack("!BBH", 0, PROTOCOL_UDP, length)
    datagram = struct.pack("!HHHH", source.port, target.port, length, 0) + payload
    # A computed zero is sent as all ones; zero means "no checksum" (RFC 768).
    datagram = datagram[:6] + struct.pack("!H", checksum(pseudo + datagram) or 0xFFFF) + datagram[8:]
    whole = target.mac + source.mac + struct.pack("!H", ETHERTYPE_IPV4) + header + datagram
    return whole.ljust(MINIMUM_FRAME, b"\0")


def tagged(data: bytes, vlan: int) -> bytes:
    """The frame with an IEEE 802.1Q tag of this VLAN, priority 0."""
    return data[:12] + struct.pack("!HH", ETHERTYPE_VLAN, vlan) + data[12:]


def untagged(data: bytes) -> bytes:
    """The frame without its VLAN tag, if it has one."""
    return data[:12] + data[16:] if data[12:14] in (b"\x81\x00", b"\x88\xa8") else data


def is_udp(data: bytes) -> bool:
    """True for an unfragmented UDP datagram in an IPv4 frame that holds all its headers; it may have a VLAN tag."""
    data = untagged(data)
    return (
        len(data) >= HEADER_BYTES
        and data[12:14] == b"\x08\x00"
        and data[14] == 0x45
        and data[23] == PROTOCOL_UDP
        and int.from_bytes(data[20:22], "big") & 0x3FFF == 0
    )


def payload_of(data: bytes) -> bytes:
    """The UDP payload of a frame for which is_udp holds."""
    data = untagged(data)
    return data[HEADER_BYTES : 34 + int.from_bytes(data[38:40], "big")]


def checksum_errors(data: bytes) -> list[str]:
    """What is wrong with the IP and UDP checksums of a frame; empty when nothing is, or when it is not UDP."""
    data = untagged(data)
    if not is_udp(data):
        return []
    wrong = []
    if checksum(data[14:34]):
        wrong.append("IP header checksum")
    length = int.from_bytes(data[38:40], "big")
    if length < 8 or 34 + length > len(data):
        return [*wrong, "UDP length"]
    pseudo = data[26:34] + struct.pack("!BBH", 0, PROTOCOL_UDP, length)
    if data[40:42] != b"\0\0" and checksum(pseudo + data[34 : 34 + length]):
        wrong.append("UDP checksum")
    return wrong
