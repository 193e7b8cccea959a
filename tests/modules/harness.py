"""A testbench around one module: sources and sinks at its ports, monitors on every connection, tables and random traffic.

A netlist is built once per session and then run with many tables: everything that differs between runs is a runtime
parameter.  Tables have one row per cycle; a column is a port's data (`in`, `out[1]`), an acknowledgment (`out.ack`) or an
enable (`out.enable`).  Columns of inports' data and outports' acknowledgments drive the module, all others are checked.
Cells: a value, `.` for nothing, `-` for "not looked at", and `7!` for an item that is offered but cancelled.  What is not
driven must be committed where it is accepted, unless it has the `!`, or a column of its own for the enable.
"""

import hashlib
import json
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Ran:
    """What one run left behind."""

    status: int
    out: str
    err: str
    directory: Path
    stats: dict = field(default_factory=dict)

    def stat(self, path: str, name: str) -> int:
        """The value of one statistic."""
        for entry in self.stats["statistics"]:
            if entry["path"] == path and entry["name"] == name:
                return entry["value"]
        raise AssertionError(f"no statistic {path}.{name}")

    def counted(self, path: str) -> dict[str, int]:
        """The statistics of an instance that are not zero."""
        return {one["name"]: one["value"] for one in self.stats["statistics"] if one["path"] == path and one["value"]}


def collect(instance: str, *events: str) -> str:
    """LSS that prints each event of an instance, for happened(): collect("gate", "blocked(lane)")."""
    lines = []
    for event in events:
        name, _, rest = event.partition("(")
        arguments = [word.strip() for word in rest.rstrip(")").split(",") if word.strip()]
        shown = "".join(f", (long long)({word})" for word in arguments)
        lines.append(
            f'collector seen_{name} on "{instance}" event {name} '
            f'{{ record <<< printf("@{name} %llu{" %lld" * len(arguments)}\\n", (unsigned long long)cycle{shown}); >>> }}\n'
        )
    return "".join(lines)


def happened(ran: Ran, event: str) -> list[tuple[int, ...]]:
    """The events that collect() printed: cycle and arguments."""
    lines = [line.split() for line in ran.out.splitlines()]
    return [tuple(int(word) for word in words[1:]) for words in lines if words and words[0] == f"@{event}"]


@dataclass(frozen=True)
class Seen:
    """One line of a monitor: what a lane carried in a cycle; value None is nothing."""

    cycle: int
    lane: int
    value: str | None
    enable: bool
    ack: bool

    @property
    def transferred(self) -> bool:
        return self.value is not None and self.enable and self.ack

    @property
    def cancelled(self) -> bool:
        """The receiver would have it, the sender does not commit it."""
        return self.value is not None and self.ack and not self.enable


@dataclass(frozen=True)
class Reply:
    """One line of a memory source's record."""

    cycle: int
    tag: int
    error: bool
    data: int


LONG_ENOUGH = 20  # cycles, for there to be idle ones
TOLERATED = 60  # cycles in which a module may be stepped for nothing, and half of the idle ones
RESTLESS = ("source", "memory_source", "ethernet")  # they draw anew in every cycle, or look whether a frame is due
LONG = 50_000  # cycles of runs that are idle for most of them
MOST_CHECKED = 5000  # cycles of runs in which what next_event says is checked: each is stepped and compared
# What --check-idle says of each instance at the end: path, module, idle cycles, those in which it was stepped for nothing.
NEEDLESS = r"^(\S+) : (\w+) on \w+: idle in (\d+) cycles, in (\d+) of them needlessly stepped$"


class Bench:
    """Builds netlists, each once, and runs them.

    Debug builds check what every module says in next_event, and that it sleeps when it has nothing to do; a build with the
    options `long`, which is taken for long runs of modules that were tried so, jumps over the idle time that it names.  With
    `again`, the first run with each module is repeated on a build with these options, and must be the same.
    """

    def __init__(
        self, compiler: Path, directory: Path, *options: str, long: Sequence[str] | None = None, again: Sequence[str] | None = None
    ) -> None:
        self.compiler, self.directory, self.options, self.long, self.again = compiler, directory, options, long, again
        self.built: dict[tuple, Path] = {}
        self.texts: dict[Path, str] = {}
        self.tried: set[str] = set()
        self.runs = 0

    def build(self, text: str, *options: str) -> Path:
        """The simulator of a netlist."""
        options = (*self.options, *options)
        simulator = self._build(text, options)
        if options == self.options:
            self.texts[simulator] = text
        return simulator

    def planned(self, text: str) -> Path:
        """The simulator of a netlist, which is not there before it is run, and then as it is best run so long."""
        simulator = self._place(text, self.options)
        self.texts[simulator] = text
        return simulator

    def _place(self, text: str, options: Sequence[str]) -> Path:
        return self.directory / ("bench_" + hashlib.sha256(repr((text, *options)).encode()).hexdigest()[:12])

    def _build(self, text: str, options: Sequence[str]) -> Path:
        key, simulator = (text, *options), self._place(text, options)
        if key not in self.built:
            netlist = simulator.with_suffix(".lss")
            netlist.write_text(text)
            command = [str(self.compiler), "build", str(netlist), "-o", str(simulator), *options]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=self.directory)
            assert done.returncode == 0, f"{' '.join(command)}\n{text}\n{done.stdout}{done.stderr}"
            self.built[key] = simulator
        return self.built[key]

    def refuse(self, text: str) -> str:
        """The diagnostics of a netlist that must not compile."""
        netlist = self.directory / f"bad_{hashlib.sha256(text.encode()).hexdigest()[:12]}.lss"
        netlist.write_text(text)
        command = [str(self.compiler), "check", str(netlist)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.directory)
        assert done.returncode == 1, (
            f"{' '.join(command)}: status {done.returncode}\n{text}\n{done.stdout}{done.stderr}"
        )
        return done.stderr

    def run(
        self,
        simulator: Path,
        cycles: int,
        settings: dict[str, object] | None = None,
        *,
        seed: int = 1,
        ok: bool = True,
        files: dict[str, str | bytes] | None = None,
    ) -> Ran:
        """Runs a simulator in a directory of its own, with `files` in it; a long run of modules that were tried may have
        another build."""
        modules = set(re.findall(r"^\s*instance [^:]*: (\w+)", self.texts.get(simulator, ""), re.MULTILINE))
        if cycles >= LONG and self.long is not None and modules and modules <= self.tried:
            return self._run_once(self._build(self.texts[simulator], self.long), cycles, settings, seed, ok, files)
        if simulator in self.texts:
            self._build(self.texts[simulator], self.options)
        ran = self._run_once(simulator, cycles, settings, seed, ok, files)
        new = modules - self.tried if ok and cycles >= LONG_ENOUGH else set()
        self.tried |= new
        if new and self.again is not None:
            other = self._run_once(self._build(self.texts[simulator], self.again), cycles, settings, seed, ok, files)
            where = f"{other.directory} differs from {ran.directory}, which was built with {' '.join(self.options)}"
            assert other.stats["statistics"] == ran.stats["statistics"], where
            for path in ran.directory.iterdir():
                if path.name != "stats.json":
                    assert path.read_bytes() == (other.directory / path.name).read_bytes(), f"{where}: {path.name}"
        return ran

    def _run_once(
        self,
        simulator: Path,
        cycles: int,
        settings: dict[str, object] | None,
        seed: int,
        ok: bool,
        files: dict[str, str | bytes] | None,
    ) -> Ran:
        self.runs += 1
        directory = self.directory / f"run{self.runs}"
        directory.mkdir()
        for name, content in (files or {}).items():
            (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        command = [str(simulator), "--cycles", str(cycles), "--seed", str(seed), "--stats", "stats.json"]
        if simulator in self.texts and cycles <= MOST_CHECKED and "--debug" in self.options:
            command.append("--check-idle")
        for name, value in (settings or {}).items():
            command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120 + cycles // 10_000, cwd=directory, stdin=subprocess.DEVNULL
        )
        told = f"cd {directory} && {' '.join(command)}\n{done.stdout}{done.stderr}"
        assert (done.returncode == 0) == ok, f"status {done.returncode}: {told}"
        for path, module, idle, needless in re.findall(NEEDLESS, done.stderr, re.MULTILINE):
            assert module in RESTLESS or int(needless) <= TOLERATED + int(idle) // 2, f"{path} does not sleep: {told}"
        stats = directory / "stats.json"
        return Ran(
            done.returncode,
            done.stdout,
            done.stderr,
            directory,
            json.loads(stats.read_text()) if stats.exists() else {},
        )


def read_monitor(path: Path) -> list[Seen]:
    """The lines that a monitor recorded."""
    lines = []
    for line in path.read_text().splitlines():
        cycle, lane, rest = line.split(" ", 2)
        value, enable, ack = rest.rsplit(" ", 2)
        lines.append(Seen(int(cycle), int(lane), None if value == "-" else value, enable == "1", ack == "1"))
    return lines


def read_items(path: Path) -> list[tuple[int, str]]:
    """The (cycle, value) pairs that a sink recorded."""
    return [(int(cycle), value) for cycle, value in (line.split(" ", 1) for line in path.read_text().splitlines())]


def read_replies(path: Path) -> list[Reply]:
    """The replies that a memory source recorded."""
    replies = []
    for line in path.read_text().splitlines():
        cycle, tag, error, data = line.split()
        replies.append(Reply(int(cycle), int(tag), error == "1", int(data, 0)))
    return replies


class Device:
    """A module with a source and a monitor at every inport's lane, a monitor and a sink at every outport's.

    ports maps names to (direction, lanes, type); `body` is the inside of the braces of the instance, `before` is LSS that
    goes ahead of it.  The sources of port `in` are in_source[lane], the sinks of `out` are out_sink[lane].
    """

    def __init__(
        self,
        bench: Bench,
        module: str,
        ports: dict[str, tuple[str, int, str]],
        body: str = "",
        before: str = "",
        after: str = "",
    ):
        self.bench, self.ports = bench, ports
        lines = [before, f"instance dut : {module} {{ {body} }};"]
        for port, (direction, lanes, kind) in ports.items():
            assert direction in ("in", "out")
            lines.append(f"instance {port}_monitor[{lanes}] : monitor;")
            if direction == "in":
                lines.append(f"instance {port}_source[{lanes}] : source;")
                for i in range(lanes):
                    lines.append(f"{port}_source[{i}].out -> {port}_monitor[{i}].in : {kind};")
                    lines.append(
                        f"{port}_source[{i}].generate = <<< return ({kind if kind == 'bool' else kind + '_t'})(index * {lanes} + {i}); >>>;"
                        if kind.startswith("uint") or kind.startswith("int")
                        else ""
                    )
                    lines.append(f"{port}_monitor[{i}].out -> dut.{port};")
            else:
                lines.append(f"instance {port}_sink[{lanes}] : sink;")
                for i in range(lanes):
                    lines.append(f"dut.{port} -> {port}_monitor[{i}].in;")
                    lines.append(f"{port}_monitor[{i}].out -> {port}_sink[{i}].in : {kind};")
        lines.append(after)
        self.text = "\n".join(line for line in lines if line) + "\n"
        self.simulator = bench.build(self.text)

    def lanes(self) -> list[tuple[str, int, str]]:
        """(port, lane, direction) of every lane."""
        return [(port, i, direction) for port, (direction, lanes, _) in self.ports.items() for i in range(lanes)]

    def check_table(self, table: str, settings: dict[str, object] | None = None) -> Ran:
        """Drives the module with a table and compares every cell that is not driven."""
        rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines() if line.strip()]
        header, rows = rows[0], rows[1:]
        scripts: dict[str, list[str]] = {}
        values: dict[str, object] = {}
        for port, lane, direction in self.lanes():
            if direction == "in":
                scripts[f"{port}{lane}.txt"] = []
                values[f"{port}_source[{lane}].script"] = f"{port}{lane}.txt"
            values[f"{port}_monitor[{lane}].record"] = f"{port}{lane}.seen"
            values[f"{port}_monitor[{lane}].idle"] = True
        checks: list[tuple[int, str, int, str, str]] = []
        for column, name in enumerate(header):
            place, _, signal = name.partition(".")
            port, _, index = place.partition("[")
            lane = int(index.rstrip("]")) if index else 0
            direction = self.ports[port][0]
            cells = [row[column] for row in rows]
            if direction == "in" and not signal:
                for cycle, cell in enumerate(cells):
                    if cell not in (".", "-", ""):
                        scripts[f"{port}{lane}.txt"].append(
                            f"{cycle} {cell.rstrip('!')} {'cancel' if cell.endswith('!') else 'once'}"
                        )
            elif direction == "out" and signal == "ack":
                values[f"{port}_sink[{lane}].pattern"] = "".join("1" if cell == "-" else cell for cell in cells)
            else:
                checks += [
                    (cycle, port, lane, signal or "value", cell)
                    for cycle, cell in enumerate(cells)
                    if cell not in ("-", "")
                ]
        ran = self.bench.run(
            self.simulator,
            len(rows),
            {**values, **(settings or {})},
            files={name: "".join(line + "\n" for line in lines) for name, lines in scripts.items()},
        )
        seen = {(port, lane): read_monitor(ran.directory / f"{port}{lane}.seen") for port, lane, _ in self.lanes()}
        enables = {(port, lane) for _, port, lane, signal, _ in checks if signal == "enable"}
        wrong = []
        for cycle, port, lane, signal, cell in checks:
            line = seen[port, lane][cycle]
            if signal == "value":
                found = (line.value or ".") + "!" * (line.cancelled and (port, lane) not in enables)
            else:
                found = str(int(line.enable if signal == "enable" else line.ack))
            if found != cell:
                wrong.append(f"cycle {cycle}: {port}[{lane}] {signal} is {found}, expected {cell}")
        assert not wrong, "\n".join([*wrong, f"in {ran.directory}"])
        return ran

    def stream(
        self,
        cycles: int,
        seed: int,
        *,
        count: int = -1,
        offer: float = 1.0,
        cancel: float = 0.0,
        ready: float = 1.0,
        settings: dict[str, object] | None = None,
    ) -> dict[tuple[str, int], list[Seen]]:
        """Random traffic at all ports; returns what every lane saw.  Generated item k of lane i is k * lanes + i."""
        values: dict[str, object] = {}
        for port, lane, direction in self.lanes():
            if direction == "in":
                source = f"{port}_source[{lane}]"
                values |= {f"{source}.offer": offer, f"{source}.cancel": cancel, f"{source}.count": count}
            else:
                values[f"{port}_sink[{lane}].ready"] = ready
            values[f"{port}_monitor[{lane}].record"] = f"{port}{lane}.seen"
        ran = self.bench.run(self.simulator, cycles, values | (settings or {}), seed=seed)
        self.last = ran
        return {(port, lane): read_monitor(ran.directory / f"{port}{lane}.seen") for port, lane, _ in self.lanes()}


def moved(lines: Sequence[Seen]) -> list[tuple[int, int]]:
    """(cycle, number) of the items that were transferred."""
    return [(line.cycle, int(line.value, 0)) for line in lines if line.transferred and line.value is not None]


class Memory:
    """Memory sources before a piece of netlist that ends in memories; scripts in, replies out.

    `netlist` connects requester[0] to requester[sources - 1] (ports `memory`) as it likes; `before` goes ahead of them,
    `on` names their clock.  `width` may be an expression of `i`, the number of a requester.
    """

    def __init__(
        self,
        bench: Bench,
        netlist: str,
        sources: int = 1,
        width: int | str = 64,
        body: str = "",
        before: str = "",
        on: str = "",
    ):
        self.bench, self.sources = bench, sources
        self.text = (
            f"import memory_types;\n{before}"
            f"instance requester[{sources}] : memory_source{' on ' + on if on else ''};\n"
            f"for (i = 0; i < {sources}; i = i + 1) {{ requester[i].width = {width}; {body} }}\n{netlist}\n"
        )
        self.simulator = bench.build(self.text)

    def play(
        self,
        scripts: Sequence[str | Sequence[str]],
        cycles: int,
        settings: dict[str, object] | None = None,
        *,
        outstanding: int = 1,
        seed: int = 1,
        ok: bool = True,
        files: dict[str, str | bytes] | None = None,
    ) -> list[list[Reply]]:
        """Plays one script for each source and returns the replies to each."""
        values: dict[str, object] = {}
        contents: dict[str, str | bytes] = dict(files or {})
        for i, script in enumerate(scripts):
            contents[f"script{i}.txt"] = script if isinstance(script, str) else "".join(line + "\n" for line in script)
            values |= {
                f"requester[{i}].script": f"script{i}.txt",
                f"requester[{i}].record": f"replies{i}.txt",
                f"requester[{i}].outstanding": outstanding,
            }
        self.last = self.bench.run(self.simulator, cycles, values | (settings or {}), seed=seed, ok=ok, files=contents)
        return [read_replies(self.last.directory / f"replies{i}.txt") if ok else [] for i in range(len(scripts))]


class Bytes:
    """The reference model of a memory: bytes, written and read as numbers of a byte order."""

    def __init__(self, size: int, order: str = "little", base: int = 0) -> None:
        self.contents, self.order, self.base = bytearray(size), order, base

    def read(self, address: int, size: int, sign: bool = False, width: int = 64) -> int:
        at = address - self.base
        number = int.from_bytes(self.contents[at : at + size], self.order, signed=sign)
        return number & ((1 << width) - 1)

    def write(self, address: int, size: int, number: int) -> None:
        at = address - self.base
        self.contents[at : at + size] = (number & ((1 << 8 * size) - 1)).to_bytes(size, self.order)


class Requests:
    """A script of random reads and writes, numbered from 0, and the (tag, data) that each must be answered with."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.script: list[str] = []
        self.replies: list[tuple[int, int]] = []

    def add(self, model: Bytes, address: int, size: int = 8, bits: int = 64) -> None:
        """One more request of `size` bytes; what is written is a number of `bits`, of which the memory takes the lowest."""
        number, value = len(self.script), self.rng.getrandbits(bits)
        if self.rng.random() < 0.5:
            model.write(address, size, value)
            self.script.append(f"{number} write {size} {address} {value:#x} {number}")
            self.replies.append((number, 0))
        else:
            self.script.append(f"{number} read {size} {address} 0 {number}")
            self.replies.append((number, model.read(address, size, width=bits)))
