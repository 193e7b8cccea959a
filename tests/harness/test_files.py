"""Files that are written whole or not at all."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.run import files


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    files.write(tmp_path / "page", "old")
    with pytest.raises(UnicodeEncodeError):
        files.write(tmp_path / "page", "new \udc80")
    assert (tmp_path / "page").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_what_a_name_leads_to_is_written(tmp_path: Path) -> None:
    """A symbolic link stays one, a file keeps its mode, and a pipe gets the text as it comes."""
    (tmp_path / "page").write_text("old")
    (tmp_path / "page").chmod(0o600)
    (tmp_path / "link").symlink_to("page")
    files.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "page").read_text() == "new"
    assert (tmp_path / "page").stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    files.write(tmp_path / "pipe", "through")
    assert os.read(reader, 100) == b"through" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_names_as_long_as_they_can_be(tmp_path: Path) -> None:
    for name in "n" * 255, "é" * 127, os.fsdecode(b"\xff" * 255):
        files.write(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"
    assert len(list(tmp_path.iterdir())) == 3


def test_threads_that_write_the_same_file(tmp_path: Path) -> None:
    """At the same time: each has begun before the first ends.  One of the contents is there then, whole."""
    begun = threading.Barrier(4)

    def write(letter: str) -> None:
        with files.replacing(tmp_path / "page") as file:
            begun.wait(30)
            file.write(100000 * letter.encode())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    text = (tmp_path / "page").read_text()
    assert text == 100000 * text[0] and len(list(tmp_path.iterdir())) == 1
