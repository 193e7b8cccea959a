"""linux_start: what is loaded where, what the boot ROM holds, and when the processors start."""

import struct
import subprocess
from pathlib import Path

import pytest

from tests.modules.harness import MOST_CHECKED, Bench, Memory, collect, happened, read_items
from tests.modules.mips import struct as value
from tests.sample import sampled, seldom

ENTRY = 0x80100008
MIPS32R2 = 0x70001000
SEGMENTS = [(0x80100000, 0x80100000, bytes(range(1, 48)), 0x40), (0x80100043, 0xA0100043, b"abcdefghi", 9), (0xC0000000, 0x00200000, b"xyz", 3)]


def elf(big: bool, segments: list[tuple[int, int, bytes, int]], flags: int = MIPS32R2, entry: int = ENTRY) -> bytes:
    """An executable of segments: linked address, physical address, bytes, size in memory."""
    order = ">" if big else "<"
    at = 52 + 32 * len(segments)
    header = b"\x7fELF" + bytes([1, 2 if big else 1, 1]) + bytes(9)
    header += struct.pack(order + "HHIIIIIHHHHHH", 2, 8, 1, entry, 52, 0, flags, 52, 32, len(segments), 40, 0, 0)
    table, contents = b"", b""
    for linked, physical, content, size in segments:
        table += struct.pack(order + "8I", 1, at + len(contents), linked, physical, len(content), size, 5, 1)
        contents += content
    return header + table + contents


Node = dict[str, "int | str | tuple[int, ...] | Node"]  # properties and inner nodes


def tree(root: Node) -> bytes:
    """A compiled device tree."""
    strings = b""

    def padded(content: bytes) -> bytes:
        return content + bytes(-len(content) % 4)

    def compiled(name: str, node: Node) -> bytes:
        nonlocal strings
        content = struct.pack(">I", 1) + padded(name.encode() + b"\0")
        for key, what in node.items():
            if isinstance(what, dict):
                content += compiled(key, what)
                continue
            cells = what if isinstance(what, tuple) else (what,)
            bytes_ = what.encode() + b"\0" if isinstance(what, str) else struct.pack(f">{len(cells)}I", *cells)
            content += struct.pack(">III", 3, len(bytes_), len(strings)) + padded(bytes_)
            strings += key.encode() + b"\0"
        return content + struct.pack(">I", 2)

    structure = compiled("", root) + struct.pack(">I", 9)
    strings_at = 56 + len(structure)
    total = strings_at + len(strings)
    return struct.pack(">10I", 0xD00DFEED, total, 56, strings_at, 40, 17, 16, 0, len(strings), len(structure)) + bytes(16) + structure + strings


def nodes(clock: int = 10**9, memory: int = 64 << 20, start: int = 0x82000000, size: int = 333) -> Node:
    """What the loader looks at: the bench's clock and memory, and the initramfs, which ends after `size` bytes."""
    return {
        "#address-cells": 1,
        "#size-cells": 1,
        "chosen": {"linux,initrd-start": start, "linux,initrd-end": start + size},
        "memory@0": {"device_type": "memory", "reg": (0, memory)},
        "cpus": {"#address-cells": 1, "cpu@0": {"reg": 0, "clocks": 7}, "cpu@1": {"reg": 1, "clock-frequency": 5}},
        "other": {"clock-frequency": 12345, "phandle": 6},
        "clock": {"phandle": 7, "clock-frequency": clock},
    }


WRITTEN = """
        instance delay : memory_delay {{ width = {width}; depth = 16; }};
        dut.memory -> delay.in;
        delay.out -> ram.port;
"""
LOADED_AT_ONCE = "dut.contents -> ram.contents;"


def loader(bench: Bench, big: bool = False, width: int = 32, lanes: int = 1, more: str = "", at_once: bool = False) -> Memory:
    """With a memory of 64 MiB, loaded at once or behind a delay, which a requester reads, and a requester at the ROM."""
    order = f"big_endian = {str(big).lower()};"
    way = LOADED_AT_ONCE if at_once else WRITTEN.format(width=width)
    text = f"""
        instance dut : linux_start {{ width = {width}; memory_size = 64 MiB; {order} {more} }};
        instance ram : memory_state {{ width = {width}; size = 64 MiB; {order} }};
        instance taken[{lanes}] : sink;
        {way}
        requester[0].memory -> ram.port;
        requester[1].memory -> dut.rom;
        """ + "".join(f"dut.control -> taken[{k}].in;\n" for k in range(lanes))
    return Memory(bench, text + collect("dut", "started(entry)"), sources=2, width=width)


FILES = {"kernel": elf(False, SEGMENTS), "dtb": tree(nodes()), "cpio": bytes(k % 253 for k in range(333))}
SETTINGS = {"dut.kernel": "kernel", "dut.dtb": "dtb", "dut.initramfs": "cpio", "taken[0].record": "taken"}
TREE_AT = 0x3FF0000
LOADED = sum(len(segment[2]) for segment in SEGMENTS) + len(FILES["dtb"]) + 333
WRITES = 12 + 3 + 1 + -(-len(FILES["dtb"]) // 4) + 84  # of 32 bits
BLOCKS = 3 + -(-len(FILES["dtb"]) // 512) + 1  # of at most 512 bytes


def go() -> str:
    return value(set_halt=True, halt=False, set_pc=True, pc=0xBFC00000, step=False, flush=False)


def contents() -> dict[int, bytes]:
    """What must be in memory, by physical address; zeros follow up to a segment's size."""
    expected = {physical & 0x1FFFFFFF: content for _, physical, content, _ in SEGMENTS}
    return expected | {TREE_AT: FILES["dtb"], 0x2000000: FILES["cpio"], 0x10002F + 0x100000: b"\0"}


@pytest.mark.parametrize(("big", "width"), sampled([(False, 32), (True, 32), (False, 64), (True, 64)], 2, 1))
@pytest.mark.parametrize("settings", [{}, {"delay.latency": 12}, {"delay.refuse": 0.6, "delay.latency": 3}], ids=["at once", "late", "refusing"])
def test_what_is_loaded(big: bool, width: int, settings: dict[str, object], bench: Bench) -> None:
    """Byte for byte, whoever refuses requests or answers late; the processors start when the last answer has come."""
    machine = loader(bench, big, width)
    script = [f"3000 read 1 {address + k:#x}" for address, content in contents().items() for k in range(len(content))]
    [replies, _] = machine.play([script, []], 4500, SETTINGS | settings, outstanding=8, files=FILES | {"kernel": elf(big, SEGMENTS)})
    assert bytes(reply.data for reply in replies) == b"".join(contents().values())
    assert machine.last.stat("dut", "loaded") == LOADED
    [(cycle, command)] = read_items(machine.last.directory / "taken")
    assert command == go() and happened(machine.last, "started") == [(cycle, ENTRY)]
    if width == 32 and settings.get("delay.refuse") is None:
        assert cycle == WRITES + settings.get("delay.latency", 1)
    elif width == 64:
        assert cycle < 500


@seldom
@pytest.mark.parametrize(("big", "width"), sampled([(False, 32), (True, 64)], 2))
def test_what_is_loaded_at_once(big: bool, width: int, bench: Bench) -> None:
    """The same bytes, a block in a cycle."""
    machine = loader(bench, big, width, at_once=True)
    script = [f"3000 read 1 {address + k:#x}" for address, content in contents().items() for k in range(len(content))]
    [replies, _] = machine.play([script, []], 4500, SETTINGS, outstanding=8, files=FILES | {"kernel": elf(big, SEGMENTS)})
    assert bytes(reply.data for reply in replies) == b"".join(contents().values())
    assert machine.last.stat("dut", "loaded") == LOADED
    [(cycle, command)] = read_items(machine.last.directory / "taken")
    assert (cycle, command) == (BLOCKS, go()) and happened(machine.last, "started") == [(BLOCKS, ENTRY)]


@seldom
def test_blocks_end_at_multiples_of_their_size(bench: Bench) -> None:
    machine = loader(bench, at_once=True)
    machine.text += collect("ram", "loaded(address, size)")
    machine.simulator = bench.build(machine.text)
    content = bytes(k % 251 for k in range(1300))
    machine.play([[], []], 100, {"dut.kernel": "kernel"}, files={"kernel": elf(False, [(0x800FFF00, 0xFFF00, content, 1300)])})
    assert happened(machine.last, "loaded") == [(0, 0xFFF00, 256), (1, 0x100000, 512), (2, 0x100200, 512), (3, 0x100400, 20)]


CODE = [0x2404FFFE, 0x3C0583FF, 0x34A50000, 0x3C198010, 0x37390008, 0x24080003, 0x40888000, 0x03200008, 0, 0]
PLAIN = [0x24040000, 0x3C050000, 0x34A50000, *CODE[3:]]


@pytest.mark.parametrize("big", [False, True])
def test_the_boot_rom(big: bool, bench: Bench) -> None:
    """addiu a0, -2; lui, ori a1, tree; lui, ori t9, entry; Config.K0 = 3; jr t9. It replies in the next cycle, repeats, and keeps what it has."""
    machine = loader(bench, big)
    files = FILES | {"kernel": elf(big, SEGMENTS)}
    script = [f"{k} read 4 {0x1FC00000 + 4 * k:#x}" for k in range(len(CODE) + 1)]
    script += ["20 write 4 0x1fc00000 5", "21 read 4 0x1fc01000", "22 read -2 0x1fc00002", "23 read 1 0x1fc00001", "24 barrier 1 0", "25 swap 4 0x1fc00000 0"]
    [_, replies] = machine.play([[], script], 200, SETTINGS, outstanding=8, files=files)
    assert [reply.data for reply in replies[: len(CODE) + 1]] == [*CODE, 0] and [reply.cycle for reply in replies[: len(CODE) + 1]] == list(range(1, len(CODE) + 2))
    halves = CODE[0].to_bytes(4, "big" if big else "little")
    signed = int.from_bytes(halves[2:], "big" if big else "little", signed=True) & 0xFFFFFFFF
    assert [reply.data for reply in replies[len(CODE) + 1 :]] == [0, CODE[0], signed, halves[1], 0, 0]
    assert [reply.error for reply in replies[len(CODE) + 1 :]] == [False] * 5 + [True]
    [_, replies] = machine.play([[], script], 200, SETTINGS | {"dut.dtb": ""}, outstanding=8, files=files)
    assert [reply.data for reply in replies[: len(PLAIN)]] == PLAIN


def test_segments_of_the_rom(bench: Bench) -> None:
    """They are there beside the loader's code, which they may not cover; memory gets nothing of them."""
    machine = loader(bench)
    files = FILES | {"kernel": elf(False, [*SEGMENTS, (0xBFC00380, 0x1FC00380, b"\x11\x22\x33\x44\x55", 8)])}
    script = ["0 read 4 0x1fc00000", "0 read 4 0x1fc00380", "0 read 4 0x1fc00384", "0 read 4 0x1fc00388"]
    [_, replies] = machine.play([[], script], 400, SETTINGS, files=files)
    assert [reply.data for reply in replies] == [CODE[0], 0x44332211, 0x55, 0] and machine.last.stat("dut", "loaded") == LOADED
    for address, size in ((0x1FC00010, 8), (0x1FC00FFC, 5)):
        machine.play([[], []], 10, SETTINGS, files=FILES | {"kernel": elf(False, [*SEGMENTS, (address, address, b"a", size)])}, ok=False)
        assert f"kernel: {size} bytes at physical address {address:#010x} are not within the boot ROM after its first 40 bytes" in machine.last.err


@seldom
def test_every_processor_starts_once(bench: Bench) -> None:
    machine = loader(bench, lanes=2)
    settings = SETTINGS | {"taken[1].record": "second", "taken[1].pattern": "0" * (WRITES + 20) + "1"}
    machine.play([[], []], MOST_CHECKED + 1, settings, files=FILES)
    assert [cycle for cycle, _ in read_items(machine.last.directory / "taken")] == [WRITES + 1]
    assert [cycle for cycle, _ in read_items(machine.last.directory / "second")] == [WRITES + 20]


def test_a_loader_that_is_done_sleeps(bench: Bench) -> None:
    machine = loader(bench)
    machine.play([[], []], 100 * MOST_CHECKED, SETTINGS, files=FILES)
    assert machine.last.stats["run"]["skipped_cycles"] > 99 * MOST_CHECKED


@pytest.mark.parametrize(("cycle", "at_once"), [*((cycle, False) for cycle in (0, 13, 60, WRITES, WRITES + 1)), *((cycle, True) for cycle in (0, 1, 3, BLOCKS, BLOCKS + 1))])
def test_a_checkpoint_in_the_midst(cycle: int, at_once: bool, bench: Bench, tmp_path: Path) -> None:
    """What was read counts as input: with another kernel of that name there is no restoring."""
    machine = loader(bench, at_once=at_once)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)

    def run(*words: str, ok: bool = True) -> str:
        done = subprocess.run([machine.simulator, "--quiet", *words], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) == ok, done.stderr
        return done.stderr

    settings = [word for name, file in SETTINGS.items() for word in ("--set", f"{name}={file}")]
    run(*settings, "--cycles", "400", "--checkpoint", "whole")
    run(*settings, "--cycles", str(cycle), "--checkpoint", "point")
    run("--restore", "point", "--cycles", "400", "--checkpoint", "rest")
    run("--restore", "whole", "--compare", "rest")
    (tmp_path / "cpio").write_bytes(b"another")
    assert 'the run read "cpio", which has changed since' in run("--restore", "point", ok=False)


WRONG = {
    "no kernel": ({"dut.kernel": ""}, {}, "there is no kernel: set `kernel` to its ELF file"),
    "no such file": ({"dut.initramfs": "none"}, {}, 'cannot read "none"'),
    "no ELF": ({}, {"kernel": b"MZ" + bytes(100)}, "kernel: not an ELF file"),
    "truncated": ({}, {"kernel": FILES["kernel"][:100]}, "kernel: truncated"),
    "byte order": ({}, {"kernel": elf(True, SEGMENTS)}, "kernel: a big-endian program for little-endian processors"),
    "instruction set": ({}, {"kernel": elf(False, SEGMENTS, 0x80001000)}, "which no processor executes"),
    "entry": ({}, {"kernel": elf(False, SEGMENTS, entry=0x80300000)}, "entry address 0x80300000 is in no executable segment"),
    "beyond RAM": ({}, {"kernel": elf(False, [*SEGMENTS, (0x90000000, 0x90000000, b"a", 2)])}, "kernel: 2 bytes at physical address 0x10000000 are not within the 64 MiB of RAM"),
    "no tree": ({"dut.dtb": "cpio"}, {}, "cpio: no compiled device tree: it does not begin with 0xd00dfeed"),
    "tree cut off": ({}, {"dtb": tree(nodes())[:60]}, "dtb: no compiled device tree: it is truncated"),
    "another clock": ({}, {"dtb": tree(nodes(clock=200_000_000))}, "dtb: made for processors at 200000000 Hz, these have 1000000000 Hz: make the tree of this machine"),
    "its own clock": ({}, {"dtb": tree(nodes() | {"cpus": {"cpu@0": {"clock-frequency": 7}}})}, "dtb: made for processors at 7 Hz"),
    "more memory": ({}, {"dtb": tree(nodes(memory=65 << 20))}, "dtb: made for memory up to 0x4100000, the RAM ends at 0x4000000: make the tree of this machine"),
    "memory of 64 bits": ({}, {"dtb": tree(nodes() | {"#address-cells": 2, "#size-cells": 2, "memory@0": {"reg": (0, 0, 1, 0)}})}, "dtb: made for memory up to 0x100000000"),
    "no initramfs": ({"dut.initramfs": ""}, {}, "dtb: made for an initramfs, and there is none: set `initramfs` to it"),
    "tree without one": ({}, {"dtb": tree(nodes() | {"chosen": {}})}, "dtb: made for a kernel without an initramfs, and cpio is given"),
    "initramfs elsewhere": ({"dut.initramfs_address": 0x3000000}, {}, "dtb: the initramfs is at 0x2000000 in the tree, and at 0x3000000 in memory"),
    "a larger initramfs": ({}, {"dtb": tree(nodes(size=332))}, "dtb: made for an initramfs of 332 bytes, cpio has 333: make its tree"),
    "overlap": ({"dut.initramfs_address": 0x100020}, {}, "cpio: 333 bytes at physical address 0x00100020 overlap those of kernel at 0x00100000"),
    "initramfs beyond RAM": ({"dut.initramfs_address": 0x3FFFFFF}, {}, "cpio: 333 bytes at physical address 0x03ffffff are not within the 64 MiB of RAM"),
    "empty initramfs": ({}, {"cpio": b""}, "cpio: 0 bytes, and the RAM has 64 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_in_one_line(case: str, bench: Bench) -> None:
    settings, files, told = WRONG[case]
    machine = loader(bench)
    machine.play([[], []], 10, SETTINGS | settings, files=FILES | files, ok=False)
    lines = machine.last.err.splitlines()
    assert len(lines) == 1 and told in lines[0]


BANNER = "Linux version 6.1.1 (someone@somewhere) (a compiler, a linker) #1 %s2026-01-01\n"
KERNELS = {
    "for one processor": (BANNER % "", True),
    "for several": (BANNER % "SMP ", False),
    "the second line counts": ("%s version %s, Linux version x, Linux version 5\0" + BANNER % "SMP PREEMPT_DYNAMIC ", False),
    "cut off": (BANNER[:30], False),
    "no Linux": ("a program", False),
}


@pytest.mark.parametrize("case", KERNELS)
@pytest.mark.parametrize("processors", [1, 2])
def test_a_kernel_for_one_processor_on_several(case: str, processors: int, bench: Bench) -> None:
    """Reported, and it starts all the same."""
    text, reported = KERNELS[case]
    machine = loader(bench, more=f"processors = {processors};")
    machine.play([[], []], 400, SETTINGS, files=FILES | {"kernel": elf(False, [*SEGMENTS, (0x80200100, 0x80200100, text.encode(), 0x200)])})
    lines = [line for line in machine.last.err.splitlines() if "Linux kernel" in line]
    told = "warning: dut: kernel: a Linux kernel for one processor, of 2 here: the others stay halted (make linux VPES=true makes a kernel for several)"
    assert len(lines) == (reported and processors == 2) and all(told in line for line in lines)
    assert read_items(machine.last.directory / "taken")


@pytest.mark.parametrize("at_once", sampled([False, True], 2))
def test_a_memory_that_refuses_ends_the_run(at_once: bool, bench: Bench) -> None:
    text = loader(bench, at_once=at_once).text.replace("ram : memory_state { width = 32; size = 64 MiB;", "ram : memory_state { width = 32; size = 1 MiB;")
    machine = loader(bench, at_once=at_once)
    machine.simulator = bench.build(text)
    machine.play([[], []], 400, SETTINGS, files=FILES, ok=False)
    said = "ram: 3 bytes of contents at 0x200000 do not fit: the memory is 0x0 to 0xfffff" if at_once else "the memory refuses what is loaded"
    assert said in machine.last.err
