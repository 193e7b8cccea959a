"""Sweeps and studies from Python: one table, nothing simulated twice, wrong names and failures, Ctrl-C, the report."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spinach
from spinach import Axis, Measure

RATE = {"rate": "consumer.items / cycles(clk)"}
READY = {"ready": Axis("set.consumer.ready", [0.25, 0.5, 1])}
SHORT = {"option.cycles": 900}
# A test run in the background has SIGINT ignored, and its children inherit that.
ENDLESS = """
import signal, spinach
from spinach import Axis
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    spinach.sweep("chain.lss", {"n": Axis("seed", range(100))}, {"items": "consumer.items"}, jobs=4,
                  base={"set.producer.count": -1, "option.watchdog": "off"})
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(spinach.Machine("chain.lss").run(cycles=100)["consumer.items"], flush=True)
"""


def test_a_sweep_is_a_table(here: Path) -> None:
    made = spinach.sweep("chain.lss", READY, RATE, base=SHORT)
    frame = made.frame
    assert frame.columns.tolist() == ["ready", "rate", "status", "why", "command"]
    assert frame["ready"].tolist() == [0.25, 0.5, 1] and frame["status"].tolist() == ["ok"] * 3
    assert frame["rate"].is_monotonic_increasing and frame["rate"].iloc[2] == pytest.approx(1, abs=0.01)
    again = subprocess.run(
        f"PATH={os.path.dirname(os.environ['SPINACH_LSS'])}:$PATH; {frame['command'].iloc[2]}",
        shell=True, capture_output=True, text=True,
    )  # fmt: skip
    assert again.returncode == 0 and "consumer  items                 896  items" in again.stdout


def test_what_was_run_is_not_run_again_and_the_file_says_the_same(here: Path) -> None:
    first = spinach.sweep(
        "chain.lss", READY, {"rate": Measure("consumer.items / cycles(clk)", "items/cycle", "Rate", "more")}, base=SHORT
    )
    assert [row.result.reused for row in first.outcome.every] == [False] * 3
    again = spinach.sweep(
        "chain.lss", READY, {"rate": Measure("consumer.items / cycles(clk)", "items/cycle", "Rate", "more")}, base=SHORT
    )
    assert [row.result.reused for row in again.outcome.every] == [True] * 3
    (here / "written.toml").write_text(first.toml)
    other = spinach.study("written.toml")
    pages = [made.write(here / name) for made, name in ((first, "one"), (other, "two"))]
    assert [page.name for page in pages] == ["index.html"] * 2
    assert (here / "one" / "results.csv").read_bytes() == (here / "two" / "results.csv").read_bytes()


def test_axes_are_parameters_of_the_machine(here: Path) -> None:
    (here / "top.lss").write_text(
        'parameter depth = 1 : int;\nruntime parameter ready = 1.0 : float;\nclock clk = 1 GHz;\n'
        "instance producer : source;\ninstance delay : pipe { depth = depth; };\ninstance consumer : sink { ready = ready; };\n"
        "producer.out -> delay.in : uint32;\ndelay.out -> consumer.in;\n"
    )  # fmt: skip
    axes = {"depth": [1, 5], "ready": [1], "seed": range(1, 3)}
    made = spinach.sweep("top.lss", axes, {"items": "consumer.items"}, base={"option.cycles": 100}, jobs=1)
    assert made.frame["items"].tolist() == [99, 99, 95, 95]
    with pytest.raises(
        spinach.UnknownName, match=r"^top.lss has no parameter 'dept'; did you mean 'depth'\? \(pass an Axis"
    ):
        spinach.sweep("top.lss", {"dept": [1]}, RATE)


def test_parameters_of_the_machine_and_parts_of_a_window(here: Path) -> None:
    machine = spinach.Machine("chain.lss", **{"delay.elastic": False})
    window = {"from": "100 ns", "to": "900 ns", "parts": 8}
    made = spinach.sweep(machine, {"ready": Axis("set.consumer.ready", [0.5])}, RATE, window=window)
    assert made.frame.columns.tolist()[1:3] == ["rate", "rate ±"]
    assert 0 < made.frame["rate ±"].iloc[0] < 0.2
    assert 'D.delay.elastic" = false' in made.toml
    whole = spinach.sweep(
        machine, {"ready": Axis("set.consumer.ready", [1])}, {"items": "consumer.items"}, window=("100 ns", "200 ns")
    )
    assert whole.frame["items"].tolist() == [100]


@pytest.mark.parametrize(
    ("axes", "measures", "name", "text"),
    [
        ({"x": Axis("set.consumer.redy", [1])}, RATE, "consumer.redy", "axis 'x': setting 'set.consumer.redy': chain.lss has no run-time parameter 'consumer.redy'; did you mean 'consumer.ready'?"),
        (READY, {"rate": "consumer.itms"}, "consumer.itms", "measure 'rate': 'consumer.itms': chain.lss has no statistic 'consumer.itms'; did you mean 'consumer.items'?"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_found_before_anything_runs(
    here: Path, axes: dict, measures: dict, name: str, text: str
) -> None:
    with pytest.raises(spinach.UnknownName) as caught:
        spinach.sweep("chain.lss", axes, measures)
    assert (str(caught.value), caught.value.name) == (text, name)
    assert not (here / "build" / "run").exists() and not (here / "build" / "sim").exists()


def test_what_else_is_wrong_is_one_line(here: Path) -> None:
    with pytest.raises(spinach.SpinachError, match=r"^axis 'x': it has no values$"):
        spinach.sweep("chain.lss", {"x": Axis("seed", [])}, RATE)
    with pytest.raises(spinach.SpinachError, match=r"^none\.toml: No such file or directory$"):
        spinach.study("none.toml")
    with pytest.raises(spinach.BuildError, match="cannot read none.lss"):
        spinach.sweep("none.lss", {"depth": [1]}, RATE)


def test_a_point_that_fails(here: Path) -> None:
    axes = {"ready": Axis("set.consumer.ready", [1, 7])}
    with pytest.raises(
        spinach.RunError, match=r"^ready 7: consumer\.ready: 7 is outside its range.*1 of 2 points failed"
    ) as caught:
        spinach.sweep("chain.lss", axes, RATE, base=SHORT)
    assert (caught.value.folder / "log.txt").is_file()
    kept = spinach.sweep("chain.lss", axes, RATE, base=SHORT, on_error="keep").frame
    assert kept["status"].tolist() == ["ok", "failed"] and "outside its range" in kept["why"].iloc[1]


def test_a_plot(here: Path) -> None:
    axes = {**READY, "seed": Axis("seed", [1, 2], "Seed")}
    made = spinach.sweep(
        "chain.lss", axes, {"rate": Measure("consumer.items / cycles(clk)", "items/cycle", "Rate")}, base=SHORT
    )
    figure = made.plot("ready", "rate", "seed")
    assert figure.axes[0].get_ylabel() == "Rate (items/cycle)" and len(figure.axes[0].lines) >= 2
    assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(spinach.UnknownName, match=r"^the sweep has no measure 'rat'; did you mean 'rate'\?$"):
        made.plot("ready", "rat")


def children(place: Path) -> list[int]:
    """The simulators of a folder that run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and os.readlink(entry / "exe").startswith(f"{place}/build/sim/"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_ctrl_c_ends_a_sweep_and_leaves_no_child(here: Path, root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root}/harness/python"}
    child = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        deadline = time.monotonic() + 60
        while len(children(here)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(children(here)) == 4
        child.send_signal(signal.SIGINT)
        asked = time.monotonic()
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - asked < 2
        assert children(here) == []
        assert child.stdout.readline() == "96\n"  # the next one runs
        assert child.wait(30) == 0
    finally:
        child.kill()
