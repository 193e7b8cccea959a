"""virtio_block: registers, requests at the ports cycle by cycle, random requests against a model, and drivers that do what they must not."""

import random
import subprocess
from pathlib import Path

import pytest

from tests.modules.disk import virtio
from tests.modules.disk.virtio import (
    AVAILABLE,
    BUFFERS,
    CAPACITY,
    DRIVER_OK,
    FLUSH,
    IDENTITY,
    INDIRECT,
    NEEDS_RESET,
    NEXT,
    NOTIFY,
    RAM,
    READ,
    STATUS,
    TABLE,
    USED,
    WRITABLE,
    WRITE,
    Queue,
    play,
    set_up,
    split,
    used,
    write,
)  # fmt: skip
from tests.modules.harness import Bench, collect, happened, read_monitor
from tests.modules.mips import BundleDevice, reply, request, struct
from tests.sample import sampled, seldom

DISK = random.Random(7).randbytes(512 * CAPACITY)
INDIRECT_TABLES = 1 << 28


def status_read(cycle: int) -> str:
    return f"{cycle} read 4 {STATUS:#x}\n"


@pytest.mark.parametrize("big", sampled([False, True], 2))
def test_registers(bench: Bench, big: bool) -> None:
    """What is there at the start, what of it can be written when, in both byte orders."""
    queue = Queue(memory=bytearray(RAM))
    steps: list[tuple[int, int | None, int]] = [  # register, written or None, read
        (0, None, 0x74726976), (4, None, 2), (8, None, 2), (0x10, None, 0x10000244), (0x34, None, 16), (0x44, None, 0), (0x60, None, 0), (STATUS, None, 0),
        (0xB0, None, 0xFFFFFFFF), (0xFC, None, 0), (0x100, None, CAPACITY), (0x104, None, 0), (0x10C, None, 14), (0x114, None, 512), (0x200, None, 0),
        (0x14, 1, 0), (0x10, None, 1), (0x14, 2, 0), (0x10, None, 0),
        (STATUS, 3, 0), (STATUS, 11, 0), (STATUS, None, 3),                                    # VERSION_1 must be taken,
        (0x24, 1, 0), (0x20, 1, 0), (0x24, 0, 0), (0x20, 1 << 5, 0), (STATUS, 11, 0), (STATUS, None, 3),  # and nothing that is not offered
        (0x20, 1 << 9, 0), (STATUS, 11, 0), (STATUS, None, 11),
        (0x30, 1, 0), (0x34, None, 0), (0x44, 1, 0), (0x44, None, 0), (0x30, 0, 0),             # there is no second queue
        (0x38, 8, 0), (0x80, TABLE, 0), (0x44, 1, 0), (0x44, None, 1), (0x44, 0, 0), (0x44, None, 0),
        (STATUS, 0, 0), (STATUS, None, 0), (0x38, 5, 0), (0x44, 1, 0), (0x44, None, 0), (STATUS, None, NEEDS_RESET), (STATUS, 3, 0), (STATUS, None, 67), (STATUS, 0, 0), (STATUS, None, 0),
    ]  # fmt: skip
    order = "big" if big else "little"
    script = "".join(f"0 read 4 {register:#x}\n" if value is None else write(0, register, value, big) for register, value, _ in steps)
    script += "0 read 1 0x1\n0 read 2 0x114\n0 read 8 0x100\n0 write 1 0x70 3\n0 write 8 0x70 3\n0 fetch_or 4 0x70 3\n0 barrier 1 0\n0 write 1 0x100 3\n"
    ran, _, values = play(bench, queue, script, 400, DISK, big=big, body="queue = 16;")
    found = [int.from_bytes(value.to_bytes(8, "little")[:4], order) for value in values]
    assert [(register, found[k]) for k, (register, written, _) in enumerate(steps) if written is None] == [(r, shown) for r, written, shown in steps if written is None]
    rest = values[len(steps) :]
    assert rest[:3] == [ord("i"), int.from_bytes(b"\0\2", order), int.from_bytes(bytes([CAPACITY, *bytes(7)]), order)]
    errors = [line.split()[2] for line in (ran.directory / "accesses").read_text().splitlines()][len(steps) + 3 :]
    assert errors == ["1", "1", "1", "0", "0"]
    assert ran.counted("dut") == {"failures": 1}


PORTS = {
    "in.request": ("in", 1, "mem_request(64)"), "in.reply": ("out", 1, "mem_reply(64)"),
    "memory.request": ("out", 1, "mem_request(64)"), "memory.reply": ("in", 1, "mem_reply(64)"),
    "disk.request": ("out", 1, "disk_request"), "disk.data": ("out", 1, "disk_sector"),
    "disk.reply": ("in", 1, "disk_reply"), "disk.sectors": ("in", 1, "uint64"), "interrupt": ("out", 1, "bool"),
}  # fmt: skip


@seldom
def test_a_flush_cycle_by_cycle(bench: Bench) -> None:
    """With a memory that replies in the cycle behind, and a disk that does: every step, and what is asked in it."""
    steps = [line.split() for line in set_up(0, Queue(size=8)).splitlines()]
    rows = ["in_request | memory_request | memory_reply | disk_request | disk_reply | disk_sectors | interrupt"]
    rows += [f"{request('write', int(register, 0), 4, int(value, 0))} | . | . | . | . | 8 | false" for _, _, _, register, value in steps]

    def asks(op: str, address: int, size: int, data: int, at: int = 0) -> None:
        tag = at | (size - 1) << 10
        carried = data if op == "read" else 0
        rows.append(f". | {request(op, address, size, 0 if op == 'read' else data, tag=tag)} | . | . | . | 8 | false")
        rows.append(f". | . | {reply(carried, tag)} | . | . | 8 | false")

    def pause() -> None:
        rows.append(". | . | . | . | . | 8 | false")

    def descriptor(index: int, address: int, length: int, flags: int, following: int) -> None:
        """Two words, the second of which is asked for in the cycle of the first's reply."""
        first, second = 7 << 10, 8 | 7 << 10
        rows.append(f". | {request('read', TABLE + 16 * index, 8, tag=first)} | . | . | . | 8 | false")
        rows.append(f". | {request('read', TABLE + 16 * index + 8, 8, tag=second)} | {reply(address, first)} | . | . | 8 | false")
        rows.append(f". | . | {reply(length | flags << 32 | following << 48, second)} | . | . | 8 | false")

    pause()  # the notification is seen
    asks("read", AVAILABLE, 4, 1 << 16)
    asks("read", AVAILABLE + 4, 2, 3)
    descriptor(3, 0x4000, 16, NEXT, 1)
    descriptor(1, 0x5007, 1, WRITABLE, 0)
    rows.append(f". | {request('read', 0x4000, 8, tag=7 << 10)} | . | . | . | 8 | false")
    rows.append(f". | {request('read', 0x4008, 8, tag=8 | 7 << 10)} | {reply(FLUSH, 7 << 10)} | . | . | 8 | false")
    rows.append(f". | . | {reply(0, 8 | 7 << 10)} | . | . | 8 | false")
    flush = struct(op="flush", tag=0, sector=0, count=0)
    rows.append(f". | . | . | {flush} | . | 8 | false")
    rows.append(f". | . | . | . | {struct(tag=0, last=True, error=False, bytes='0x0')} | 8 | false")
    asks("write", 0x5007, 1, 0)
    rows.append(f". | {request('write', USED + 4, 4, 3, tag=3 << 10)} | . | . | . | 8 | false")
    rows.append(f". | {request('write', USED + 8, 4, 1, tag=4 | 3 << 10)} | {reply(0, 3 << 10)} | . | . | 8 | false")
    rows.append(f". | . | {reply(0, 4 | 3 << 10)} | . | . | 8 | false")
    asks("write", USED + 2, 2, 1)
    asks("read", AVAILABLE, 4, 1 << 16)
    rows.append(". | . | . | . | . | 8 | true")
    rows.append(f"{request('write', 0x64, 4, 1)} | . | . | . | . | 8 | true")
    rows.append(". | . | . | . | . | 8 | false")
    device = BundleDevice(bench, "virtio_block", PORTS, "width = 64;", before="import memory_types;\nimport disk_types;\n")
    ran = device.check_table("\n".join(rows))
    assert ran.counted("dut") == {"notifications": 1, "chains": 1, "flushes": 1, "interrupts": 1}


class Model:
    """Random requests, and what memory and disk must hold afterwards."""

    def __init__(self, seed: int, count: int, size: int, indirect: bool, at: int = 0) -> None:
        self.rng, self.queue, self.disk = random.Random(seed), Queue(size=size, at=at), bytearray(DISK)
        self.place, self.wanted, self.lengths = BUFFERS, [], []
        self.statuses: list[tuple[int, int]] = []
        self.asked: list[tuple[int, int, int, int]] = []  # type, sector, bytes of sectors, status
        for k in range(count):
            self.add(self.rng.choice([READ, READ, WRITE, WRITE, FLUSH, IDENTITY, 77]), indirect and k % 3 != 0)

    def take(self, length: int) -> int:
        """A place that nobody has, of any alignment."""
        at = self.place + self.rng.randrange(8)
        self.place = at + length
        assert self.place <= RAM
        return at

    def parts(self, lengths: list[int], flags: int) -> list[tuple[int, int, int]]:
        return [(self.take(length), length, flags) for length in lengths]

    def put(self, parts: list[tuple[int, int, int]], data: bytes) -> None:
        for address, length, _ in parts:
            self.queue.memory[address : address + length], data = data[:length], data[length:]

    def add(self, kind: int, indirect: bool) -> None:
        rng, sectors = self.rng, self.rng.choice([0, 1, 1, 2, 3])
        sector, ragged = rng.randrange(CAPACITY + 1), rng.random() < 0.1
        data = rng.randbytes(512 * sectors + (5 if ragged else 0)) if kind == WRITE else b""
        room = {READ: 512 * sectors + (7 if ragged else 0), IDENTITY: rng.choice([0, 7, 20, 30])}.get(kind, 0)
        readable = self.parts(split(rng, 16 + len(data), 3), 0)
        writable = self.parts(split(rng, room + 1, 3), WRITABLE)
        self.put(readable, kind.to_bytes(8, "little") + sector.to_bytes(8, "little") + data)
        self.queue.chain(readable + writable, self.take(16 * 8) if indirect else None)
        moved, status = self.expect(kind, sector, data, room)
        last = [(address + length - 1) for address, length, _ in writable if length][-1]
        self.statuses.append((last, status))
        self.asked.append((kind, sector, len(data) if kind == WRITE else room, status))
        self.lengths.append(len(moved) + 1)
        self.wanted.append((writable, moved))

    def expect(self, kind: int, sector: int, data: bytes, room: int) -> tuple[bytes, int]:
        """What is written to memory, and the status."""
        if kind in (READ, WRITE):
            length = len(data) if kind == WRITE else room
            if length % 512 or sector + length // 512 > CAPACITY:
                return b"", 1
            if kind == READ:
                return bytes(self.disk[512 * sector :][:length]), 0
            self.disk[512 * sector : 512 * sector + length] = data
            return b"", 0
        if kind == IDENTITY:
            return b"spinach".ljust(20, b"\0")[:room], 0
        return b"", 0 if kind == FLUSH else 2

    def after(self) -> bytearray:
        """Memory but for what was used."""
        memory = bytearray(self.queue.memory)
        for (writable, moved), (last, status) in zip(self.wanted, self.statuses, strict=True):
            for address, length, _ in writable:
                taken, moved = moved[:length], moved[length:]
                memory[address : address + len(taken)] = taken
            memory[last] = status
        return memory


UNFRIENDLY: dict[str, object] = {"delay.latency": 4, "delay.jitter": 9, "delay.refuse": 0.3}


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("seed", sampled(range(4), 4))
def test_random_requests(bench: Bench, seed: int, big: bool) -> None:
    """Chains of any parts, in the queue's table and elsewhere, on a memory that is slow and refuses at random."""
    model = Model(seed, 12, 128, indirect=True)
    cycles = 30000
    ran, memory, _ = play(bench, model.queue, set_up(0, model.queue, INDIRECT_TABLES, big), cycles, DISK, UNFRIENDLY, big, seed=seed + 1)
    assert used(model.queue, memory) == list(zip(model.queue.heads, model.lengths, strict=True)), f"seed {seed}"
    assert memory[BUFFERS:] == model.after()[BUFFERS:], f"seed {seed}"
    assert (ran.directory / "after").read_bytes() == model.disk, f"seed {seed}"
    kinds = [kind for kind, *_ in model.asked]
    counted = {"chains": 12, "reads": kinds.count(READ), "writes": kinds.count(WRITE), "errors": sum(status > 0 for _, status in model.statuses), "failures": 0}
    assert {name: ran.counted("dut").get(name, 0) for name in counted} == counted, f"seed {seed}"


def simple(queue: Queue, kind: int, sector: int, address: int, data: bytes = b"") -> None:
    """Header, a sector and status, one behind the other from an address on."""
    queue.header(address, kind, sector)
    queue.memory[address + 16 : address + 16 + len(data)] = data
    queue.chain([(address, 16, 0), (address + 16, 512, 0 if kind == WRITE else WRITABLE), (address + 528, 1, WRITABLE)])


def test_the_queue_goes_round(bench: Bench) -> None:
    """Twice as many requests as it has places, a notification for each half; no interrupt where the driver wants none."""
    queue = Queue(size=4)
    simple(queue, READ, 3, BUFFERS)
    script = set_up(0, queue)
    first = bytes(queue.memory[AVAILABLE : AVAILABLE + 16])
    for _ in range(5):
        queue.offer(queue.heads[0])
    later = bytes(queue.memory[AVAILABLE : AVAILABLE + 16])
    queue.memory[AVAILABLE : AVAILABLE + 16] = first
    stores = virtio.store(3000, AVAILABLE, b"\1\0\4\0" + later[4:]) + virtio.store(6000, AVAILABLE, later)
    ran, memory, _ = play(bench, queue, script + write(3100, NOTIFY, 0) + write(6100, NOTIFY, 0), 9000, DISK, stores=stores)
    assert used(queue, memory)[-4:] == [(0, 513)] * 4 and len(used(queue, memory)) == 6
    assert memory[BUFFERS + 16 : BUFFERS + 529] == DISK[1536:2048] + b"\0"
    assert ran.counted("dut") == {"notifications": 3, "chains": 6, "reads": 6, "interrupts": 3}
    assert [line.value for line in read_monitor(ran.directory / "line")].index("true") < 600


ACTING = (0x14, 0x20, 0x24, virtio.QUEUE, 0x44, NOTIFY, 0x64, STATUS)  # registers that a write does something to, at any time
OF_THE_QUEUE = (0x38, 0x80, 0x84, 0x90, 0x94, 0xA0, 0xA4)  # and those of a queue that is not in use


def test_what_is_written_to_no_register_changes_nothing(bench: Bench) -> None:
    """Nor to those of a queue that is in use, nor to those of a queue that there is none of."""
    queue = Queue(size=16)
    simple(queue, READ, 9, BUFFERS)
    noise = [write(0, register, 0xFFFFFFFF) for register in range(0, 0x200, 4) if register not in (*ACTING, *OF_THE_QUEUE)]
    own = [write(0, register, 0xFFFFFFFF) for register in OF_THE_QUEUE]
    *steps, ready, started, notified = set_up(0, queue).splitlines(keepends=True)
    other = [write(0, virtio.QUEUE, 1), *own, write(0, virtio.QUEUE, 0)]
    script = [*steps, *noise, *other, ready, *noise, *own, started, *noise, *own, notified]
    ran, memory, _ = play(bench, queue, "".join(script), 3000, DISK)
    assert used(queue, memory) == [(0, 513)] and memory[BUFFERS + 16 : BUFFERS + 529] == DISK[9 * 512 : 10 * 512] + b"\0"
    assert ran.counted("dut") == {"notifications": 1, "chains": 1, "reads": 1, "interrupts": 1}


def broken(name: str) -> Queue:
    """A queue whose first chain is one that a driver must not make."""
    queue = Queue(size=16)
    simple(queue, READ, 1, BUFFERS)
    at, end = BUFFERS, RAM
    changes = {
        "comes back to itself": lambda: queue.descriptor(at, 16, NEXT, 0),
        "leads out of the table": lambda: queue.descriptor(at, 16, NEXT, 16),
        "begins outside": lambda: queue.memory.__setitem__(slice(AVAILABLE + 4, AVAILABLE + 6), b"\x10\0"),
        "reads behind writes": lambda: queue.descriptor(at + 528, 1, 0, 0, index=2),
        "no status": lambda: queue.descriptor(at, 16, 0, 0),
        "no header": lambda: queue.descriptor(at, 15, NEXT, 1),
        "runs ahead": lambda: queue.memory.__setitem__(slice(AVAILABLE + 2, AVAILABLE + 4), b"\x11\0"),
        "no memory for the header": lambda: queue.descriptor(end, 16, NEXT, 1),
        "no memory for the data": lambda: queue.descriptor(end - 8, 512, NEXT | WRITABLE, 2, index=1),
        "no memory for the status": lambda: queue.descriptor(end, 1, WRITABLE, 0, index=2),
        "beyond 32 bits": lambda: queue.descriptor(1 << 32, 512, NEXT | WRITABLE, 2, index=1),
        "beyond 64 bits": lambda: queue.descriptor((1 << 64) - 1, 512, NEXT | WRITABLE, 2, index=1),
        "a table that was not offered": lambda: queue.descriptor(0x8000, 48, INDIRECT, 0),
        "a table in a table": lambda: (queue.descriptor(0x8000, 48, INDIRECT, 0), queue.descriptor(0x9000, 48, INDIRECT, 0, 0x8000)),
        "a table and a next": lambda: queue.descriptor(0x8000, 48, INDIRECT | NEXT, 1),
        "a table of a half": lambda: queue.descriptor(0x8000, 24, INDIRECT, 0),
        "a table of none": lambda: queue.descriptor(0x8000, 0, INDIRECT, 0),
        "a table where nothing is": lambda: queue.descriptor(end, 48, INDIRECT, 0),
    }
    if name == "names":
        queue.heads = list(changes)  # type: ignore[arg-type]
    else:
        changes[name]()
    return queue


@pytest.mark.parametrize("name", sampled(broken("names").heads, 2))
def test_what_a_driver_must_not_do(bench: Bench, name: str) -> None:
    """The device says that it needs a reset, does nothing until then, and works again afterwards."""
    queue = broken(str(name))
    other = Queue(size=16, at=0x400, memory=queue.memory)
    simple(other, READ, 5, 0xA000)
    features = 0 if name == "a table that was not offered" else INDIRECT_TABLES
    script = set_up(0, queue, features) + "1500 read 4 0x60\n" + status_read(1500) + write(1501, 0x64, 3) + write(1502, NOTIFY, 0) + status_read(1990)
    script += set_up(2000, other) + status_read(3500)
    ran, memory, values = play(bench, queue, script, 4000, DISK, after=collect("dut", "failure()"))
    [(failed,)] = happened(ran, "failure")
    assert failed < 1500
    reads = [value for value, line in zip(values, script.splitlines(), strict=True) if " read " in line]
    assert reads == [2, DRIVER_OK | NEEDS_RESET, DRIVER_OK | NEEDS_RESET, DRIVER_OK]
    assert used(queue, memory) == [] and used(other, memory) == [(0, 513)]
    assert memory[0xA010 : 0xA010 + 513] == DISK[5 * 512 : 6 * 512] + b"\0"
    assert ran.counted("dut")["failures"] == 1 and ran.counted("dut")["chains"] == 1


@seldom
@pytest.mark.parametrize("seed", sampled(range(12), 4))
def test_queues_of_noise(bench: Bench, seed: int) -> None:
    """Bytes of a sound queue, or all of them, at random: whatever comes of it is defined, the device ends in peace or in need of a reset, and a reset helps."""
    rng = random.Random(seed)
    model = Model(seed, 4, 16, indirect=True)
    queue = model.queue
    places = [*range(TABLE, TABLE + 256), *range(AVAILABLE, AVAILABLE + 40), *range(BUFFERS, BUFFERS + 600)]
    for place in places if seed % 4 == 0 else rng.sample(places, 12):
        queue.memory[place] = rng.randrange(256)
    other = Queue(size=16, at=0x400)
    simple(other, READ, 5, 0x3800)
    anew = 31000, 0x1400, bytes(other.memory[0x1400:BUFFERS])  # whatever the device has written there
    script = set_up(0, queue, INDIRECT_TABLES) + status_read(30000) + write(30001, STATUS, 0) + set_up(36000, other) + status_read(39000)
    ran, memory, values = play(bench, queue, script, 40000, DISK, UNFRIENDLY, seed=seed + 1, stores=virtio.store(*anew))
    failures = ran.counted("dut").get("failures", 0)
    reads = [value for value, line in zip(values, script.splitlines(), strict=True) if " read " in line]
    assert failures <= 1 and reads == [DRIVER_OK | NEEDS_RESET * failures, DRIVER_OK], f"seed {seed}"
    assert used(other, memory) == [(0, 513)] and memory[0x3A10] == 0, f"seed {seed}"


@pytest.mark.parametrize("seed", sampled(range(6), 3))
@pytest.mark.parametrize("kind", [READ, WRITE])
def test_a_reset_at_any_time(bench: Bench, kind: int, seed: int) -> None:
    """In the midst of requests; the next driver's come out right, sectors are whole, and what was not given to the disk is not written."""
    rng = random.Random(seed)
    queue, data = Queue(size=16), [rng.randbytes(2048) for _ in range(2)]
    for k in range(2):
        at = BUFFERS + 0x1000 * k
        queue.header(at, kind, 8 * k)
        queue.memory[at + 16 : at + 16 + 2048] = data[k]
        queue.chain([(at, 16, 0), (at + 16, 2048, 0 if kind == WRITE else WRITABLE), (at + 2064, 1, WRITABLE)])
    other = Queue(size=16, at=0x400, memory=queue.memory)
    simple(other, READ, 20, 0xA000)
    when = rng.randrange(30, 7000)
    script = set_up(0, queue) + set_up(when, other) + status_read(when + 3000)
    ran, memory, values = play(bench, queue, script, when + 4000, DISK, UNFRIENDLY, seed=seed + 1)
    assert values[-1] == DRIVER_OK and used(other, memory) == [(0, 513)], f"seed {seed}: reset in cycle {when}"
    assert memory[0xA010 : 0xA010 + 513] == DISK[20 * 512 : 21 * 512] + b"\0"
    after = (ran.directory / "after").read_bytes()
    for k in range(2):
        new = [after[512 * n : 512 * (n + 1)] == data[k][512 * (n - 8 * k) :][:512] for n in range(8 * k, 8 * k + 4)]
        old = [after[512 * n : 512 * (n + 1)] == DISK[512 * n : 512 * (n + 1)] for n in range(8 * k, 8 * k + 4)]
        assert all(a != b for a, b in zip(new, old, strict=True)) and new == sorted(new, reverse=True), f"seed {seed}: reset in cycle {when}"
        assert kind == WRITE or all(old)


@pytest.mark.parametrize("cycle", sampled([60, 700, 2500], 3, 1))
def test_a_checkpoint_in_the_midst(bench: Bench, cycle: int, tmp_path: Path) -> None:
    model = Model(3, 8, 128, indirect=True)
    text = virtio.NETLIST.replace("ENDIAN", "false").replace("BODY", "") + collect("dut", "request(kind, sector, bytes, status)")
    for name, content in (("ram", bytes(model.queue.memory)), ("disk", DISK), ("script", set_up(0, model.queue, INDIRECT_TABLES).encode())):
        (tmp_path / name).write_bytes(content)
    simulator = bench.build(text)

    def run(name: str, *words: str) -> str:
        command = [simulator, "--quiet", "--set", f"line.record={name}.line", "--set", f"contents.commit={name}.after", "--print", "memory.bytes", *words]
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    settings = ["--set", "software.script=script", "--set", "software.outstanding=4", "--set", "contents.image=disk", "--set", "delay.jitter=7"]
    whole = run("whole", *settings, "--cycles", "9000")
    first = run("first", *settings, "--cycles", str(cycle), "--checkpoint", "point")
    rest = run("rest", "--restore", "point", "--cycles", "9000")

    def events(out: str) -> list[str]:
        return [line for line in out.splitlines() if line.startswith("@")]

    assert events(first) + events(rest) == events(whole) and [tuple(map(int, line.split()[2:])) for line in events(whole)] == model.asked
    assert [line for line in rest.splitlines() if not line.startswith("@")] == [line for line in whole.splitlines() if not line.startswith("@")]
    assert (tmp_path / "first.line").read_text() + (tmp_path / "rest.line").read_text() == (tmp_path / "whole.line").read_text()
    assert (tmp_path / "rest.after").read_bytes() == (tmp_path / "whole.after").read_bytes() == model.disk


def test_what_is_no_device_is_refused(bench: Bench) -> None:
    assert "the number of descriptors of a queue must be a power of two, not 100" in bench.refuse("import disk_types; instance d : virtio_block { queue = 100; };")
