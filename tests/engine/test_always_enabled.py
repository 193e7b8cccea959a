"""Modules that pass items on behind senders that never cancel: no function of theirs derives an enable."""

import pytest

PASS = """
inport in : uint32;
outport out : uint32;
handler pass : in.data -> out.data;
handler accept : out.ack -> in.ack;
"""
PASS_C = """
handler(pass) { if (some(in)) send(out, data(in) + 1); else send_nothing(out); }
handler(accept) { accept(in, acked(out)); }
"""
ALWAYS = f"module increment {{ {PASS} always out.enable; }}"
DERIVED = f"module increment {{ {PASS} handler commit : in.enable -> out.enable; }}"
COMMIT_C = "handler(commit) { enable(out, enabled(in)); }"

CHAIN = """
instance s : source;
instance first : pipe;
instance last : pipe;
instance i[3] : increment;
instance k : sink;
s.out -> first.in : uint32;
first.out -> i[0].in;
i[0].out -> i[1].in;
i[1].out -> i[2].in;
i[2].out -> last.in;
last.out -> k.in;
"""
OPTIONS = ["--cycles", "2000", "--seed", "3", "--set", "k.ready=0.6", "--set", "s.offer=0.7", "--set", "s.cancel=0.2"]
BUILDS = [[], ["--debug"], ["-O0"]]


@pytest.fixture
def items(build_sim, run_sim, tmp_path):
    """What arrives at the end of the chain when its modules are written so, with one kind of build."""

    def arrive(module: str, code: str, options: list[str]) -> tuple[str, list]:
        (tmp_path / "increment.lss").write_text(module)
        (tmp_path / "increment.c").write_text(code)
        record = tmp_path / "items.txt"
        done = run_sim(build_sim(CHAIN, *options), *OPTIONS, "--set", f"k.record={record}")
        return record.read_text(), done.stats["statistics"]

    return arrive


def test_a_chain_behind_a_pipe_needs_no_function_for_its_enables(items):
    expected = items(DERIVED, PASS_C + COMMIT_C, [])
    assert len(expected[0].splitlines()) > 500
    for options in BUILDS:
        assert items(ALWAYS, PASS_C, options) == expected


def test_an_enable_that_follows_what_is_always_acknowledged_is_always_true(build_sim, run_sim, tmp_path):
    """The taps acknowledge always, so what a pipe or a tap offers them is never cancelled."""
    (tmp_path / "tap.lss").write_text(
        """module tap {
             inport in : uint32;  outport out : uint32;
             always in.ack;
             handler pass : in.data -> out.data;
           }"""
    )
    (tmp_path / "tap.c").write_text(
        "handler(pass) { if (some(in)) send(out, 2 * data(in)); else send_nothing(out); }"
    )
    machine = """instance s : source { count = 5; };  instance p : pipe;  instance t[2] : tap;  instance k : sink;
                 s.out -> p.in : uint32;  p.out -> t[0].in;  t[0].out -> t[1].in;  t[1].out -> k.in;"""
    expected = None
    for options in BUILDS:
        record = tmp_path / "taken.txt"
        run_sim(build_sim(machine, *options), "--cycles", "20", "--set", f"k.record={record}")
        values = [line.split()[-1] for line in record.read_text().splitlines()]
        expected = expected or values
        assert values == expected and values == ["0", "4", "8", "12", "16"]
