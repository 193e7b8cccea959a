"""What a long run writes down as it goes, samples and hashes of the state: it takes no memory, and a run that is killed, or has no room, leaves what there is."""

import json
import resource
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

CHAIN = "instance s : source { count = 100000000; };  instance p : pipe;  instance k : sink;  s.out -> p.in : uint32;  p.out -> k.in;"
SAMPLED = ("--quiet", "--sample", "cycles(clk) >= 5")
# A collector that has more to say as time goes on.
GROWING = """
collector seen on "k" event taken {
  declare <<< uint64_t n; >>>
  record <<< self->n++; >>>
  report <<<
    if (self->n > 20) report_value("late", self->n, "items", "only when there are many");
    report_value("always", self->n, "items", "all");
    if (self->n < 30) report_value("early", self->n, "items", "only when there are few");
  >>>
}
"""


@pytest.fixture
def chain(build_sim) -> Path:
    return build_sim(CHAIN)


def killed(simulator: Path, folder: Path, *options: object) -> Path:
    """What a run that is killed when it has written a few pages leaves under the name that ends its options, with six letters more."""
    with subprocess.Popen([simulator, "--quiet", *map(str, options)], cwd=folder) as process:
        while not any(file.stat().st_size > 20_000 for file in folder.glob(f"{options[-1]}.??????")):
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
    [left] = folder.glob(f"{options[-1]}.??????")
    assert not (folder / str(options[-1])).exists()
    return left


def test_a_killed_run_leaves_its_samples(chain, run_sim, tmp_path):
    """A line each, after one that names the values."""
    names, *lines = killed(chain, tmp_path, "--sample", "cycles(clk) >= 5", "--stats", "own.json").read_text().split("\n")
    samples = [json.loads(line) for line in lines[:-1]]  # the last line may be incomplete
    straight = run_sim(chain, *SAMPLED, "--cycles", 5 * len(samples)).stats
    assert samples == straight["samples"] and len(samples) > 100
    bare = [{key: one[key] for key in one if key != "value"} for one in straight["statistics"]]
    assert json.loads(names) == {"statistics": bare, "derived": []}


def test_a_killed_run_leaves_its_hashes(chain, run_sim, tmp_path):
    lines = killed(chain, tmp_path, "--state-hash-every", 10, "--state-hashes", "hashes").read_text().split("\n")[:-1]
    run_sim(chain, "--cycles", 10 * len(lines), "--state-hash-every", 10, "--state-hashes", "straight")
    assert (tmp_path / "straight").read_text().splitlines()[: len(lines)] == lines and len(lines) > 100


def test_samples_take_no_memory(chain, tmp_path):
    """Ten times as many samples, the same memory."""
    used = []
    for cycles in (50_000, 500_000):
        command = [chain, *SAMPLED, "--cycles", str(cycles), "--stats", "stats.json"]
        measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        used.append(int(subprocess.run(["python3", "-c", measure, *command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout))
    assert used[1] < used[0] + 1024
    assert len(json.loads((tmp_path / "stats.json").read_text())["samples"]) == 100_000


def test_without_room_there_is_one_line_and_what_was_written(chain, tmp_path):
    """A limit on the size of files is what a full disk is, but for the word for it."""

    def told(*options: object, room: int) -> str:
        limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
        done = subprocess.run([chain, "--quiet", *map(str, options)], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited)
        assert done.returncode == 1 and done.stdout.count("\n") == done.stdout.count("}\n")
        [line] = done.stderr.splitlines()
        return line.split(": ", 1)[1]

    endless = ("--sample", "cycles(clk) >= 5", "--cycles", 10**12)
    line = told(*endless, "--stats", "stats.json", room=20_000)  # the statistics do not fit either
    [left] = tmp_path.glob("stats.json*")
    assert line == f'error: a sample cannot be written: File too large (those before are in "{left.name}")'
    assert len([json.loads(text) for text in left.read_text().splitlines()]) > 100 and left.read_text().endswith("}\n")
    left.unlink()
    assert told("--state-hashes", "hashes", "--state-hash-every", 10, "--cycles", 10**12, room=20_000) == 'cannot write "hashes": File too large'
    assert told("--state-hashes", "/dev/full", "--cycles", 10**12, room=20_000) == 'cannot write "/dev/full": No space left on device'
    assert not [*tmp_path.glob("hashes*"), *tmp_path.glob("stats.json*")]
    # There is room for the samples, but not for them within the statistics.
    few = ("--sample", "cycles(clk) >= 5", "--cycles", 500)
    subprocess.run([chain, "--quiet", *map(str, few), "--stats", "stats.json"], cwd=tmp_path, check=True)
    room = (tmp_path / "stats.json").stat().st_size - 1
    (tmp_path / "stats.json").unlink()
    line = told(*few, "--stats", "stats.json", room=room)
    [left] = tmp_path.glob("stats.json*")
    assert line == f'cannot write "stats.json": File too large (its samples are in "{left.name}")'
    assert len(left.read_text().splitlines()) == 101


def test_samples_of_a_folder_and_of_standard_output(chain, tmp_path):
    """Nothing but the results stays; the samples are the same wherever they go."""
    command = [chain, *SAMPLED, "--cycles", "50", "--stats", "-", "--run-dir", "new/run"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert not list(tmp_path.glob("*stat*")) and sorted(file.name for file in (tmp_path / "new/run").iterdir()) == ["manifest.json", "statistics.json", "timing.json"]
    assert (tmp_path / "new/run/statistics.json").read_text() == printed and len(json.loads(printed)["samples"]) == 10


def test_values_of_collectors_are_those_of_the_end(build_sim, run_sim):
    """A value that a sample does not have is null, and one that there is no more at the end is left out; through checkpoints, too."""
    simulator = build_sim(CHAIN + GROWING)
    straight = run_sim(simulator, *SAMPLED, "--cycles", 60).stats
    names = [(one["path"], one["name"]) for one in straight["statistics"]]
    assert names[-2:] == [("k", "late"), ("k", "always")] and ("k", "early") not in names
    taken = [one["values"][names.index(("k", "items"))] for one in straight["samples"]]
    assert [one["values"][-2:] for one in straight["samples"]] == [[n if n > 20 else None, n] for n in taken]
    assert {len(one["values"]) for one in straight["samples"]} == {len(names)} and min(taken) < 20 < 30 < max(taken)
    restore: list[object] = []
    for cycles in (12, 30, 60):
        done = run_sim(simulator, *SAMPLED, "--cycles", cycles, *restore, "--checkpoint", "point")
        restore = ["--restore", "point"]
    assert done.stats["samples"] == straight["samples"]
