"""A functional system as its owner sees it; and one that follows another processor, instruction by instruction, which does the
same."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.programs import tool
from tests.isa.system_cases import all_cases
from tests.isa.system_streams import random_system_program
from tests.kits import Kit
from tests.linux_guest import guest

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])


def test_what_an_owner_sees(kit: Kit, tmp_path: Path):
    """In the soak with sanitizers."""
    program = kit.program(Path(__file__).with_name("system_owner.c"), ["mips/system*.c"], tmp_path / "system_owner")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_a_follower_believes_of_loads(root: Path, build_dir: Path, tmp_path: Path):
    program = tmp_path / "mips_lockstep"
    source = Path(__file__).with_name("mips_lockstep.c")
    subprocess.run([tool("clang"), "-Wall", "-Wextra", "-Werror", f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", source, build_dir / "lib/libemulib.a", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def follow(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """follow(program, ...): numbers of instructions, interrupts and waits."""
    program = tmp_path_factory.mktemp("follow") / "system_follow"
    flags = [subprocess.run(["pkg-config", *kind, "glib-2.0", "libdw", "libelf", "libzstd"], capture_output=True, text=True, check=True).stdout.split() for kind in (["--cflags"], ["--libs"])]
    objects = [build_dir / "obj/emulib/tools" / f"{name}.o" for name in ("host_machine", "uart16550", "clock_ds1742")]
    subprocess.run([tool("clang"), "-O2", "-Wall", "-Wextra", "-Werror", f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", *flags[0], Path(__file__).with_name("system_follow.c"),
                    *objects, build_dir / "lib/libemulib.a", *flags[1], "-o", program], check=True)  # fmt: skip

    def run(*words: object, timeout: float = 60, wrong: str = "") -> list[int] | str:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=timeout, env={**os.environ, "WRONG": wrong})
        assert done.returncode == (1 if wrong else 0), done.stderr
        return done.stderr if wrong else [int(word) for word in done.stdout.split()]

    return run


@BYTE_ORDERS
def test_the_directed_cases(big: bool, follow, tmp_path: Path):
    elf = system.build(all_cases(), tmp_path / "cases.elf", big)
    instructions, interrupts, waits = follow("big" if big else "little", 10000000, elf)
    assert instructions > 100000 and interrupts >= 9 and waits >= 2


@pytest.mark.parametrize(("wrong", "message"), [
    ("none", r"pc 0x8\w+, \S.*: it was completed, expected the one at 0x8\w+"),
    ("code", r"pc 0x8\w+, add \$t1, \$t0, \$t0: exception 13, expected 12"),
    ("epc", r"pc 0x8\w+, add \$t1, \$t0, \$t0: exception 12 with EPC 0x8\w+, expected 0x8\w+"),
    ("bad", r"pc 0x8\w+, lw \$t1, 4\(\$t0\): exception 4 with BadVAddr 0x00101004, expected 0x00101005"),
    ("interrupt", r"pc 0x8\w+, \S.*: an interrupt was taken there, expected the instruction at 0x8\w+"),
    ("level", r"pc 0x8\w+, \S.*: interrupt \d was taken where Status 0x1\w+ does not let it"),
])  # fmt: skip
def test_wrong_exceptions_are_reported(wrong: str, message: str, follow, tmp_path: Path):
    elf = system.build(all_cases(), tmp_path / "cases.elf", True)
    assert re.fullmatch(message, follow("big", 10000000, elf, wrong=wrong).rstrip())


@BYTE_ORDERS
def test_a_random_program(big: bool, follow, tmp_path: Path):
    elf = system.assemble(random_system_program(7), tmp_path / "stream.elf", big)
    assert follow("big" if big else "little", 10000000, elf)[0] > 200000


@pytest.mark.soak
def test_a_whole_boot(follow, build_dir: Path):
    software = guest(build_dir)
    instructions, interrupts, waits = follow("little", 50_000_000, software.vmlinux, software.initramfs, software.tree, timeout=600)
    assert instructions < 36_000_000 and interrupts > 50 and waits > 3
