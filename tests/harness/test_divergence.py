"""harness divergence: the first cycle in which two runs differ, whatever the distance of the hashes that see it."""

import subprocess
from pathlib import Path

import pytest

from harness.run import divergence
from tests.sample import seldom

TIMER = "module timer { runtime parameter flip = -1 : int; runtime init parameter begin = 0 : int; state { uint32 words[2][3]; uint64 n; } init; phase_end; }\n"
CODE = """
init() { self->n = (uint64_t)param(begin); }
phase_end() { self->n++; if ((int64_t)cycle() == param(flip)) self->words[1][2] ^= 0x40; }
"""


@pytest.fixture(scope="module")
def simulators(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("divergence")
    (folder / "timer.lss").write_text(TIMER)
    (folder / "timer.c").write_text(CODE)
    (folder / "m.lss").write_text("instance t : timer;\n")
    for name, options in (("sim", []), ("debug", ["--debug"])):
        subprocess.run([build_dir / "bin/lss", "build", "-O0", *options, "m.lss", "-o", name], cwd=folder, check=True)
    return [str(folder / "sim"), str(folder / "debug")]


@pytest.mark.parametrize("cycle", [0, 29, 30, 999, 100_000, 123_456, 249_999])
def test_the_first_cycle_and_item(simulators: list[str], tmp_path: Path, cycle: int) -> None:
    commands = [[simulators[0], "--cycles", "250000"], [simulators[1], "--cycles", "250000", "--set", f"t.flip={cycle}"]]
    found = divergence.find(commands, tmp_path)
    assert found == divergence.Divergence(cycle + 1, cycle, ["t.words[1][2]  0  64"])


def test_runs_that_do_not_part(simulators: list[str], tmp_path: Path) -> None:
    commands = [[name, "--cycles", "250000"] for name in simulators]
    assert divergence.find(commands, tmp_path) is None


def test_runs_of_different_length(simulators: list[str], tmp_path: Path) -> None:
    commands = [[simulators[0], "--cycles", "250000"], [simulators[0], "--cycles", "200500"]]
    found = divergence.find(commands, tmp_path)
    ends = ["the first run ends in cycle 250000, the second in cycle 200500"]
    assert found == divergence.Divergence(200_500, 200_500, ends)
    commands[1] += ["--set", "t.flip=200499"]
    assert divergence.find(commands, tmp_path) == divergence.Divergence(200_500, 200_499, ["t.words[1][2]  0  64"])


@seldom
def test_the_command(simulators: list[str], build_dir: Path, tmp_path: Path) -> None:
    def say(first: str, second: str) -> tuple[int, str, str]:
        command = [build_dir / "venv/bin/python", "-m", "harness", "divergence", first, second]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    run = f"{simulators[0]} --cycles 5000"
    assert say(run, run) == (0, "both runs end in the same state\n", "")
    expected = "the runs differ from cycle 778 on; in cycle 777 they were the same\n  t.words[1][2]  0  64\n"
    assert say(run, f"{run} --set t.flip=777") == (1, expected, "")
    expected = "the runs differ from cycle 0 on; they differ from the beginning\n  t.n  0  9\n"
    assert say(run, f"{run} --set t.begin=9") == (1, expected, "")
    status, out, error = say(run, f"{run} --set t.none=1")
    assert (status, out) == (1, "") and error.startswith(f"harness: {run} --set t.none=1: exit status 2: ") and error.count("\n") == 1
