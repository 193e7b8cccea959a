"""gdb on a core with exceptions and translated addresses: it stops and steps in user mode and in handlers, and past a wait."""

import json
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.programs import run
from tests.isa.system_core import KSEG0_CACHED, assemble_for, boot, boot_contexts
from tests.sample import sampled, seldom

CONTROLLED = "\ninstance nobody : source { count = 0; };\nnobody.out -> core.control : core_control;\n"
PC, STATUS, CAUSE, T0, S0 = 37, 32, 36, 8, 16
USER_MODE, EXCEPTION, TIMER = 0x10000010, 0x10000012, 0x10008001
WAITS = f"""
  mfc0 $t0, $9
  addiu $t0, $t0, 20000
  mtc0 $t0, $11
  LI $t1, {TIMER:#x}
  mtc0 $t1, $12
W: wait
X: nop
"""
BRANCH = "beq $t4, $t4, 1f\naddiu $s0, $s0, 1\n1:"
# What is executed alone by a core that is not in order, stops it or waits, between instructions that add 1.
EVERYTHING = [
    "mfc0 $t3, $12", "mtc0 $t3, $12", "LL: ll $t4, 0($t2)", "sc $t4, 0($t2)", "sw $s0, 4($t2)", "lw $t4, 4($t2)", "cache 0x15, 0($t2)", "sync",
    "lw $t4, 4($t5)", "sw $t4, 8($t5)", "mult $t2, $t2", "mflo $t4", "div $zero, $t2, $t3", "mfhi $t4", BRANCH, "di $t4", "tlbp",
]  # fmt: skip
ADDS = "".join(f"V{n}: {one}\naddiu $s0, $s0, 1\n" for n, one in enumerate(EVERYTHING))
PENDING = """
  mtc0 $zero, $12
  mfc0 $t0, $9
  addiu $t0, $t0, 100
  mtc0 $t0, $11
1: mfc0 $t0, $13
  bgez $t0, 2f
  nop
2: sll $t0, $t0, 1
  bgez $t0, 1b
  nop
A: addiu $s0, $s0, 1
  addiu $s0, $s0, 1
  addiu $s0, $s0, 1
B: addiu $s0, $s0, 1
  addiu $s0, $s0, 1
"""
CASES = [system.Case("everything", f"LI $t2, 0x80300000\nLI $t5, 0xa0300000\naddiu $s0, $zero, 0\n{ADDS}RECORD $s0"), system.Case("pending", PENDING), system.Case("user", "addiu $t0, $zero, 5\nV: addiu $t0, $t0, 1\nX: syscall", user=True), system.Case("wait", WAITS)]


@pytest.fixture(scope="module", params=sampled([0, 4], first=1), ids=["in order", "four wide"])
def simulator(request, root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("precise")
    text = (root / "tests" / "isa" / "system_machine.lss").read_text() + CONTROLLED
    (folder / "machine.lss").write_text(text)
    run([build_dir / "bin" / "lss", "build", folder / "machine.lss", "-O0", "-D", f"wide={request.param}", "-o", folder / "machine"])
    return folder / "machine"


class Session:
    def __init__(self, gdb, labels: dict[str, int]) -> None:
        self.gdb, self.labels = gdb, labels

    def register(self, number: int) -> int:
        return int.from_bytes(bytes.fromhex(self.gdb.ask(f"p{number:x}")), "little")

    def until(self, pc: int) -> None:
        assert self.gdb.ask(f"Z0,{pc:x},4") == "OK" and self.gdb.ask("c").startswith("T05") and self.gdb.ask(f"z0,{pc:x},4") == "OK"
        assert self.register(PC) == pc

    def step(self) -> int:
        assert self.gdb.ask("s").startswith("T05")
        return self.register(PC)


@pytest.fixture
def program(tmp_path: Path) -> tuple[list[str], dict[str, int]]:
    elf = system.build(CASES, tmp_path / "cases.elf", big=False)
    return [*boot(elf, tmp_path, False, KSEG0_CACHED), "--cycles", "400000"], system.labels_of(elf)


def test_it_stops_and_steps_in_every_mode_and_the_run_is_not_affected(simulator, program, debugged, run_sim, tmp_path) -> None:
    options, labels = program
    straight = run_sim(simulator, "--quiet", *options, "--stats", "straight.json").out
    run = debugged(simulator, *options, "--stats", "debugged.json")
    session = Session(run.remote(), labels)
    user = labels["V_2"] - system.KSEG0  # mapped where it is
    session.until(user)
    assert (session.register(STATUS), session.register(T0)) == (USER_MODE, 5)
    assert session.gdb.ask(f"m{user:x},4") == session.gdb.ask(f"m{labels['V_2']:x},4") == "01000825"
    assert session.step() == system.KSEG0 + 0x180 and session.register(T0) == 6  # a syscall does not retire
    assert (session.register(STATUS), session.register(CAUSE)) == (EXCEPTION, 8 << 2)
    assert session.gdb.ask("bs").startswith("T05") and session.register(PC) == user
    session.until(labels["W_3"])
    assert session.register(STATUS) == TIMER
    assert session.step() == system.KSEG0 + 0x180
    assert session.register(CAUSE) == 0x40008000
    session.gdb.ask("c")
    session.gdb.ask("c")
    session.gdb.close()
    status, out, _ = run.end()
    assert (status, out) == (0, straight) and json.loads((tmp_path / "straight.json").read_text())["statistics"] == json.loads((tmp_path / "debugged.json").read_text())["statistics"]


def test_what_is_written_acts_in_user_mode(simulator, program, debugged) -> None:
    options, labels = program
    session = Session(debugged(simulator, *options).remote(), labels)
    user = labels["V_2"] - system.KSEG0
    session.until(user)
    assert session.gdb.ask("P8=07000000") == "OK"
    assert session.step() == system.KSEG0 + 0x180 and session.register(T0) == 8


def test_what_is_written_acts_before_every_instruction(simulator, program, debugged) -> None:
    """Also before what is executed alone; 100 is added to the sum at each stop, and where the program goes on twice, once more."""
    options, labels = program
    run = debugged(simulator, *options)
    session = Session(run.remote(), labels)
    added = 0
    for n in range(len(EVERYTHING)):
        session.until(labels[f"V{n}_0"])
        assert session.register(S0) == n + (n > EVERYTHING.index(BRANCH)) + added, n
        added += 100
        assert session.gdb.ask(f"P{S0:x}={(session.register(S0) + 100).to_bytes(4, 'little').hex()}") == "OK"
    last = labels[f"V{len(EVERYTHING) - 1}_0"]
    session.step()
    session.step()
    assert session.gdb.ask(f"P{PC:x}={last.to_bytes(4, 'little').hex()}") == "OK" and session.register(PC) == last
    session.gdb.ask("c")
    session.gdb.close()
    status, out, error = run.end()
    assert status == 0, error
    assert system.records(out, len(CASES))[0] == [len(EVERYTHING) + 2 + added]


def test_an_interrupt_where_the_pc_was_set_to(simulator, program, debugged) -> None:
    """It is enabled by gdb beside that: what is set is where the handler returns to."""
    options, labels = program
    run = debugged(simulator, *options)
    session = Session(run.remote(), labels)
    session.until(labels["A_1"])
    assert session.gdb.ask(f"P{PC:x}={labels['B_1'].to_bytes(4, 'little').hex()}") == "OK"
    assert session.gdb.ask(f"P{STATUS:x}={TIMER.to_bytes(4, 'little').hex()}") == "OK"
    session.gdb.ask("c")
    session.gdb.close()
    status, out, error = run.end()
    assert status == 0, error
    assert system.records(out, len(CASES))[1][2] == labels["B_1"]


def test_the_pc_is_set_during_a_wait(simulator, program, debugged, request) -> None:
    """It is the end of the wait: the instruction there is executed next."""
    options, labels = program
    run = debugged(simulator, *options)
    session = Session(run.remote(), labels)
    system_control = "core.system[0]" if request.node.callspec.params["simulator"] else "core.system"
    assert not session.gdb.monitor(f"break {system_control}.waiting >= 1").strip()
    assert session.gdb.ask("c").startswith("T05") and session.register(PC) == labels["W_3"]
    session.gdb.monitor("break")
    assert session.gdb.ask(f"P{PC:x}={labels['X_3'].to_bytes(4, 'little').hex()}") == "OK"
    assert session.register(PC) == labels["X_3"] and session.step() == labels["X_3"] + 4
    session.gdb.ask("c")
    session.gdb.close()
    status, out, error = run.end()
    assert status == 0 and len(system.records(out, len(CASES))) == len(CASES), error


@seldom
def test_each_context_has_its_own_system_control(root: Path, build_dir: Path, debugged, tmp_path: Path) -> None:
    """What gdb shows of Status, and by what it translates, is that of the program whose process it is: one enters an address space of its own."""
    elves = [assemble_for(n, system.source(CASES[-1:]), tmp_path / f"context{n}.elf", False) for n in range(2)]
    run([build_dir / "bin" / "lss", "build", root / "tests/isa/system_machine.lss", "-O0", "-D", "wide=2", "-D", "contexts=2", "-D", "memory=16 MiB", "-o", tmp_path / "machine"])
    gdb = debugged(tmp_path / "machine", *boot_contexts(elves, tmp_path, False)).remote()
    gdb.ask("qSupported:multiprocess+")
    assert gdb.ask("vAttach;2").startswith("T05")
    entry = "{mask=0 hi=0x4000 lo0=0x17 lo1=0x57}"  # valid, of frames 0 and 1
    for change in (f"system[0].Status = {USER_MODE:#x}", f"system[1].Status = {EXCEPTION:#x}", f"tlb[0].entry[3] = {entry}"):
        gdb.monitor(f"set core.{change}")
    seen = []
    for n in (1, 2):
        assert gdb.ask(f"Hgp{n}.1") == "OK"
        seen.append((int.from_bytes(bytes.fromhex(gdb.ask(f"p{STATUS:x}")), "little"), len(gdb.ask("m4000,4"))))
    assert seen == [(USER_MODE, 8), (EXCEPTION, 3)]
    gdb.close()
