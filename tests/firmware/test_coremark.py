"""CoreMark on the host machine and on the core of the network interfaces: its results are right, and the run's status says so."""

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


def test_a_wrong_result_fails_the_run(build_dir: Path, single_core: Path, tmp_path: Path) -> None:
    """The known checksum of the matrices is another one in a copy."""
    whole, known = elf(build_dir, "core.elf").read_bytes(), bytes.fromhex("be52 1199 5608 1fd7 0747".replace(" ", ""))
    assert whole.count(known) == 1
    (tmp_path / "wrong.elf").write_bytes(whole.replace(known, known[:6] + b"\x1f\xd8" + known[8:]))
    done = subprocess.run([single_core, "--quiet", "--program", tmp_path / "wrong.elf"], capture_output=True, text=True)
    assert done.returncode == 1 and "ERROR! matrix crc 0x1fd7 - should be 0x1fd8" in done.stdout
