"""examples/single_core and examples/dual_core run the C programs of firmware/ to the right end."""

import pytest

from tests.sample import sampled

PRIMES = "hello from a MIPS core; primes: 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47\n"


def test_hello(root, build_dir, build_sim, run_sim) -> None:
    simulator = build_sim(root / "examples/single_core/single_core.lss")
    done = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf")
    assert PRIMES in done.out and done.value("console", "bytes") == len(PRIMES)
    assert done.value("core.writeback", "instructions") > 1000


def test_no_program_is_an_error(root, build_sim, run_sim) -> None:
    """Without one the core would execute zeros, to a good end; an entry says that what runs is in memory already."""
    simulator = build_sim(root / "examples/single_core/single_core.lss")
    done = run_sim(simulator, "--cycles", 100, ok=False)
    assert done.status == 1 and len(done.err.splitlines()) == 1
    assert "start: there is no program: set `program` to its ELF file, or `entry` to the address at which the processors start" in done.err
    assert "is outside its range, -1 to 4294967295" in run_sim(simulator, "--set", "start.entry=-2", ok=False).err
    run_sim(simulator, "--cycles", 100, "--set", "start.entry=0")


@pytest.mark.parametrize("cpus", sampled([1, 2, 4, 8], 4, 1))
def test_sum(cpus: int, root, build_dir, build_sim, run_sim) -> None:
    """Every core takes part, and the sum is right however many there are."""
    simulator = build_sim(root / "examples/dual_core/dual_core.lss", "-D", f"processors={cpus}")
    done = run_sim(simulator, "--program", build_dir / "firmware/sum/sum.elf")
    assert f"{cpus} cores: the squares below 1000 add up to 332833500\n" in done.out
    assert all(done.value(f"core[{n}].pipeline.writeback", "instructions") > 0 for n in range(cpus))


@pytest.mark.parametrize("cpus", [0, 9])
def test_a_wrong_number_of_cores_is_an_error(cpus: int, root, lss) -> None:
    done = lss("check", root / "examples/dual_core/dual_core.lss", "-D", f"processors={cpus}", ok=False)
    assert f"`processors` is {cpus}, outside its range, 1 to 8" in done.err


def test_the_other_byte_order_is_refused_by_name(root, build_dir, build_sim, run_sim) -> None:
    simulator = build_sim(root / "examples/single_core/single_core.lss", "-D", "big_endian=false")
    done = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf", ok=False)
    assert "hello.elf: a big-endian program in a little-endian memory" in done.err


COMPUTER = """
module {name} {{
  runtime parameter program = "" : string;
  instance start : program_start {{ program = program; }};
  instance core : {core};
  instance filter : scratchpad_filter {{ segments = [{{ base = 0, size = 0x800000, target = filter_target.scratchpad }}]; }};
  instance ram : memory_state {{ width = 32; size = 8 MiB; big_endian = {big_endian}; image = program; }};
  outport devices : mem(32);
  start.control -> core.control;
  core.fetch -> filter.in;
  core.data -> filter.in;
  filter.scratchpad -> ram.port;
  filter.main -> devices;
}}
runtime parameter program_{name} = "" : string;
instance a_{name} : {name} {{ program = program_{name}; }};
a_{name}.devices -> console.port;
"""


def test_cores_of_two_instruction_sets_and_byte_orders_in_one_machine(root, build_dir, build_sim, run_sim) -> None:
    machine = "import memory_types;\ninstance console : console;\n"
    machine += COMPUTER.format(name="mips", core="mips_pipeline { start_halted = true; }", big_endian="true")
    machine += COMPUTER.format(name="riscv", core="rv32i_pipeline { start_halted = true; }", big_endian="false")
    programs = {"mips": "hello/hello.elf", "riscv": "sha256/sha256.elf"}
    arguments = [f"--program_{name}={build_dir / 'firmware' / program}" for name, program in programs.items()]
    done = run_sim(build_sim(machine), *arguments)
    assert done.value("console", "exits") == 2
    assert PRIMES.strip() in done.out and "bytes: " in done.out
