"""What checkpoints, profiles, traces, waves and the debugger cost on the two-CPU Tigon-2 under full duplex traffic.

Ratios are of processor time to the same stretch with nothing attached; the answers of the debugger are those that gdb waits
for, in seconds on the clock.
"""

import re
import subprocess
import tempfile
import time
from pathlib import Path

import tigon2_speed
from measuring import BenchError, median, run, wall_seconds

SHORT, LONG = 100_000, 500_000  # clocks of the CPUs; ratios are of what lies between
DEBUGGED = 2_000_000  # clocks that gdb sees forwards and back
REPETITIONS = 5
CORE = "port nic.cpu[0].**"
TEN = "fetcher.redirected fetcher.pc fetcher.out.data.pc fetcher.out.ack if_id.count issue.in.enable issue.in.ack issue.waiting issue.out.enable issue.out.ack"
SIGNALS = ",".join(f"nic.cpu[0].pipeline.{name}" for name in TEN.split())
SESSION = """
python
import time
def timed(name, command):
    begin = time.monotonic()
    gdb.execute(command, to_string=True)
    print("took", name, time.monotonic() - begin)
timed("forward", "continue")
for _ in range(20): timed("reverse-stepi", "reverse-stepi")
for _ in range(10): timed("reverse-step", "reverse-step")
timed("continue", "continue")
timed("back", "reverse-continue")
end
"""


def attached(simulator: Path, build: Path, folder: Path) -> dict[str, float]:
    """Processor time of a stretch with something attached, as a ratio."""
    kinds: dict[str, list] = {
        "nothing": [],
        "profile": ["--profile", folder / "profile"],
        "instructions": ["--record", folder / "trace", "--record-events", "instructions"],
        "ten_signals": ["--wave", folder / "few.fst", "--wave-signals", SIGNALS],
        "ports_of_a_core": ["--wave", folder / "all.fst", "--wave-signals", CORE],
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for options in kinds.values():  # the first run builds the variant that it becomes
        run(tigon2_speed.traffic(build, simulator, 1000) + options)
    for _ in range(REPETITIONS):
        for name, options in kinds.items():
            few, many = (run(tigon2_speed.traffic(build, simulator, cycles) + options)[0] for cycles in (SHORT, LONG))
            times[name].append(many - few)
    plain = median(times.pop("nothing"))
    return {name: median(taken) / plain for name, taken in times.items()}


def restoring(simulator: Path, build: Path, folder: Path) -> float:
    """Milliseconds from the start of a process to the end of its first cycles after a checkpoint."""
    point = folder / "point"
    run([*tigon2_speed.traffic(build, simulator, LONG), "--checkpoint", point])
    command = [*tigon2_speed.traffic(build, simulator, LONG + 1), "--restore", point]
    return 1000 * median([wall_seconds(command) for _ in range(4 * REPETITIONS)])


def debugged(simulator: Path, build: Path, folder: Path) -> dict[str, float]:
    """What gdb waits for: forwards and back over the whole run, one instruction and one line back."""
    command = [str(word) for word in (*tigon2_speed.traffic(build, simulator, DEBUGGED), "--gdb", folder / "socket")]
    script = subprocess.run([*command, "--gdb-script"], capture_output=True, text=True, check=True).stdout
    (folder / "session.gdb").write_text(f"set pagination off\nset confirm off\n{script}{SESSION}")
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        try:
            while not (folder / "socket").exists() and child.poll() is None:
                time.sleep(0.01)
            gdb = ["gdb-multiarch", "-nx", "-batch", "-x", str(folder / "session.gdb")]
            said = subprocess.run(gdb, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout
        finally:
            child.kill()
    took: dict[str, list[float]] = {}
    for name, seconds in re.findall(r"^took (\S+) (\S+)$", said, re.MULTILINE):
        took.setdefault(name, []).append(float(seconds))
    if "back" not in took:
        raise BenchError(f"gdb did not get to the end of its session: {said.strip().splitlines()[-1:]}")
    command = [*tigon2_speed.traffic(build, simulator, DEBUGGED), "--no-replay"]  # nothing is replayed under a debugger
    plain = median([wall_seconds(command) for _ in range(REPETITIONS)])
    return {
        "forward_ratio": took["forward"][0] / plain,
        "back_ratio": took["back"][0] / took["forward"][0],
        "reverse_stepi_ms": 1000 * max(took["reverse-stepi"]),
        "reverse_step_ms": 1000 * max(took["reverse-step"]),
    }


def measure(build: Path) -> dict:
    """Everything, with one simulator."""
    simulator = tigon2_speed.build_lss(build)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            "restore_ms": restoring(simulator, build, folder),
            "attached_ratio": attached(simulator, build, folder),
            "debugger": debugged(simulator, build, folder),
        }
