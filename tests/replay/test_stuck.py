"""Who waits for whom when a run makes no progress: from the end of each chain on, from signals and from what modules say."""

import re
from pathlib import Path

import pytest

from tests.sample import seldom

MODULES = Path(__file__).parents[1] / "engine/modules"
STUCK = ["--watchdog", "200 ns", "--cycles", "100000"]


@pytest.fixture
def waits(build_sim, run_sim):
    def waits(machine: str, *options: str) -> list[str]:
        """The lines of the report."""
        done = run_sim(build_sim(machine, "-I", MODULES, *options), *STUCK, ok=False)
        found = re.search(r"  what waits, innermost cause first:\n((?:  .*\n)*)", done.err)
        assert done.status == 1 and found, done.err
        return found[1].splitlines()

    return waits


def test_a_chain_of_offers_begins_at_its_end(waits):
    chain = "instance p : source; instance q : queue { depth = 1; }; instance r : queue { depth = 1; }; instance k : sink { ready = 0.0; }; instance t : ticker; instance n : sink { ready = 0.0; };\n"
    lines = waits(chain + "p.out -> q.in : uint32; q.out -> r.in; r.out -> k.in; t.out -> n.in;")
    assert [re.sub(r"offers \S+", "offers N", line) for line in lines] == [
        "  r.out offers N and waits for k.in to accept",
        "    q.out offers N and waits for r.in to accept",
        "      p.out offers N and waits for q.in to accept",
        "  t.out offers N and waits for n.in to accept",
    ]


CHAIN = """
instance a : holder; instance b : holder; instance c : holder { outside = true; }; instance d : holder; instance t : ticker; instance k : sink { ready = 0.0; };
c.out -> b.in; a.memory -> b.served; t.out -> k.in;
a.out -> d.in; b.out -> d.in;
"""


def test_modules_say_what_they_wait_for(waits):
    """Also through a bundle, from several instances, and from outside of the machine."""
    assert [re.sub(r"offers \S+", "offers N", line) for line in waits(CHAIN)] == [
        "  c waits for a key",
        "    b waits for c.out: item 0",
        "      a waits for b.served.reply: the value of a read",
        "        d waits for a.out: item 0",
        "      d waits for b.out: item 1",
        "  t.out offers N and waits for k.in to accept",
    ]


def test_instances_that_wait_for_each_other_are_one_cause(waits):
    circle = "instance a[3] : holder; instance b : holder; instance c : holder;\nfor (i = 0; i < 3; i = i + 1) { a[i].out -> a[(i + 1) % 3].in; }\na[1].out -> b.in; b.out -> c.in;"
    assert waits(circle) == [
        "  these wait for each other:",
        "    a[0] waits for a[2].out: item 0",
        "    a[1] waits for a[0].out: item 0",
        "    a[2] waits for a[1].out[0]: item 0",
        "      b waits for a[1].out[1]: item 0",
        "        c waits for b.out: item 0",
    ]


@seldom
def test_a_release_build_knows_what_modules_say(build_sim, run_sim):
    """Where the run is not repeated with checks."""
    chain = "instance a : holder; instance b : holder; b.out -> a.in;"
    done = run_sim(build_sim(chain, "-I", MODULES), "--watchdog", "11 ms", "--cycles", "100000000", ok=False)
    assert "  what waits, innermost cause first:\n  a waits for b.out: item 0\nwhich ports wait is known" in done.err
