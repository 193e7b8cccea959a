"""Plug-ins of studies: how they are found, what they do when they define nothing, and what each refuses."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.run.store import RunError
from harness.study import uses
from harness.study.study_file import StudyError, StudyFile, Window
from harness.study.uses import Examined, Files, Use, bottleneck, cost, faults

STUDY = StudyFile(title="t", machine="m.lss")


def find(given: object) -> Use | None:
    return uses.find(given, STUDY, Path("s.toml"), Path("build"), "s.toml: use")


def test_finding_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(None) is None and isinstance(find("faults"), faults.Plugin)
    found = find({"with": "cost", "counts": {"memory": 3}})
    assert isinstance(found, cost.Plugin) and (found.counts, found.place) == ({"memory": 3}, "s.toml: use: cost")
    for given in {}, {"with": 3}:
        with pytest.raises(StudyError, match="^s.toml: use: `with` names the plug-in$"):
            find(given)
    with pytest.raises(StudyError, match="^s.toml: use: there is no plug-in 'throughput'; known are bottleneck, cost, course, faults, frames, layers$"):
        find("throughput")
    monkeypatch.setattr(uses.importlib, "import_module", lambda name: (_ for _ in ()).throw(ModuleNotFoundError(name="numpy")))
    with pytest.raises(ModuleNotFoundError):  # what a plug-in itself lacks
        find("faults")


def test_one_that_defines_nothing() -> None:
    use, point, result = Use({}, STUDY, Path("s.toml"), Path("build"), "here"), object(), object()
    assert (use.axes(), use.check_points([]), use.settings(point), use.files(point)) == ((), None, {}, Files())
    assert (use.measures(point, result), use.errors(point, result), use.time_series(point, result)) == ({}, {}, {})
    assert (use.check(point, result), use.waves([point]), use.stop(point, {})) == ((), [[point]], False)
    assert (use.samples("1 us"), use.limits(None, []), use.mark(None, {}, {})) == (False, (), None)
    assert (use.shown_files(point, result), use.record(point, {}, {}), use.needs_result) == ({}, {}, False)
    with pytest.raises(StudyError, match="^here: it examines nothing$"):
        use.examine(None)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"with": "faults", "count": 3}, "faults: unknown key 'count'; known is where"),
        ({"with": "bottleneck", "count": 3}, "bottleneck: unknown key 'count'; known is where"),
        ({"with": "cost", "count": 3}, "cost: unknown key 'count'; known are counts, where"),
        ({"with": "cost", "counts": {"cycles": 3}}, "cost: counts 'cycles': a cost has instructions, scratchpad, memory, registers"),
    ],
)
def test_wrong_keys(given: dict, says: str) -> None:
    assert find({"with": given["with"], "where": {"a": 1}})
    with pytest.raises(StudyError, match=f"^s.toml: use: {says}$"):
        find(given)


def test_what_became_of_faults(tmp_path: Path) -> None:
    """Frames that were to be lost and others that were not: one of the good ones is missing without a reason."""
    values = {
        "ethernet.faulty_fcs": 3, "nic.mac_rx.bad_fcs": 3, "ethernet.faulty_short": 1, "ethernet.faulty_fragment": 2,
        "nic.mac_rx.too_short": 3, "host.read_aborts": 4, "nic.dma_read.bus_errors": 4, "checker.missing": 2,
        "nic.mac_rx.no_room": 1, "checker.faulty": 6, "other.thing": 9,
    }  # fmt: skip
    entries = [dict(zip(("path", "name"), key.rsplit(".", 1), strict=True), value=value) for key, value in values.items()]
    (tmp_path / "stats.json").write_text(json.dumps({"statistics": entries}))
    rows = faults.of_file(tmp_path / "stats.json")
    assert [(row["fault"], row["injected"], row["counted"]) for row in rows if row["injected"]] == [
        ("wrong FCS", 3, 3), ("too short", 3, 3), ("overrun", 2, 1), ("failed bus read", 4, 4),
    ]  # fmt: skip
    assert {row["disturbed"] for row in rows} == {1}
    assert rows[4]["statistic"] == "nic.mac_rx.no_descriptor + nic.mac_rx.no_room + nic.mac_rx.overruns"
    looked = SimpleNamespace(result=SimpleNamespace(directory=tmp_path), title="one")
    found = find("faults").examine(looked)
    assert found.verdict == "12 faults, 11 counted, 1 other frames disturbed"
    assert found.body.count("<tr>") == 1 + 4 and "one: 12 faults" in found.body


def test_a_bottleneck_that_cannot_be_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = SimpleNamespace(path=Path("m.lss"), defines=(("a", "1"),), include=("parts",))
    looked = SimpleNamespace(job=SimpleNamespace(arguments=lambda: ["--x", "3", "--record-from", "2 us", "--measure-to=end"]), machine=machine, folder=tmp_path, title="one")
    asked = []
    monkeypatch.setattr(bottleneck.measure, "examine", lambda *given: asked.append(given) or SimpleNamespace(verdict="it waits"))
    monkeypatch.setattr(bottleneck.page, "fragment", lambda analysis, title, prefix: title + prefix)
    for begin, to, text in (
        ("2 us", None, "one, from 2 us to the end"),
        ("marker(1)", "marker(2)", "one, from marker(1) to marker(2)"),
        (None, None, "one"),
    ):
        study = StudyFile(title="t", machine="m.lss", window=Window(begin=begin, to=to))
        use = bottleneck.Plugin({}, study, Path("s.toml"), Path("build"), "here")
        assert use.examine(looked) == Examined("it waits", f"{text}{tmp_path.name}-")
        assert asked.pop() == (Path("m.lss"), Path("build"), tmp_path, ["a=1"], ["--x", "3"], begin or "", ("parts",))
    again = StudyFile(title="t", machine="m.lss", window=Window(begin="marker(1)", to="marker(1)"))
    with pytest.raises(RunError, match=r"^the bottleneck between two events of one condition, marker\(1\), cannot be examined$"):
        bottleneck.Plugin({}, again, Path("s.toml"), Path("build"), "here").examine(looked)
    monkeypatch.setattr(bottleneck.page, "fragment", lambda *given: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(RunError, match="^no space$"):
        use.examine(looked)
