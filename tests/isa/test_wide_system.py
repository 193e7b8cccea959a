"""mips32r2_wide_core, out of order, executes what the architecture says, like mips32r2_core: every instruction of programs on mapped pages; the directed
cases of the system; random programs under a handler of every exception and under a kernel that changes everything at random; the hostile
program, with an interrupt or a fault before each of its instructions.  On machines from the smallest to eight instructions wide, in
lockstep, with memories that answer after 1, 9, 40 and random cycles."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isa import test_system_core, test_system_fuzz
from tests.isa.hostile import checked
from tests.isa.system_core import KSEG0_CACHED, build, on_core
from tests.isa.test_system_hostile import MEMORIES
from tests.sample import sampled, seldom

FIRST = int(os.environ.get("SEED", "1"))
MACHINES = {
    "smallest": {"wide": 1, "entries": 4, "queue": 1, "registers": 36},
    "narrow": {"wide": 2, "entries": 8, "queue": 3, "registers": 40},
    "four": {"wide": 4},
    "tight eight": {"wide": 8, "entries": 8, "queue": 3, "registers": 43},
    "four, coherent": {"wide": 4, "coherent": "true"},
    "four, MSHRs": {"wide": 4, "coherent": "true", "mshrs": 8, "fetch_mshrs": 4},
    "eight, MSHRs": {"wide": 8, "entries": 64, "queue": 32, "registers": 99, "coherent": "true", "mshrs": 2, "front_stages": 2},
    "eight": {"wide": 8, "entries": 64, "queue": 32, "registers": 99},
}
WRITING_BACK = {name for name, settings in MACHINES.items() if "coherent" in settings}
CYCLES = 400_000_000  # enough for the smallest
EVERY = [(name, big, memory) for name in MACHINES for big in (True, False) for memory in MEMORIES]


def some(*quick: tuple[str, bool, str]) -> pytest.MarkDecorator:
    """Machine, byte order and memory: all of them, most in the soak."""
    chosen = [
        pytest.param(
            *one,
            marks=[] if one in quick else pytest.mark.soak,
            id="-".join((one[0], "big" if one[1] else "little", one[2])),
        )
        for one in EVERY
    ]
    return pytest.mark.parametrize(("name", "big", "memory"), chosen)


@pytest.fixture(scope="session")
def machine(
    tmp_path_factory: pytest.TempPathFactory, build_dir: Path, root: Path, optimising
) -> Callable[[str, bool], Path]:
    """machine(name, big): system_machine.lss with one of MACHINES, in lockstep."""
    directory = tmp_path_factory.mktemp("wide_systems")
    built: dict[tuple[str, bool], Path] = {}

    def get(name: str, big: bool) -> Path:
        if (name, big) not in built:
            settings = MACHINES[name] | {"big_endian": str(big).lower(), "checked": "true"}
            with optimising():
                built[name, big] = build(
                    root,
                    build_dir,
                    directory / f"system{len(built)}",
                    *(word for key, value in settings.items() for word in ("-D", f"{key}={value}")),
                )
        return built[name, big]

    return get


@seldom
@some(("four", False, "fast"))
def test_every_instruction_of_programs(name: str, big: bool, memory: str, machine, tmp_path: Path) -> None:
    test_system_core.compare_instructions(test_system_core.NAMES, machine(name, big), 0, memory, big, tmp_path, CYCLES)


@pytest.mark.parametrize("cached", sampled([True, False]))
@some(("four", False, "fast"))
def test_directed_cases(cached: bool, name: str, big: bool, memory: str, machine, tmp_path: Path) -> None:
    test_system_core.compare_cases(machine(name, big), cached, memory, big, tmp_path, CYCLES, name in WRITING_BACK)


@some(("four", False, "random"))
def test_a_random_program(name: str, big: bool, memory: str, machine, build_dir: Path, tmp_path: Path) -> None:
    """SEED=n in the environment starts at another seed."""
    test_system_core.compare(FIRST, big, [memory], {big: machine(name, big)}, build_dir, tmp_path, CYCLES)


@some(("four", False, "slower"))
def test_a_random_program_under_a_hostile_kernel(name: str, big: bool, memory: str, machine, tmp_path: Path) -> None:
    systems = {big: machine(name, big)}
    assert test_system_fuzz.compare(FIRST, big, memory, systems, tmp_path, CYCLES, name in WRITING_BACK) > 50000


@some()  # in `make test` it runs on the core in order (test_system_hostile.py)
def test_the_hostile_program(name: str, big: bool, memory: str, machine, expected, tmp_path: Path) -> None:
    elf, state = expected(big)
    assert (
        checked(
            on_core(machine(name, big), elf, tmp_path, big, KSEG0_CACHED, "--quiet", *MEMORIES[memory], cycles=CYCLES)
        )
        == state
    )


@pytest.mark.soak
@pytest.mark.parametrize("name", MACHINES)
def test_ten_million_instructions(name: str, machine, tmp_path: Path) -> None:
    agreed, seed, machines = 0, 1000, {big: machine(name, big) for big in (True, False)}
    while agreed < 10**7:
        agreed += sum(
            test_system_fuzz.compare(seed, big, memory, machines, tmp_path, CYCLES, name in WRITING_BACK)
            for big in (True, False)
            for memory in MEMORIES
        )
        seed += 1


@pytest.mark.soak  # tests/isa/test_wide_system_contexts.py does it with two contexts
def test_debug_builds_do_the_same(root: Path, build_dir: Path, expected, tmp_path: Path) -> None:
    """Statistics and all; and each module says when it may sleep."""
    elf, _ = expected(False)
    found = []
    for options in ([], ["--debug"]):
        simulator = build(
            root, build_dir, tmp_path / f"sim{len(found)}", "-D", "wide=4", "-D", "checked=true", *options
        )
        stats = tmp_path / f"stats{len(found)}.csv"
        checks = ["--check-idle"] if options else []
        done = on_core(
            simulator,
            elf,
            tmp_path,
            False,
            KSEG0_CACHED,
            *MEMORIES["random"],
            *checks,
            "--stats",
            str(stats),
            cycles=12000,
        )
        assert done.returncode == 0, done.stderr
        found.append(stats.read_text())
    assert found[0] == found[1]
