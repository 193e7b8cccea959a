"""Packet files: every format that is read, one bad file for each error, and what is written."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import dpkt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.net.packets import Packet, PacketFileError, read, write
from tests import captures

FRAMES = [Packet(5, b"\x01" * 60), Packet(1_700_000_000_123_456_789, b"\x02" * 1514)]


def test_round_trip(tmp_path: Path, build_dir: Path) -> None:
    assert write(tmp_path / "a.pcap", FRAMES) == 2
    assert list(read(tmp_path / "a.pcap")) == FRAMES == list(read(tmp_path / "a.pcap", build_dir))


def test_written_file_is_what_another_reader_expects(tmp_path: Path) -> None:
    write(tmp_path / "a.pcap", FRAMES)
    with (tmp_path / "a.pcap").open("rb") as file:
        assert [data for _, data in dpkt.pcap.Reader(file)] == [packet.data for packet in FRAMES]


def test_what_is_written_is_what_the_compiler_writes(tmp_path: Path, build_dir: Path) -> None:
    write(tmp_path / "a.pcap", FRAMES)
    done = subprocess.run([build_dir / "bin/lss", "packets", tmp_path / "a.pcap"], capture_output=True, check=True)
    assert done.stdout == (tmp_path / "a.pcap").read_bytes()


@pytest.mark.parametrize("kind", captures.GOOD)
def test_formats(tmp_path: Path, build_dir: Path, kind: str) -> None:
    content, frames = captures.GOOD[kind]
    (tmp_path / "a").write_bytes(content)
    assert list(read(tmp_path / "a", build_dir)) == [Packet(*frame) for frame in frames]


def test_pcapng_of_another_writer(tmp_path: Path, build_dir: Path) -> None:
    with (tmp_path / "a.pcapng").open("wb") as file:
        dpkt.pcapng.Writer(file).writepkt(b"q" * 61, ts=1.5)
    assert list(read(tmp_path / "a.pcapng", build_dir)) == [Packet(1_500_000_000, b"q" * 61)]


@pytest.mark.parametrize("kind", captures.BAD)
def test_bad_files(tmp_path: Path, build_dir: Path, kind: str) -> None:
    content, told = captures.BAD[kind]
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(PacketFileError) as caught:
        read(tmp_path / "bad", build_dir)
    said = str(caught.value)
    assert f'"{tmp_path}/bad"' in said and said.endswith(told) and "\n" not in said


def test_missing_file(tmp_path: Path, build_dir: Path) -> None:
    for build in None, build_dir:
        with pytest.raises(PacketFileError, match=rf"{tmp_path}/none\"?: No such file"):
            read(tmp_path / "none", build)


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PacketFileError, match="there is no compiler"):
        read(tmp_path / "a", tmp_path)


@pytest.mark.parametrize("name", [b"-o", b"a b", b"\xff\xfe", "ä".encode(), b"new\nline", b"n" * 255])
def test_names_of_files(tmp_path: Path, build_dir: Path, monkeypatch: pytest.MonkeyPatch, name: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    write(os.fsdecode(name), FRAMES)
    assert list(read(os.fsdecode(name), build_dir)) == FRAMES


def test_pipes_that_the_shell_hands_over(tmp_path: Path, build_dir: Path, root: Path) -> None:
    write(tmp_path / "a.pcap", FRAMES)
    command = f'"{sys.executable}" -m harness check --build "{build_dir}" <(cat "{tmp_path}/a.pcap") /dev/stdin < "{tmp_path}/a.pcap"'
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("2 in, 2 out; 0 missing")


# ---- What this kit and simulators wrote, which needs no compiler.


@pytest.mark.parametrize("kind", ["pcapng <", "pcap <a1b2c3d4", "pcap >a1b23c4d", "an FCS"])
def test_other_formats_are_for_the_compiler(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a").write_bytes(captures.GOOD[kind][0])
    with pytest.raises(PacketFileError, match="this is no packet file as simulators write them"):
        read(tmp_path / "a")


def test_no_part_of_a_file_is_taken_for_all_of_it(tmp_path: Path) -> None:
    write(tmp_path / "a", FRAMES)
    whole = (tmp_path / "a").read_bytes()
    ends = {24: [], 24 + 16 + 60: FRAMES[:1], len(whole): FRAMES}
    for size in range(len(whole) + 1):
        (tmp_path / "a").write_bytes(whole[:size])
        if size in ends:
            assert list(read(tmp_path / "a")) == ends[size]
        else:
            with pytest.raises(PacketFileError, match="truncated at byte" if size > 24 else "no packet file"):
                list(read(tmp_path / "a"))


@settings(deadline=None)
@given(st.binary(max_size=400), st.sampled_from([b"", captures.HEADER]))
def test_no_bytes_crash_the_reader(tmp_path_factory, tail: bytes, head: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "fuzz"
    file.write_bytes(head.replace(b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") + tail)
    with contextlib.suppress(PacketFileError):
        list(read(file))


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def frames():
        yield FRAMES[0]
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError):
        write(tmp_path / "a.pcap", frames())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PacketFileError, match=f"^{tmp_path}/none/a.pcap: No such file or directory$"):
        write(tmp_path / "none" / "a.pcap", FRAMES)
