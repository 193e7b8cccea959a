"""serial_eeprom: starts, stops and acknowledgments on the lines, reads, page writes, write cycles, contents at the start."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.modules.harness import Bench, Device, Ran, collect, happened, read_monitor
from tests.sample import sampled, seldom

CLOCK, DATA, DRIVE = 1, 2, 4
WRITE, READ = 0xA0, 0xA1
CYCLE = 100  # of writing, in cycles of 1 ns


@dataclass
class Master:
    """Drives the lines, one change every `step` cycles, and knows in which cycles what it reads is there.

    With `drives` it says when it drives the data line, as a chip with an output enable does; else it lets the line go by a 1.
    """

    drives: bool = False
    step: int = 3
    rng: random.Random | None = None
    cycle: int = 0
    lines: list[str] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)

    def set(self, clock: bool, data: bool | None) -> None:
        """One change; data None is to let the line go."""
        value = CLOCK * clock
        value |= DATA * bool(data) | DRIVE * (data is not None) if self.drives else DATA * (data is not False)
        self.lines.append(f"{self.cycle} {value:#x}")
        self.cycle += self.rng.randint(2, 9) if self.rng else self.step

    def start(self) -> "Master":
        for clock, data in (False, True), (True, True), (True, False), (False, False):
            self.set(clock, data)
        return self

    def stop(self) -> "Master":
        for clock, data in (False, False), (True, False), (True, True):
            self.set(clock, data)
        return self

    def bit(self, data: bool | None) -> None:
        """One clock; clock and data fall together, which is no start."""
        self.set(False, data)
        self.set(True, data)
        self.samples.append(self.cycle - 1)
        self.set(False, None if data is None else False)

    def byte(self, *values: int) -> "Master":
        """Sends bytes; the samples are the acknowledgments, and what the device says of the other bits."""
        for value in values:
            for k in range(8):
                self.bit(bool(value >> (7 - k) & 1))
            self.bit(None)
        return self

    def get(self, count: int) -> "Master":
        """Reads bytes and acknowledges all but the last."""
        for k in range(count):
            for _ in range(8):
                self.bit(None)
            self.bit(k == count - 1)
        return self

    def wait(self, cycles: int) -> "Master":
        self.cycle += cycles
        return self


class Eeprom:
    def __init__(self, bench: Bench, body: str = "", drives: bool = False) -> None:
        body = f"write_cycle = {CYCLE} ns; {f'drive_bits = {DRIVE};' if drives else ''} {body}"
        ports = {"lines": ("in", 1, "uint32"), "data": ("out", 1, "uint32")}
        after = collect("dut", "read(address, value)", "written(address, value)")
        self.device = Device(bench, "serial_eeprom", ports, body, after=after)

    def play(self, master: Master, ready: float = 1.0, seed: int = 1, **settings: object) -> list[int]:
        """What the lines carried as bytes, of nine bits each, the acknowledgment lowest; only the device's part of it."""
        values = {
            "lines_source[0].script": "lines", "data_monitor[0].record": "seen", "data_monitor[0].idle": True, "data_sink[0].ready": ready,
        } | {f"dut.{name}": value for name, value in settings.items()}  # fmt: skip
        files = {"lines": "\n".join(master.lines) + "\n"}
        self.ran: Ran = self.device.bench.run(self.device.simulator, master.cycle + 3, values, files=files, seed=seed)
        seen = [line.value == "1" for line in read_monitor(self.ran.directory / "seen")]
        bits = [seen[cycle] for cycle in master.samples]
        return [int("".join(str(int(bit)) for bit in bits[k : k + 9]), 2) for k in range(0, len(bits), 9)]


ACK, NONE = 0x1FE, 0x1FF  # of a byte that was sent: the device let the line go in all bits but the last, or in that as well


def got(value: int) -> int:
    return value << 1 | 1


@pytest.fixture(scope="module", params=[False, True], ids=["open-drain", "driven"])
def drives(request: pytest.FixtureRequest) -> bool:
    return request.param


@seldom
def test_the_reply_comes_in_the_cycle_after_the_clock_has_fallen(bench: Bench) -> None:
    """Lines and answer, cycle by cycle: the end of the byte that selects the device, and the end of its acknowledgment."""
    rows, level = ["lines | data"], 0
    wanted = Master(step=1).start().byte(WRITE).lines
    for k, line in enumerate(wanted):
        level += (k == 4 + 3 * 8) - (k == 4 + 3 * 9)
        rows.append(f"{line.split()[1]} | {0 if level else 1}")
    rows.append(". | 1")
    Eeprom(bench).device.check_table("\n".join(rows))


def test_bytes_at_an_address_and_behind_it(bench: Bench, drives: bool) -> None:
    """Written in one page, read in sequence; the next access goes on there."""
    eeprom, master = Eeprom(bench, drives=drives), Master(drives)
    master.start().byte(WRITE, 0x01, 0x20, 0x11, 0x22, 0x33).stop().wait(CYCLE)
    master.start().byte(WRITE, 0x01, 0x20).start().byte(READ).get(2).stop().start().byte(READ).get(1).stop()
    assert eeprom.play(master) == [ACK] * 10 + [got(0x11), got(0x22), ACK, got(0x33)]
    assert [told[1:] for told in happened(eeprom.ran, "written")] == [(0x120 + k, 0x11 * (k + 1)) for k in range(3)]
    assert [told[1:] for told in happened(eeprom.ran, "read")] == [(0x120, 0x11), (0x121, 0x22), (0x122, 0x33)]
    assert eeprom.ran.counted("dut") == {"read_bytes": 3, "written_bytes": 3, "write_cycles": 1}


@seldom
def test_addresses_wrap_in_the_page_and_at_the_end(bench: Bench) -> None:
    """What is written behind a page's end comes to its beginning, over what came first; what is read goes on in the next page."""
    eeprom, master = Eeprom(bench, "size = 4 KiB; page = 16 B;"), Master()
    master.start().byte(WRITE, 0x0F, 0xFC, *range(18)).stop().wait(CYCLE)
    master.start().byte(WRITE, 0x0F, 0xF0).start().byte(READ).get(17).stop()
    page = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 2, 3]
    assert eeprom.play(master)[-17:] == [got(value) for value in [*page, 0xFF]]
    assert eeprom.ran.stat("dut", "written_bytes") == 16


def test_it_does_not_reply_while_it_writes(bench: Bench) -> None:
    """A master that asks until it answers; and what it asks for meanwhile is not done."""
    eeprom, master = Eeprom(bench), Master(step=1)
    master.start().byte(WRITE, 0, 0, 0x55).stop()
    began = master.cycle - 1
    for _ in range(6):
        master.start().byte(WRITE)
    answers = eeprom.play(master)[4:]
    ends = [began + 31 * (k + 1) for k in range(6)]
    assert answers == [NONE if end - began < CYCLE else ACK for end in ends] and NONE in answers and ACK in answers
    assert eeprom.ran.stat("dut", "refusals") == answers.count(NONE)


def test_what_begins_no_write_cycle(bench: Bench) -> None:
    """No stop, a stop inside a byte, no byte at all: the memory stays as it was, and the device answers at once."""
    eeprom, master = Eeprom(bench), Master()
    master.start().byte(WRITE, 0, 0, 0x11)
    master.start().byte(WRITE, 0, 0, 0x22)
    for k in range(3):
        master.bit(bool(k))
    master.stop()
    master.samples = master.samples[:-3]
    master.start().byte(WRITE, 0, 0).stop()
    master.start().byte(READ).get(1).stop()
    assert eeprom.play(master) == [ACK] * 12 + [got(0xFF)]
    assert eeprom.ran.counted("dut") == {"read_bytes": 1}


@seldom
def test_another_device_is_meant(bench: Bench) -> None:
    """It stays silent until the next start, whatever is sent; its own address is that of its pins."""
    eeprom, master = Eeprom(bench, "address = 5;"), Master()
    for select in 0xA0, 0xB0, 0xAA, 0xA8:
        master.start().byte(select)
    master.byte(0, 0).stop().start().byte(0xAA).stop()
    assert eeprom.play(master) == [NONE, NONE, ACK, NONE, NONE, NONE, ACK]


def test_the_contents_at_the_start(bench: Bench, tmp_path: Path) -> None:
    """From a file, with bytes put over it; erased behind it."""
    (tmp_path / "image").write_bytes(bytes(range(1, 5)))
    eeprom, master = Eeprom(bench), Master()
    master.start().byte(WRITE, 0, 0).start().byte(READ).get(11).stop().start().byte(WRITE, 0x1F, 0xFF).start().byte(READ).get(1).stop()
    seen = eeprom.play(master, image=tmp_path / "image", contents="01=aBcD,0x1fff=07,010=5a")
    assert seen[4:15] == [got(v) for v in (1, 0xAB, 0xCD, 4, *[0xFF] * 6, 0x5A)] and seen[-1] == got(7)


@pytest.mark.parametrize("contents", ["8192=00", "8191=0011", "0=1", "0=", "5", "0=11,", "0=11;1=22", "x=11"])
def test_contents_that_make_no_sense_are_refused(contents: str, bench: Bench) -> None:
    ran = bench.run(Eeprom(bench).device.simulator, 5, {"dut.contents": contents}, ok=False)
    assert "does not begin with an address below 8192, '=' and bytes in hexadecimal" in ran.err


def test_an_image_that_does_not_fit_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(8193))
    ran = bench.run(Eeprom(bench).device.simulator, 5, {"dut.image": tmp_path / "image"}, ok=False)
    assert "image: 8193 bytes do not fit into 8192" in ran.err


def test_sizes_that_there_are_not_are_refused(bench: Bench) -> None:
    text = "instance s : source; instance k : sink; instance e : serial_eeprom { page = 24 B; }; s.out -> e.lines; e.data -> k.in;"
    assert "powers of two" in bench.refuse(text)


@pytest.mark.parametrize("seed", sampled(range(4), 4))
def test_random_accesses(seed: int, bench: Bench, drives: bool) -> None:
    """Against a memory of bytes, with changes of the lines at random times and a reader that is not always ready."""
    rng = random.Random(seed)
    size, page = 4096, 32
    memory, place = bytearray(b"\xff" * size), 0
    eeprom, master, wanted = Eeprom(bench, f"size = {size} B; page = {page} B;", drives), Master(drives, rng=rng), []
    for _ in range(25):
        kind = rng.choice(["write", "read", "current", "other", "dropped"])
        at = rng.randrange(size)
        if kind in ("write", "dropped"):
            data = rng.randbytes(rng.randint(1, 40))
            master.start().byte(WRITE, at >> 8 | rng.choice([0, 0x50]), at & 255, *data)
            wanted += [ACK] * (3 + len(data))
            for k, value in enumerate(data):
                if kind == "write":
                    memory[at - at % page + (at + k) % page] = value
            place = at - at % page + (at + len(data)) % page
            if kind == "write":
                master.stop().wait(CYCLE)
        elif kind == "other":
            master.start().byte(WRITE | 2 * rng.randint(1, 7), *rng.randbytes(2)).stop()
            wanted += [NONE] * 3
        else:
            if kind == "read":
                master.start().byte(WRITE, at >> 8, at & 255)
                wanted += [ACK] * 3
                place = at
            count = rng.randint(1, 6)
            master.start().byte(READ).get(count)
            wanted += [ACK] + [got(memory[(place + k) % size]) for k in range(count)]
            place = (place + count) % size
            if rng.random() < 0.5:
                master.stop()
    assert eeprom.play(master, ready=0.5, seed=seed + 1) == wanted, f"seed {seed}"
