"""core_sampler: where windows lie, what they count, and what the statistics say of them."""

import random
import statistics
import subprocess
from bisect import bisect_left
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.modules.harness import Bench, Ran, collect, happened, read_items

INPUTS = {"executes": "bool", "skipped": "uint64", "waits": "bool"}
END = 2**64 - 1
WORST = {1: 12.7062, 6: 2.4469}  # quantiles of Student's t


class Processor:
    """A core_sampler, and sources that say cycle by cycle what the processors do."""

    def __init__(self, bench: Bench, several: bool = False, accepts: bool = True, onward: bool = False) -> None:
        self.bench, self.retires = bench, "completed" if several else "retired"
        self.inputs = INPUTS | {self.retires: "uint32" if several else "bool"}
        sources = "".join(f"instance {name} : source;\n{name}.out -> dut.{name} : {kind};\n" for name, kind in self.inputs.items())
        collected = collect("dut", "began(number)", "ended(number, cycles)") + (collect("dut", "forks(number)") if onward else "")
        back = "instance onward : sink;\ndut.onward -> onward.in;\n" if onward else ""
        back += f"instance back : sink {{ ready = {float(accepts)}; }};\ndut.back -> back.in;\n"
        self.simulator = bench.build(f"import core_types;\ninstance dut : core_sampler;\n{sources}{back}" + collected)

    def run(self, completes: list[int], settings: dict[str, int], seed: int = 1, **columns: dict[int, object]) -> Ran:
        """`completes` are the instructions of each cycle, -1 an annulled one; other inputs are false and 0 but for what is given by cycle, from which on it stays."""
        files: dict[str, str | bytes] = {self.retires: ""}
        for cycle, n in enumerate(completes):
            if self.retires == "completed" or n != 0:
                files[self.retires] += f"{cycle} {n if self.retires == 'completed' else str(n > 0).lower()} once\n"  # type: ignore[operator]
        for name, kind in INPUTS.items():
            now, lines = "true" if name == "executes" else "false" if kind == "bool" else "0", []
            for cycle in range(len(completes)):
                now = str(columns.get(name, {}).get(cycle, now)).lower()
                lines.append(f"{cycle} {now} once\n")
            files[name] = "".join(lines)
        given = {f"{name}.script": name for name in self.inputs} | {"back.record": "back"} | {f"dut.{name}": value for name, value in settings.items()}
        return self.bench.run(self.simulator, len(completes), given, seed=seed, files=files)


def windows(ran: Ran) -> list[tuple[int, int, int]]:
    """The cycles in which they began and ended, and how many were counted."""
    began, ended = happened(ran, "began"), happened(ran, "ended")
    assert [number for _, number in began][: len(ended)] == [number for _, number, _ in ended] == list(range(1, len(ended) + 1))
    return [(first, last, cycles) for (first, _), (last, _, cycles) in zip(began, ended, strict=False)]


def test_a_window_lies_in_each_stratum(bench: Bench) -> None:
    """Its cycles are those between the completion of the instruction before it and of its last one; each place is as likely as another."""
    dut, seen, offsets = Processor(bench), set(), []
    for seed in range(1, 9):
        rng = random.Random(seed)
        completes = [rng.choice((1, 0, 0, 1, -1)) for _ in range(1200)]
        ran = dut.run(completes, {"period": 20, "measure": 5}, seed)
        times = [cycle for cycle, n in enumerate(completes) if n > 0]  # in which instructions are completed
        found = windows(ran)
        assert len(found) in (len(times) // 20 - 1, len(times) // 20, len(times) // 20 + 1)
        assert all(cycles == last - first and times.index(last) - times.index(first) == 5 for first, last, cycles in found)
        places = [times.index(first) - 20 * k for k, (first, _, _) in enumerate(found)]
        assert max(places) - min(places) <= 20 - 5
        offsets += [place - min(places) for place in places]
        seen.add(tuple(places))
        each = [cycles / 5 for _, _, cycles in found]
        squares = sum((b - a) ** 2 for a, b in pairwise(each))
        error = (squares / 2 / (len(each) - 1) / len(each) * (1 - 5 / 20)) ** 0.5
        assert [ran.stat("dut", name) for name in ("sampled", "sampled_instructions", "sampled_cycles")] == [len(each), 5 * len(each), sum(c for _, _, c in found)]
        assert ran.stat("dut", "error") == pytest.approx(error)
        assert ran.stat("dut", "low") + ran.stat("dut", "high") == pytest.approx(2 * statistics.mean(each))
        assert 1.96 < (ran.stat("dut", "high") - ran.stat("dut", "low")) / 2 / error < 2.2
        assert not read_items(ran.directory / "back")  # nothing is far enough away
    assert len(seen) == 8 and len(set(offsets)) > 12 and max(offsets.count(offset) for offset in range(16)) < 3 * len(offsets) / 16


@pytest.mark.parametrize(("n", "degrees"), [(2, 1), (10, 6)])
def test_the_interval_of_few_windows(bench: Bench, n: int, degrees: int) -> None:
    """Of one after the other, whose every instruction is measured but those before the first stratum and behind the last."""
    dut = Processor(bench)
    rng = random.Random(n)
    ran = dut.run([rng.randrange(2) for _ in range(400)], {"period": 12, "measure": 10, "windows": n})
    half = (ran.stat("dut", "high") - ran.stat("dut", "low")) / 2
    assert ran.stat("dut", "sampled") == n and half == pytest.approx(WORST[degrees] * ran.stat("dut", "error")) and half > 0
    whole = dut.run([1, 0, 1, 0, 0, 1] * 400, {"period": 10, "measure": 10})
    assert whole.stat("dut", "error") == 0 and whole.stat("dut", "sampled") in (118, 119, 120)
    one = dut.run([1, 0] * 400, {"period": 300, "measure": 20, "windows": 1})
    assert [one.stat("dut", name) for name in ("sampled", "error", "low", "high")] == [1, 0, 0, 0]


@pytest.mark.parametrize("measure", [1, 2, 6, 11])
def test_instructions_that_are_completed_together(bench: Bench, measure: int) -> None:
    """A window has exactly its instructions: one is completed in the cycle in which it is one of several."""
    rng = random.Random(measure)
    completes = [rng.choice((0, 0, 1, 2, 3, 4)) for _ in range(900)]
    ran = Processor(bench, several=True).run(completes, {"period": 11, "measure": measure})
    sums = list(accumulate(completes))
    found = windows(ran)
    assert len(found) > 100 and ran.stat("dut", "sampled_instructions") == measure * len(found)

    def fits(first: int, last: int) -> bool:
        """Some instruction of the first cycle has the one so many later in the last cycle."""
        candidates = range(sums[first] - completes[first] + 1, sums[first] + 1)
        return any(bisect_left(sums, one + measure) == last for one in candidates)

    assert all(cycles == last - first and fits(first, last) for first, last, cycles in found)
    mean = ran.stat("dut", "sampled_cycles") / ran.stat("dut", "sampled_instructions")
    assert mean == pytest.approx(len(completes) / sums[-1], rel=0.02 if measure == 11 else 0.15)


def test_cycles_in_which_the_processor_waits(bench: Bench) -> None:
    """They are in no window, whether the wait began in it or before it, nor what was waited before."""
    dut = Processor(bench)
    completes = [1 if cycle % 10 == 0 else 0 for cycle in range(400)]
    waits: dict[int, object] = {cycle: cycle % 10 == 3 for cycle in range(400) if cycle % 10 in (3, 7)}  # 4 of 10
    ran = dut.run(completes, {"period": 2, "measure": 2}, waits=waits)
    assert ran.stat("dut", "sampled") > 15 and ran.stat("dut", "sampled_cycles") == 12 * ran.stat("dut", "sampled")


@pytest.mark.parametrize("warm", [0, 1, 40])
def test_the_program_goes_to_the_fast_processor(bench: Bench, warm: int) -> None:
    """For as many instructions as bring it to where the warm-up starts, those included that are completed until the number is accepted; the window lies where it was placed, however far the fast one went."""
    dut, settings = Processor(bench), {"period": 3000, "measure": 10, "warm": warm, "windows": 1}
    completes = [1] * 400
    [(cycle, distance), *_] = [(cycle, int(value)) for cycle, value in read_items(dut.run(completes, settings).directory / "back")]
    assert cycle < 3 and distance > 1000
    for more in (0, 1, 2):
        ran = dut.run(completes, settings, executes={cycle + 1: False, 20: True}, skipped={20: distance - (20 - cycle) + more})
        [(first, last, cycles)] = windows(ran)
        assert (first, last - first, cycles) == (20 + 2 + warm - more, 10, 10)
        items = read_items(ran.directory / "back")
        assert int(items[0][1]) == distance and {int(value) for _, value in items[1:]} == {END} and last < items[1][0] < last + 3


def test_a_short_way_is_not_taken(bench: Bench) -> None:
    """By the fast processor: the detailed one keeps the program, and measures the same windows."""
    dut, completes = Processor(bench), [1, 0] * 1500
    settings = {"period": 300, "measure": 10, "warm": 5}
    kept = dut.run(completes, settings)
    assert not read_items(kept.directory / "back") and kept.stat("dut", "sampled") in (4, 5)
    refused = Processor(bench, accepts=False).run(completes, settings | {"shortest": 1})
    assert windows(refused) == windows(kept)


# The run forks when the fast processor is about to complete what is left in two steps, and the sampler's own slack is 3 instructions.
FORKED = {"forked": True, "step": 20, "period": 3000, "measure": 10, "warm": 40, "windows": 1}


def away(dut: Processor, completes: list[int], **settings: int) -> Ran:
    """A run whose fast processor gets the program after cycle 1, and is done in cycle 20; `completes` are the instructions of the detailed one from there on."""
    [(cycle, distance), *_] = [(cycle, int(value)) for cycle, value in read_items(dut.run([1] * 9, FORKED | {"forked": False}).directory / "back")]
    left = distance - 1  # without the instruction of that cycle
    skipped: dict[int, object] = {cycle + 1: 0, 8: left - 41, 12: left - 40, 20: left}
    program = [1] * (cycle + 1) + [0] * (20 - cycle - 1) + completes
    return dut.run(program, FORKED | settings, executes={cycle + 1: False, 20: True}, skipped=skipped)


def test_a_window_in_a_forked_process(bench: Bench) -> None:
    """It is measured where it was placed, though the run goes on otherwise: it keeps the program on the fast processor, and shows nothing of the window."""
    ran = away(Processor(bench, onward=True), [1] * 43 + [0, 0, 1] * 100)
    assert happened(ran, "forks") == [(12, 1)] and not windows(ran) and not happened(ran, "began")
    assert {int(value) for _, value in read_items(ran.directory / "back")} == {END} and not ran.stat("onward", "items")
    assert [ran.stat("dut", name) for name in ("sampled", "sampled_instructions", "sampled_cycles", "failed")] == [1, 10, 30, 0]


def test_a_forked_process_that_completes_nothing_fails(bench: Bench) -> None:
    ran = away(Processor(bench, onward=True), [1] * 43 + [0] * 300, longest_stall=200)
    assert [ran.stat("dut", name) for name in ("sampled", "failed")] == [0, 1]
    assert "dut: window 1, which was forked at 12 ns, failed: dut: no instruction was completed in 200 cycles (at 262 ns)" in ran.err


def test_forks_are_where_windows_are(bench: Bench) -> None:
    """Each comes when the fast processor has two steps left to where it has to stop; a window for which it has to stop at once is left out."""
    dut, step, warm = Processor(bench, onward=True), 5, 7
    settings = {"period": 40, "measure": 10, "warm": warm, "step": step}
    detailed = dut.run([1] * 700, settings | {"shortest": 10**9})
    places = [first + 1 - 2 for first, _, _ in windows(detailed) if first >= 2]  # after two instructions in detail
    columns: dict[str, dict[int, object]] = {"executes": {2: False}, "skipped": {cycle: step * (cycle - 4) for cycle in range(4, 140)}}
    ran = dut.run([1] * 2 + [0] * 138, settings | {"forked": True}, **columns)
    distances = [place - warm - 3 for place in places if place - warm - 3 > step]
    wanted = [max(4 + -(-(distance - 2 * step) // step), 2) for distance in distances]
    found = [cycle for cycle, _ in happened(ran, "forks")]
    assert found == [cycle for cycle in wanted if cycle < 140] and len(found) > 12
    limited = dut.run([1] * 2 + [0] * 138, settings | {"forked": True, "windows": 4}, **columns)
    assert [cycle for cycle, _ in happened(limited, "forks")] == found[:4]


def test_forks_need_a_port(bench: Bench) -> None:
    ran = bench.run(Processor(bench).simulator, 5, {"dut.forked": True}, ok=False)
    assert "forked = true: a forked process cannot call the detailed processor (connect `onward`)" in ran.err


def test_a_window_longer_than_a_period(bench: Bench) -> None:
    ran = bench.run(Processor(bench).simulator, 5, {"dut.period": 9, "dut.measure": 10}, ok=False)
    assert "measure = 10: a window has more instructions than the 9 of a period" in ran.err


def test_students_t(tmp_path: Path) -> None:
    """The quantile agrees with tables, where it is one, and above."""
    program = '#include "core/core_sampler.h"\n#include <stdio.h>\nint main(void) { for (int n = 1; n <= 1000; n++) printf("%.5f\\n", student_t(n)); }\n'
    (tmp_path / "t.c").write_text(program)
    modules = Path(__file__).resolve().parents[3] / "modules"
    subprocess.run([tool("clang"), "-std=gnu11", "-Wall", "-Werror", "-I", modules, tmp_path / "t.c", "-lm", "-o", tmp_path / "t"], check=True)
    values = [float(line) for line in subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout.split()]
    known = {1: 12.7062, 2: 4.3027, 5: 2.5706, 10: 2.2281, 20: 2.0860, 21: 2.0796, 25: 2.0595, 30: 2.0423, 40: 2.0211, 60: 2.0003, 120: 1.9799, 1000: 1.9623}
    assert {n: values[n - 1] for n in known} == pytest.approx(known, abs=1e-4) and values == sorted(values, reverse=True)
