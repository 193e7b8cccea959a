"""The other end of a gateway, in a network namespace of its own: `unshare -rn python3 outside.py FOLDER KIND COMMAND...` serves
TCP while the command runs, and writes what it has seen.  Port 5001 takes a stream, port 5002 sends one.

With the kind `tap` the other end is this computer's kernel, with the address 10.0.0.1; the guest then listens at port 5003
until it was pinged from here.  With `dgram` and `stream` it is QEMU's user network with this netdev, whose host 10.0.2.2
passes connections on to this computer.
"""

import fcntl
import hashlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

INTERFACE, OWN, GUEST = b"tap0", "10.0.0.1", "10.0.0.2"
LOOPBACK = "127.0.0.1"
NETDEVS = {
    "dgram": "local.type=inet,local.host=127.0.0.1,local.port=7002,remote.type=inet,remote.host=127.0.0.1,remote.port=7001",
    "stream": "server=on,addr.type=inet,addr.host=127.0.0.1,addr.port=7002",
}
TUNSETIFF, TUNSETPERSIST, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFFLAGS = 0x400454CA, 0x400454CB, 0x8916, 0x891C, 0x8914
TAP, NO_HEADER, UP = 2, 0x1000, 1
BYTES = 1000000


def make_interface() -> None:
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH14x", INTERFACE, TAP | NO_HEADER))
    fcntl.ioctl(tap, TUNSETPERSIST, 1)
    os.close(tap)
    quiet = Path("/proc/sys/net/ipv6/conf", INTERFACE.decode(), "disable_ipv6")
    if quiet.exists():  # frames that the guest, which has no IPv6, would count as dropped
        quiet.write_text("1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for request, address in ((SIOCSIFADDR, OWN), (SIOCSIFNETMASK, "255.255.255.0")):
            fcntl.ioctl(any_socket, request, struct.pack("16sHH4s16x", INTERFACE, socket.AF_INET, 0, socket.inet_aton(address)))
    set_up(INTERFACE)


def set_up(interface: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", interface, UP))


def start_qemu(kind: str) -> subprocess.Popen:
    """QEMU without a machine: a hub that joins the netdev and the user network."""
    words = ["-M", "none", "-display", "none", "-monitor", "none", "-serial", "none"]
    for number, netdev in enumerate(("user,id=user", f"{kind},id={kind},{NETDEVS[kind]}")):
        name = netdev.split("id=")[1].split(",")[0]
        words += ["-netdev", netdev, "-netdev", f"hubport,id=hub{number},hubid=0,netdev={name}"]
    process = subprocess.Popen(["qemu-system-mipsel", *words])
    time.sleep(2)  # until it listens
    return process


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ping(count: int) -> int:
    """How many of the guest's replies came."""
    replies = 0
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(20)
        for number in range(count):
            payload = bytes(range(56))
            body = struct.pack(">BBHHH", 8, 0, 0, 77, number) + payload
            raw.sendto(body[:2] + struct.pack(">H", checksum(body)) + body[4:], (GUEST, 0))
            expected = struct.pack(">HH", 77, number) + payload
            while (reply := raw.recv(2000))[24:] != expected or reply[20]:
                pass
            replies += 1
    return replies


def take(own: str, seen: dict[str, object]) -> None:
    with socket.create_server((own, 5001)) as server:
        connection, _ = server.accept()
        data = b""
        with connection:
            while part := connection.recv(65536):
                data += part
    seen["taken"] = [len(data), hashlib.md5(data).hexdigest()]


def give(own: str, seen: dict[str, object]) -> None:
    data = os.urandom(BYTES)
    seen["given"] = hashlib.md5(data).hexdigest()
    with socket.create_server((own, 5002)) as server:
        connection, _ = server.accept()
        with connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
    if own == LOOPBACK:
        return
    seen["replies"] = ping(10)
    while True:
        try:
            with socket.create_connection((GUEST, 5003), timeout=20) as last:
                last.sendall(b"done\n")
            return
        except ConnectionRefusedError:
            time.sleep(0.1)


def main() -> int:
    folder, kind, *command = sys.argv[1:]
    set_up(b"lo")
    if kind == "tap":
        make_interface()
    qemu = start_qemu(kind) if kind in NETDEVS else None
    seen: dict[str, object] = {}
    own = LOOPBACK if qemu else OWN
    threads = [threading.Thread(target=one, args=(own, seen), daemon=True) for one in (take, give)]
    for one in threads:
        one.start()
    status = subprocess.run(command, cwd=folder, check=False).returncode
    for one in threads:
        one.join(30)
    if qemu:
        qemu.terminate()
        qemu.wait()
    (Path(folder) / "outside.json").write_text(json.dumps(seen))
    return status


if __name__ == "__main__":
    sys.exit(main())
