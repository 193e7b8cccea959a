"""Flights: items arrive in order, at their instants; what does not fit is an error; they restart, print and repeat."""

import math
import re
from fractions import Fraction

import pytest

from tests.modules.harness import read_monitor

MACHINE = """
clock fast = 100 MHz;
clock slow = {slow};
instance s : source on fast {{ count = {count}; interval = {interval}; }};
instance enters : monitor on fast;
instance d : delivery {{ delay = {delay}; {more} }};
instance leaves : monitor on slow;
instance k : sink on slow {{ ready = {ready}; }};
s.out -> enters.in : uint32;
enters.out -> d.in;
d.out -> leaves.in;
leaves.out -> k.in;
"""


@pytest.fixture
def built(build_sim, root):
    def build(*options: str, slow: str = "75 MHz", count: int = 20, interval: int = 5, delay: str = "100 ns", more: str = "", ready: float = 1.0):
        text = MACHINE.format(slow=slow, count=count, interval=interval, delay=delay, more=more, ready=ready)
        return build_sim(text, "-I", str(root / "tests/engine/modules"), *options)

    return build


def taken(path) -> list[tuple[int, int]]:
    """Cycle and item of what a monitor saw taken."""
    return [(row.cycle, int(row.value, 0)) for row in read_monitor(path) if row.transferred]


@pytest.mark.parametrize("options", [[], ["--debug"]])
@pytest.mark.parametrize("slow", [75, 100, 133])
def test_items_arrive_at_their_instants(built, run_sim, tmp_path, options, slow):
    simulator = built(*options, slow=f"{slow} MHz")
    done = run_sim(simulator, "--cycles", 400, "--set", "enters.record=sent", "--set", "leaves.record=left", *(["--check-idle"] if options else []))
    sent = taken(tmp_path / "sent")
    expected = [(math.ceil((Fraction(cycle, 100) + Fraction(1, 10)) * slow), item) for cycle, item in sent]
    assert taken(tmp_path / "left") == expected and len(expected) == 20
    assert done.value("d", "sent") == done.value("d", "delivered") == 20


def test_a_flight_that_is_full_ends_every_build(built, run_sim):
    for options in ([], ["--debug"]):
        done = run_sim(built(*options, interval=1), "--cycles", 400, ok=False)
        assert "error: d: way is full: 4 items are on their way, and the oldest is not taken" in done.err


def test_an_item_that_is_not_there_ends_every_build(built, run_sim):
    for options in ([], ["--debug"]):
        done = run_sim(built(*options, more="hasty = true;"), "--cycles", 400, ok=False)
        assert "error: d: way is empty: there is no item that flight_drop could remove" in done.err


def test_what_is_shown(built, run_sim):
    done = run_sim(built(delay="1 us", more="slots = 64;"), "--cycles", 60, "--quiet", "--print", "d.*")
    lines = dict(line.split(" = ", 1) for line in done.out.splitlines() if line.startswith("d."))
    sent = int(lines["d.sent"])
    assert lines["d.way"] == f"{{head=0 tail={sent} held={sent}}}"
    assert [int(item) for item in lines["d.way_item"].split()][:sent] == list(range(sent))
    arrives = [int(instant) for instant in lines["d.way_arrives"].split()]
    assert {b - a for a, b in zip(arrives[: sent - 1], arrives[1:sent])} == {arrives[1] - arrives[0]} and not any(arrives[sent:])


def test_an_item_that_is_sooner_than_the_cut_ends_every_build(built, run_sim, root, tmp_path):
    for name in ("delivery.lss", "delivery.c"):
        text = (root / "tests/engine/modules" / name).read_text()
        (tmp_path / name).write_text(text.replace("flight_send(way, TICKS,", "flight_send(way, TICKS - 1,"))
    for options in ([], ["--debug"]):
        done = run_sim(built(*options), "--cycles", 400, ok=False)
        assert re.search(r"error: d: an item of way arrives in (\d+) ticks; the module declares that it takes \d+ or more", done.err)


def test_a_ring_is_shown_from_its_first_item_on(built, run_sim, tmp_path):
    """Nothing is left of items that were taken, and nothing depends on how often it is looked at."""
    simulator = built(count=1000, more="slots = 40;", interval=3, delay="1 us")
    done = run_sim(simulator, "--cycles", 1001, "--print", "d.*", "--checkpoint", "point")
    shown = dict(line.split(" = ", 1) for line in done.out.splitlines() if line.startswith("d."))
    held = int(shown["d.sent"]) - int(shown["d.delivered"])
    assert shown["d.way"] == f"{{head=0 tail={held} held={held}}}" and 0 < held < 40
    items = [int(item) for item in shown["d.way_item"].split()]
    assert items == [int(shown["d.delivered"]) + n for n in range(held)] + [0] * (40 - held)
    assert not any(int(instant, 0) for instant in shown["d.way_arrives"].split()[held:])
    often = run_sim(simulator, "--cycles", 1001, "--print", "d.*", "--state-hashes", tmp_path / "hashes", "--state-hash-every", 7)
    assert [line for line in often.out.splitlines() if line.startswith("d.")] == [f"{name} = {text}" for name, text in shown.items()]


def test_a_ring_that_was_empty_begins_anew(built, run_sim):
    done = run_sim(built(), "--cycles", 400, "--quiet", "--print", "d.way")
    assert "d.way = {head=0 tail=0 held=0}" in done.out


def test_a_restored_run_is_the_same(built, run_sim, tmp_path):
    simulator = built(count=1000, more="slots = 8;", interval=3)
    whole = run_sim(simulator, "--cycles", 2000, "--print", "d.*")
    run_sim(simulator, "--cycles", 701, "--checkpoint", "point")
    rest = run_sim(simulator, "--cycles", 2000, "--restore", "point", "--print", "d.*")
    assert whole.stats["statistics"] == rest.stats["statistics"]
    shown = [re.findall(r"^d\..*$", done.out, re.MULTILINE) for done in (whole, rest)]
    assert shown[0] == shown[1] and shown[0]


def test_words_of_other_kinds_are_refused(lss, root, tmp_path):
    code = (root / "tests/engine/modules/delivery.c").read_text()
    (tmp_path / "delivery.lss").write_text((root / "tests/engine/modules/delivery.lss").read_text())
    (tmp_path / "m.lss").write_text(MACHINE.format(slow="75 MHz", count=1, interval=1, delay="1 ns", more="", ready=1.0))
    said = "error[state-kind]: `way` is a flight: flight_send(way, ticks, item) adds an item, and flight_due(way) says whether the first has arrived, which is flight_item(way)"
    for use in ("self->way.held = 0;", "self->way_item[0] = 1;", "set_stamp(way_arrives[0], 1);"):
        (tmp_path / "delivery.c").write_text(code.replace("  count(sent);", "  " + use))
        done = lss("check", tmp_path / "m.lss", ok=False)
        assert said in done.err, use
    (tmp_path / "delivery.c").write_text(code.replace("  count(sent);", "  flight_drop(left);"))
    assert "error[unknown-name]: delivery has no flight `left`" in lss("check", tmp_path / "m.lss", ok=False).err
