"""memory_source: plays requests, keeps to its number of outstanding ones, records the replies."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.modules.harness import Bench, Memory, collect, happened

NETLIST = """
instance delay : memory_delay;
instance memory : memory_state { size = 1 KiB; };
requester[0].memory -> delay.in;
delay.out -> memory.port;
""" + collect("requester[0]", "replied(tag)")


def test_a_script_is_played_in_order(bench: Bench) -> None:
    memory = Memory(bench, NETLIST)
    script = [
        "# writes, then reads",
        "0 write 4 0x10 0xfffffffe 1",
        "",
        "9 read 4 0x10 0 2",
        "9 read -4 0x10 0 3  # signed",
    ]
    [replies] = memory.play([script], 30, {"delay.latency": 2})
    assert [(a.cycle, a.tag, a.data) for a in replies] == [(2, 1, 0), (11, 2, 0xFFFFFFFE), (14, 3, 0xFFFFFFFFFFFFFFFE)]
    assert happened(memory.last, "replied") == [(2, 1), (11, 2), (14, 3)]


def test_numbers_of_many_digits(bench: Bench) -> None:
    """Beyond 64 bits numbers are hexadecimal; a zero before other digits says nothing: numbers are decimal."""
    netlist = NETLIST.replace("memory_delay;", "memory_delay { width = 128; };").replace("size =", "width = 128; size =")
    memory = Memory(bench, netlist, body="requester[i].width = 128;")
    wide = 0x00112233445566778899AABBCCDDEEFF
    script = [f"0 write 16 0x10 0x{wide:032x} 1", "5 read 16 0x10 0 2", f"9 write 16 0x20 0X{wide << 8:X} 3", "15 read 16 0x20 0 4", "20 write 16 0x30 077 5", "25 read 16 0x30 0 6"]
    [replies] = memory.play([script], 40)
    assert [a.data for a in replies][1::2] == [wide, wide << 8, 77]
    for digits, told in (("0" + 32 * "f", ""), ("1" + 32 * "0", "fits in 16 bytes"), ("12g", "fits in 16 bytes")):
        memory.play([[f"0 write 16 0 0x{digits}"]], 10, ok=not told)
        assert (f"'0x{digits}' is not a number" in memory.last.err) == bool(told) and told in memory.last.err


@pytest.mark.parametrize(("outstanding", "latency"), [(1, 4), (2, 4), (4, 4)])
def test_outstanding_requests_bound_the_throughput(bench: Bench, outstanding: int, latency: int) -> None:
    memory = Memory(bench, NETLIST)
    memory.bench.run(memory.simulator, 10)
    ran = bench.run(memory.simulator, 1000, {"requester[0].outstanding": outstanding, "delay.latency": latency})
    expected = 1000 * outstanding / (latency + 1)
    assert abs(ran.stat("requester[0]", "replies") - expected) <= outstanding + 1


GENERATED = [
    ({"offer": 0.0}, {}), ({"cancel": 1.0}, {}), ({"count": 0}, {}),
    ({"count": 7}, {"requests": 7, "replies": 7, "latency": 7, "last": 13}),
    ({"count": 7, "interval": 10}, {"requests": 7, "replies": 7, "latency": 7, "last": 61}),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "counted"), GENERATED)
def test_how_many_are_generated_may_be_said(bench: Bench, settings: dict[str, float], counted: dict[str, int]) -> None:
    ran = bench.run(Memory(bench, NETLIST).simulator, 200, {f"requester[0].{name}": value for name, value in settings.items()})
    assert ran.counted("requester[0]") == counted


@pytest.mark.parametrize("name, value", [("count", 30), ("count", 2), ("count", 0), ("count", -1), ("outstanding", 3), ("offer", 0.5), ("cancel", 0.5)])
def test_a_restored_run_may_be_set_otherwise(bench: Bench, name: str, value: float, tmp_path: Path) -> None:
    """Before its first request it does as if that had been said from the start."""
    simulator, seen = Memory(bench, NETLIST).simulator, {}
    usual, other = ["--set", "requester[0].count=20"], ["--set", f"requester[0].{name}={value}"]
    for what, words in (
        ("point", [*usual, "--cycles", 0, "--checkpoint", "point"]), ("restored", ["--restore", "point", *other, "--cycles", 90]),
        ("straight", [*usual, *other, "--cycles", 90]), ("usual", [*usual, "--cycles", 90]),
    ):  # fmt: skip
        command = [simulator, "--quiet", "--stats", what + ".json", *words]
        subprocess.run(list(map(str, command)), cwd=tmp_path, check=True, capture_output=True)
        seen[what] = json.loads((tmp_path / f"{what}.json").read_text())["statistics"]
    assert seen["restored"] == seen["straight"] != seen["usual"]


def test_errors_are_counted(bench: Bench) -> None:
    memory = Memory(bench, NETLIST)
    memory.play([["0 read 4 0x400", "5 read 4 0x3fc", "20 read 8 0x3fc"]], 40, {"delay.latency": 3})
    assert memory.last.counted("requester[0]") == {"requests": 3, "replies": 3, "errors": 2, "latency": 9, "last": 23}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("0 fetch 4 0\n", "script0.txt:1: 'fetch' is not an operation"),
        ("0 read 4\n", "script0.txt:1: a request is CYCLE OP SIZE ADDRESS"),
        ("0 write 0xffff0000 1 5\n", "script0.txt:1: '0xffff0000' is not a size: 1 to 8 bytes"),
        ("0 write 4 0 zz\n", "script0.txt:1: 'zz' is not a number"),
        ("0 write 8 0 0x10000000000000000\n", "script0.txt:1: '0x10000000000000000' is not a number that fits in 8 bytes"),
        ("0 write 8 0 18446744073709551616\n", "script0.txt:1: '18446744073709551616' is not a number that fits in 8 bytes"),
        ("3 read 4 0\n2 read 4 0\n", "script0.txt:2: cycle 2 after cycle 3"),
        ("# first\nx read 4 0\n", "script0.txt:2: 'x' is not a cycle: a number from 0 to"),
        ("-1 read 4 0\n", "script0.txt:1: '-1' is not a cycle"),
        ("1x read 4 0\n", "script0.txt:1: '1x' is not a cycle"),
        ("99999999999999999999 read 4 0\n", "script0.txt:1: '99999999999999999999' is not a cycle"),
        ("0 read 4 zzz\n", "script0.txt:1: 'zzz' is not an address: a number from 0 to 0xffffffff"),
        ("0 read 4 0x10zz\n", "script0.txt:1: '0x10zz' is not an address"),
        ("0 read 4 0x1ffffffff\n", "script0.txt:1: '0x1ffffffff' is not an address"),
        ("0 read 9 0\n", "script0.txt:1: '9' is not a size: 1 to 8 bytes"),
        ("0 read 4x 0\n", "script0.txt:1: '4x' is not a size: 1 to 8 bytes"),
        ("0 read 0 0\n", "script0.txt:1: '0' is not a size: 1 to 8 bytes"),
        ("0 read 4 0 0 t\n", "script0.txt:1: 't' is not a tag"),
        ("0 read 4 0 0 0x100000000\n", "script0.txt:1: '0x100000000' is not a tag"),
        ("0 read 4 0 0 0 0\n", "script0.txt:1: a request is CYCLE OP SIZE ADDRESS"),
    ],
)
def test_a_wrong_script_is_one_clear_line(bench: Bench, script: str, words: str) -> None:
    memory = Memory(bench, NETLIST)
    memory.play([script], 20, ok=False)
    assert words in memory.last.err and memory.last.err.count("\n") == 1
