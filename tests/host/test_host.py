"""examples/host runs programs that need no operating system: serial port, script, power, absent devices; as the functional machine does."""

import os
import pty
import re
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.emulib.test_system import bare, end
from tests.host import sectors
from tests.isa import system
from tests.kills import Work
from tests.linux_guest import guest
from tests.sample import seldom

# Prints '>' and what is typed, up to a q, and waits until that has left.
ECHO = f"""
  LI $s0, 0xbf000900
  addiu $t1, $zero, 3
  sb $t1, 0x18($s0)
  addiu $t1, $zero, 1
  sb $t1, 0x10($s0)
  sb $t1, 0x08($s0)
  LI $t1, 0x10001000
  mtc0 $t1, $12
  bal put
  addiu $a0, $zero, 62
1: wait
  lbu $t1, 0x28($s0)
  andi $t1, $t1, 1
  beqz $t1, 1b
  nop
  bal put
  lbu $a0, 0($s0)
  addiu $t2, $a0, -113
  bnez $t2, 1b
  nop
2: lbu $t1, 0x28($s0)
  andi $t1, $t1, 0x40
  beqz $t1, 2b
  nop
{end(7)}
put:
  lbu $t1, 0x28($s0)
  andi $t1, $t1, 0x20
  beqz $t1, put
  nop
  jr $ra
  sb $a0, 0($s0)
"""

# Reads a word from an address; the exit status is its lowest byte, or the code of the exception.
READ = """
  LA $s7, 1f
  LI $t0, {address:#x}
  lw $t1, 0($t0)
  b 2f
  nop
1: lw $t1, -24($gp)
  srl $t1, $t1, 2
  andi $t1, $t1, 0x1f
2: LI $t0, 0xbf000000
  sb $t1, 0x504($t0)
  addiu $t1, $zero, 0x42
  sb $t1, 0x500($t0)
3: b 3b
  nop
"""


COHERENT, CHECKED, DISK = "system_kind=coherent_system", "checked=true", "disks=[disk_image]"


@pytest.fixture
def host(root: Path, build_sim) -> Callable[..., Path]:
    """host("wide", "mshrs=4"): the simulator of a machine in examples/host, with these parameters."""
    return lambda name, *given: build_sim(root / f"examples/host/{name}.lss", "-I", root / "examples/tigon2", *(word for one in given for word in ("-D", one)))


WRITE = READ.replace("lw $t1, 0($t0)", "sw $t0, 0($t0)\n  sync\n  addiu $t1, $zero, 3")


def test_programs_run_as_on_the_functional_machine(build_dir: Path, host, run_sim, tmp_path: Path) -> None:
    machine = host("host")
    script = tmp_path / "script"
    script.write_text('wait ">"\nsend "ab\\tb"\nwait "\\tb"\nafter 1 ms\nsend "q"\n')
    elf = bare(ECHO, tmp_path / "echo.elf")
    reference = system.on_oracle(elf, False, build_dir, "--console-script", str(script))
    options = ["--quiet", "--kernel", elf, "--console_script", script]
    done = run_sim(machine, *options, "--console_output", "whole", ok=None)
    assert (done.status, (tmp_path / "whole").read_text()) == (reference.returncode, reference.stdout) == (7, ">ab\tbq")
    assert done.value("devices.uart", "received") == 5 and "devices.power: the machine was switched off with status 7" in done.err

    # What is skipped while the script waits changes nothing, interrupt lines on their way to the processor included
    checked = run_sim(machine, *options, "--console_output", "checked", "--check-replay", ok=None)
    assert checked.status == 7 and "instants that were skipped" in checked.err and checked.stats["statistics"] == done.stats["statistics"]

    # A checkpoint while the script types, and the rest
    run_sim(machine, *options, "--console_output", "first", "--cycles", 40_000, "--checkpoint", "point")
    rest = run_sim(machine, "--quiet", "--restore", "point", "--console_output", "rest", ok=None)
    assert (tmp_path / "first").read_text() + (tmp_path / "rest").read_text() == ">ab\tbq" and rest.status == 7
    assert rest.stats["statistics"] == done.stats["statistics"]

    # A second that nothing happens in
    script.write_text('wait ">"\nafter 1 s\nsend "q"\n')
    idle = run_sim(machine, *options, "--console_output", "idle", ok=None, timeout=30)
    assert idle.status == 7 and idle.stats["run"]["skipped_cycles"] > 199_990_000

    # Somebody at the terminal, which is as before afterwards
    controller, terminal = pty.openpty()
    state = termios.tcgetattr(terminal)
    command = [machine, "--quiet", "--kernel", bare(ECHO, tmp_path / "echo.elf"), "--console", "true"]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.read(1) == b">"
        os.write(controller, b"abq")
        printed, told = running.communicate(timeout=60)
    assert (running.returncode, printed) == (7, b"abq") and b"what is typed comes from a terminal: this run is not repeatable" in told
    assert termios.tcgetattr(terminal) == state
    with subprocess.Popen([*command[:1], *command[2:]], stdin=terminal, stdout=terminal, stderr=terminal) as running:
        os.close(terminal)
        shown = b""
        while b">" not in shown:
            shown += os.read(controller, 1000)
        time.sleep(0.5)  # longer than it takes for the line of progress to be shown
        os.write(controller, b"abq")
        while b"switched off" not in shown:
            shown += os.read(controller, 1000)
    assert running.returncode == 7 and b">abq" in shown and b"\033" not in shown

    # What is absent: PCI functions, virtio devices, everything else
    for address, status in ((0xBB000000, 0xFF), (0xBF002000, 0), (0xBC000000, 7), (0xBF003000, 7), (0xA4000000, 7), (0xBF000910, 1)):
        elf = bare(READ.format(address=address), tmp_path / "read.elf")
        read = run_sim(machine, "--quiet", "--kernel", elf, "--cycles", 100_000, ok=None)
        assert read.status == status == system.on_oracle(elf, False, build_dir).returncode, hex(address)
    lost_writes(machine, run_sim, tmp_path, {0xBF003000: "system.cpu.uncached_data", 0x84000000: "system.cpu.dcache.controller"})


def lost_writes(machine: Path, run_sim, tmp_path: Path, where: dict[int, str]) -> None:
    """Writes to where nothing is, with their addresses and the instances that have an error for them: counted, the end of the run, and past the caches a bus error."""
    for address, instance in where.items():
        given = ["--quiet", "--kernel", bare(WRITE.format(address=address), tmp_path / "write.elf"), "--cycles", 100_000]
        said = f"{instance}: a write failed: nothing responds at address {address & 0x1FFFFFFF:#010x}"
        lost = run_sim(machine, *given, ok=None)
        assert (lost.status, lost.value(instance, "memory_errors")) == (3, 1) and f"warning: {said}; it is dropped" in lost.err, lost.err
        ends = run_sim(machine, *given, "--on_memory_error", "end", ok=None)
        assert ends.status == 1 and f"error: {said}" in ends.err, ends.err
    for address in where:
        given = ["--quiet", "--kernel", bare(WRITE.format(address=address), tmp_path / "write.elf"), "--cycles", 100_000]
        raised = run_sim(machine, *given, "--on_memory_error", "bus_error", ok=None)
        assert raised.status == (7 if where[address] == "system.cpu.uncached_data" else 3), raised.err


def test_a_wide_core_in_place_of_the_other(host, run_sim, tmp_path: Path) -> None:
    """In lockstep; it prints the same and ends the same, and so does what goes on from a checkpoint; what is absent is so, too."""
    machine = host("wide", CHECKED)
    (tmp_path / "script").write_text('wait ">"\nsend "ab\\tb"\nwait "\\tb"\nafter 1 ms\nsend "q"\n')
    options = ["--quiet", "--kernel", bare(ECHO, tmp_path / "echo.elf"), "--console_script", tmp_path / "script"]
    done = run_sim(machine, *options, "--console_output", "whole", ok=None)
    assert (done.status, (tmp_path / "whole").read_text()) == (7, ">ab\tbq")
    assert done.value("system.cpu.core", "compared") == done.value("system.cpu.core.core.core.list", "instructions") > 100
    run_sim(machine, *options, "--console_output", "first", "--cycles", 40_000, "--checkpoint", "point")
    rest = run_sim(machine, "--quiet", "--restore", "point", "--console_output", "rest", ok=None)
    assert (tmp_path / "first").read_text() + (tmp_path / "rest").read_text() == ">ab\tbq" and rest.status == 7
    assert rest.stats["statistics"] == done.stats["statistics"]
    for address, status in ((0xBB000000, 0xFF), (0xBF002000, 0), (0xBC000000, 7), (0xBF003000, 7), (0xA4000000, 7), (0xBF000910, 1)):
        read = run_sim(machine, "--quiet", "--kernel", bare(READ.format(address=address), tmp_path / "read.elf"), "--cycles", 100_000, ok=None)
        assert read.status == status, hex(address)
    lost_writes(machine, run_sim, tmp_path, {0xBF003000: "system.cpu.uncached_data", 0x84000000: "system.cpu.dcache.controller"})


# Each processor says its number, a letter from a on, in turn from the last one on; then the first one ends with what all have counted.
BOTH = """
  LI $s0, 0xbf000900
  LI $s1, 0x80200000
  mfc0 $s2, $15, 1
  andi $s2, $s2, 7
  addiu $s3, $zero, 100
1: ll $t1, 0($s1)
  addiu $t1, $t1, 1
  sc $t1, 0($s1)
  beqz $t1, 1b
  nop
  addiu $s3, $s3, -1
  bnez $s3, 1b
  nop
2: lw $t1, 0x40($s1)
  addiu $t2, $s2, 1
  addu $t1, $t1, $t2
  addiu $t1, $t1, -2
  bnez $t1, 2b
  addiu $t2, $s2, 97
  sb $t2, 0($s0)
  sync
  lw $t1, 0x40($s1)
  addiu $t1, $t1, 1
  sw $t1, 0x40($s1)
3: bnez $s2, 3b
  lw $v0, 0($s1)
  LI $t0, 0xbf000000
  sb $v0, 0x504($t0)
  addiu $t1, $zero, 0x42
  sb $t1, 0x500($t0)
4: b 4b
  nop
"""


@pytest.mark.soak  # tests/isa/test_wide_system_contexts.py runs more on such a core
def test_two_processors_on_one_core(host, run_sim, tmp_path: Path) -> None:
    """Of which each counts a hundred times in one word; in lockstep."""
    machine = host("wide", "contexts=2", "started=2", CHECKED)
    done = run_sim(machine, "--quiet", "--kernel", bare(BOTH, tmp_path / "both.elf"), "--console_output", "printed", "--cycles", 400_000, ok=None)
    assert (done.status, (tmp_path / "printed").read_text()) == (200, "ba")
    assert done.value("system.cpu.core", "compared") == done.value("system.cpu.core.core.core.list", "instructions")


# A program in user mode reads four lines of its page and calls the kernel, which reads four lines of its own that have the same sets, twenty times.
MODES = """
  LA $t0, base
  mtc0 $t0, $15, 1
  mtc0 $zero, $0
  mtc0 $zero, $5
  mtc0 $zero, $10
  LA $t0, user
  sll $t0, $t0, 3
  srl $t0, $t0, 9
  ori $t0, $t0, 0x1f
  mtc0 $t0, $2
  addiu $t0, $t0, 64
  mtc0 $t0, $3
  ehb
  tlbwi
  LA $s1, own
  addiu $s2, $zero, 20
  addiu $t0, $zero, 0x12
  mtc0 $t0, $12
  mtc0 $zero, $14
  ehb
  eret
.balign 4096
base: .space 0x180
  lw $t1, 0($s1)
  lw $t1, 32($s1)
  lw $t1, 64($s1)
  lw $t1, 96($s1)
  addiu $s2, $s2, -1
  beqz $s2, 1f
  mfc0 $t0, $14
  addiu $t0, $t0, 4
  mtc0 $t0, $14
  ehb
  eret
1:
{end}
.balign 4096
user: lw $t2, 0x1000($zero)
  lw $t2, 0x1020($zero)
  lw $t2, 0x1040($zero)
  lw $t2, 0x1060($zero)
  syscall
  b user
  nop
.balign 4096
theirs: .space 4096
own: .space 128
"""


@pytest.mark.soak  # tests/modules/cache/test_mshr_controller_misses.py counts causes of misses
def test_misses_of_user_mode_and_of_the_kernel(host, run_sim, tmp_path: Path) -> None:
    """Each displaces the other's lines, in a cache of one way: all but the first misses are such."""
    machine = host("wide", COHERENT, "mshrs=4", "ways=1", "icache_size=4KiB", "dcache_size=4KiB", "miss_causes=64 MiB")
    done = run_sim(machine, "--quiet", "--kernel", bare(MODES.format(end=end(7)), tmp_path / "modes.elf"), "--cycles", 100_000, ok=None)
    assert done.status == 7, done.err
    seen = {name: done.value("system.cpu", name) for name in ("user", "kernel", "user_kernel", "compulsory", "displaced")}
    assert seen == {"user": 80, "kernel": 80, "user_kernel": 152, "compulsory": 8, "displaced": 152}


REFUSED = [
    (("host", "contexts=2"), "the machine has no parameter `contexts`"),
    (("fast", "detailed=wide_processor", "contexts=2"), "the functional processor stands for one context: set contexts = 1"),
    (("fast", "detailed=wide_processor", "vpes=2"), "the functional processor stands for one context: set contexts = 1"),
    (("wide", "contexts=2", "started=3"), "started = 3 exceeds the 2 contexts"),
    (("wide", "mshrs=4"), "a data cache with several outstanding misses needs a coherent bus"),
    (("wide", "fetch_mshrs=4"), "an instruction cache with several outstanding misses needs a coherent bus"),
    (("wide", COHERENT, "fetch_mshrs=4", "icache_line=64"), "an instruction cache on the bus has the bus's lines: icache_line must be 32, not 64"),
    (("host", COHERENT, "mshrs=4"), "the machine has no parameter `mshrs`"),
    (("host", "sampling=true"), "the machine has no parameter `sampling`"),
    (("wide", "miss_causes=64 MiB"), "a data cache on a coherent bus"),
    (("wide_smp", "contexts=3"), "each VPE of a processor is a context: contexts must be 2, not 3"),
    (("wide_smp", "started=2"), "the first VPE of a processor starts the others: started must be 1, not 2"),
    (("smp", "system_kind=plain_system"), "`system_kind` is fixed by smp.lss"),
    (("host", "processor=coherent_system"), "module `coherent_system` cannot be `processor` here: both have a parameter `processor`; it must be one like `scalar_processor`"),
    (("host", "processor=smp"), "module `smp` cannot be `processor` here"),
    (("host", "processor=fast"), "module `fast` cannot be `processor` here: both have a parameter `processor`; did you mean `fast_processor`?"),
    (("host", "system_kind=coherent"), "there is no `coherent` here; did you mean `coherent_system`?"),
    (("host", "system_kind=scalar_processor"), "module `scalar_processor` cannot be `system_kind` here: it has no `io`; it must be one like `plain_system`"),
    (("host", "cards=[disk_image]"), "module `disk_image` cannot be `cards` here: it has no `target`"),
    (("host", "disks=[scsi_card]"), "module `scsi_card` cannot be `disks` here: it has no `in`"),
    (("host", "processor=wide_procesor"), "there is no `wide_procesor` here; did you mean `wide_processor`?"),
    (("host", "processor=fast_core"), "module `fast_core` cannot be `processor` here: it has no `is_own_write`; did you mean `fast_processor`?"),
    (("host", "processor=vpe_processor"), "a processor without the port `fetch_memory` needs a coherent bus: set system_kind = coherent_system"),
    (("fast", COHERENT, "detailed=vpe_processor"), "a processor without the ports `load` and `devices` cannot take over from the functional one"),
]


@pytest.mark.parametrize(("machine", "why"), REFUSED, ids=[" ".join(one) for one, _ in REFUSED])
def test_what_does_not_go_together(root: Path, lss, machine: tuple[str, ...], why: str) -> None:
    name, *given = machine
    assert why in lss("check", "--netlist-only", root / f"examples/host/{name}.lss", *(word for one in given for word in ("-D", one)), ok=False).err


MISSES = ("wide", COHERENT, CHECKED, "mshrs=4", "fetch_mshrs=4", "front_stages=2")
WITH_DISK = [pytest.param(one, marks=pytest.mark.soak) for one in (("server",), ("host", DISK, COHERENT), ("wide", DISK))]
WITH_DISK += [("host", DISK), *(pytest.param(one, marks=pytest.mark.soak) for one in ((*MISSES, DISK), ("host", DISK, CHECKED)))]


@pytest.mark.parametrize("machine", WITH_DISK, ids=" ".join)
def test_a_program_reads_and_writes_the_disk(host, run_sim, tmp_path: Path, machine: tuple[str, ...]) -> None:
    """By transfers that its caches see; the image is only read, also when a checkpoint comes between."""
    simulator = host(*machine)
    given = ["--quiet", "--kernel", sectors.program(3, tmp_path), "--disk_image", sectors.image(tmp_path, 8)]
    done = run_sim(simulator, *given, "--time", "20 ms", "--disk_commit", "whole", "--console_output", "out")
    assert (tmp_path / "out").read_bytes() == sectors.TEXT and "was switched off" in done.stats["run"]["ended"]
    assert (tmp_path / "whole").read_bytes() == sectors.after(3, 8) and sectors.image(tmp_path, 8).read_bytes() == sectors.after(0, 8)
    assert done.value("devices.virtio", "interrupts") == 7 and done.value("devices.drive[0]", "sectors_written") == 3
    half = done.stats["run"]["cycles"]["cpu_clk"] // 2
    run_sim(simulator, *given, "--cycles", half, "--checkpoint", "point", "--disk_commit", "half")
    rest = run_sim(simulator, "--quiet", "--restore", "point", "--time", "20 ms", "--disk_commit", "rest")
    assert (tmp_path / "rest").read_bytes() == sectors.after(3, 8) != (tmp_path / "half").read_bytes()
    assert rest.stats["statistics"] == done.stats["statistics"]


@pytest.mark.soak
def test_a_device_writes_to_where_there_is_no_memory(host, run_sim, tmp_path: Path) -> None:
    """The driver's mistake is the driver's: the transfer ends, what it wrote is counted, and the machine goes on."""
    machine = host("host", "cards=[scsi_card]", "slots.devices=[2]")
    elf = tmp_path / "wild_dma.elf"
    subprocess.run([tool("clang"), *sectors.FLAGS, "-Wl,-Ttext=0x80100000", "-DADDRESS=0x0f000000", Path(__file__).with_name("wild_dma.c"), "-o", elf], check=True)
    given = ["--quiet", "--kernel", elf, "--set", f"slots.card[0].image={sectors.image(tmp_path, 8)}", "--time", "1 s"]
    lost = run_sim(machine, *given, ok=None)
    said = 'slots.pci: a write of the bus\'s master "scsi" failed: nothing responds at address 0x0f000000'
    assert (lost.status, lost.value("slots.pci", "memory_errors")) == (5, 4) and f"warning: {said}; it is dropped" in lost.err, lost.err
    ends = run_sim(machine, *given, "--on_memory_error", "end", ok=None)
    assert ends.status == 1 and f"error: {said}" in ends.err, ends.err


@seldom
def test_killed_runs_go_on(host, tmp_path: Path) -> None:
    """While a program writes to the disk; of Linux that is tests/firmware/test_linux_scsi.py."""
    given = ["--kernel", sectors.program(8, tmp_path), "--disk_image", sectors.image(tmp_path, 16)]
    work = Work(host("host", DISK), given, {"--console_output": "out", "--disk_commit": "after"}, tmp_path)
    straight = work.straight()
    assert (straight.status, (tmp_path / "out").read_bytes(), (tmp_path / "after").read_bytes()) == (0, sectors.TEXT, sectors.after(8, 16))
    assert work.survives(straight, 2, "50 us") > 0
    assert sectors.image(tmp_path, 16).read_bytes() == sectors.after(0, 16)


AT = ["never", "start", "end", "instructions(1)", "instructions(33)", "instructions(90)", "symbol(SYMBOL)", "30 us", "2 ms"]


# Each detailed processor alone, and what it is beside a fast one.
IN_ORDER, OUT_OF_ORDER = ("host", "sampled"), ("wide", "sampled", "detailed=wide_processor")
PAIRS = [
    ("in order", IN_ORDER, (CHECKED,)),
    ("in order, coherent", IN_ORDER, (COHERENT,)),
    ("out of order", OUT_OF_ORDER, (CHECKED,)),
    ("out of order, coherent", OUT_OF_ORDER, (COHERENT, CHECKED)),
    ("out of order, several misses", OUT_OF_ORDER, (COHERENT, CHECKED, "mshrs=4")),
]


@seldom
@pytest.mark.parametrize(("name", "pair", "given"), [pytest.param(*one, id=one[0], marks=[pytest.mark.soak] * (one is not PAIRS[0])) for one in PAIRS])
def test_programs_begin_on_the_fast_core(host, run_sim, tmp_path: Path, name: str, pair: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Wherever it gives them to the detailed one, they print the same and end the same; `never` also in the same cycle as without it."""
    plain, machine = host(pair[0], *given, DISK), host(*pair[1:], *given, DISK)
    once = ["--set", "system.cpu.sampler.shortest=1000000000"]  # nothing is long enough for the fast core again
    (tmp_path / "script").write_text('wait ">"\nsend "ab\\tb"\nwait "\\tb"\nafter 1 ms\nsend "q"\n')
    echo = ["--quiet", "--kernel", bare(ECHO, tmp_path / "echo.elf"), "--console_script", tmp_path / "script"]
    disk = ["--quiet", "--kernel", sectors.program(3, tmp_path), "--disk_image", sectors.image(tmp_path, 8), "--disk_commit", "whole"]
    wanted = [run_sim(plain, *program, "--time", "20 ms", ok=None) for program in (echo, disk)]
    for at in AT[::4] if name == PAIRS[0][0] else AT:
        for program, without in zip((echo, disk), wanted, strict=True):
            point = at.replace("SYMBOL", "put" if program is echo else "main")
            done = run_sim(machine, *program, *once, "--time", "20 ms", "--switch_at", point, "--console_output", "out", ok=None)
            expected = b">ab\tbq" if program is echo else sectors.TEXT
            assert (done.status, (tmp_path / "out").read_bytes()) == (without.status, expected), at
            assert "was switched off" in done.stats["run"]["ended"]
            assert (tmp_path / "whole").read_bytes() == sectors.after(3, 8)
            assert at != "never" or done.stats["run"]["cycles"] == without.stats["run"]["cycles"]
            late = at == "2 ms" and done.value("system.cpu.switch", "fast_cycles") < 400_000
            assert done.value("system.cpu.switch", "switches") == (0 if at in ("never", "end") or late else 1), at
            assert (done.value("system.cpu.fast", "instructions") == 0) == (at in ("never", "start"))
            if at == "end":  # a core that never has the program counts nothing else
                cycles = done.stats["run"]["cycles"]["cpu_clk"]
                spent = {one["name"]: one["value"] for one in done.stats["statistics"] if re.match(r"system\.cpu\.processor\.core\.(pipeline\.issue|system|core\.core\.fetch)", one["path"]) and one["value"]}
                assert spent == {"halted_cycles": cycles, **({} if pair is OUT_OF_ORDER else {"halted": cycles})}

    # A checkpoint on the fast core, after which the rest is as it was, or switches elsewhere
    whole = run_sim(machine, *echo, "--switch_at", "end", "--console_output", "out", ok=None)
    run_sim(machine, *echo, *once, "--switch_at", "end", "--console_output", "first", "--cycles", 40_000, "--checkpoint", "point")
    for at in ("end", "300 us"):
        rest = run_sim(machine, "--quiet", "--restore", "point", "--console_output", "rest", "--switch_at", at, ok=None)
        assert (tmp_path / "first").read_bytes() + (tmp_path / "rest").read_bytes() == b">ab\tbq" and rest.status == 7
        assert rest.value("system.cpu.switch", "switches") == (at != "end") and (at != "end" or rest.stats["statistics"] == whole.stats["statistics"])

    # To and fro in windows; a checkpoint anywhere changes nothing
    windows = ["--switch_at", "instructions(20)", *(word for setting in ("period=26", "warm=5", "measure=10", "shortest=1") for word in ("--set", f"system.cpu.sampler.{setting}"))]
    for program, expected, without in zip((echo, disk), (b">ab\tbq", sectors.TEXT), wanted, strict=True):
        done = run_sim(machine, *program, *windows, "--time", "20 ms", "--console_output", "out", ok=None)
        assert (done.status, (tmp_path / "out").read_bytes()) == (without.status, expected) and (tmp_path / "whole").read_bytes() == sectors.after(3, 8)
        assert "was switched off" in done.stats["run"]["ended"]
        sampled, switches = done.value("system.cpu.sampler", "sampled"), done.value("system.cpu.switch", "switches")
        assert sampled > 2 and switches > sampled / 2 and done.value("system.cpu.sampler", "sampled_instructions") == 10 * sampled
        mean = done.value("system.cpu.sampler", "sampled_cycles") / (10 * sampled)
        assert mean >= (0.25 if pair is OUT_OF_ORDER else 1) and done.value("system.cpu.sampler", "low") + done.value("system.cpu.sampler", "high") == pytest.approx(2 * mean)
        cycles = done.stats["run"]["cycles"]["cpu_clk"]
        for part in (2, 3):
            run_sim(machine, *program, *windows, "--console_output", "first", "--cycles", cycles * part // 5, "--checkpoint", "point", ok=None)
            rest = run_sim(machine, "--quiet", "--restore", "point", "--time", "20 ms", "--console_output", "rest", ok=None)
            assert (tmp_path / "first").read_bytes() + (tmp_path / "rest").read_bytes() == expected and rest.stats["statistics"] == done.stats["statistics"]


@seldom
def test_a_wide_core_gets_states_and_gives_them_back(host, run_sim, tmp_path: Path) -> None:
    """In lockstep, from anywhere; in windows, and a checkpoint between two of them changes nothing."""
    machine = host(*OUT_OF_ORDER[1:], CHECKED)
    (tmp_path / "script").write_text('wait ">"\nsend "ab\tb"\nwait "\tb"\nafter 1 ms\nsend "q"\n')
    echo = ["--quiet", "--kernel", bare(ECHO, tmp_path / "echo.elf"), "--console_script", tmp_path / "script", "--time", "20 ms"]
    for at in ("start", "instructions(33)", "30 us"):
        done = run_sim(machine, *echo, "--set", "system.cpu.sampler.shortest=1000000000", "--switch_at", at, "--console_output", "out", ok=None)
        assert (done.status, (tmp_path / "out").read_bytes()) == (7, b">ab\tbq") and done.value("system.cpu.switch", "switches") == 1
        assert done.value("system.cpu.processor.core", "compared") == done.value("system.cpu.processor.core.core.core.list", "instructions") > 20
    windows = ["--switch_at", "instructions(20)", *(word for setting in ("period=26", "warm=5", "measure=10", "shortest=1") for word in ("--set", f"system.cpu.sampler.{setting}"))]
    done = run_sim(machine, *echo, *windows, "--console_output", "out", ok=None)
    assert (done.status, (tmp_path / "out").read_bytes()) == (7, b">ab\tbq") and done.value("system.cpu.sampler", "sampled") > 2
    run_sim(machine, *echo, *windows, "--console_output", "first", "--cycles", done.stats["run"]["cycles"]["cpu_clk"] // 2, "--checkpoint", "point", ok=None)
    rest = run_sim(machine, "--quiet", "--restore", "point", "--time", "20 ms", "--console_output", "rest", ok=None)
    assert (tmp_path / "first").read_bytes() + (tmp_path / "rest").read_bytes() == b">ab\tbq" and rest.stats["statistics"] == done.stats["statistics"]


@pytest.mark.soak
def test_a_big_endian_host(host, run_sim, tmp_path: Path) -> None:
    machine = host("host", "big_endian=true")
    (tmp_path / "script").write_text('wait ">"\nsend "abq"\n')
    done = run_sim(machine, "--quiet", "--kernel", bare(ECHO, tmp_path / "x.elf", True), "--console_script", "script", "--console_output", "out", ok=None)
    assert (done.status, (tmp_path / "out").read_text()) == (7, ">abq")
    assert re.search("switched off with status 7", done.err)


@pytest.mark.soak
def test_a_boot_in_lockstep(build_dir: Path, host, run_sim, tmp_path: Path) -> None:
    """Every instruction from reset to the end of /init is what the functional processor does."""
    software = guest(build_dir)
    machine = host("host", CHECKED)
    done = run_sim(machine, "--quiet", "--kernel", software.vmlinux, "--dtb", software.tree, "--initramfs", software.initramfs, "--console_output", "out", "--time", "3 s", timeout=900)
    assert done.stats["run"]["ended"] == "devices.power: the machine was switched off"
    assert done.value("system.cpu.core", "compared") > 20_000_000 and done.value("system.cpu.core", "compared_exceptions") > 5_000


@pytest.mark.parametrize("l2_size", ["0 B", "256 KiB"])
@pytest.mark.parametrize("machine", ["host", "smp", "server"])
def test_it_can_have_coherent_caches(root: Path, lss, machine: str, l2_size: str) -> None:
    """What runs there is tests/isa/test_litmus.py, and the soak's boots."""
    command = ["check", "--netlist-only", root / f"examples/host/{machine}.lss", "-I", root / "examples/tigon2", "-D", f"l2_size={l2_size}"]
    assert not lss(*command, *(["-D", COHERENT] if machine != "smp" else [])).err
    if machine == "host":
        assert "the machine has no parameter `l2_size`" in lss(*command, ok=False).err
