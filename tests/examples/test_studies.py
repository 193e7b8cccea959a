"""The studies of the tree: every name in them is one of their machines', and the four cores multiply rightly."""

from pathlib import Path

import pytest

from harness import firmware
from harness.run.execute import executor
from harness.run.progress import Progress
from harness.study import machine, model, runner
from harness.study.study_file import read
from tests.sample import sampled
from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
STUDIES = found(ROOT / "examples", "study.toml", "studies/*.toml")

ELSEWHERE = "linux", "coremark"  # folders of the build


@pytest.mark.parametrize("path", sampled(STUDIES, 5), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_name_is_known(build_dir: Path, tmp_path: Path, path: Path) -> None:
    """What each study sets, measures and draws exists in the netlists of all its machines.  Software that is not made here,
    since it takes long or is downloaded, has empty files in its place."""
    for each in build_dir.iterdir():
        if each.name not in ELSEWHERE:
            (tmp_path / each.name).symlink_to(each)
    for needed in read(path).needs:
        file = machine.resolve(needed, path, tmp_path)
        if any(file.is_relative_to(tmp_path / name) for name in ELSEWHERE):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    study = runner.prepare(path, tmp_path, Progress())
    assert study.broken == {} and len(study.points) > 0
    assert all(study.structure(point) in study.machines for point in study.points)


@pytest.mark.soak
def test_four_cores_multiply(lss, run_sim, root: Path, build_dir: Path, tmp_path: Path) -> None:
    """The product is right with caches that hold next to nothing, so lines go and come and others' writes are seen."""
    lss("build", root / "examples/quad_core/quad_core.lss", "-o", "quad", "-D", "dcache_size=1KiB", "-D", "icache_size=1KiB", "-D", "ways=1")
    done = run_sim(tmp_path / "quad", "--program", build_dir / "firmware/matrix/matrix.elf", "--latency", "5", timeout=60)
    assert done.status == 0 and "1248000" in done.out
    assert all(done.value(f"cpu[{n}].pipeline.writeback", "instructions") > 10000 for n in range(4))


MARKED = """
#include "console.h"
#include "marker.h"
int main(void) {
  for (int round = 1; round <= 3; round++) {
    marker(1);
    __asm__ volatile(".rept 1000\\n nop\\n .endr");
    marker(2);
    print_number((unsigned)round);
  }
  return 0;
}
"""
WINDOW = """
title = "A program's own window"
machine = "MACHINE"
base = { "option.program" = "marked.elf" }
axis = [{ name = "repeat", setting = "seed", values = [1, 2] }]
window = { from = "marker(1)", to = "marker(2)" }
[measure]
instructions = "core.writeback.instructions"
cycles = "cycles(cpu_clk)"
printed = "console.bytes"
rounds = "events(core.writeback.marker)"
"""


@pytest.mark.parametrize("machine", sampled(["single_core", "riscv_core"], 2))
def test_a_program_marks_the_window(root: Path, build_dir: Path, tmp_path: Path, machine: str) -> None:
    """Of what a program does, only what lies between its markers is measured, and nothing is simulated after it."""
    source, netlist = tmp_path / "marked", root / f"examples/{machine}/{machine}.lss"
    source.mkdir()
    (source / "marked.c").write_text(MARKED)
    (source / "machine").write_text(str(netlist))
    firmware.build(source, tmp_path, build_dir)
    study = tmp_path / "study.toml"

    def rows(text: str) -> list[model.Row]:
        study.write_text(text.replace("MACHINE", str(netlist)))
        made = runner.prepare(study, tmp_path / "build", Progress())
        runner.build(made, Progress())
        with executor() as pool:
            return runner.run(made, pool, Progress()).rows

    (tmp_path / "build").mkdir()
    (tmp_path / "build/bin").symlink_to(build_dir / "bin")
    found = rows(WINDOW)
    assert [row.status for row in found] == ["ok", "ok"], [row.why for row in found]
    assert found[0].measures == found[1].measures
    assert found[0].measures["instructions"] == 1001, "a thousand, and the marker at the end"
    assert 1001 <= found[0].measures["cycles"] < 1100 and found[0].measures["printed"] == 0
    whole = rows(WINDOW.replace("marker(2)", "end"))[0].measures
    assert whole["printed"] == 3 and whole["instructions"] > 3000
    later = rows(WINDOW.replace('"marker(1)", to = "marker(2)"', '"marker(1) + 1 us", to = "marker(1) + 3 us"'))
    assert [row.status for row in later] == ["ok", "ok"] and 0 < later[0].measures["instructions"] <= later[0].measures["cycles"]
    assert later[0].measures["cycles"] == 200, "of 10 ns"
    late = rows(WINDOW.replace("marker(2)", "marker(9)"))
    assert all(row.why.startswith("the run ended before the condition of --measure-to, \"marker(9)\", came true: console: the program exited (") for row in late), late[0].why
