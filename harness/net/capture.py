"""Makes a real capture: two network namespaces, a veth pair between them, and programs that talk UDP or TCP over it.

Needs root and iproute2.  Offloads are switched off on both ends, otherwise the kernel leaves the checksums of frames
that never meet hardware unfinished, and submits several segments as one.  What is captured is what the host's end
sends and receives, ARP included; the two MAC and IPv4 addresses are those of generated traffic.
"""

import array
import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from harness.net import packets, udp

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO = 0x17, 0x1F, 0x24, 0x2C
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
ECHO, SINK, SOURCE, SERVICE = 5007, 5009, 5019, 5021
QUERY_SIZES = [18, 26, 31, 45, 60, 77, 120, 250, 511, 512, 777, 1024, 1471, 1472]
FRAGMENTED = 3000  # larger than a frame carries, so the kernel sends fragments
# Of each TCP conversation the exchanges: bytes to the peer, bytes back.
EXCHANGES = [[(1, 1), (100, 400), (1448, 10), (10, 1449)], [(200, 24000)], [(16000, 4)], [(5000, 5000), (3000, 3000)]]
HOST_SPACE, PEER_SPACE = f"spinach-host-{os.getpid()}", f"spinach-peer-{os.getpid()}"


class CaptureError(Exception):
    """The capture cannot be made here; the text is one line for the user."""


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise CaptureError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextlib.contextmanager
def _namespaces() -> Iterator[None]:
    """Two namespaces joined by a veth pair `wire`, with the addresses of harness.net.udp."""
    made = []
    try:
        for space in HOST_SPACE, PEER_SPACE:
            _ip("netns", "add", space)
            made.append(space)
        _ip("link", "add", "wire", "netns", HOST_SPACE, "type", "veth", "peer", "name", "wire", "netns", PEER_SPACE)
        for space, end in (HOST_SPACE, udp.HOST), (PEER_SPACE, udp.PEER):
            _ip("netns", "exec", space, "sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1")
            _ip("-n", space, "link", "set", "wire", "address", end.mac.hex(":"))
            _ip("-n", space, "addr", "add", f"{socket.inet_ntoa(end.address)}/24", "dev", "wire")
            _ip("-n", space, "link", "set", "wire", "up")
        yield
    finally:
        for space in made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


def _switch_offloads_off() -> None:
    """ethtool -K wire tx off tso off gso off gro off, without needing ethtool."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for what in ETHTOOL_SGRO, ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_STXCSUM:
            command = array.array("B", struct.pack("II", what, 0))
            request = struct.pack("16sP", b"wire", command.buffer_info()[0])
            fcntl.ioctl(control, SIOCETHTOOL, request)


def _serve_peer() -> None:
    """The peer: echoes, swallows, and on request sends a burst of (count, size) datagrams."""
    _switch_offloads_off()
    echo, sink, source = sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
    for one, port in zip(sockets, (ECHO, SINK, SOURCE), strict=True):
        one.bind((socket.inet_ntoa(udp.PEER.address), port))

    def echoing() -> None:
        while True:
            data, address = echo.recvfrom(65535)
            echo.sendto(data[::-1], address)

    def sourcing() -> None:
        while True:
            data, address = source.recvfrom(65535)
            count, size = struct.unpack("!II", data[:8])
            for number in range(count):
                source.sendto(number.to_bytes(4, "big") + os.urandom(size - 4), address)

    def swallowing() -> None:
        while sink.recvfrom(65535):
            pass

    def exchanging(one: socket.socket) -> None:
        with one, one.makefile("rb") as requests:
            while head := requests.read(8):
                there, back = struct.unpack("!II", head)
                requests.read(there)
                one.sendall(os.urandom(back))

    def serving() -> None:
        with socket.create_server((socket.inet_ntoa(udp.PEER.address), SERVICE)) as server:
            while True:
                threading.Thread(target=exchanging, args=(server.accept()[0],), daemon=True).start()

    for work in echoing, sourcing, swallowing, serving:
        threading.Thread(target=work, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


def _talk() -> None:
    """The host's programs: queries with responses, a download, an upload, and both in parallel."""
    peer = socket.inet_ntoa(udp.PEER.address)
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.settimeout(2)
    for size in [*QUERY_SIZES, FRAGMENTED]:
        one.sendto(os.urandom(size), (peer, ECHO))
        one.recv(65535)
    for count, size in (24, 1472), (40, 64):
        one.sendto(struct.pack("!II10x", count, size), (peer, SOURCE))
        for _ in range(count):
            one.recv(65535)
    for size in [1472] * 12 + [18] * 30 + [300, 700, 1100] * 5:
        one.sendto(os.urandom(size), (peer, SINK))
    one.sendto(struct.pack("!II10x", 20, 1000), (peer, SOURCE))
    for _ in range(20):
        one.sendto(os.urandom(200), (peer, SINK))
        one.recv(65535)


def _talk_tcp() -> None:
    """The host's programs: TCP conversations, several at a time, each a row of exchanges."""

    def converse(exchanges: list[tuple[int, int]]) -> None:
        with socket.create_connection((socket.inet_ntoa(udp.PEER.address), SERVICE), timeout=5) as one:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with one.makefile("rb") as answers:
                for there, back in exchanges:
                    one.sendall(struct.pack("!II", there, back) + os.urandom(there))
                    answers.read(back)

    workers = [threading.Thread(target=converse, args=(exchanges,)) for exchanges in EXCHANGES]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _host(out: Path, protocol: str) -> None:
    """Runs the host's programs and writes what its end of the wire carried."""
    _switch_offloads_off()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        tap.bind(("wire", 0))
        _talk_tcp() if protocol == "tcp" else _talk()
        time.sleep(0.2)
        tap.setblocking(False)
        frames = []
        with contextlib.suppress(BlockingIOError):
            while True:
                data, controls, _, _ = tap.recvmsg(65535, 128)
                seconds, nanoseconds = struct.unpack("qq", controls[0][2][:16])
                frames.append(packets.Packet(seconds * 10**9 + nanoseconds, data))
    frames.sort(key=lambda packet: packet.time)
    first = frames[0].time
    packets.write(out, (packets.Packet(packet.time - first, packet.data) for packet in frames))


def _inside(space: str, role: str, *arguments: str) -> list[str]:
    return ["ip", "netns", "exec", space, sys.executable, "-m", "harness.net.capture", role, *arguments]


def capture(out: Path, protocol: str = "udp") -> int:
    """Makes the capture of `udp` or `tcp` and returns how many frames it holds."""
    if os.geteuid():
        raise CaptureError("a capture needs root, for its network namespaces")
    with _namespaces():
        peer = subprocess.Popen(_inside(PEER_SPACE, "peer"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert peer.stdout and peer.stdin
            if peer.stdout.readline() != "ready\n":
                raise CaptureError("the peer did not start")
            done = subprocess.run(_inside(HOST_SPACE, "host", str(out), protocol), capture_output=True, text=True)
            if done.returncode:
                raise CaptureError(f"the host failed: {done.stderr.strip().splitlines()[-1]}")
        finally:
            peer.stdin.close()
            peer.wait(timeout=10)
    return len(list(packets.read(out)))


if __name__ == "__main__":
    if sys.argv[1] == "peer":
        _serve_peer()
    else:
        _host(Path(sys.argv[2]), sys.argv[3])
