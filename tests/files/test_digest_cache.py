"""Digests of large inputs come from the user's cache when a file is as it was; one that has changed, however secretly, has its own.
A forged entry shows whether it is used."""

import hashlib
import os
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
SETTLED = 2.2  # seconds after which a digest is kept
FORGED = "ab" * 32


def whole(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture(params=["bytes", "blocks"])
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


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*.digest"))


def test_a_file_is_read_once(digest, tmp_path: Path) -> None:
    """Not while it is new; then until anything about it has changed."""
    said, right = digest()
    assert said == right and entries(tmp_path) == []
    time.sleep(SETTLED)
    assert digest() == (right, right)
    [entry] = entries(tmp_path)
    assert entry.read_text() == right
    entry.write_text(FORGED)
    assert digest() == (FORGED, right)
    # The same size and time of the contents: the kernel has noted the change all the same.
    file, before = tmp_path / "large", (tmp_path / "large").stat()
    with file.open("r+b") as changed:
        changed.write(b"other bytes")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    said, other = digest()
    assert said == other != right


def test_a_cache_that_is_of_no_use(digest, tmp_path: Path) -> None:
    """A broken entry, or no folder: the file is read."""
    time.sleep(SETTLED)
    said, right = digest()
    [entry] = entries(tmp_path)
    for broken in ("", FORGED[1:], FORGED + "0", FORGED.upper()):
        entry.write_text(broken)
        assert digest() == (right, right) and entry.read_text() == right
    for one in (tmp_path / "cache").iterdir():
        one.unlink()
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_text("a file")
    assert said == right and digest() == (right, right) and (tmp_path / "cache").read_text() == "a file"
