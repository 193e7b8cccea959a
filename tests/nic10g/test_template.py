"""The firmware to begin with (firmware/template) on the whole machine: every frame arrives, past the ends of all rings, with
failures on the bus too; and a folder made of it builds as it is."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nic10g.test_firmware import MORE
from tests.sample import sampled

FAULTS = "read_abort/97,write_abort/61,read_parity/83,write_parity/71"


@pytest.mark.parametrize(
    ("payload", "options"),
    sampled([
        (18, []),
        pytest.param(1472, ["--set", f"host.faults={FAULTS}"], marks=MORE),
        pytest.param(300, ["--ratio_send", 0], marks=MORE),
        pytest.param(300, ["--ratio_receive", 0], marks=MORE),
    ], 4),
)
def test_frames_past_the_ends_of_the_rings(nic10g, build_dir: Path, payload: int, options: list) -> None:
    machine = nic10g(processors=1)
    ran = machine.run("--payload", payload, "--count", 1200, *options, firmware=build_dir / "firmware/template/template.elf")
    assert (ran.sent, ran.received, ran.value("checker", "counted_drops")) == (
        0 if "--ratio_send" in options else 1200, 0 if "--ratio_receive" in options else 1200, 0,
    )  # fmt: skip


def test_a_firmware_of_ones_own(nic10g, root: Path, build_dir: Path, tmp_path: Path) -> None:
    def firmware(*words: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "harness", "firmware", *words, "--build", build_dir, "--out", tmp_path]
        return subprocess.run(command, cwd=root, capture_output=True, text=True)

    folder = tmp_path / "first_nic"
    made = firmware("--new", str(folder))
    assert made.returncode == 0 and made.stdout.strip() == str(tmp_path / "first_nic.elf"), made.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["first_nic.ld", "machine", "main.c", "start.S"]
    before = (folder / "main.c").read_text()
    (folder / "main.c").write_text(before.replace("enum { FETCH = 16 };", "enum { FETCH = 3 };"))
    again = firmware("--new", str(folder))
    assert again.returncode == 1 and again.stderr == f"spinach firmware: {folder}: it exists already, and is left as it is\n"
    assert firmware(str(folder)).returncode == 0 and (folder / "main.c").read_text() != before
    ran = nic10g(processors=1).run("--payload", 100, "--count", 40, firmware=tmp_path / "first_nic.elf")
    assert (ran.sent, ran.received) == (40, 40)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("for (;;) __asm__ volatile(\"\");", r"error: driver: the firmware did not report that it is up \(at 5\d{6} ns"),
        ("", r"_start\+0x18>"),  # `break` is the last instruction there
    ],
)
def test_firmware_that_never_reports_and_main_that_returns(nic10g, root: Path, build_dir: Path, tmp_path: Path, body: str, says: str) -> None:
    """The start-up ends with the driver's message before any watchdog; a return ends at the start code, not in what lies after it."""
    folder = tmp_path / "first_nic"
    shutil.copytree(root / "firmware/template", folder)
    (folder / "main.c").write_text(f"void main(void) {{ {body} }}\n")
    build = [sys.executable, "-m", "harness", "firmware", folder, "--build", build_dir, "--out", tmp_path]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    ran = nic10g(processors=1).run("--payload", 100, "--count", 40, "--watchdog", "2ms", firmware=tmp_path / "first_nic.elf", ok=False)
    assert ran.status == 1 and re.search(says, ran.err), ran.err


def test_firmware_of_another_machine(nic10g, build_dir: Path) -> None:
    elf = build_dir / "firmware/tigon2/tigon2.elf"
    ran = nic10g(processors=1).run("--payload", 100, "--count", 40, firmware=elf, ok=False)
    assert ran.status == 1
    assert ran.err == f"simulator: error: driver: {elf}: it starts at 0x4000, outside the instruction memory from 0x4000000 up to 0x4020000 (it may be built for another machine)\n"
