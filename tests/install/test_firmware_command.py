"""`spinach firmware`: a folder's C program is built for a machine, outside the tree, by what was installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sample import sampled, seldom

PROGRAM = '#include "console.h"\nint main(void) { print("here\\n"); return 3; }\n'


@pytest.fixture(scope="module")
def prefix(root: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree."""
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run([root / "harness" / "install", build_dir, folder], check=True, capture_output=True)
    return folder


def spinach(prefix: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "HOME": str(cwd)}
    return subprocess.run(["spinach", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def folder(place: Path, machine: str = "examples/single_core/single_core.lss", program: str = PROGRAM) -> Path:
    made = place / "prog"
    made.mkdir()
    (made / "prog.c").write_text(program)
    (made / "machine").write_text(machine + "\n")
    return made


@pytest.mark.parametrize("machine", sampled(["single_core", "riscv_core"], 2, 1))
def test_a_program_elsewhere_runs(machine: str, prefix: Path, tmp_path: Path) -> None:
    """The same source for two instruction sets."""
    folder(tmp_path, f"examples/{machine}/{machine}.lss")
    done = spinach(prefix, tmp_path, "firmware", "prog", "--out", "out")
    assert (done.returncode, done.stdout) == (0, "out/prog.elf\n"), done.stderr
    assert re.search(r"^[0-9a-f]{8} [0-9a-f]{8} T main$", (tmp_path / "out/prog.sym").read_text(), re.MULTILINE)
    netlist = prefix / "share/spinach/examples" / machine / f"{machine}.lss"
    ran = subprocess.run(
        [prefix / "bin/lss", "run", netlist, "--", "--program", "out/prog.elf"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "here\n" in ran.stdout and ran.returncode == 3, ran.stderr


def test_programs_of_two_machines_are_built_in_one_folder_at_a_time(prefix: Path, tmp_path: Path) -> None:
    """And one of them twice: each is the same, to the byte, as when it is built alone."""
    names = ["mips", "riscv", "mips"]
    for name, machine in ("mips", "single_core"), ("riscv", "riscv_core"):
        folder(tmp_path, f"examples/{machine}/{machine}.lss").rename(tmp_path / name)
        assert spinach(prefix, tmp_path, "firmware", name, "--out", "out").returncode == 0
    alone = {name: (tmp_path / f"out/{name}.elf").read_bytes() for name in names}
    assert "registers.h" in os.listdir(tmp_path / "out/obj/mips") and sorted(os.listdir(tmp_path / "out/obj")) == ["mips", "riscv"]
    shutil.rmtree(tmp_path / "out")
    environment = {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    running = [subprocess.Popen(["spinach", "firmware", name, "--out", "out"], cwd=tmp_path, env=environment) for name in names]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    assert {name: (tmp_path / f"out/{name}.elf").read_bytes() for name in names} == alone


def test_sources_of_other_firmware_are_shared(prefix: Path, tmp_path: Path) -> None:
    """The firmware for two processors of the Tigon-2, most of whose files belong to that for one."""
    done = spinach(prefix, tmp_path, "firmware", str(prefix / "share/spinach/firmware/tigon2_parallel"), "--out", "out")
    assert (done.returncode, done.stdout) == (0, "out/tigon2_parallel.elf\n"), done.stderr


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda prog: (prog / "machine").unlink(), "prog/machine: there is no such file; it names the machine"),
        (lambda prog: (prog / "machine").write_text(""), "prog/machine: it names no machine"),
        (
            lambda prog: (prog / "machine").write_text("x.lss"),
            "prog/machine: there is no x.lss, neither below prog nor",
        ),
        (lambda prog: (prog / "prog.c").unlink(), "prog: there is no .c file"),
        (
            lambda prog: (prog / "prog.c").write_text("int main(void) { return x; }"),
            "prog/prog.c:1:25: error: use of undeclared identifier 'x'",
        ),
        (
            lambda prog: (prog / "machine").write_text("examples/pipe_chain/pipe_chain.lss"),
            "its cores are of no known instruction set",
        ),
        (
            lambda prog: [(prog / name).write_text("") for name in ("a.ld", "b.ld")],
            "prog: there are several linker scripts: a.ld, b.ld",
        ),
        (lambda prog: (prog / "shares").write_text("tigon2/nowhere*.c"), "prog/shares: nothing below"),
    ],
)
def test_what_is_wrong_is_said(change, says: str, prefix: Path, tmp_path: Path) -> None:
    change(folder(tmp_path))
    done = spinach(prefix, tmp_path, "firmware", "prog")
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "prog.elf").exists()


UNDEFINED = {
    "index_out_of_bounds": "static int table[4]; return table[number];",
    "index_out_of_local_bounds": "int table[4] = {1, 2, 3, 4}; const int *at = table; return at[number];",
    "addition_overflow": "return (number << 28) + 0x40000000;",
    "multiplication_overflow": "return number * 0x40000000;",
    "division_by_zero_or_overflow": "return 7 / (number - 4);",
    "shift_out_of_bounds": "return 1 << (number * 8);",
    "invalid_value_of_bool_or_enum": "volatile unsigned char byte = 4; return *(volatile _Bool *)&byte;",
    "unreachable_code": "if (number == 4) __builtin_unreachable(); return 0;",
}


@seldom
@pytest.mark.parametrize("machine", sampled(["single_core", "riscv_core"], 2, 1))
def test_undefined_behaviour_ends_the_run(machine: str, prefix: Path, tmp_path: Path) -> None:
    """With --sanitize, and the report names its kind and its line; without it some value comes out.  What C defines passes."""
    simulator, netlist = tmp_path / "simulator", prefix / "share/spinach/examples" / machine / f"{machine}.lss"
    subprocess.run([prefix / "bin/lss", "build", netlist, "-o", simulator], check=True)

    def run(body: str, *options: str) -> subprocess.CompletedProcess:
        text = f"int work(void) {{\n  volatile int number = 4;\n  {body}\n}}\nint main(void) {{ work(); return 3; }}\n"
        (tmp_path / "prog/prog.c").write_text(text)
        built = spinach(prefix, tmp_path, "firmware", "prog", *options)
        assert built.returncode == 0, built.stderr
        command = [simulator, "--quiet", "--program", "prog.elf", "--cycles", "100000"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    folder(tmp_path, f"examples/{machine}/{machine}.lss")
    kinds = list(UNDEFINED)
    for kind in kinds if machine == "single_core" else kinds[:1]:
        body = UNDEFINED[kind]
        done = run(body, "--sanitize")
        assert done.returncode == 1 and f"<sanitizer_{kind}+0x0>" in done.stderr and re.search(r"prog\.c:3( in work \(inlined\), prog\.c:5)?\n", done.stderr), (kind, done.stderr)
    defined = "unsigned big = 0xffffffffu; static int table[4]; big += number; return table[3] + (int)big + (1 << 30) + number / 3;"
    assert run(defined, "--sanitize").returncode == 3
    assert run(UNDEFINED["index_out_of_bounds"]).returncode == 3


def test_the_harness_is_installed(prefix: Path, tmp_path: Path, build_dir: Path) -> None:
    environment = {**os.environ, "SPINACH_PYTHON": str(build_dir / "venv/bin/python"), "PYTHONPATH": ""}
    done = subprocess.run(
        [prefix / "bin/spinach", "theory", "1472"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and "1472" in done.stdout, done.stderr
