"""All that a simulator offers; in the soak also with a runtime that has sanitizers: no table is read beyond its end, and the results
are those of the plain build."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.debug.remote import Waiting, framed
from tests.kits import Kit

INTERACTIVE = "help|list core|events core.access|until event(core.access.access, 2)|step|step 3|registers|where|print core.**|print /x core.fetcher.pc|set core.registers.r[8] = 5|cycle 10|break core.writeback.instructions >= 200|until cycles(cpu_clk) >= 1000|statistics core.**|quit"
PACKETS = ["qSupported:multiprocess+", "qXfer:features:read:target.xml:0,ffff", "g", "p25", "p47", "m0,40", "Z0,20,4", "c", "s", "bs", "bc", "z0,20,4", "Z3,7fffe6,1", "c", "bc", "qThreadExtraInfo,p1.1", "P4=00000007"]
# The options of each run, in their order: one goes on where another was.
RUNS = {
    "texts": ["--help"],
    "names": ["--list"],
    "names as JSON": ["--list=json"],
    "states": ["--cycles", 900, "--print", "core.**", "--print", "core.writeback.history[0..9]", "--state-hashes", "hashes", "--state-hash-every", 200],
    "checkpoint": ["--cycles", 900, "--checkpoint", "point", "--checkpoint-every", 300, "--sample", "cycles(cpu_clk) >= 100"],
    "restored": ["--restore", "point", "--cycles", 1500, "--sample", "cycles(cpu_clk) >= 100", "--measure-from", "cycles(cpu_clk) >= 1000", "--measure-to", "cycles(cpu_clk) >= 1200"],
    "compared": ["--restore", "point", "--compare", "point"],
    "served": ["--restore", "point", "--serve", 1],
    "VCD": ["--cycles", 300, "--wave", "signals.vcd", "--wave-from", "cycles(cpu_clk) >= 50"],
    "FST": ["--cycles", 300, "--wave", "signals.fst", "--wave-signals", "core.**,port core.**"],
    "recorded": ["--cycles", 600, "--record", "events", "--record-from", "cycles(cpu_clk) >= 100", "--profile", "profile"],
    "line trace": ["--cycles", 100, "--trace", "core.**"],
    "checked": ["--cycles", 500, "--check-idle", "--check-replay"],
    "until": ["--until", "event(core.access.access, 2)", "--watchdog", "1 ms", "--run-dir", "run"],
    "commands": ["--interactive"],
    "commands as JSON": ["--interactive=json"],
}  # fmt: skip


@pytest.fixture(scope="module")
def simulators(root: Path, kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The plain one, and in the soak that with sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    command = ["build", root / "examples/single_core/single_core.lss", "--debug", "-O0", "--record", "instructions", "--record", "memory", "-o"]
    subprocess.run([kit.build / "bin/lss", *command, folder / "plain"], check=True)
    if not kit.sanitized:
        return [folder / "plain"]
    subprocess.run([kit.lss, *command, folder / "checked", *kit.options], check=True, env=environment)
    return [folder / "plain", folder / "checked"]


def found(text: str) -> bool:
    return "Sanitizer" in text or "runtime error" in text


def test_every_kind_of_run(simulators: list[Path], build_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    results = []
    for simulator in simulators:
        folder = tmp_path / simulator.name
        (folder / "served").mkdir(parents=True)
        told = {}
        for name, options in RUNS.items():
            words = "served --cycles 1000\n" if name == "served" else INTERACTIVE.replace("|", "\n") + "\n"
            command = [simulator, "--quiet", *options, "--program", build_dir / "firmware/hello/hello.elf"]
            done = subprocess.run([str(word) for word in command], cwd=folder, input=words, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0 and not found(done.stderr), f"{name}: {done.returncode} {done.stderr[:4000]}"
            told[name] = re.sub(r"plain|checked|\d+\.\d+ (s|M cycles/s)", "", done.stdout) if name != "served" else ""
        results.append((told, {file.name: file.read_bytes() for file in folder.iterdir() if file.name in ("hashes", "signals.vcd", "events", "profile")}))
    assert results[0] == results[-1] and len(results[0][1]) == 4
    listed = json.loads(results[0][0]["names as JSON"])
    assert [event["name"] for event in listed["events"] if event["path"] == "core.writeback"] == ["retire", "annulled", "marker"]
    assert [parameter["aliases"] for parameter in listed["parameters"] if parameter["name"] == "program"] == [["start.program", "scratchpad.image"]]


def test_a_debugger_that_is_served(simulators: list[Path], build_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    replies = []
    for simulator in simulators:
        folder = tmp_path / simulator.name
        folder.mkdir()
        run = Waiting(folder, simulator, "--program", build_dir / "firmware/hello/hello.elf")
        gdb = run.remote()
        replies.append([gdb.ask(packet) for packet in PACKETS] + [gdb.monitor(command) for command in ("help", "where", "statistics core.**", "registers", "frames", "print core.**")])
        gdb.socket.sendall(framed(b"k"))
        status, _, err = run.end()
        assert status == 0 and not found(err), err
    assert replies[0] == replies[-1] and any("watch" in reply for reply in replies[0])
