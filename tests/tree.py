"""Files of the tree by pattern, for rules that are to hold for all of them.

A rule about no files always holds, so a pattern that finds nothing is an error: what it was to find has been moved.
"""

import re
from pathlib import Path


def found(folder: Path, *patterns: str) -> list[Path]:
    """The files below `folder`, at any depth, whose names fit one of the patterns; each pattern must find some."""
    files: set[Path] = set()
    for pattern in patterns:
        fitting = set(folder.rglob(pattern))
        assert fitting, f"there is no {pattern} below {folder}: what this rule was for has been moved"
        files |= fitting
    return sorted(files)


def library_modules(root: Path) -> list[Path]:
    """The declarations of the library's modules, in whatever folder; the other files of the library declare types only."""
    return [path for path in found(root / "modules", "*.lss") if re.search(r"^module \w", path.read_text(), re.MULTILINE)]


def library_types(root: Path) -> list[Path]:
    """The files of the library that declare types, bundles, functions and constants only."""
    return sorted(set(found(root / "modules", "*.lss")) - set(library_modules(root)))
