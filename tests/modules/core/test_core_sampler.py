"""core_sampler: when windows begin and end, what they count, and what the statistics say of them."""

import statistics
import subprocess
from pathlib import Path

import pytest

from harness.firmware import tool
from tests.modules.harness import Bench, collect, happened
from tests.modules.mips import BundleDevice

PORTS = {"executes": ("in", 1, "bool"), "retired": ("in", 1, "bool"), "waits": ("in", 1, "bool"), "back": ("out", 1, "uint64")}
WARM, MEASURE, PERIOD = 3, 2, 7


def window(cycles: int, waits: int, back: int) -> list[str]:
    """The rows of a window of so many cycles, in some of which the processor waits: one instruction in the first, an annulled one, and one in the last."""
    rows = ["true | . | false | . | 0"] * (WARM + 1)
    for k in range(1, cycles + 1):
        retired = "true" if k in (1, cycles) else "false" if k == 2 else "."
        rows.append(f"true | {retired} | {str(3 <= k < 3 + waits).lower()} | . | 0")
    rows += [f"true | true | false | {back} | 0", f"true | . | false | {back} | 1"]  # what leaves behind it does not count
    return [*rows, "false | . | false | . | 0", "false | true | false | . | 0"]


@pytest.mark.parametrize("lengths", [[(5, 0), (9, 0), (8, 2)], [(6, 0), (6, 1)]])
def test_windows(bench: Bench, lengths: list[tuple[int, int]]) -> None:
    """A period between two of them, and behind the last the program stays where it goes."""
    last = len(lengths) - 1
    rows = [row for k, (cycles, waits) in enumerate(lengths) for row in window(cycles, waits, 2**64 - 1 if k == last else PERIOD)]
    device = BundleDevice(bench, "core_sampler", PORTS, after=collect("dut", "began(number)", "ended(number, cycles)"))
    settings = {"dut.warm": WARM, "dut.measure": MEASURE, "dut.period": PERIOD, "dut.windows": len(lengths)}
    over = ["true | true | false | . | 0"] * 12
    ran = device.check_table("\n".join(["executes | retired | waits | back | back.ack", *rows, *over]), settings)
    took = [cycles - waits for cycles, waits in lengths]
    assert [(number, cycles) for _, number, cycles in happened(ran, "ended")] == list(enumerate(took, 1))
    assert [number for _, number in happened(ran, "began")] == list(range(1, len(took) + 1))
    assert (ran.stat("dut", "sampled"), ran.stat("dut", "sampled_cycles"), ran.stat("dut", "sampled_instructions")) == (len(took), sum(took), MEASURE * len(took))
    each = [cycles / MEASURE for cycles in took]
    error = statistics.stdev(each) / len(each) ** 0.5
    half = {2: 12.7062, 3: 4.3027}[len(each)] * error
    found = [ran.stat("dut", name) for name in ("error", "low", "high")]
    assert found == pytest.approx([error, statistics.mean(each) - half, statistics.mean(each) + half])


def test_instructions_that_are_completed_together(bench: Bench) -> None:
    """A window ends with the cycle that has its last one; what else is completed there counts, too."""
    ports = {name: lanes for name, lanes in PORTS.items() if name != "retired"} | {"completed": ("in", 1, "uint32")}
    device = BundleDevice(bench, "core_sampler", ports)
    windows = [[3, 0, 4], [7], [2, 2, 0, 0, 3]]  # of five instructions and those beside the last
    rows = ["executes | completed | waits | back | back.ack"]
    for completed in windows:
        rows += ["true | 4 | false | . | 0"] * (WARM + 1) + [f"true | {n} | false | . | 0" for n in completed]
        rows += [f"true | 4 | false | {PERIOD} | 1", "false | 0 | false | . | 0", "false | 0 | false | . | 0"]
    ran = device.check_table("\n".join(rows), {"dut.warm": WARM, "dut.measure": 5, "dut.period": PERIOD})
    assert (ran.stat("dut", "sampled"), ran.stat("dut", "sampled_cycles"), ran.stat("dut", "sampled_instructions")) == (3, 9, 21)
    assert ran.stat("dut", "low") + ran.stat("dut", "high") == pytest.approx(2 * 9 / 21)
    text = "import core_types; instance dut : core_sampler; instance executes : source; instance back : sink; executes.out -> dut.executes; dut.back -> back.in;"
    assert "connect retired or completed" in bench.refuse(text)


def test_one_window_has_no_interval(bench: Bench) -> None:
    device = BundleDevice(bench, "core_sampler", PORTS)
    rows = ["executes | retired | waits | back | back.ack", *window(5, 0, PERIOD)]
    ran = device.check_table("\n".join(rows), {"dut.warm": WARM, "dut.measure": MEASURE, "dut.period": PERIOD})
    assert [ran.stat("dut", name) for name in ("sampled", "error", "low", "high")] == [1, 0, 0, 0]


def test_students_t(tmp_path: Path) -> None:
    """The quantile agrees with tables, where it is one, and above."""
    program = '#include "core/core_sampler.h"\n#include <stdio.h>\nint main(void) { for (int n = 1; n <= 1000; n++) printf("%.5f\\n", student_t(n)); }\n'
    (tmp_path / "t.c").write_text(program)
    modules = Path(__file__).resolve().parents[3] / "modules"
    subprocess.run([tool("clang"), "-std=gnu11", "-Wall", "-Werror", "-I", modules, tmp_path / "t.c", "-lm", "-o", tmp_path / "t"], check=True)
    values = [float(line) for line in subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout.split()]
    known = {1: 12.7062, 2: 4.3027, 5: 2.5706, 10: 2.2281, 20: 2.0860, 21: 2.0796, 25: 2.0595, 30: 2.0423, 40: 2.0211, 60: 2.0003, 120: 1.9799, 1000: 1.9623}
    assert {n: values[n - 1] for n in known} == pytest.approx(known, abs=1e-4) and values == sorted(values, reverse=True)
