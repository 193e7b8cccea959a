"""Runs that go on by commands (--interactive), driven through a pipe."""

import json
import subprocess

import pytest

CHAIN = "instance s : source { count = 200; }; instance p : pipe { depth = 4; }; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;"


@pytest.fixture
def talk(tmp_path):
    """Carries out commands; returns the answers, what was said of mistakes, and the statistics."""

    def run(simulator, *commands, options=()):
        done = subprocess.run(
            [str(w) for w in (simulator, "--interactive", "--quiet", "--stats", tmp_path / "s.json", *options)],
            input="".join(f"{command}\n" for command in commands),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.splitlines(), json.loads((tmp_path / "s.json").read_text())

    return run


@pytest.fixture
def chain(build_sim):
    return build_sim(CHAIN)


def test_it_goes_on_for_cycles_until_conditions_and_to_the_end(chain, talk, run_sim):
    out, err, stats = talk(chain, "cycle", "cycle 9", "print k.items", "until k.items >= 50", "until 100 ns", "until cycles(clk) >= 120", "run")
    assert out.splitlines() == [
        "1 ns, cycle 1 of clk",
        "10 ns, cycle 10 of clk",
        "k.items = 6",
        "54 ns, cycle 54 of clk",
        "100 ns, cycle 100 of clk",
        "120 ns, cycle 120 of clk",
    ]
    assert not err and stats == run_sim(chain, "--quiet").stats


def test_states_are_set_and_kept(chain, talk, run_sim, tmp_path):
    out, err, stats = talk(chain, "cycle 10", "set s.index = 150", "set p.slot[1]=77", "checkpoint c", "run")
    assert not err and stats["run"]["ended"] == "nothing left to do"
    kept = run_sim(chain, "--restore", tmp_path / "c", "--print", "p.slot[1]", "--until", "cycles(clk) >= 10")
    assert "p.slot[1] = 77" in kept.out
    values = {(e["path"], e["name"]): e["value"] for e in stats["statistics"]}
    assert values["s", "items"] < 100


def test_the_end_of_the_input_ends_the_run(chain, talk):
    for commands in (["cycle 3"], ["cycle 3", "quit", "cycle 100"]):
        _, err, stats = talk(chain, *commands)
        assert not err and stats["run"]["ended"] == "ended by its user" and stats["run"]["cycles"] == {"clk": 3}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("stp", 'there is no command "stp"; did you mean "step"?'),
        ("frobnicate", 'there is no command "frobnicate"; help lists them'),
        ("cycle 0", '"0" is no count of 1 or more'),
        ("cycle -3", '"-3" is no count of 1 or more'),
        ("step", "there is no processor 1; this machine has 0"),
        ("print k.itms", 'k has no state "itms"; did you mean "items"?'),
        ("set k.items", "set PATH.STATE = VALUE"),
        ("set k.items = many", "k.items: "),
        ("set p.slot = 1", "p.slot has 4 elements: name one of them"),
        ("until end", "until takes a time"),
        ("until nonsense", "this is no condition"),
        ("list q", 'no instance matches "q"'),
        ("trace k", "needs a simulator that was built with --debug"),
        ("checkpoint", "checkpoint FILE"),
        ("checkpoint no/where", "cannot write the checkpoint"),
        ("run far", "until CONDITION stops before the end"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(chain, talk, run_sim, command, words):
    _, err, stats = talk(chain, "cycle 5", command, "run")
    assert len(err) == 1 and words in err[0] and stats == run_sim(chain, "--quiet").stats


def test_help_lists_what_there_is(chain, talk):
    out, _, _ = talk(chain, "help", "list k", "events k")
    assert all(f"\n{name} " in "\n" + out for name in ("run", "until", "cycle", "step", "print", "set", "list", "trace", "quit"))
    assert "k.items : uint64" in out and "k.taken()" in out


def test_a_line_trace_begins_and_ends_by_command(build_sim, talk):
    _, err, _ = talk(build_sim(CHAIN, "--debug"), "cycle 5", "trace k,s", "cycle 2", "trace", "cycle 2", "trace q")
    assert len(err) == 4 and "s" in err[0] and err[1].split()[0] == "5" and "out>5" in err[1] and 'matches "q"' in err[3]


def test_processors_step_by_instructions(root, build_dir, build_sim, talk):
    simulator = build_sim(root / "examples" / "dual_core" / "dual_core.lss")
    elf = build_dir / "firmware" / "sum" / "sum.elf"
    out, err, _ = talk(simulator, "step", "step 3", "step 2 2", "where", options=("--program", elf))
    lines = [line for line in out.splitlines() if line.startswith("1 ")]
    assert not err and len(lines) == 4 and "0x00000000 <_start+0x0>" in lines[0] and "0x0000000c <_start+0xc>" in lines[1]
