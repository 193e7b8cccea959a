"""vpe_cores: processors, of which those begin that are started, or the VPEs of one, of which the first begins; all get each interrupt line."""

import pytest

from tests.isa.system_core import assembled
from tests.modules.harness import Bench
from tests.sample import sampled

# Prints its number when IP2 is pending.
PROGRAM = """
  LI $s0, 0xbf000000
1: mfc0 $t0, $13
  andi $t0, $t0, 0x400
  beqz $t0, 1b
  mfc0 $t0, $15, 1
  andi $t0, $t0, 0x3ff
  addiu $t0, $t0, 48
  sb $t0, 0($s0)
2: b 2b
  nop
"""


def machine(body: str, started: int) -> str:
    return f"""
    import memory_types; import core_types; import coherence_types; import mips_system_types;
    instance dut : vpe_cores {{ icache_size = 2 KiB; dcache_size = 2 KiB; ways = 1; line = 32; {body} }};
    instance start : program_start {{ entry = 0xbfc00000; }};
    instance uncached_bus : memory_arbiter;
    instance map : memory_router {{ route = <<< return address < 0x1fc00000 ? lane(out, console) : lane(out, rom); >>>; }};
    instance console : console {{ width = 64; base = 0x1f000000; }};
    instance rom : memory_state {{ size = 4 KiB; base = 0x1fc00000; writable = false; big_endian = true; }};
    instance bus : system_bus {{ line = 32; big_endian = true; }};
    instance ram : memory_state {{ width = 256; size = 4 KiB; big_endian = true; }};
    instance high : source {{ generate = <<< return true; >>>; }};
    high.out -> dut.lines["ip2"];
    for (i = 0; i < {started}; i = i + 1) start.control -> dut.control;
    for (i = 0; i < dut.count; i = i + 1) {{
      dut.uncached -> uncached_bus.in;
      dut.data -> bus.agent["data" + string(i)];
      dut.instructions -> bus.agent["fetch" + string(i)];
    }}
    uncached_bus.out -> map.in;
    map.out["console"] -> console.port;
    map.out["rom"] -> rom.port;
    bus.memory -> ram.port;
    """


@pytest.mark.parametrize(("body", "started", "who"), sampled([("processors = 3;", 3, "012"), ("processors = 3;", 2, "01"), ("vpes = 3;", 1, "0"), ("vpes = 1;", 1, "0")], 4, 1))
def test_those_begin_that_are_started(bench: Bench, body: str, started: int, who: str) -> None:
    """Each with its own number, and the line."""
    ran = bench.run(bench.build(machine(body, started)), 1000, {"rom.image": "rom"}, files={"rom": assembled(PROGRAM, True)})
    assert sorted(ran.out.partition("clk")[0]) == list(who)
    count = int(body.rstrip(";").split()[-1])
    assert [ran.stat(f"dut.cpu[{i}].core.pipeline.writeback", "instructions") > 0 for i in range(count)] == [i < started for i in range(count)]


def test_vpes_are_those_of_one_processor(bench: Bench) -> None:
    assert "all VPEs belong to one processor: processors must be 1, not 2" in bench.refuse(machine("vpes = 2; processors = 2;", 1))
