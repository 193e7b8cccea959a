"""The small programs: their executables on the interpreter, with the console and the clock of their machines around it, and
parts of them compiled for this computer, with what they are not given there."""

import ctypes
import hashlib
import random
import re
import struct
import subprocess
from ctypes import CFUNCTYPE, POINTER, c_bool, c_int, c_uint, c_uint32, c_uint64, c_void_p
from pathlib import Path

import pytest

from tests.examples.test_rfu import frame, internet_checksum
from tests.examples.test_vliw import filtered
from tests.isa.programs import run, tool

STACK, CONSOLE, CLOCK = 0x10000000, 0xFFFF0000, 0xFFFF1000
RESERVED = 5  # how the interpreter stops at what is no instruction of MIPS
READ = CFUNCTYPE(c_bool, c_void_p, c_uint32, c_uint, POINTER(c_uint32))
WRITE = CFUNCTYPE(c_bool, c_void_p, c_uint32, c_uint, c_uint32)


class Memory(ctypes.Structure):
    """struct guest_memory."""

    _fields_ = [("user", c_void_p), ("read", READ), ("write", WRITE)]


class Interpreter(ctypes.Structure):
    """struct mips_interpreter."""

    _fields_ = [
        ("r", c_uint32 * 32), ("hi", c_uint32), ("lo", c_uint32), ("pc", c_uint32), ("next_pc", c_uint32), ("in_delay_slot", c_bool),
        ("big_endian", c_bool), ("set", c_int), ("memory", Memory), ("linked", c_bool), ("link_address", c_uint32),
        ("fault_address", c_uint32), ("stop", c_int), ("word", c_uint32), ("annulled", c_bool), ("retired", c_uint64),
    ]  # fmt: skip


class Cores:
    """Cores that share a memory; chance decides which one executes the next instruction."""

    def __init__(self, library: Path, elf: Path, cores: int) -> None:
        self.lib, self.ram, self.said, self.status, self.steps = ctypes.CDLL(str(library)), bytearray(8 << 20), b"", None, 0
        image = elf.read_bytes()
        entry, headers = struct.unpack_from(">II", image, 24)
        for n in range(struct.unpack_from(">H", image, 44)[0]):
            kind, at, _, address, size = struct.unpack_from(">5I", image, headers + 32 * n)
            if kind == 1:
                self.ram[address : address + size] = image[at : at + size]
        self.cores = [Interpreter() for _ in range(cores)]
        self.memories = [self.memory_of(core) for core in self.cores]
        for core, memory in zip(self.cores, self.memories, strict=True):
            self.lib.mips_interpreter_init(ctypes.byref(core), 1, True, memory, entry)

    def memory_of(self, core: Interpreter) -> Memory:
        stack = bytearray(0x1000)

        def place(address: int) -> tuple[bytearray, int]:
            return (stack, address - STACK) if address >= STACK else (self.ram, address)

        def read(_user: object, address: int, size: int, value: object) -> bool:
            memory, at = place(address)
            value[0] = self.steps if address == CLOCK else int.from_bytes(memory[at : at + size], "big")
            return True

        def write(_user: object, address: int, size: int, value: int) -> bool:
            if address == CONSOLE and size == 1:
                self.said += bytes([value])
            elif address == CONSOLE + 4:
                self.status = value
            else:
                memory, at = place(address)
                memory[at : at + size] = value.to_bytes(size, "big")
                for other in self.cores:
                    if other is not core and other.link_address == address & ~3:
                        other.linked = False
            return True

        return Memory(None, READ(read), WRITE(write))

    def run(self, most: int = 200_000) -> str:
        """Until the program ends; what it printed."""
        chance = random.Random(1)
        while self.status is None:
            self.steps += 1
            assert self.steps < most, self.said
            core = chance.choice(self.cores)
            stop = self.lib.mips_interpreter_step(ctypes.byref(core))
            assert stop == 0 or (stop == RESERVED and self.unit(core)), f"{core.pc:#x}: {stop}"
        return self.said.decode()

    def unit(self, core: Interpreter) -> bool:
        """The reconfigurable unit: mfc2 with the number of an operation."""
        if core.word & 0xFFE007FF != 0x48000000 or core.word >> 11 & 31 > 1:
            return False
        total = core.r[24] + (sum(core.r[8:16]) if core.word >> 11 & 31 == 0 else 0)
        while total >> 32:
            total = (total >> 32) + (total & 0xFFFFFFFF)
        core.r[core.word >> 16 & 31] = total if core.word >> 11 & 31 == 0 else internet_checksum(total.to_bytes(4, "big"))
        self.lib.mips_interpreter_resume(ctypes.byref(core))
        return True


def test_hello(build_dir: Path, chip_model: Path) -> None:
    one = Cores(chip_model, build_dir / "firmware/hello/hello.elf", 1)
    assert one.run() == "hello from a MIPS core; primes: 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47\n" and one.status == 0


@pytest.mark.parametrize("cores", [1, 3])
def test_sum(build_dir: Path, chip_model: Path, cores: int) -> None:
    one = Cores(chip_model, build_dir / "firmware/sum/sum.elf", cores)
    assert one.run() == f"{cores} cores: the squares below 1000 add up to {sum(n * n for n in range(1000))}\n" and one.status == 0


def test_checksum(build_dir: Path, chip_model: Path) -> None:
    one = Cores(chip_model, build_dir / "firmware/checksum/checksum.elf", 1)
    rows = re.findall(r"(\d+) bytes: checksum (\d+), cycles without the unit (\d+), with it (\d+)\n", one.run())
    assert [(int(size), int(found)) for size, found, _, _ in rows] == [(n, internet_checksum(frame(n))) for n in (64, 256, 576, 1472)]
    assert all(int(slow) > 2 * int(quick) > 0 for _, _, slow, quick in rows) and one.status == 0


# What the programs include, for this computer.
HERE = {
    "console.h": """
#include <stdio.h>
#include <stdlib.h>
extern unsigned ticks;
#define MAP_CLOCK_BASE ((unsigned long)&ticks)
static inline void print_char(char c) { putchar(c); }
static inline void print(const char *text) { fputs(text, stdout); }
static inline void print_number(unsigned number) { printf("%u", number); }
static inline void exit_with(unsigned status) { exit((int)status); }
""",
    "fetch_add.h": "static inline unsigned fetch_add(volatile unsigned *word, unsigned n) { unsigned old = *word; *word += n; return old; }",
    "marker.h": '#define marker(number) printf("marker %d\\n", number)',
}


def here(root: Path, folder: Path, name: str, main: str) -> Path:
    """A program with another main()."""
    for header, text in HERE.items():
        (folder / header).write_text(text)
    source, program = folder / "program.c", folder / "program"
    source.write_text(f'#define main program\n#include "{root}/firmware/{name}/{name}.c"\n#undef main\nunsigned ticks;\nint main(void) {{ {main} }}\n')
    flags = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wno-main", "-Wno-unknown-pragmas"]
    run([tool("clang"), *flags, f"-I{folder}", source, "-o", program])
    return program


def test_digests_of_messages_of_every_length(root: Path, tmp_path: Path) -> None:
    """The end of a message fits into its last block, or needs one more."""
    main = """
      unsigned char bytes[256];
      word state[8];
      for (int n = 0; n < 256; n++) bytes[n] = (unsigned char)(n * 7);
      for (unsigned n = 0; n < 256; n++) {
        digest(bytes, n, state);
        for (int k = 0; k < 8; k++) printf("%08x", state[k]);
        puts("");
      }
      static const word none[8];
      return 16 * show(bytes, 3, none) + program();"""
    done = subprocess.run([here(root, tmp_path, "sha256", main)], capture_output=True, text=True)
    lines, message = done.stdout.splitlines(), bytes(n * 7 & 0xFF for n in range(256))
    assert lines[:256] == [hashlib.sha256(message[:n]).hexdigest() for n in range(256)]
    shown = [b"abc", b"a" * 1000]
    assert lines[256:] == [f"3 bytes: {lines[3]} wrong", *(f"{len(one)} bytes: {hashlib.sha256(one).hexdigest()}" for one in shown)]
    assert done.returncode == 16 and done.stderr == ""


def test_filter(root: Path, tmp_path: Path) -> None:
    done = subprocess.run([here(root, tmp_path, "fir", "return program();")], capture_output=True, text=True)
    said = f"filtered 256 samples: check {filtered()}, cycles with one instruction at a time 0, in bundles of two 0\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_matrix(root: Path, tmp_path: Path) -> None:
    """Who comes later waits for the first one to fill the matrices, which it does once; who finds no row left computes none."""
    done = subprocess.run([here(root, tmp_path, "matrix", "fill(0); fill(1); next = SIZE; program(1); next = 0; program(1); return 2;")], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "marker 1\nmarker 2\n1248000\n", "")
