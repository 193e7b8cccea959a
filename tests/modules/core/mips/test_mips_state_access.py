"""mips_state_access: the state of a processor that has run a program arrives in a register file, a TLB and the others, in 32 cycles."""

from tests.modules.core.mips.fast_program import SETTINGS, STATE_PC, machine, scripts
from tests.modules.harness import Bench, read_items

PARTS = """
    instance access : mips_state_access;
    instance registers : memory_state { width = 32; size = 128 B; };
    instance joint : tlb;
    instance hilo : sink;
    instance system : sink;
    instance fetch : sink;
    instance outside : source;
    instance reader : memory_source { width = 32; };
    instance lookups : source;
    instance never_operated : source;
    instance dropped[3] : sink;
    dut.save -> access.load;
    outside.out -> access.control : core_control;
    access.fetch_control -> fetch.in;
    access.registers -> registers.port;
    reader.memory -> registers.port;
    access.hilo -> hilo.in;
    access.system -> system.in;
    access.operate -> joint.access;
    lookups.out -> joint.lookup.request : translation_request;
    joint.lookup.reply -> dropped[0].in;
    never_operated.out -> joint.operate.request : tlb_request;
    joint.operate.reply -> dropped[1].in;
    joint.changed -> dropped[2].in;
"""


def test_a_state_arrives(bench: Bench) -> None:
    """Registers, HI and LO, the TLB, and fetch's pc; the reset state first, then that of the program, again and again while it is offered."""
    dut = machine(bench, "import mmu_types;\n" + PARTS)
    played, files = scripts([])
    files |= {"read": "399 read 4 0x20\n399 read 4 0x28\n399 read 4 0x68\n", "none": ""}
    settings = SETTINGS | {"reader.script": "read", "reader.record": "read.out", "hilo.record": "hilo", "fetch.record": "fetch", "system.record": "system"}
    settings |= {name: "none" for name in ("outside.script", "lookups.script", "never_operated.script")}
    dut.play(played, 450, settings, files=files, outstanding=8)
    values = [int(line.split()[3], 0) for line in (dut.last.directory / "read.out").read_text().splitlines()]
    assert values == [5, 5, 0x80000000]
    assert any("lo=25" in value or "lo=0x19" in value for _, value in read_items(dut.last.directory / "hilo"))
    gone = read_items(dut.last.directory / "fetch")
    assert gone[0][0] == 31 and "set_pc=true" in gone[0][1] and any(f"{STATE_PC}" in value or f"{STATE_PC:#x}" in value for _, value in gone)
    assert [cycle for cycle, _ in gone] == [cycle for cycle, _ in read_items(dut.last.directory / "system")]
    assert dut.last.stat("access", "loads") == len(gone) > 2
    assert dut.last.stat("joint", "lookups") == 0
