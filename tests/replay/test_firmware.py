"""Random firmware on machines of several kinds, with all that a run leaves out done as well, and compared (firmware.py).

`make soak` simulates a billion cycles (of processors) in all, and says how many were replayed.  A run that fails names the seed
in its options: the firmware is firmwareSEED.elf.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.isa.programs import run
from tests.kits import Kit

from . import firmware
from .firmware import HALT, Target
from .test_check import replayed

ROOT = Path(__file__).resolve().parents[2]

# Processors with a scratchpad each, which holds their code, and what they share; simulated fast.
LOCAL = """
import memory_types;
import core_types;
import mips_isa_types;
runtime parameter program = "" : string;
module local_core {{
  runtime parameter program = "" : string;
  inport control : core_control;
  outport memory : mem(32);
  instance pipeline : {core};
  instance filter : scratchpad_filter {{ segments = [{{ base = 0x400000, size = 0x10000, target = filter_target.scratchpad }}]; }};
  instance scratchpad : memory_state {{ width = 32; size = 64 KiB; base = 0x400000; big_endian = {big}; image = program; }};
  control -> pipeline.control;
  pipeline.fetch -> filter.in;
  pipeline.data -> filter.in;
  filter.scratchpad -> scratchpad.port;
  filter.main -> memory;
}}
clock clk = 100 MHz;
instance start[2] : program_start;
instance core[2] : local_core {{ program = program; }};
instance arbiter : memory_arbiter {{ width = 32; }};
instance controller : sram_controller {{ width = 32; first_access = 3; segments = [{{ base = 0x10000000, size = 4096 }}]; }};
instance shared : memory_state {{ width = 32; size = 4 KiB; base = 0x10000000; big_endian = {big}; }};
for (i = 0; i < 2; i = i + 1) {{ start[i].entry = 0x400000 + 8 * i;  start[i].control -> core[i].control;  core[i].memory -> arbiter.in; }}
arbiter.out -> controller.in;
controller.memory -> shared.port;
"""
HOST = """
instance host : memory_source { width = 32; };
host.memory -> arbiter.in;
"""
# NICs alone; what the host's software does to their windows is the script.
NIC = """
instance bus : host_bus {{ memory_size = 1 MiB; interrupt_bits = 1; masking_bits = 0x40; }};
instance host : memory_source;
instance software : memory_source {{ width = 512; count = 0; }};
instance ethernet : ethernet{rate};
instance alarms : sink;
nic.bus["dma_read"] -> bus.bus["dma_read"];
nic.bus["dma_write"] -> bus.bus["dma_write"];
bus.device -> nic.window;
nic.interrupt -> bus.interrupt;
nic.wire_out -> ethernet.from_device;
ethernet.to_device -> nic.wire_in;
nic.ready -> ethernet.ready;
host.memory -> bus.window;
software.memory -> bus.memory;
bus.interrupting -> alarms.in;
"""
TIGON2 = """
import tigon2_nic;
clock sram_clk = 100 MHz;
clock cpu_clk = 88 MHz;
instance nic : tigon2_nic { processors = 2; cpu_clock = cpu_clk; };
""" + NIC.format(rate="")
NIC10G = """
import nic10g_chip;
clock frame_clk = 500 MHz;
clock cpu_clk = 200 MHz;
instance nic : nic10g_chip { cores = 4; cpu_clock = cpu_clk; };
""" + NIC.format(rate=" { rate = 10 Gb/s; }")
R = 0xC0000000  # registers of a NIC


@dataclass(frozen=True)
class Machine:
    """A machine, what its firmware may do, and where its host's requests come in."""

    target: Target
    text: str = ""  # or an example
    example: str = ""
    options: tuple[str, ...] = ()
    program: str = "program"
    clock: str = ""  # of the processors, where there are several
    begin: tuple[tuple[int, int], ...] = ()  # what the host stores at first
    words: int = 0  # where the host finds the shared words
    poke: tuple[tuple[int, tuple[int, ...]], ...] = ()  # further words that the host changes, and to what; (): to anything
    soak: int = 0  # millions of cycles


RAM = Target("mips2", cores=4, shared=0x80000, near=0x10000000, numbered=True)
TWO = Target(
    "prijoff", cores=2, shared=0x60000, near=0xC00000, copied_to=0xC00800, timer=R + 0x54, compare=(R + 0x58, R + 0x78),
    events=(R + 0x60, R + 0x70), timer_event=1 << 28, polled=(R + 0x64, R + 0x74, R + 0x54, R + 0x184), states=(R + 0x140, R + 0x240),
    scratch=(R + 0x60, R + 0x64, R + 0x70, R + 0x74, R + 0x180, R + 0x184), text=0x4000,
)  # fmt: skip
MANY = Target(
    "mips2", cores=4, shared=0x4000, patched=False, timer=R + 0x10, compare=(R + 0x14,) * 4, events=(R + 0x20,) * 4, timer_event=1 << 8,
    polled=(R + 0x4C, R + 0x180), scratch=(R + 0x24, R + 0x28, R + 0x4C, R + 0x180, R + 0x184), text=0x04000000, near=0x8000, apart=0x1000,
)  # fmt: skip
MACHINES = {
    "local_mips": Machine(Target("mips32r2", cores=2, shared=0x10000000), soak=250, text=LOCAL.format(core="mips_pipeline { set = mips_isa.mips32r2; big_endian = true; start_halted = true; }", big="true") + HOST),
    "local_riscv": Machine(Target("rv32i", cores=2, shared=0x10000000, linked=False), soak=150, text=LOCAL.format(core="rv32i_pipeline { start_halted = true; }", big="false") + HOST),
    "dual_core": Machine(replace(RAM, cores=2), example="dual_core", soak=200),
    "quad_core": Machine(RAM, example="quad_core", soak=150, options=("-D", "memory=8 MiB")),
    "tigon2": Machine(
        TWO, soak=150, text=TIGON2, options=("-I", str(ROOT / "examples/tigon2")), program="nic.sram.image", clock="cpu_clk:", words=0x800,
        begin=((0x68, TWO.shared), (0x144, TWO.text), (0x244, TWO.text + firmware.ENTRY), (0x140, 0), (0x240, 0)),
        poke=((0x500, ()), (0x508, ()), (0x140, (0, 0, HALT)), (0x240, (0, 0, HALT)), (0x184, ()), (0x60, (1 << 24, 1 << 23, 0))),
    ),
    "nic10g": Machine(
        MANY, soak=100, text=NIC10G, options=("-I", str(ROOT / "examples/nic10g")), program="nic.instructions.image", clock="cpu_clk:", words=0x800,
        begin=((0x34, MANY.shared), (0x38, MANY.text), (0x3C, 0xF)), poke=((0x24, ()), (0x28, ()), (0x4C, ()), (0x180, ()), (0x3C, (0xF, 0xF, 0xE, 0x5))),
    ),
}  # fmt: skip


@dataclass
class Firmwares:
    """A machine that was built, and runs of it with random firmware."""

    machine: Machine
    simulator: Path
    folder: Path

    def clear(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()

    def options(self, seed: int, cycles: int) -> list:
        target, machine = self.machine.target, self.machine
        program, script = firmware.build(target, seed, self.folder), self.folder / f"host{seed}.txt"
        script.write_text(firmware.host_script(machine.words or target.shared, target.cores, seed, cycles, machine.begin, machine.poke))
        return ["--quiet", "--set", f"{machine.program}={program}", "--set", f"host.script={script}", "--cycles", f"{machine.clock}{cycles}"]


@pytest.fixture
def firmwares(build_dir: Path, tmp_path: Path) -> Callable[..., Firmwares]:
    """firmwares(name, options of the build...): the machine, built."""

    def build(name: str, *options: str, compiler: Path | None = None) -> Firmwares:
        machine, netlist, simulator = MACHINES[name], tmp_path / f"{name}.lss", tmp_path / name
        text = machine.text or (ROOT / f"examples/{machine.example}/{machine.example}.lss").read_text() + HOST
        netlist.write_text(text)
        run([compiler or build_dir / "bin/lss", "build", *machine.options, *options, netlist, "-o", simulator])
        (tmp_path / "runs").mkdir()
        return Firmwares(machine, simulator, tmp_path / "runs")

    return build


# Their cores are those of others, or like those.
REST = ("quad_core", "nic10g", "tigon2", "local_mips")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.soak] * (name in REST)) for name in MACHINES])
def test_random_firmware_is_replayed_exactly(name: str, firmwares, run_sim) -> None:
    """A short one of the following."""
    made, checked = firmwares(name), 0
    for seed in range(10, 13):
        checked += sum(replayed(run_sim(made.simulator, *made.options(seed, 50_000), "--check-replay")).values())
    assert checked > 6_000


@pytest.mark.soak
@pytest.mark.optimised
@pytest.mark.parametrize("name", MACHINES)
def test_soak_of_random_firmware(name: str, firmwares, run_sim, tell) -> None:
    made, checked, runs = firmwares(name), 0, MACHINES[name].soak
    for seed in range(runs):
        options = made.options(seed, 1_000_000)
        checked += sum(replayed(run_sim(made.simulator, *options, "--check-replay")).values())
        made.clear()
    tell(name, runs * 1_000_000, checked)
    assert checked > runs * 100_000


@pytest.mark.parametrize("name", [name if name == "local_mips" else pytest.param(name, marks=pytest.mark.soak) for name in MACHINES])
def test_random_firmware_does_the_same_without_replay(name: str, firmwares, alike) -> None:
    made = firmwares(name)
    for seed in range(1000, 1003):
        alike(made.simulator, *made.options(seed, 50_000))


@pytest.mark.soak
@pytest.mark.parametrize("kit", ["sanitized"], indirect=True)
def test_tables_under_sanitizers(kit: Kit, firmwares, run_sim, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    made = firmwares("local_mips", "-O", "0", *kit.options, compiler=kit.lss)
    for seed in range(2000, 2003):
        run_sim(made.simulator, *made.options(seed, 50_000))
