"""The out-of-order core executes MIPS32r2 as the functional processor does, which goes with it instruction by instruction: every
instruction, random programs on machines from the smallest to eight instructions wide, in both byte orders, on memories that take
their time and refuse by chance; what cannot be executed; PRI and JOFF."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import cases
from tests.isa.programs import assemble
from tests.isa.streams import explain, random_program
from tests.isa.wide import MACHINES, builder, counted, run, unfriendly
from tests.sample import sampled, seldom

FIRST = int(os.environ.get("SEED", "1"))
REGISTERS = 35  # of programs: HI, LO and one between the operations of an instruction are among them


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path) -> Callable[..., Path]:
    """machine(name, big, options...)"""
    builders = {
        big: builder(tmp_path_factory.mktemp("wide"), build_dir, root, REGISTERS, "-D", "processor=mips_wide_core", "-D", f"big_endian={str(big).lower()}")
        for big in (True, False)
    }
    return lambda name, big, *options: builders[big](name, *options)


WAYS = [("smallest slow", True, 0), ("four", False, 1), ("eight slow", False, 0)]


@pytest.mark.parametrize("way", sampled([(way,) for way in WAYS], 3, 1), ids=lambda way: " ".join(map(str, way)))
def test_every_instruction(way: tuple[str, bool, int], machine, tmp_path: Path) -> None:
    """A third in each way."""
    compare_instructions(cases.names_of("mips32r2")[WAYS.index(way) :: len(WAYS)], *way, machine, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("way", [*WAYS, ("four", True, 0), ("four", True, 2)], ids=lambda way: " ".join(map(str, way)))
def test_every_instruction_in_every_way(way: tuple[str, bool, int], machine, tmp_path: Path) -> None:
    compare_instructions(cases.names_of("mips32r2"), *way, machine, tmp_path)


def compare_instructions(names: list[str], name: str, big: bool, nops: int, machine, tmp_path: Path) -> None:
    failed = {}
    for instruction in names:
        elf = cases.program(tmp_path, instruction, nops, big, "device", "mips32r2")
        done = run(machine(name, big), elf, *unfriendly(name))
        if done.returncode != 0 or "the program exited" not in done.stderr or counted(done, "compared") != counted(done, "instructions"):
            failed[instruction] = (done.returncode, done.stderr)
    assert not failed


def compare(seed: int, big: bool, names: list[str], machine, build_dir: Path, tmp_path: Path, *options: str) -> None:
    """Odd seeds are programs of MIPS II."""
    instruction_set = "mips2" if seed % 2 else "mips32r2"
    text = random_program(seed, instruction_set=instruction_set).text
    plain = assemble(text, tmp_path / f"oracle{seed}.elf", big, instruction_set=instruction_set)
    expected = subprocess.run([build_dir / "bin" / "mips-oracle", "--set", instruction_set, plain], capture_output=True, timeout=60)
    assert expected.returncode == 0, expected.stderr.decode()
    elf = assemble(text, tmp_path / f"core{seed}.elf", big, "device", instruction_set)
    for name in names:
        for manners in ([], unfriendly(name)) if unfriendly(name) else ([],):  # a memory that refuses by chance keeps all awake
            printed = tmp_path / f"{name} {seed}"
            done = run(machine(name, big, *options), elf, *manners, "--seed", seed, "--set", f"console.output={printed}")
            assert done.returncode == 0 and "the program exited" in done.stderr, f"seed {seed} on {name}: {done.stderr}"
            found = printed.read_bytes()
            assert found == expected.stdout, f"seed {seed} on {name}: {explain(expected.stdout, found)}"


@pytest.mark.parametrize("name", sampled(MACHINES, 10, 3))
def test_random_streams(name: str, machine, build_dir: Path, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed.  RV32I has the other half of the machines; they take turns with the byte orders."""
    for seed in range(FIRST, FIRST + 2):
        compare(seed, list(MACHINES).index(name) % 2 == 0, [name], machine, build_dir, tmp_path)


@pytest.mark.soak  # tests/isa/test_wide_core.py does it with RV32I, test_wide_system_contexts.py with MIPS
@pytest.mark.parametrize(("name", "big"), sampled([("narrow cached", False), ("eight slow", True)], 2))
def test_debug_builds_do_the_same(name: str, big: bool, machine, tmp_path: Path) -> None:
    """Statistics and all; and each module says when it may sleep."""
    elf = assemble(random_program(FIRST + 1, instruction_set="mips32r2").text, tmp_path / "x.elf", big, "device", "mips32r2")
    found = []
    for options in ([], ["--debug"]):
        stats = tmp_path / f"stats{len(found)}.csv"
        checks = ["--check-idle"] if options else []
        done = run(machine(name, big, *options), elf, *unfriendly(name), *checks, "--stats", stats, "--set", f"console.output={tmp_path / 'out'}")
        assert done.returncode == 0, done.stderr
        found.append(stats.read_text())
    assert found[0] == found[1]


@seldom
def test_restored_runs_go_on(machine, tmp_path: Path) -> None:
    """From checkpoints in the middle of whatever was in flight, to the same end in the same cycle."""
    name = "four slow"
    elf = assemble(random_program(FIRST + 1, instruction_set="mips32r2").text, tmp_path / "x.elf", True, "device", "mips32r2")
    printed = ["--set", f"console.output={tmp_path / 'out'}"]
    whole = run(machine(name, True), elf, *unfriendly(name), *printed)
    assert whole.returncode == 0, whole.stderr
    end, text = re.findall(r"cycles +(\d+)", whole.stdout + whole.stderr)[0], (tmp_path / "out").read_bytes()
    for cycle in (1000, 1777, 2501):
        saved = tmp_path / f"at{cycle}"
        first = run(machine(name, True), elf, *unfriendly(name), *printed, "--checkpoint", saved, cycles=cycle)
        assert first.returncode == 0, first.stderr
        done = run(machine(name, True), elf, *unfriendly(name), *printed, "--restore", saved, "--outputs", "continue")
        assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
        assert re.findall(r"cycles +(\d+)", done.stdout + done.stderr)[0] == end
        assert (tmp_path / "out").read_bytes() == text


STOPS = {
    "add": (["lui $t0, 0x7fff", "X: add $v1, $t0, $t0"], "overflow"),
    "sub": (["lui $t0, 0x8000", "addiu $t1, $zero, 1", "X: sub $v1, $t0, $t1"], "overflow"),
    "break": (["nop", "X: break 5"], "break"),
    "syscall": (["nop", "X: syscall"], "syscall"),
    "trap": (["addiu $t0, $zero, 4", "X: teq $t0, $t0"], "trap"),
    "reserved": (["nop", "X: .word 0x7c00003f"], "reserved instruction"),
    "system": (["nop", "X: .word 0x40096000"], "reserved instruction"),
    "misaligned load": (["addiu $t0, $zero, 2", "X: lw $v1, 0($t0)"], "unaligned"),
    "misaligned store": (["addiu $t0, $zero, 1", "X: sh $v1, 0($t0)"], "unaligned"),
    "misaligned conditional": (["addiu $t0, $zero, 2", "X: sc $v1, 0($t0)"], "unaligned"),
    "nothing there": (["lui $t0, 0x7000", "X: lwl $v1, 8($t0)"], "nothing responds"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_executed_stops_with_a_report(name: str, machine, tmp_path: Path) -> None:
    """When it is the oldest: the same behind a branch that is taken, where fetch went at first, and in a delay slot that is annulled, does
    nothing."""
    lines, text = STOPS[name]
    plain = [line.removeprefix("X: ") for line in lines]
    code = ["b 1f", "nop", ".word 0x7c00003f", "1: beq $zero, $zero, 2f", "nop", *plain, "2: bnel $zero, $zero, 3f", plain[-1], "3: nop", *lines, "EXIT 0"]
    done = run(machine("four", True), assemble("\n".join(code) + "\n", tmp_path / "x.elf", True, "device", "mips32r2"))
    where = 0x400000 + 4 * (5 + len(lines) + 3 + len(lines) - 1)
    assert done.returncode == 1 and text in done.stderr and f"pc 0x{where:08x}" in done.stderr, done.stderr


@pytest.mark.parametrize("target", [0x70000008, 0x00400003])
def test_nowhere_to_fetch(target: int, machine, tmp_path: Path) -> None:
    elf = assemble("\n".join([*cases.li("t0", target), "jr $t0", "addiu $t1, $zero, 1"]) + "\n", tmp_path / "x.elf", True, "device", "mips32r2")
    done = run(machine("four", True), elf)
    assert done.returncode == 1 and f"nothing to fetch there: pc 0x{target:08x}" in done.stderr, done.stderr


PRIJOFF = """
import mips_isa_types;
import wide_types;
module prijoff_decode_group {
  parameter width = 4 : int in 1..8;
  inport in : word_group(width);
  outport out : op_group(3 * width);
  instance group : mips_decode_group { width = width; set = mips_isa.prijoff; };
  in -> group.in;
  group.out -> out;
}
"""


@seldom
@pytest.mark.parametrize("nops", sampled([0, 1, 2], 3))
def test_a_decoder_of_ones_own(nops: int, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """PRI and JOFF have encodings of MOVN and MOVZ."""
    (tmp_path / "prijoff_decode_group.lss").write_text(PRIJOFF)
    machine = root / "examples/wide_core/wide_core.lss"
    chosen = ["-D", "processor=mips_wide_core(decoder = prijoff_decode_group)", "-D", "big_endian=true", "-I", tmp_path]
    command = [build_dir / "bin/lss", "build", machine, *chosen, "-o", tmp_path / "sim"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in cases.PRIJOFF:
        done = run(tmp_path / "sim", cases.program(tmp_path, name, nops, True, "device", "prijoff"))
        assert done.returncode == 0 and "the program exited" in done.stderr, f"{name}: {done.stderr}"
