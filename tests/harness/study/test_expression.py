"""Expressions of studies: what they come to, what they may say, and that nothing in them is executed."""

import pytest

from harness.study import expression
from harness.study.expression import ExpressionError, NoValue

STATISTICS = {"cpu[0].a.n": 1.0, "cpu[1].a.n": 3.0, "cpu[0].b.m": 2.0, "cpu[1].b.m": 6.0, "top.x": 4.0, "idle.y": 0.0}


class Reading:
    """A run that counted little."""

    def statistic(self, path):
        return expression.select(path, STATISTICS)

    events = statistic

    def cycles(self, clock):
        return {"clk": 10.0}[clock]

    def time(self):
        return 2e-3

    def parameter(self, path):
        return {"cpu.kb": 8.0}[path]

    def name(self, name):
        return {"cores": 4, "ipc": 0.5, "label": "far"}[name]

    def published(self, measure):
        return 2.0

    def settled(self, measure, within):
        return within


@pytest.mark.parametrize(
    "text, value",
    [
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("-2 - -3", 1), ("7 / 2", 3.5), ("2 * 20 ns", 40e-9), ("5 %", 0.05),
        ("4KiB", 4096), ("1e3", 1000), ("1.5 ms / time", 0.75), ("sum(cpu[*].a.n)", 4), ("max(**.m)", 6),
        ("sum(cpu[*].a.n) / cycles(clk)", 0.4), ("mean(cpu[*].a.n / cpu[*].b.m)", 0.5), ("count(cpu[*].*.*)", 4),
        ("median(cpu[*].a.n)", 2), ("percentile(cpu[*].a.n, 50)", 1), ("percentile(cpu[*].a.n, 99)", 3),
        ("only(*.x)", 4), ("top.x*2", 8), ("sum(2 * cpu[*].a.n - 1)", 6), ("sum(none.z) or 0", 0), ("none.z or top.x", 4),
        ("1 / idle.y or 7", 7), ("cores == 4 and ipc < 1", True), ("cores > 4 or ipc < 1", True), ("not cores == 4", False),
        ("10 * (cores == 4) + 5 * (cores != 4)", 10),
        ("1 < cores <= 4", True), ('param("cpu.kb")', 8), ("param(cpu.kb)", 8), ("ipc / published(ipc)", 0.25),
        ("settled(ipc, 5 %)", 0.05), ('label == "far"', True), ("events(cpu[0].b.m)", 2), ("true and not false", True),
        ("min(7, top.x, 5)", 4), ("sum(max(cpu[*].a.n, 2))", 5), ("sqrt(2 * 8)", 4), ("sum(sqrt(4 * cpu[*].a.n - 3 * cpu[*].a.n))", 1 + 3**0.5),
    ],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    assert expression.evaluate(text, Reading()) == pytest.approx(value)


@pytest.mark.parametrize(
    "text, error",
    [
        ("cpu[*].a.n", "is a list of 2: it goes through sum, min"),
        ("sum(cpu[*].a.n / **.x)", "not about the same things"),
        ("only(cpu[*].a.n)", "of 2 values"),
        ("sum(none.z)", "there is no none.z"),
        ("sum(none.*)", "nothing matches none.*"),
        ("1 / idle.y", "division by zero; `or` gives another value"),
        ("__import__('os')", "there is no function __import__()"),
        ("cpu[0].a.n(3)", "only + - "),
        ("open('/etc/passwd').read()", "there is no function open|an operator is missing"),
        ("(lambda: 1)()", "operator is missing"),
        ("[1, 2]", "a value is missing before '[1, 2]'"),
        ("cores if 1 else 2", "an expression has no `if`: multiply each value by its condition, (a == 1) * X + (a != 1) * Y"),
        ("1 if cores == 4 else 2", "an expression has no `if`"), ("cores == 4 ? 1 : 2", "an expression has no `if`"), ("(if cores == 4", "an expression has no `if`"),
        ("2 ** 3", "a value is missing before"),
        ("sum(top.x", "is no expression"),
        ("top.x)", "is no expression"),
        ("", "is no expression"),
        ("1 +", "is no expression"),
        ("percentile(cpu[*].a.n)", "percentile() takes 2 values"),
        ("sqrt(-4)", "sqrt() of -4"),
        ("sqrt(1, 2)", "sqrt() takes 1 value"),
        ("cycles(1 + 2)", "a name is expected"),
        ("label * label", "can't multiply"),
        ("(" * 501 + "1" + ")" * 501, "it is too long"),
    ],
)
def test_what_is_refused(text: str, error: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        expression.evaluate(text, Reading())
    assert any(words in str(caught.value) for words in error.split("|")) and "\n" not in str(caught.value)


def test_a_missing_statistic_can_be_distinguished_from_a_wrong_expression() -> None:
    with pytest.raises(NoValue):
        expression.evaluate("none.z", Reading())


def test_what_an_expression_mentions() -> None:
    text = "sum(cpu[*].a.n) / cycles(clk) + ipc + time + param(a.b) + events(c.d) * published(speed)"
    assert sorted(expression.mentions(text)) == [
        ("cycles", "clk"), ("events", "c.d"), ("name", "ipc"), ("param", "a.b"), ("published", "speed"),
        ("statistic", "cpu[*].a.n"),
    ]  # fmt: skip
