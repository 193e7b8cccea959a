"""Digests of large inputs come from the user's cache when a file is as it was; one that has changed, however secretly, has its own.
A forged entry shows whether it is used."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.run.store import blocks_digest

MEMORY = """
import memory_types;
instance memory : memory_state { size = 2 MiB; };
instance reader : memory_source;
reader.memory -> memory.port;
"""
DISK = """
import disk_types;
instance disk : disk_image { capacity = 2 MiB; };
instance requests : source { count = 0; };
instance data : source { count = 0; };
instance replies : sink;
instance sectors : sink;
requests.out -> disk.in.request;
data.out -> disk.in.data;
disk.in.reply -> replies.in;
disk.in.sectors -> sectors.in;
"""
FORGED = "ab" * 32


def whole(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def digest(request: pytest.FixtureRequest, build_sim, run_sim, tmp_path: Path, monkeypatch) -> Callable[[], tuple[str, str]]:
    """digest(): the digest that a run says its input has, and the right one; of all bytes, or of an image's blocks."""
    monkeypatch.setenv("LSS_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "large"
    file.write_bytes(os.urandom(2 << 20))
    of_bytes = request.param == "bytes"
    simulator, right = (build_sim(MEMORY), whole) if of_bytes else (build_sim(DISK), blocks_digest)
    given = ["--set", f"{'memory' if of_bytes else 'disk'}.image={file}"]

    def run() -> tuple[str, str]:
        done = run_sim(simulator, "--quiet", "--cycles", 2, *given)
        [found] = [one for one in done.stats["manifest"]["inputs"] if one["file"] == str(file)]
        return found["sha256" if of_bytes else "blocks_sha256"], right(file)

    return run


def entry(tmp_path: Path, file: Path, kind: str) -> Path:
    """Where the digest of a file is kept as it is now."""
    at = file.stat()
    times = " ".join(f"{time // 10**9}.{time % 10**9:09}" for time in (at.st_mtime_ns, at.st_ctime_ns))
    key = f"{kind} {at.st_dev} {at.st_ino} {at.st_size} {times}"
    return tmp_path / "cache" / f"{hashlib.sha1(key.encode()).hexdigest()}.digest"


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*.digest"))


@pytest.mark.parametrize("digest", ["bytes", "blocks"], indirect=True)
def test_a_digest_counts_until_the_file_changes(digest, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """That of a file which may change without another time is not kept."""
    file, kind = tmp_path / "large", request.node.callspec.params["digest"]
    said, right = digest()
    assert said == right and entries(tmp_path) == []
    (tmp_path / "cache").mkdir(exist_ok=True)
    entry(tmp_path, file, kind).write_text(FORGED)
    assert digest() == (FORGED, right)
    # The same size and time of the contents: the kernel has noted the change all the same.
    before = file.stat()
    with file.open("r+b") as changed:
        changed.write(b"other bytes")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    said, other = digest()
    assert said == other != right


@pytest.mark.parametrize("digest", ["bytes", "blocks"], indirect=True)
def test_a_cache_that_is_of_no_use(digest, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A broken entry, or no folder: the file is read."""
    file, kind = tmp_path / "large", request.node.callspec.params["digest"]
    (tmp_path / "cache").mkdir(exist_ok=True)
    for broken in ("", FORGED[1:], FORGED + "0", FORGED.upper()):
        entry(tmp_path, file, kind).write_text(broken)
        said, right = digest()
        assert said == right
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file")
    assert digest() == (right, right) and (tmp_path / "cache").read_text() == "a file"


def test_a_file_of_long_ago_is_read_once(build_sim, run_sim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSS_CACHE", str(tmp_path / "cache"))
    libraries = sorted(Path("/usr/lib").glob("*/libc.a"))  # large, older than a minute, and no program
    file = next((one for one in libraries if one.stat().st_size > 1 << 20 and time.time() - one.stat().st_ctime > 100), None)
    if file is None:
        pytest.skip("there is no libc.a of long ago")
    simulator = build_sim(MEMORY.replace("2 MiB", "64 MiB"))
    run_sim(simulator, "--quiet", "--cycles", 2, "--set", f"memory.image={file}")
    [kept] = entries(tmp_path)
    assert kept == entry(tmp_path, file, "bytes") and kept.read_text() == whole(file)
