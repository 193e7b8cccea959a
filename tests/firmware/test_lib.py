"""The small runtime against Python's arithmetic, on the instruction-set interpreter, in both byte orders."""

import random
import re
import struct
from pathlib import Path

import pytest

from tests.isa import riscv
from tests.isa.programs import link, run, tool
from tests.tree import found

CASES = 60
PROGRAM = """
typedef unsigned long long u64;
typedef long long s64;
struct { u64 a, b; } in[%(cases)d] = {%(values)s};
volatile struct { u64 q, r, sl, sr; s64 sq, sm, sa; } out[%(cases)d];
// By their names: a compiler makes some of them out of others, or in place.
u64 __udivdi3(u64, u64), __umoddi3(u64, u64), __ashldi3(u64, int), __lshrdi3(u64, int);
s64 __divdi3(s64, s64), __moddi3(s64, s64), __ashrdi3(s64, int);
void *memmove(void *, const void *, unsigned);
void *memset(void *, int, unsigned);
int memcmp(const void *, const void *, unsigned);
char text[64] = "abcdefghijklmnopqrstuvwxyz0123456789";
volatile int order[4];
void __start(void) {
  for (int i = 0; i < %(cases)d; i++) {
    u64 a = in[i].a, b = in[i].b;
    int n = (int)(b %% 64);
    out[i].q = __udivdi3(a, b); out[i].r = __umoddi3(a, b); out[i].sl = __ashldi3(a, n); out[i].sr = __lshrdi3(a, n);
    out[i].sq = __divdi3((s64)a, (s64)b); out[i].sm = __moddi3((s64)a, (s64)b); out[i].sa = __ashrdi3((s64)a, n);
  }
  memmove(text + 3, text, 20);
  memmove(text + 30, text + 31, 5);
  memset(text + 41, '*', 7);
  order[0] = memcmp("abc", "abd", 3) < 0;
  order[1] = memcmp("abc", "abc", 3) == 0;
  order[2] = memcmp("b", "abc", 1) > 0;
  __asm__ volatile("li $2, 4001; li $4, 0; syscall" : : : "$2", "$4", "memory");
}
"""


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder as C has them."""
    q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return q, a - q * b


@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
def test_runtime(root: Path, build_dir: Path, tmp_path: Path, big: bool) -> None:
    r = random.Random(7)
    cases = [(r.getrandbits(r.randrange(1, 65)), r.getrandbits(r.randrange(1, 65)) or 1) for _ in range(CASES - 2)]
    cases += [((1 << 64) - 1, 1), (1 << 63, 3)]
    source = tmp_path / "program.c"
    values = ",".join(f"{{{a}ULL, {b}ULL}}" for a, b in cases)
    source.write_text(PROGRAM % {"cases": CASES, "values": values})
    library = [root / "firmware/lib/divide64.c", root / "firmware/lib/memory.c"]
    elf = link([source, *library], tmp_path / "program.elf", big, "-fno-builtin")
    listing = run([tool("llvm-nm"), elf]).stdout.decode()
    at = {line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines()}

    def memory(name: str, size: int) -> bytes:
        command = [build_dir / "bin/mips-oracle", f"--dump={at[name]:#x}:{size}", elf]
        words = re.findall(r"^0x\w+ 0x(\w+)$", run(command).stdout.decode(), re.MULTILINE)
        data = b"".join(struct.pack(">I" if big else "<I", int(word, 16)) for word in words)
        return data[:size]

    got = list(struct.iter_unpack(">7Q" if big else "<7Q", memory("out", CASES * 56)))
    for (a, b), (q, rest, left, right, sq, sm, sa) in zip(cases, got, strict=True):
        assert (q, rest) == divmod(a, b)
        assert (left, right) == (a << b % 64 & (1 << 64) - 1, a >> b % 64)
        assert signed(sa) == signed(a) >> b % 64
        assert (signed(sq), signed(sm)) == truncated(signed(a), signed(b))
    expected = bytearray(b"abcdefghijklmnopqrstuvwxyz0123456789".ljust(64, b"\0"))
    expected[3:23] = expected[0:20]
    expected[30:35] = expected[31:36]
    expected[41:48] = b"*" * 7
    assert memory("text", 64) == expected
    assert memory("order", 12) == struct.pack(">3I" if big else "<3I", 1, 1, 1)


def test_runtime_of_a_processor_that_cannot_multiply(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Whatever the compiler calls for products, quotients and shifts of 32 and 64 bits on RV32I."""
    r = random.Random(8)
    cases = [(r.getrandbits(r.randrange(1, 65)), r.getrandbits(r.randrange(1, 65)) or 1) for _ in range(20)]
    source, elf = tmp_path / "program.c", tmp_path / "program.elf"
    source.write_text(f"""
struct {{ unsigned long long a, b; }} in[20] = {{{",".join(f"{{{a}ULL, {b}ULL}}" for a, b in cases)}}};
volatile struct {{ unsigned long long p, q; unsigned x, y; int s, m; }} out[20];
void __start(void) {{
  for (int i = 0; i < 20; i++) {{
    unsigned long long a = in[i].a, b = in[i].b;
    unsigned d = (unsigned)b | 1;
    out[i].p = a * b; out[i].q = a / b; out[i].x = (unsigned)a * d; out[i].y = (unsigned)a / d;
    out[i].s = (int)a / (int)(d >> 1 | 1); out[i].m = (int)a % (int)(d >> 1 | 1);
  }}
  __asm__ volatile("li a7, 93; li a0, 0; ecall" : : : "a0", "a7", "memory");
}}
""")
    library = found(root / "firmware/lib", "*.c")
    run([tool("clang"), *riscv.TARGET, "-O2", "-ffreestanding", "-fno-builtin", "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-e,__start", "-o", elf, source, *library])
    listing = run([tool("llvm-nm"), elf]).stdout.decode()
    at = next(line.split()[0] for line in listing.splitlines() if line.endswith(" out"))
    dumped = run([build_dir / "bin/rv32i-oracle", f"--dump=0x{at}:{20 * 32}", elf]).stdout.decode()
    words = re.findall(r"^0x\w+ 0x(\w+)$", dumped, re.MULTILINE)
    got = struct.iter_unpack("<2Q2I2i", b"".join(struct.pack("<I", int(word, 16)) for word in words))
    for (a, b), (p, q, x, y, s, m) in zip(cases, got, strict=True):
        d = b & 0xFFFFFFFF | 1
        assert (p, q) == (a * b & (1 << 64) - 1, a // b)
        assert (x, y) == (a * d & 0xFFFFFFFF, (a & 0xFFFFFFFF) // d)
        assert (s, m) == truncated((a & 0xFFFFFFFF ^ 1 << 31) - (1 << 31), d >> 1 | 1)
