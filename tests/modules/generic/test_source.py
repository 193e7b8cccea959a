"""source: plays scripts and generated items, keeps what is refused, drops what is offered once."""

import pytest

from tests.modules.harness import Bench, collect, happened, read_items, read_monitor

NETLIST = """
instance s : source;
instance m : monitor;
instance k : sink;
s.out -> m.in : {kind};
m.out -> k.in;
""" + collect("s", "offered()").replace("{", "{{").replace("}", "}}")


def play(bench: Bench, script: str, kind: str = "uint32", ok: bool = True, before: str = "", **settings: object):
    simulator = bench.build(before + NETLIST.format(kind=kind))
    values = {"s.script": "script.txt", "k.record": "items.txt", "m.record": "seen.txt"}
    return bench.run(
        simulator,
        20,
        values | {key.replace("_", ".", 1): v for key, v in settings.items()},
        files={"script.txt": script},
        ok=ok,
    )


def test_items_wait_for_their_cycle_and_for_the_receiver(bench: Bench) -> None:
    ran = play(bench, "# a comment\n2 5\n\n3 6   # another\n3 0x10\n9 7\n", k_pattern="0001")
    assert read_items(ran.directory / "items.txt") == [(3, "5"), (7, "6"), (11, "16"), (15, "7")]
    assert [line.cycle for line in read_monitor(ran.directory / "seen.txt")] == [2, *range(3, 16)]
    assert happened(ran, "offered") == [(cycle,) for cycle in range(2, 15) if cycle % 4 != 3], "in vain"


def test_once_and_cancel_last_one_cycle(bench: Bench) -> None:
    ran = play(bench, "1 5   once\n3 6 cancel  # and no more\n4 7\n", k_pattern="101111")
    assert read_items(ran.directory / "items.txt") == [(4, "7")]
    assert [(line.cycle, line.value, line.enable) for line in read_monitor(ran.directory / "seen.txt")] == [
        (1, "5", False),
        (3, "6", False),
        (4, "7", True),
    ]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("1 2\nbanana 3\n", "script.txt:2: a line of a script is CYCLE VALUE"),
        ("-1 2\n", "script.txt:1: a line of a script is CYCLE VALUE [once|cancel]: '-1' is not a cycle"),
        ("1z 2\n", "'1z' is not a cycle"),
        ("99999999999999999999 2\n", "'99999999999999999999' is not a cycle"),
        ("1 2x\n", "script.txt:1: '2x' is not a value"),
        ("1 0x1ffffffff\n", "script.txt:1: '0x1ffffffff' is not a value"),
        ("1 banana\n", "script.txt:1: 'banana' is not a value"),
        ("5 1\n4 1\n", "script.txt:2: cycle 4 after cycle 5"),
        ("0 1\n0 2 once\n", "script.txt:2: cycle 0 is already over"),
    ],
)
def test_a_wrong_script_is_one_clear_line(bench: Bench, script: str, words: str) -> None:
    ran = play(bench, script, ok=False)
    assert words in ran.err


def test_structures_are_written_by_field(bench: Bench) -> None:
    before = "enum colour { red, green };\nstruct point { int16 x; uint8 y[2]; colour c; };\n"
    ran = play(bench, "0 {x=-3 y=[1 2] c=green}\n", kind="point", before=before)
    [(cycle, text)] = read_items(ran.directory / "items.txt")
    assert cycle == 0
    again = play(bench, f"4 {text}\n", kind="point", before=before)
    assert read_items(again.directory / "items.txt") == [(4, text)]
    assert "-3" in text and "green" in text


def test_generated_items_keep_their_distance(bench: Bench) -> None:
    ran = bench.run(
        bench.build(NETLIST.format(kind="uint16")), 20, {"s.interval": 3, "s.count": 4, "k.record": "items.txt"}
    )
    assert read_items(ran.directory / "items.txt") == [(0, "0"), (3, "1"), (6, "2"), (9, "3")]
    assert ran.stat("s", "items") == 4


def test_chance_follows_the_seed(bench: Bench) -> None:
    simulator = bench.build(NETLIST.format(kind="uint16"))
    settings = {"s.offer": 0.5, "s.cancel": 0.2, "k.ready": 0.5, "k.record": "items.txt"}
    texts = [(bench.run(simulator, 200, settings, seed=seed).directory / "items.txt").read_text() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert [value for _, value in (line.split() for line in texts[0].splitlines())] == [
        str(k) for k in range(texts[0].count("\n"))
    ]
