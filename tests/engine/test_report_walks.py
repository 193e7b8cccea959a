"""How the report of an error says a processor came to where it is: expanded, its stretches and loops are the latest of what was executed.

Random programs with loops in loops, calls, and jumps over code that is never reached; a processor that has made so many jumps
more than its ring holds still shows them as long as they repeat themselves.
"""

import random
import re
from pathlib import Path

import pytest

from tests.loops import told
from tests.sample import sampled

WORD = 4
WALKS = 60
RINGS = (4, 8, 32)
NETLIST = """
struct jump { uint32 behind; uint32 to; };
module walker { inport in : uint32; always in.ack; phase_end; runtime parameter walk = 0 : int; parameter entries = 8 : int; state { trace jump ring[entries]; trace uint32 pc; } }
instance w : walker { entries = ENTRIES; }; instance s : source; s.out -> w.in;
debug cpu { pc = w.pc; history = w.ring; }
"""
WALKER_C = """#include "walker.h"
phase_end() {
  const uint32_t from = walk_begins[param(walk)], behind = walk_begins[param(walk) + 1];
  for (uint32_t i = from; i < behind; i++) note(ring, (jump){walk_jumps[i][0], walk_jumps[i][1]});
  note(pc, walk_ends[param(walk)]);
  sim_error("the end");
}
"""


class Walk:
    """A random program at random addresses, and the addresses of the instructions that it executes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.next = 0x1000  # address of what is laid out next
        self.executed: list[int] = []
        for run in self.block(3):
            run()

    def straight(self) -> list:
        begin, count = self.next, self.random.choice([1, 1, 2, 5, 40])
        self.next += WORD * count
        return [lambda: self.executed.extend(range(begin, begin + WORD * count, WORD))]

    def skip(self) -> list:
        """Code that a jump passes over."""
        code = self.straight()
        self.next += WORD * self.random.randrange(1, 9)
        return code

    def call(self) -> list:
        here, self.next = self.straight(), self.next + 0x10000
        function = self.straight()
        self.next -= 0x10000 - WORD  # behind the call lies other code
        return [*here, *function]

    def loop(self, depth: int) -> list:
        body, times = self.block(depth - 1), self.random.choice([2, 3, 5, 30])

        def run() -> None:
            for _ in range(times):
                for one in body:
                    one()

        return [run]

    def block(self, depth: int) -> list:
        kinds = [self.straight, self.skip, self.call] + [lambda: self.loop(depth)] * (3 if depth else 0)
        return [step for _ in range(self.random.randrange(1, 4)) for step in self.random.choice(kinds)()]

    def jumps(self) -> list[tuple[int, int]]:
        pairs = zip(self.executed, self.executed[1:])
        return [(0, self.executed[0]), *((a + WORD, b) for a, b in pairs if b != a + WORD)]


@pytest.fixture(scope="module")
def walks() -> list[Walk]:
    return [Walk(seed) for seed in range(WALKS)]


@pytest.fixture
def walker(walks: list[Walk], build_sim, tmp_path: Path):
    """walker(entries): a processor whose history has so many, and that makes one of the walks."""
    jumps, begins = [], [0]
    for walk in walks:
        jumps += walk.jumps()
        begins.append(len(jumps))

    def table(kind: str, values: list) -> str:
        return f"static const uint32_t {kind} = {{{', '.join(values)}}};\n"

    text = table("walk_jumps[][2]", [f"{{{behind}, {to}}}" for behind, to in jumps]) + table("walk_begins[]", list(map(str, begins)))
    text += table("walk_ends[]", [str(walk.executed[-1]) for walk in walks])
    (tmp_path / "walker.h").write_text(f"#ifndef WALKER_H\n#define WALKER_H\n#include <stdint.h>\n{text}#endif\n")
    (tmp_path / "walker.c").write_text(WALKER_C)
    return lambda entries: build_sim(NETLIST.replace("ENTRIES", str(entries)))


def breaks(executed: list[int]) -> int:
    return sum(b != a + WORD for a, b in zip(executed, executed[1:]))


def addresses(line: str) -> list[str]:
    """What a line stands for, if it is no loop's."""
    return re.findall(r"^ +([0-9a-f]{8})(?: to ([0-9a-f]{8})|  )", line)


def loops_are_whole(lines: list[str]) -> None:
    """A lap of one stretch that follows its loop would have been one more of it."""
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        body = lines[i + 1 : next((k for k in range(i + 1, len(lines)) if len(lines[k]) - len(lines[k].lstrip()) <= indent), len(lines))]
        if line.endswith(" times:") and len(body) == 1 and addresses(body[0]) and i + 2 < len(lines):
            assert addresses(lines[i + 2]) != addresses(body[0]), line


def check(report: str, walk: Walk, entries: int) -> list[int]:
    shown, lines = told(report), report[report.index("how it came here") :].splitlines()[1:]
    assert shown and shown == walk.executed[-len(shown) :]
    jumps = len(walk.jumps())
    if jumps <= entries:
        assert len(shown) == len(walk.executed) and not any("at least" in line for line in lines)
    assert entries == max(RINGS) or breaks(shown) + 1 >= min(jumps, entries), "as many jumps as the history has"
    alone = [line for line in lines if re.match(r" +[0-9a-f]{8}  ", line)]
    listed = len(alone) + sum(int(count) for line in lines for count in re.findall(r"[0-9a-f]{8} to [0-9a-f]{8}, (\d+) ", line))
    assert len(alone) == min(32, listed), "the latest 32 are shown one by one"
    assert all(len(line.split()) == 1 for line in alone), "there is no program whose words they could be"
    loops_are_whole(lines)
    if re.fullmatch(r" +\d+ times:", lines[0]):
        behind = next((i for i, line in enumerate(lines[1:], 1) if line[4] != " "), len(lines))
        lap, before = told("\n".join(["how it came here", *lines[1:behind]])), walk.executed[: -len(shown)]
        assert before[-len(lap) :] != lap, "it was passed more often"
    return shown


@pytest.mark.parametrize("entries", sampled(RINGS, 3, 1))
def test_what_is_shown_is_what_was_executed(entries: int, walks: list[Walk], walker, run_sim) -> None:
    simulator, longer = walker(entries), 0
    for number, walk in enumerate(walks):
        report = run_sim(simulator, "--quiet", "--set", f"w.walk={number}", ok=False).err
        try:
            shown = check(report, walk, entries)
        except AssertionError as wrong:
            raise AssertionError(f"walk {number}: {wrong}\n{report}") from wrong
        longer += breaks(shown) > entries
    assert longer > WALKS // 6, "what is repeated takes no room"
