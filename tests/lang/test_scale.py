"""The compiler takes time and memory in proportion to the machine: four times the machine, about four times the work.

Times are processor time of the compiler alone, and only compared with each other: quadratic work would take sixteen times
as long.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample import sampled

FLAT = """
parameter n = 10 : int;
instance a[n] : source { count = 5; };
instance b[n] : sink;
"""
MACHINES = {
    "loop": (2, FLAT + "for (i = 0; i < n; i = i + 1) a[i].out -> b[i].in : uint32;\n"),
    "arrays": (2, FLAT + "a[*].out -> b[*].in : uint32;\n"),
    # The acknowledgments of a chain ripple through all of it within a cycle, and from cell to cell when cells are clusters.
    "chain": (
        5,
        """
module cell {
  inport in : 'a;
  outport out : 'a;
  instance p[4] : pipe;
  in -> p[0].in;
  for (i = 1; i < 4; i = i + 1) p[i - 1].out -> p[i].in;
  p[3].out -> out;
}
parameter n = 10 : int;
instance s : source;
instance c[n] : cell;
instance d : sink;
s.out -> c[0].in : uint32;
for (i = 1; i < n; i = i + 1) c[i - 1].out -> c[i].in;
c[n - 1].out -> d.in;
""",
    ),
    # One instance with as many lanes as there are others.
    "star": (
        1,
        """
parameter n = 10 : int;
instance a[n] : source { count = 5; };
instance g : gather;
a[*].out -> g.in : uint32;
""",
    ),
}
INSTANCES, FACTOR = 2000, 4
PER_INSTANCE = 10 * 1024  # bytes; what is exported goes out piece by piece
FIXED = 32 << 20


# A process inherits the largest resident set of the one that starts it, so a small one stands between.
LAUNCHER = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


def measure(command: list, cwd: Path, status_wanted: int = 0, times: int = 2, **environment: str) -> tuple[float, int, str]:
    """Seconds of processor time, the least of several, the bytes of the largest resident set, and what was said."""
    seconds, resident, said = [], 0, ""
    for _ in range(times):
        env = {**os.environ, **environment}
        launched = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
        done = subprocess.run(launched, cwd=cwd, env=env, capture_output=True, text=True)
        status, used, largest = done.stdout.split()
        assert int(status) == status_wanted, done.stderr
        seconds.append(float(used))
        resident, said = max(resident, int(largest)), done.stderr
    return min(seconds), resident, said


@pytest.mark.parametrize("command", ["check", pytest.param("export", marks=pytest.mark.soak)])
@pytest.mark.parametrize("shape", sampled(MACHINES))
def test_elaboration_is_linear(command: str, shape: str, build_dir: Path, tmp_path: Path) -> None:
    instances, text = MACHINES[shape]
    (tmp_path / "gather.lss").write_text("module gather { inport in : 'a; always in.ack; phase_end; }\n")
    (tmp_path / "gather.c").write_text("phase_end() {}\n")
    (tmp_path / "m.lss").write_text(text)
    used = {}
    for n in (INSTANCES, FACTOR * INSTANCES):
        call = [build_dir / "bin" / "lss", command, "m.lss", f"-Dn={n // instances}"]
        # Elaboration, inference, checks and schedule; how long clang takes for the C of modules is another matter.
        used[n] = measure(call + (["-o", "m.json"] if command == "export" else ["--netlist-only"]), tmp_path)
    (little, _, _), (much, resident, _) = used.values()
    assert much < 2 * FACTOR * little, f"{little:.2f} s, {much:.2f} s for {FACTOR} times as much"
    assert resident < FIXED + PER_INSTANCE * FACTOR * INSTANCES, f"{resident} bytes"


@pytest.mark.optimised  # the flags of the tests would be named with clang's failure
def test_emission_is_linear(build_dir: Path, tmp_path: Path) -> None:
    """With a clang that fails at once, a build is what lss itself does: elaboration, schedule and the C of each unit."""
    for name in ("clang-22", "clang-19", "clang"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "m.lss").write_text(MACHINES["chain"][1])
    path = f"{tmp_path}:{os.environ['PATH']}"
    seconds = []
    for cells in (200, 200 * FACTOR):
        command = [build_dir / "bin" / "lss", "build", "m.lss", f"-Dn={cells}", "-o", "sim"]
        seconds.append(measure(command, tmp_path, 3, PATH=path, LSS_CACHE=str(tmp_path / "cache"))[0])
    assert seconds[1] < 2 * FACTOR * seconds[0], f"{seconds} s for {FACTOR} times as much"


def test_a_long_segment_in_pieces_is_the_same_machine(build_sim, run_sim, tmp_path: Path) -> None:
    """Divided among functions and units, where nothing else keeps clang's time from growing with the square."""
    text = """
instance s : source;
instance p[1200] : pipe;
instance d : sink;
s.out -> p[0].in : uint32;
for (i = 1; i < 1200; i = i + 1) p[i - 1].out -> p[i].in;
p[1199].out -> d.in;
"""
    pieces = build_sim(text, "--keep", tmp_path / "pieces")
    whole = build_sim(text, "--single-function", "--keep", tmp_path / "whole")
    assert len(list((tmp_path / "pieces").glob("root_0_part_*.c"))) == 1 and not list((tmp_path / "whole").glob("*_part_*"))
    results = [run_sim(simulator, "--cycles", 2000).stats for simulator in (pieces, whole)]
    assert results[0]["statistics"] == results[1]["statistics"] and results[0]["run"] == results[1]["run"]


@pytest.mark.parametrize("cells", [5000, pytest.param(50_000, marks=pytest.mark.soak)])
def test_the_documented_bound(cells: int, build_dir: Path, tmp_path: Path) -> None:
    """As many instances as the documentation allows fit into a gigabyte, beside the compiler, and the default number of steps."""
    (tmp_path / "m.lss").write_text(MACHINES["arrays"][1])
    _, resident, _ = measure([build_dir / "bin" / "lss", "check", "m.lss", f"-Dn={cells}"], tmp_path, times=1)
    assert resident < (1 << 30) * cells // 50_000 + (16 << 20)


def test_a_loop_without_end_takes_little_memory(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.lss").write_text("while (true) {}\n")
    _, resident, said = measure([build_dir / "bin" / "lss", "check", "m.lss"], tmp_path, 1, times=1)
    assert "error[runaway]" in said
    assert resident < 64 << 20
