"""What simulations of any study have in common: how a simulator is built, what it is asked to do, how a run is checked.

A machine driven from here has the top-level run-time parameters of docs/traces.md.  Each run is checked twice: by the
machine's own checker, whose complaint ends the run, and by harness.net.check on the files that came out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.net import check, traffic
from harness.run import compiler
from harness.run.sweep import Job, Result, RunError
from harness.study import measure

STORE = "run"  # where results lie in the build directory
RESENT = "resent"  # the exchange's statistic of frames that were lost and sent again
DROPS = "counted_drops"  # the checker's statistic of frames that the modelled hardware counted as dropped
IGNORED = "counted_ignored"  # and of those that came while it did not receive


def lss(build: Path, *words: str | Path) -> None:
    """Runs the compiler; its own diagnostics go to the user as they are."""
    try:
        compiler.lss(build, *words)
    except compiler.CompilerError as error:
        raise RunError(str(error)) from None


def simulator_path(machine: Path, name: str, build: Path) -> Path:
    """Where a machine's simulator lies; `name` tells its variants apart."""
    return build / "sim" / f"{machine.stem}-{name.replace(' ', '-')}"


def build_simulator(machine: Path, name: str, defines: Sequence[str], build: Path) -> Path:
    """The simulator of a machine with these -D parameters."""
    simulator = simulator_path(machine, name, build)
    simulator.parent.mkdir(parents=True, exist_ok=True)
    lss(build, "build", machine, "-o", simulator, *(word for define in defines for word in ("-D", define)))
    return simulator


def job(
    name: str, simulator: Path, firmware: Path | None, send: Path | None, receive: Path | None, words: Sequence[str]
) -> Job:
    """A simulation that plays these packet files and records what comes out."""
    inputs = [("--send", send), ("--receive", receive), ("--firmware", firmware)]
    outputs = [("--sent", "sent.pcap" if send else None), ("--received", "received.pcap" if receive else None)]
    return Job(
        name,
        simulator,
        tuple(words),
        tuple((option, path) for option, path in inputs if path),
        tuple((option, path) for option, path in outputs if path),
    )


@dataclass(frozen=True)
class Load:
    """Generated traffic: frames of one payload size, both directions together, in a ratio sends:receives."""

    payload: int
    ratio: str
    frames: int

    def job(self, name: str, simulator: Path, firmware: Path | None, words: Sequence[str], build: Path) -> Job:
        """A simulation with this traffic; its packet files are written now, unless they are there."""
        folder = build / "traffic" / f"{self.payload}-{self.ratio.replace(':', 'to')}-{self.frames}"
        files = traffic.written(folder) or traffic.generate(folder, str(self.payload), self.frames, self.ratio)
        sends, receives = traffic.parse_ratio(self.ratio)
        ratio = ["--ratio_send", str(sends), "--ratio_receive", str(receives)]
        return job(name, simulator, firmware, files.send, files.receive, [*ratio, *words])


def verify(result: Result) -> tuple[int, int, int]:
    """Checks the files of a run; returns frames in, frames out and drops, or fails with what is wrong."""
    drops, resent, ignored = (int(result.total(name)) for name in (DROPS, RESENT, IGNORED))
    frames_in = frames_out = missing = 0
    given = dict(result.job.inputs)
    for came, went, side in ("--send", "--sent", "sent"), ("--receive", "--received", "received"):
        verdict = check.check_files(given.get(came), result.output(went), "correlated" in result.job.words, resent)
        frames_in, frames_out, missing = (
            frames_in + verdict.frames_in, frames_out + verdict.frames_out, missing + verdict.missing
        )  # fmt: skip
        if verdict.wrong:
            raise RunError(f"{result.job.name}: {side} frames are wrong:\n  " + "\n  ".join(verdict.wrong))
    if missing + resent != drops + ignored:
        again = f" and {resent} were sent again" if resent else ""
        counted = f"the hardware counted {drops} drops and ignored {ignored}"
        raise RunError(f"{result.job.name}: {missing} frames are missing{again}, {counted}")
    return frames_in, frames_out, drops


def throughput(result: Result, warmup: int, ratio: str = "0:0") -> measure.Throughput:
    """What a run carried after its warm-up, from its packet files, in turns of `ratio` if that is kept."""
    sends, receives = map(int, ratio.split(":"))
    try:
        return measure.throughput_of_files(
            result.output("--sent"), result.output("--received"), warmup, (sends, receives)
        )
    except measure.MeasureError as error:
        raise RunError(f"{result.job.name}: {error}") from error


def cycles_per_second(result: Result) -> float:
    """How fast the simulator ran: ticks of the fastest clock per second of the host."""
    cycles = result.stats.get("run", {}).get("cycles", {})
    return max(cycles.values(), default=0) / result.seconds if result.seconds else 0.0
