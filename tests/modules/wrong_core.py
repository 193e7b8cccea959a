"""Out-of-order cores with a function unit behind their decoder that damages instructions, for the tests of what notices it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.tree import found

LINK = "    decode[lane].out -> buffered.in;"
UNIT = """import wide_types;
module damage_group {
  parameter width = 4 : int;
  inport in : op_group(width);
  outport out : op_group(width);
  always in.ack, out.enable;
  handler damage : in.data, in.enable -> out.data;
}
"""


def machines(directory: Path, build_dir: Path, root: Path, core: str, damage: str, *options: str) -> Callable[[bool], Path]:
    """build(wrong): examples/wide_core with the core, in lockstep; `damage` is what a wrong one does to an instruction `op`."""
    generic = (root / "modules/core/ooo/ooo_core.lss").read_text().replace("module ooo_core", "module wrong_core")
    assert generic.count(LINK) == 1
    unit = "    instance damage : damage_group { width = width * parts; };\n    decode[lane].out -> damage.in;\n  damage.out -> buffered.in;"
    (directory / "wrong_core.lss").write_text(generic.replace(LINK, unit))
    (directory / "damage_group.lss").write_text(UNIT)
    (directory / "damage_group.c").write_text(
        '#include "core/ooo/issue_queue.h"\nhandler(damage) {\n  if (!some(in)) {\n    send_nothing(out);\n    return;\n  }\n'
        f"  typeof_port(out) g = data(in);\n  for (int i = 0; i < g.count; i++) {{\n    micro_op *op = &g.op[i];\n{damage}\n  }}\n  send(out, g);\n}}\n"
    )
    (path,) = found(root / "modules", f"{core}.lss")
    name = core.replace("wide", "wrong")
    (directory / f"{name}.lss").write_text(path.read_text().replace(f"module {core}", f"module {name}").replace(": ooo_core", ": wrong_core"))
    built: dict[bool, Path] = {}

    def build(wrong: bool) -> Path:
        if wrong not in built:
            processor = name if wrong else core
            built[wrong] = directory / f"{processor}.sim"
            command = [build_dir / "bin/lss", "build", root / "examples/wide_core/wide_core.lss", "-I", directory, "-D", "checked=true", "-D", f"processor={processor}"]
            done = subprocess.run([*command, *options, "-o", built[wrong]], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return built[wrong]

    return build


def run(machine: Path, elf: Path) -> subprocess.CompletedProcess:
    return subprocess.run([machine, "--program", elf, "--cycles", "20000"], capture_output=True, text=True, timeout=60)
