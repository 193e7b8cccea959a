"""A run that is killed at any moment and goes on from its latest checkpoint ends as it would have ended: console, files, statistics, state.

What the killed run wrote lies under names of its own, beside those that it would have got; a run that goes on takes over what was there at the checkpoint.
"""

import hashlib
import json
import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NEVER = 1 << 60  # cycles: the only hash is that of the end


@dataclass
class Ended:
    """What a run left."""

    status: int
    files: dict[str, str]  # hashes, by name
    run: dict
    statistics: list
    state: str  # its cycle and hash


@dataclass
class Work:
    """What is run, in a folder: a simulator, the options with which it begins, and files that it writes, by the options that name them; an option that
    ends with `=` and its file are one word."""

    simulator: Path
    begin: Sequence[object]
    outputs: dict[str, str]
    folder: Path

    def command(self, begin: Sequence[object], *more: object) -> list[str]:
        named = [word for option, file in self.outputs.items() for word in ([option + file] if option.endswith("=") else [option, file])]
        return [str(word) for word in [self.simulator, "--quiet", *begin, *named, *more]]

    def to_the_end(self, begin: Sequence[object], *more: object) -> Ended:
        """A run that nothing happens to."""
        command = self.command(begin, "--stats", "stats.json", "--state-hashes", "hashes", "--state-hash-every", NEVER, *more)
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        assert (self.folder / "stats.json").exists(), done.stderr[-4000:]
        stats = json.loads((self.folder / "stats.json").read_text())
        (self.folder / "stats.json").unlink()
        files = {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in self.outputs.values()}
        # How much idle time is skipped depends on where it was begun to look for it.
        run = {**stats["run"], "skipped_cycles": None}
        return Ended(done.returncode, files, run, stats["statistics"], (self.folder / "hashes").read_text().splitlines()[-1])

    def straight(self) -> Ended:
        return self.to_the_end(self.begin)

    def killed(self, every: str, moment: float) -> tuple[Ended, bool] | None:
        """The end of a run that writes a checkpoint `every` so often and is killed that many seconds after it began, and whether it had written one; without
        one it begins anew. None: it had ended before it was killed."""
        for name in ["point", *self.outputs.values()]:
            for file in self.folder.glob(f"{name}*"):
                file.unlink()
        command = self.command(self.begin, "--checkpoint", "point", "--checkpoint-every", every)
        with subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(moment)
                return None
            except subprocess.TimeoutExpired:
                process.kill()
        for name in self.outputs.values():
            for file in self.folder.glob(f"{name}.*"):
                file.rename(self.folder / name)
        if not (self.folder / "point").exists():
            return self.straight(), False
        return self.to_the_end(["--restore", "point"], "--outputs", "continue"), True

    def survives(self, straight: Ended, kills: int, every: str) -> int:
        """Kills runs at random moments; each ends as the straight one, which is made once more to see how long it takes. Returns how many went on from a checkpoint, at least one."""
        seed, begun, restored, done = random.randrange(1 << 32), time.monotonic(), 0, 0
        assert self.straight() == straight
        seconds = time.monotonic() - begun
        rng = random.Random(seed)
        print(f"seed {seed}: a run takes {seconds:.2f} s")
        while done < kills or not restored:
            moment = rng.uniform(0, seconds)
            ended = self.killed(every, moment)
            if ended is None:
                continue
            done += 1
            restored += ended[1]
            print(f"{done}: killed after {moment:.3f} s, {'went on' if ended[1] else 'began anew'}", flush=True)
            assert ended[0] == straight, f"seed {seed}, kill {done}, after {moment} s"
        return restored
