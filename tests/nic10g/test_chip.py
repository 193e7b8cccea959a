"""The 10 Gb/s NIC without processors: scripts refer to scratchpad, registers and frame memory in their place."""

import re
import struct
from pathlib import Path

import pytest

from harness.net import packets
from tests.modules.assists import pcap
from tests.modules.harness import Bench, read_replies
from tests.sample import seldom

REGISTERS, FRAMES, RECEIVE = 0xC0000000, 0x80000000, 0x80100000
FETCH, READ, REPORT, WRITE, MAC_TX, MAC_RX = 0x38000, 0x3A000, 0x3C000, 0x3E000, 0x36000, 0x37000
SET, UPDATE = 0x01000000, 0x01800000

NETLIST = """
import nic10g_chip;
clock frame_clk = 500 MHz;
clock cpu_clk = 200 MHz;
instance nic : nic10g_chip {{ processors = 0; cpu_clock = cpu_clk; {options} }};
instance requester[2] : memory_source on cpu_clk;
instance host : host_bus {{ memory_size = 1 MiB; interrupt_bits = 1; masking_bits = 0x40; bus_frequency = 533 MHz; }};
instance software : memory_source {{ width = 512; }};
instance window : memory_source;
instance ethernet : ethernet {{ rate = 10 Gb/s; }};
instance alarms : sink;
for (i = 0; i < 2; i = i + 1) {{
  requester[i].width = 32;
  requester[i].memory -> nic.requester;
}}
nic.bus["dma_read"] -> host.bus["dma_read"];
nic.bus["dma_write"] -> host.bus["dma_write"];
host.device -> nic.window;
nic.interrupt -> host.interrupt;
nic.wire_out -> ethernet.from_device;
ethernet.to_device -> nic.wire_in;
nic.ready -> ethernet.ready;
software.memory -> host.memory;
window.memory -> host.window;
host.interrupting -> alarms.in;
"""


class Chip:
    """The chip; run() plays scripts of requests, each of which waits for the reply of the one before."""

    def __init__(self, bench: Bench, root: Path, options: str = "") -> None:
        table = (root / "examples/nic10g/nic10g_registers.lss").read_text()
        self.table = {name: int(offset, 16) for name, offset in re.findall(r'name = "(\w+)", offset = (0x\w+)', table)}
        self.bench, self.simulator = (
            bench,
            bench.build(NETLIST.format(options=options), "-I", str(root / "examples/nic10g")),
        )

    def place(self, where: str | int) -> int:
        return REGISTERS + self.table[where] if isinstance(where, str) else where

    def write(self, where: str | int, value: int, cycle: int = 0) -> str:
        return f"{cycle} write 4 {self.place(where):#x} {value:#x}"

    def read(self, where: str | int, cycle: int = 0) -> str:
        return f"{cycle} read 4 {self.place(where):#x}"

    def store(self, address: int, data: bytes) -> list[str]:
        return [self.write(address + i, int.from_bytes(data[i : i + 4], "big")) for i in range(0, len(data), 4)]

    def load(self, address: int, size: int, cycle: int = 0) -> list[str]:
        return [self.read(address + i, cycle) for i in range(0, size, 4)]

    def run(
        self,
        *scripts: list[str],
        cycles: int = 3000,
        window: list[str] | None = None,
        memory: list[str] | None = None,
        settings: dict | None = None,
        files: dict | None = None,
    ) -> list[list[int]]:
        """The values that came back, for each script, the window and host memory."""
        names = ["requester[0]", "requester[1]", "window", "software"]
        texts = [*scripts, *[[]] * (2 - len(scripts)), window or [], memory or []]
        values: dict[str, object] = dict(settings or {})
        contents = dict(files or {})
        for i, (name, lines) in enumerate(zip(names, texts, strict=True)):
            after, ordered = 0, []
            for line in lines:  # a line without a cycle of its own follows the one before
                when, rest = line.split(" ", 1)
                after = max(after, int(when))
                ordered.append(f"{after} {rest}\n")
            contents[f"script{i}"] = "".join(ordered)
            values |= {f"{name}.script": f"script{i}", f"{name}.record": f"seen{i}", f"{name}.outstanding": 1}
        self.last = self.bench.run(self.simulator, cycles, values, files=contents)
        self.replies = [read_replies(self.last.directory / f"seen{i}") for i in range(4)]
        for lines, got in zip(texts, self.replies, strict=True):
            assert len(got) == len(lines), f"{len(lines) - len(got)} requests were not answered"
        return [[a.data for a in got] for got in self.replies]


@pytest.fixture(scope="module")
def bench(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(build_dir / "bin" / "lss", tmp_path_factory.mktemp("nic10g_chip"), "-O0")


@pytest.fixture(scope="module")
def chip(bench: Bench, root: Path) -> Chip:
    return Chip(bench, root)


def test_how_long_requests_take(chip: Chip) -> None:
    """Scratchpad and registers in the next cycle, frame memory later; addresses of one bank take turns."""
    chip.run([chip.read(0x100, 10), chip.read("cores", 20), chip.read(FRAMES, 30)], [chip.read(0x110, 10)])
    mine, other = chip.replies[0], chip.replies[1]
    assert sorted([mine[0].cycle, other[0].cycle]) == [11, 12]
    assert mine[1].cycle == 21 and 34 < mine[2].cycle < 50


def test_a_store_is_there_before_a_later_one_to_a_register(chip: Chip) -> None:
    """Another requester that sees the register's new value sees the memory's, too."""
    values = chip.run(
        [chip.write(0x204, 7, 50), chip.write("general_0", 1)],
        [line for k in range(30) for line in (chip.read("general_0", 45), chip.read(0x204))],
    )[1]
    pairs = list(zip(values[::2], values[1::2], strict=True))
    assert (0, 0) in pairs and (1, 7) in pairs and (1, 0) not in pairs


def test_sets_and_updates_of_flags(chip: Chip) -> None:
    word = 0x300
    script = [
        chip.write(word, 0b1),
        chip.write(SET + word, 0b100),
        chip.read(SET + (1 << 18) + word),
        chip.read(word),
        chip.read(SET + (4 << 18) + word),
    ]
    script += [
        chip.read(UPDATE + word),
        chip.read(word),
        chip.read(UPDATE + word),
        chip.read(UPDATE + (4 << 18) + word),
        chip.read(word),
    ]
    assert chip.run(script)[0] == [0, 1, 0b101, 0b111, 0b111, 3, 0b10000, 0, 1, 0]


def test_one_of_two_gets_the_run(chip: Chip) -> None:
    word = 0x300
    first, second, *_ = chip.run([chip.write(word, 0xFF), chip.read(UPDATE + word, 50)], [chip.read(UPDATE + word, 50)])
    assert sorted([first[1], second[0]]) == [0, 8]


@seldom
def test_without_the_windows(bench: Bench, root: Path) -> None:
    plain = Chip(bench, root, "atomic_flags = false;")
    plain.run([plain.read("features"), plain.read(SET + 0x300), plain.read(UPDATE + 0x300)])
    assert [a.error for a in plain.replies[0]] == [False, True, True] and plain.replies[0][0].data == 0


def test_an_address_of_nothing_is_an_error(chip: Chip) -> None:
    script = [f"0 read 4 {address:#x}" for address in (0x02000000, 0x90000000, 0xC0000400, 0xC00003FC)]
    chip.run(script)
    assert [a.error for a in chip.replies[0]] == [True, True, True, False]


def test_load_linked_and_store_conditional(chip: Chip) -> None:
    mine = [
        "0 load_linked 4 0x400 0",
        "20 store_conditional 4 0x400 5",
        "0 load_linked 4 0x400 0",
        "60 store_conditional 4 0x400 6",
        "0 read 4 0x400",
    ]
    assert chip.run(mine, ["40 write 4 0x400 9"])[0] == [0, 1, 5, 0, 9]


def test_counts_additions_claims_and_events(chip: Chip) -> None:
    script = [
        chip.read("events"),
        chip.write("mac_rx_claim_add", 3),
        chip.write("mac_rx_claim_add", 2),
        chip.read("mac_rx_claim"),
        chip.read("events"),
    ]
    script += [
        chip.write("event_set", 0x50000000),
        chip.write("event_set", 0x1),
        chip.write("event_clear", 0x10000000),
        chip.read("events"),
        chip.read("events", 300),
    ]
    script += [chip.write("timer_compare", 1000), chip.read("events")]
    script += [chip.write("mac_rx_claim", 0), chip.write("event_clear", 0xFFFF0000), chip.read("events")]
    values = chip.run(script, window=["800 write 4 0x40 4", "0 write 4 0x44 1"])[0]
    assert [values[k] for k in (0, 3, 4)] == [0x100, 5, 0x120]
    assert (values[8], values[9] & ~3, values[11] & ~3, values[14] & ~3) == (0x40000120, 0x40000120, 0x40000020, 0)
    assert chip.run([chip.read("events", 600)], window=["0 write 4 0x40 4", "0 write 4 0x44 1"])[0] == [0x103]


def test_the_hosts_window_reaches_every_memory(chip: Chip) -> None:
    window = [
        "0 write 4 0x34 0x1000",
        "0 write 4 0x810 0x12345678",
        "0 write 4 0x34 0x4000000",
        "0 write 4 0x820 0xcafe",
        "0 read 4 0x820",
        "0 read 4 0x4",
    ]
    values = chip.run([chip.read(0x1010, 400)], window=window)
    assert values[0] == [0x12345678] and values[2][-2:] == [0xCAFE, 0]


def test_the_interrupt(chip: Chip) -> None:
    chip.run(
        [chip.write("interrupt", 1, 20), chip.read("interrupt", 600)],
        window=["1000 write 4 0x30 0"],
        settings={"alarms.record": "alarms"},
    )
    lines = [line.split() for line in (chip.last.directory / "alarms").read_text().splitlines()]
    rang = [int(cycle) for cycle, value in lines if value in ("1", "true")]
    assert rang and 540 < rang[0] < 620 and rang[-1] < 1100


def dma(host: int, nic: int, length: int, control: int = 0) -> bytes:
    return struct.pack(">IIII", host, nic, control << 16 | length, 0)


def to_host(address: int, data: bytes) -> list[str]:
    return [
        f"0 write {len(data[i : i + 64])} {address + i:#x} {int.from_bytes(data[i : i + 64], 'little'):#x}"
        for i in range(0, len(data), 64)
    ]


def frame(size: int, number: int) -> bytes:
    return (
        bytes.fromhex("020000000009020000000007")
        + b"\x88\xb5"
        + bytes((number * 7 + k) & 0xFF for k in range(size - 14))
    )


def test_dma_between_host_and_scratchpad(chip: Chip) -> None:
    """In by ring fetch, out by ring report; counts move when it is done."""
    data = bytes(range(1, 101))
    script = [
        *chip.store(FETCH, dma(0x1000, 0x2004, 100)),
        *chip.store(REPORT, dma(0x3002, 0x2004, 100)),
        chip.write("fetch_producer_add", 1, 200),
    ]
    script += [
        chip.read("fetch_consumer", 500),
        *chip.load(0x2004, 100),
        chip.write("report_producer_add", 1),
        chip.read("report_consumer", 1000),
    ]
    values = chip.run(script, cycles=5000, memory=[*to_host(0x1000, data), "3000 read 64 0x3002", "0 read 36 0x3042"])
    assert values[0][9] == 1 and values[0][-1] == 1
    assert b"".join(v.to_bytes(4, "big") for v in values[0][10:35]) == data
    assert values[3][-2].to_bytes(64, "little") + values[3][-1].to_bytes(36, "little") == data


@pytest.mark.parametrize("sizes", [[60, 1514, 61, 300, 1000, 77], [1514] * 6])
def test_frames_both_ways(chip: Chip, sizes: list[int]) -> None:
    """Headers and the rest of each frame are fetched apart; received frames go where a descriptor says."""
    out, back = [frame(size, i) for i, size in enumerate(sizes)], [frame(size, 40 + i) for i, size in enumerate(sizes)]
    script, memory, at = [], [], RECEIVE
    for i, one in enumerate(out):
        memory += to_host(0x4000 + 2048 * i, one)
        script += chip.store(READ + 32 * i, dma(0x4000 + 2048 * i, FRAMES + 2048 * i, 42))
        script += chip.store(READ + 32 * i + 16, dma(0x4000 + 2048 * i + 42, FRAMES + 2048 * i + 42, len(one) - 42, 2))
        script += chip.store(MAC_TX + 8 * i, struct.pack(">II", FRAMES + 2048 * i, len(one)))
        script += chip.store(WRITE + 16 * i, dma(0x20000 + 2048 * i, at, len(one), 2))
        at += (len(one) + 7) // 8 * 8
    count = len(sizes)
    script += [
        chip.write("mac_tx_producer", count, 800),
        chip.write("read_producer", 2 * count),
        chip.write("mac_rx_state", 2),
    ]
    script += [chip.read("mac_rx_producer", 5000), *chip.load(MAC_RX, 8 * count), chip.write("write_producer", count)]
    names = [
        "mac_tx_consumer",
        "read_consumer",
        "write_consumer",
        "tx_buffer_consumer",
        "rx_buffer_reference",
        "rx_buffer_producer",
    ]
    script += [chip.read(name, 8000) for name in names]
    for i, one in enumerate(back):
        memory += [f"24000 read {len(one[k : k + 64])} {0x20000 + 2048 * i + k:#x}" for k in range(0, len(one), 64)]
    settings = {"ethernet.input": "in.pcap", "ethernet.output": "sent.pcap"}
    values = chip.run(script, cycles=30000, memory=memory, settings=settings, files={"in.pcap": pcap(back)})
    assert [p.data for p in packets.read(chip.last.directory / "sent.pcap")] == out
    assert values[0][-6:] == [count, 2 * count, count, FRAMES + 2048 * count, at, at]
    assert values[0][-7 - 2 * count : -7][1::2] == sizes and values[0][-8 - 2 * count] == count
    got = values[3][sum((len(one) + 63) // 64 for one in out) :]
    for one in back:
        pieces = [got.pop(0).to_bytes(64, "little")[: len(one[k : k + 64])] for k in range(0, len(one), 64)]
        assert b"".join(pieces) == one
