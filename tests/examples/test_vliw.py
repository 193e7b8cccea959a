"""examples/vliw_core and the bundler: programs in bundles compute what they compute one instruction after the other, also where memory is
slow, and take less time for it; what cannot be bundled is refused by name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.isa.programs import DATA, PREAMBLE, TEXT, assemble, run, target, tool
from tests.isa.streams import AREA, BASE, SCRATCH, explain, random_program
from tests.sample import sampled

ROOT = Path(__file__).resolve().parents[2]
STRIDE = 0x200000


def without_places(text: str) -> str:
    """A random program that does the same wherever its code lies, and without branch-likely, which would annul one slot of a bundle."""
    likely = re.sub(r"^(b(?:eq|ne|lez|gtz|ltz|gez|ltzal|gezal))l ", r"\1 ", text, flags=re.MULTILINE)
    unlinked = re.sub(r"^jalr \$\d+, ", "jr ", re.sub(r"^(j|bltz|bgez)al ", r"\1 ", likely, flags=re.MULTILINE), flags=re.MULTILINE)
    dump = f"sw $0, {AREA}(${BASE})\n"
    assert dump in unlinked
    return unlinked.replace(dump, f"lui ${SCRATCH}, 0\n{dump}")


def expanded(text: str) -> str:
    """The text without its macros, as the bundler wants it: one instruction on a line."""
    bodies = {m[1]: (re.findall(r"\w+", m[2]), m[3]) for m in re.finditer(r"\.macro (\w+) (.*)\n((?:.*\n)*?)\.endm", PREAMBLE["device"])}
    lines = []
    for line in text.splitlines():
        name, _, rest = line.strip().partition(" ")
        if name in bodies:
            names, line = bodies[name]
            for parameter, value in zip(names, rest.split(",")):
                line = line.replace("\\" + parameter, value.strip())
        lines.append(line)
    return "\n".join(lines) + "\n"


def bundle(source: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "firmware/tools/bundle.py", tool("clang"), *target(True), *options, "-c", source, "-o", source.with_suffix(".o")]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def in_bundles(text: str, output: Path) -> Path:
    """An ELF file of bundled assembly text."""
    source = output.with_suffix(".S")
    source.write_text(".set noreorder\n.set noat\n.set nomacro\n.text\n.globl __start\n__start:\n" + expanded(text))
    done = bundle(source)
    assert done.returncode == 0, done.stderr
    run([tool("ld.lld"), "-EB", "--image-base=0x300000", f"-Ttext={TEXT:#x}", f"-Tdata={DATA:#x}",
         f"--section-start=.slot1.text={TEXT + STRIDE:#x}", "-e", "__start", "-o", output, source.with_suffix(".o")])  # fmt: skip
    return output


@pytest.fixture(scope="module")
def cores(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> dict[str, Path]:
    """The machine, and one whose fetches and loads take any number of cycles."""
    directory = tmp_path_factory.mktemp("vliw")
    folder = ROOT / "examples" / "vliw_core"
    text, slow = (folder / "vliw_core.lss").read_text(), directory / "slow.lss"
    for port, delay in (("core.fetch[k]", "fetching[k]"), ("filter.scratchpad", "loading")):
        assert f"{port} -> ram.port;" in text
        text = text.replace(f"{port} -> ram.port;", f"{port} -> {delay}.in;\n{delay}.out -> ram.port;")
    delays = "".join(f"instance {name} : memory_delay {{ width = 32; latency = 1; jitter = 3; refuse = 0.3; }};\n"
                     for name in ("fetching[slots]", "loading"))  # fmt: skip
    text = text.replace("start.control ->", delays + "start.control ->")
    slow.write_text(text)
    for name, machine in (("fast", folder / "vliw_core.lss"), ("slow", slow)):
        done = subprocess.run([build_dir / "bin" / "lss", "build", "-I", folder, machine, "-o", directory / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return {name: directory / name for name in ("fast", "slow")}


@pytest.mark.parametrize("seed", sampled(range(1, 9), 8))
def test_random_stream(seed: int, cores: dict[str, Path], build_dir: Path, tmp_path: Path) -> None:
    text = without_places(random_program(seed).text)
    oracle = subprocess.run([build_dir / "bin" / "mips-oracle", assemble(text, tmp_path / "oracle.elf", True)], capture_output=True, timeout=60)
    assert oracle.returncode == 0, oracle.stderr.decode()
    elf = in_bundles(text, tmp_path / "core.elf")
    for name, core in cores.items():
        printed = tmp_path / name
        command = [core, "--program", elf, "--cycles", "200000", "--set", f"console.output={printed}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and "the program exited" in done.stderr, f"seed {seed} on {name}: {done.stderr}"
        assert printed.read_bytes() == oracle.stdout, f"seed {seed} on {name}: {explain(oracle.stdout, printed.read_bytes())}"


def filtered() -> int:
    """The check value of the program's output, worked out here."""
    value, samples, check = 1, [], 0
    for _ in range(256 + 16):
        value = value * 1664525 + 1013904223 & 0xFFFFFFFF
        samples.append((value - (1 << 32) if value >> 31 else value) >> 16)
    for n in range(256):
        out = sum((k + 1) * (16 - k) * samples[n + k] for k in range(16)) >> 8
        check = check * 31 + out & 0xFFFFFFFF
    return check


def test_filter(root, build_dir, build_sim, run_sim) -> None:
    done = run_sim(build_sim(root / "examples/vliw_core/vliw_core.lss"), "--program", build_dir / "firmware/fir/fir.elf")
    found = re.search(r"check (\d+), cycles with one instruction at a time (\d+), in bundles of two (\d+)\n", done.out)
    assert found, done.out
    check, narrow, wide = map(int, found.groups())
    assert check == filtered() and wide < 0.67 * narrow


def test_each_slot_has_the_stages_of_the_old_pipeline(root) -> None:
    old = re.findall(r"^  (?:instance|wraps) \w+ : (\w+)", (root / "modules/core/mips/mips_pipeline.lss").read_text(), re.MULTILINE)
    text = (root / "examples/vliw_core/vliw_pipeline.lss").read_text()
    each = re.findall(r"^  (?:instance|wraps) \w+\[slots\] : (\w+)", text, re.MULTILINE)
    assert sorted(m for m in each if m != "function_unit") == sorted([*(m for m in old if m != "memory_state"), "slot_interlock", "bypass_network"])


# What a slot cannot do or the bundler cannot take; one line each.
BAD = {
    "branch-likely": ("beql $2, $3, 1f\nnop\n1:\n", "is nothing that a bundle takes"),
    "a branch in a delay slot": ("b 1f\nb 1f\n1:\n", "is a branch behind a branch"),
    "no delay slot": ("b 1f\n1: nop\n", "has no delay slot"),
    "several words": (".set macro\nla $2, 0x12345678\n", "instruction"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_bundled(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    source = tmp_path / "bad.S"
    source.write_text(".set noreorder\n.text\n" + text)
    done = bundle(source)
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert not source.with_suffix(".o").exists() and "Traceback" not in done.stderr


def test_a_branch_in_the_second_slot_stops_the_run(cores: dict[str, Path], tmp_path: Path) -> None:
    source = tmp_path / "x.S"
    source.write_text(".set noreorder\n.text\n.globl __start\n__start:\nnop\nnop\nnop\n.section .slot1.text,\"ax\"\nnop\nb .\nnop\n")
    elf = source.with_suffix(".elf")
    run([tool("clang"), *target(True), "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,--image-base=0x300000", f"-Wl,-Ttext={TEXT:#x}",
         f"-Wl,--section-start=.slot1.text={TEXT + STRIDE:#x}", "-Wl,-e,__start", "-o", elf, source])  # fmt: skip
    done = subprocess.run([cores["fast"], "--program", elf, "--cycles", "100"], capture_output=True, text=True)
    assert done.returncode == 1 and f"reserved instruction: pc 0x{TEXT + STRIDE + 4:08x}" in done.stderr, done.stderr


@pytest.mark.parametrize("slots", sampled([1, 4], 2))
def test_another_width(slots: int, root, build_dir, build_sim, run_sim) -> None:
    """Where no instructions are there are nops, so plain programs run at any width, and bundles on a wider core as on theirs."""
    simulator = build_sim(root / "examples/vliw_core/vliw_core.lss", "-O0", "-D", f"slots={slots}")
    done = run_sim(simulator, "--program", build_dir / "firmware/hello/hello.elf")
    assert "primes: 2 3 5 7 11" in done.out
    if slots >= 2:
        assert f"check {filtered()}, " in run_sim(simulator, "--program", build_dir / "firmware/fir/fir.elf").out


@pytest.mark.parametrize("slots", [0, 5])
def test_a_wrong_number_of_slots_is_an_error(slots: int, root, lss) -> None:
    done = lss("check", root / "examples/vliw_core/vliw_core.lss", "-D", f"slots={slots}", ok=False)
    assert f"1 to 4 slots, not {slots}" in done.err
