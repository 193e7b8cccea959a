"""disk_image: disks of gigabytes and terabytes, of which only what is used takes room and time."""

import os
import resource
import subprocess
from functools import partial
from pathlib import Path

import pytest

from harness.run.store import blocks_digest
from tests.modules.disk.test_disk_image import QUIET, image, reply, request, sector
from tests.modules.harness import Bench

GIB, TIB = 1 << 30, 1 << 40


def sparse(file: Path, size: int, **data: bytes) -> None:
    """A file of zeros with some bytes at places: at_PLACE=bytes."""
    with file.open("wb") as made:
        for name, held in data.items():
            os.pwrite(made.fileno(), held, int(name.removeprefix("at_")))
        os.truncate(made.fileno(), size)


@pytest.mark.parametrize("capacity", [3 * GIB, 2 * TIB])
def test_the_last_sector(capacity: int, bench: Bench) -> None:
    """It is written and read as any other, and what is past it is an error; a checkpoint is small."""
    last, new = capacity // 512 - 1, b"at the end" * 51
    held = image(bench, f"capacity = {capacity} B;").check_table(
        f"""
        in_request | in_data | in_reply | in_sectors
        {request("read", last)} | . | . | {last + 1}
        . | . | {reply(bytes(512))} | {last + 1}
        {request("write", last)} | . | . | {last + 1}
        . | {sector(new)} | . | {last + 1}
        . | . | {reply()} | {last + 1}
        {request("read", last)} | . | . | {last + 1}
        . | . | {reply(new)} | {last + 1}
        {request("read", last - 1)} | . | . | {last + 1}
        . | . | {reply(bytes(512))} | {last + 1}
        {request("read", last, 2)} | . | . | {last + 1}
        . | . | {reply(error=True)} | {last + 1}
        {request("write", last + 1)} | . | . | {last + 1}
        . | {sector(new)} | . | {last + 1}
        . | . | {reply(error=True)} | {last + 1}
        """
    )
    assert held.counted("dut") == {"refused": 2, "sectors_read": 3, "sectors_written": 1, "sectors_changed": 1}


def test_a_large_image(bench: Bench, tmp_path: Path) -> None:
    """100 GiB with data at both ends: there at once; a checkpoint holds what was written, and what is written out is sparse, too."""
    size, new = 100 * GIB, b"new" * 170 + b"\0\0"
    last = size // 512 - 1
    sparse(tmp_path / "disk", size, at_0=b"begin" * 1000, **{f"at_{size - 700}": b"end"})
    (tmp_path / "requests").write_text(
        f"0 {request('write', last - 8)}\n0 {request('read', last - 8)}\n0 {request('read', last - 1)}\n"
    )
    (tmp_path / "data").write_text(f"0 {sector(new)}\n")
    simulator = image(bench, "capacity = 200 GiB; written = 1 MiB;").simulator

    def run(*words: str) -> None:
        limited = partial(resource.setrlimit, resource.RLIMIT_DATA, (GIB, GIB))  # of which most is only reserved
        subprocess.run([simulator, "--quiet", *words], cwd=tmp_path, check=True, preexec_fn=limited)

    start = [
        "--set",
        "dut.image=disk",
        "--set",
        "in_request_source[0].script=requests",
        "--set",
        "in_data_source[0].script=data",
        "--set",
        "in_reply_sink[0].record=replies",
    ]
    run(*start, "--cycles", "30", "--checkpoint", "point", "--stats", "stats.json")
    assert (tmp_path / "point").stat().st_size < 10_000
    replies = (tmp_path / "replies").read_text()
    assert hex(int.from_bytes(new, "little"))[2:] in replies and hex(int.from_bytes(b"end", "little"))[2:] in replies
    assert f'"blocks_sha256": "{blocks_digest(tmp_path / "disk")}"' in (tmp_path / "stats.json").read_text()
    run("--restore", "point", "--cycles", "40", "--set", "dut.commit=after")
    after = tmp_path / "after"
    assert after.stat().st_size == size and after.stat().st_blocks * 512 < 1_000_000
    with (tmp_path / "disk").open("r+b") as before:
        os.pwrite(before.fileno(), new, 512 * (last - 8))
    assert blocks_digest(after) == blocks_digest(tmp_path / "disk")
    with after.open("rb") as written:
        assert os.pread(written.fileno(), 5000, 0) == b"begin" * 1000 and os.pread(
            written.fileno(), 700, size - 700
        ) == b"end" + bytes(697)
    done = subprocess.run(
        [simulator, "--quiet", "--restore", "point", "--cycles", "50"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and 'the run read "disk", which has changed since' in done.stderr


def test_what_a_run_cannot_keep(bench: Bench, tmp_path: Path) -> None:
    """One block more than there is room for ends the run with a line, and so does an image that is too large."""
    device = image(bench, "capacity = 3 GiB; written = 8 KiB;")
    (tmp_path / "requests").write_text("".join(f"0 {request('write', at)}\n" for at in (0, 7, 800, 801, 8000)))
    (tmp_path / "data").write_text(f"0 {sector(b'x')}\n" * 5)
    scripts = {"in_request_source[0].script": tmp_path / "requests", "in_data_source[0].script": tmp_path / "data"}
    ran = bench.run(device.simulator, 40, scripts, ok=False)
    assert (
        "dut: the run wrote to more than 8192 bytes of the disk's blocks: build it with a larger `written`"
        in ran.err
    )
    sparse(tmp_path / "large", 3 * GIB + 512)
    assert (
        "3221225984 bytes do not fit: this disk was built for 3221225472"
        in bench.run(device.simulator, 5, QUIET | {"dut.image": tmp_path / "large"}, ok=False).err
    )
    told = bench.refuse("import disk_types; instance i : disk_image { capacity = 5 TiB; };")
    assert "5 TiB" in told and "4 TiB" in told, told


def test_blocks_are_what_both_hash(tmp_path: Path) -> None:
    """The digest does not depend on where a file has holes."""
    held = b"\1" + bytes(8191) + b"\2" * 5000 + bytes(100_000)
    sparse(tmp_path / "sparse", len(held), at_0=b"\1", at_8192=b"\2" * 5000)
    (tmp_path / "dense").write_bytes(held)
    assert blocks_digest(tmp_path / "sparse") == blocks_digest(tmp_path / "dense")
    (tmp_path / "dense").write_bytes(held + b"\0")
    assert blocks_digest(tmp_path / "sparse") != blocks_digest(tmp_path / "dense")
