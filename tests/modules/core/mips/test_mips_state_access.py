"""mips_state_access: the state of a processor that has run a program arrives in a register file, a TLB and the others, a word in a cycle; and goes on from there as it came."""

import pytest

from tests.modules.core.mips.fast_program import SETTINGS, STATE_PC, WORDS, machine, scripts, shown
from tests.modules.harness import Bench, collect, happened, read_items
from tests.modules.mips import struct
from tests.sample import sampled

PARTS = """
    instance access : mips_state_access;
    instance registers : memory_state { width = 32; size = 128 B; };
    instance joint : tlb;
    instance hilo : multiply_divide;
    instance works : source;
    instance system : memory_state { width = 32; size = 1 KiB; };
    instance fetch : sink;
    instance status : source;
    instance after : sink;
    instance lookups : source;
    instance never_operated : source;
    instance dropped[3] : sink;
    dut.save -> access.load;
    access.save -> after.in;
    status.out -> access.status : core_status;
    access.control -> fetch.in;
    access.registers -> registers.port;
    access.hilo_load -> hilo.load;
    hilo.hilo -> access.hilo;
    works.out -> hilo.in : muldiv_request;
    access.system -> system.port;
    access.operate -> joint.access;
    lookups.out -> joint.lookup.request : translation_request;
    joint.lookup.reply -> dropped[0].in;
    never_operated.out -> joint.operate.request : tlb_request;
    joint.operate.reply -> dropped[1].in;
    joint.changed -> dropped[2].in;
""" + collect("access", "loaded(number, value)")


# HI and LO are in the register file.
RENAMED = PARTS.replace("size = 128 B", "size = 256 B").replace("    instance hilo : multiply_divide;\n    instance works : source;\n", "")
RENAMED = RENAMED.replace("    access.hilo_load -> hilo.load;\n    hilo.hilo -> access.hilo;\n    works.out -> hilo.in : muldiv_request;\n", "")


@pytest.mark.parametrize("parts", sampled([PARTS, RENAMED], 2), ids=["a unit with HI and LO", "registers"])
def test_a_state_arrives_and_goes_on(parts: str, bench: Bench) -> None:
    """The program's state, in the order of the numbers, once; then, while the core is halted, all of it is offered as it came, taken at random and again from the first word on."""
    dut = machine(bench, "import mmu_types;\n" + parts)
    played, files = scripts([])
    halted = struct(halted=True, fault=False, slot=False, pc=STATE_PC)
    files |= {"status": "".join(f"{k} {halted} once\n" for k in range(300, 1200)), "none": ""}
    settings = SETTINGS | {"status.script": "status", "fetch.record": "fetch", "after.record": "after", "after.ready": 0.5} | {f"{name}.script": "none" for name in ("works", "lookups", "never_operated") if f"instance {name} " in parts}
    dut.play(played, 1200, settings, files=files, outstanding=8, seed=5)
    came = [(cycle, number, value) for cycle, number, value in happened(dut.last, "loaded")]
    assert all(cycle == 300 + (38 if number == 34 else number) for cycle, number, _ in came) and dut.last.stat("access", "loads") == 1
    words = {number: value for _, number, value in came}
    assert sorted(words) == list(range(WORDS)) and (words[8], words[10], words[26], words[33], words[34]) == (5, 5, 0x80000000, 25, STATE_PC)
    assert [(cycle, f"pc={STATE_PC}" in value or f"pc={STATE_PC:#x}" in value) for cycle, value in read_items(dut.last.directory / "fetch")] == [(300 + 38, True)]
    went = [shown(value) for _, value in read_items(dut.last.directory / "after")]
    saves = dut.last.stat("access", "saves")
    assert saves >= 2 and len(went) >= saves * WORDS
    for k, word in enumerate(went):
        number = k % WORDS
        assert word == (number, words[number], number == WORDS - 1)


def test_hi_and_lo_come_and_go_the_same_way(bench: Bench) -> None:
    text = "import core_types; instance dut : mips_state_access; instance hilo : source; hilo.out -> dut.hilo : muldiv_state;"
    assert "hilo and hilo_load must be connected together, or neither" in bench.refuse(text)


def test_nothing_moves_while_the_core_executes(bench: Bench) -> None:
    """What comes waits, and nothing is offered."""
    dut = machine(bench, "import mmu_types;\n" + PARTS)
    played, files = scripts([])
    running = struct(halted=False, fault=False, slot=False, pc=0)
    files |= {"status": "".join(f"{k} {running} once\n" for k in range(400)), "none": ""}
    settings = SETTINGS | {"status.script": "status", "fetch.record": "fetch", "after.record": "after"} | {f"{name}.script": "none" for name in ("works", "lookups", "never_operated")}
    dut.play(played, 400, settings, files=files, outstanding=8)
    assert not happened(dut.last, "loaded") and not read_items(dut.last.directory / "fetch") and not read_items(dut.last.directory / "after")
    assert dut.last.stat("access", "loads") == dut.last.stat("access", "saves") == 0
