"""The command line of the harness: what goes wrong is said in one line, and what it writes goes where it was told."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import __main__ as command
from harness import firmware
from harness.net import capture, packets
from harness.run import compiler
from harness.run.store import RunError
from harness.study import command as study_command
from harness.study.uses import cost
from tests.sample import sampled

ROOT = Path(__file__).resolve().parents[2]
TCP = ROOT / "examples/tigon2/traffic/tcp.pcap"


BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()


def harness(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{BUILD}/bin:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_help_needs_no_package(tmp_path: Path) -> None:
    """A newcomer asks first what there is; a command that needs a package says how to get it."""

    def bare(*arguments: object) -> subprocess.CompletedProcess[str]:
        python = [sys.executable, "-S", "-m", "harness", *map(str, arguments)]  # without site-packages
        return subprocess.run(python, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)

    whole = bare("--help")
    assert whole.returncode == 0 and "show where the cycles of processors went" in whole.stdout
    for name in re.search(r"\{([a-z,]+)\}", whole.stdout)[1].split(","):
        done = bare(name, "--help")
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: "), name
    done = bare("study", ROOT / "examples/quad_core/study.toml")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"harness: this Python has no \w+: run `make deps`, then build/venv/bin/python -m harness\n", done.stderr)


def test_split(tmp_path: Path) -> None:
    """What one end sent is what the other received, in the order and at the times of the capture."""
    hosts = "02:00:00:00:00:01", "02:00:00:00:00:02"
    for host in hosts:
        done = harness("split", TCP, "--host", host, "--out", tmp_path / "below" / host, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.split() == [str(tmp_path / "below" / host / name) for name in ("send.pcap", "receive.pcap")]
    one, other = (
        [list(packets.read(tmp_path / "below" / host / name)) for name in ("send.pcap", "receive.pcap")]
        for host in hosts
    )
    assert one == other[::-1] and all(one)
    assert sorted(one[0] + one[1], key=lambda packet: packet.time) == list(packets.read(TCP))


def test_theory(tmp_path: Path) -> None:
    done = harness("theory", 18, 1472, "--rate", "10 Gb/s", cwd=tmp_path)
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["18", "14,880,952", "2,142.9"],
        ["1472", "812,744", "9,570.9"],
    ]


@pytest.mark.parametrize("drops", [0, 3])
def test_check(drops: int, tmp_path: Path) -> None:
    frames = list(packets.read(TCP))
    packets.write(tmp_path / "found.pcap", frames[: len(frames) - 3])
    done = harness("check", TCP, tmp_path / "found.pcap", "--drops", drops, cwd=tmp_path)
    assert done.returncode == (0 if drops else 1)
    assert f"{len(frames)} in, {len(frames) - 3} out; 3 missing ({drops} allowed), 0 duplicated" in done.stdout


@pytest.mark.parametrize(
    "arguments, status, says",
    sampled([
        (
            ["split", TCP, "--host", "zz", "--out", "o"],
            1,
            "harness: host 'zz': expected an Ethernet address, such as 02:00:00:00:00:01",
        ),
        (
            ["split", TCP, "--host", "02:00:00:00:00:01:02", "--out", "o"],
            1,
            "harness: host '02:00:00:00:00:01:02': expected an Eth",
        ),
        (["split", "none.pcap", "--out", "o"], 1, 'harness: cannot read packets from "none.pcap": No such file or directory'),
        (["theory", "0"], 2, 'argument payload: "0" is not in the range 1 to 1472'),
        (["theory", "1473"], 2, 'argument payload: "1473" is not in the range 1 to 1472'),
        (["theory", "18", "--rate", "0 b/s"], 2, 'argument --rate: "0 b/s" is not more than 0'),
        (["theory", "18", "--rate", "1e9"], 2, 'argument --rate: "1e9" lacks its unit; a rate is a number and one of b/s, kb/s, Mb/s, Gb/s, B/s, kB/s, MB/s, GB/s'),
        (["theory", "18", "--rate", "nan"], 2, 'argument --rate: "nan" does not begin with a number; a rate is a number and one of b/s, kb/s, Mb/s, Gb/s, B/s, kB/s, MB/s, GB/s'),
        (["theory", "18", "--rate", "inf"], 2, 'argument --rate: "inf" does not begin with a number; a rate is a number and one of b/s, kb/s, Mb/s, Gb/s, B/s, kB/s, MB/s, GB/s'),
        (["theory", "18", "--rate", "fast"], 2, 'argument --rate: "fast" does not begin with a number; a rate is a number and one of b/s, kb/s, Mb/s, Gb/s, B/s, kB/s, MB/s, GB/s'),
        (["check", TCP, TCP, "--drops", "-1"], 2, 'argument --drops: "-1" is negative'),
        (["check", TCP, TCP, "--resent", "few"], 2, 'argument --resent: "few" is not a whole number'),
        (["study", "s.toml", "--jobs", "0"], 2, 'argument --jobs: "0" is less than 1'),
        (["divergence", "'x y", "z"], 1, "harness: \"'x y\": no closing quotation"),
        (["divergence", "x", ""], 1, 'harness: "": it is empty; it names a simulator'),
        (["traffic", "--out", "o", "--ratio", "0:0"], 1, "harness: ratio '0:0': expected sends:receives"),
        (["conversations", "--out", "o", "--request", "0"], 1, "harness: request 0: at least 1 is needed"),
    ], 4),
    ids=lambda value: (
        " ".join(map(str, value[1:] if value[0] != "split" else value[2:])) if isinstance(value, list) else ""
    ),
)
def test_wrong_command_lines(arguments: list, status: int, says: str, tmp_path: Path) -> None:
    done = harness(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr.splitlines()[-1], done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[..., tuple[int, str, str]]:
    """here(arguments): a command in this process, whose parts can be stood in for; its status and what it prints."""
    monkeypatch.setattr(command.process, "end_children_on_signals", lambda: None)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        status = command.main()
        return status, *capsys.readouterr()

    return call


def test_traffic_names_the_files_that_there_are(here: Callable, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("send.pcap", "receive.pcap", "descriptors.txt")]
    assert here("traffic", "--payload", 18, "--frames", 4, "--out", tmp_path) == (0, "".join(f"{f}\n" for f in files), "")
    assert [len(list(packets.read(file))) for file in files[:2]] == [2, 2]
    status, said, _ = here("traffic", "--payload", 18, "--frames", 4, "--ratio", "0:1", "--out", tmp_path / "one")
    assert (status, said.split()) == (0, [str(tmp_path / "one" / name) for name in ("receive.pcap", "descriptors.txt")])
    status, said, _ = here("conversations", "--count", 1, "--exchanges", 1, "--request", 1, "--response", 1, "--out", tmp_path)
    assert (status, said.split()) == (0, [str(file) for file in files[:2]])


def test_check_says_what_is_wrong(here: Callable, tmp_path: Path) -> None:
    frames = list(packets.read(TCP))
    packets.write(tmp_path / "found.pcap", [frames[0], frames[0], *frames[1:]])
    count = len(frames)
    assert here("check", TCP, tmp_path / "found.pcap", "--build", BUILD) == (
        1, "frame 2 came out more often than it went in (frame 1 of the input)\n"
        f"{count} in, {count + 1} out; 0 missing (0 allowed), 1 duplicated, 0 reordered, 0 damaged\n", "",
    )  # fmt: skip


@pytest.mark.parametrize(("more", "protocol"), [([], "udp"), (["--tcp"], "tcp")])
def test_capture(here: Callable, monkeypatch: pytest.MonkeyPatch, more: list, protocol: str) -> None:
    asked = []
    monkeypatch.setattr(capture, "capture", lambda out, kind: asked.append((out, kind)) or 7)
    assert here("capture", "a.pcap", *more) == (0, "a.pcap: 7 frames\n", "")
    assert asked == [(Path("a.pcap"), protocol)]


def test_capture_needs_root(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    assert here("capture", "a.pcap") == (1, "", "harness: a capture needs root, for its network namespaces\n")


def test_cost(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    one, asked = cost.Cost("cpu", "send", dict(instructions=100, scratchpad=5, memory=2, registers=0)), []
    monkeypatch.setattr(compiler, "lss", lambda build, *words: asked.append([str(word) for word in words[4:]]))
    monkeypatch.setattr(cost, "per_frame", lambda simulator, elf, arguments: asked.append(arguments) or [one])
    assert here("cost", "m.lss", "f.elf", "-D", "a=1", "-I", "parts", "--", "--payload", "18", "--") == (0, cost.as_text([one]) + "\n", "")
    assert asked == [["-D", "a=1", "-I", "parts", "--record", "profile"], ["--payload", "18", "--"]]
    status, said, _ = here("cost", "m.lss", "f.elf", "--json")
    assert status == 0 and json.loads(said) == cost.as_records([one]) and asked[2:] == [["--record", "profile"], []]

    def fail(*arguments: object) -> None:
        raise RunError("it broke")

    monkeypatch.setattr(cost, "per_frame", fail)
    assert here("cost", "m.lss", "f.elf") == (1, "", "harness: it broke\n")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(2, "No such file", "x.toml"), "harness: x.toml: No such file"),
        (OSError("dot: syntax error"), "harness: dot: syntax error"),
        (ModuleNotFoundError("", name="dask"), "harness: this Python has no dask: run `make deps`, then build/venv/bin/python -m harness"),
    ],
)
def test_what_a_command_lacks(here: Callable, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str) -> None:
    def fail(options: object) -> int:
        raise error

    monkeypatch.setattr(study_command, "several", fail)
    assert here("studies", "--text", "text.md") == (1, "", f"{says}\n")


def test_an_installed_kit_says_how_its_packages_come(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "KIT", tmp_path / "share/spinach")
    assert command._without("rich") == "spinach: this Python has no rich: run `spinach packages`, which fetches what is missing"


def test_packages_are_not_fetched_by_python(here: Callable) -> None:
    status, _, says = here("packages")
    assert status == 1 and says.startswith("harness: ") and says.endswith(" has its packages; an installed kit fetches them by `spinach packages`\n")


def test_firmware_reads_its_own_command_line(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firmware, "main", lambda: (print(sys.argv[1:]), 5)[1])
    assert here("firmware", "folder", "--out", "x") == (5, "['folder', '--out', 'x']\n", "")


def test_an_interrupted_study_ends_its_simulators(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    ended = []

    def interrupted(options: object, progress: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(study_command.process, "end_children", lambda: ended.append(True))
    monkeypatch.setattr(study_command, "_one", interrupted)
    assert study_command.one(None) == 130 and ended == [True]
    assert capsys.readouterr().err == "harness: interrupted; what was finished is kept\n"


def test_help_calls_the_command_as_it_was_called(root: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "SPINACH_PYTHON": sys.executable}
    done = subprocess.run([root / "harness/spinach", "--help"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.startswith("usage: spinach [-h]")
    done = subprocess.run([sys.executable, "-m", "harness", "--help"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: python -m harness [-h]")


def test_what_no_check_foresaw_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(options: object) -> int:
        raise ValueError("a value\nof two lines")

    monkeypatch.setattr(command, "_study", fail)
    monkeypatch.setattr(sys, "argv", ["harness", "study", "s.toml"])
    assert command.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("harness: internal error: ValueError: a value of two lines (test_command.py:") and said.count("\n") == 1
