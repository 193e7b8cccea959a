"""A run in parts on several hosts: the file that names them, and mpirun, which starts a carrier on each of them.

A carrier starts the parts of its host, and writes what becomes of them into a file, in lines that
lss/runtime/carrier/main.c lists.  All hosts have the same files: the network, the carrier and the folder of the run are
on a file system that they share.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.network import placement
from harness.network.launch import KILLED, Interrupted, Interrupts, Started
from harness.network.network_file import Network, NetworkError
from harness.run import files, process

HOME = Path(__file__).resolve().parents[2]
LOOK = 0.05  # seconds between looks at mpirun
AGAIN = 1.0  # seconds after which an interrupt is passed on again, to carriers that have started since
MOST_CORES = 1 << 16
SHARED = Path("/dev/shm")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")
# What Open MPI has to know; MPICH does all that without being asked.
OPEN_MPI = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",  # parts would be bound to the one core of their carrier
    "OMPI_MCA_orte_keep_fqdn_hostnames": "1",  # names are those of the file, domains included
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # two names of one computer are two hosts
}
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # as simulators do


@dataclass(frozen=True)
class Host:
    name: str
    cores: int


@dataclass
class Ended:
    """A process on another host, as far as carriers have said; it looks like a child."""

    pid: int
    returncode: int | None = None


@dataclass
class Said:
    """What the carrier of a host has said."""

    host: Host
    process: int | None = None
    parts: dict[int, Ended] = field(default_factory=dict)
    over: bool = False
    error: str | None = None


def read(file: Path) -> list[Host]:
    """The hosts in a file: each line has a name and a number of cores."""
    try:
        lines = file.read_text().splitlines()
    except OSError as error:
        raise NetworkError(f"--hosts: {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NetworkError(f"--hosts: {file}: it is no text") from None
    hosts: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        place = f"--hosts: {file}, line {number}"
        if len(words) != 2 or not words[1].isascii() or not words[1].isdecimal():
            raise NetworkError(f'{place}: "{line.strip()}" is no name of a host with its number of cores')
        if not NAME.fullmatch(words[0]):
            raise NetworkError(f'{place}: "{words[0]}" is no name of a host')
        if words[0] in hosts:
            raise NetworkError(f'{place}: the host "{words[0]}" was there before')
        if not 1 <= int(words[1]) <= MOST_CORES:
            raise NetworkError(f"{place}: {words[1]} cores (a host has 1 to {MOST_CORES})")
        hosts[words[0]] = int(words[1])
    if not hosts:
        raise NetworkError(f"--hosts: {file}: it names no host (a line for each: name, number of cores)")
    return [Host(name, cores) for name, cores in hosts.items()]


def _programs() -> tuple[str, Path]:
    """mpirun and the carrier."""
    carrier = HOME / os.environ.get("BUILD", "build") / "lib/carrier"
    if not carrier.is_file():
        wanted = "Debian: openmpi-bin libopenmpi-dev"
        raise NetworkError(f"--hosts: there is no carrier: the kit was built without mpicc ({wanted}; build it again)")
    if not (mpirun := shutil.which("mpirun")):
        raise NetworkError("--hosts: there is no mpirun (Debian: openmpi-bin)")
    return mpirun, carrier


def _prepare(network: Network, out: Path, hosts: Sequence[Host]) -> list[Started]:
    """The parts with their folders, in which nothing of an earlier run is taken for one of this."""
    started = [Started(part.path, out / part.path, Ended(0)) for part in network.parts]
    for part in started:
        part.folder.mkdir(parents=True, exist_ok=True)
        (part.folder / "statistics.json").unlink(missing_ok=True)
    (out / "hosts").mkdir(exist_ok=True)
    for host in hosts:
        _file_of(out, host).unlink(missing_ok=True)
    return started


def _plan(network: Network, out: Path, options: Sequence[Sequence[str]], hosts: Sequence[Host], board: str) -> str:
    """The plan of a run, which each carrier reads: lss/runtime/carrier/plan.h."""
    file, parts = str(network.file.resolve()), []
    placed = placement.place(network, [host.cores for host in hosts])
    for part, host, given in zip(network.parts, placed, options, strict=True):
        folder = out / part.path
        own = ["--part", part.path, "--network", file, "--board", f"{board}-{host}", "--run-dir", str(folder)]
        command = [str(part.simulator.resolve()), *own, "--quiet", *given]
        parts.append({"path": part.path, "host": host, "log": str(folder / "log.txt"), "command": command})
    named = [{"name": host.name, "cores": host.cores, "said": str(_file_of(out, host))} for host in hosts]
    document = {"network": file, "hash": network.hash, "board": board, "hosts": named, "parts": parts}
    return json.dumps(document, indent=2) + "\n"


def _file_of(out: Path, host: Host) -> Path:
    """For what its carrier has to say."""
    return out / "hosts" / f"{host.name}.txt"


def _command(mpirun: str, carrier: Path, plan: Path, hosts: Sequence[Host]) -> list[str | Path]:
    """One carrier on each host, with the number of the host."""
    each = "Open MPI" in process.run([mpirun, "--version"]).out  # MPICH wants to know all hosts first
    all_hosts = ["-hosts", ",".join(host.name for host in hosts), "-ppn", "1"]
    words: list[str | Path] = [mpirun, *([] if each else all_hosts)]
    for number, host in enumerate(hosts):
        words += [":"] if number else []
        words += ["-n", "1", *(["-host", host.name] if each else []), carrier, plan, str(number)]
    return words


def _wait(child: subprocess.Popen, interrupts: Interrupts, look: Callable[[], None]) -> None:
    """Waits for mpirun, and looks around every so often.  After an interrupt all parts end in good order."""
    signalled = 0.0
    try:
        while child.poll() is None:
            if interrupts.number and time.monotonic() - signalled > AGAIN:
                signalled = time.monotonic()
                with contextlib.suppress(ProcessLookupError):
                    child.send_signal(signal.SIGUSR1)  # which mpirun passes on to all carriers that it has started
            time.sleep(LOOK)
            look()
        look()
    finally:
        process.forget(child)


def _said(out: Path, host: Host) -> Said:
    said, log = Said(host), _file_of(out, host)
    for line in process.said_in(log).splitlines() if log.exists() else []:
        match line.split():
            case ["carrier", pid]:
                said.process = int(pid)
            case ["part", number, pid]:
                said.parts[int(number)] = Ended(int(pid))
            case ["ended", number, status]:
                said.parts[int(number)].returncode = int(status)
            case ["error", *words]:
                said.error = " ".join(words)
            case ["over"]:
                said.over = True
    return said


def _failure(child: subprocess.Popen, all_said: Sequence[Said], errors: Path) -> str | None:
    """What went wrong with carriers; None: nothing, or it follows from the end of a part."""
    for said in all_said:
        if said.error:
            return f"{said.host.name}: {said.error}"
    if any(part.returncode in KILLED for said in all_said for part in said.parts.values()):
        return None
    if child.returncode < 0:
        return f"mpirun (process {child.pid}) was killed by signal {-child.returncode}"
    text = process.said_in(errors)
    # The others may be killed before they can say that they are over; but mpirun says which one was gone first.
    first = re.search(r"\brank (\d+) with PID \d+ on node .* exited on signal", text)  # of Open MPI

    def follows(number: int) -> bool:
        return not re.search(rf"\bPID {all_said[number].process}\b", text) and not (first and int(first[1]) == number)

    left = [number for number, said in enumerate(all_said) if said.process and not said.over]
    gone = [all_said[number] for number in sorted(left, key=follows)]
    if gone:
        return f"the carrier of the host {gone[0].host.name} (process {gone[0].process}) is gone"
    if all(said.over for said in all_said):
        return None
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line.strip("-")]
    names = [said.host.name for said in all_said if not said.process]
    line = next((line for line in lines if any(name in line for name in names)), lines[0] if lines else "")
    return f"mpirun could not start the carriers: {line or f'its status is {child.returncode}'}"


def run(
    network: Network, out: Path, options: Sequence[Sequence[str]], hosts: Sequence[Host],
    interrupts: Interrupts, look: Callable[[], None],
) -> list[Started]:  # fmt: skip
    """Runs all parts to their end, each with its options."""
    mpirun, carrier = _programs()
    out = out.absolute()
    hosts = hosts[: len(network.parts)]
    name = secrets.token_hex(8)
    plan, errors = out / "hosts.json", out / "hosts" / "mpirun.txt"
    os.environ |= OPEN_MPI | (OPEN_MPI_AS_ROOT if os.geteuid() == 0 else {})
    try:
        started = _prepare(network, out, hosts)
        files.write(plan, _plan(network, out, options, hosts, name))
        with errors.open("w") as log:
            child = process.begin(_command(mpirun, carrier, plan, hosts), log=log)
    except OSError as error:
        raise NetworkError(f"{error.filename or out}: {error.strerror}") from None
    try:
        _wait(child, interrupts, look)
    finally:
        for board in SHARED.glob(f"spinach-{name}-*"):  # of this computer: whoever is killed leaves it
            board.unlink(missing_ok=True)
    said = [_said(out, host) for host in hosts]
    parts = {number: part for one in said for number, part in one.parts.items()}
    for number, part in enumerate(started):
        part.child = parts.get(number, part.child)
    if (failed := _failure(child, said, errors)) is not None:
        if interrupts.number and len(parts) < len(started):
            raise Interrupted(interrupts.number)
        raise NetworkError(failed)
    return started
