"""Packet files: a simulator and `lss packets` read the same of every capture, and refuse the same in the same words."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.net import packets
from tests import captures

COPIER = {
    "copier.lss": 'module copier {\n  runtime init parameter from = "" : string;\n  runtime init parameter to = "" : string;\n'
    "  runtime parameter numbered = false : bool;\n  state { stream in; stream out; }\n  init;\n  phase_end;\n}\n",
    "copier.c": "init() { packet_read_open(&self->in, param(from)); packet_write_open(&self->out, param(to)); }\n"
    "phase_end() {\n  uint8_t frame[262144]; uint32_t length; uint64_t stamp;\n"
    "  const uint64_t count = param(numbered) ? packet_count(&self->in) : 0;\n"
    "  for (uint64_t i = 0; i < count; i++) {\n    packet_at(&self->in, i, frame, sizeof frame, &length, &stamp);\n    packet_write(&self->out, frame, length, stamp);\n  }\n"
    "  if (!param(numbered)) while (packet_next(&self->in, frame, sizeof frame, &length, &stamp)) packet_write(&self->out, frame, length, stamp);\n}\n",
    "m.lss": "instance c : copier;\n",
}


@pytest.fixture(scope="module")
def copier(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulator that reads packets and writes them again."""
    folder = tmp_path_factory.mktemp("copier")
    for name, text in COPIER.items():
        (folder / name).write_text(text)
    subprocess.run([build_dir / "bin" / "lss", "build", "-O0", folder / "m.lss", "-o", folder / "sim"], check=True)
    return folder / "sim"


@pytest.mark.parametrize("kind", [*captures.GOOD, *(f"bad: {kind}" for kind in captures.BAD)])
def test_one_reader(copier: Path, lss, tmp_path: Path, kind: str) -> None:
    content, _ = captures.BAD[kind[5:]] if kind.startswith("bad: ") else captures.GOOD[kind]
    (tmp_path / "a").write_bytes(content)
    one = lss("packets", "a", "-o", "one", ok=None)
    for numbered in "false", "true":
        command = [copier, "--quiet", "--cycles", "1", "--set", "c.from=a", "--set", "c.to=other", "--set", f"c.numbered={numbered}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        said = re.sub(r"^sim: error: (c: )?", "", done.stderr)  # the simulator may add where it is
        assert said == one.err.removeprefix("lss packets: ") and done.returncode == one.status
        assert one.status or (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
        assert (tmp_path / "one").exists() == (tmp_path / "other").exists() == (not one.status)
        (tmp_path / "other").unlink(missing_ok=True)


def test_an_output_replaces_no_input(lss, tmp_path: Path) -> None:
    content = captures.pcap([b"x" * 60])
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").symlink_to("a")
    os.link(tmp_path / "a", tmp_path / "c")
    for name in "a", "./a", "b", "c":
        done = lss("packets", "a", "-o", name, ok=False)
        assert done.status == 2 and done.err.startswith(f'lss packets: cannot write "{name}" for -o: lss packets reads it too')
    assert (tmp_path / "a").read_bytes() == content


def test_what_cannot_be_written(lss, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(captures.pcap([b"x" * 60]))
    for name, why in ("/dev/full", "No space left on device"), ("none/b", "No such file or directory"), (".", "Is a directory"):
        done = lss("packets", "a", "-o", name, ok=False)
        assert (done.status, done.err) == (3, f'lss packets: cannot write "{name}": {why}\n')
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_terminal_gets_no_packets(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(captures.pcap([b"x" * 60]))
    main, other = os.openpty()
    command = [build_dir / "bin/lss", "packets", tmp_path / "a"]
    done = subprocess.run(command, stdout=other, stderr=subprocess.PIPE, text=True)
    os.close(main), os.close(other)
    assert done.returncode == 2 and "standard output is a terminal; -o names the file to write" in done.stderr


def test_a_pipe(build_dir: Path, tmp_path: Path) -> None:
    done = subprocess.run([build_dir / "bin/lss", "packets", "/dev/stdin"], input=captures.GOOD["pcapng <"][0], capture_output=True, check=True)
    (tmp_path / "a").write_bytes(done.stdout)
    assert [(one.time, one.data) for one in packets.read(tmp_path / "a")] == captures.GOOD["pcapng <"][1]
