"""The accelerator at its ports: scripts of accesses by names of registers, and an automaton that is computed apart from it."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.modules.harness import Bench, Memory, Ran, Reply, collect, happened, read_monitor

TABLE = (Path(__file__).resolve().parents[2] / "examples/rule30/rule30_registers.lss").read_text()
OFFSETS = {name: int(offset, 16) for name, offset in re.findall(r'name = "(\w+)", offset = (0x\w+)', TABLE)} | {"input": 0x20, "output": 0xA0}
NOTIFY, CHAIN = 1, 2
COMPLETE, INTERRUPT, COMPUTING = 1, 2, 4
CELLS = 1024


def next_line(cells: list[int], rule: int) -> list[int]:
    """Of a ring: cell k of it depends on k - 1, k and k + 1."""
    table = [int(digit) for digit in f"{rule:08b}"[::-1]]
    return [table[int(f"{cells[k - 1]}{cells[k]}{cells[(k + 1) % len(cells)]}", 2)] for k in range(len(cells))]


def words(cells: list[int]) -> list[int]:
    """All 32 words of a line, with zeros after its end."""
    bits = "".join(map(str, cells)).ljust(CELLS, "0")
    return [int(bits[at : at + 32][::-1], 2) for at in range(0, CELLS, 32)]


@dataclass
class Script:
    """Accesses one after the other; `cycle` is that of the next one, which takes two."""

    cycle: int = 0
    lines: list[str] = field(default_factory=list)

    def _add(self, text: str) -> "Script":
        self.lines.append(f"{self.cycle} {text}")
        self.cycle += 2
        return self

    def write(self, register: str | int, value: int) -> "Script":
        return self._add(f"write 4 {OFFSETS.get(register, register):#x} {value:#x}")

    def read(self, *registers: str | int) -> "Script":
        for register in registers:
            self._add(f"read 4 {OFFSETS.get(register, register):#x}")
        return self

    def set_line(self, cells: list[int]) -> "Script":
        self.write("line_length", len(cells))
        for k, word in enumerate(words(cells)[: (len(cells) + 31) // 32]):
            self.write(OFFSETS["input"] + 4 * k, word)
        return self

    def read_line(self) -> "Script":
        return self.read(*(OFFSETS["output"] + 4 * k for k in range(CELLS // 32)))

    def start(self) -> int:
        """Its cycle."""
        self.write("start_compute", 1)
        return self.cycle - 2

    def at(self, cycle: int) -> "Script":
        assert cycle >= self.cycle
        self.cycle = cycle
        return self


class Accelerator:
    """In a bench, with a monitor on its interrupt."""

    def __init__(self, bench: Bench, body: str = "", width: int = 64, clock: str = "100 MHz", interrupt: bool = True) -> None:
        line = "instance line : monitor on clk;\ninstance end : sink on clk;\ndut.interrupt -> line.in;\nline.out -> end.in : bool;\n"
        self.interrupt = interrupt
        self.memory = Memory(
            bench,
            f"import rule30;\ninstance dut : rule30 on clk {{ width = {width}; {body} }};\nrequester[0].memory -> dut.in;\n"
            + (line if interrupt else "")
            + collect("dut", "started(length)", "completed(length)"),
            width=width,
            before=f"clock clk = {clock};\n",
            on="clk",
        )

    def replies(self, script: Script | list[str], cycles: int = 0, **settings: object) -> list[Reply]:
        """Of accesses in order; names of settings are parameters of the accelerator."""
        lines = script.lines if isinstance(script, Script) else script
        cycles = cycles or (script.cycle if isinstance(script, Script) else len(script)) + 10
        given: dict[str, object] = {f"dut.{name}": value for name, value in settings.items()}
        if self.interrupt:
            given["line.record"] = "line.txt"
        [replies] = self.memory.play([lines], cycles, given, outstanding=2)
        assert len(replies) == len(lines), "requests were left"
        return replies

    def play(self, script: Script, cycles: int = 0, **settings: object) -> list[int]:
        """What the reads returned."""
        replies = self.replies(script, cycles, **settings)
        assert not any(reply.error for reply in replies)
        return [reply.data for reply, line in zip(replies, script.lines, strict=True) if " read " in line]

    @property
    def last(self) -> Ran:
        return self.memory.last

    def happened(self, event: str) -> list[tuple[int, ...]]:
        return happened(self.last, event)

    def levels(self) -> list[tuple[int, bool]]:
        """The cycles from which on the interrupt has another level."""
        seen = [(line.cycle, line.value not in (None, "0", "false")) for line in read_monitor(self.last.directory / "line.txt")]
        return [now for before, now in zip([(-1, False), *seen], seen, strict=False) if now[1] != before[1]]
