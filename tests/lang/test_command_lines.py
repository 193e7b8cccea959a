"""What the compiler does with each form of its command lines: the golden file holds every command, its status and what it said."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests import captures

COMMANDS = ["build", "run", "check", "list", "doc", "graph", "fmt", "schedule", "explain", "export", "server", "completion", "cache", "trace", "packets"]
MACHINE = """
parameter n = 2 : int;
parameter label = "" : string;
clock slow = 1 MHz;
clock fast = 8 MHz;
module pair { inport in : 'a; outport out : 'a; instance r[2] : relay; in -> r[0].in; r[0].out -> r[1].in; r[1].out -> out; }
instance p : producer on fast;
instance b : pair on fast;
instance c : consumer on fast;
p.out -> b.in;
b.out -> c.in;
instance q : producer on slow;
instance l : lanes on slow;
instance k : consumer on slow;
q.out -> l.in;
l.out -> k.in;
"""
FAULTY = "instance p : producer;\nvar a = 1 + true;\n"
LINES: list[list[str]] = [
    [], ["help"], ["--help"], ["-h"], ["--version", "x"], ["help", "check"], ["nothing"], ["biuld"], ["--nothing"],
    *[[command, "--help"] for command in COMMANDS],
    *[[command, "--nonsense"] for command in COMMANDS],
    *[[command] for command in ("build", "run", "check", "doc", "graph", "fmt", "schedule", "export", "completion", "trace", "packets")],
    *[[command, "m.lss", "x.lss", "y.lss"] for command in ("build", "run", "check", "graph", "schedule", "export")],
    *[[command, "f.lss", *rest] for command, rest in (("build", ["-o", "sim"]), ("run", []), ("graph", ["-o", "x.dot"]), ("schedule", []), ("export", ["-o", "x.json"]))],
    ["build", "m.lss"], ["graph", "m.lss"], ["graph", "m.lss", "-o", "x.png"], ["graph", "-I", "lib", "m.lss", "-o", "none/x.dot"], ["export", "-I", "lib", "m.lss", "-o", "none/x.json"],
    *[["check", "--netlist-only", "-I", "lib", "m.lss", *options] for options in (
        [], ["-D", "n=3"], ["-Dn=3"], ["-D", "n"], ["-D", "=3"], ["-D"], ["-D", "n=x"], ["-D", "n=1.5"], ["-D", "m=3"], ["-D", "label=x=y"], ["-D", "label"], ["-I"],
        ["--max-instances", "7"], ["--max-instances", "8"], ["--max-instances=10"], ["--max-instances", "0"], ["--max-instances", "x"], ["--max-instances", "1x"], ["--max-instances", "2147483648"],
        ["--max-instances"], ["--max-steps", "10"], ["--max-steps=-1"], ["--max-stesp", "3"], ["--netlist"], ["--"], ["--", "x"])],
    ["schedule", "-I", "lib", "m.lss"],
    *[["schedule", "-I", "lib", "m.lss", path] for path in ("b", "b.r", "b.r[1]", "l", "bb", "b.r[2]", "b.", "")],
    ["schedule", "-I", "lib", "--single-function", "m.lss", "k"],
    ["explain", "unit"], ["explain", "unti"], ["explain", "qqqqqq"], ["explain", "unit", "syntax"],
    ["doc", "-I", "lib", "producr"], ["doc", "qqqqqqqqqq"], ["doc", "none.lss"], ["doc", "-I", "lib", "producer", "consumer"],
    ["list", "x"], ["fmt", "none.lss"], ["fmt", "m.lss", "--check"], ["server", "none.lss", "--x"], ["completion", "fish"], ["completion", "bash", "zsh"],
    ["cache", "nothing"], ["cache", "show", "clean"], ["cache", "--limit", "3"], ["cache", "--limit", "1.5 B"], ["cache", "--limit", "3 ns"], ["cache", "--limit"],
    ["packets", "none"], ["packets", "m.lss"], ["packets", "m.lss", "x"], ["packets", "m.lss", "-o", "./m.lss"], ["packets", "c.pcap", "-o", "d.pcap"], ["packets", "c.pcap", "-o", "none/d.pcap"],
    ["cache"], ["cache", "--limit", "2 GiB"], ["cache", "show", "--limit=3 GiB"], ["cache", "clean", "--limit", "1 GiB"], ["cache", "show"],
]  # fmt: skip


def test_every_form(build_dir: Path, tmp_path: Path, golden: Callable, root: Path) -> None:
    (tmp_path / "m.lss").write_text(MACHINE)
    (tmp_path / "f.lss").write_text(FAULTY)
    (tmp_path / "c.pcap").write_bytes(captures.pcap([b"x" * 70], limit=64))
    (tmp_path / "lib").symlink_to(root / "tests/lang/lib")
    environment = {**os.environ, "LSS_CACHE": str(tmp_path / "cache")}
    said = []
    for line in LINES:
        done = subprocess.run(
            [build_dir / "bin" / "lss", *line], cwd=tmp_path, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
        )
        shown = " ".join(f"'{word}'" if " " in word or not word else word for word in line)
        said.append(f"$ lss {shown} -> {done.returncode}\n{done.stdout}{done.stderr}".replace(str(tmp_path), "FOLDER"))
    text = re.sub(r"^lss \d+\.\d+\.\d+.*$", "lss VERSION", "".join(said), flags=re.MULTILINE)  # and perhaps a commit
    golden(root / "tests/lang/command_lines.golden", text)


def test_a_schedule_names_the_last_of_what_a_function_reads(lss) -> None:
    lines = lss("schedule", Path(__file__).resolve().parents[2] / "examples/arbiter/arbiter.lss", "arbiter").out.splitlines()
    assert [" ".join(line.split()[1:]) for line in lines if "arbiter handler pick  " in line] == [
        "arbiter handler pick after requester[3].out.data, by 8 requester[3] phase_start"
    ]
