"""The table of docs/memory_model.md, for the tests that assert what it says."""

from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/memory_model.md"
CORES = ("in order", "contexts", "wide")
SHAPES = ("SB", "MP", "LB", "IRIW", "CoRR")


@cache
def table() -> dict[tuple[str, str, bool], str]:
    """By kind of core, test and whether there is a `sync`: "allowed" or "forbidden"."""
    cells: dict[tuple[str, str, bool], str] = {}
    heads: list[str] = []
    for line in PAGE.read_text().splitlines():
        words = [word.strip() for word in line.strip("|").split("|")]
        if words[0] == "test":
            heads = words
        elif heads and words[0] in SHAPES:
            for head, word in zip(heads[2:], words[2:], strict=True):
                core, _, barrier = head.partition(", ")
                cells[core, words[0], bool(barrier)] = word
    return cells


def agree(core: str, shape: str, sync: bool, seen: int, shows: bool = True) -> None:
    """An outcome that was seen so often is allowed; one that is allowed was seen, where the test `shows` what is."""
    said = table()[core, shape, sync]
    assert seen == 0 or said == "allowed", f"{shape}, {core}, {'with' if sync else 'without'} sync: {seen} outcomes that docs/memory_model.md forbids"
    assert seen or said != "allowed" or not shows, f"{shape}, {core}: docs/memory_model.md allows an outcome that is not seen"
