"""The functional processor with virtual processing elements (MT ASE): directed cases with expected values, the same on qemu's 34Kf,
every bit of every register, and whole machines."""

import subprocess
from pathlib import Path

import pytest

from tests.emulib.mt_cases import mt_cases, qemu_programs
from tests.isa import system
from tests.kits import Kit

BYTE_ORDERS = pytest.mark.parametrize("big", [True, False], ids=["big", "little"])


def check(cases: list[system.Case], elf: Path, printed: str) -> None:
    labels = system.labels_of(elf)
    wrong = system.differences(cases, system.records(printed, len(cases)), [system.expected(n, case, labels) for n, case in enumerate(cases)])
    assert not wrong, f"{len(wrong)} of {len(cases)} cases:\n" + "\n".join(wrong)


@BYTE_ORDERS
def test_directed_cases(big: bool, build_dir: Path, tmp_path: Path):
    elf = system.build(mt_cases(), tmp_path / "cases.elf", big, mt=True)
    done = system.on_oracle(elf, big, build_dir, "--vpes", "2", "--limit", "10000000")
    assert (done.returncode, done.stderr) == (0, "")
    check(mt_cases(), elf, done.stdout)


@pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")
@BYTE_ORDERS
def test_directed_cases_on_qemu(big: bool, tmp_path: Path):
    for cases in qemu_programs():
        elf = system.build(cases, tmp_path / "cases.elf", big, mt=True)
        done = system.on_qemu(elf, big, "34Kf", 2)
        assert done.returncode == 0, done.stderr
        check(cases, elf, done.stdout)


def test_every_bit_and_who_executes(kit: Kit, tmp_path: Path):
    """In the soak with sanitizers."""
    program = kit.program(Path(__file__).with_name("system_mt.c"), ["mips/mvp.c", "mips/system*.c"], tmp_path / "system_mt")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_each_vpe_is_traced_and_counted(build_dir: Path, tmp_path: Path):
    elf, trace = system.build(mt_cases(), tmp_path / "cases.elf", False, mt=True), tmp_path / "trace"
    done = system.on_oracle(elf, False, build_dir, "--vpes", "2", "--limit", "10000000", "--trace", str(trace), "--counts", "--registers")
    lines = trace.read_text().splitlines()
    assert {line.split(":")[0] for line in lines} == {"0", "1"} and any(" mttr $t1, $5, 0, 2, 0" in line or " mttr $t1, $2, 0, 4, 0" in line for line in lines)
    first, second = done.stdout.split("VPE 0\n")[1].split("VPE 1\n")
    assert "TCBind     0x00200001\n" in second and "TCRestart  0x801" in second and "thread        0\n" in second and "thread        6\n" in first
    plain = system.on_oracle(elf, False, build_dir, "--limit", "1000", "--registers").stdout
    assert "ErrorEPC   0x00000000\n" in plain and "TCBind" not in plain


@pytest.mark.parametrize("number", ["-1", "9"])
def test_a_number_of_vpes_that_cannot_be(number: str, build_dir: Path, tmp_path: Path):
    done = system.on_oracle(tmp_path, False, build_dir, f"--vpes={number}")
    assert (done.returncode, done.stderr) == (2, f'mips-oracle: --vpes: "{number}" is not in the range 1 to 8\n')
