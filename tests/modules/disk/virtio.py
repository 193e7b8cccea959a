"""The driver's side of a virtio block device: a queue in memory, chains of descriptors, and accesses to registers."""

import random
from dataclasses import dataclass, field

from tests.modules.harness import Bench, Ran, read_replies

RAM = 0x10000
TABLE, AVAILABLE, USED, BUFFERS = 0x1000, 0x2000, 0x3000, 0x4000
NEXT, WRITABLE, INDIRECT = 1, 2, 4
READ, WRITE, FLUSH, IDENTITY = 0, 1, 4, 8
QUEUE, NOTIFY, STATUS = 0x30, 0x50, 0x70
VERSION_1 = 1
DRIVER_OK = 15  # with all before it
NEEDS_RESET = 64
CAPACITY = 64  # sectors

NETLIST = """
import memory_types;
instance software : memory_source { width = 64; };
instance inspector : memory_source;
instance dut : virtio_block { width = 64; big_endian = ENDIAN; BODY };
instance contents : disk_image { capacity = 32 KiB; };
instance delay : memory_delay { depth = 8; };
instance arbiter : memory_arbiter;
instance memory : memory_state { size = 64 KiB; big_endian = ENDIAN; image = "ram"; };
instance line : monitor; instance end : sink;
software.memory -> dut.in;
dut.memory -> delay.in;
dut.disk -> contents.in;
delay.out -> arbiter.in["device"];
inspector.memory -> arbiter.in["inspector"];
arbiter.out -> memory.port;
dut.interrupt -> line.in : bool;
line.out -> end.in;
"""


@dataclass
class Queue:
    """A queue, with chains that wait for the device; memory is what the device finds."""

    size: int = 16
    at: int = 0  # areas of another queue are so many bytes behind
    memory: bytearray = field(default_factory=lambda: bytearray(RAM))
    heads: list[int] = field(default_factory=list)
    free: int = 0  # the next descriptor

    def descriptor(self, address: int, length: int, flags: int, following: int, table: int | None = None, index: int = 0) -> None:
        place = (TABLE + self.at if table is None else table) + 16 * index
        self.memory[place : place + 16] = b"".join(n.to_bytes(size, "little") for n, size in ((address, 8), (length, 4), (flags, 2), (following, 2)))

    def chain(self, parts: list[tuple[int, int, int]], indirect: int | None = None) -> None:
        """A chain of parts (address, bytes, WRITABLE or 0), in a table at the address `indirect` if there is one."""
        first = self.free
        for k, (address, length, flags) in enumerate(parts):
            more = NEXT if k + 1 < len(parts) else 0
            if indirect is None:
                self.descriptor(address, length, flags | more, (first + k + 1) % self.size, index=(first + k) % self.size)
            else:
                self.descriptor(address, length, flags | more, k + 1, indirect, k)
        if indirect is not None:
            self.descriptor(indirect, 16 * len(parts), INDIRECT, 0, index=first)
        self.free = (first + (1 if indirect is not None else len(parts))) % self.size
        self.offer(first)

    def offer(self, head: int) -> None:
        place = AVAILABLE + self.at
        entry = place + 4 + 2 * (len(self.heads) % self.size)
        self.memory[entry : entry + 2] = head.to_bytes(2, "little")
        self.heads.append(head)
        self.memory[place + 2 : place + 4] = len(self.heads).to_bytes(2, "little")

    def header(self, address: int, kind: int, sector: int) -> None:
        self.memory[address : address + 16] = kind.to_bytes(8, "little") + sector.to_bytes(8, "little")


def write(cycle: int, register: int, value: int, big: bool = False) -> str:
    return f"{cycle} write 4 {register:#x} {int.from_bytes(value.to_bytes(4, 'little'), 'big') if big else value:#x}\n"


def store(cycle: int, address: int, data: bytes) -> str:
    """Whole words that the driver stores."""
    return "".join(f"{cycle} write 8 {address + k} {int.from_bytes(data[k : k + 8], 'little'):#x}\n" for k in range(0, len(data), 8))


def set_up(cycle: int, queue: Queue, features: int = 0, big: bool = False) -> str:
    """What a driver writes, and the first notification."""
    steps = [(STATUS, 0), (STATUS, 3), (0x24, 1), (0x20, VERSION_1), (0x24, 0), (0x20, features), (STATUS, 11), (QUEUE, 0), (0x38, queue.size)]
    steps += [(register, area + queue.at) for register, area in ((0x80, TABLE), (0x90, AVAILABLE), (0xA0, USED))]
    steps += [(register, 0) for register in (0x84, 0x94, 0xA4)]
    return "".join(write(cycle, *step, big) for step in [*steps, (0x44, 1), (STATUS, DRIVER_OK), (NOTIFY, 0)])


def play(
    bench: Bench,
    queue: Queue,
    script: str,
    cycles: int,
    disk: bytes,
    settings: dict[str, object] | None = None,
    big: bool = False,
    body: str = "",
    seed: int = 1,
    stores: str = "",
    after: str = "",
) -> tuple[Ran, bytearray, list[int]]:
    """Runs a script of accesses, with what the driver stores in memory meanwhile; memory afterwards, and what the accesses returned."""
    reads = stores + "".join(f"{cycles} read 8 {k}\n" for k in range(0, RAM, 8))
    text = NETLIST.replace("ENDIAN", str(big).lower()).replace("BODY", body) + after
    values = {"software.script": "script", "software.record": "accesses", "software.outstanding": 4, "contents.image": "disk", "contents.commit": "after"}
    values |= {"inspector.script": "reads", "inspector.record": "memory", "inspector.outstanding": 8, "line.record": "line"}
    files: dict[str, str | bytes] = {"script": script, "ram": bytes(queue.memory), "disk": disk, "reads": reads}
    ran = bench.run(bench.build(text), cycles + RAM // 8 + 400, values | (settings or {}), seed=seed, files=files)
    seen = read_replies(ran.directory / "memory")[stores.count("\n") :]
    assert len(seen) == RAM // 8
    order = "big" if big else "little"
    memory = bytearray(b"".join(one.data.to_bytes(8, order) for one in seen))
    return ran, memory, [one.data for one in read_replies(ran.directory / "accesses")]


def used(queue: Queue, memory: bytes) -> list[tuple[int, int]]:
    """The chains that the device has used: head and bytes written."""
    place = USED + queue.at
    count = int.from_bytes(memory[place + 2 : place + 4], "little")
    entries = [memory[place + 4 + 8 * (k % queue.size) :][:8] for k in range(count)]
    return [(int.from_bytes(entry[:4], "little"), int.from_bytes(entry[4:], "little")) for entry in entries]


def split(rng: random.Random, length: int, most: int) -> list[int]:
    """Lengths of up to `most` parts of so many bytes; some may be empty."""
    cuts = sorted(rng.randrange(length + 1) for _ in range(rng.randrange(most)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, length], strict=True)]
