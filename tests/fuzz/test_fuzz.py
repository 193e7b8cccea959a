"""Hostile input: each reader of files is fuzzed from good and bad seeds: for a moment in `make test`, and for minutes with sanitizers
in the soak, where what a seed reaches leads the fuzzer on.

A finding is kept under build/fuzz/findings/ and its path printed; put it into tests/fuzz/found/ once it is repaired,
where every run tries it first.
"""

import hashlib
import json
import os
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.net import packets, traffic
from tests.kits import Kit
from tests.sample import sampled
from tests.tree import found

HERE = Path(__file__).parent
SECONDS = {"quick": 1, "soak": 300}
# name: longest input in bytes
TARGETS = {"text": 4096, "netlist": 2048, "packets": 4096, "frames": 2048, "messages": 4096, "program": 16384, "checkpoint": 16384, "trace": 1024, "links": 1024, "gdb": 512, "commands": 512}
# What gdb 13 and people ask of a simulator of two processors, a packet a line.
GDB = [
    "qSupported:multiprocess+;swbreak+;hwbreak+\nQStartNoAckMode\nvMustReplyEmpty\n!\nHgp0.0\nqXfer:features:read:target.xml:0,ffb\nqTStatus\n?\nqfThreadInfo\nqsThreadInfo\nqAttached:1\nHc-1\nvAttach;2\nqThreadExtraInfo,p2.1\nHgp1.1\ng\np25",
    "qSupported:multiprocess+\nvAttach;2\nHgp1.1\nZ0,1010,4\nHgp2.1\nZ1,ffffffff00001010,4\nvCont?\nvCont;c\nvCont;c:p1.1\nvCont;s:p2.1;c\nz0,1010,4\nbc\nbs\nbc",
    "Hgp1.1\nm1000,20\nM1004,4:01020304\nX1008,3:abc\nm1000,10\nP4=00000001\np4\nP25=00001020\nvCont;s:1\nG" + 24 * "0" + "\nD;1",
    "Z2,1008,4\nvCont;c\nbc\nz2,1008,4\nZ9,0,0\nc\ns\nbs\nTp3.1\nk\n",
    "Z3,1008,4\nZ4,1020,1\nc\nbc\nc\nz3,1008,4\nvCont;c:p1.1\nbc\nz4,1020,1",
    *(f"qRcmd,{command.encode().hex()}\nc\nc\nbc\nvCont;s:p1.1\nqRcmd,{b'break'.hex()}\nc" for command in ("break event(core[*].access)", "break event(core[1].access(address == 0x1008), 3)", "break core[0].pc == 0x1010")),
    *("qRcmd," + command.encode().hex() for command in ("help", "print core[0].memory[3..7]", "print /x core[1].pc", "set core[0].halt = true", "where", "statistics core[*]", "frames", "break core[0].retired >= 40", "nothing")),
    "$m1000,4#8e+$?#3f-$vCont;c#a8\x03$M1000,2:0102#8f",
]
# What a program asks of it by --interactive=json, a command a line.
COMMANDS = [
    "cycle 10\nstatus\nprint core[0].pc\nprint core[*].memory[3..7]\nstatistics\nquit\ncycle",
    "until 20 us\nstep\nstep 3 2\nwhere\nlist core[1]\nset core[0].halt = true\nrun\nhelp\nregisters",
    "\n  \ncycle 0\nstp\nuntil core[0].retired >= 40\nuntil cycles(clk) >= 50\nstatistics core[0].x\nset core[0].pc = \xff\0\nrun far",
]


def seeds(name: str, every: int, root: Path, build: Path, tmp_path: Path) -> list[bytes]:
    """What the fuzzer starts from; of very many files, each of so many."""
    if name in ("text", "netlist"):
        folders = ["modules", "tests/lang/bad", "examples"]
        return [path.read_bytes() for folder in folders for path in found(root / folder, "*.lss")][::every]
    if name == "messages":
        position = {"line": 1, "character": 2}
        params = {"textDocument": {"uri": "file:///x.lss"}, "position": position}
        bodies = [json.dumps({"id": n, "method": "textDocument/hover", "params": params}).encode() for n in (1, "a")]
        bodies += [b"{", b"[" * 100, b'"\xc3\xa9\xf0\x9f\x98\x80"']
        return [b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies]
    if name == "trace":
        retire = struct.pack("<HBIII", 0, 3, 0x100, 0x24020001, 1)
        happened = struct.pack("<HBI", 1, 0, 1) + bytes(36 + 16) + struct.pack("<fH", 0.5, 0x41)
        return [b"\0" + retire + happened, b"\1\x20\0\7" + 3 * retire, b"SPINTRCE" + bytes(48)]
    if name == "links":
        items = [struct.pack("<QQ12s4x", sent, sent + 2, b"item") for sent in (3, 3, 9)]
        start = b"SPINLINK" + struct.pack("<II64sQQQ4I", 1, 12, b"a" * 64, 100, 2, 0, 3, 5, 1, 1) + b"a.bint32ab" + bytes(6)
        end = struct.pack("<QQII240s", 3, 10, 0, 0, b"over")
        whole = start + b"".join(items) + end
        return [whole + hashlib.sha256(whole).digest(), b"\0\0" + b"".join(items), b"\1\1\14\0\1\10\0\12" + items[0], start]
    if name == "gdb":
        return [session.encode() for session in GDB]
    if name == "commands":
        return [session.encode("latin-1") for session in COMMANDS]
    if name == "packets":
        scratch = tmp_path / "seed.pcap"
        packets.write(scratch, traffic.stream_frames(traffic.Mix.parse("18-100"), 0, 3, 1))
        section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
        interface = struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20)
        packet = struct.pack("<IIIIIII", 6, 96, 0, 0, 1, 64, 64) + b"x" * 64 + struct.pack("<I", 96)
        return [scratch.read_bytes(), section + interface + packet]
    if name == "frames":
        record = b"frames 1 100 0\n< 0 00112233445566778899aabbccdd\n! 20\n> 30 ff\n"
        return [b"\0" + record, b"\1\0\0\0\x0e" + bytes(14) + b"\0\0\0\2ab", b"\2udp:1:localhost:2,no-wait", b"\2stream:[::1]:3", b"\2tap:tap0"]
    if name == "checkpoint":
        return [a_checkpoint(build, tmp_path).read_bytes()]
    return [path.read_bytes() for path in found(build / "bench", "*.elf")]


def a_checkpoint(build: Path, tmp_path: Path) -> Path:
    """Of a small machine that has all that a checkpoint may hold: files read and written, numbers, a seed."""
    machine = "instance s : source { offer = 0.5; count = 1000; };\ninstance k : sink { ready = 0.5; };\ns.out -> k.in : uint32;\n"
    (tmp_path / "m.lss").write_text(machine)
    (tmp_path / "script.txt").write_text("5 1\n900 2\n")
    subprocess.run([build / "bin" / "lss", "build", "-O0", "m.lss", "-o", "m"], cwd=tmp_path, check=True)
    given = ["--set", "s.script=script.txt", "--set", "k.record=record.txt"]
    subprocess.run(["./m", "--quiet", "--cycles", "300", *given, "--checkpoint", "point"], cwd=tmp_path, check=True)
    return tmp_path / "point"


@pytest.fixture
def fuzz(root: Path, kit: Kit, tmp_path: Path) -> Callable[[str, int], None]:
    """fuzz(name, seconds): runs one fuzzer, which is made first."""
    return lambda name, seconds: run(name, seconds, root, kit, tmp_path)


def run(name: str, seconds: int, root: Path, kit: Kit, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    every = 10 if seconds == SECONDS["quick"] else 1
    for number, content in enumerate(seeds(name, every, root, kit.build, tmp_path)):
        (corpus / f"{number:04}").write_bytes(content[: TARGETS[name]])
    findings = kit.build / "fuzz" / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    kept = HERE / "found"  # inputs that once broke something, if there are any
    broke = sorted(kept.glob(f"{name}-*"))
    program = kit.made(f"fuzz/fuzz_{name}")
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "SPINACH_HOME": str(root)}
    if broke:
        done = subprocess.run(["prlimit", f"--stack={64 << 20}", program, "-close_fd_mask=3", *broke], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
    # Frames are several times as large with sanitizers and without optimisation: what nests as deep as allowed needs room.
    command = ["prlimit", f"--stack={64 << 20}", program, f"-max_total_time={seconds}", f"-max_len={TARGETS[name]}", "-timeout=20", "-rss_limit_mb=1500"]
    if not kit.sanitized:
        command.append("-keep_seed=1")  # whose way through the readers is not counted, so that none looks new
    command += ["-close_fd_mask=3", "-verbosity=1", f"-artifact_prefix={findings}/{name}-", corpus]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, f"kept below {findings}\n{done.stderr[-6000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_some_seconds(name: str, fuzz: Callable[[str, int], None]) -> None:
    fuzz(name, SECONDS["quick"])


@pytest.mark.soak
@pytest.mark.parametrize("kit", ["sanitized"], indirect=True)
@pytest.mark.parametrize("name", TARGETS)
def test_minutes(name: str, fuzz: Callable[[str, int], None]) -> None:
    fuzz(name, SECONDS["soak"])


@pytest.mark.parametrize("flips", sampled([20_000, 100_000]))
def test_every_flipped_bit_of_a_checkpoint_is_found(flips: int, kit: Kit, tmp_path: Path) -> None:
    program = kit.made("fuzz/flip_checkpoint")
    command = [program, a_checkpoint(kit.build, tmp_path), str(flips), "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{flips}\n"), done.stdout + done.stderr[-4000:]


def test_headers_of_checkpoints_have_every_entry(kit: Kit, tmp_path: Path) -> None:
    """Of the type that it is read as; where a machine comes from is for people only."""
    program = kit.made("fuzz/header_checkpoint")
    done = subprocess.run([program, a_checkpoint(kit.build, tmp_path)], capture_output=True, text=True, check=True)
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    keys = [name.removeprefix("same ") for name in said if name.startswith("same ")]
    assert len(keys) > 12 and "format" in keys and all(said[f"same {key}"] == "taken" for key in keys)
    for key in keys:
        wanted = f"it is damaged: its header lacks `{key}`"
        assert [said[f"{how} {key}"] for how in ("without", "double")] == [wanted, wanted]
    assert re.fullmatch(r"it has format \d+, and this simulator reads \d+", said["newer format"])
