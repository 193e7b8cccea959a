"""Commands that a program gives (--interactive=json): each line is answered by exactly one line of JSON."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

CHAIN = "instance s : source { count = 200; }; instance p : pipe { depth = 4; }; instance k : sink; s.out -> p.in : uint32; p.out -> k.in;\n"
OPTIONS = ["--interactive=json", "--quiet", "--stats", "s.json"]
LONGEST = 1 << 16


@pytest.fixture(scope="module")
def chain(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replies")
    (folder / "chain.lss").write_text(CHAIN)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "chain.lss", "-o", "chain"], cwd=folder, check=True)
    return folder / "chain"


@pytest.fixture
def ask(chain: Path, tmp_path: Path) -> Callable[..., tuple[list[dict], subprocess.CompletedProcess]]:
    """ask(text, options): the replies to what is written to a simulator, and how it ended."""

    def run(text: str | bytes, *options: object, simulator: Path = chain) -> tuple[list[dict], subprocess.CompletedProcess]:
        words = [simulator, *OPTIONS, *(str(one) for one in options)]
        given = text if isinstance(text, bytes) else text.encode()
        done = subprocess.run(words, input=given, capture_output=True, cwd=tmp_path, timeout=100)
        assert done.stdout.endswith(b"\n")
        return [json.loads(line) for line in done.stdout.decode("ascii").splitlines()], done

    return run


def test_a_session(ask: Callable, golden: Callable, root: Path) -> None:
    """The form of each reply."""
    commands = [
        "cycle 10", "status", "print k.items", "print p.slot", "print p.slot[1..2]", "print *.accepting", "list k", "events k",
        "statistics k", "statistics items", "statistics mark", "cycle 5", "statistics since", "statistics since k", "set p.slot[1] = 7", "until 20 ns", "where", "step", "checkpoint point", "trace", "run",
        "cycle", "print k.items", "status", "help", "quit",
    ]  # fmt: skip
    replies, done = ask("\n".join(commands) + "\n", "--cycles", 100)
    assert len(replies) == len(commands) and not done.returncode and not done.stderr
    lines = [f"> {command}\n{line}\n" for command, line in zip(commands, done.stdout.decode().splitlines())]
    golden(root / "tests/debug/replies.golden", re.sub(r'("per_second": )[0-9.e+]+', r"\g<1>N", "".join(lines)))


def test_the_statistics_are_those_of_a_plain_run(ask: Callable, chain: Path, tmp_path: Path) -> None:
    """To the byte, whatever was looked at on the way, and at a bound also when the user ends the run there."""
    for bound, commands in (([], "cycle 7\nstatistics\nuntil k.items >= 9\nstatus\ncycle 50\nrun\n"), (["--cycles", "90"], "cycle 50\nstatistics\ncycle 40\nquit\n")):
        ask(commands, *bound)
        subprocess.run([chain, "--quiet", "--stats", "plain.json", *bound], cwd=tmp_path, check=True)
        assert (tmp_path / "s.json").read_bytes() == (tmp_path / "plain.json").read_bytes()


def test_statistics_come_in_the_order_of_the_list(ask: Callable, chain: Path) -> None:
    listed = json.loads(subprocess.run([chain, "--list=json"], capture_output=True, check=True).stdout)["statistics"]
    (reply, _), _ = ask("statistics\n")
    assert [(one["path"], one["name"]) for one in reply["result"]] == [(one["path"], one["name"]) for one in listed]


def test_the_mark_goes_along_into_a_variant(ask: Callable) -> None:
    """Also that of a text session, whose lines are those of gdb."""
    replies, done = ask("cycle 5\nstatistics mark\nuntil event(k.taken, 10)\nstatistics since k.items\nquit\n")
    assert done.stderr.decode().count("building a variant") == 1 and replies[3]["result"][0]["value"] == 10


def test_connections_are_those_of_the_statistics(ask: Callable, build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "chain.lss").write_text(CHAIN)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", "--collect", "connections", "chain.lss", "-o", "counted"], cwd=tmp_path, check=True)
    (_, reply, _), _ = ask("cycle 10\nconnections\nquit\n", simulator=tmp_path / "counted")
    assert reply["result"] == json.loads((tmp_path / "s.json").read_text())["connections"]
    assert reply["result"][0] == {"from": "s.out", "to": "p.in", "transferred": 10, "stalled": 0, "cancelled": 0, "idle": 0}
    done = subprocess.run([tmp_path / "counted", "--interactive", "--quiet"], input="cycle 10\nconnections\nquit\n", capture_output=True, text=True, check=True)
    assert "s.out -> p.in: transferred 10, stalled 0, cancelled 0, idle 0\n" in done.stdout


MISTAKES = {
    "": "the line is empty; help lists the commands",
    "stp": 'there is no command "stp"; did you mean "step"?',
    "cycle 0": '"0" is less than 1',
    "step": "there is no processor 1; this machine has 0",
    "print k.itms": '"k.itms": k has no state "itms"; did you mean "items"?',
    "set k.items = many": 'k.items: "many" is not a number of type uint64',
    "until nonsense": None,
    "until end": "until takes a time, cycles(CLOCK) >= N, PATH.STATE >= N, event(PATH.EVENT, N) or marker(N)",
    "list q": 'no instance matches "q"',
    "statistics q": 'no statistic matches "q"',
    "statistics since q": "there is no mark: statistics mark sets one",
    "statistics mark q": "statistics mark takes nothing; statistics since [PATTERN] shows what was counted",
    "connections": "connections are not counted (build the simulator with --collect connections)",
    "registers": 'no register has a name that matches ""',
    "checkpoint": "checkpoint FILE",
    "checkpoint no/where": None,
    "run far": "run takes nothing; until CONDITION stops before the end",
    "quit\0": "the line holds a zero byte",
    "x" * (LONGEST + 1): f"the line is longer than {LONGEST} bytes",
    "list \udc80\udcff": 'no instance matches "\udc80\udcff"',
}


def test_a_mistake_is_a_reply_and_changes_nothing(ask: Callable, chain: Path, tmp_path: Path) -> None:
    text = "cycle 5\n" + "\n".join(MISTAKES) + "\n" + " " * (LONGEST - 3) + "run\ncycle"  # the last line lacks its end
    replies, done = ask(text.encode(errors="surrogateescape"))
    assert not done.returncode and not done.stderr and len(replies) == len(MISTAKES) + 4
    for said, wanted in zip(replies[1:], MISTAKES.values()):
        assert said.keys() == {"ok", "error"} and said["ok"] is False
        assert said["error"] == wanted if wanted else said["error"]
    assert [one["ended"] for one in replies[-3:]] == ["nothing left to do"] * 3
    subprocess.run([chain, "--quiet", "--stats", "plain.json"], cwd=tmp_path, check=True)
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "plain.json").read_bytes()


def test_what_the_machine_prints_does_not_mix_with_the_replies(ask: Callable) -> None:
    replies, done = ask("cycle 20\nquit\n", "--set", "k.record=-", "--print", "k.items")
    assert len(replies) == 2 and all(one["ok"] for one in replies)
    assert done.stderr.decode().splitlines() == [*(f"{4 + n} {n}" for n in range(16)), "k.items = 16"]


@pytest.mark.parametrize(
    ("options", "error", "kept"),
    [
        (["--set", "k.ready=0", "--set", "s.count=-1", "--watchdog", "200 us"], "no progress for 0.2 ms of simulated time, since 0 ms", True),
        (["--set", "s.script=script.txt"], "s: script.txt:2: cycle 3 after cycle 5: a script is in rising order", False),
    ],
)
def test_an_error_of_the_machine_is_the_last_reply(ask: Callable, tmp_path: Path, options: list[str], error: str, kept: bool) -> None:
    """It is reported on standard error as in any run."""
    (tmp_path / "script.txt").write_text("5 1\n3 2\n")
    replies, done = ask("cycle 2\nrun\nstatus\n", *options)
    assert [one["ok"] for one in replies] == [True, False] and replies[1]["error"] == error
    assert done.returncode == 1 and f"chain: error: {error}" in done.stderr.decode()
    assert (tmp_path / "s.json").exists() == kept


def test_events_and_traces_go_on_in_a_variant(ask: Callable) -> None:
    replies, done = ask("cycle 5\nuntil event(k.taken, 10)\ntrace k\ncycle 2\nstatus\nquit\n", "--set", "k.record=-", "--set", "k.ready=0.5")
    assert all(one["ok"] for one in replies) and len(replies) == 6
    assert replies[2]["time_fs"] == replies[1]["time_fs"] and replies[3]["cycles"]["clk"] == replies[1]["cycles"]["clk"] + 2
    assert {(one["from"], one["to"], one["accepted"]) for one in replies[4]["result"]["blocked"]} <= {("s.out", "p.in", False), ("p.out", "k.in", False)}
    assert replies[4]["result"]["blocked"]
    assert done.stderr.decode().count("building a variant") == 2


def begun(chain: Path, tmp_path: Path) -> subprocess.Popen:
    return subprocess.Popen([chain, *OPTIONS, "--set", "s.count=-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, cwd=tmp_path)


def test_an_interrupt_ends_the_command_and_another_signal_the_run(chain: Path, tmp_path: Path) -> None:
    with begun(chain, tmp_path) as run:
        run.stdin.write("cycle\nrun\n")
        assert json.loads(run.stdout.readline())["cycles"]["clk"] == 1
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        reply = json.loads(run.stdout.readline())
        assert reply["ended"] is None and reply["cycles"]["clk"] > 1000
        run.send_signal(signal.SIGTERM)  # while it waits for a command
        out, err = run.communicate(timeout=10)
    assert (run.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert json.loads((tmp_path / "s.json").read_text())["run"]["ended"] == "interrupted"


def test_a_reply_that_nobody_reads_ends_the_run(chain: Path, tmp_path: Path) -> None:
    with begun(chain, tmp_path) as run:
        run.stdout.close()
        run.stdin.write("cycle\n")
        err = run.stderr.read()
    assert run.returncode == 1 and err == "chain: cannot reply to commands at standard output: Broken pipe\n"


def test_a_reply_is_whole_where_the_pipe_is_small(chain: Path, tmp_path: Path) -> None:
    """Also where the reader has made the pipe one that does not block."""
    with begun(chain, tmp_path) as run:
        os.set_blocking(run.stdout.fileno(), False)
        run.stdin.write("help\n" * 50 + "quit\n")
        run.stdin.close()
        time.sleep(0.3)
        os.set_blocking(run.stdout.fileno(), True)
        replies = [json.loads(line) for line in run.stdout]
    assert len(replies) == 51 and all(one["ok"] for one in replies)
