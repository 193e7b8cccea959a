"""A fast_core that runs a small program, for the tests of it and of what takes its state."""

from tests.modules.harness import Bench, Memory
from tests.modules.mips import encode, struct

DEVICES, HANDLER = 0x1F000000, 0x1FC00200  # of the devices' memory, and what is there for TLB refills
GO = struct(set_halt=True, halt=False, set_pc=True, pc=0x80000000, step=False, flush=False)
LIMIT = struct(by_marker=True, marker=7, by_pc=False, pc=0, by_instructions=False, instructions=0)
T0, T1, T2, K0, K2 = 8, 9, 10, 26, 27

# Stores and loads in RAM and at a device, a register that there is not, a load that no entry translates, whose handler is a marker.
PROGRAM = [
    encode("addiu", 0, T0, low=5), encode("lui", 0, K0, low=0x8000), encode("lui", 0, T1, low=0xBF00), encode("lui", 0, K2, low=0xC000),
    encode("sw", K0, T0, low=0x100), encode("sw", T1, T0, low=0x20), encode("lw", T1, T2, low=0x20), encode("sw", K0, T2, low=0x104),
    encode("mtc0", 0, T0, 25), encode("multu", T0, T0), encode("lw", K2, T2, low=0),
]  # fmt: skip
MARKER = encode("lui", 0, 0, low=7)
STATE_PC = 0xBFC00204
WORDS = 129  # registers, HI, LO, pc, timer, Random's register, wait, 26 of coprocessor 0, 16 entries of the TLB


def shown(text: str) -> tuple[int, int, bool]:
    """A word as modules print it."""
    fields = dict(field.split("=") for field in text.strip("{}").split())
    return int(fields["number"], 0), int(fields["value"], 0), fields["last"] == "true"


def machine(bench: Bench, after: str = "") -> Memory:
    """Requesters at its RAM and at the devices' memory; commands and limits from sources."""
    text = f"""
        instance dut : fast_core {{ size = 64 KiB; }};
        instance devices : memory_state {{ width = 32; size = 16 MiB; base = {DEVICES:#x}; }};
        instance commands : source;
        instance limits : source;
        requester[0].memory -> dut.port;
        requester[1].memory -> devices.port;
        dut.uncached -> devices.port;
        commands.out -> dut.control : core_control;
        limits.out -> dut.limit : core_limit;
        {after}"""
    return Memory(bench, text, sources=2, width="i == 0 ? 64 : 32", before="import core_types;\n")


def scripts(reads: list[str]) -> tuple[list[list[str]], dict[str, str]]:
    """The program goes to RAM and is let go in cycle 100; `reads` are of the RAM, later."""
    program = [f"0 write 4 {4 * k:#x} {word:#x}" for k, word in enumerate(PROGRAM)]
    files = {"go": f"100 {GO} once\n", "limit": "".join(f"{k} {LIMIT} once\n" for k in range(1200))}
    return [program + reads, [f"0 write 4 {HANDLER:#x} {MARKER:#x}"]], files


SETTINGS = {"commands.script": "go", "limits.script": "limit"}
