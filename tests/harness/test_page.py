"""Parts of pages: what is HTML already, and what is made HTML here."""

from harness.report import page


def test_a_table() -> None:
    """Its first columns are text, the others numbers."""
    text = page.table(["name", "of", "rate"], [["<b>a</b>", "b", "1.5"]], "a < b", 2)
    assert text.splitlines() == [
        "<table><caption>a &lt; b</caption>",
        '<thead><tr><th scope="col" class="word">name</th><th scope="col" class="word">of</th><th scope="col">rate</th></tr></thead>',
        "<tbody>",
        '<tr><td class="word"><b>a</b></td><td class="word">b</td><td>1.5</td></tr>',
        "</tbody></table>",
    ]
