"""Random firmware that goes round in loops, for processors that share words with one another and with a host.

Each processor runs without end through blocks: it polls a word until somebody changes it, counts a loop whose bound it changes
itself, adds to shared words with ll/sc, stores into its own and the others' code, waits for a timer, halts the others and itself.
The bodies of loops are random instructions (tests/isa/streams.py, riscv.py) of registers that are set at the beginning of each
turn, so that most loops come back to the same state, with periods of all lengths; some do not.  Code that is patched is always
valid, old or new, so nothing depends on when a store is seen.  The host's script changes shared words, and pokes registers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.isa import programs, riscv, streams

AREA = streams.AREA  # bytes for random loads and stores; the words of the blocks follow
SEEN, BOUND, LEFT, VARIANT = (AREA + 4 * n for n in range(4))
BASE, FIRST, SECOND = streams.BASE, 24, 25
SHARED_WORDS = 16  # the first ones are the processors' own: what they poll
ADDED, TAKEN = 4 * SHARED_WORDS, 4 * SHARED_WORDS + 8  # behind them: what is counted with ll/sc; processors that have begun
SITES_OF_A_LOOP, VARIANTS = 2, 4


@dataclass(frozen=True)
class Target:
    """What the firmware may count on."""

    instruction_set: str  # mips2, prijoff, rv32i
    cores: int
    shared: int  # address of words that all see
    near: int = 0  # address of a memory of each processor's own; 0: none
    copied_to: int = 0  # where the code of a processor is copied before it runs; 0: it runs in place
    apart: int = 0  # bytes from one processor's to the next one's; 0: each has its own at that address
    patched: bool = True  # code can be loaded and stored
    linked: bool = True  # there are ll and sc
    timer: int = 0  # a register that counts, and for each processor ...
    compare: tuple[int, ...] = ()  # ... the time from which on ...
    events: tuple[int, ...] = ()  # ... this register ...
    timer_event: int = 0  # ... has these bits; firmware polls it for others as well
    polled: tuple[int, ...] = ()  # further registers that are polled
    scratch: tuple[int, ...] = ()  # registers that take any value
    states: tuple[int, ...] = ()  # registers that halt the processors: HALT, or 0
    text: int = programs.TEXT
    numbered: bool = False  # all begin at the entry and take a number; else each at a place of its own, ENTRY bytes apart


HALT, ENTRY = 0x10000, 8


class Firmware:
    def __init__(self, target: Target, seed: int) -> None:
        self.target, self.random = target, random.Random(seed)
        self.rv = target.instruction_set == "rv32i"
        self.body = riscv.Generator(seed, 0) if self.rv else streams.Generator(seed, 0, target.instruction_set)
        self.instructions = self.body.kinds if self.rv else self.body.by_class
        self.body.register = self.some_register
        self.memory = {kind: self.instructions[kind] for kind in ("load", "store")}
        self.live: list[int] = []
        self.labels = 0
        self.sites: dict[int, list[str]] = {}  # of each processor: words that are stored over

    # ---- Words of both instruction sets

    def some_register(self) -> int:
        return self.random.choice([0, *self.live])

    def emit(self, *lines: str) -> None:
        self.body.lines += lines

    def label(self, name: str = "") -> str:
        self.labels += 1
        name = name or f"B{self.labels}"
        self.emit(f"{name}:")
        return name

    def name(self, register: int) -> str:
        return f"{'x' if self.rv else '$'}{register}"

    def set(self, register: int, value: int) -> None:
        r = self.name(register)
        self.emit(*([f"li {r}, {value:#x}"] if self.rv else [f"lui {r}, {value >> 16:#x}", f"ori {r}, {r}, {value & 0xFFFF:#x}"]))

    def address(self, register: int, label: str) -> None:
        r = self.name(register)
        self.emit(*([f"la {r}, {label}"] if self.rv else [f"lui {r}, %hi({label})", f"addiu {r}, {r}, %lo({label})"]))

    def do(self, name: str, first: int, second: int, third: int) -> None:
        self.emit(f"{name if self.rv or name == 'and' else name + 'u'} {self.name(first)}, {self.name(second)}, {self.name(third)}")

    def add(self, first: int, second: int, value: int) -> None:
        self.emit(f"{'addi' if self.rv else 'addiu'} {self.name(first)}, {self.name(second)}, {value}")

    def keep(self, register: int, mask: int) -> None:
        self.emit(f"andi {self.name(register)}, {self.name(register)}, {mask}")

    def double(self, register: int, bits: int) -> None:
        self.emit(f"{'slli' if self.rv else 'sll'} {self.name(register)}, {self.name(register)}, {bits}")

    def access(self, name: str, register: int, offset: int, base: int) -> None:
        self.emit(f"{name} {self.name(register)}, {offset}({self.name(base)})")

    def branch(self, name: str, first: int, second: int, label: str) -> None:
        self.emit(f"{name} {self.name(first)}, {self.name(second)}, {label}")
        if not self.rv:
            self.emit("nop")

    # ---- Blocks

    def turn(self, core: int, stores: bool) -> None:
        """What is done in a turn of a loop."""
        self.live = self.random.sample([n for n in streams.FREE if n not in (FIRST, SECOND) and (not self.rv or n != riscv.STACK)], 5)
        self.instructions["load"] = [i for i in self.memory["load"] if stores or i.name != "ll"]
        self.instructions["store"] = self.memory["store"] if stores else []
        for register in self.live if self.random.random() < 0.9 else self.live[1:]:
            self.set(register, self.random.choice([0, 1, 0xFFFFFFFF, self.random.getrandbits(32), self.random.getrandbits(8)]))
        if not self.rv and self.random.random() < 0.8:
            self.emit("mtlo $0", f"mthi {self.name(self.live[0])}")
        swings = 4 * self.random.randrange(AREA // 4)  # of a word that is written, it is one thing and then another
        if stores:
            self.access("sw", self.live[0], swings, BASE)
        for n in range(self.random.choice([1, 2, 5, 9, 14])):
            if self.target.patched and n < SITES_OF_A_LOOP:
                self.sites[core].append(self.label(f"patched_{core}_{len(self.sites[core])}"))
                self.word()
            self.body.step()
        if stores:
            self.access("lw", self.live[1], swings, BASE)
            self.access("sw", self.live[2], swings, BASE)

    def word(self) -> None:
        """An instruction that is a word of its own, and neither branches nor touches memory."""
        while True:
            before = len(self.body.lines)
            self.body.plain()
            if self.body.lines[before].startswith(".word"):
                return
            del self.body.lines[before:]

    def poll(self, core: int, place: int) -> None:
        """Until a word is another one."""
        self.set(FIRST, place)
        self.access("lw", SECOND, 0, FIRST)
        self.access("sw", SECOND, SEEN, BASE)
        again = self.label()
        self.turn(core, self.random.random() < 0.3)
        self.set(FIRST, place)
        self.access("lw", SECOND, 0, FIRST)
        self.access("lw", FIRST, SEEN, BASE)
        self.branch("beq", FIRST, SECOND, again)

    def poll_something(self, core: int) -> None:
        own = self.target.shared + 4 * core
        self.poll(core, self.random.choice([own, own, *self.target.polled, *self.target.events[core : core + 1]]))

    def count(self, core: int) -> None:
        """As many turns as a word says, which is then another one."""
        self.access("lw", FIRST, BOUND, BASE)
        self.access("sw", FIRST, LEFT, BASE)
        again = self.label()
        self.turn(core, self.random.random() < 0.5)
        self.access("lw", FIRST, LEFT, BASE)
        self.add(FIRST, FIRST, -1)
        self.access("sw", FIRST, LEFT, BASE)
        self.branch("bne", FIRST, 0, again)
        self.access("lw", FIRST, BOUND, BASE)
        self.add(SECOND, FIRST, self.random.randrange(64))
        self.do("add", FIRST, FIRST, SECOND)
        self.keep(FIRST, self.random.choice([7, 31]))
        self.add(FIRST, FIRST, 1)
        self.access("sw", FIRST, BOUND, BASE)

    def add_to(self, place: int) -> None:
        self.set(FIRST, place)
        again = self.label()
        self.access("ll" if self.target.linked else "lw", SECOND, 0, FIRST)
        self.add(SECOND, SECOND, self.random.randrange(1, 9))
        if self.target.linked:
            self.access("sc", SECOND, 0, FIRST)
            self.branch("beq", SECOND, 0, again)
        else:
            self.access("sw", SECOND, 0, FIRST)

    def add_to_shared(self, core: int) -> None:
        self.add_to(self.target.shared + ADDED + 4 * self.random.randrange(2))

    def wake_another(self, core: int) -> None:
        self.add_to(self.target.shared + 4 * self.random.randrange(self.target.cores))

    def patch(self, core: int) -> None:
        """One of several instructions over another, a different one each time."""
        victim = core if self.target.copied_to or self.random.random() < 0.7 else self.random.randrange(self.target.cores)
        self.access("lw", FIRST, VARIANT, BASE)
        self.add(FIRST, FIRST, 1)
        self.keep(FIRST, VARIANTS - 1)
        self.access("sw", FIRST, VARIANT, BASE)
        self.double(FIRST, 2)
        self.address(SECOND, f"variants_{core}")
        self.do("add", FIRST, FIRST, SECOND)
        self.access("lw", SECOND, 0, FIRST)
        self.address(FIRST, f"@site {victim}@")
        self.access("sw", SECOND, 0, FIRST)

    def wait_for_timer(self, core: int) -> None:
        self.set(FIRST, self.target.timer)
        self.access("lw", SECOND, 0, FIRST)
        self.add(SECOND, SECOND, self.random.randrange(1, 40))
        self.set(FIRST, self.target.compare[core])
        self.access("sw", SECOND, 0, FIRST)
        again = self.label()
        self.turn(core, False)
        self.set(FIRST, self.target.events[core])
        self.access("lw", SECOND, 0, FIRST)
        self.set(FIRST, self.target.timer_event)
        self.do("and", SECOND, SECOND, FIRST)
        self.branch("beq", SECOND, 0, again)

    def store_to_register(self, core: int) -> None:
        self.set(FIRST, self.random.choice(self.target.scratch))
        self.set(SECOND, self.random.getrandbits(32))
        self.access("sw", SECOND, 0, FIRST)

    def halt(self, core: int) -> None:
        """Another processor, for some time, or itself until somebody lets it go on."""
        self.set(FIRST, self.random.choice(self.target.states))
        self.set(SECOND, HALT)
        self.access("sw", SECOND, 0, FIRST)
        self.count(core)
        self.set(FIRST, self.random.choice(self.target.states))
        self.access("sw", 0, 0, FIRST)

    def block(self, core: int) -> None:
        t = self.target
        kinds = [(self.poll_something, 6), (self.count, 3), (self.add_to_shared, 2), (self.wake_another, 3), (self.patch, 3 * t.patched),
                 (self.wait_for_timer, 2 * bool(t.compare)), (self.store_to_register, 2 * bool(t.scratch)), (self.halt, bool(t.states))]  # fmt: skip
        self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0](core)

    # ---- Programs

    def copy(self, core: int) -> None:
        """The code that follows, up to its end, to where it goes on."""
        self.address(FIRST, f"code_{core}")
        self.set(SECOND, self.target.copied_to)
        self.address(1, f"end_{core}")
        again = self.label()
        self.access("lw", 2, 0, FIRST)
        self.add(FIRST, FIRST, 4)
        self.access("sw", 2, 0, SECOND)
        self.add(SECOND, SECOND, 4)
        self.branch("bne", FIRST, 1, again)
        self.set(FIRST, self.target.copied_to)
        self.emit("jr $24", "nop")

    def program(self, core: int) -> None:
        self.sites[core] = []
        self.label(f"core_{core}")
        if self.target.near and (not self.target.patched or self.random.random() < 0.5):
            self.set(BASE, self.target.near + core * self.target.apart)
        else:
            self.address(BASE, f"area_{core}")
        self.set(FIRST, 3)
        self.access("sw", FIRST, BOUND, BASE)
        self.access("sw", 0, VARIANT, BASE)
        copied = bool(self.target.copied_to) and self.random.random() < 0.7
        if copied:
            self.copy(core)
        start = len(self.body.lines)
        self.label(f"code_{core}")
        self.poll_something(core)
        for _ in range(self.random.randrange(3, 8)):
            self.block(core)
        if copied:
            self.set(FIRST, self.target.copied_to)
        self.emit("jr $24" if copied else f"j code_{core}", "nop", f"end_{core}:", f"variants_{core}:")
        for _ in range(VARIANTS):
            self.word()
        moved = f" - code_{core} + {self.target.copied_to:#x}" if copied and self.random.random() < 0.8 else ""
        for n in range(start, len(self.body.lines)):
            self.body.lines[n] = re.sub(f"@site {core}@", lambda _: self.random.choice(self.sites[core]) + moved, self.body.lines[n])

    def begin(self) -> None:
        """Who is who."""
        if self.target.numbered:
            self.set(FIRST, self.target.shared + TAKEN)
            again = self.label()
            self.access("ll", 1, 0, FIRST)
            self.add(SECOND, 1, 1)
            self.access("sc", SECOND, 0, FIRST)
            self.branch("beq", SECOND, 0, again)
            self.double(1, 3)
            self.address(FIRST, "entries")
            self.do("add", FIRST, FIRST, 1)
            self.emit("jr $24", "nop", "entries:")
        for core in range(self.target.cores):
            self.emit(f"j core_{core}", "nop")

    def text(self) -> str:
        self.begin()
        for core in range(self.target.cores):
            self.program(core)
        lines = [re.sub(r"@site (\d+)@", lambda m: self.random.choice(self.sites[int(m[1])]), line) for line in self.body.lines]
        for core in range(self.target.cores):
            lines += [".balign 8", f"area_{core}:", *(f".word {self.random.getrandbits(32):#x}" for _ in range(AREA // 4)), ".space 64"]
        return "\n".join(lines) + "\n"


LINKED = """ENTRY(__start)
PHDRS {{ text PT_LOAD; }}
SECTIONS {{
  .text {text:#x} : {{ *(.text) }} :text
  /DISCARD/ : {{ *(.MIPS.abiflags .reginfo .pdr .comment .note* .gnu.attributes .riscv.attributes .eh_frame) }}
}}
"""


def build(target: Target, seed: int, folder: Path) -> Path:
    """The program for all processors, an ELF file."""
    source, script, output = (folder / f"firmware{seed}{suffix}" for suffix in (".s", ".ld", ".elf"))
    rv = target.instruction_set == "rv32i"
    source.write_text(f"{'' if rv else programs.HEAD}.text\n.globl __start\n__start:\n{Firmware(target, seed).text()}")
    script.write_text(LINKED.format(text=target.text))
    kind = riscv.TARGET if rv else programs.target(True, target.instruction_set)
    return programs.executable([source], output, kind, "-T", str(script))


def host_script(words: int, count: int, seed: int, cycles: int, begin: Sequence[tuple[int, int]], poke: Sequence[tuple[int, Sequence[int]]]) -> str:
    """What the host does, as a script of memory_source: what it stores first, then it changes shared words, and now and then
    others, each to one of its values or to anything."""
    rng = random.Random(f"host {seed}")
    lines, cycle = [f"0 write 4 {address:#x} {value:#x}" for address, value in begin], 200
    interval = rng.choice([300, 2000, 8000, 8000])
    while cycle < cycles:
        cycle += rng.randrange(1, 2 * interval)
        address, values = rng.choice(poke) if poke and rng.random() < 0.6 else (words + 4 * rng.randrange(count), ())
        lines.append(f"{cycle} write 4 {address:#x} {rng.choice(values) if values else rng.getrandbits(32):#x}")
    return "\n".join(lines) + "\n"
