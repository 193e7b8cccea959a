"""The command line of the harness: what goes wrong is said in one line, and what it writes goes where it was told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.net import packets

ROOT = Path(__file__).resolve().parents[2]
TCP = ROOT / "examples/tigon2/traffic/tcp.pcap"


def harness(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


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
    done = harness("theory", 18, 1472, "--rate", "1e10", cwd=tmp_path)
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
    [
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
        (["split", "none.pcap", "--out", "o"], 1, "harness: none.pcap: No such file or directory"),
        (["theory", "0"], 2, "argument payload: '0': expected a whole number, 1 to 1472"),
        (["theory", "1473"], 2, "argument payload: '1473': expected a whole number, 1 to 1472"),
        (["theory", "18", "--rate", "0"], 2, "argument --rate: '0': expected bits per second, such as 1e9"),
        (["theory", "18", "--rate", "nan"], 2, "argument --rate: 'nan': expected bits per second, such as 1e9"),
        (["theory", "18", "--rate", "inf"], 2, "argument --rate: 'inf': expected bits per second, such as 1e9"),
        (["theory", "18", "--rate", "fast"], 2, "argument --rate: 'fast': expected bits per second, such as 1e9"),
        (["check", TCP, TCP, "--drops", "-1"], 2, "argument --drops: '-1': expected a whole number, 0 or more"),
        (["check", TCP, TCP, "--resent", "few"], 2, "argument --resent: 'few': expected a whole number, 0 or more"),
        (["study", "s.toml", "--jobs", "0"], 2, "argument --jobs: '0': expected a whole number, 1 or more"),
        (["traffic", "--out", "o", "--ratio", "0:0"], 1, "harness: ratio '0:0': expected sends:receives"),
        (["conversations", "--out", "o", "--request", "0"], 1, "harness: request 0: at least 1 is needed"),
    ],
    ids=lambda value: (
        " ".join(map(str, value[1:] if value[0] != "split" else value[2:])) if isinstance(value, list) else ""
    ),
)
def test_wrong_command_lines(arguments: list, status: int, says: str, tmp_path: Path) -> None:
    done = harness(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr.splitlines()[-1], done.stderr
    assert not list(tmp_path.iterdir())
