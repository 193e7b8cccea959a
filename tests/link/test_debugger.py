"""gdb, events and waves of one part: alone, from the record of a run, and among the others."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.link.networks import HERE, Built, alone, children, does_it_again, same_statistics
from tests.network.hosts import NIC

TIED = "a part that runs among others cannot go back or be changed (record the run with --record-links, and debug the part alone with --replay-links)"


@pytest.fixture(scope="module")
def pair(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Two Tigon-2 at full load, recorded."""
    place = tmp_path_factory.mktemp("pair")
    built = Built(place, "tigon2_pair")
    subprocess.run([build_dir / "bin/lss", "build", HERE / "tigon2_pair.lss", *NIC, "--parts", "-o", built.folder], check=True)
    assert built.run("--time", "600 us", *given(build_dir), "--record-links", "links")[0] == 0
    return built


def gdb(place: Path, commands: list[str]) -> str:
    """What gdb says to these commands."""
    words = [word for command in ("set confirm off", "set pagination off", *commands) for word in ("-ex", command)]
    done = subprocess.run(["gdb-multiarch", "-nx", "-batch", *words], cwd=place, capture_output=True, text=True, timeout=200)
    return done.stdout + done.stderr


def given(build_dir: Path) -> list[str]:
    values = (f"firmware={build_dir / 'firmware/tigon2/tigon2.elf'}", "mode=fast", "payload=1472")
    return [word for part in "ab" for value in values for word in ("--set", f"{part}.driver.{value}")]


def test_two_tigon2_alone(build_dir: Path, pair: Built) -> None:
    for part in "ab":
        does_it_again(pair, part, "links", *given(build_dir))
        does_it_again(pair, part, "links", *given(build_dir), "--", "--no-replay")
        status, said, errors = alone(pair, part, "links", *given(build_dir), "--", "--check-replay")
        assert status == 0 and "all of them as in the recorded run" in errors, errors


def test_events_and_waves_of_a_part_alone(build_dir: Path, pair: Built) -> None:
    """Its simulator builds a variant of itself, in which the part has its own names."""
    recorded = ["--record", "b.trace", "--record-events", "frames", "--record-events", "b.nic.dma_read.begun"]
    does_it_again(pair, "b", "links", *given(build_dir), "--", *recorded, "--wave", "b.vcd", "--wave-signals", "b.nic.wire_*")
    printed = subprocess.run([build_dir / "bin/lss", "trace", pair.place / "b.trace"], capture_output=True, text=True, check=True).stdout
    assert " b.nic.dma_read begun " in printed and not any(" a.nic" in line for line in printed.splitlines())
    assert (pair.place / "b.vcd").stat().st_size > 1000


def test_gdb_goes_back_in_a_part_alone(build_dir: Path, pair: Built) -> None:
    words = [*given(build_dir), "--part", "b", "--replay-links", "links"]
    commands = ["monitor break 400 us", "continue", "monitor where", "stepi", "monitor where", "monitor break 100 us"]
    commands += ["reverse-continue", "reverse-continue", "monitor where", "monitor checkpoint at100.ckpt", "monitor break event(b.nic.dma_write.done)", "continue", "monitor where"]
    child = pair.begin(*words, "--", "--gdb", "g.sock", out="alone")
    try:
        while not (pair.place / "g.sock").exists() and child.poll() is None:
            time.sleep(0.02)
        said = gdb(pair.place, ["target extended-remote g.sock", *commands])
        _, errors = child.communicate(timeout=100)
    finally:
        child.kill()
    where = [line.partition(",")[0] for line in said.splitlines() if " ns, cycle " in line and "past" not in line]
    assert where[0] == "400000 ns" != where[1] and where[2] == "100000 ns" != where[3] and len(where) == 4, said
    assert child.returncode == 0 and "all of them as in the recorded run" in errors, errors
    assert same_statistics(pair, "b")
    status, _, errors = alone(pair, "b", "links", "--restore", "at100.ckpt")
    assert status == 0, errors
    one, other = (json.loads((pair.place / folder / "b/statistics.json").read_text()) for folder in ("alone", "out"))
    assert one["statistics"] == other["statistics"] and one["run"] == other["run"]


# ---- Among the others

class Session:
    """A run of both, one of which gdb debugs."""

    def __init__(self, build_dir: Path, pair: Built, part: str, *words: object) -> None:
        self.place = pair.place
        self.launcher = pair.begin("--time", "600 us", *given(build_dir), "--gdb", f"{part}=live.sock", *words, out="live")
        while not (pair.place / "live.sock").exists() and self.launcher.poll() is None:
            time.sleep(0.02)

    def gdb(self, *commands: str) -> str:
        return gdb(self.place, ["target extended-remote live.sock", *commands])

    def end(self) -> tuple[int, str]:
        _, errors = self.launcher.communicate(timeout=60)
        return self.launcher.returncode, errors

    def same(self, pair: Built) -> bool:
        return all((pair.place / "live" / part / "statistics.json").read_bytes() == (pair.place / "out" / part / "statistics.json").read_bytes() for part in "ab")


def seconds(process: int) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("part", ["a", "b"])
def test_gdb_on_a_part_changes_nothing(build_dir: Path, pair: Built, part: str) -> None:
    """Breakpoints, steps and frames; the run counts what it counts without gdb, and so do its records."""
    session = Session(build_dir, pair, part, "--record-links", "live.links")
    commands = [f"file {build_dir}/firmware/tigon2/tigon2.elf", "break host_event", "continue", "continue", "delete", *["stepi"] * 40]
    commands += ["monitor frames", "monitor break 580 us", "continue", "monitor where", *["stepi"] * 40, "monitor where", "monitor break", "watch *(int *) 0x00115818", "continue", "delete"]
    said = session.gdb(*commands)
    status, errors = session.end()
    assert status == 0 and f"{part}: target extended-remote live.sock\n" in errors, errors
    assert "580000 ns, cycle " in said and "Breakpoint 1, " in said, said
    assert "and a part among others cannot become one that does" in said, said
    assert session.same(pair)
    for path in (pair.place / "links").iterdir():
        assert path.read_bytes() == (pair.place / "live.links" / path.name).read_bytes()


def test_a_part_among_others_cannot_go_back(build_dir: Path, pair: Built) -> None:
    session = Session(build_dir, pair, "a")
    commands = ["monitor break 300 us", "continue", "reverse-stepi", "reverse-continue", "monitor where", "monitor set a.driver.payload = 7", "monitor checkpoint x"]
    said = session.gdb(*commands, "set $pc = 4")
    assert said.count(TIED) == 4 and "300000 ns" in said and "all parts write a checkpoint together" in said, said
    status, errors = session.end()
    assert status == 0 and session.same(pair), errors


def test_the_others_sleep_while_gdb_has_stopped_a_part(build_dir: Path, pair: Built) -> None:
    """The watchdog does not end the run; Ctrl-C says what it waits for, and all end together when gdb lets go."""
    session = Session(build_dir, pair, "a", "--watchdog", "50 us")
    parts = children(session.launcher.pid)
    shell = f'shell sleep 1; cat /proc/{parts[0]}/comm; cut -d" " -f14,15 /proc/{parts[1]}/stat; sleep 1; cut -d" " -f14,15 /proc/{parts[1]}/stat'
    said = session.gdb("monitor break 300 us", "continue", shell, f"shell kill -INT {session.launcher.pid}; sleep 1; kill -0 {parts[1]} && echo waits", "monitor where", "monitor break", "continue")
    status, errors = session.end()
    lines = said.splitlines()
    at = lines.index("stopped by gdb")
    before, after = (sum(map(int, line.split())) for line in lines[at + 1 : at + 3])
    assert after - before <= 2 and lines[at + 3] == "waits", said  # hundredths of a second: it looks who is alive
    assert status == 130 and "waits for a, which a debugger has stopped (a second Ctrl-C ends the run at once)\n" in errors and "interrupted after 0.3" in errors, errors
    assert len({json.loads((pair.place / "live" / part / "statistics.json").read_text())["run"]["until"] for part in "ab"}) == 1


def test_ends_by_the_debugger(build_dir: Path, pair: Built) -> None:
    session = Session(build_dir, pair, "b")
    session.gdb("monitor break 300 us", "continue", "kill")
    status, errors = session.end()
    assert status == 0 and "ended by the debugger after 0.3" in errors, errors
    assert len({json.loads((pair.place / "live" / part / "statistics.json").read_text())["run"]["until"] for part in "ab"}) == 1


def test_a_killed_part_and_a_second_interrupt(build_dir: Path, pair: Built) -> None:
    for kill in (True, False):
        session = Session(build_dir, pair, "a")
        other, launcher = children(session.launcher.pid)[1], session.launcher.pid
        end = f"kill -9 {other}" if kill else f"kill -INT {launcher}; sleep 0.5; kill -INT {launcher}"
        session.gdb("monitor break 300 us", "continue", f"shell {end}; sleep 0.5", "monitor where")
        status, errors = session.end()
        expected = f"harness: b (process {other}) was killed by signal 9\n" if kill else "harness: interrupted twice; the parts were ended\n"
        assert status == (1 if kill else 130) and errors.endswith(expected), errors
        assert not (pair.place / "live.sock").exists() or not kill
        (pair.place / "live.sock").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--gdb", "1234"], '--gdb: "1234" lacks the part or where gdb connects (write --gdb PATH=PORT)'),
        (["--gdb", "c=1234"], "--gdb: there is no part \"c\" in tigon2_pair.lss"),
        (["--whole", "--gdb", "a=1234"], "--gdb: it names a part (with --whole write `-- --gdb PORT`)"),
        (["--gdb", "a=1234", "--part", "b", "--replay-links", "links"], "--gdb a=1234: only b runs"),
        (["--gdb", "a=live.sock", "--sample", "10 us"], "a: --sample writes down what happens once; with --gdb a run goes backwards, too"),
        (["--", "--gdb", "1234"], "--gdb: it is not for the parts of a network (write it ahead of --)"),
    ],
)
def test_wrong_options(pair: Built, words: list[str], expected: str) -> None:
    status, errors = pair.run(*words)
    assert status == 1 and errors == f"harness: {expected}\n", errors
