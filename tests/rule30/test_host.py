"""examples/rule30/rule30_host: a program without an operating system uses the accelerator, on the bus and after the bridge."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.firmware import tool

FLAGS = ["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-fno-pic", "-ffreestanding", "-static", "-nostdlib", "-fuse-ld=lld", "-O1", "-Wall",
         "-Werror", "-Wl,-Ttext=0x80100000"]  # fmt: skip
MACHINES = {
    "on the bus": [],
    "after the bridge": ["-D", "device_on_bus=false"],
    "a cycle per instruction": ["-D", "processor=fast_processor"],
    "out of order, coherent": ["-D", "processor=wide_processor", "-D", "system_kind=coherent_system", "-D", "cpu_frequency=200 MHz"],
}


@pytest.fixture
def described(root: Path, lss, tmp_path: Path) -> Path:
    """The folder with what software includes."""
    lss("export", root / "examples/rule30/rule30_host.lss", "-o", tmp_path / "machine.json")
    command = [sys.executable, root / "firmware/tools/describe.py", tmp_path / "machine.json", tmp_path / "include"]
    subprocess.run(command, check=True)
    return tmp_path / "include"


@pytest.fixture
def program(described: Path, root: Path, tmp_path: Path) -> Path:
    command = [tool("clang"), *FLAGS, "-I", described, root / "tests/rule30/line.c", "-o", tmp_path / "line.elf"]
    subprocess.run(command, check=True)
    return tmp_path / "line.elf"


def test_a_program_computes_lines(program: Path, root: Path, build_sim, run_sim) -> None:
    """On all processors; an access takes longer after the bridge, and a result comes when it should at any frequency."""
    cycles = {}
    for name, options in MACHINES.items():
        simulator = build_sim(root / "examples/rule30/rule30_host.lss", "-D", "memory=16 MiB", *options)
        given = ["--switch_at", "end"] if "fast_processor" in " ".join(options) else []
        done = run_sim(simulator, "--quiet", "--kernel", program, "--set", "rule30.time_to_result=10 us", *given, ok=None)
        assert done.status == 5, (name, done.err)
        counted = {one["name"]: one["value"] for one in done.stats["statistics"] if one["path"] == "rule30" and one["value"]}
        assert counted.pop("reads") == 2 + 4 * (1 + 2 * 3) and counted.pop("writes") == 2 + 4 * (3 + 1 + 1), name
        frequency = 50 if name == "after the bridge" else 200 if "200 MHz" in " ".join(options) else 1350
        assert counted == {"computations": 4, "interrupts": 4, "busy": 4 * 10 * frequency}, name
        cycles[name] = done.stats["run"]["cycles"]["cpu_clk"]
    assert cycles["on the bus"] + 40 * 20 < cycles["after the bridge"]


def test_the_header_serves_kernels_and_programs(described: Path, tmp_path: Path) -> None:
    """It needs no other header, in both byte orders and in assembly."""
    (tmp_path / "user.c").write_text('#include "registers.h"\n_Static_assert(RULE30_OUTPUT_0 == 0xa0 && RULE30_STATUS_COMPUTING == 4, "");\n')
    (tmp_path / "user.S").write_text('#include "registers.h"\n.word RULE30_OUTPUT_31, RULE30_CONTROL_CHAIN\n')
    for source in ("user.c", "user.S"):
        for target in ("mipsel-linux-gnu", "mips-linux-gnu"):
            command = [tool("clang"), f"--target={target}", "-std=gnu11", "-nostdinc", "-Wall", "-Wextra", "-Werror", "-c", "-I", described, source]
            subprocess.run(command, cwd=tmp_path, check=True)


def test_the_readme_has_the_registers(described: Path, root: Path) -> None:
    """Each one with its offset, access and value at the start; those of lines in a row."""
    rows = {}
    for line in (described / "registers.md").read_text().splitlines():
        if line.startswith("| 0x") and len(line.split("|")) == 8:
            offset, name, access, reset = (cell.strip() for cell in line.split("|")[1:5])
            rows[name] = (int(offset, 16), access, int(reset, 16))
    shown = {}
    for line in (root / "examples/rule30/README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("| 0x0") and len(cells) == 5:
            first, name = int(cells[0].split()[0], 16), cells[1].strip("`")
            for k in range(32) if name.endswith("[32]") else [None]:
                shown[name if k is None else f"{name.removesuffix('[32]')}_{k}"] = (first + 4 * (k or 0), cells[2], int(cells[3], 16))
    assert shown == rows
