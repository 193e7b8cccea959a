"""mshr_cache: a controller, whose replies may take longer; the rest is test_mshr_controller.py's."""

import pytest

from tests.modules.cache.test_mshr_controller import MISS, WHOLE, cycles_of, machine, play
from tests.modules.harness import Bench
from tests.sample import sampled


@pytest.mark.parametrize("latency", sampled([0, 1, 3], 3, 1))
def test_replies_may_take_longer(latency: int, bench: Bench) -> None:
    """Of hits and misses on each lane; hits still come one in a cycle."""
    found = machine(bench, WHOLE + f"latency = {latency}; banks = 2;", lanes=2, module="mshr_cache")
    first, second, _ = play(found, ["0 read 8 0 0 0", "30 read 8 0 0 1", "31 read 8 0 0 2"], ["30 read 8 8 0 0", "60 read 8 8 0 1"])
    assert cycles_of(first) == [MISS + latency, 30 + latency, 31 + latency]
    assert cycles_of(second) == [30 + MISS + latency, 60 + latency]


def test_what_surrounds_it(bench: Bench) -> None:
    """The userpoints and `unlink` reach the controller."""
    body = "line = 8; sets = 4; ways = 1; index = <<< return number >> 1; >>>; cacheable = <<< return address < 0x800; >>>;"
    found = machine(bench, body, module="mshr_cache", more="instance breaker : source; breaker.out -> cache.unlink : bool;")
    script = ["0 read 8 0 0 0", "20 read 8 32 0 1", "40 load_linked 8 0 0 2", "80 store_conditional 8 0 9 3", "90 read 8 0x800 0 4", "120 read 8 16 0 5", "150 read 8 0 0 6"]
    [replies, _] = play(found, script, settings={"breaker.script": "b"}, files={"b": "60 true once\n"})
    assert [a.data for a in sorted(replies, key=lambda a: a.tag)] == [0, 4, 0, 0, 0x100, 2, 0]
    assert found.last.counted("cache.controller") | {"mshr_cycles": 0, "miss_cycles": 0} == {"hits": 3, "misses": 3, "bypassed": 1, "failed_conditionals": 1, "mshr_cycles": 0, "miss_cycles": 0}
