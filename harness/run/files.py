"""Files that are written whole or not at all: a full disk or a killed process leaves no half of one behind."""

import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Gives a file its new content in one step."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
