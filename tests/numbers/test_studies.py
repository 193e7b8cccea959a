"""Numbers in studies: param() has one unit for each dimension, whichever way a parameter is given; expressions and conditions
take what the command line takes; collectors may report values at one end of a window only."""

import json
from pathlib import Path

import pytest

from harness import quantity
from harness.run.progress import Progress
from harness.study import conditions, expression, machine, parameters, runner
from harness.study.expression import ExpressionError, NoValue
from harness.study.reading import between
from harness.study.study_file import StudyError
from tests.harness.chain import make

KEPT = """
module kept {
  runtime parameter rate = 1 b/s : rate;
  runtime parameter wait = 1 s : time;
  runtime parameter share = 1 percent : fraction;
  runtime init parameter size = 1 B : size;
  runtime parameter hertz = 1 Hz : frequency;
  runtime parameter n = 1 : int;
  runtime parameter real = 1.0 : float;
  runtime parameter lit = false : bool;
  runtime parameter text = "" : string;
  stat uint64 seen "";
  phase_end;
}
"""
CODE = "phase_end() { report(seen, param(rate) + param(wait) + (param(share) > 0) + param(size) + param(hertz) + param(n) + (param(real) > 0) + param(lit) + param(text)[0]); }\n"
OF = {"rate": "10 Gb/s", "wait": "20 ns", "share": "25 percent", "size": "4 KiB", "hertz": "88 MHz", "n": "-7", "real": "0.1", "lit": "true", "text": '"a b"'}
TYPES = {"rate": "rate", "wait": "time", "share": "fraction", "size": "size", "hertz": "frequency", "n": "int", "real": "float", "lit": "bool", "text": "string"}
IS = {"rate": 1e10, "wait": 2e-8, "share": 0.25, "size": 4096, "hertz": 8.8e7, "n": -7, "real": 0.1, "lit": True, "text": "a b"}
NAMES = list(OF)


def declared() -> str:
    """The same parameters as constants, set at run time, given to an instance, and in an instance alone."""
    lines = ["clock clk = 1 GHz;", "enum color { red, green = 4 };", "parameter op = color.green : color;", "parameter list = [1, 2] : int[];", "parameter third = 1 / (3 GHz) : time;"]
    lines += [f"parameter c_{name} = {OF[name]} : {TYPES[name]};" for name in NAMES]
    lines += [f"runtime parameter r_{name} = {OF[name]} : {TYPES[name]};" for name in NAMES]
    given = {"a": "r_", "b": "c_"}
    lines += [f"instance {one} : kept on clk {{ {' '.join(f'{name} = {prefix}{name};' for name in NAMES)} }};" for one, prefix in given.items()]
    return "\n".join([*lines, "instance own : kept on clk;"]) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    for name, text in {"m.lss": declared(), "kept.lss": KEPT, "kept.c": CODE}.items():
        (folder / name).write_text(text)
    (folder / "build").mkdir()
    (folder / "build/bin").symlink_to(build_dir / "bin")
    return folder


def test_param_of_every_type_however_it_is_given(place: Path) -> None:
    ways = [*(f"{prefix}{name}" for prefix in ("c_", "r_") for name in NAMES if name not in ("text", "lit")), *(f"{one}.{name}" for one in "ab" for name in NAMES if name not in ("text", "lit"))]
    lines = [f"m{n} = 'param(\"{way}\") * 2'" for n, way in enumerate(ways)]
    settings = {f"set.own.{name}": OF[name].strip('"') for name in NAMES}
    lines += [f"own_{name} = 'param(\"own.{name}\") + 0'" for name in NAMES if name not in ("text", "lit")]
    checks = ["param('c_lit')", "param('r_lit') == true", "param('c_text') == 'a b'", "param('own.text') == 'a b'", "param('op') == 'green'", "param('own.lit')", "param('b.text') == 'a b'"]
    text = f"title = 't'\nmachine = 'm.lss'\ncheck = {json.dumps(checks)}\nbase = {{ 'option.cycles' = 3, {', '.join(f'{json.dumps(k)} = {json.dumps(v)}' for k, v in settings.items())} }}\n"
    row = make(place, text + "[measure]\n" + "\n".join(lines) + "\nthird = 'param(\"third\") * 3 GHz'\n").rows[0]
    assert row.status == "ok", row.why
    for n, way in enumerate(ways):
        assert row.measures[f"m{n}"] == pytest.approx(2 * IS[way.rpartition(".")[2].removeprefix("c_").removeprefix("r_")], rel=1e-12), way
    assert all(row.measures[f"own_{name}"] == pytest.approx(IS[name], rel=1e-12) for name in NAMES if name not in ("text", "lit"))
    assert row.measures["third"] == pytest.approx(1, rel=1e-9)


def test_a_parameter_of_another_type_or_unknown(place: Path) -> None:
    known = machine.export(place / "m.lss", (), place / "build").parameters
    with pytest.raises(ExpressionError, match=r"the parameter list is of type int\[\]: numbers, truths and texts are known here"):
        parameters.value("list", known, {})
    with pytest.raises(NoValue, match="there is no parameter speed"):
        parameters.value("speed", known, {})
    with pytest.raises(ExpressionError, match='the parameter r_wait: "20" lacks its unit'):
        parameters.value("r_wait", known, {"parameters": {"r_wait": "20"}})
    (place / "study.toml").write_text("title = 't'\nmachine = 'm.lss'\nmeasure = { x = \"param('c_wiat')\" }\n")
    with pytest.raises(StudyError, match="m.lss has no parameter 'c_wiat'; did you mean 'c_wait'"):
        runner.prepare(place / "study.toml", place / "build", Progress())


class Nothing:
    """A run of which nothing is known."""


@pytest.mark.parametrize("unit", quantity.UNITS)
def test_each_unit_in_an_expression(unit: str) -> None:
    factor = float(quantity.UNITS[unit].factor)
    for text in (f"010 {unit}", f"1_0{unit}", f"1e1 {unit}"):
        assert expression.evaluate(text, Nothing()) == pytest.approx(10 * factor, rel=1e-15)
    assert expression.evaluate(f"(2 {unit} + 3{unit}) / 5 {unit}", Nothing()) == pytest.approx(1)


@pytest.mark.parametrize(("text", "why"), [
    ("5 Gb", "'Gb' is no unit; did you mean 'Gb/s'?"), ("5 Mhz", "'Mhz' is no unit; did you mean 'MHz'?"), ("5 years", "'years' is no unit"), ("08x", "'08x' is not a number"),
    ("1.5.2", "'1.5.2' is not a number"), (".5", "'.5' is not a number"), ("1e999", "the number 1e999 is too large"), ("9" * 2000, "is too large"), ("1e999 GHz", "too large"), ("0b12", "'0b12' is not a number"),
])  # fmt: skip
def test_what_is_no_number_in_an_expression(text: str, why: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        expression.evaluate(text, Nothing())
    assert why in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["010 ns", "1e-2us", "0x10 ps", "own.seen >= 010", "own.seen == 0b11", "own.seen >= -1e3", "cycles(clk) >= 1_0", "cycles(clk) >= 2.5e1"])
def test_conditions_of_studies(text: str, place: Path) -> None:
    conditions.check(text, machine.export(place / "m.lss", (), place / "build"), "here")


@pytest.mark.parametrize(("text", "why"), [
    ("5 B", '"5 B" is a size; a time is a number'), ("5", '"5" lacks its unit'), ("-5 ns", "a time is not negative"), ("99999999999 s", "is too large"), ("0.5 fs", "finer than the base unit"),
    ("own.seen >= 99999999999999999999", "does not fit in 64 bits"), ("cycles(clk) >= 1.5", "is not a whole number"),
])  # fmt: skip
def test_conditions_that_make_no_sense(text: str, why: str, place: Path) -> None:
    with pytest.raises(StudyError) as caught:
        conditions.check(text, machine.export(place / "m.lss", (), place / "build"), "here")
    assert why in str(caught.value)


LATE = """
instance src : source { count = 1000; interval = 50; };
instance snk : sink;
src.out -> snk.in : uint32;
collector seen on "snk" event taken {
  declare <<< uint64_t n; >>>
  record <<< self->n++; >>>
  report <<< report_value("always", self->n, "items", "all");
    if (self->n > 3) report_value("late", self->n, "items", "only when there are some");
    if (self->n < 4) report_value("early", self->n, "items", "only while there are few"); >>>
}
"""


def test_values_that_collectors_report_at_one_end_only(place: Path) -> None:
    """What is reported late counts from 0; what is not reported at the end has no value, and no study ends for it."""
    (place / "late.lss").write_text(LATE)
    text = """title = "t"
machine = "late.lss"
base = { "option.cycles" = 100000 }
window = { from = "150 ns", to = "100 us" }
[measure]
items = "snk.items"
late = "snk.late or 0"
early = "snk.early or 1000"
always = "snk.always or 0"
"""
    outcome = make(place, text)
    assert outcome.rows[0].status == "ok", outcome.rows[0].why
    found = outcome.rows[0].measures
    assert found["items"] == found["always"] > 900 and found["early"] == 1000
    assert found["late"] == found["always"] + 3  # counted from 0: it was not reported when the window began


def test_snapshots_without_a_value() -> None:
    stats = {"statistics": [{"path": "c", "name": n, "difference": d} for n, d in (("always", True), ("late", True), ("gone", True), ("least", False))]}
    found = between(stats, {"time_fs": 0, "values": [1, None, 5, None]}, {"time_fs": 1, "values": [4, 7, None, 2]})
    assert found.values == {"c.always": 3, "c.late": 7, "c.least": 2}
    with pytest.raises(ExpressionError, match="incomplete"):
        between(stats, {"time_fs": 0, "values": [1]}, {"time_fs": 1, "values": [4, 7, None, 2]})
