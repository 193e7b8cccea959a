"""Records of links: one part runs alone from them, does what it did among the others, and says where it does not."""

import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.link.networks import HERE, ROOT, Built, alone, build, does_it_again, same_statistics, wait_for_parts

PARTS = ("node[0]", "node[1]", "node[2]", "other")
BREAKER = """
module breaker {
  runtime parameter breaks = 1000000 : int; runtime parameter crashes = 1000000 : int;
  inport in : uint32; outport out : uint32;
  state { uint32 kept; bool full; uint32 passed; }
  always in.ack; phase_start -> out.data, out.enable; phase_end;
}
"""
BREAKER_C = """
phase_start() { send_if(out, self->full, self->kept); }
phase_end() {
  if (transferred(out)) self->full = false;
  if (!transferred(in)) return;
  self->kept = data(in);
  self->full = true;
  if (++self->passed == param(breaks)) sim_error("it broke after %u items", (unsigned)self->passed);
  if (self->passed == param(crashes)) __builtin_trap();
}
"""


@pytest.fixture(scope="module")
def ring(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(build_dir, tmp_path_factory.mktemp("ring"), HERE / "token_ring.lss")


@pytest.fixture(scope="module")
def breaking(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The nodes of sources.lss, each of which may have an error or crash."""
    place = tmp_path_factory.mktemp("breaking")
    (place / "breaker.lss").write_text(BREAKER)
    (place / "breaker.c").write_text(BREAKER_C)
    text = (HERE / "sources.lss").read_text()
    text = text.replace("instance sink : sink on own;", "instance sink : sink on own;\n  instance breaker : breaker on own;")
    text = text.replace("source.out -> out;", "source.out -> breaker.in;\n  breaker.out -> out;")
    (place / "breaking.lss").write_text(text)
    return build(build_dir, place, place / "breaking.lss", "-I", place)


# ---- What is the same

@pytest.mark.parametrize("spin", ["0", "2000"])
def test_each_part_alone_does_what_it_did(ring: Built, spin: str) -> None:
    """With the words of the recorded run; and, without a bound, up to where that ended.  Records are repeatable."""
    words = ["--seed", "3", "--set", "node[1].source.count=2", "--sample", "20 us", "--measure-from", "cycles(other.own) >= 500"]
    for links in "first", "second":
        status, errors = ring.run("--time", "150 us", *words, "--record-links", links, SPINACH_LINK_SPIN=spin)
        assert status == 0, errors
    for path in (ring.place / "first").iterdir():
        assert path.read_bytes() == (ring.place / "second" / path.name).read_bytes()
    assert len(list((ring.place / "first").iterdir())) == 4
    for part in PARTS:
        does_it_again(ring, part, "first", "--time", "150 us", *words)
        does_it_again(ring, part, "first", *words)


ENDS = [["--until", "node[1].leaves.transfers >= 300"], ["--cycles", "other.own:3333"], ["--time", "33333 ns"]]


@pytest.mark.parametrize("end", ENDS)
def test_ends_of_the_recorded_run(ring: Built, end: list[str]) -> None:
    """Also those that another part has found, with or without the words."""
    assert ring.run(*end, "--record-links", "ends")[0] == 0
    for part in PARTS:
        does_it_again(ring, part, "ends")
        does_it_again(ring, part, "ends", *end)


def test_where_nothing_was_left_to_do(breaking: Built) -> None:
    assert breaking.run("--sample", "1 us", "--record-links", "idle")[0] == 0
    for part in "node[0]", "node[1]", "other":
        does_it_again(breaking, part, "idle", "--sample", "1 us")


def test_an_interrupted_run(ring: Built) -> None:
    launcher = ring.begin("--time", "1000 s", "--record-links", "stopped")
    wait_for_parts(launcher, 4)
    time.sleep(0.7)
    launcher.send_signal(signal.SIGINT)
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 130 and errors.startswith("interrupted after "), errors
    for part in PARTS:
        does_it_again(ring, part, "stopped")


def test_states_and_checkpoints(ring: Built) -> None:
    """--print shows what the part held; it may begin at a checkpoint of its own, and at one of all parts."""
    printed = ["--", "--print", "**"]
    assert ring.run("--time", "100 us", "--record-links", "states", "--checkpoint", "all.ckpt", *printed)[0] == 0
    for part in PARTS:
        status, said, _ = alone(ring, part, "states", *printed)
        assert status == 0 and said == (ring.place / "out" / part / "log.txt").read_text()
        assert len(said.splitlines()) > 20
    assert ring.run("--time", "200 us", "--restore", "all.ckpt", "--record-links", "later")[0] == 0
    for part in PARTS:
        does_it_again(ring, part, "later", "--restore", "all.ckpt")
        status, _, errors = alone(ring, part, "later", "--time", "1 us")
        assert status == 2 and "it is of the time from tick 30000 to 60000, and this run begins at tick 0" in errors, errors
    assert ring.run("--time", "200 us", "--record-links", "long")[0] == 0
    counted = {part: (ring.place / "out" / part / "statistics.json").read_text() for part in PARTS}
    for part in PARTS:
        assert alone(ring, part, "long", "--time", "77777 ns", "--checkpoint", "one.ckpt")[0] == 0
        for checkpoint in "one.ckpt", "all.ckpt":
            status, _, errors = alone(ring, part, "long", "--restore", checkpoint)
            assert status == 0, errors
            text = (ring.place / "alone" / part / "statistics.json").read_text()
            assert text[text.index('"run"') :] == counted[part][counted[part].index('"run"') :]


def test_an_error_of_a_part(breaking: Built) -> None:
    """The part has its error again; the others end as they did."""
    words, said = ["--set", "node[1].breaker.breaks=17"], "it broke after 17 items"
    status, errors = breaking.run(*words, "--record-links", "error")
    assert status == 1 and errors.startswith("harness: node[1]") and said in errors, errors
    status, _, errors = alone(breaking, "node[1]", "error", *words)
    assert status == 1 and said in errors and "recorded run" not in errors, errors
    status, _, errors = alone(breaking, "node[1]", "error")
    assert status == 1 and "the recorded run ended here with an error, which this run does not have: " in errors and said in errors, errors
    for part in "node[0]", "other":
        status, _, errors = alone(breaking, part, "error")
        assert status == 0 and "as in the recorded run" in errors, errors


def test_a_crash_of_a_part(breaking: Built) -> None:
    """The part has left no record, and crashes again; others lack what it sent."""
    words = ["--set", "node[1].breaker.crashes=17"]
    status, errors = breaking.run(*words, "--record-links", "crash")
    assert status == 1 and errors.startswith("harness: node[1]"), errors
    assert not (breaking.place / "crash/way[1].way.link").exists() and (breaking.place / "crash/way[0].way.link").exists()
    status, _, errors = alone(breaking, "node[1]", "crash", *words)
    assert status < 0 and "the items that node[1] sends are not compared" in errors and "Illegal instruction" in errors, errors
    status, _, errors = alone(breaking, "node[1]", "crash")
    assert status == 0 and "the items that node[1] sends are not compared" in errors and "as in the recorded run" not in errors, errors
    status, _, errors = alone(breaking, "other", "crash")
    assert status == 2 and errors.count("\n") == 1 and "there is no such record (node[1] writes it" in errors, errors


def test_commands_to_a_part_alone(ring: Built) -> None:
    """It goes on by commands, and is at the instant at which they end it."""
    assert ring.run("--time", "50 us", "--record-links", "commands")[0] == 0
    for commands, expected in (("until 12345 ns\ncheckpoint typed.ckpt\nquit\n", 12345), ("cycle 5\nrun\n", 50000)):
        command = [sys.executable, "-m", "harness", "network", ring.folder, "--run-dir", "alone", "--part", "other", "--replay-links", "commands", "--", "--interactive"]
        done = subprocess.run(command, cwd=ring.place, env=os.environ | {"PYTHONPATH": str(ROOT)}, input=commands, capture_output=True, text=True)
        run = json.loads((ring.place / "alone/other/statistics.json").read_text())["run"]
        assert done.returncode == 0 and abs(run["simulated_ns"] - expected) < 20 and run["until"], done.stderr
    assert same_statistics(ring, "other")
    does = alone(ring, "other", "commands", "--restore", "typed.ckpt")
    assert does[0] == 0, does


# ---- What differs

def test_the_first_difference_is_one_line(ring: Built) -> None:
    assert ring.run("--time", "50 us", "--record-links", "links")[0] == 0
    cases = {
        "count=2": "way[1].way: this is not the recorded run: node[1] sends nothing; the record has 2 at 150 ns (tick 45), which arrives at 650 ns (tick 195), as item 2",
        "count=4": "way[1].way: this is not the recorded run: node[1] sends 3 at 220 ns (tick 66), which arrives at 720 ns (tick 216); the record has 0 at 520 ns (tick 156), which arrives at 1020 ns (tick 306), as item 3",
    }
    for setting, expected in cases.items():
        status, _, errors = alone(ring, "node[1]", "links", "--set", f"node[1].source.{setting}")
        assert status == 1 and errors.count("\n") == 1 and errors.startswith(f"token_station-0: error: {expected}"), errors


def changed(path: Path, at: int, byte: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[at] ^= byte
    return bytes(content)


def test_wrong_records(ring: Built) -> None:
    """Truncated anywhere, changed anywhere, of another link or network, of another version: one line each."""
    assert ring.run("--time", "20 us", "--record-links", "good")[0] == 0
    good, file = ring.place / "good", ring.place / "bad" / "way[0].way.link"
    original, chance = (good / file.name).read_bytes(), random.Random(1)
    contents = {b"": "it is no record of a link", b"SPINLINK": "it is no record of a link", os.urandom(500): "it is no record of a link"}
    contents |= {original[: chance.randrange(20, len(original))]: "it is not whole" for _ in range(6)}
    contents |= {original + b"\0": "it is not whole", original[:-24]: "it is not whole"}
    contents |= {changed(good / file.name, 8, 2): "it has format 3, not 1 (record the run again)"}
    for place in [chance.randrange(160, len(original) - 304) for _ in range(6)] + [len(original) - 1, len(original) - 100, 20, 100]:
        contents[changed(good / file.name, place, 1 << chance.randrange(8))] = "it is damaged: its checksum is another one"
    other = bytearray(original)
    other[16:80] = b"f" * 64
    contents[bytes(other[:-32]) + hashlib.sha256(other[:-32]).digest()] = "it is of another network, or another build: its hash is ffff"
    late = bytearray(original)
    late[152:160] = b"\xff" * 8
    contents[bytes(late[:-32]) + hashlib.sha256(late[:-32]).digest()] = "item 0 has instants that no simulator writes"
    contents[(good / "way[1].way.link").read_bytes()] = "it is the record of the link way[1].way, not of way[0].way"
    for content, expected in contents.items():
        shutil.copytree(good, ring.place / "bad", dirs_exist_ok=True)
        file.write_bytes(content)
        for part in "node[0]", "node[1]":  # who sends, who receives
            status, _, errors = alone(ring, part, "bad")
            assert status == 2 and errors.count("\n") == 1 and errors.startswith(f'token_station-0: error: --replay-links: "bad/{file.name}": {expected}'), errors
    file.unlink()
    os.mkfifo(file)
    status, _, errors = alone(ring, "node[1]", "bad")
    assert status == 2 and errors.endswith("it is no ordinary file\n"), errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--part", "node[1]"], "--part lacks --replay-links DIR: one part runs without the others, from the records of a run"),
        (["--replay-links", "."], "--replay-links lacks --part PATH: one part runs without the others, from the records of a run"),
        (["--part", "node[9]", "--replay-links", "."], '--part: there is no part "node[9]" in token_ring.lss'),
        (["--part", "other", "--replay-links", "none"], "--replay-links none: there is no such folder"),
        (["--part", "other", "--replay-links", ".", "--record-links", "x"], "--record-links: it is for a run of all parts (leave it out with --replay-links)"),
        (["--whole", "--record-links", "x"], "--whole: the whole network has no links between parts (leave --record-links out)"),
        (["--part", "other", "--replay-links", ".", "--picture", "x.html"], "--picture: it is for a run of all parts (leave it out with --replay-links)"),
        (["--part", "other", "--replay-links", ".", "--", "--board", "x"], "--board: it is not for the parts of a network (leave it out)"),
        (["--record-links", "/proc/none"], None),
    ],
)
def test_wrong_options(ring: Built, words: list[str], expected: str | None) -> None:
    status, errors = ring.run(*words)
    assert status == 1 and errors.count("\n") == 1 and (expected is None or errors == f"harness: {expected}\n"), errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--kind", "node-0"], "lss build: --kind lacks --parts; `lss build --help` shows the usage\n"),
        (["--parts", "--kind", "node-7"], 'lss build: --kind: the network has no kind of parts "node-7"; `lss build --help` shows the usage\n'),
    ],
)
def test_wrong_kinds(build_dir: Path, tmp_path: Path, words: list[str], expected: str) -> None:
    command = [build_dir / "bin/lss", "build", HERE / "sources.lss", "-I", ROOT / "tests/engine/modules", *words, "-o", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr == expected and not (tmp_path / "out").exists(), done.stderr


# ---- Gateways

GATED = """
import ethernet_types;
part module outer {
  clock own = 125 MHz;
  outport out : uint32;
  inport in : uint32;
  instance silent : source on own { count = 0; };
  instance player : ethernet on own;
  instance waiting : queue on own { depth = 512; };
  instance outside : gateway on own;
  instance taker : sink on own;
  instance source : source on own { count = 40; interval = 3; };
  instance sink : sink on own;
  silent.out -> player.from_device;
  player.to_device -> waiting.in;
  waiting.out -> outside.from_device;
  outside.to_device -> taker.in;
  source.out -> out;
  in -> sink.in;
}
instance end[2] : outer;
instance way[2] : delivery { delay = 500 ns; slots = 64; };
end[0].out -> way[0].in;
way[0].out -> end[1].in;
end[1].out -> way[1].in;
way[1].out -> end[0].in;
"""


def test_gateways_of_parts(build_dir: Path, tmp_path: Path) -> None:
    """A session with a UDP port is repeated without it, by the part alone."""
    (tmp_path / "gated.lss").write_text(GATED)
    built = build(build_dir, tmp_path, tmp_path / "gated.lss")
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    words = ["--set", "end[1].player.payload=1000", "--set", "end[1].player.count=30", "--time", "1 ms"]
    launcher = built.begin(*words, "--gateway", f"end[1].outside=udp:{own}:127.0.0.1:{peer.getsockname()[1]}", "--record-links", "links")
    peer.settimeout(30)
    for _ in range(5):
        assert len(peer.recv(2000)) > 1000
        peer.sendto(bytes(range(100)), ("127.0.0.1", own))
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode == 0, errors
    entries = json.loads((tmp_path / "out/statistics.json").read_text())["statistics"]
    came = [one["value"] for one in entries if one["path"] == "end[1].outside" and one["name"] == "frames_sent"]
    assert came and came[0] > 0
    for part in "end[0]", "end[1]":
        status, _, errors = alone(built, part, "links", *words, "--gateway", "end[1].outside=udp:1:127.0.0.1:2")
        assert status == 0 and "all of them as in the recorded run" in errors, errors
        results = [(tmp_path / out / part / "statistics.json").read_text() for out in ("out", "alone")]
        assert results[0][results[0].index('"run"') :] == results[1][results[1].index('"run"') :]
    status, errors = built.run("--gateway", "end[7].outside=udp:1:127.0.0.1:2")
    assert status == 1 and errors == 'harness: --gateway: "end[7].outside" names nothing in any part of gated.lss\n'
    status, errors = built.run("--open")
    assert status == 1 and errors == "harness: --open lacks a gateway: --gateway PATH=PLACE\n"


# ---- Runs that do not end well

@pytest.mark.parametrize("runs", [3, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])])
def test_a_killed_part_leaves_no_record(ring: Built, runs: int) -> None:
    """Nor one of an earlier run: those who need it say so in one line."""
    chance = random.Random(runs)
    for _ in range(runs):
        assert ring.run("--time", "10 us", "--record-links", "killed")[0] == 0
        launcher = ring.begin("--time", "1000 s", "--record-links", "killed")
        parts = wait_for_parts(launcher, 4)
        time.sleep(0.5 * chance.random())
        os.kill(parts[2], signal.SIGKILL)
        _, errors = launcher.communicate(timeout=60)
        assert launcher.returncode == 1 and errors.endswith("was killed by signal 9\n"), errors
        names = {path.name for path in (ring.place / "killed").iterdir()}
        assert "way[2].way.link" not in names and all(name.endswith(".link") for name in names), names
        status, _, errors = alone(ring, "other", "killed")
        assert status == 2 and errors.count("\n") == 1 and "there is no such record (node[2] writes it" in errors, errors


def test_a_full_disk_is_one_line(ring: Built) -> None:
    script = "mount -t tmpfs -o size=64k tmpfs full && exec \"$@\""
    (ring.place / "full").mkdir()
    command = ["unshare", "-rm", "sh", "-c", script, "sh", sys.executable, "-m", "harness", "network", ring.folder, "--run-dir", "out", "--time", "2 ms", "--record-links", "full"]
    done = subprocess.run(command, cwd=ring.place, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=100)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert 'cannot write "full/way[' in done.stderr and done.stderr.endswith("No space left on device\n"), done.stderr
