"""Machines from Python: what they have, their runs, and what is said of wrong names and of runs that fail."""

import json
from pathlib import Path

import pytest

import spinach

TOP = """
parameter stages = 2 : int;                     /** pipes in the chain */
runtime parameter script = "" : string;         /** what the source sends */
clock clk = 100 MHz;
instance producer : source { script = script; };
instance stage[stages] : pipe;
instance consumer : sink;
producer.out -> stage[0].in : uint32;
for (i = 0; i + 1 < stages; i = i + 1) stage[i].out -> stage[i + 1].in;
stage[stages - 1].out -> consumer.in;
"""


def test_a_machine_says_what_it_has(here: Path) -> None:
    machine = spinach.Machine("chain.lss", **{"delay.elastic": False})
    parameters = machine.parameters
    assert parameters.loc["delay.elastic", ["type", "default", "when"]].tolist() == ["bool", False, "build"]
    assert parameters.loc[["producer.script", "consumer.ready"], "when"].tolist() == ["init", "run"]
    assert parameters.loc["consumer.ready", "description"].startswith("without a pattern")
    assert machine.statistics.loc[("consumer", "last"), "unit"] == "cycles"
    assert machine.events.loc["consumer.taken", "description"] == "an item was taken"
    assert machine.clocks == {"clk": 1e9}
    assert machine.netlist["file"].endswith("chain.lss")
    assert "<svg" in machine._repr_svg_() and "delay" in machine._repr_svg_()
    assert repr(machine) == "Machine('chain.lss', delay.elastic=False)"


def test_a_run_says_what_it_came_to(here: Path) -> None:
    machine = spinach.Machine("chain.lss")
    run = machine.run(cycles=100, **{"consumer.ready": 0.5})
    assert run["consumer.items"] == 48
    assert run.stats.loc[("consumer", "items")].tolist() == [48, "items"]
    assert (run.cycles, run.ended, run.printed) == ({"clk": 100}, "all cycles were simulated", "")
    assert run.seconds == pytest.approx(100e-9)
    assert run.manifest["parameters"]["consumer.ready"] == "0.5"
    assert (run.folder / "stats.json").is_file() and run.folder.parent == here / "build" / "runs"
    others = [machine.run(cycles=900, seed=seed, **{"consumer.ready": 0.5})["consumer.items"] for seed in (1, 2, 3)]
    assert len(set(others)) > 1
    assert machine.run(cycles=7).folder != run.folder


def test_windows_and_samples(here: Path) -> None:
    run = spinach.Machine("chain.lss").run(cycles=1000, window=("100 ns", "500 ns"), sample="100 ns")
    assert run.window["value"].to_dict() == {
        ("producer", "items"): 400, ("delay", "flushed"): 0, ("consumer", "items"): 400, ("consumer", "last"): 499,
    }  # fmt: skip
    samples = run.samples
    assert samples.index[:2].tolist() == pytest.approx([100e-9, 200e-9])
    assert samples["consumer.items"].tolist()[:2] == [96, 196] and samples["cycles(clk)"].tolist()[:2] == [100, 200]
    without = spinach.Machine("chain.lss").run(cycles=10)
    assert without.samples.empty
    with pytest.raises(spinach.SpinachError, match=r"no window: pass window=\(FROM, TO\)"):
        without.window  # noqa: B018


def test_text_is_a_machine_and_settings_of_the_machine_itself(here: Path) -> None:
    (here / "items.txt").write_text("0 1\n0 2\n0 3\n")
    machine = spinach.Machine(TOP, stages=3)
    run = machine.run(cycles=50, script="items.txt", folder=here / "mine")
    assert run["consumer.items"] == 3 and run.folder == here / "mine"
    assert [one["file"] for one in run.manifest["inputs"]] == [str(here / "items.txt")]
    assert machine.run(cycles=50, script=here / "items.txt")["consumer.items"] == 3
    assert machine.parameters.loc[["stages", "script"], "when"].tolist() == ["build", "init"]


def test_a_pattern_sets_several(here: Path) -> None:
    run = spinach.Machine("chain.lss").run(cycles=100, **{"**.ready": 0.5})
    assert run.manifest["parameters"]["consumer.ready"] == "0.5"
    with pytest.raises(spinach.UnknownName, match=r"has no run-time parameter '\*\.reddy'"):
        spinach.Machine("chain.lss").run(cycles=10, **{"*.reddy": 1})


def test_a_checkpoint_lies_where_the_caller_is(here: Path) -> None:
    machine = spinach.Machine("chain.lss")
    machine.run(cycles=100, checkpoint="begun")
    assert (here / "begun").is_file()
    assert machine.run(cycles=200, restore=Path("begun"))["consumer.items"] == 196


def test_a_changed_file_is_built_again(here: Path) -> None:
    before = spinach.Machine("chain.lss").run(cycles=100)["consumer.items"]
    (here / "chain.lss").write_text((here / "chain.lss").read_text().replace("depth = 4", "depth = 10"))
    assert (before, spinach.Machine("chain.lss").run(cycles=100)["consumer.items"]) == (96, 90)


@pytest.mark.parametrize(
    ("name", "near", "text"),
    [
        (
            "consumer.reddy",
            "consumer.ready",
            "chain.lss has no run-time parameter 'consumer.reddy'; did you mean 'consumer.ready'?",
        ),
        ("delay.depth", None, "chain.lss is built with 'delay.depth': pass it to Machine()"),
        ("kernel", None, "chain.lss has no run-time parameter 'kernel'; known are consumer.limit, consumer.pattern, "),
    ],
)
def test_a_wrong_setting_is_found_before_anything_runs(here: Path, name: str, near: str | None, text: str) -> None:
    machine = spinach.Machine("chain.lss")
    with pytest.raises(spinach.UnknownName) as caught:
        machine.run(cycles=10, **{name: 1})
    assert str(caught.value).startswith(text) and caught.value.name == name
    assert caught.value.near[:1] == ([near] if near else [])
    assert not (here / "build" / "runs").exists()


def test_a_wrong_statistic(here: Path) -> None:
    with pytest.raises(
        spinach.UnknownName, match=r"^the run has no statistic 'consumer.item'; did you mean 'consumer.items'\?$"
    ):
        spinach.Machine("chain.lss").run(cycles=10)["consumer.item"]


def test_what_the_compiler_says_is_the_error(here: Path) -> None:
    with pytest.raises(spinach.BuildError, match="there is no module `pip`; did you mean `pipe`") as caught:
        spinach.Machine("instance a : pip;\n")
    assert caught.value.status == 1 and caught.value.command[1] == "build"
    with pytest.raises(spinach.BuildError, match=r"cannot read none\.lss: there is no such file"):
        spinach.Machine("none.lss")
    with pytest.raises(spinach.BuildError, match="dept"):
        spinach.Machine("chain.lss", **{"delay.dept": 3})


def test_a_run_that_fails_keeps_its_folder(here: Path) -> None:
    machine = spinach.Machine("chain.lss")
    with pytest.raises(spinach.RunError) as caught:
        machine.run(cycles=10, **{"consumer.ready": 3})
    assert str(caught.value) == "chain: consumer.ready: 3 is outside its range, 0.0 to 1.0"
    assert caught.value.status == 2 and "--cycles" in caught.value.command
    assert (caught.value.folder / "log.txt").read_text() == caught.value.said


def test_a_run_ends_at_its_timeout(here: Path) -> None:
    machine = spinach.Machine("chain.lss")
    with pytest.raises(spinach.RunError, match=r"^no end after 0\.5 s: .*/log\.txt has what the run printed") as caught:
        machine.run(watchdog="off", timeout=0.5, **{"producer.count": -1})
    assert caught.value.status is None and caught.value.folder.is_dir()


def test_events_to_watch_and_optimisation(here: Path) -> None:
    machine = spinach.Machine("chain.lss", watch=["consumer.taken"], optimise=0)
    assert machine.run(until="event(consumer.taken, 10)")["consumer.items"] == 10


def test_statistics_are_those_of_the_command_line(here: Path, run_sim) -> None:
    machine = spinach.Machine("chain.lss")
    found = run_sim(machine.simulator, "--cycles", "100", "--quiet").stats
    assert json.loads((machine.run(cycles=100).folder / "stats.json").read_text())["statistics"] == found["statistics"]
