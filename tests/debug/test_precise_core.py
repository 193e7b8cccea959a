"""gdb on a core with exceptions and translated addresses: it stops and steps in user mode and in handlers, and past a wait."""

import json
from pathlib import Path

import pytest

from tests.isa import system
from tests.isa.programs import run
from tests.isa.system_core import KSEG0_CACHED, boot

CONTROLLED = "\ninstance nobody : source { count = 0; };\nnobody.out -> core.control : core_control;\n"
PC, STATUS, CAUSE, T0 = 37, 32, 36, 8
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
CASES = [system.Case("user", "addiu $t0, $zero, 5\nV: addiu $t0, $t0, 1\nX: syscall", user=True), system.Case("wait", WAITS)]


@pytest.fixture(scope="module")
def simulator(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("precise")
    text = (root / "tests" / "isa" / "system_machine.lss").read_text() + CONTROLLED
    (folder / "machine.lss").write_text(text)
    run([build_dir / "bin" / "lss", "build", folder / "machine.lss", "-O0", "-o", folder / "machine"])
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


def test_it_stops_and_steps_in_every_mode_and_the_run_does_not_notice(simulator, program, debugged, run_sim, tmp_path) -> None:
    options, labels = program
    straight = run_sim(simulator, "--quiet", *options, "--stats", "straight.json").out
    run = debugged(simulator, *options, "--stats", "debugged.json")
    session = Session(run.remote(), labels)
    user = labels["V_0"] - system.KSEG0  # mapped where it is
    session.until(user)
    assert (session.register(STATUS), session.register(T0)) == (USER_MODE, 5)
    assert session.gdb.ask(f"m{user:x},4") == session.gdb.ask(f"m{labels['V_0']:x},4") == "01000825"
    assert session.step() == system.KSEG0 + 0x180 and session.register(T0) == 6  # a syscall does not retire
    assert (session.register(STATUS), session.register(CAUSE)) == (EXCEPTION, 8 << 2)
    assert session.gdb.ask("bs").startswith("T05") and session.register(PC) == user
    session.until(labels["W_1"])
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
    user = labels["V_0"] - system.KSEG0
    session.until(user)
    assert session.gdb.ask("P8=07000000") == "OK"
    assert session.step() == system.KSEG0 + 0x180 and session.register(T0) == 8
