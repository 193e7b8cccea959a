"""Parts of pages: what is HTML already, and what is made HTML here."""

from types import SimpleNamespace

from harness.report import page
from harness.study.tables import change


def test_a_table() -> None:
    """Its first columns are text, the others numbers."""
    text = page.table(["name", "of", "rate"], [["<b>a</b>", "b", "1.5"]], "a < b", 2)
    assert text.splitlines() == [
        "<table><caption><span>a &lt; b</span></caption>",
        '<thead><tr><th scope="col" class="word">name</th><th scope="col" class="word">of</th><th scope="col">rate</th></tr></thead>',
        "<tbody>",
        '<tr><td class="word"><b>a</b></td><td class="word">b</td><td>1.5</td></tr>',
        "</tbody></table>",
    ]


def test_a_change_needs_two_points_and_a_measure_that_is_not_zero() -> None:
    rows = [SimpleNamespace(measures={"rate": rate}) for rate in (0.0, 8.0, 10.0)]
    none, low, high = rows
    assert change(high, low, "rate") == "+25.0 %" and change(low, high, "rate") == "−20.0 %"
    assert change(none, high, "rate") == "−100.0 %"
    for row, base in ((high, none), (none, none), (high, high), (None, high), (high, None), (None, None)):
        assert change(row, base, "rate") == ""
