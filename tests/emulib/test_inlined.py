"""Inlined functions: what DWARF says of each instruction, as llvm-symbolizer reads it, in firmware of both instruction sets."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import executable, link, tool

Frames = list[tuple[str, str, int]]  # of an address: inlined functions, the innermost first, each with file and line of its call


def ours(disassembler: Path, elf: Path) -> dict[int, Frames]:
    """Of each instruction with a source line."""
    done = subprocess.run([disassembler, elf], capture_output=True, text=True, check=True)
    found, frames = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("; "):
            frames = [(name, file, int(number)) for name, file, number in re.findall(r" in (\S+) \(inlined\), (\S+):(\d+)", line)]
        elif (instruction := re.match(r"([0-9a-f]{8}):  ", line)) and frames is not None:
            found[int(instruction[1], 16)] = frames
    return found


def theirs(elf: Path, addresses: list[int]) -> dict[int, Frames]:
    command = [tool("llvm-symbolizer"), "--inlining", "--output-style=JSON", f"--obj={elf}"]
    done = subprocess.run(command, input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True)
    found = {}
    for address, line in zip(addresses, done.stdout.splitlines(), strict=True):
        symbols = json.loads(line)["Symbol"]
        if symbols and symbols[0]["FileName"]:
            found[address] = [(inner["FunctionName"], outer["FileName"], outer["Line"]) for inner, outer in zip(symbols, symbols[1:], strict=False)]
    return found


def with_names(found: dict[int, Frames]) -> dict[int, Frames]:
    """Files by their names alone: how much of their folders is written differs."""
    return {address: [(name, Path(file).name, line) for name, file, line in frames] for address, frames in found.items()}


@pytest.mark.parametrize(("isa", "firmware"), [("mips", "tigon2"), ("rv32i", "sha256")])
def test_firmware_as_llvm_symbolizer_has_it(isa: str, firmware: str, build_dir: Path) -> None:
    elf = build_dir / "firmware" / firmware / f"{firmware}.elf"
    mine = ours(build_dir / "bin" / f"{isa}-disasm", elf)
    other = theirs(elf, list(mine))
    mine = {address: mine[address] for address in other}
    assert with_names(mine) == with_names(other)
    depths = [len(frames) for frames in mine.values()]
    assert sum(depth > 0 for depth in depths) > len(depths) / 5 and (firmware != "tigon2" or max(depths) > 2)


SOURCE = r"""
extern volatile unsigned sink;
static inline unsigned inner(unsigned n) { sink += n; return n + sink; }
static inline void outer(unsigned n) {
  sink = n;
  sink = inner(n) + 1;
}
void used(void) { outer(sink); }
void dropped(void) { outer(sink + 1); }
"""


@pytest.mark.parametrize("options", [[], ["-gdwarf-4"]], ids=["DWARF 5", "DWARF 4"])
def test_what_the_linker_dropped_hides_nothing(options: list[str], build_dir: Path, tmp_path: Path) -> None:
    """Sections of functions that are not used are dropped, and leave their description at address 0, where the program is, too."""
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text("volatile unsigned sink;\nvoid used(void);\nvoid __start(void) { used(); for (;;) __builtin_trap(); }\n")
    objects = []
    for name in ("a", "b"):
        command = [tool("clang"), "--target=mips-linux-gnu", "-mips2", "-mno-abicalls", "-fno-pic", "-G0", "-O2", "-g", *options]
        subprocess.run([*command, "-ffreestanding", "-ffunction-sections", "-c", f"{name}.c"], cwd=tmp_path, check=True)
        objects.append(tmp_path / f"{name}.o")
    elf = tmp_path / "a.elf"
    subprocess.run([tool("ld.lld"), "-m", "elf32btsmip", "--gc-sections", "--entry=__start", "--omagic", "--image-base=0", "-Ttext=0", *objects, "-o", elf], check=True)
    mine = ours(build_dir / "bin/mips-disasm", elf)
    names = {tuple(name for name, *_ in frames) for frames in mine.values()}
    assert names == {(), ("outer",), ("inner", "outer")} or names == {(), ("outer",), ("inner", "outer"), ("inner",)}
    assert {line for frames in mine.values() for _, _, line in frames} == {6, 8}
    listing = subprocess.run([build_dir / "bin/mips-disasm", elf], capture_output=True, text=True, check=True).stdout
    assert "a.c:3 in inner (inlined), " in listing and "a.c:6 in outer (inlined), " in listing


def test_a_report_has_the_frames(build_dir: Path, tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text("static inline void stop(void) { __builtin_trap(); }\nstatic inline void fail(void) {\n  stop();\n}\nvoid __start(void) {\n  fail();\n}\n")
    elf = link([source], tmp_path / "x.elf", True)
    done = subprocess.run([build_dir / "bin/mips-oracle", elf], capture_output=True, text=True)
    assert done.returncode == 125 and "x.c:1 in stop (inlined), x.c:3 in fail (inlined), x.c:6" in done.stderr


def test_a_simulator_has_the_frames(build_sim, run_sim, root: Path, tmp_path: Path) -> None:
    """Where a processor is when its run ends in an error, and each of the instructions before."""
    (tmp_path / "x.c").write_text(
        "static inline void store(volatile unsigned *at) { *at = *at; *at = *at; *at = *at; }\nstatic inline void fill(unsigned n) {\n  store((unsigned *)n);\n}\n"
        "void __start(void) {\n  for (unsigned n = 0x1000;; n += 0x7ffe0000)\n    fill(n);\n}\n"
    )
    flags = ["--target=mips-linux-gnu", "-mips2", "-mno-abicalls", "-fno-pic", "-G0", "-O2", "-g", "-ffreestanding"]
    elf = executable([tmp_path / "x.c"], tmp_path / "x.elf", flags, "--omagic", "--image-base=0", "-Ttext=0", "-e", "__start")
    done = run_sim(build_sim(root / "examples/single_core/single_core.lss"), "--quiet", "--program", elf, ok=False)
    frames = "x.c:1 in store (inlined), x.c:3 in fill (inlined), x.c:7"
    assert re.search(rf"pc = 0x[0-9a-f]+ <__start\+0x[0-9a-f]+> {re.escape(frames)}\n", done.err), done.err
    assert re.search(rf"[0-9a-f]{{8}}  [ls]w .*<__start\+0x[0-9a-f]+> {re.escape(frames)}\n", done.err)
