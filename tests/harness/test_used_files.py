"""Files that a command of the harness reads or writes: one that is written is used for nothing else.

The pairs of arguments are those of the parser, so that a new one is among them.
"""

import argparse
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import __main__ as command
from harness import firmware
from harness.run.used_files import FOLDER, ClashError, FileArgument, Folder, UsedFiles

PARSER = command.arguments()
COMMANDS: dict[str, argparse.ArgumentParser] = next(
    action.choices for action in PARSER._actions if isinstance(action, argparse._SubParsersAction)
)
NEEDED = {"payload": "18", "first": "true", "second": "true"}  # of arguments that name no file


def files_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [one for one in parser._actions if isinstance(one.type, FileArgument | Folder) and one.type != FOLDER]


def written(action: argparse.Action) -> list[str | None]:
    """The names that it writes in the folder that it names; None is the file that it names itself."""
    if isinstance(action.type, Folder):
        return [name.replace("*", "1.svg") for name in action.type.names]
    return [None] if action.type.written else []


def pairs() -> Iterator:
    for name, parser in COMMANDS.items():
        for one, other in itertools.permutations(files_of(parser), 2):
            for file in written(one):
                read = isinstance(other.type, FileArgument) and not other.type.written
                if read or written(other) and (one.dest < other.dest or file is None):
                    yield pytest.param(name, one, file, other, id=f"{name} {one.dest} {file or ''} {other.dest}")


def words(parser: argparse.ArgumentParser, given: dict[str, str]) -> list[str]:
    """A command line with these arguments, and what else is required."""
    line, last = [], []
    for action in parser._actions:
        value = given.get(action.dest)
        if value is None and (action.required or not action.option_strings) and action.nargs != 0:
            value = NEEDED.get(action.dest, f"other-{action.dest}")
        if value is not None:
            (line if action.option_strings else last).extend([*action.option_strings[-1:], value])
    return [*line, *last]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Runs a command in this process, in a folder of its own: its status and what it says."""
    monkeypatch.setattr(command.process, "end_children_on_signals", lambda: None)
    monkeypatch.chdir(tmp_path)

    def run(*line: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *line])
        status = command.main()
        return status, capsys.readouterr().err

    return run


def test_all_files_are_declared() -> None:
    """No argument is a path of which is not said what becomes of it."""
    declared = [one for parser in COMMANDS.values() for one in parser._actions if isinstance(one.type, FileArgument | Folder)]
    assert len(declared) > 30
    for name, parser in COMMANDS.items():
        for action in parser._actions:
            assert action.type is not Path and not (isinstance(action.default, Path) and not isinstance(action.type, FileArgument | Folder)), f"{name} {action.dest}"


@pytest.mark.parametrize(("name", "one", "file", "other"), list(pairs()))
def test_pairs(name: str, one: argparse.Action, file: str | None, other: argparse.Action, call, tmp_path: Path) -> None:
    """Whether the file is there or not, by its name and by another one."""
    (tmp_path / "folder" / (file or "x")).parent.mkdir(parents=True)
    (tmp_path / "alias").symlink_to("folder")
    target = tmp_path / "folder" / (file or "x")
    for there, place in itertools.product((False, True), ("folder", "./folder", "alias", "new/../folder")):
        target.write_text("as it was") if there else target.unlink(missing_ok=True)
        mine = "folder" if file else "folder/x"
        theirs = place if isinstance(other.type, Folder) else f"{place}/{file or 'x'}"
        if isinstance(other.type, Folder) and file is None:
            continue  # which is the pair the other way round
        status, said = call(name, *words(COMMANDS[name], {one.dest: mine, other.dest: theirs}))
        assert status == 2 and said.startswith("harness: cannot write ") and said.endswith("(name another file)\n"), said
        assert said.count("\n") == 1 and ("reads it too" in said) == (not written(other))
        assert target.exists() == there and (not there or target.read_text() == "as it was")
        assert {file.name for file in tmp_path.iterdir()} == {"folder", "alias"}


def test_hard_links(call, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("as it was")
    os.link(tmp_path / "x", tmp_path / "y")
    assert call("frames", "x", "--json", "y")[1] == 'harness: cannot write "y" for --json: FILE reads it too, as "x" (name another file)\n'


def test_standard_output(root: Path, tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as out:
        done = subprocess.run([sys.executable, "-m", "harness", "profile", "none", "--flame", tmp_path / "x"], cwd=root, stdout=out, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and f'cannot write "{tmp_path}/x" for --flame: standard output writes it too' in done.stderr


def test_words_of_a_simulator(call, tmp_path: Path) -> None:
    for given in "out/index.html", "out/../out/simulator", "k.record=out/index.html", "--stats=out/index.html":
        status, said = call("bottleneck", "m.lss", "--out", "out", "--", "--stats", given)
        assert status == 2 and 'for --out: the simulator reads it too' in said
    assert not list(tmp_path.iterdir())


def test_one_file_read_twice_is_fine(tmp_path: Path) -> None:
    used = UsedFiles()
    for user in "a", "b":
        used.reads(tmp_path / "x", user)
    for _ in range(2):
        used.writes(tmp_path / "y", "a")
    with pytest.raises(ClashError, match='cannot write "x" for c: a reads it too, as "/'):
        os.chdir(tmp_path)
        used.writes("x", "c")


def test_what_is_no_file_has_any_number_of_uses(tmp_path: Path) -> None:
    used = UsedFiles()
    os.mkfifo(tmp_path / "pipe")
    for path in "/dev/null", tmp_path / "pipe", tmp_path, "/dev/null/x":
        used.reads(path, "a")
        used.writes(path, "b")
        used.writes(path, "c")


@pytest.mark.parametrize("where", [".", "obj/.."])
def test_a_program_in_the_place_of_its_objects(where: str, monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:
    (tmp_path / "obj" / "prog").mkdir(parents=True)
    (tmp_path / "obj" / "prog" / "machine.h").write_text("as it was")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["firmware", str(tmp_path / "obj" / "prog"), "--out", where])
    assert firmware.main() == 2
    assert capsys.readouterr().err == f'spinach firmware: cannot write "{where}/obj/prog/machine.h" for --out: the program reads it too, as "{tmp_path}/obj/prog/machine.h" (name another file)\n'
    assert (tmp_path / "obj" / "prog" / "machine.h").read_text() == "as it was"
