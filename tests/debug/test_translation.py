"""A processor whose addresses are translated: gdb uses those of the program, and sees the registers of system control."""

import pytest

from tests.sample import sampled, seldom

MACHINE = """
import mmu_types;
clock clk = 100 MHz;
instance start : program_start { entry = 0; };
instance core : mips_pipeline { big_endian = false; start_halted = true; };
instance ram : memory_state { width = 32; size = 64 KiB; alias = true; };
start.control -> core.control;
core.fetch -> ram.port;
core.data -> ram.port;
instance control : mips_system;
instance joint : tlb;
instance executed : source { count = 0; };
instance fault : source { count = 0; };
instance standing : source { count = 0; };
instance lookups : source { count = 0; };
instance ignored[6] : sink;
executed.out -> control.in : core_executed;
fault.out -> control.fault : core_fault;
standing.out -> control.standing : bool;
control.operate -> joint.operate;
control.out -> ignored[0].in;
control.kill -> ignored[1].in;
control.restart -> ignored[2].in;
control.context -> ignored[3].in;
joint.changed -> ignored[4].in;
lookups.out -> joint.lookup.request : translation_request;
joint.lookup.reply -> ignored[5].in : translation_reply;
debug memory { 0 .. 0x1fffffff = ram.bytes : [{ name = "device", offset = 0x104 }]; }
"""
STATUS, BADVADDR, CAUSE = 32, 35, 36


def go_on(gdb) -> None:
    """As far as it takes to come back to where the pipeline is emptied: what is set ends the history before it."""
    for _ in range(8):
        gdb.ask("s")


@pytest.fixture
def gdb(build_sim, debugged):
    """Stopped after its first instruction, with two pairs of pages: one of address space 5, one of 16 KiB for all."""
    gdb = debugged(build_sim(MACHINE)).remote()
    entries = {0: (0, 0x400005, 0x1000 >> 6 | 6, 0x3000 >> 6 | 4), 7: (0x6000, 0xC0000000, 0x8000 >> 6 | 7, 0x4000 >> 6 | 7)}
    for n, (mask, hi, lo0, lo1) in entries.items():
        gdb.monitor(f"set joint.entry[{n}] = {{mask={mask} hi={hi} lo0={lo0} lo1={lo1}}}")
    gdb.monitor("set control.EntryHi = 5")
    gdb.monitor("set control.Status = 0")
    go_on(gdb)
    return gdb


PLACES = {0x80001104: 0x1104, 0xA0001104: 0x1104, 0x400104: 0x1104, 0xC0000104: 0x8104, 0xC0003FFC: 0xBFFC, 0xC0004104: 0x4104}


@pytest.mark.parametrize("address", sampled(PLACES, 3))
def test_memory_is_read_and_written_where_programs_find_it(gdb, address: int) -> None:
    physical = PLACES[address]
    assert gdb.ask(f"M{address:x},4:01020304") == "OK" and gdb.ask(f"m{address:x},4") == "01020304"
    assert gdb.ask(f"m{physical + 0x80000000:x},4") == "01020304"
    assert gdb.monitor(f"print ram.bytes[{physical}..{physical + 3}]").split()[-4:] == ["1", "2", "3", "4"]


@seldom
def test_what_is_not_mapped_is_not_there(gdb) -> None:
    """No entry, one of another space, one that is not valid; a stretch ends before the page that is not there."""
    for address in (0x2000, 0x401000, 0xC0008000):
        assert gdb.ask(f"m{address:x},4").startswith("E") and gdb.ask(f"M{address:x},1:00").startswith("E")
    assert len(gdb.ask("m400ffc,8")) == 8
    gdb.monitor("set control.EntryHi = 6")
    assert gdb.ask("m400104,4").startswith("E") and gdb.ask("mc0000104,4") == "00000000"


@seldom
def test_after_reset_the_user_segment_is_memory(gdb) -> None:
    gdb.monitor("set control.Status = 4")
    go_on(gdb)
    assert gdb.ask("M1104,1:07") == "OK" and gdb.ask("m80001104,1") == "07" and gdb.ask("M401104,1:08") == "OK" and gdb.ask("m80001104,1") == "08"


def test_breakpoints_and_watches_are_where_programs_find_them(gdb) -> None:
    """Two addresses of one byte are the same to a watch."""
    assert gdb.ask("Z2,400104,4") == "OK" and gdb.ask("Z2,402000,4").startswith("E")


def test_registers_of_system_control(gdb) -> None:
    gdb.monitor("set control.Cause = 0x12340278")
    gdb.monitor("set control.BadVAddr = 0xdeadbeec")
    gdb.monitor("set control.Status = 0x10000401")
    go_on(gdb)
    assert [gdb.ask(f"p{n:x}") for n in (STATUS, BADVADDR, CAUSE)] == ["01040010", "ecbeadde", "78023412"]
    assert gdb.ask(f"P{STATUS:x}=00ff0010") == "OK" and gdb.ask(f"p{STATUS:x}") == "00ff0010"
    assert "0x1000ff00" in gdb.monitor("print /x control.Status")


@seldom
def test_words_that_have_names_are_found_at_addresses_of_programs(build_sim, run_sim) -> None:
    assert "set $device = (unsigned int *) 0xa0000104" in run_sim(build_sim(MACHINE), "--gdb", "2331", "--gdb-script").out
