"""Halting, going on and single steps at any moment change nothing but the time: programs print what the interpreter says."""

import subprocess
from pathlib import Path

import pytest

from tests.isa.programs import TEXT, assemble
from tests.isa.streams import explain, random_program
from tests.sample import sampled

# Commands come at random moments: halt, go on, halt, step three times, go on, and so forth.
MACHINE = f"""
import memory_types;
import core_types;
parameter big_endian = true : bool;
parameter slow = false : bool;
runtime parameter program = "" : string;
instance commands : source {{
  offer = 0.15;
  generate = <<<
    core_control command = {{.set_halt = index % 6 < 3 || index % 6 == 5, .halt = index % 6 == 0 || index % 6 == 2}};
    command.step = index % 6 == 3 || index % 6 == 4;
    command.flush = index % 7 == 0;
    return command;
  >>>;
}};
instance core : mips_pipeline {{ big_endian = big_endian; reset_pc = {TEXT}; }};
instance filter : scratchpad_filter {{ segments = [{{ base = 0, size = 0x800000, target = filter_target.scratchpad }}]; }};
instance ram : memory_state {{ width = 32; size = 8 MiB; big_endian = big_endian; image = program; }};
instance console : console;
commands.out -> core.control;
core.fetch -> filter.in;
core.data -> filter.in;
filter.main -> console.port;
if (slow) {{
  instance delay : memory_delay {{ width = 32; latency = 1; jitter = 3; refuse = 0.2; }};
  filter.scratchpad -> delay.in;
  delay.out -> ram.port;
}} else {{
  filter.scratchpad -> ram.port;
}}
"""


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("halting")
    (directory / "machine.lss").write_text(MACHINE)
    built = {}
    for name, options in {"fast": [], "slow": ["-D", "slow=true"], "little": ["-D", "big_endian=false"]}.items():
        built[name] = directory / name
        command = [build_dir / "bin" / "lss", "build", directory / "machine.lss", "-o", built[name], *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return built


@pytest.mark.parametrize("name", sampled(["fast", "slow", "little"], 3, 1))
@pytest.mark.parametrize("seed", sampled(range(1, 7), 6))
def test_halts_and_steps_are_invisible(seed: int, name: str, machines: dict[str, Path], build_dir: Path, tmp_path: Path):
    stream = random_program(seed)
    big = name != "little"
    plain = assemble(stream.text, tmp_path / "oracle.elf", big)
    expected = subprocess.run([build_dir / "bin" / "mips-oracle", plain], capture_output=True, timeout=60).stdout
    elf = assemble(stream.text, tmp_path / "core.elf", big, "device")
    printed = tmp_path / "printed"
    command = [machines[name], "--program", elf, "--cycles", "2000000", "--seed", str(seed), "--set", f"console.output={printed}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "the program exited" in done.stderr, done.stderr
    found = printed.read_bytes()
    assert found == expected, f"seed {seed} on {name}: {explain(expected, found)}"
