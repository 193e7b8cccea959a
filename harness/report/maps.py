"""Address maps in the READMEs of machines: tables of what `lss export` says, between two comments.

    <!-- map: host.lss -I ../tigon2 -D cards=[tigon2_slot] -->
    <!-- end of map -->

The first names a machine beside the README and how it is built.  The table has the regions of its `memory_map`, and RAM
from address 0 where a machine has a parameter `memory` and no region there; a second one has the interrupts of its
processors.  `make reference` writes them, and tests/docs/test_maps.py checks that they are up to date.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import quantity
from harness.run import compiler

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(<!-- map: (.*?) -->\n)(.*?)^(<!-- end of map -->)$", re.MULTILINE | re.DOTALL)


def pages(root: Path = ROOT) -> list[Path]:
    """The READMEs with a map."""
    return [page for page in sorted(root.glob("examples/*/README.md")) if BLOCK.search(page.read_text())]


def size(count: int) -> str:
    """A number of bytes with the largest unit of which it is a whole number."""
    unit = next(unit for unit in ("GiB", "MiB", "KiB", "B") if count % quantity.UNITS[unit].factor == 0)
    return f"{count // quantity.UNITS[unit].factor} {unit}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def regions(exported: dict[str, Any]) -> str:
    """The addresses of a machine, as its processors see them."""
    known = [{p["name"]: p["value"] for p in one["parameters"]} for one in exported["instances"]]
    entries = next(one["memory_map"] for one in known if one.get("memory_map"))
    if known[0].get("memory") and "ram" not in [entry["name"] for entry in entries]:
        entries = [{"name": "", "base": 0, "size": known[0]["memory"], "doc": "RAM"}, *entries]
    rows = [
        [f"{entry['base']:#010x}", size(entry["size"]), f"`{entry['name']}`" if entry["name"] else "", entry["doc"]]
        for entry in sorted(entries, key=lambda entry: entry["base"])
    ]
    return _table(["address", "size", "region", "what"], rows)


def interrupts(exported: dict[str, Any]) -> Iterator[list[str]]:
    """Which lines of a processor instances of the machine drive: the key, and the instance."""
    connections = exported["connections"]
    for lane in connections:
        if "to_key" not in lane or not lane["to"].endswith(".lines"):
            continue
        path = lane["from"].rpartition(".")[0]
        while before := [one for one in connections if one["to"] == f"{path}.in" and lane["type"] == one["type"]]:
            path = before[0]["from"].rpartition(".")[0]
        yield [f"`{lane['to_key']}`", f"`{path}`"]


def tables(exported: dict[str, Any]) -> str:
    """What is between the comments."""
    driven = sorted(interrupts(exported))
    return regions(exported) + ("\n\n" + _table(["interrupt", "of"], driven) if driven else "")


def filled(page: Path, build: Path) -> str:
    """The text of a README with its maps as the machines are now."""

    def fill(found: re.Match) -> str:
        machine, *options = shlex.split(found[2])
        pairs = zip(options[::2], options[1::2], strict=True)
        words = [one for flag, value in pairs for one in (flag, page.parent / value if flag == "-I" else value)]
        exported = json.loads(compiler.lss(build, "export", page.parent / machine, *words))
        return f"{found[1]}\n{tables(exported)}\n\n{found[4]}"

    return BLOCK.sub(fill, page.read_text())


if __name__ == "__main__":
    for one in pages():
        one.write_text(filled(one, Path(sys.argv[1])))
        print(one)
