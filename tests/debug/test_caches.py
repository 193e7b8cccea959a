"""Memory behind caches: gdb reads what is only in a dirty line, in one that makes room or in a write buffer, and what it writes reaches
every copy, so that nothing that is on its way undoes it."""

import random

import pytest

from tests.sample import sampled

CACHED = """
import memory_types;
import core_types;
parameter write_back = true : bool;
parameter write_allocate = true : bool;
parameter write_buffer = 0 : int;
parameter separate = false : bool;
clock clk = 100 MHz;
instance start : program_start { entry = 0; };
instance core : mips_pipeline { start_halted = true; };
instance dcache : cache {
  fill_width = 64; line = 32; sets = 4; ways = 2; big_endian = true;
  write_back = write_back; write_allocate = write_allocate; write_buffer = write_buffer; separate = separate;
};
instance delay : memory_delay { width = 64; depth = 4; latency = 3; };
instance controller : sram_controller { width = 64; first_access = 2; segments = [{ base = 0x10000, size = 4096 }]; };
instance ram : memory_state { width = 64; size = 4 KiB; base = 0x10000; big_endian = true; };
instance rom : memory_state { width = 32; size = 4 KiB; big_endian = true; };
start.control -> core.control;
core.fetch -> rom.port;
core.data -> dcache.in;
dcache.memory -> delay.in;
delay.out -> controller.in;
controller.memory -> ram.port;
debug memory { 0 .. 0xfff = rom.bytes; 0x10000 .. 0x10fff = ram.bytes; }
"""
# Again and again: a counter to the first word of each of 16 lines, more than the cache has, and a load from the line 8 further.
PROGRAM = [0x3C080001, 0x24090001, 0x01005021, 0x250B0200, 0x8D4C0104, 0xAD490000, 0x254A0020, 0x154BFFFC, 0x25290001, 0x1000FFF8, 0]
BASE, LINES, LINE, LOAD, STORE = 0x10000, 24, 32, 0x8D4C0104, 0xAD490000
DATA = LINES * LINE


@pytest.mark.parametrize(
    "options",
    sampled([
        ["write_back=true", "write_allocate=true"],
        ["write_back=true", "write_allocate=true", "separate=true"],
        ["write_back=true", "write_allocate=false", "write_buffer=4"],
        ["write_back=false", "write_allocate=false", "write_buffer=4", "separate=true"],
    ], 4, 1),
    ids=" ".join,
)
def test_all_copies_are_read_and_written(options, build_sim, debugged) -> None:
    chance = random.Random(1)
    gdb = debugged(build_sim(CACHED, *(f"-D{option}" for option in options))).remote()
    assert gdb.ask(f"M0,{4 * len(PROGRAM):x}:" + "".join(f"{word:08x}" for word in PROGRAM)) == "OK"
    known = bytearray(DATA)

    def word(register: int) -> int:
        return int(gdb.ask(f"p{register:x}"), 16)

    loads = stores = 0
    for step in range(300):
        if step % 5 == 0:
            at, value = chance.randrange(DATA // LINE) * LINE + 4 * chance.randrange(1, 8), chance.randbytes(4)
            assert gdb.ask(f"M{BASE + at:x},4:{value.hex()}") == "OK"
            known[at : at + 4] = value
        instruction, pointer, stored = PROGRAM[word(0x25) // 4], word(10), word(9)
        gdb.ask("s")
        if instruction == STORE:
            stores += 1
            known[pointer - BASE : pointer - BASE + 4] = stored.to_bytes(4, "big")
        if instruction == LOAD:
            loads += 1
            assert word(12) == int.from_bytes(known[pointer + 0x104 - BASE :][:4], "big"), f"step {step}"
        seen = bytearray.fromhex(gdb.ask(f"m{BASE:x},{DATA:x}"))
        if PROGRAM[word(0x25) // 4] == STORE:  # it may have stored, and not left the pipeline
            at = word(10) - BASE
            known[at : at + 4], before = seen[at : at + 4], known[at : at + 4]
            assert seen[at : at + 4] in (before, word(9).to_bytes(4, "big"))
        assert seen == known, f"step {step}"
    assert loads > 40 and stores > 40
