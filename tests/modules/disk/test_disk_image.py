"""disk_image: sectors of a file, copied on write; what is written out at the end; checkpoints; files that are none."""

import random
import resource
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.modules.harness import Bench, read_items
from tests.modules.mips import BundleDevice, struct
from tests.sample import seldom

IMPORTS = "import disk_types;\n"
PORTS = {
    "in.request": ("in", 1, "disk_request"), "in.data": ("in", 1, "disk_sector"),
    "in.reply": ("out", 1, "disk_reply"), "in.sectors": ("out", 1, "uint64"),
}  # fmt: skip
QUIET = {"in_request_source[0].count": 0, "in_data_source[0].count": 0}


def image(bench: Bench, body: str = "capacity = 8 KiB;") -> BundleDevice:
    return BundleDevice(bench, "disk_image", PORTS, body, before=IMPORTS)


def request(op: str, sector: int = 0, count: int = 1, tag: int = 0) -> str:
    return struct(op=op, tag=tag, sector=sector, count=count)


def number(data: bytes) -> str:
    return hex(int.from_bytes(data, "little"))


def sector(data: bytes, abandon: bool = False) -> str:
    return struct(abandon=abandon, bytes=number(data))


def reply(data: bytes = b"", tag: int = 0, last: bool = True, error: bool = False) -> str:
    return struct(tag=tag, last=last, error=error, bytes=number(data))


def content(seed: int, sectors: int) -> bytes:
    return random.Random(seed).randbytes(512 * sectors)


def part(data: bytes, first: int) -> bytes:
    return data[512 * first : 512 * (first + 1)]


def test_reads_and_writes(bench: Bench, tmp_path: Path) -> None:
    """A read begins in the next cycle and waits for who takes it; a write is replied to behind its last sector; one request at a time."""
    held = content(1, 4)
    (tmp_path / "disk").write_bytes(held)
    new = [b"new 0" + bytes(507), b"new 1" + bytes(507)]
    ran = image(bench).check_table(
        f"""
        in_request | in_data | in_reply | in_reply.ack | in_request.ack | in_data.ack | in_sectors
        {request("read", 1, 2, tag=7)} | . | . | 1 | 1 | 0 | 4
        {request("write", 2, 2, tag=8)} | . | {reply(part(held, 1), 7, last=False)} | 0 | 0 | 0 | 4
        {request("write", 2, 2, tag=8)} | . | {reply(part(held, 1), 7, last=False)} | 1 | 0 | 0 | 4
        {request("write", 2, 2, tag=8)} | . | {reply(part(held, 2), 7)} | 1 | 0 | 0 | 4
        {request("write", 2, 2, tag=8)} | {sector(new[0])} | . | 1 | 1 | 0 | 4
        . | {sector(new[0])} | . | 1 | 0 | 1 | 4
        . | . | . | 1 | 0 | 1 | 4
        . | {sector(new[1])} | . | 1 | 0 | 1 | 4
        . | . | {reply(tag=8)} | 0 | 0 | 0 | 4
        {request("flush", tag=9)} | . | {reply(tag=8)} | 1 | 0 | 0 | 4
        {request("flush", tag=9)} | . | . | 1 | 1 | 0 | 4
        {request("read", 2)} | . | {reply(tag=9)} | 1 | 0 | 0 | 4
        {request("read", 2)} | . | . | 1 | 1 | 0 | 4
        . | . | {reply(new[0])} | 1 | 0 | 0 | 4
        . | . | . | 1 | 1 | 0 | 4
        """,
        {"dut.image": tmp_path / "disk"},
    )
    assert ran.counted("dut") == {"sectors_read": 3, "sectors_written": 2, "sectors_changed": 2}
    assert (tmp_path / "disk").read_bytes() == held


@seldom
def test_what_is_beyond_the_end(bench: Bench) -> None:
    """Without a file it is `capacity` of zeros; an error is the one reply, to a write behind its sectors, and nothing is written."""
    ran = image(bench, "capacity = 1 KiB;").check_table(
        f"""
        in_request | in_data | in_reply | in_sectors
        {request("read", 2)} | . | . | 2
        . | . | {reply(error=True)} | 2
        {request("read", 1, 2)} | . | . | 2
        . | . | {reply(error=True)} | 2
        {request("read", 2**64 - 1, 2)} | . | . | 2
        . | . | {reply(error=True)} | 2
        {request("write", 1, 2)} | . | . | 2
        . | {sector(b"x" * 512)} | . | 2
        . | {sector(b"x" * 512)} | . | 2
        . | . | {reply(error=True)} | 2
        {request("write", 0, 2)} | . | . | 2
        . | {sector(b"y" * 512)} | . | 2
        . | {sector(b"y" * 512, abandon=True)} | . | 2
        . | . | {reply(error=True)} | 2
        {request("read", 0, 2)} | . | . | 2
        . | . | {reply(b"y" * 512, last=False)} | 2
        . | . | {reply(bytes(512))} | 2
        {request("read", 0, 0)} | . | . | 2
        . | . | {reply(error=True)} | 2
        """
    )
    assert ran.counted("dut") == {"refused": 5, "sectors_read": 2, "sectors_written": 1, "sectors_changed": 1}


def test_what_is_no_image(bench: Bench, tmp_path: Path) -> None:
    device = image(bench)
    file = tmp_path / "disk"

    def told(settings: dict[str, object]) -> str:
        return bench.run(device.simulator, 10, QUIET | settings, ok=False).err

    assert f'cannot read "{file}"' in told({"dut.image": file})
    assert "it is a folder" in told({"dut.image": tmp_path})
    for size, why in ((0, "not 0 bytes"), (700, "the size of an image must be a multiple of 512 bytes, not 700 bytes"), (8704, "8704 bytes do not fit: this disk was built for 8192")):
        file.write_bytes(bytes(size))
        assert why in told({"dut.image": file})
    file.write_bytes(bytes(512))
    assert "for dut.commit: dut.image reads it too" in told({"dut.image": file, "dut.commit": file})
    assert "cannot write" in told({"dut.commit": tmp_path / "absent" / "out"})
    assert "the capacity of a disk must be a multiple of 512 bytes, not 700 B" in bench.refuse("import disk_types; instance i : disk_image { capacity = 700 B; };")


@pytest.mark.parametrize("sectors", [16, 512])
def test_what_cannot_be_written_out(bench: Bench, sectors: int, tmp_path: Path) -> None:
    """Where there is no room, one line says so, and what was there before stays as it was; nothing is left beside it, and the image is as before."""
    device = image(bench, "capacity = 1 MiB;")
    (tmp_path / "disk").write_bytes(content(1, sectors))
    (tmp_path / "after").write_bytes(b"of an earlier run")
    files = ["--set", "dut.image=disk", *(word for name, value in QUIET.items() for word in ("--set", f"{name}={value}"))]

    def told(commit: str, room: int = resource.RLIM_INFINITY) -> str:
        # A limit on the size of files is what a full disk is, but for the word for it.
        limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
        command = [device.simulator, "--quiet", "--cycles", "5", *files, "--set", f"dut.commit={commit}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited, restore_signals=False)
        assert done.returncode == 1, done.stderr
        return done.stderr

    assert 'cannot write "after": File too large' in told("after", 512 * sectors - 1)
    assert 'cannot write "/dev/full": No space left on device' in told("/dev/full")
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["after", "disk"]
    assert (tmp_path / "after").read_bytes() == b"of an earlier run" and (tmp_path / "disk").read_bytes() == content(1, sectors)


def play(seed: int, sectors: int, steps: int) -> tuple[str, str, list[bytes], bytearray]:
    """Requests, the data of writes, what the replies must carry, and what is held in the end."""
    rng = random.Random(seed)
    held, requests, data, wanted = bytearray(content(seed, sectors)), [], [], []
    for tag in range(steps):
        count = rng.choice([1, 1, 2, 5])
        at = rng.randrange(sectors - count + 1)
        op = rng.choice(["read", "write", "write", "flush"])
        requests.append(f"0 {request(op, at, count, tag)}")
        if op == "read":
            wanted += [part(held, at + k) for k in range(count)]
            continue
        wanted.append(b"")
        for k in range(count if op == "write" else 0):
            held[512 * (at + k) : 512 * (at + k + 1)] = new = rng.randbytes(512)
            data.append(f"0 {sector(new)}")
    return "\n".join(requests) + "\n", "\n".join(data) + "\n", wanted, held


@pytest.mark.parametrize("seed", range(3))
def test_random_requests(bench: Bench, seed: int, tmp_path: Path) -> None:
    """Offered, cancelled and refused at random: every read sees the writes before it, the file stays, and what is written out is all of it."""
    requests, data, wanted, held = play(seed, 16, 60)
    (tmp_path / "disk").write_bytes(content(seed, 16))
    (tmp_path / "requests").write_text(requests)
    (tmp_path / "data").write_text(data)
    settings: dict[str, object] = {"in_request_source[0].script": tmp_path / "requests", "in_data_source[0].script": tmp_path / "data"}
    settings |= {f"in_{name}_source[0].{what}": 0.4 for name in ("request", "data") for what in ("offer", "cancel")}
    settings |= {"in_reply_sink[0].ready": 0.5, "in_reply_sink[0].record": "replies", "dut.image": tmp_path / "disk", "dut.commit": "after"}
    ran = bench.run(image(bench).simulator, 4000, settings, seed=seed + 1)
    replies = [dict(word.split("=") for word in item.strip("{}").split()) for _, item in read_items(ran.directory / "replies")]
    assert [int(one["bytes"], 0).to_bytes(512, "little") for one in replies] == [data.ljust(512, b"\0") for data in wanted], f"seed {seed}"
    assert not [one for one in replies if one["error"] == "true"], f"seed {seed}"
    assert (ran.directory / "after").read_bytes() == held, f"seed {seed}"
    assert (tmp_path / "disk").read_bytes() == content(seed, 16), f"seed {seed}"


@pytest.mark.parametrize("cycle", [3, 90, 1000])
def test_a_checkpoint_in_the_midst(bench: Bench, cycle: int, tmp_path: Path) -> None:
    """What was written goes on with the run, twice from one checkpoint; with another image there is no way on."""
    requests, data, _, held = play(5, 16, 60)
    (tmp_path / "disk").write_bytes(content(5, 16))
    (tmp_path / "requests").write_text(requests)
    (tmp_path / "data").write_text(data)
    simulator = image(bench).simulator

    def run(name: str, *words: str, status: int = 0) -> tuple[list[str], str]:
        files = ["--set", f"in_reply_sink[0].record={name}.replies", "--set", f"dut.commit={name}.after"]
        done = subprocess.run([simulator, "--quiet", *files, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return (tmp_path / f"{name}.replies").read_text().splitlines() if status == 0 else [], done.stderr

    start = ["--set", "dut.image=disk", "--set", "in_request_source[0].script=requests", "--set", "in_data_source[0].script=data", "--set", "in_reply_sink[0].ready=0.3"]
    whole, _ = run("whole", *start, "--cycles", "1500")
    first, _ = run("first", *start, "--cycles", str(cycle), "--checkpoint", "point")
    for name in ("rest", "again"):
        assert first + run(name, "--restore", "point", "--cycles", "1500")[0] == whole
        assert (tmp_path / f"{name}.after").read_bytes() == (tmp_path / "whole.after").read_bytes() == held
    (tmp_path / "disk").write_bytes(content(6, 16))
    assert "disk" in run("other", "--restore", "point", "--cycles", "1500", status=2)[1]


@pytest.mark.parametrize("size", [4, 15, 17])
def test_a_restored_disk_is_as_large_as_it_was(size: int, bench: Bench, tmp_path: Path) -> None:
    """Another image is taken if it has as many sectors; what was written stays."""
    for name, sectors in (("disk", 16), ("same", 16), ("other", size)):
        (tmp_path / name).write_bytes(content(len(name), sectors))
    simulator = image(bench, "capacity = 16 KiB;").simulator
    quiet = [word for name, value in QUIET.items() for word in ("--set", f"{name}={value}")]

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([simulator, "--quiet", *words], cwd=tmp_path, capture_output=True, text=True)

    assert run(*quiet, "--set", "dut.image=disk", "--cycles", "100", "--checkpoint", "point").returncode == 0
    assert run("--restore", "point", "--cycles", "200", "--set", "dut.image=same", "--set", "dut.commit=after").returncode == 0
    assert (tmp_path / "after").read_bytes() == (tmp_path / "same").read_bytes()
    done = run("--restore", "point", "--cycles", "200", "--set", "dut.image=other")
    wanted = f'dut: "other": the image has {512 * size} bytes, but the disk of this run has 8192 (give an image of that size)'
    assert done.returncode in (1, 2) and wanted in done.stderr and done.stderr.count("\n") == 1, done.stderr


@seldom
@pytest.mark.parametrize("size", [0, 52, 512, 8000, 8192])
def test_zeros_follow_a_file_where_the_disk_is_padded(size: int, bench: Bench, tmp_path: Path) -> None:
    held = random.Random(size).randbytes(size)
    (tmp_path / "disk").write_bytes(held)
    (tmp_path / "short").write_bytes(held[: size // 2])
    simulator = image(bench, "capacity = 8 KiB; padded = true;").simulator
    quiet = [word for name, value in QUIET.items() for word in ("--set", f"{name}={value}")]
    subprocess.run([simulator, "--quiet", *quiet, "--set", "dut.image=disk", "--set", "dut.commit=after", "--cycles", "9", "--checkpoint", "point"], cwd=tmp_path, check=True)
    assert (tmp_path / "after").read_bytes() == held + bytes(8192 - size)
    subprocess.run([simulator, "--quiet", "--restore", "point", "--set", "dut.image=short", "--cycles", "20"], cwd=tmp_path, check=True)
    assert (tmp_path / "after").read_bytes() == held[: size // 2] + bytes(8192 - size // 2)


USES = {  # what a run does before its checkpoint, and why a restored one cannot have another image then
    "nothing": ([], ""),
    "a look for partitions": ([request("read", 0, 8)], ""),
    "a read behind that": ([request("read", 0, 9)], "read"),
    "a read at the end": ([request("read", 15)], "read"),
    "a write": ([request("write", 0)], "written to"),
    "a read that fails": ([request("read", 16)], ""),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("before", ["disk", ""])
def test_a_used_disk_keeps_its_image(name: str, before: str, bench: Bench, tmp_path: Path) -> None:
    """What a guest has read of the old image is in its memory; a copy of that image has the same contents."""
    requests, used = USES[name]
    (tmp_path / "disk").write_bytes(content(1, 16))
    (tmp_path / "copy").write_bytes(content(1, 16))
    (tmp_path / "other").write_bytes(content(2, 16))
    (tmp_path / "requests").write_text("".join(f"0 {one}\n" for one in requests))
    (tmp_path / "data").write_text(f"0 {sector(b'new')}\n")
    simulator = image(bench).simulator
    sources = {"in_request_source[0].script": "requests", "in_data_source[0].script": "data"} if requests else QUIET
    given = [word for key, value in sources.items() for word in ("--set", f"{key}={value}")]

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([simulator, "--quiet", *words], cwd=tmp_path, capture_output=True, text=True)

    begun = run(*given, "--set", f"dut.image={before}", "--cycles", "100", "--checkpoint", "point")
    assert begun.returncode == 0, begun.stderr
    done = run("--restore", "point", "--cycles", "200", "--set", "dut.image=other", "--set", "dut.commit=after")
    if used:
        why = f'dut: "other": the run has already {used} this disk, so it cannot have another image (restore a checkpoint from before that)'
        assert done.returncode in (1, 2) and why in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "after").exists()
    else:
        assert done.returncode == 0 and (tmp_path / "after").read_bytes() == content(2, 16), done.stderr
    if before:
        copied = run("--restore", "point", "--cycles", "200", "--set", "dut.image=copy")
        assert copied.returncode == 0, copied.stderr
        taken = run("--restore", "point", "--cycles", "200", "--set", "dut.image=")
        assert (taken.returncode != 0) == bool(used), taken.stderr
