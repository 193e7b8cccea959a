"""The whole NIC with a station at its wire, and beside its driver a kernel module and a user's program, whose requests to the card's
window and to host memory are scripts."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.isa.programs import symbols
from tests.message_queues.queues import COMPLETIONS, ENTRIES, PAGE, PAGES, C
from tests.modules.harness import collect
from tests.tigon2.test_station import machine

SHARED = """
instance program : memory_source on sram_clk { width = 512; };
instance program_window : memory_source on sram_clk;
instance memory_share : memory_arbiter on sram_clk { width = 512; };
instance window_share : memory_arbiter on sram_clk;
driver.memory -> memory_share.in["driver"];
program.memory -> memory_share.in["program"];
memory_share.out -> host.memory;
driver.window -> window_share.in["driver"];
program_window.memory -> window_share.in["program"];
window_share.out -> host.window;
"""
WINDOW_BASE, WINDOW = 0x68, 0x800
MAILBOX = {"send": 0x504 + 8 * C["MESSAGE_SEND_MAILBOX"], "receive": 0x504 + 8 * C["MESSAGE_RECEIVE_MAILBOX"]}
UP = 100_000  # cycles of 10 ns: the driver has the link by then


def netlist(root: Path) -> str:
    """The machine of test_station.py with a program beside the driver."""
    text = re.sub(r"^driver\.(memory|window) -> .*\n", "", machine(root), flags=re.M)
    seen = collect("nic.dma_write", "done(host, length)") + collect("station", "arrived(length)")
    return text.replace('nic.bus["dma_read"] ->', SHARED + 'nic.bus["dma_read"] ->', 1) + seen


@dataclass
class Done:
    """What a run left: cycles at which a DMA write ended, by its host address, and the program's memory at the end."""

    ends: list[tuple[int, int, int]]
    memory: bytes
    arrivals: list[tuple[int, int]]  # at the station: cycles and lengths with FCS of frames

    def word(self, at: int) -> int:
        return int.from_bytes(self.memory[at - COMPLETIONS :][:4], "big")

    def completion(self, queue: str, number: int) -> tuple[int, int]:
        at = COMPLETIONS + (0x200 if queue == "receive" else 0) + number % ENTRIES * 8
        length, done = self.word(at), self.word(at + 4)
        assert done >> 8 == number & 0xFFFFFF, f"{queue} {number} is not complete: {done:#x}"
        return done & 0xFF, length

    def completed_at(self, queue: str, number: int) -> int:
        """The cycle of it."""
        at = COMPLETIONS + (0x200 if queue == "receive" else 0) + number % ENTRIES * 8
        return [cycle for cycle, host, length in self.ends if host == at and length == 8][number // ENTRIES]

    def data(self, page: int, count: int) -> bytes:
        at = PAGES - COMPLETIONS + page * PAGE
        return self.memory[at : at + count]


class Program:
    """The scripts.  Its memory is one buffer of pages that follow each other, which completions come before.

    With `own_page`, the kernel shows it its page of the NIC's memory by the user pages of the card, and it writes nothing else.
    """

    def __init__(self, firmware: Path, pages: int = 64, own_page: bool = False) -> None:
        self.own_page = own_page
        self.firmware, self.area = firmware, symbols(firmware)["message_area"]
        self.window: list[str] = []
        self.memory: list[str] = []
        self.cycle = UP
        self.based = -1
        self.counts = {"send": 0, "receive": 0}
        for n in range(pages):
            self.nic(self.area + 0x1000 + 4 * n, PAGES + n * PAGE | pages - n)
        for n, value in enumerate([1, COMPLETIONS, 0x0200, 0x00000002], 1):
            self.nic(self.area + 0x2000 + 4 * n, value)
        if own_page:
            self.write(C["MESSAGE_USER_BASE"], self.area)
        self.cycle = 2 * UP

    def write(self, offset: int, value: int) -> None:
        self.window.append(f"{self.cycle} write 4 {offset:#x} {value:#x}")

    def nic(self, address: int, value: int) -> None:
        """A word of the NIC's memory, through the window."""
        if address & ~0x7FF != self.based:
            self.based = address & ~0x7FF
            self.write(WINDOW_BASE, self.based)
        self.write(WINDOW + (address & 0x7FF), value)

    def put(self, at: int, data: bytes) -> None:
        for k in range(0, len(data), 64):
            part = data[k : k + 64]
            value = int.from_bytes(part, "little")
            self.memory.append(f"{UP} write {len(part)} {PAGES + at + k:#x} {value:#x}")

    def post(self, queue: str, offset: int, length: int) -> int:
        number = self.counts[queue]
        at = (0x400 if queue == "receive" else 0) + number % ENTRIES * 16
        for n, value in enumerate((0, offset, length, 0)):
            if self.own_page:
                self.write(C["MESSAGE_USER_PAGE"] + at + 4 * n, value)
            else:
                self.nic(self.area + at + 4 * n, value)
        self.counts[queue] += 1
        return number

    def ring(self, queue: str) -> None:
        if self.own_page:
            both = (self.counts["send"] & 0xFFFF) << 16 | self.counts["receive"] & 0xFFFF
            self.write(C["MESSAGE_USER_PAGE"] + PAGE - 4, both)
        else:
            self.write(MAILBOX[queue], self.counts[queue])

    def command(self, simulator: Path, folder: Path, *options: object, count: int = 0) -> list[str]:
        """A run that ends two milliseconds after the last request; `count` bytes of the buffer are read then."""
        self.size, end = PAGES - COMPLETIONS + count, self.cycle + 200_000
        reads = [f"{end} read 64 {at:#x}" for at in range(COMPLETIONS, COMPLETIONS + self.size, 64)]
        (folder / "window").write_text("".join(line + "\n" for line in self.window))
        (folder / "memory").write_text("".join(line + "\n" for line in self.memory + reads))
        settings = {"program.script": "memory", "program.record": "seen", "program_window.script": "window"}
        words = [simulator, "--quiet", "--watchdog", "1 s", "--firmware", self.firmware, *options]
        words += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        return [*map(str, words), "--time", f"{(end + 5 * len(reads)) // 100 + 20} us"]

    def run(self, simulator: Path, folder: Path, *options: object, count: int = 0) -> Done:
        command = self.command(simulator, folder, *options, count=count)
        return self.ran(subprocess.run(command, cwd=folder, capture_output=True, text=True), folder)

    def ran(self, done: subprocess.CompletedProcess[str], folder: Path) -> Done:
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines()]
        ends, arrivals = ([tuple(map(int, line[1:])) for line in lines if line[:1] == [f"@{name}"]] for name in ("done", "arrived"))
        seen = [int(line.split()[3], 16) for line in (folder / "seen").read_text().splitlines() if line]
        read = seen[-((self.size + 63) // 64) :]
        return Done(ends, b"".join(value.to_bytes(64, "little") for value in read)[: self.size], arrivals)
