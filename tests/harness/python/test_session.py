"""Runs that go on step by step from Python: what they come to is what a plain run does, and no simulator outlives its user."""

import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import spinach
from tests.harness.python.conftest import CHAIN

ENDLESS = {"producer.count": -1}


@pytest.fixture(scope="module")
def machine(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> spinach.Machine:
    folder = tmp_path_factory.mktemp("session")
    (folder / "chain.lss").write_text(CHAIN)
    return spinach.Machine(folder / "chain.lss", lss=build_dir / "bin" / "lss", build=folder / "build", optimise=0)


@pytest.fixture
def session(machine: spinach.Machine) -> Iterator[spinach.Session]:
    with machine.start() as started:
        yield started


def is_running(session: spinach.Session) -> bool:
    try:
        os.kill(session._child.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_statistics_are_those_of_a_plain_run(machine: spinach.Machine) -> None:
    """To the byte, in slices of several kinds, and where the user ends it at its bound."""
    for bound in ({}, {"cycles": 1100, "sample": "200 ns", "consumer.ready": 0.9}):
        given = {"seed": 7, "window": ("100 ns", "500 ns"), **bound}
        plain = machine.run(**given)
        with machine.start(**given) as session:
            states = [
                session.advance(93),
                session.advance(until="300 ns"),
                session.advance(until="consumer.items >= 400"),
            ]
            session.statistics()
            states.append(session.advance(1100 - states[-1].cycles["clk"]))
            if not bound:
                states.append(session.advance())
            run = session.finish()
        assert (run.folder / "stats.json").read_bytes() == (plain.folder / "stats.json").read_bytes()
        assert run.ended == plain.ended and run.cycles == plain.cycles
        assert [state.cycles["clk"] for state in states[:2]] == [93, 300] and states[0].seconds == pytest.approx(93e-9)


def test_what_a_session_shows(session: spinach.Session) -> None:
    state = session.advance(20)
    assert (state.seconds, state.cycles, state.ended, state.processors) == (pytest.approx(20e-9), {"clk": 20}, None, {})
    assert session.state == state
    assert session["consumer.items"] == 16 and session["delay.slot[1..2]"] == [17, 18]
    assert session["*.items"] == {"producer.items": 20, "consumer.items": 16}
    assert session.statistics("items")["value"].to_dict() == {("producer", "items"): 20, ("consumer", "items"): 16}
    assert session.statistics("consumer").loc[("consumer", "items")].tolist() == [16, "items"]
    assert len(session.statistics()) == 4
    session.mark()
    session.advance(5)
    assert session.statistics("items", since_mark=True)["value"].to_dict() == {("producer", "items"): 5, ("consumer", "items"): 5}
    session["producer.index"] = 990
    assert session.advance().ended == "nothing left to do" and session["consumer.items"] == 35  # it can still be asked
    run = session.finish()
    assert run["consumer.items"] == 35 and session.finish() is run and run.printed == ""
    assert not is_running(session) and repr(session).startswith("Session('chain', folder=")


def test_a_checkpoint_begins_another_run(
    machine: spinach.Machine, session: spinach.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session.advance(100)
    assert session.checkpoint("begun") == tmp_path / "begun"
    assert machine.run(cycles=200, restore="begun")["consumer.items"] == 196


def test_a_mistake_is_an_error_and_the_session_goes_on(session: spinach.Session) -> None:
    wrong = [
        (
            lambda: session["consumer.item"],
            spinach.UnknownName,
            "chain has no state 'consumer.item'; did you mean 'consumer.items'?",
        ),
        (
            lambda: session["delay.slots[1..2]"],
            spinach.UnknownName,
            "chain has no state 'delay.slots[1..2]'; did you mean 'delay.slot'?",
        ),
        (lambda: session["delay.slot[9]"], spinach.SpinachError, '"delay.slot[9]": '),
        (
            lambda: session.__setitem__("consumer.items", "many"),
            spinach.SpinachError,
            'consumer.items: "many" is not a number of type uint64',
        ),
        (
            lambda: session.__setitem__("consumer.itms", 1),
            spinach.UnknownName,
            "chain has no state 'consumer.itms'; did you mean",
        ),
        (lambda: session.advance(0), spinach.SpinachError, '"0" is less than 1'),
        (lambda: session.advance(until="consumer.items"), spinach.SpinachError, 'until "consumer.items", character 1: this is no condition'),
        (lambda: session.advance(5, until="9 ns"), ValueError, "advance() takes cycles or until=, not both"),
        (lambda: session.step(), spinach.SpinachError, "there is no processor 1; this machine has 0"),
        (lambda: session.statistics("uart"), spinach.SpinachError, 'no statistic matches "uart"'),
        (lambda: session.checkpoint("no/where"), spinach.SpinachError, "cannot write the checkpoint "),
        (lambda: session["a\nquit"], spinach.SpinachError, "'print a\\nquit' is no command: it has more than one line"),
    ]
    for attempt, kind, text in wrong:
        with pytest.raises(kind) as caught:
            attempt()
        assert str(caught.value).startswith(text) and type(caught.value) is kind
    assert session.advance(5).cycles == {"clk": 5}
    session.finish()
    with pytest.raises(spinach.SpinachError, match=r"^Session\(.*\) is over; start another one$"):
        session.advance()


def test_no_simulator_is_left_after_an_exception(machine: spinach.Machine) -> None:
    with pytest.raises(ZeroDivisionError), machine.start(**ENDLESS) as session:
        session.advance(10)
        assert is_running(session)
        1 / 0  # noqa: B018
    assert not is_running(session)
    forgotten = machine.start(**ENDLESS)
    child = forgotten._child
    del forgotten
    assert child.returncode is not None


@pytest.mark.timeout(60)
def test_a_forgotten_session_may_end_while_another_child_starts(
    machine: spinach.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finalizer runs wherever the garbage collector does, such as inside of the start of the next child."""
    started = subprocess.Popen

    def collect_and_start(*given: Any, **more: Any) -> subprocess.Popen:
        gc.collect()
        return started(*given, **more)

    forgotten = machine.start(**ENDLESS)
    child = forgotten._child
    forgotten.itself = forgotten  # type: ignore[attr-defined]
    del forgotten
    assert child.returncode is None
    monkeypatch.setattr(subprocess, "Popen", collect_and_start)
    with machine.start(**ENDLESS):
        assert child.returncode is not None


def test_no_simulator_is_left_after_an_interrupt(machine: spinach.Machine) -> None:
    session = machine.start(watchdog="off", **ENDLESS)
    Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        session.advance()
    assert not is_running(session)


def test_a_simulator_that_ends_says_why(machine: spinach.Machine, tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("5 1\n3 2\n")
    error = "chain: error: producer: .*script.txt:2: cycle 3 after cycle 5: a script is in rising order\n?$"
    with (
        pytest.raises(spinach.RunError, match=error) as caught,
        machine.start(**{"producer.script": tmp_path / "script.txt"}) as session,
    ):
        session.advance()
    assert caught.value.status == 1 and caught.value.folder == session.folder
    with (
        pytest.raises(spinach.RunError, match=r"^chain: consumer\.ready: 3 is outside its range, 0\.0 to 1\.0$"),
        machine.start(**{"consumer.ready": 3}) as session,
    ):
        session.advance()
    with pytest.raises(spinach.RunError, match=r"^chain: ended with status -9$"), machine.start() as session:
        os.kill(session._child.pid, signal.SIGKILL)
        session.finish()


def test_a_step_ends_at_its_timeout(machine: spinach.Machine) -> None:
    with (
        pytest.raises(spinach.RunError, match=r"^no end after 0\.3 s: .*/log\.txt has what the run printed"),
        machine.start(timeout=0.3, watchdog="off", **ENDLESS) as session,
    ):
        session.advance(10)
        session.advance()
    assert not is_running(session)


def test_a_wrong_setting_is_found_before_anything_runs(machine: spinach.Machine) -> None:
    with pytest.raises(spinach.UnknownName, match="did you mean 'consumer.ready'"):
        machine.start(**{"consumer.reddy": 1})
