"""Studies of any machine, from file to page: what is checked, run, kept, measured, shown, and what failures do."""

import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import rich.console

from harness.report import plot, provenance
from harness.run.progress import Progress
from harness.study import figures, look, machine, outputs, page, points, runner, words
from harness.study.study_file import StudyError, read
from tests.harness.chain import STUDY, make, rates, run


def test_parameters_of_instances_are_settings(place: Path) -> None:
    """Two stages of five cycles do as ten of one."""
    outcome = make(place, STUDY.replace("published =", "#").replace('"D.stages", values = [2, 10]', '"D.stage[*].depth", values = [1, 5]'))
    found = rates(outcome)
    assert found["stages 1, ready 1.0"] == pytest.approx(0.998) and found["stages 5, ready 1.0"] == pytest.approx(0.99)


def test_a_pattern_sets_the_run_time_parameters_of_several(place: Path) -> None:
    """The setting of one of them takes precedence."""
    text = STUDY.replace("published =", "#").replace('"option.ready"', '"set.cons*.ready"')
    assert rates(make(place, text)) == rates(make(place, STUDY))
    both = rates(make(place, text.replace("= 1000", '= 1000, "set.consumer.ready" = 1.0')))
    assert both["stages 2, ready 0.5"] == both["stages 2, ready 1.0"] > 0.9


def test_a_grid_from_file_to_page(place: Path) -> None:
    outcome = make(place)
    found = rates(outcome)
    assert list(found) == ["stages 2, ready 0.5", "stages 2, ready 1.0", "stages 10, ready 0.5", "stages 10, ready 1.0"]
    assert found["stages 2, ready 1.0"] == pytest.approx(0.998) and found["stages 10, ready 1.0"] == pytest.approx(0.99)
    assert found["stages 2, ready 0.5"] == pytest.approx(0.5, abs=0.1)
    written = page.write(outcome, place / "out", Progress())
    rows = list(csv.DictReader((place / "out/results.csv").open()))
    assert [row["rate"] for row in rows] == [repr(rate) for rate in found.values()]
    assert rows[1]["missing"] == repr(1 - found["stages 2, ready 1.0"]) and rows[1]["status"] == "ok"
    results = json.loads((place / "out/results.json").read_text())
    assert results["points"][1]["published"] == {"rate": 0.9} and len(results["points"]) == 4
    text = written.read_text()
    assert "A &lt;chain&gt; of [pipes]" in text and "Items &amp; stages." in text
    assert "The best: items per cycle 0.998 (stages 2, ready 1.0)" in text and "Where the cycles go" in text
    assert "+10.9 %" in next(line for line in text.splitlines() if "<td" in line and "theirs" in line)
    for name in re.findall(r'(?:href|src)="([^"#:]+)"', text):
        assert (written.parent / name).exists(), name
    again = make(place)
    assert all(row.result.reused for row in again.every) and outputs.as_csv(again) == outputs.as_csv(outcome)


def test_lines_are_drawn_over_the_first_axis(place: Path) -> None:
    """Unless the figure names another; bars have none of themselves."""
    drawn = [read(Path("s.toml"), STUDY.replace('figure = { x = "stages", ', f"figure = {{ {given}")).figure[0].x for given in ("", 'x = "ready", ', 'kind = "bars", ')]
    assert drawn == ["stages", "ready", ""]


def test_machines_with_the_same_blocks_have_one_diagram(place: Path) -> None:
    """The best and the worst point differ in a depth, which a table shows; with other blocks there are two diagrams."""
    same = STUDY.replace("published =", "#").replace('"D.stages", values = [2, 10]', '"D.stage[*].depth", values = [1, 5]')
    text = page.write(make(place, same), place / "out", Progress(), plain=True).read_text()
    assert text.count('href="diagram-') and 'href="diagram-1/' not in text and not (place / "out/diagram-1").exists()
    assert text.count("The machine has the same blocks as that of the best point.") == 1
    assert re.search(r"<th>the best</th><th>the worst</th>.*\n<tbody>\n<tr><th>stages</th><td>1</td><td>5</td></tr>\n<tr><th>ready</th>", text)
    text = page.write(make(place, STUDY), place / "out", Progress(), plain=True).read_text()
    assert 'href="diagram-0/' in text and 'href="diagram-1/' in text and "same blocks" not in text
    assert re.search(r"<tr><th>stages</th><td>2</td><td>10</td></tr>", text)


def test_the_command_that_repeats_a_point(place: Path, build_dir: Path) -> None:
    outcome = make(place)
    row = outcome.rows[2]
    command = outputs.command(outcome.study, row.point)
    environment = {**os.environ, "PATH": f"{build_dir / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(f"{command} --stats {place}/again.json --quiet", shell=True, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "again.json").read_text())["statistics"] == row.result.stats["statistics"]


@pytest.mark.parametrize(
    "old, new, error",
    [
        ("title =", "titel =", "unknown key 'titel'; did you mean 'title'"),
        ('machine = "chain.lss"', "", "the key 'machine' is missing"),
        ('machine = "chain.lss"', 'machine = "chan.lss"', r"machine: there is no .*chan.lss"),
        ('values = [2, 10]', "values = 2", "axis 'stages': values: expected a list"),
        ('values = [2, 10]', "values = []", "axis 'stages': it has no values"),
        ('values = [2, 10]', "values = [2, 2]", "axis 'stages': two values are called 2"),
        ('name = "ready"', 'name = "stages"', "two axes are called 'stages'"),
        ('name = "ready"', 'name = "re ady"', "axis 're ady': expressions use its name"),
        ('"option.ready"', '"option.raedy"', "setting 'option.raedy': chain.lss has no option .* did you mean 'ready'"),
        ('"option.ready"', '"set.producer.cuont"', "has no run-time parameter 'producer.cuont'; did you mean 'producer.count'"),
        ('"option.ready"', '"set.stage[0].depth"', r"study.toml:8: axis 'ready': setting 'set.stage\[0\].depth': 'stage\[0\].depth' is fixed when the machine is built; 'D.stage\[0\].depth' builds"),
        ('"option.ready"', '"set.producer[*].count"', r"has no run-time parameter 'producer\[\*\].count'; did you mean 'producer.count'"),
        ('"option.ready"', '"ready"', "setting 'ready': it begins with D., set. or option."),
        ('"D.stages"', '"D.stagse"', r"study.toml:7: axis 'stages': setting 'D.stagse': chain.lss has no parameter 'stagse'; did you mean 'stages'"),
        ('"D.stages"', '"D.stage.depth"', r"study.toml:7: axis 'stages': setting 'D.stage.depth': '2': there is no instance `stage`"),
        ("values = [2, 10]", "values = ['two']", r"study.toml:7: axis 'stages': setting 'D.stages': 'two': "),
        ('"option.ready"', '"option.raedy"', r"study.toml:8: axis 'ready': setting 'option.raedy'"),
        ('"option.cycles" = 1000', '"option.cycels" = 1000', r"study.toml:5: base: setting 'option.cycels'"),
        ("cycles(clk)", "cycles", r"has no measure or axis 'cycles'; write cycles\(clk\)"),
        ("cycles(clk)", "clk", r"has no measure or axis 'clk'; write cycles\(clk\)"),
        ("cycles(clk)", "ready2", "has no measure or axis 'ready2'; did you mean 'ready'"),
        ("cycles(clk)", "script", r'has no measure or axis \'script\'; write param\("script"\)'),
        ('title =', 'variant = [{ name = "a" }, { name = "b", settings = { "D.stag" = 3 } }]\ntitle =',
         "setting 'D.stag': chain.lss has no parameter 'stag'; did you mean 'stages'"),
        (', setting = "option.ready"', "", "axis 'ready': it needs a setting"),
        ("consumer.items", "consumer.itmes", "chain.lss has no statistic 'consumer.itmes'; did you mean 'consumer.items'"),
        ("consumer.items", "sum(consumer[*].items)", r"has no statistic 'consumer\[\*\].items'"),
        ("cycles(clk)", "cycles(clock)", "has no clock 'clock'; did you mean 'clk'"),
        ("1 - rate", "1 - raet", "has no measure or axis 'raet'; did you mean 'rate'"),
        ("1 - rate", "1 - ", "measure 'missing': .* is no expression"),
        ('y = "rate"', 'measure = "rate"', "figure 1: unknown key 'measure'; known are beside, kind, .*, x, y$"),
        ('y = "rate"', 'y = ["rate"]', "figure 1: y: a figure of kind 'lines' draws one measure: y = 'rate'"),
        ('y = "rate"', 'y = "rate", mark = [{ z = 1 }]', "figure 1: mark 1: unknown key 'z'; known are label, x, y"),
        ('y = "rate"', 'y = "raet"', "figure 1: y: 'raet' is none of rate, missing"),
        ("values = [0.5, 1.0] }", 'values = [0.5, 1.0], best = "raet" }', "axis 'ready': best: there is no measure 'raet'"),
        ("rate = 0.9,", "rate = true,", "published 1: rate: a number is expected"),
        ("rate = 0.9,", "raet = 0.9,", "published 1: 'raet' is no measure"),
        ("{ stages = 2, ready", "{ stages = 3, ready", "published 1: there is no point where"),
        ('title =', 'job = "j"\ntitle =', r'study.toml: stages 2, ready 0.5: job: chain.lss has no disk of jobs \(set "D.jobs" = true\)'),
        ('title =', 'use = "nothing"\ntitle =', "there is no plug-in 'nothing'; known are"),
        ('title =', 'skip = "stages > 1"\ntitle =', "no point is left"),
        ('title =', 'skip = "colour > 1"\ntitle =', "skip 'colour > 1': 'colour' is no axis"),
        ('title =', 'run = { checkpoint_every = "often" }\ntitle =', "run: checkpoint_every: neither cycles nor a time: \"often\" does not begin"),
        ('title =', 'run = { checkpoint_every = "0" }\ntitle =', "run: checkpoint_every: '0' is not more than 0"),
        ('title =', 'variant = [{ name = "a" }, { name = "a" }]\ntitle =', "two variants are called 'a'"),
        ('title =', 'window = { to = "8 ms", parts = 1000000 }\ntitle =', "window: parts: `from` should be a multiple"),
        ('title =', 'window = { to = "end", parts = 3 }\ntitle =', "window: parts: a window in parts is between two times"),
        *[('title =', f"window = {{ from = '{bad}' }}\ntitle =", re.escape("window: from: ") + ".*" + re.escape(complaint)) for bad, complaint in [
            ("marker", "'marker': this is no condition; write a time with its unit"), ("8 years", "'8 years': \"8 years\" has an unknown unit; a time is a number and one of s, ms, us, ns, ps, fs"),
            ("marker(one)", "this is no condition"), ("marker(0)", "markers have numbers from 1 to 4294967295"),
            ("marker(1)", "nothing in chain.lss emits markers"), ("cycles(clock) >= 5", "no clock 'clock'; did you mean 'clk'"),
            ("consumer.itms >= 5", "chain.lss has no state 'consumer.itms'; did you mean 'consumer.items'"),
            ("event(consumer.tkn)", "has no event 'consumer.tkn'; did you mean 'consumer.taken'"),
            ("event(consumer.taken, 0)", "events are counted from 1"),
            ("event(consumer.tkn) + 1 ms", "has no event 'consumer.tkn'; did you mean 'consumer.taken'"), ("event(consumer.taken) + 1", '"1" lacks its unit'),
            ("event(consumer.taken) + -1 ms", "a time is not negative"), ("1 ms + event(consumer.taken)", "has an unknown unit"), ("consumer.items >= 5 + 1 ms", "this is no condition"), ("end", "no window begins at the end of the run"),
        ]],
        ('title =', 'sample = { every = "marker(x)", measures = ["rate"] }\ntitle =', "sample: every: 'marker\\(x\\)': this is no condition"),
        ('missing = {', 'stages = {', "measure 'stages': expressions know something else by this name"),
        ('title =', 'title ', "study.toml: "),
        ('"A <chain> of [pipes]"', 'A chain', r"study.toml: Invalid value \(at line 2, column 9\); a text needs quotation marks$"),
        ("{ stages = 2, ready = 1.0 }", "3", "published 1: where: expected a table"),
        ("[2, 10]", '["a\\u0000b"]', "axis 1: values 1: a text holds a control character"),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_runs(place: Path, old: str, new: str, error: str) -> None:
    assert old in STUDY
    (place / "study.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises((StudyError, machine.compiler.CompilerError), match=error) as caught:
        runner.prepare(place / "study.toml", place / "build", Progress())
    assert not (place / "build/run").exists() and not (place / "build/sim").exists()
    if isinstance(caught.value, StudyError):
        assert "\n" not in str(caught.value) and str(caught.value).startswith(str(place / "study.toml"))


def test_variants_skips_single_points_and_the_best(place: Path) -> None:
    text = STUDY.replace("figure =", 'skip = "stages == 10 and ready < 1"\nfigure =').replace(
        "values = [0.5, 1.0] }", 'values = [0.5, 1.0], best = "rate" }'
    )
    text = text.replace("published =", """variant = [
      { name = "plain", label = "as it is" },
      { name = "slow", settings = { "set.producer.interval" = 2 } },
    ]
    point = { name = "alone", settings = { "D.stages" = 5 } }
    published =""")  # fmt: skip
    outcome = make(place, text)
    assert len(outcome.every) == 7 and [row.point.name for row in outcome.rows] == [
        "plain, stages 2, ready 1.0", "plain, stages 10, ready 1.0", "slow, stages 2, ready 1.0",
        "slow, stages 10, ready 1.0", "alone",
    ]  # fmt: skip
    assert list(rates(outcome).values()) == pytest.approx([1.0, 0.99, 0.5, 0.49, 0.99], abs=0.01)
    assert len(outcome.alternatives(outcome.rows[0])) == 2


def test_a_window_its_parts_and_samples(place: Path) -> None:
    text = STUDY.replace('"option.cycles" = 1000', '"option.time" = "20 us"') + """
[window]
from = "2 us"
to = "12 us"
parts = 5
"""
    outcome = make(place, text)
    row = outcome.rows[1]
    assert row.result.stats["run"]["simulated_ns"] == 12000, "nothing is simulated after the window"
    assert row.measures["rate"] == 1.0 and row.errors["rate"] == 0.0, "the chain is full in the window"
    assert 0 < outcome.rows[0].errors["rate"] < 0.3
    assert make(place, text.replace("parts = 5", "parts = 2")).rows[0].errors["rate"] > 0, "two parts are enough"
    sampled = STUDY + '[sample]\nevery = "1 us"\nmeasures = ["rate"]\n'
    sampled = sampled.replace('figure = {', 'figure = { kind = "series", title = "Convergence", ').replace('x = "stages", ', "")
    sampled = sampled.replace("[measure]", '[measure]\nafter = "settled(rate, 5 %)"')
    outcome = make(place, sampled)
    series = outcome.rows[3].time_series["rate"]
    assert [value for _, value in series][-3:] == [1.0, 1.0, 1.0] and series[0][0] == pytest.approx(2e-6)
    assert outcome.rows[3].measures["after"] == pytest.approx(2e-6)
    assert "<svg" in page.write(outcome, place / "out", Progress(), plain=True).read_text()


def test_windows_between_events(place: Path) -> None:
    text = STUDY.replace("values = [2, 10]", "values = [2]").replace("values = [0.5, 1.0]", "values = [1.0]")
    text = text.replace("[measure]", "[window]\nfrom = 'event(consumer.taken, 100)'\nto = 'event(consumer.taken, 300)'\n[measure]")
    (row,) = make(place, text + "moved = 'events(consumer.taken)'\n").rows
    assert row.measures["moved"] == 200 and row.measures["rate"] == pytest.approx(1.0)
    assert row.result.stats["run"]["simulated_ns"] < 4000, "nothing is simulated after the window"


DERIVED = """
clock clk = 100 MHz;
module end { inport in : uint32; instance s : sink; in -> s.in; stat carried = s.items / cycles "items per cycle"; /** Rate. */ }
instance producer : source;
instance way : pipe { depth = 100; };
instance e : end;
producer.out -> way.in : uint32;
way.out -> e.in;
"""


def test_statistics_that_are_worked_out_of_others(place: Path) -> None:
    """Over a window they are those of the window, and their names are known before anything runs."""
    (place / "chain.lss").write_text(DERIVED)
    text = 'title = "t"\nmachine = "chain.lss"\nbase = { "option.cycles" = 1000 }\n[window]\nfrom = "2 us"\n[measure]\n'
    (row,) = make(place, text + 'one = "e.carried"\nall = "max(**.carried)"\nnone = "e.s.late or 7"\n').rows
    assert dict(row.measures) == {"one": 1.0, "all": 1.0, "none": 7}
    assert row.result.stats["derived"][0]["value"] == pytest.approx(0.9), "of the whole run it is less"
    with pytest.raises(StudyError, match="did you mean 'e.carried'"):
        make(place, text + 'one = "e.carrid"\n')


def test_names_are_text(place: Path) -> None:
    names = ["/../../../../ESCAPED", "$x^{$", "{foo}", "<b>&", "cpu 88", "cpu-88"]
    variants = ", ".join(f"{{ name = '{name}', settings = {{ 'D.stages' = {n + 1} }} }}" for n, name in enumerate(names))
    text = STUDY.split("axis =")[0] + f"variant = [{variants}]\n[measure]\nrate = 'consumer.items / cycles(clk)'\n"
    text = text.replace("[measure]", "[[figure]]\nx = 'variant'\ny = 'rate'\n[[figure]]\nkind = 'bars'\ny = 'rate'\n[measure]")
    before = set(place.parent.rglob("*ESCAPED*"))
    outcome = make(place, text)
    assert [row.measures["rate"] for row in outcome.rows] == pytest.approx([0.999 - n / 1000 for n in range(6)])
    shown = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert "&lt;b&gt;&amp;" in shown and "<b>&" not in shown and "{foo}" in shown and "$x^{$" in shown
    assert set(place.parent.rglob("*ESCAPED*")) == before and not list(Path("/").glob("*ESCAPED*"))


def test_a_failed_point_is_listed_and_the_rest_goes_on(place: Path) -> None:
    (place / "good.txt").write_text("0 7\n")
    text = STUDY.replace('setting = "option.ready", values = [0.5, 1.0]', 'setting = "option.script", values = ["good.txt", "none.txt"]')
    text = text.replace("ready = 1.0 }", 'ready = "good.txt" }').replace("[measure]", 'check = "consumer.items == 1"\n[measure]')
    (place / "study.toml").write_text(text)
    said = run(place, status=1)
    assert "2 of 4 points failed" in said and "none.txt" in said and "again: lss run" in said
    rows = list(csv.DictReader((place / f"build/studies/{place.name}/results.csv").open()))
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "failed"]
    assert "2 of 4 points failed" in (place / f"build/studies/{place.name}/index.html").read_text()
    (place / "good.txt").write_text("0 7\n1 8\n")
    assert "check 'consumer.items == 1' is not true" in run(place, status=1)


def test_a_machine_that_cannot_be_built_fails_its_points_only(place: Path) -> None:
    machine = (place / "chain.lss").read_text()
    (place / "chain.lss").write_text(machine + 'if (stages > 5) punt("at most 5 stages, not " + string(stages));\n')
    text = 'examine = [{ with = "bottleneck", where = { ready = 1.0 } }]\n' + STUDY
    outcome = make(place, text.replace("figure = {", 'figure = { title = "Long ones", where = { stages = 10 }, '))
    assert [row.status for row in outcome.rows] == ["ok", "ok", "failed", "failed"]
    assert "at most 5 stages, not 10" in outcome.rows[2].why
    assert [one.row for one in look.requested(outcome)] == [outcome.rows[1]]
    text = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert "at most 5 stages" in text and "Long ones: not run yet." in text


def test_a_long_run_is_not_examined_by_default(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = make(place)
    least, most = sorted(look.cycles(row) for _, row in look.extremes(outcome))
    assert 0 < least <= most < look.MOST_CYCLES and len(look.bottlenecks(outcome)) == 2
    monkeypatch.setattr(look, "MOST_CYCLES", least - 1)
    assert look.bottlenecks(outcome) == []
    text = page.write(outcome, place / "out", Progress()).read_text()
    assert text.count("Its bottleneck was not looked for: this run has ") == 2 and f"{most:,} cycles" in text


def test_a_result_whose_inputs_changed_is_none(place: Path) -> None:
    (place / "items.txt").write_text("0 7\n")
    text = STUDY.replace("base = {", 'base = { "option.script" = "items.txt", ')
    first = make(place, text)
    assert first.rows[0].result.stats["manifest"]["inputs"], "the manifest tells what was opened"
    assert all(row.result.reused for row in make(place).every)
    (place / "items.txt").write_text("0 7\n1 8\n")
    second = make(place)
    assert not any(row.result.reused for row in second.every)
    assert second.rows[1].measures["rate"] == 2 * first.rows[1].measures["rate"]
    (place / "items.txt").write_text("0 7\n")
    assert all(row.result.reused for row in make(place).every), "what it was before is kept as well"


def test_all_points_are_known_without_building(place: Path) -> None:
    assert len(list(points.points(read(place / "study.toml"), place / "study.toml"))) == 4


WRAPPED = """
parameter kind = queue : module;
instance producer : source;
wraps middle : kind except in, out;
instance consumer : sink;
producer.out -> middle.in : uint32;
middle.out -> consumer.in;
"""


def test_a_simulator_that_was_not_built_may_have_other_settings(place: Path) -> None:
    """A report shows studies as far as they were made: only the machine with a queue was, which is not `elastic`."""
    (place / "chain.lss").write_text(WRAPPED)
    text = "title = 'T'\nabout = 'A.'\nmachine = 'chain.lss'\nbase = { 'option.cycles' = 100 }\n[measure]\nitems = { value = 'consumer.items' }\n"
    make(place, text + "[[axis]]\nname = 'kind'\nvalues = [{ label = 'queue', settings = { 'D.kind' = 'queue' } }]\n")
    other = "{ label = 'pipe', settings = { 'D.kind' = 'pipe', 'D.elastic' = false } }"
    (place / "study.toml").write_text((place / "study.toml").read_text().replace("} }]", f"}} }}, {other}]"))
    study = runner.prepare(place / "study.toml", place / "build", Progress(), built_only=True)
    assert len(study.machines) == 1 and len(study.points) == 2


def test_a_page_is_the_same_on_any_day(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Date and host are beside the page, not in it."""
    outcome = make(place, STUDY.replace("title =", "examine = []\ntitle ="))
    monkeypatch.setattr(provenance.platform, "node", lambda: "some-host")
    one, other = (page.write(outcome, place / out, Progress(), plain=True) for out in ("out", "again"))
    known = json.loads((place / "out/provenance.json").read_text())
    assert known["host"] == "some-host" and known["written"].startswith("20") and known["compiler"].startswith("lss ")
    assert (known["simulated"], known["kept"]) == (4, 0)
    assert 'href="provenance.json"' in one.read_text() and "some-host" not in one.read_text()
    for path in (place / "out").rglob("*"):
        if path.is_file() and path.name != "provenance.json":
            assert path.read_bytes() == (other.parent / path.relative_to(place / "out")).read_bytes(), path


def test_measures_of_some_variants_and_what_tables_say(place: Path) -> None:
    text = STUDY.replace("published =", """variant = [{ name = "plain" }, { name = "slow", settings = { "set.producer.interval" = 2 } }]
    table = { rows = "stages", columns = "ready", value = "rate", where = { variant = "plain" } }
    published =""").replace('better = "less"', 'better = "less", only = ["slow"]')  # fmt: skip
    outcome = make(place, text)
    assert ["missing" in row.measures for row in outcome.rows] == [False] * 4 + [True] * 4
    assert outputs.as_csv(outcome).splitlines()[1].endswith(",,ok")
    shown = page.write(outcome, place / "out", Progress(), plain=True).read_text()
    assert "<th scope=\"col\" class=\"word\">stages ↓<br>ready →</th>" in shown and ">Source<" not in shown
    assert shown.count("<th scope=\"col\">missing</th>") == 1, "variants without it have a table of their own"
    with pytest.raises(StudyError, match="measure 'missing': only: there is no variant 'fast'"):
        make(place, text.replace('only = ["slow"]', 'only = ["fast"]'))


TWO = """
title = "t"
base = { "option.cycles" = 1000 }
machine = "chain.lss"
variant = [{ name = "none" }, { name = "monitored", machine = "monitored.lss" }]
[sample]
every = "2 us"
measures = ["passed", "moved"]
[measure]
items = "consumer.items"
passed = { value = "watch.transfers", only = ["monitored"] }
moved = { value = "events(watch.passed)", only = ["monitored"] }
"""


def test_a_measure_of_some_variants_names_what_the_others_lack(place: Path) -> None:
    """Its statistics and events are those of the machines of its variants."""
    chain = (place / "chain.lss").read_text()
    way = "stage[stages - 1].out -> watch.in[0] : uint32;\nwatch.out[0] -> consumer.in;"
    (place / "monitored.lss").write_text("instance watch : monitor;\n" + chain.replace("stage[stages - 1].out -> consumer.in;", way))
    none, monitored = make(place, TWO).rows
    assert set(none.measures) == {"items"} and not none.time_series
    assert monitored.measures["passed"] == monitored.measures["moved"] > 900 and len(monitored.time_series["moved"]) > 1
    everywhere = "measure 'passed': variant 'none': 'watch.transfers': chain.lss has no statistic 'watch.transfers'; "
    with pytest.raises(StudyError, match=everywhere):
        make(place, TWO.replace(', only = ["monitored"]', ""))
    with pytest.raises(StudyError, match="measure 'passed': variant 'monitored': .*; did you mean .watch.transfers"):
        make(place, TWO.replace("watch.transfers", "watch.transfer"))


def test_a_table_in_a_file_has_every_digit(place: Path) -> None:
    """Lines of a file are as long as the columns need; on a terminal, long numbers go on in the next line."""
    many = "".join(f"a_long_name_of_a_measure_{k} = 'consumer.items + {10**9 + k}'\n" for k in range(30))
    outcome, file = make(place, STUDY + many), io.StringIO()
    outputs.show(outcome, Progress(rich.console.Console(file=file)))
    assert " items per cycle " in file.getvalue(), "a measure is called by its label"
    values = {words.measured(outcome.rows[0], f"a_long_name_of_a_measure_{k}") for k in range(30)}
    assert len(values) == 30 and any(all(value in line for value in values) for line in file.getvalue().splitlines())
    outputs.show(outcome, Progress(rich.console.Console(file=file, force_terminal=True, width=60)))
    assert "…" not in file.getvalue()


def test_bars_are_relative_whatever_was_best(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variant is compared with the first, also where another value of an axis is best for it."""
    text = STUDY.replace("values = [0.5, 1.0] }", 'values = [0.5, 1.0], best = "score" }')
    text = text.replace('figure = { x = "stages", y = "rate" }', """
    variant = [{ name = "plain" }, { name = "slow", label = "every other", settings = { "set.producer.interval" = 2 } }]
    figure = { kind = "bars", x = "stages", y = "rate", relative_to = "plain" }""")  # fmt: skip
    outcome = make(place, text + "score = 'ready * (3 - 2 * param(\"producer.interval\"))'\n")
    assert [row.point.coordinates["ready"] for row in outcome.rows] == [1.0, 1.0, 0.5, 0.5]
    drawn = {}
    monkeypatch.setattr(plot, "bars", lambda title, up, lines, out, legend_title: drawn.update({legend_title: lines}))
    assert figures.draw(outcome, outcome.study.file.figure[0], place / "figure")
    ((legend_title, lines),) = drawn.items()
    assert legend_title == "stages" and [line.name for line in lines] == ["plain", "every other"]
    assert lines[0].values == [0, 0] and len(lines[1].values) == 2 and all(-60 < one < -40 for one in lines[1].values)


@pytest.mark.parametrize(
    "value, error, shown",
    [(1612.3, 79.18, "1,612 ± 79"), (0.4321, 0.0123, "0.432 ± 0.012"), (957.07, 0.07626, "957.07 ± 0.08"), (0.0, 0.5, "0.00 ± 0.50"),
     (12345.6, 234.5, "12,346 ± 234"), (100.0, 1e-7, "100.00 ± 0.00")],
)  # fmt: skip
def test_errors_are_rounded_to_what_they_mean(value: float, error: float, shown: str) -> None:
    assert words.with_error(value, error) == shown


def test_a_study_is_named_by_its_folder_from_wherever(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert runner.prepare(Path("study.toml"), Path("build"), Progress()).name == place.name


def test_firmware_comes_from_the_build_folder_or_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that came with the kit runs in any folder."""
    monkeypatch.setattr(machine, "KIT", tmp_path / "kit")
    for folder in "kit/build", "own":
        (tmp_path / folder).mkdir(parents=True)
    assert machine.resolve("build/x.elf", tmp_path / "study.toml", tmp_path / "own") == tmp_path / "own/x.elf"
    for folder in "kit/build", "own":  # where both have it, the own one counts
        (tmp_path / folder / "x.elf").write_text("")
        assert machine.resolve("build/x.elf", tmp_path / "study.toml", tmp_path / "own") == tmp_path / folder / "x.elf"
    assert machine.resolve("x.elf", tmp_path / "study.toml", tmp_path / "own") == tmp_path / "x.elf"
