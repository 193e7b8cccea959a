"""The launch configurations for Visual Studio Code of docs/debugging.md work: gdb gets the commands that its C/C++ extension (MIEngine)
sends for them, and answers as it expects."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.debug.mi import Editor


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    one = Editor(tmp_path)
    yield one
    one.close()


@pytest.fixture
def configuration(root: Path, tmp_path: Path) -> Callable[..., dict]:
    """configuration(number, old=new...): one of the documented ones, with another address."""
    text = (root / "docs/debugging.md").read_text().split("## Visual Studio Code")[1]
    launches = json.loads(re.search(r"```json[^\n]*\n(.*?)```", text, re.S)[1])["configurations"]

    def choose(number: int, **replaced: str) -> dict:
        chosen = json.loads(json.dumps(launches[number]).replace("${workspaceFolder}", str(tmp_path)))
        return {**chosen, **{name: value for name, value in replaced.items() if name in chosen}}

    return choose


def test_one_processor(editor, configuration, machine, firmware, debugged, tmp_path) -> None:
    shutil.copy(firmware("checksum"), tmp_path / "count.elf")
    run = debugged(machine("rfu"), "--program", "count.elf")
    stop = editor.launch(configuration(0, miDebuggerServerAddress="gdb.socket"))
    assert 'addr="0x00000000"' in stop and 'mips.S"' in stop
    where = re.search(r'number="(\d+)"', editor.ask('-break-insert -f "checksum.c:42"'))[1]  # what it stores may be in memory already
    editor.ask("-exec-continue", "running")
    stop = editor.shown()
    assert 'reason="breakpoint-hit"' in stop and f'bkptno="{where}"' in stop and 'line="42"' in stop
    first = editor.value("frame[1]")
    for command, reason in (("-exec-next", "end-stepping-range"), ("-exec-step", "end-stepping-range"), ("-exec-step-instruction", "end-stepping-range"), ("-exec-continue", "breakpoint-hit")):
        editor.ask(f"{command} --thread 1" if command != "-exec-continue" else command, "running")
        assert f'reason="{reason}"' in editor.shown()
    assert first == "0" != editor.value("frame[1]")
    editor.ask("-interpreter-exec console \"reverse-continue\"", "running")  # -exec reverse-continue in the debug console
    editor.shown()
    assert editor.value("frame[1]") == "0"
    editor.ask("monitor where")
    assert "of history" in editor.console and "1  core" in editor.console
    editor.ask(f"-break-delete {where}")
    editor.ask("-target-detach")
    assert run.end()[0] == 0


def test_several_processors(editor, configuration, machine, firmware, debugged, tmp_path) -> None:
    run = debugged(machine("dual"), "--program", firmware("sum"))
    script = subprocess.run([*run.command, "--gdb-script"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    (tmp_path / "connect.gdb").write_text(script)
    editor.launch(configuration(1))
    assert re.findall(r'target-id="Thread (\d\.1)"', editor.ask("-thread-info")) == ["1.1", "2.1"]
    editor.ask('-break-insert -f "sum.c:15"')
    threads = set()
    for _ in range(4):
        editor.ask("-exec-continue", "running")
        stop = editor.shown()
        assert 'reason="breakpoint-hit"' in stop
        threads.add(re.search(r'thread-id="(\d+)"', stop)[1])
    assert threads == {"1", "2"}
    editor.ask("-exec-next --thread 2", "running")
    editor.shown()
    editor.ask("-interpreter-exec console \"kill\"")
