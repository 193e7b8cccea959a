"""mips_system with its TLB: what the instructions ask of it, and random sequences of them and of moves, against emulib's
functional system."""

import random
from pathlib import Path

import pytest

from tests.isa import system
from tests.modules.core.mips.system_bench import CU0, IE, UM, SystemBench, item, mfc0, mtc0, registers
from tests.modules.harness import Bench
from tests.modules.mips import struct


def operation(op: str, index: int, mask: int = 0, hi: int = 0, lo0: int = 0, lo1: int = 0) -> str:
    return struct(op=op, index=index, entry=struct(mask=mask, hi=hi, lo0=lo0, lo1=lo1))


def test_requests_to_the_tlb_and_their_times(bench: Bench) -> None:
    """Once for each instruction, in the cycle in which it leaves; no longer when an exception takes its place."""
    system_control = SystemBench(bench, tlb=False, lines=[])
    moves = [mtc0("EntryHi", 0xC0002001), mtc0("EntryLo0", 0x55), mtc0("EntryLo1", 0xAA), mtc0("PageMask", 0x6000), mtc0("Index", 5)]
    what = {"mask": 0x6000, "hi": 0xC0002001, "lo0": 0x55, "lo1": 0xAA}
    rows = ["in | operate_request | operate_request.enable | out.ack | operate_reply | kill"]
    rows += [f"{move} | . | - | 1 | . | -" for move in moves]
    rows += [
        f"{item('tlbwi')} | . | - | 1 | . | true",
        f"{item('tlbr')} | {operation('write', 5, **what)} | 1 | 1 | . | true",
        f"- | {operation('read', 5, **what)} | 0 | 0 | . | false",
        f"{item('tlbp')} | {operation('read', 5, **what)} | 1 | 1 | {struct(index=0, entry=struct(mask=0, hi=0x2002, lo0=7, lo1=8))} | true",
        f"{item('tlbwr')} | {operation('probe', 5, hi=0x2002, lo0=7, lo1=8)} | 1 | 1 | {struct(index=9, entry='{}')} | true",
        f"{mfc0('Index')} | {operation('write', 15, hi=0x2002, lo0=7, lo1=8)} | 1 | 1 | . | true",
        f"{mtc0('Status', UM)} | . | - | 1 | . | false",
        f"{item('tlbwi')} | . | - | 1 | . | true",
        ". | . | - | 1 | . | true",
        ". | . | - | 1 | . | false",
    ]
    system_control.check_table("\n".join(rows), {"latched.idle": True})


def test_random_steps_with_each_use_alone(bench: Bench) -> None:
    """From its top: entries - 1 after reset and after a write of Wired."""
    system_control = SystemBench(bench)
    items = [mfc0("Random"), mtc0("Wired", 3), mfc0("Random"), mfc0("Random"), item("tlbwr"), mfc0("Random"), item("tlbwr"), mfc0("Random"), mtc0("Wired", 0), mfc0("Random")]
    found = system_control.play(items).results()
    assert [found[n] for n in (0, 2, 3, 5, 7, 9)] == [15, 15, 15, 3 + 0xE270 % 13, 3 + 0x7138 % 13, 15]


MOVED = [r for r in registers().values() if r.name not in ("Count", "Random", "Config1")]
PAGES = [0x10000000, 0x10002000, 0x10008000, 0x400000, 0xC0000000]


def value_for(rng: random.Random, name: str) -> int:
    """No interrupt, no user mode, no timer: the program goes on, and whatever it does not depend on time."""
    value = rng.getrandbits(32)
    match name:
        case "Status":
            return value & ~(UM | IE) | CU0
        case "Compare":
            return value | 0x40000000
        case "EntryHi":
            return rng.choice(PAGES) | rng.randrange(3)
        case "PageMask":
            return rng.choice([0, 0, 0x6000, 0x1E000, 0x2000])
        case "Index" | "Wired":
            return rng.randrange(16)
    return value


def random_program(rng: random.Random) -> tuple[list[str], list[str], list[int]]:
    """Items, the same as assembly that records what is read, and the places of the reads."""
    items, lines, reads = [], [], []

    def write(name: str, value: int) -> None:
        r = registers()[name]
        items.append(item("mtc0", rt=8, rd=r.number, low=r.select, b=value))
        lines.append(f"LI $t0, {value:#x}\nmtc0 $t0, ${r.number}, {r.select}\nehb")

    def read(name: str) -> None:
        r = registers()[name]
        reads.append(len(items))
        items.append(mfc0(name))
        lines.append(f"mfc0 $t1, ${r.number}, {r.select}\nRECORD $t1")

    def perform(name: str) -> None:
        items.append(item(name))
        lines.append(f"ehb\n{name}\nehb")

    for r in MOVED:
        write(r.name, value_for(rng, r.name))
    for n in range(16):
        write("Index", n)
        for name in ("PageMask", "EntryHi", "EntryLo0", "EntryLo1"):
            write(name, value_for(rng, name))
        perform("tlbwi")
    for _ in range(250):
        if rng.random() < 0.4:
            perform(rng.choice(["tlbp", "tlbp", "tlbr", "tlbr", "tlbwi", "tlbwr", "tlbwr"]))
            for name in ("Index", "Random", "EntryHi", "EntryLo0", "EntryLo1", "PageMask"):
                read(name)
        else:
            name = rng.choice([*(r.name for r in MOVED), "EntryHi", "EntryHi", "Index"])
            write(name, value_for(rng, name))
            read(name)
    for name in (r.name for r in MOVED if r.name not in ("BadVAddr", "Context")):
        read(name)
    return items, lines, reads


def recorded(text: str, build_dir: Path, tmp_path: Path) -> list[int]:
    """What a program records on the functional system."""
    elf = system.assemble(system.HEAD + system.START + text + system.END, tmp_path / "program.elf", big=False)
    done = system.on_oracle(elf, False, build_dir, "--limit", "10000000")
    assert done.returncode == 0, done.stderr
    return [int(line, 16) for line in done.stdout.split()]


def test_the_tlb_after_reset_is_that_of_the_functional_system(bench: Bench, build_dir: Path, tmp_path: Path) -> None:
    """Programs that print it see the same; nothing matches."""
    shown = ("EntryHi", "EntryLo0", "EntryLo1", "PageMask")
    lines = [f"LI $t0, {n}\nmtc0 $t0, $0\nehb\ntlbr\nehb\n" + "".join(f"mfc0 $t1, ${registers()[name].number}\nRECORD $t1\n" for name in shown) for n in range(16)]
    items = [text for n in range(16) for text in (mtc0("Index", n), item("tlbr"), *[mfc0(name) for name in shown])]
    results = SystemBench(bench).play(items).results()
    found = [results[6 * n + 2 : 6 * n + 6] for n in range(16)]
    expected = recorded("".join(lines), build_dir, tmp_path)
    assert found == [expected[4 * n : 4 * n + 4] for n in range(16)] == [[0x80000000 + 0x2000 * n, 0, 0, 0] for n in range(16)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_registers_and_tlb_are_those_of_the_functional_system(bench: Bench, seed: int, build_dir: Path, tmp_path: Path) -> None:
    items, lines, reads = random_program(random.Random(seed))
    expected = recorded("\n".join(lines), build_dir, tmp_path)
    assert len(expected) == len(reads) > 500
    results = SystemBench(bench).play(items).results()
    wrong = [f"item {at}: {results[at]:#x}, expected {value:#x}" for at, value in zip(reads, expected, strict=True) if results[at] != value]
    assert not wrong, f"seed {seed}: {len(wrong)} of {len(reads)}: " + "; ".join(wrong[:5])
