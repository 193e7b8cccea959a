"""Runs that go on by commands (--interactive), driven through a pipe, and through a terminal."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

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


def test_a_goal_ends_what_single_instants_began(build_sim, talk):
    """A state is looked at after each instant, and leaves the advance within a piece; the next goal cuts that piece."""
    simulator = build_sim(CHAIN.replace("count = 200", "count = 100000"))
    out, err, _ = talk(simulator, "until k.items >= 50", "cycle 9", "until k.items >= 100", "until 300 ns", "cycle", "until 200 ns", "until 307 ns")
    assert [line.split(",")[0] for line in out.splitlines()] == ["54 ns", "63 ns", "104 ns", "300 ns", "301 ns", "301 ns", "307 ns"] and not err


@pytest.fixture
def counted(tmp_path):
    """counted(simulator, options): the host instructions of a run; the words are typed as commands."""

    def count(simulator, *options, typed=()):
        log = tmp_path / "valgrind.log"
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={log}"]
        typed = "".join(f"{words}\n" for words in typed)
        subprocess.run([*command, simulator, "--quiet", *options], input=typed, text=True, check=True, capture_output=True, cwd=tmp_path)
        return int(re.search(r"I\s+refs:\s+([\d,]+)", log.read_text())[1].replace(",", ""))

    return count


@pytest.mark.soak  # measures long runs
@pytest.mark.optimised
def test_going_on_for_cycles_or_a_time_costs_what_a_plain_run_does(build_sim, counted):
    """At two lengths, so that what a process and its commands cost once is left out."""
    simulator = build_sim(CHAIN.replace("count = 200", "count = 0xffffffff").replace(": sink;", ": sink { ready = 0.9; };"))
    short, long = 100_000, 300_000

    def ways(cycles):
        slices = [f"cycle {cycles // 10}"] * 10
        return [
            counted(simulator, "--cycles", str(cycles)),
            *(counted(simulator, "--interactive", typed=typed) for typed in ([f"cycle {cycles}"], slices, [f"until {cycles} ns"])),
        ]

    plain, *others = (many - few for few, many in zip(ways(short), ways(long)))
    assert all(cost <= 1.05 * plain for cost in others), [round(cost / plain, 3) for cost in others]


def test_states_are_set_and_kept(chain, talk, run_sim, tmp_path):
    out, err, stats = talk(chain, "cycle 10", "set s.index = 150", "set p.slot[1]=77", "checkpoint c", "run")
    assert not err and stats["run"]["ended"] == "nothing left to do"
    kept = run_sim(chain, "--restore", tmp_path / "c", "--print", "p.slot[1]", "--until", "cycles(clk) >= 10")
    assert "p.slot[1] = 77" in kept.out
    values = {(e["path"], e["name"]): e["value"] for e in stats["statistics"]}
    assert values["s", "items"] < 100


def test_after_a_set_no_identity_is_compared_nor_from_its_checkpoint_on(chain, talk, run_sim, tmp_path):
    _, err, _ = talk(chain, "cycle 10", "set k.count = 500", "checkpoint c", "run", options=("--cycles", 50))
    assert not err
    assert not run_sim(chain, "--restore", tmp_path / "c", "--cycles", 60, "--quiet").err


def test_the_end_of_the_input_ends_the_run(chain, talk):
    for commands in (["cycle 3"], ["cycle 3", "quit", "cycle 100"]):
        _, err, stats = talk(chain, *commands)
        assert not err and stats["run"]["ended"] == "ended by its user" and stats["run"]["cycles"] == {"clk": 3}


@pytest.mark.parametrize(
    ("command", "words"),
    sampled([
        ("stp", 'there is no command "stp"; did you mean "step"?'),
        ("frobnicate", 'there is no command "frobnicate"; help lists them'),
        ("cycle 0", '"0" is less than 1'),
        ("cycle -3", '"-3" is less than 1'),
        ("step", "there is no processor 1; this machine has 0"),
        ("print k.itms", 'k has no state "itms"; did you mean "items"?'),
        ("set k.items", "set PATH.STATE = VALUE"),
        ("set k.items = many", "k.items: "),
        ("set p.slot = 1", "p.slot has 4 elements: name one of them"),
        ("until end", "until takes a time"),
        ("until nonsense", "this is no condition"),
        ("list q", 'no instance matches "q"'),
        ("checkpoint", "checkpoint FILE"),
        ("checkpoint no/where", "cannot write the checkpoint"),
        ("run far", "until CONDITION stops before the end"),
    ], 3),
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


def test_events_and_traces_need_no_special_build(chain, talk, run_sim, tmp_path):
    """The run goes on in a variant of the simulator, where it was, with all that was set and written."""
    commands = ["cycle 5", "until event(k.taken, 10)", "trace k", "cycle", "until event(p.out.transferred, 2)", "trace", "print k.items", "until event(k.taken) + 2.5 ns", "until marker(1)", "run"]
    out, err, stats = talk(chain, *commands)
    assert out.splitlines() == ["5 ns, cycle 5 of clk", "15 ns, cycle 15 of clk", "16 ns, cycle 16 of clk", "18 ns, cycle 18 of clk", "k.items = 14", "22 ns, cycle 22 of clk"]
    assert [line.split(": ")[1] for line in err if "building" in line] == ["building a variant with --watch k.taken", "building a variant with --debug", "building a variant with --watch p.out.transferred"]
    assert [line.split()[0] for line in err if "in<" in line] == ["15", "16", "17"] and 'nothing in this machine emits markers' in err[-1]
    assert stats["statistics"] == run_sim(chain, "--quiet").stats["statistics"]


@seldom
def test_what_was_set_and_written_goes_on_where_events_are_waited_for(build_sim, talk, tmp_path):
    recording = CHAIN.replace("sink;", 'sink { record = "items.txt"; };')
    done = []
    for options in ((), ("--watch", "k.taken")):
        _, err, stats = talk(build_sim(recording, *options), "cycle 50", "set s.index = 150", "until event(k.taken)", "run")
        done.append((stats["statistics"], (tmp_path / "items.txt").read_text()))
        assert len(err) == (not options)
    assert done[0] == done[1] and len(done[0][1].splitlines()) == 100
    _, err, _ = talk(build_sim(CHAIN), "cycle 5", "until event(k.taken)", "run", options=("--state-hashes", "hashes"))
    assert len(err) == 1 and "built with --watch k.taken: output that is written once would begin again, for --state-hashes" in err[0]


STUCK = CHAIN.replace("instance k : sink;", "instance k : sink { ready = 0; };").replace("{ count = 200; }", "")


@seldom
def test_a_run_without_progress_ends_as_it_would(build_sim, run_sim, tmp_path):
    """Where it does without commands, also in the middle of them; a state that is set counts as progress."""
    simulator, options = build_sim(STUCK), ["--watchdog", "200 us", "--quiet"]
    straight = run_sim(simulator, *options, ok=False)
    cycles = straight.stats["run"]["cycles"]["clk"]
    for commands, more in (["run"], False), (["cycle 1000", f"until cycles(clk) >= {2 * cycles}", "run"], False), (["cycle 100000", "set s.index = 7", "run"], True):
        words = [str(w) for w in (simulator, *options, "--interactive", "--stats", tmp_path / "s.json")]
        done = subprocess.run(words, input="".join(f"{one}\n" for one in commands), capture_output=True, text=True, timeout=100)
        assert done.returncode == straight.status == 1 and "error: no progress for 0.2 ms of simulated time" in done.stderr, done.stderr
        ran = json.loads((tmp_path / "s.json").read_text())["run"]
        assert ran["cycles"]["clk"] > cycles if more else ran == straight.stats["run"]
        assert "again" not in done.stderr


@pytest.mark.parametrize("command", ["run", "cycle 1000000000", "until k.items >= 1000000000"])
def test_an_interrupt_ends_the_command_at_hand(build_sim, tmp_path, command):
    """And no other: what follows goes on from there, and the run ends when it is asked to."""
    simulator = build_sim(CHAIN.replace("{ count = 200; }", ""))
    words = [str(w) for w in (simulator, "--interactive", "--quiet", "--stats", tmp_path / "s.json")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        run.stdin.write(f"cycle 5\n{command}\n")
        run.stdin.flush()
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate("cycle 10\nquit\n", timeout=60)
    assert run.returncode == 0 and not err
    cycles = [int(number) for number in re.findall(r"cycle (\d+) of", out)]
    assert cycles[0] == 5 < 1000 < cycles[1] == cycles[2] - 10, out
    assert json.loads((tmp_path / "s.json").read_text())["run"]["ended"] == "ended by its user"


def test_processors_step_by_instructions(root, build_dir, build_sim, talk):
    simulator = build_sim(root / "examples" / "dual_core" / "dual_core.lss")
    elf = build_dir / "firmware" / "sum" / "sum.elf"
    out, err, _ = talk(simulator, "step", "step 3", "step 2 2", "where", options=("--program", elf))
    lines = [line for line in out.splitlines() if line.startswith("1 ")]
    assert not err and len(lines) == 4 and "0x00000000 <_start+0x0>" in lines[0] and "0x0000000c <_start+0xc>" in lines[1]


def type_in(simulator: Path, *keys: str, **environment: str) -> str:
    """What a terminal shows when these keys are pressed, with a pause between their parts, without what moves the cursor."""
    ours, theirs = pty.openpty()
    words = [str(simulator), "--interactive", "--quiet"]

    def be_its_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=simulator.parent, env={**os.environ, "TERM": "vt100", **environment}, preexec_fn=be_its_terminal
    ) as run:
        os.close(theirs)
        shown = b""
        while len(keys) > 1 and b"> " not in shown:  # until it is there, Ctrl-C would end it
            shown += os.read(ours, 4096)
        for part in keys:
            os.write(ours, part.encode())
            time.sleep(0.5 * (len(keys) > 1))
        try:
            while some := os.read(ours, 4096):
                shown += some
        except OSError:  # the other side is closed
            pass
        os.close(ours)
    assert run.returncode == 0, shown
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\x00\x07]", "", shown.decode()).replace("\r\n", "\n")


UP = "\x1b[A"


def test_a_terminal_completes_edits_and_remembers(chain):
    shown = type_in(chain, "cy\t9\n" + "print k.it\t\n" + UP * 2 + "\n" + "until event(s.off\t\n" + "print s.\t\t" + "items\x01\x1b[3~p\n" + "qu\t\n")
    assert "\n9 ns, cycle 9 of clk\n" in shown and "\n18 ns, cycle 18 of clk\n" in shown
    assert "\nk.items = 5\n" in shown and "s.only_once" in shown and "\ns.items = " in shown
    assert 'until "event(s.offered", ' in shown


def test_control_c_drops_a_line_and_ends_a_command(build_sim):
    shown = type_in(build_sim(CHAIN.replace("{ count = 200; }", "")), "cycle 7\x03", "cycle 3\nrun\n", "\x03", "print p.slot[0]\n", "quit\n")
    cycles = [int(number) for number in re.findall(r"cycle (\d+) of clk", shown)]
    assert cycles[0] == 3 and cycles[1] > 1000 and len(cycles) == 2 and "\np.slot[0] = " in shown, shown


def test_values_with_names_clocks_files_and_levels_are_completed(build_sim, tmp_path):
    pair = build_sim("module pair { instance s : source { count = 9; }; instance k : sink; s.out -> k.in : uint32; }; instance a : pair; instance b : pair;")
    (tmp_path / "kept").touch()
    shown = type_in(pair, "print b\tk\titems\t\n" + "set a.s.have=tr\t\nprint a.s.have\n" + "until cycles(c\t) >= 7\n" + "checkpoint ./ke\t\n" + "list a.\t\n" + "quit\n")
    assert "\nb.k.items = 0\n" in shown and "\na.s.have = true\n" in shown and "\n7 ns, cycle 7 of clk\n" in shown
    assert (tmp_path / "kept").stat().st_size


PACKED = """
enum shade { dark, light };
packed word : uint16 { shade tint : 0; bool lit : 4; bits(3) level : 8; };
struct both { word first; uint8 count; };
instance m : holder; instance k : sink; m.out -> k.in : both;
"""
HOLDER = "module holder { outport out : both; state { both kept; } phase_start -> out.data; phase_end; }"


def test_members_of_values_are_completed(build_sim, tmp_path):
    (tmp_path / "holder.lss").write_text(HOLDER)
    (tmp_path / "holder.c").write_text("phase_start() { send(out, self->kept); }\nphase_end() {}\n")
    shown = type_in(build_sim(PACKED, "-I", tmp_path), "set m.kept=\tfi\t\tti\tli\tlev\t5} cou\t7}\nprint m.kept\nquit\n")
    assert "\nm.kept = {first={tint=light level=5} count=7}\n" in shown, shown


def test_without_an_editor_lines_are_plain(chain, tmp_path):
    (tmp_path / "libedit.so.2").touch()
    shown = type_in(chain, "cycle 3\ncycle 4\nquit\n", LD_LIBRARY_PATH=str(tmp_path))
    assert shown.count("there is no libedit.so.2") == 1 and "> 7 ns, cycle 7 of clk\n" in shown


def test_registers_are_shown_with_what_their_bits_are_called(build_sim, talk):
    bank = """import register_types;
const TABLE = [{ name = "control", offset = 0, reset = 0x1d }, { name = "state", offset = 8, reset = 2 }, { name = "count", offset = 4, reset = 7 }];
const BITS = [{ name = "enable", mask = 1 }, { name = "stop", mask = 2 }, { name = "step", mask = 12 }];
instance r : memory_source; instance bank : register_bank { registers = TABLE; }; r.memory -> bank.in["r"];
debug memory { 0 .. 1023 = bank.file : with_fields(TABLE, [{ register = "control", fields = BITS }, { register = "state", fields = BITS }]); }
debug other { 0x8000 .. 0x83ff = bank.file : TABLE; }"""
    out, err, _ = talk(build_sim(bank), "registers", "registers c*", "set bank.file[0] = 0", "registers bank.control", "registers stat")
    control, state, count = "bank.control 0x0000001d enable|step=0x3|0x10", "bank.state 0x00000002 stop", "bank.count 0x00000007"
    lines = [" ".join(line.split()) for line in out.splitlines() if line.startswith("bank.")]
    assert lines == [control, state, count, control, count, "bank.control 0x00000000 0x0"]
    assert 'no register has a name that matches "stat"' in out and not err
