"""CoreMark on the host machine, on the core of the network interfaces and on out-of-order cores: its results are right, and the run's status says so."""

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak


def elf(build: Path, name: str) -> Path:
    found = build / "coremark" / name
    if not found.exists():
        pytest.skip(f"there is no {found}; `make coremark` makes it")
    return found


@pytest.fixture(scope="module")
def single_core(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = tmp_path_factory.mktemp("single") / "single_core"
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/single_core/single_core.lss", "-o", simulator], check=True)
    return simulator


def test_on_the_functional_machine(build_dir: Path) -> None:
    done = subprocess.run([build_dir / "bin/mips-oracle", "--system", elf(build_dir, "host.elf")], capture_output=True, text=True)
    assert done.returncode == 0 and "\nCorrect operation validated." in done.stdout and "[0]crcfinal      : 0xfcaf" in done.stdout


def test_on_the_core_of_an_interface(build_dir: Path, single_core: Path) -> None:
    command = [single_core, "--quiet", "--program", elf(build_dir, "core.elf")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "\nCorrect operation validated." in done.stdout and "[0]crcfinal      : 0xfcaf" in done.stdout


@pytest.mark.parametrize(("width", "ipc"), [(1, 0.88), (4, 2.0), (8, 2.3)])
def test_on_an_out_of_order_core(width: int, ipc: float, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Each instruction is compared with the interpreter, and many are executed in a cycle."""
    program, options = elf(build_dir, "rv32i.elf"), ["-D", f"width={width}", "-D", "checked=true"]
    subprocess.run([build_dir / "bin/lss", "build", root / "examples/wide_core/wide_core.lss", *options, "-o", tmp_path / "wide"], check=True)
    command = [tmp_path / "wide", "--program", program, "--cycles", "20000000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "\nCorrect operation validated." in done.stdout and "[0]crcfinal      : 0xfcaf" in done.stdout
    counts = {name: float(value) for name, value in re.findall(r"^core\S* +(compared|instructions|ipc) +([\d.]+)", done.stdout + done.stderr, re.MULTILINE)}
    assert counts["compared"] == counts["instructions"] > 8_000_000 and ipc < counts["ipc"] < width


def test_a_wrong_result_fails_the_run(build_dir: Path, single_core: Path, tmp_path: Path) -> None:
    """The known checksum of the matrices is another one in a copy."""
    whole, known = elf(build_dir, "core.elf").read_bytes(), bytes.fromhex("be52 1199 5608 1fd7 0747".replace(" ", ""))
    assert whole.count(known) == 1
    (tmp_path / "wrong.elf").write_bytes(whole.replace(known, known[:6] + b"\x1f\xd8" + known[8:]))
    done = subprocess.run([single_core, "--quiet", "--program", tmp_path / "wrong.elf"], capture_output=True, text=True)
    assert done.returncode == 1 and "ERROR! matrix crc 0x1fd7 - should be 0x1fd8" in done.stdout
