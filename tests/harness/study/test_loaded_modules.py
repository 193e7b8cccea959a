"""Kernel modules that a guest loads: their functions, the address that was printed, layers of them, what is refused."""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.firmware import tool
from harness.run import store
from harness.run.store import RunError
from harness.study import loaded_modules, uses
from harness.study.linux import guests
from harness.study.study_file import StudyError, StudyFile
from harness.study.uses import layers
from harness.trace.profile import Core, Place

HERE = Path(__file__).parent
CODE = "int a(int x) { return x * 3; }\nint b(int x) { return a(x) + 1; }\nint table[4];\n__attribute__((section(\".init.text\"))) int init(void) { return b(1); }\n"


def compiled(folder: Path, target: str, *options: str) -> Path:
    (folder / "m.c").write_text(CODE)
    made = folder / "rule-30.ko"
    subprocess.run([tool("clang"), f"--target={target}", "-O1", "-ffreestanding", "-fno-pic", "-c", *options, "-o", made, folder / "m.c"], check=True)
    return made


@pytest.mark.parametrize("target", ["mipsel-linux-gnu", "mips-linux-gnu", "x86_64-linux-gnu"])
def test_the_functions_of_a_module(tmp_path: Path, target: str) -> None:
    """Of 32 and 64 bits, in both orders of bytes; of the section .text alone."""
    module = loaded_modules.read(compiled(tmp_path, target))
    assert module.name == "rule_30" and [one.name for one in module.functions] == ["a", "b"]
    first, second = module.functions
    assert module.function_at(first.first) == "a" and module.function_at(second.first + second.size - 1) == "b"
    assert module.function_at(second.first + second.size) is None and module.size >= second.first + second.size


def run_in(folder: Path, *inputs: tuple[str, Path]) -> SimpleNamespace:
    folder.mkdir(exist_ok=True)
    return SimpleNamespace(directory=folder, job=SimpleNamespace(inputs=inputs))


def test_the_address_that_was_printed_last(tmp_path: Path) -> None:
    """By the start or by the point, in a log or in a file of a console."""
    module = loaded_modules.Module(tmp_path / "rule-30.ko", (), 16)
    start = run_in(tmp_path / "start").directory
    (start / store.LOG).write_bytes(b"# insmod\r\nmodule rule_30 0xC0008000\r\nmodule other 1\r\n")
    result = run_in(tmp_path / "run", (store.RESTORE, start / "start.checkpoint"))
    assert loaded_modules.addresses([module], loaded_modules.logs(result))["rule_30"] == 0xC0008000
    (result.directory / "printed-uart.txt").write_text("echo module rule_30 3\nmodule rule_30 c0010000\n")
    assert loaded_modules.addresses([module], loaded_modules.logs(result)) == {"rule_30": 0xC0010000, "other": 1}
    with pytest.raises(RunError) as caught:
        loaded_modules.addresses([module], loaded_modules.logs(run_in(tmp_path / "silent")))
    assert str(caught.value) == f"no line 'module rule_30 ADDRESS' was printed, which says where {tmp_path}/rule-30.ko was loaded; see the run"


def find(path: Path, symbols: object) -> uses.Use:
    keys = {"with": "layers", "per": "station.frames", "symbols": symbols, "layer": [{"name": "driver", "functions": ["b"]}, {"name": "other"}]}
    found = uses.find(keys, StudyFile(title="t", machine="m.lss"), path / "s.toml", path / "build", "s.toml: use")
    assert found
    return found


def test_layers_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded_modules.read(compiled(tmp_path, "mipsel-linux-gnu"))
    at = module.functions[1].first
    places = [Place(pc, 0, "", 1, [cycles], [], function) for pc, cycles, function in ((0xC0008000 + at, 6, None), (0xC0008000, 2, "wrong"), (0xC0000000, 4, "b"))]
    monkeypatch.setattr(layers, "read", lambda file: SimpleNamespace(cores=[Core("core", "clk", 1, 1, 9, 9, [], places, [])]))
    monkeypatch.setattr(layers.machine, "of_point", lambda point, use: SimpleNamespace(derived={}, parameters={}))
    result = run_in(tmp_path / "run")
    (result.directory / store.LOG).write_text("module rule_30 0xc0008000\n")
    result.output, result.stats = (lambda option: tmp_path), {"statistics": [{"path": "station", "name": "frames", "value": 2}], "run": {}}
    use = find(tmp_path, [{"file": "rule-30.ko", "section_at": "printed"}])
    use.check_points([])
    assert use.measures(SimpleNamespace(coordinates={}, settings={}), result) == {"driver": 5, "other": 1} and places[1].function == "a"
    assert use.files(SimpleNamespace()).inputs == ()


def test_layers_of_a_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of a point's guest need no entry in `symbols`; one that has done its work is left out."""
    guest = guests.Guest(tmp_path / "mine", vpes=False)
    monkeypatch.setattr(guests, "KIT", tmp_path / "kit")
    (tmp_path / "mine/modules").mkdir(parents=True)
    (guest.place / "modules").mkdir(parents=True)
    rule = compiled(tmp_path, "mipsel-linux-gnu").rename(guest.place / "modules/rule_30.ko")
    (tmp_path / "m.c").write_text("int table[4] = {1};\n")
    subprocess.run([tool("clang"), "--target=mipsel-linux-gnu", "-c", "-o", guest.place / "modules/done.ko", tmp_path / "m.c"], check=True)
    places = [Place(0xC0008000 + loaded_modules.read(rule).functions[1].first, 0, "", 1, [6], [], None)]
    monkeypatch.setattr(layers, "read", lambda file: SimpleNamespace(cores=[Core("core", "clk", 1, 1, 9, 9, [], places, [])]))
    monkeypatch.setattr(layers.machine, "of_point", lambda point, use: SimpleNamespace(derived={}, parameters={}, netlist={"instances": []}))
    result = run_in(tmp_path / "run")
    (result.directory / store.LOG).write_text("module rule_30 0xc0008000\n")
    result.output, result.stats = (lambda option: tmp_path), {"statistics": [{"path": "station", "name": "frames", "value": 2}], "run": {}}
    use = find(tmp_path, [])
    assert use.measures(SimpleNamespace(coordinates={}, settings={"guest": str(tmp_path / "mine")}, machine="m.lss"), result) == {"driver": 3, "other": 0}


def test_what_is_wrong(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    """A line for each."""
    good = compiled(tmp_path, "mipsel-linux-gnu").read_bytes()
    for name, data in {
        "text.ko": b"# no ELF", "cut.ko": good[:200], "linked.ko": good[:16] + struct.pack("<H", 2) + good[18:],
        "bare.ko": good.replace(b".text\0", b".tixt\0"), "strange.ko": good[:32] + b"\xff" * 4 + good[36:],
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(data)
    (tmp_path / "m.c").write_text("int table[4] = {1};\n")
    subprocess.run([tool("clang"), "--target=mipsel-linux-gnu", "-c", "-o", tmp_path / "empty.ko", tmp_path / "m.c"], check=True)
    lines = []
    for symbols in (
        "rule.ko", [{"file": "rule-30.ko"}], [{"file": "rule-30.ko", "section_at": "0xc0008000"}], [{"section_at": "printed"}], [{"fil": "rule-30.ko"}],
        *([{"file": name, "section_at": "printed"}] for name in ("none.ko", "text.ko", "cut.ko", "linked.ko", "bare.ko", "strange.ko", "empty.ko")),
    ):  # fmt: skip
        with pytest.raises(StudyError) as caught:
            find(tmp_path, symbols).check_points([])
        lines.append(str(caught.value).replace(str(tmp_path), "…"))
    assert all("\n" not in line for line in lines)
    golden(HERE / "loaded_module_errors.golden", "".join(f"{line}\n" for line in lines))
