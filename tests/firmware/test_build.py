"""What `make firmware` leaves behind, and that it agrees with the machine."""

import json
import re
import subprocess
from pathlib import Path

from tests.isa.programs import run, symbols, tool


def test_everything_to_read_lies_beside_the_executable(firmware: Path) -> None:
    for suffix, text in ((".map", ".scratchpad"), (".asm", "<receive>:"), (".sym", "receive"), (".size", ".scratchpad")):
        assert text in firmware.with_suffix(suffix).read_text()


def test_the_header_has_every_register_of_the_machine(build_dir: Path) -> None:
    generated = build_dir / "gen/firmware/tigon2"
    machine = json.loads((generated / "machine.json").read_text())
    header = (generated / "registers.h").read_text()
    lists = [
        p["value"] for i in machine["instances"] for p in i["parameters"] if p["name"] == "registers" and p["value"]
    ]
    assert sum(map(len, lists)) > 100
    for registers in lists:
        for register in registers:
            shown = re.search(rf"volatile unsigned int {register['name']}; /\* 0x0*{register['offset']:x} ", header)
            assert (shown is None) == (register["access"] == "hidden"), register["name"]
    for name in ("registers.md", "registers.html"):
        assert "dma_read_producer" in (generated / name).read_text()


def test_places(firmware: Path) -> None:
    at = symbols(firmware)
    assert at["_start"] == 0x4000
    assert 0xC00000 < at["scratchpad_start"] < at["scratchpad_zero_end"] <= 0xC04000
    assert at["second_text_end"] <= at["scratchpad_start"] and at["second_text_end"] <= 0xC02000
    for name in ("receive", "send", "mailbox", "timer", "dma_read_done", "dma_write_done", "dispatch_loop"):
        assert at["scratchpad_start"] <= at[name] < at["scratchpad_end"]


def test_the_dispatch_loop_is_four_instructions(firmware: Path) -> None:
    listing = run([tool("llvm-objdump"), "-d", "--disassemble-symbols=dispatch_loop", firmware]).stdout.decode()
    words = re.findall(r"^\s*[0-9a-f]+: ((?:[0-9a-f]{2} ){4})", listing, re.MULTILINE)[:4]
    load, pri, joff, slot = (int(word.replace(" ", ""), 16) for word in words)
    assert load >> 26 == 0x23
    assert (pri >> 26, pri & 0x3F) == (0, 0x0B)
    assert (joff >> 26, joff & 0x3F) == (0, 0x0A)
    assert slot == 0


def test_only_what_is_loaded_has_a_place_in_the_file(firmware: Path) -> None:
    """Load addresses lie in the SRAM from 0x4000 on and do not overlap."""
    listing = run([tool("llvm-readelf"), "-lW", firmware]).stdout.decode()
    spans = sorted(
        (int(physical, 16), int(size, 16))
        for physical, size in re.findall(r"LOAD\s+0x\w+\s+0x\w+\s+(0x\w+)\s+(0x\w+)", listing)
    )
    assert spans and spans[0][0] == 0x4000
    for (start, size), (following, _) in zip(spans, spans[1:], strict=False):
        assert start + size <= following
    assert spans[-1][0] < 0x40000


def test_what_chooses_target_and_compiler_is_a_reason_to_build_again(root: Path, build_dir: Path) -> None:
    rules = run(["make", f"BUILD={build_dir}", "-pn", "firmware"], cwd=root).stdout.decode()
    assert re.search(rf"^{re.escape(str(build_dir))}/obj/firmware/fir/fir/fir\.c\.o:.* firmware/fir/build\.mk", rules, re.MULTILINE)


def test_a_shared_source_that_is_not_there_is_named(root: Path, build_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "firmware/x"
    folder.mkdir(parents=True)
    for name in ("build.mk", "tools", "sum"):
        (tmp_path / "firmware" / name).symlink_to(root / "firmware" / name)
    (folder / "machine").write_text("examples/single_core/single_core.lss\n")
    (folder / "shares").write_text("-Ifirmware/sum sum/*.S sum/helo.c\n")
    (folder / "x.ld").touch()
    (tmp_path / "Makefile").write_text(f"BUILD = {build_dir}\nfound = $(wildcard $(1))\ninclude firmware/build.mk\n")
    done = subprocess.run(["make", "-n", f"{build_dir}/firmware/x/x.elf"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "firmware/x/shares: nothing below firmware/ is called sum/helo.c.  Stop." in done.stderr
