"""What the study of a machine with an operating system needs: files whose text depends on the point, starts with settings of their
own, layers of functions, the course of a run, bars that add up; and what each refuses."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.report import plot
from harness.run import serve, watch
from harness.run.progress import Progress
from harness.run.store import RunError
from harness.study import look, model, page, runner, uses
from harness.study.model import OK
from harness.study.study_file import StudyError, StudyFile, Window
from harness.study.uses import layers
from harness.trace.profile import Core, Place
from tests.harness.chain import MACHINE, make, rates

STUDY = """
title = "texts"
machine = "chain.lss"
base = { "option.cycles" = 900, "D.stages" = 2 }
text = { "option.script" = "{first} 7\\n100 8\\n" }
axis = [{ name = "first", values = [{ label = 3, settings = {} }, { label = 5, settings = { "option.ready" = 0.5 } }] }]
figure = { kind = "stack", y = ["rate", "more"], title = "both" }
[measure]
rate = "consumer.items"
more = "2 * rate"
"""


def prepare(place: Path, text: str) -> model.Study:
    (place / "study.toml").write_text(text)
    return runner.prepare(place / "study.toml", place / "build", Progress())


def test_a_text_for_each_point(place: Path) -> None:
    """It is an input like a file beside the study; a figure of what several measures add up to."""
    made = make(place, STUDY)
    texts = [dict(row.result.job.inputs)["--script"].read_text() for row in made.rows]
    assert texts == ["3 7\n100 8\n", "5 7\n100 8\n"] and rates(made) == {"first 3": 2.0, "first 5": 2.0}
    assert page.draw(made, made.study.file.figure[0], place / "figure-1") and (place / "figure-1.png").stat().st_size > 5000
    assert "both: rate, more;" in page.draw(made, made.study.file.figure[0], place / "figure-1")


LISTS = """
title = "lists"
machine = "chain.lss"
base = { "option.cycles" = 900, "D.stages" = 2 }
axis = { name = "scripts", values = [{ label = 1, settings = { "option.script" = ["a.txt"] } }, { label = 2, settings = { "option.script" = ["a.txt", "b.txt", "a.txt"] } }] }
figure = { y = "rate", x = "scripts", mark = [{ x = 2, y = 2.5, label = "theirs" }] }
[measure]
rate = "consumer.items"
"""


def test_lists_of_files_and_marks_of_others(place: Path) -> None:
    """What is in the files of a list names the result; it is given with commas. A mark of a figure is in no table, and compared with nothing."""
    for name in ("a", "b"):
        (place / f"{name}.txt").write_text("3 7\n")
    study = prepare(place, LISTS)
    runner.build(study, Progress())
    one, several = (study.jobs[point.number] for point in study.points)
    assert several.arguments()[several.arguments().index("--script") + 1] == ",".join(str(place / f"{name}.txt") for name in "aba")
    before = several.name()
    assert one.name() != before
    (place / "b.txt").write_text("4 7\n")
    assert several.name() != before
    made = make(place, LISTS.replace(', "b.txt", "a.txt"', ""))
    written = page.write(made, place / "out", Progress()).read_text()
    assert "<!-- theirs -->" in (place / "out/figure-1.svg").read_text() and "2.5" not in (place / "out/results.csv").read_text() and "theirs" not in written.replace("theirs -->", "")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"b.txt"', '"c.txt"', "option.script: there is no file 'c.txt', which is in a list of files"),
        ("x = 2, y = 2.5", "x = 3, y = 2.5", "figure 1: mark 'theirs': it is at no value of the axis of a figure of lines: 3"),
        ('y = "rate", x = "scripts"', 'kind = "bars", y = "rate", x = "scripts"', "figure 1: mark 'theirs': it is at no value of the axis of a figure of lines: 2"),
    ],
)
def test_what_of_lists_and_marks_is_refused(place: Path, old: str, new: str, why: str) -> None:
    assert old in LISTS
    for name in ("a", "b"):
        (place / f"{name}.txt").write_text("3 7\n")
    with pytest.raises(StudyError, match=re.escape(why)):
        prepare(place, LISTS.replace(old, new))


CURVE = """
title = "curve"
machine = "chain.lss"
base = { "option.cycles" = 900, "D.stages" = 2 }
text = { "option.script" = "{first} 7\\n" }
axis = { name = "first", values = [2, 4, 8, 2048, 1048576] }
figure = { y = "rate", x = "first", beside = "expected", log = true }
[measure]
rate = "consumer.items"
expected = { value = "twice / 2", label = "as it should be" }
twice = { value = "2 * rate", hidden = true }
"""


def test_a_curve_beside_what_is_expected(place: Path) -> None:
    """An axis that a text names has no settings; a hidden measure is a step on the way, in the results and in no table."""
    made = make(place, CURVE)
    assert [dict(row.result.job.inputs)["--script"].read_text() for row in made.rows][:2] == ["2 7\n", "4 7\n"]
    written = page.write(made, place / "out", Progress()).read_text()
    assert "twice" in (place / "out/results.csv").read_text()
    assert "<th>as it should be" in written.replace('<th scope="col">', "<th>") and "<th>twice" not in written.replace('<th scope="col">', "<th>")
    picture = (place / "out/figure-1.svg").read_text()
    assert all(f"<!-- {label} -->" in picture for label in ("as it should be (r² = 1.0000)", "2 Ki", "512 Ki", "8"))


def test_a_curve_over_powers_of_ten(place: Path) -> None:
    """What is 0 has no place there, and the caption says so."""
    made = make(place, CURVE.replace("log = true", "log_y = true"))
    assert {row.measures["rate"] for row in made.rows} == {0, 1}
    written = page.write(made, place / "out", Progress()).read_text()
    assert "Values of 0 or less are not drawn." in written
    picture = (place / "out/figure-1.svg").read_text()
    assert all(f"<!-- {label} -->" in picture for label in ("1", "2", "8")) and "1048576" not in picture


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("log = true", "log_y = true, kind = 'scaling'", "figure 1: log_y: a figure of kind 'scaling' begins at 0; it is for `lines` and `series`"),
        ("log = true", "log_y = true, relative_to = '2'", "figure 1: log_y: a change is no such value; it is for `lines` and `series`"),
        ('beside = "expected"', 'beside = "other"', "figure 1: beside: 'other' is none of rate, expected, twice"),
        ("2048, 1048576]", "0]", "figure 1: log: the values of x are no numbers above 0"),
        ("{first} 7", "5 7", "axis 'first': it needs a setting, values with settings, or a `text` with its name"),
    ],
)
def test_what_of_a_curve_is_refused(place: Path, old: str, new: str, why: str) -> None:
    assert old in CURVE
    with pytest.raises(StudyError, match=re.escape(why)):
        prepare(place, CURVE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("{first} 7", "{last} 7", "text: 'option.script': {last} is no axis; known are variant, first"),
        ('"option.script"', '"option.reedy"', "text: 'option.script': setting 'option.reedy': chain.lss has no option"),
        ('"option.script"', '"option.ready"', "text: 'option.ready': it names no file"),
        ("title =", 'needs = { "build/program.elf" = "make program" }\ntitle =', "build/program.elf: `make program` makes it"),
        ("title =", 'include = ["nowhere"]\ntitle =', "include: there is no folder "),
        ('y = ["rate", "more"]', 'y = "rate"', "figure 1: y: a figure of kind 'stack' draws several: y = ['rate', ...]"),
        ('y = ["rate", "more"]', 'y = ["rate", "most"]', "figure 1: y: 'most' is none of rate, more"),
        ('kind = "stack"', 'kind = "lines"', "figure 1: y: a figure of kind 'lines' draws one measure: y = 'rate'"),
    ],
)
def test_what_is_refused(place: Path, old: str, new: str, why: str) -> None:
    why = why.replace("text: 'option.script': setting", "text: 'option.reedy': setting")
    with pytest.raises(StudyError) as caught:
        prepare(place, STUDY.replace(old, new, 1))
    assert why in str(caught.value) and "\n" not in str(caught.value)


def test_a_machine_of_modules_elsewhere(place: Path) -> None:
    (place / "parts").mkdir()
    (place / "chain.lss").write_text(MACHINE.replace("instance stage[stages] : pipe", "instance stage[stages] : relay"))
    (place / "parts/relay.lss").write_text("module relay { inport in : 'a; outport out : 'a; instance p : pipe; in -> p.in; p.out -> out; }\n")
    made = make(place, STUDY.replace("title", 'include = ["parts"]\ntitle', 1))
    assert [row.status for row in made.rows] == [OK, OK]
    assert f"-I {place / 'parts'}" in runner_command(made)


def runner_command(made: model.Outcome) -> str:
    from harness.study import outputs

    return outputs.command(made.study, made.rows[0].point)


START = """
title = "starts"
machine = "chain.lss"
base = { "option.cycles" = 3000 }
start = { make = { until = "cycles(clk) >= 1000", settings = { "option.ready" = 0.0 } } }
axis = { name = "ready", setting = "option.ready", values = [0.0, 1.0] }
examine = { with = "course", of = "start", where = { ready = 1.0 }, every = "1 us", text = "log.txt", share = { in = "producer.items", out = "consumer.items" }, rate = { sent = "producer.items" } }
[measure]
rate = "consumer.items"
"""


def test_a_start_with_settings_of_its_own(place: Path) -> None:
    """Points have their own, and the course of the start is drawn."""
    try:
        made = make(place, START)
        assert rates(made) == {"ready 0.0": 0, "ready 1.0": 2000}
        assert "--ready" in made.study.begun[0].job.plain and "--ready" not in made.rows[0].result.job.plain
        [(_, seen)] = look.make_all(made, look.requested(made), Progress())
        assert seen.verdict == "0 ms" and seen.body.count("<svg") == 2 and "<pre>" in seen.body
        for old, new, why in [
            ('settings = { "option.ready" = 0.0 }', 'settings = { "option.reedy" = 0.0 }', "start: make: settings: setting 'option.reedy'"),
            ('settings = { "option.ready" = 0.0 }', 'settings = { "D.stages" = 3 }', "'D.stages' is built into the machine"),
            ("every = ", "evry = ", "course: unknown key 'evry'"),
            ('of = "start"', 'of = "end"', "of: \"point\" or \"start\", not 'end'"),
            ('sent = "producer.items"', 'sent = "producer.itms"', "has no statistic 'producer.itms'"),
        ]:
            with pytest.raises(StudyError) as caught:
                prepare(place, START.replace(old, new, 1))
            assert why in str(caught.value)
    finally:
        serve.end_all()


LAYERS = {
    "with": "layers", "per": "station.frames", "unit": "cycles", "layer": [
        {"name": "user", "label": "user mode", "core": "core", "addresses": "0-0xfff"},
        {"name": "driver", "core": "core", "functions": ["ace_*"]},
        {"name": "other", "core": "core"},
        {"name": "nic", "core": "card", "functions": ["dispatch*"]},
    ],
}  # fmt: skip


def find(given: dict, window: Window | None = None) -> uses.Use:
    study = StudyFile(title="t", machine="m.lss", window=window or Window())
    found = uses.find(given, study, Path("s.toml"), Path("build"), "s.toml: use")
    assert found
    return found


def place_of(pc: int, function: str | None, *cycles: int) -> Place:
    return Place(pc, 0, "", 1, list(cycles), [], function)


def test_layers_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cycle belongs to the first layer that has its function or address; what no layer takes is left out."""
    cores = [
        Core("core.pipeline", "clk", 1, 1, 9, 9, [], [place_of(0x100, "ace_x", 10, 2), place_of(0x8000, "ace_y", 6), place_of(0x9000, None, 30)], []),
        Core("card.nic.cpu[0].pipeline", "clk", 1, 1, 9, 9, [], [place_of(0x100, "dispatch_loop", 8), place_of(0x200, "send", 100)], []),
    ]  # fmt: skip
    use = find(LAYERS, Window("marker(1)", "marker(2)"))
    monkeypatch.setattr(layers, "read", lambda file: SimpleNamespace(cores=cores))
    monkeypatch.setattr(layers.machine, "of_point", lambda point, use: SimpleNamespace(derived={}, parameters={}))
    result = SimpleNamespace(output=lambda option: Path("profile.json"), stats={"statistics": [{"path": "station", "name": "frames", "value": 2}], "run": {}})
    point = SimpleNamespace(coordinates={}, settings={})
    assert use.measures(point, result) == {"user": 6, "driver": 3, "other": 15, "nic": 4}
    assert list(use.measured) == ["user", "driver", "other", "nic"] and use.measured["user"].label == "user mode"
    assert use.options(point) == ["--record-from", "marker(1)", "--record-to", "marker(2)"] and use.listed_last
    files = use.files(point)
    assert files.of_window and files.outputs == (("--profile", "profile.json"),)
    with pytest.raises(RunError, match=r"""^s.toml: use: layers: core: no processor matches "cpu"; there are core.pipeline, card.nic"""):
        find({**LAYERS, "layer": [{"name": "all", "core": "cpu"}]}).measures(point, result)
    result.stats["statistics"][0]["value"] = 0
    with pytest.raises(RunError, match="^station.frames is 0: there is nothing by which cycles can be divided$"):
        use.measures(point, result)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({**LAYERS, "pre": 1}, "layers: unknown key 'pre'; known are layer, per, unit, symbols"),
        ({"with": "layers", "layer": []}, "layers: it needs `per`, what is counted, and `layer`, a list"),
        ({**LAYERS, "layer": [{"name": "a b"}]}, "layers: layer 'a b': measures are called by its name, so it must be an identifier"),
        ({**LAYERS, "layer": [{"name": "a", "adresses": "1-2"}]}, "layers: layer 'a': unknown key 'adresses'; known are name, label, core"),
        ({**LAYERS, "layer": [{"name": "a", "addresses": "1"}]}, "layers: layer 'a': addresses are FIRST-LAST, such as 0-0x7fffffff"),
    ],
)
def test_layers_that_cannot_be(given: dict, why: str) -> None:
    with pytest.raises(StudyError) as caught:
        find(given)
    assert str(caught.value).startswith(f"s.toml: use: {why}")


def test_what_is_seen_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How far it is and what its machine printed last, without what a shell asks of its terminal; what was said is kept without the former."""
    first, last = (f'{{"time_fs": {ms * 10**12:.0f}, "cycles": {{"clk": 5}}, "per_second": 3e+06, "share": {share}}}\n' for ms, share in ((1.5, 0.12), (2.25, "null")))
    said = f"Lin{first}ux\n\x1b[1;32minit:\x1b[0m \x1b[6nup\n\x1b[6n\n{last}"
    monkeypatch.setattr(watch.os, "getpid", lambda: 77)
    busy = watch.Watch(tmp_path)
    assert busy.latest() == ""
    for name, text in ("host-76-a", "another's"), ("host-77-b", said):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.txt").write_text(text)
    assert busy.latest() == "2.250 ms, init: up"
    log = tmp_path / "host-77-b/log.txt"
    for more in (9000 * last, last[:40], last[:60], last[:80], last[:-1]):  # while nothing is printed, and in the middle of a line
        log.write_text(said + last + more)
        assert busy.latest() == "2.250 ms, init: up"
    log.write_text(said + last.replace("225", "225000000"))
    assert busy.latest() == "2250.000 s, init: up"
    assert watch.without(said) == "Linux\n\x1b[1;32minit:\x1b[0m \x1b[6nup\n\x1b[6n\n"


def test_areas(tmp_path: Path) -> None:
    lines = [plot.Line("kernel", [1.0, 2.0], [70.0, 20.0]), plot.Line("user", [1.0, 2.0], [30.0, 80.0])]
    plot.areas("t", "ms", "%", lines, tmp_path / "areas")
    assert (tmp_path / "areas.png").exists() and (tmp_path / "areas.svg").stat().st_size > 3000


@pytest.mark.parametrize(("longest", "columns"), [(12, 4), (13, 2), (38, 2), (39, 1)])
def test_a_legend_has_as_many_columns_as_its_labels_leave_room_for(longest: int, columns: int) -> None:
    assert plot.legend_columns(["short", "x" * longest, "x"]) == columns
