"""Machines to debug, built once, and a fixture that starts them."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.debug.remote import Waiting

MACHINES = {
    "single": ["single_core/single_core.lss"],
    "dual": ["dual_core/dual_core.lss"],
    "quad": ["quad_core/quad_core.lss", "-D", "memory=8 MiB"],
    "multiprocessor": ["multiprocessor/multiprocessor.lss"],
    "rfu": ["rfu_core/rfu_core.lss"],
    "recorded": ["single_core/single_core.lss", "--record", "memory"],
    "riscv": ["riscv_core/riscv_core.lss"],
    "wide": ["wide_core/wide_core.lss"],
    "wide cached": ["wide_core/wide_core.lss", "-D", "caches=true", "-D", "dcache_size=128 B", "-D", "mshrs=2"],
    "wide mips": ["wide_core/wide_core.lss", "-D", "processor=mips_wide_core", "-D", "big_endian=true"],
    "contexts": ["wide_core/wide_core.lss", "-D", "contexts=2"],
    "contexts mips": ["wide_core/wide_core.lss", "-D", "processor=mips_wide_core", "-D", "big_endian=true", "-D", "contexts=2", "-D", "shared_memory=true", "-D", "caches=true", "-D", "dcache_size=128 B", "-D", "mshrs=2", "-D", "snapshots=0"],
    "vliw": ["vliw_core/vliw_core.lss"],
    "frames": ["tigon2/tigon2.lss", "-O0", "-D", "processors=2", "--record", "frames", "--record", "instructions"],
    "tigon2": ["tigon2/tigon2.lss", "-D", "processors=2", "--record", "profile"],
    "nic10g": ["nic10g/nic10g.lss"],
}
OFTEN = {"quad", "tigon2"}  # run for long, so they are optimised, like the same machines of other tests


@pytest.fixture(scope="session")
def machine(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory, optimising) -> Callable[[str], Path]:
    """machine("dual"): its simulator."""
    folder = tmp_path_factory.mktemp("machines")

    def build(name: str) -> Path:
        file, *options = MACHINES[name]
        if not (folder / name).exists():
            with optimising() if name in OFTEN else nullcontext():
                subprocess.run([build_dir / "bin/lss", "build", root / "examples" / file, *options, "-o", folder / name], check=True)
        return folder / name

    return build


@pytest.fixture
def firmware(build_dir: Path) -> Callable[[str], Path]:
    return lambda name: build_dir / "firmware" / name / f"{name}.elf"


@pytest.fixture
def debugged(tmp_path: Path) -> Iterator[Callable[..., Waiting]]:
    """debugged(simulator, options): one that waits for gdb, in tmp_path."""
    started: list[Waiting] = []

    def start(simulator: Path, *options, wait: bool = True) -> Waiting:
        started.append(Waiting(tmp_path, simulator, *options, wait=wait))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
