"""exclusive.c: what VPEs do between DVPE and EVPE, no other one does meanwhile, on cores in order and on contexts of a wide core, which are followed in
lockstep, and on the functional processor."""

import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness import firmware
from tests.firmware.test_vpes import CONSOLE, REGISTERS
from tests.isa import system
from tests.isa.system_core import KSEG0_CACHED, on_core

RIGHT = "no addition is lost\n"
# The machine, and parameters for so many VPEs.  What lockstep knows of memory is no more than what others do not write: the vectors.
IN_ORDER = ("mt_machine", "vpes={}", "lockstep=256 B")
WIDE = ("system_machine", "wide=4", "vpes={}", "checked=true")
COHERENT = (*WIDE, "coherent=true", "mshrs=4", "fetch_mshrs=4", "entries=64", "queue=32")


@pytest.fixture(scope="module")
def program(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """program(3): for a board, with this seed."""
    folder = tmp_path_factory.mktemp("exclusive")
    (folder / "registers.h").write_text(REGISTERS)
    (folder / "console.h").write_text('#include "registers.h"\n' + CONSOLE)
    objects = []
    for source in (root / "firmware/vpes/start.S", root / "tests/host/exclusive.c"):
        objects.append(folder / f"{source.name}.o")
        include = [f"-I{path}" for path in (folder, root / "firmware/vpes", root / "firmware/lib")]
        firmware.run(firmware.tool("clang"), *firmware.flags("mips"), *firmware.flags("common"), *include, "-c", source, "-o", objects[-1])
    script = ["-T", root / "firmware/vpes/vpes.ld", "-L", build_dir / "gen/firmware/vpes"]

    def link(seed: int) -> Path:
        output = folder / f"exclusive{seed}.elf"
        firmware.run(firmware.tool("ld.lld"), *firmware.flags("link_mips"), *firmware.flags("link"), f"--defsym=seed={seed}", *script, *objects, "-o", output)
        return output

    return link


@pytest.fixture(scope="module")
def machine(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory, optimising) -> Callable[..., Path]:
    """machine(IN_ORDER, 4): built once, optimised if it runs `often`."""
    built: dict[tuple[tuple[str, ...], int], Path] = {}

    def build(kind: tuple[str, ...], vpes: int, often: bool = False) -> Path:
        if (kind, vpes) not in built:
            output = built[kind, vpes] = tmp_path_factory.mktemp("machine") / "machine"
            given = [word for setting in ("big_endian=true", *kind[1:]) for word in ("-D", setting.format(vpes))]
            with optimising() if often else nullcontext():
                subprocess.run([build_dir / "bin/lss", "build", root / f"tests/isa/{kind[0]}.lss", *given, "-o", output], check=True)
        return built[kind, vpes]

    return build


def alone_in_turn(simulator: Path, elf: Path, directory: Path, *options: str) -> str:
    """Runs it; returns the statistics."""
    done = on_core(simulator, elf, directory, True, KSEG0_CACHED, *options, cycles=3_000_000)
    assert done.returncode == 0 and done.stdout.startswith(RIGHT), done.stdout[:300] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("vpes", [1, 2, 4, 8])
def test_on_the_functional_processor(vpes: int, program: Callable[[int], Path], build_dir: Path) -> None:
    done = system.on_oracle(program(vpes), True, build_dir, "--vpes", str(vpes), "--limit", "10000000")
    assert (done.returncode, done.stdout) == (0, RIGHT)


@pytest.mark.soak  # tests/modules/core/mips/test_vpe_cores.py and test_mips_vpe_control_cores.py run such cores
def test_three_in_order(machine, program: Callable[[int], Path], tmp_path: Path) -> None:
    """Requests are put off, too: of VPEs whose registers another one wants."""
    statistics = alone_in_turn(machine(IN_ORDER, 3), program(1), tmp_path)
    assert "put_off" in statistics


@pytest.mark.soak
@pytest.mark.parametrize("vpes", [2, 4, 8])
@pytest.mark.parametrize("kind", [IN_ORDER, WIDE, COHERENT], ids=["in order", "wide", "wide, several misses"])
def test_a_hundred_programs(machine, program: Callable[[int], Path], tmp_path: Path, build_dir: Path, kind: tuple[str, ...], vpes: int) -> None:
    put_off = 0
    for seed in range(100):
        jitter = ["--set", "delay.jitter=20", "--set", "delay.refuse=0.3", "--seed", str(seed + 1)] if seed % 2 and kind != WIDE else []
        put_off += "put_off" in alone_in_turn(machine(kind, vpes, often=True), program(seed), tmp_path, *jitter)
        done = system.on_oracle(program(seed), True, build_dir, "--vpes", str(vpes), "--limit", "10000000")
        assert (done.returncode, done.stdout) == (0, RIGHT)
    assert put_off > 50
