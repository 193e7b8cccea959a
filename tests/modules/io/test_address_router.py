"""address_router: devices on the processors' bus by an address map; everything else passes."""

import random

import pytest

from tests.modules.harness import Bench, Memory

HEAD = """
import register_types;
const MAP = [
  { name = "low", base = 0x1f000500, size = 8 },
  { name = "other", base = 0x1f000800, size = 0x100 },
  { name = "high", base = 0x1f001000, size = 0x800 }
];
"""


def router(bench: Bench) -> Memory:
    """With memories at two of three places and at `rest`; they reply in the next cycle."""
    text = """
        instance dut : address_router { width = 32; map = MAP; };
        instance delay[3] : memory_delay { width = 32; };
        instance memory[3] : memory_state { width = 32; };
        memory[0].size = 0x800 B; memory[1].size = 8 B; memory[2].size = 0x2000 B; memory[2].base = 0x1f000000;
        for (i = 0; i < 3; i = i + 1) { delay[i].out -> memory[i].port; }
        requester[0].memory -> dut.in;
        dut.out["high"] -> delay[0].in;
        dut.out["low"] -> delay[1].in;
        dut.rest -> delay[2].in;
        """
    return Memory(bench, text, width=32, before=HEAD)


def test_devices_see_offsets_and_the_rest_its_addresses(bench: Bench) -> None:
    """Whatever the order of lanes; an entry without a lane belongs to the rest."""
    machine = router(bench)
    places = [0x1F000504, 0x1F001004, 0x1F0017FC, 0x1F000508, 0x1F0004FC, 0x1F000800, 0x1F001800]
    script = [f"0 write 4 {place:#x} {k + 5}" for k, place in enumerate(places)]
    script += [f"0 read 4 {place:#x}" for place in places] + ["0 barrier 1 0"]
    [replies] = machine.play([script], 100)
    assert [(a.data, a.error) for a in replies] == [(value, False) for value in (0, 0, 0, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 0)]
    assert [a.cycle for a in replies][:14] == [2 * k + 1 for k in range(14)], "a request arrives in its cycle"


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_requests_is_kept(seed: int, bench: Bench) -> None:
    """Many outstanding, offered and cancelled by chance: what is read was written before, and replies come in order."""
    rng = random.Random(seed)
    places = [0x1F000500, 0x1F000504, 0x1F001000, 0x1F0017FC, 0x1F000000, 0x1F000FFC]
    model, script, expected = dict.fromkeys(places, 0), [], []
    for k in range(300):
        place = rng.choice(places)
        if rng.random() < 0.5:
            model[place] = k
            script.append(f"0 write 4 {place:#x} {k} {k}")
            expected.append((k, 0))
        else:
            script.append(f"0 read 4 {place:#x} 0 {k}")
            expected.append((k, model[place]))
    settings = {"requester[0].offer": 0.8, "requester[0].cancel": 0.2, "delay[0].latency": 3, "delay[2].latency": 2}
    [replies] = router(bench).play([script], 4000, settings, outstanding=20, seed=seed)
    assert [(a.tag, a.data) for a in replies] == expected, f"seed {seed}"


WRONG = [
    ("map = MAP;", 'dut.out["none"] -> delay[2].in;\n', "none"),
    ('map = append(MAP, { name = "more", base = 0x1f001400, size = 4 });', "dut.rest -> delay[2].in;\n", "the address map: high and more overlap"),
]


@pytest.mark.parametrize(("body", "rest", "words"), WRONG)
def test_what_is_no_map(body: str, rest: str, words: str, bench: Bench) -> None:
    text = f"import memory_types;{HEAD}instance dut : address_router {{ {body} }};\ninstance delay[3] : memory_delay;\n{rest}"
    assert words in bench.refuse(text)
