"""Files that are written whole or not at all."""

from pathlib import Path

import pytest

from harness.run import files


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    files.write(tmp_path / "page", "old")
    with pytest.raises(UnicodeEncodeError):
        files.write(tmp_path / "page", "new \udc80")
    assert (tmp_path / "page").read_text() == "old" and len(list(tmp_path.iterdir())) == 1
