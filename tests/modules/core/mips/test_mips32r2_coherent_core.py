"""mips32r2_coherent_core: a program says which processor it is, and goes to the bus or past it as its addresses say; what others write
comes when it is asked for; ports of virtual processing elements are those of one."""

import re

import pytest

from tests.isa.system_core import assembled
from tests.modules.harness import Bench
from tests.sample import sampled, seldom

# Prints its number and PRId's low byte, stores and loads a line of kseg0, which is cached, and a word of kseg1, which is not.
PROGRAM = """
  mfc0 $k0, $16
  ori $k0, $k0, 7
  xori $k0, $k0, 4
  mtc0 $k0, $16
  mtc0 $zero, $12
  ehb
  LI $s0, 0xbf000000
  mfc0 $t0, $15, 1
  andi $t0, $t0, 0x3ff
  addiu $t0, $t0, 48
  sb $t0, 0($s0)
  mfc0 $t0, $15
  andi $t0, $t0, 0xff
  sb $t0, 0($s0)
  LI $s1, 0x80001000
  LI $s2, 0xa0002000
  addiu $t0, $zero, 65
  sw $t0, 0($s1)
  lw $t1, 0($s1)
  sb $t1, 0($s0)
  addiu $t0, $zero, 66
  sw $t0, 0($s2)
  lw $t1, 0($s2)
  sb $t1, 0($s0)
  LI $t2, 0x80003000
  jalr $t2
  nop
  sw $zero, 4($s0)
1: b 1b
  nop
"""
CODE = bytes.fromhex("03e00008 00000000")  # jr $ra; nop, in kseg0


def machine(body: str = "", after: str = "") -> str:
    return f"""
    import memory_types; import core_types; import coherence_types; import mips_system_types;
    instance dut : mips32r2_coherent_core {{ number = 3; prid = 0x00019058; icache_size = 2 KiB; dcache_size = 2 KiB; ways = 1; line = 32; {body} }};
    instance start : program_start {{ entry = 0xbfc00000; }};
    instance map : memory_router {{ route = <<< return address < 0x100000 ? lane(out, ram) : address < 0x1fc00000 ? lane(out, console) : lane(out, rom); >>>; }};
    instance console : console {{ width = 64; base = 0x1f000000; }};
    instance rom : memory_state {{ size = 4 KiB; base = 0x1fc00000; writable = false; big_endian = true; }};
    instance port : coherent_port {{ line = 32; big_endian = true; }};
    instance bus : system_bus {{ line = 32; big_endian = true; }};
    instance ram : memory_state {{ width = 256; size = 1 MiB; image_address = 0x3000; big_endian = true; }};
    start.control -> dut.control;
    dut.uncached -> map.in;
    map.out["console"] -> console.port;
    map.out["rom"] -> rom.port;
    map.out["ram"] -> port.in;
    port.bus -> bus.agent["uncached"];
    dut.data -> bus.agent["data"];
    dut.instructions -> bus.agent["instructions"];
    bus.memory -> ram.port;
    {after}
    """


def test_a_program_on_the_bus_and_past_it(bench: Bench) -> None:
    """One line for data, one of instructions, both from the memory; the word of kseg1 goes past them."""
    ran = bench.run(bench.build(machine()), 4000, {"rom.image": "rom", "ram.image": "ram"}, files={"rom": assembled(PROGRAM, True), "ram": CODE})
    assert ran.out.startswith("3XAB") and "the program exited" in ran.err
    assert [ran.stat(f"dut.{path}", name) for path, name in (("dcache.controller", "misses"), ("dcache.controller", "hits"), ("fetch_port", "reads"))] == [1, 1, 1]
    assert ran.stat("port", "writes") == ran.stat("port", "reads") == 1


@seldom
@pytest.mark.parametrize("post_writes", sampled([True, False], 2))
def test_each_is_followed_in_lockstep(bench: Bench, post_writes: bool) -> None:
    ran = bench.run(bench.build(machine(f"lockstep = 1 MiB; post_writes = {str(post_writes).lower()};")), 4000, {"rom.image": "rom", "ram.image": "ram"}, files={"rom": assembled(PROGRAM, True), "ram": CODE})
    assert ran.out.startswith("3XAB")
    assert re.search(r"compared +3\d  instructions", ran.out)


def test_a_vpe_is_connected_as_one(bench: Bench) -> None:
    assert "threads, remote and vpe must be connected on a processor with VPEs" in bench.refuse(machine("vpes = 4;"))
