"""A functional system as its owner sees it; and one that follows another processor, instruction by instruction, which does the
same."""

import subprocess
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.programs import tool
from tests.isa.system_cases import all_cases
from tests.isa.system_streams import random_system_program
from tests.linux_guest import guest
from tests.tree import found

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])


def test_what_an_owner_sees(root: Path, build_dir: Path, tmp_path: Path):
    """Run with sanitizers."""
    program = tmp_path / "system_owner"
    sources = [Path(__file__).with_name("system_owner.c"), *found(root / "emulib/mips", "system*.c")]
    subprocess.run([tool("clang"), "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                    f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", *sources, "-o", program], check=True)  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def follow(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """follow(program, ...): numbers of instructions, interrupts and waits."""
    program = tmp_path_factory.mktemp("follow") / "system_follow"
    flags = [subprocess.run(["pkg-config", *kind, "glib-2.0", "libdw", "libelf"], capture_output=True, text=True, check=True).stdout.split() for kind in (["--cflags"], ["--libs"])]
    objects = [build_dir / "obj/emulib/tools" / f"{name}.o" for name in ("host_machine", "uart16550", "clock_ds1742")]
    subprocess.run([tool("clang"), "-O2", "-Wall", "-Wextra", "-Werror", f"-I{root}/emulib", f"-I{build_dir}/gen/emulib", *flags[0], Path(__file__).with_name("system_follow.c"),
                    *objects, build_dir / "lib/libemulib.a", *flags[1], "-o", program], check=True)  # fmt: skip

    def run(*words: object, timeout: float = 60) -> list[int]:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    return run


@BYTE_ORDERS
def test_the_directed_cases(big: bool, follow, tmp_path: Path):
    elf = system.build(all_cases(), tmp_path / "cases.elf", big)
    instructions, interrupts, waits = follow("big" if big else "little", 10000000, elf)
    assert instructions > 100000 and interrupts >= 9 and waits >= 2


@BYTE_ORDERS
def test_a_random_program(big: bool, follow, tmp_path: Path):
    elf = system.assemble(random_system_program(7), tmp_path / "stream.elf", big)
    assert follow("big" if big else "little", 10000000, elf)[0] > 200000


@pytest.mark.soak
def test_a_whole_boot(follow, build_dir: Path):
    software = guest(build_dir)
    instructions, interrupts, waits = follow("little", 50_000_000, software.vmlinux, software.initramfs, software.tree, timeout=600)
    assert instructions < 36_000_000 and interrupts > 50 and waits > 3
