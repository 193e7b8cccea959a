"""The generator of headers, linker regions and register documentation, on small tables, good and bad."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = [{"name": "status", "offset": 8, "reset": 3, "access": "ro", "mask": 0xFF, "doc": "what | goes on"},
        {"name": "control", "offset": 0, "access": "rw", "doc": "go"}]  # fmt: skip
MAP = [{"name": "ram", "base": 0, "size": 4096, "doc": "all of it"}]


def export(registers: list | None, memory_map: list | None = None, path: str = "board.io") -> str:
    parameters = []
    if registers is not None:
        parameters.append({"name": "registers", "value": registers})
    if memory_map is not None:
        parameters.append({"name": "memory_map", "value": memory_map})
    return json.dumps({"file": "board.lss", "instances": [{"path": path, "parameters": parameters}]})


@pytest.fixture
def describe(root: Path, tmp_path: Path):
    def run(text: str) -> tuple[int, str, Path]:
        (tmp_path / "machine.json").write_text(text)
        command = [sys.executable, root / "firmware/tools/describe.py", tmp_path / "machine.json", tmp_path / "out"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stderr, tmp_path / "out"

    return run


def test_header_compiles_and_has_the_layout(describe, tmp_path: Path) -> None:
    status, errors, out = describe(export(GOOD, MAP))
    assert (status, errors) == (0, "")
    source = tmp_path / "check.c"
    source.write_text(
        '#include "registers.h"\n'
        '_Static_assert(__builtin_offsetof(struct io, control) == 0, "");\n'
        '_Static_assert(__builtin_offsetof(struct io, status) == IO_STATUS && IO_STATUS == 8, "");\n'
        '_Static_assert(MAP_RAM_SIZE == 4096, "");\n'
    )
    compiler = next(
        c
        for c in ("clang-22", "clang-19", "clang", "cc")
        if subprocess.run(["which", c], capture_output=True).returncode == 0
    )
    subprocess.run([compiler, "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", "-I", out, source], check=True)
    assert "ram (rwx) : ORIGIN = 0x0, LENGTH = 0x1000" in (out / "memory.ld").read_text()
    assert "what \\| goes on" in (out / "registers.md").read_text()
    assert "what | goes on" in (out / "registers.html").read_text()


BITS = [{"register": "status", "fields": [{"name": "full", "mask": 1}, {"name": "count", "mask": 0xF0}]}]


def with_bits(bits: list) -> str:
    parameters = [{"name": "registers", "value": GOOD}, {"name": "register_bits", "value": bits}]
    parameters.append({"name": "other_map", "value": [{"name": "io", "base": 64, "size": 16}]})
    return json.dumps({"instances": [{"path": "board.io", "parameters": parameters}]})


def test_bits_have_names(describe) -> None:
    """And so have the addresses of devices that a machine adds to a computer."""
    status, errors, out = describe(with_bits(BITS))
    assert (status, errors) == (0, "")
    lines = (out / "registers.h").read_text().splitlines()
    assert {"#define IO_STATUS_FULL 0x1", "#define IO_STATUS_COUNT 0xf0", "#define MAP_IO_BASE 0x00000040u /*  */"} <= set(lines)


@pytest.mark.parametrize(
    ("bits", "why"),
    [
        ([{"register": "state", "fields": []}], "there is no register 'state'"),
        (BITS + BITS, "the name 'status_full' is used twice"),
        ([{"register": "status", "fields": [{"name": "Full", "mask": 1}]}], "'Full' is no lower-case C identifier"),
        ([{"register": "status", "fields": [{"name": "full"}]}], "mask is None, not a number of 32 bits"),
    ],
)
def test_bits_that_are_none(bits: list, why: str, describe) -> None:
    status, errors, _ = describe(with_bits(bits))
    assert status == 1 and why in errors and errors.count("\n") == 1


def test_hidden_registers_are_left_out(describe, tmp_path: Path) -> None:
    """What only the rules of a register block see is in no header and no table; its place stays free."""
    hidden = {"name": "running_pc", "offset": 4, "access": "hidden", "doc": "where the processor is"}
    for table in ([*GOOD, hidden], [hidden, *GOOD]):
        status, errors, out = describe(export(table, MAP))
        assert (status, errors) == (0, "")
        for name in ("registers.h", "registers.md", "registers.html"):
            text = (out / name).read_text().lower()
            assert "running_pc" not in text and "where the processor is" not in text and "hidden" not in text, name
            assert "status" in text and "control" in text, name
        header = (out / "registers.h").read_text()
    describe(export(GOOD, MAP))
    assert header == (tmp_path / "out" / "registers.h").read_text()


def test_a_block_of_hidden_registers_is_no_block(describe) -> None:
    hidden = [{"name": "running_pc", "offset": 0, "access": "hidden"}]
    assert "struct" not in (describe(export(hidden, MAP))[2] / "registers.h").read_text()
    assert "neither registers nor a memory_map" in describe(export(hidden))[1]


def test_unchanged_files_keep_their_time(describe) -> None:
    _, _, out = describe(export(GOOD, MAP))
    before = (out / "registers.h").stat().st_mtime_ns
    describe(export(GOOD, MAP))
    assert (out / "registers.h").stat().st_mtime_ns == before


BAD = {
    "not-json": ("{", "not the JSON of `lss export`"),
    "no-instances": ("{}", "not the JSON of `lss export`"),
    "nothing": (export(None), "neither registers nor a memory_map"),
    "between-words": (export([{"name": "a", "offset": 2}]), "board.io.a: offset 0x2 is not a multiple of 4"),
    "same-name": (
        export([{"name": "a", "offset": 0}, {"name": "a", "offset": 4}]),
        "board.io.a: 'a' is also used by a",
    ),
    "same-offset": (
        export([{"name": "a", "offset": 0}, {"name": "b", "offset": 0}]),
        "board.io.b: 0 is also used by a",
    ),
    "no-identifier": (export([{"name": "A B", "offset": 0}]), "'A B' is no lower-case C identifier"),
    "no-number": (export([{"name": "a", "offset": "x"}]), "board.io.a: offset is 'x', not a number of 32 bits"),
    "too-large": (export(None, [{"name": "ram", "base": 1 << 32, "size": 4}]), "base is 4294967296, not a number"),
    "two-places": (
        export(None, [{"name": "ram", "base": 0, "size": 4}, {"name": "ram", "base": 4, "size": 4}]),
        "another instance gives this region other addresses",
    ),
}


@pytest.mark.parametrize("text,message", BAD.values(), ids=BAD.keys())
def test_bad_machines(describe, text: str, message: str) -> None:
    status, errors, out = describe(text)
    assert status == 1
    assert message in errors and errors.count("\n") == 1
    assert not out.exists()
