"""firmware/vpes: virtual processing elements start, interrupt each other and are taken down, on cores that are followed in lockstep, on
the functional processor and on qemu's 34Kf, with the same output."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import firmware
from tests.isa import system

MACHINE = "examples/multiprocessor/multiprocessor.lss"
# A board whose UART and power are where the host machine and qemu's Malta have them.
REGISTERS = "#define MAP_CONSOLE_BASE 0xbf000900u\n"
CONSOLE = """
static inline void print_char(char c) { *(volatile unsigned char *)MAP_CONSOLE_BASE = (unsigned char)c; }
static inline void print(const char *text) { while (*text) print_char(*text++); }
static inline void print_number(unsigned number) { print_char((char)('0' + number)); }
static inline void exit_with(unsigned status) {
  *(volatile unsigned *)0xbf000504 = status;
  *(volatile unsigned char *)0xbf000500 = 0x42;
  for (;;);
}
"""


def expected(vpes: int) -> list[str]:
    others = range(1, vpes)
    return [f"{vpes} VPEs", *(f"VPE {n} executes" for n in others), *(f"VPE {n} has replied to 3 interrupts and is halted" for n in others)]


@pytest.fixture(scope="module")
def on_a_board(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    (folder / "registers.h").write_text(REGISTERS)
    (folder / "console.h").write_text('#include "registers.h"\n' + CONSOLE)
    objects = []
    for source in ("start.S", "vpes.c"):
        objects.append(folder / f"{source}.o")
        firmware.run(firmware.tool("clang"), *firmware.flags("mips"), *firmware.flags("common"), f"-I{folder}", f"-I{root}/firmware/lib", "-c", root / "firmware/vpes" / source, "-o", objects[-1])
    firmware.run(firmware.tool("ld.lld"), *firmware.flags("link_mips"), *firmware.flags("link"), "-T", root / "firmware/vpes/vpes.ld", "-L", build_dir / "gen/firmware/vpes", *objects, "-o", folder / "vpes.elf")
    return folder / "vpes.elf"


@pytest.mark.parametrize("vpes", [1, 2, 5, 8])
def test_on_the_functional_processor(vpes: int, on_a_board: Path, build_dir: Path) -> None:
    done = system.on_oracle(on_a_board, True, build_dir, "--vpes", str(vpes), "--limit", "10000000")
    assert (done.returncode, done.stdout.splitlines()) == (0, expected(vpes))


@pytest.mark.skipif(not system.qemu_is_there(), reason="qemu-system-mips and qemu-system-mipsel are not installed")
@pytest.mark.parametrize("vpes", [2, 4])
def test_on_qemu(vpes: int, on_a_board: Path) -> None:
    done = system.on_qemu(on_a_board, True, "34Kf", vpes)
    assert done.stdout.splitlines() == expected(vpes), done.stderr


@pytest.fixture
def compared(root: Path, build_dir: Path, tmp_path: Path, run_sim) -> Callable[..., None]:
    """compared(vpes, setting, ...): runs it in lockstep, with all that is in memory believed."""

    def run(vpes: int, *settings: str) -> None:
        machine = tmp_path / "machine"
        given = [word for setting in (f"vpes={vpes}", "lockstep=4 KiB", *settings) for word in ("-D", setting)]
        subprocess.run([build_dir / "bin/lss", "build", root / MACHINE, "-O0", *given, "-o", machine], check=True)
        done = run_sim(machine, "--program", build_dir / "firmware/vpes/vpes.elf", "--cycles", 1_000_000)
        assert done.status == 0 and done.out.splitlines()[: 2 * vpes - 1] == expected(vpes), done.out
        for n in range(vpes):
            assert done.value(f"cores.cpu[{n}].core", "compared") > 150
            assert done.value(f"cores.cpu[{n}].core", "compared_interrupts") == (4 * (vpes - 1) if n == 0 else 3)
        assert done.value("cores.mvp", "unreachable") == 0

    return run


def test_two_in_lockstep(compared) -> None:
    compared(2)


@pytest.mark.soak
@pytest.mark.parametrize("settings", [(), ("clusters=2", "dcache_size=2KiB", "icache_size=2KiB", "ways=1"), ("dram=dram_kind.rambus", "post_writes=false")], ids=["", "level 2", "RAMBUS"])
@pytest.mark.parametrize("vpes", [3, 8])
def test_more_in_lockstep(vpes: int, settings: tuple[str, ...], compared) -> None:
    compared(vpes, *settings)


def test_several_processors_have_no_vpes(root: Path, build_dir: Path) -> None:
    done = subprocess.run([build_dir / "bin/lss", "check", root / MACHINE, "-D", "vpes=2", "-D", "processors=2"], capture_output=True, text=True)
    assert done.returncode == 1 and "all VPEs belong to one processor: processors must be 1, not 2" in done.stderr
