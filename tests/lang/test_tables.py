"""read_csv: where a file is looked for, what depends on it, and its bounds."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

MACHINE = """
parameter file = "{file}" : string;
module counted {{ parameter step = 1 : int; stat uint64 n "cycles"; phase_end; }}
instance a : counted {{ step = read_csv(file)[0].step; }};
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine that reads a table next to it."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "top.lss").write_text(MACHINE.format(file="table.csv"))
    (folder / "counted.c").write_text("phase_end() { count(n, param(step)); }\n")
    (folder / "table.csv").write_text("step\n3\n")
    return folder / "top.lss"


def counted(lss, machine: Path, *options: str) -> int:
    """What the machine counts in ten cycles."""
    done = lss("run", machine, *options, "--", "--cycles", "10", "--print", "a.n", cwd=machine.parent.parent)
    return int(done.out.split("a.n = ")[1].split()[0])


def test_a_table_is_next_to_the_file_that_names_it(lss, machine: Path, tmp_path: Path) -> None:
    """With -D it is in the working directory; an absolute path is one."""
    (tmp_path / "other.csv").write_text("step\n5\n")
    (tmp_path / "table.csv").write_text("step\n7\n")
    assert counted(lss, machine) == 30
    assert counted(lss, machine, "-D", "file=other.csv") == 50
    assert counted(lss, machine, "-D", f"file={tmp_path / 'table.csv'}") == 70


def test_a_function_of_another_file_reads_it(lss, machine: Path, tmp_path: Path) -> None:
    """The name counts, and not the call."""
    (tmp_path / "reading.lss").write_text("function steps(name) { return read_csv(name); }\n")
    machine.write_text("import reading;\n" + MACHINE.format(file="table.csv").replace("read_csv", "steps"))
    assert counted(lss, machine, "-I", str(tmp_path)) == 30


def test_a_changed_table_makes_another_simulator(lss, machine: Path) -> None:
    assert counted(lss, machine) == 30
    (machine.parent / "table.csv").write_text("step\n4\n")
    assert counted(lss, machine) == 40


def test_a_table_is_a_source(lss, machine: Path, run_sim, tmp_path: Path) -> None:
    """Of the netlist as exported, of the manifest with its hash; and no command overwrites it."""
    table = machine.parent / "table.csv"
    lss("export", machine, "-o", tmp_path / "netlist.json")
    assert json.loads((tmp_path / "netlist.json").read_text())["sources"].count(str(table)) == 1
    lss("build", machine, "-O0", "-o", tmp_path / "sim")
    run_sim(tmp_path / "sim", "--cycles", "1", "--run-dir", tmp_path / "run")
    sources = {one["file"]: one["sha256"] for one in json.loads((tmp_path / "run/manifest.json").read_text())["sources"]}
    assert sources[str(table)] == hashlib.sha256(table.read_bytes()).hexdigest()
    done = lss("build", machine, "-o", table, ok=False)
    assert (done.status, done.err) == (2, f'lss build: "{table}" is a source of this machine; -o names the file to write\n')


def test_large_tables(build_dir: Path, machine: Path) -> None:
    """A table is bounded as lists are, by the steps of elaboration, and in bytes as sources are."""
    table = machine.parent / "table.csv"

    def check(*options: str) -> str:
        command = [build_dir / "bin/lss", "check", "--netlist-only", machine.name, *options]
        return subprocess.run(command, cwd=machine.parent, capture_output=True, text=True, timeout=120).stderr

    table.write_text("step,next\n" + "1,2\n" * 1000)
    assert check() == ""
    assert check("--max-steps", "3000").splitlines()[0].endswith("error[runaway]: building the machine takes more than 3000 steps; --max-steps raises the bound")
    with open(table, "wb") as file:
        file.truncate((1 << 26) + 1)
    assert check() == "table.csv: error[csv]: this table is larger than 64 MiB\n"
