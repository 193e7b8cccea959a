"""Links of several contexts in one cache: each has its own, which what another context writes ends; in every cache that keeps links, against plain bytes."""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory
from tests.sample import sampled

LINE, CONTEXTS, APART = 32, 4, 60  # bytes; cycles from one request to the next
LOW = 20  # of the three bits of the context in a tag
WHO = f"contexts = {CONTEXTS}; context_bit = {LOW};"
UNLINK = f"instance f[{CONTEXTS}] : source; for (c = 0; c < {CONTEXTS}; c = c + 1) f[c].out -> cache.unlink : bool;\n"
BUS = "instance bus : system_bus { line = 32; }; cache.bus -> bus.agent[\"cpu\"]; instance ram : memory_state { width = 256; size = 4 KiB; }; bus.memory -> ram.port;\n"
RAM = "instance ram : memory_state { size = 4 KiB; }; cache.memory -> ram.port;\n"
CACHES = {
    "cache": f"instance cache : cache {{ width = 64; links = true; sets = 2; line = 32; {WHO} }}; {RAM}",
    "mshr_cache in order": f"instance cache : mshr_cache {{ width = 64; mshrs = 1; targets = 1; total_store_order = true; sets = 2; ways = 1; {WHO} }}; {BUS}",
    "mshr_cache": f"instance cache : mshr_cache {{ width = 64; fill_width = 64; sets = 2; ways = 1; {WHO} }}; {RAM}",
    "mshr_cache on a bus": f"instance cache : mshr_cache {{ width = 64; fill_width = 64; sets = 2; ways = 1; {WHO} }}; {BUS}",
}


@pytest.mark.parametrize("name", sampled(CACHES, 2))
def test_each_context_has_a_link(name: str, bench: Bench) -> None:
    """A link to a line that made room for another stands."""
    machine = Memory(bench, f"{CACHES[name]}requester[0].memory -> cache.in;\n{UNLINK}")
    stored = 0
    for seed in range(1, 4):
        r, model, links, script, expected, unlinks = random.Random(seed), Bytes(256), [-1] * CONTEXTS, [], [], [""] * CONTEXTS
        for k in range(150):
            c, address, value, op = r.randrange(CONTEXTS), 4 * r.randrange(20), r.getrandbits(32), r.choice(("write", "read", "load_linked", "load_linked", "store_conditional", "store_conditional"))
            stands = links[c] == address // LINE
            script.append(f"{APART * k} {op} 4 {address:#x} {value} {c << LOW | k}")
            expected.append((c << LOW | k, model.read(address, 4) if op in ("read", "load_linked") else int(stands and op != "write")))
            if op == "load_linked":
                links[c] = address // LINE
            if op == "store_conditional":
                links[c] = -1
                stored += stands
            if op == "write" or (op == "store_conditional" and stands):
                model.write(address, 4, value)
                links = [-1 if other != c and line == address // LINE else line for other, line in enumerate(links)]
            if r.random() < 0.05:
                ended = r.randrange(CONTEXTS)
                links[ended] = -1
                unlinks[ended] += f"{APART * k + 50} true\n"
        files = {f"unlink{c}": text for c, text in enumerate(unlinks)}
        [replies] = machine.play([script], 150 * APART + 100, {f"f[{c}].script": f"unlink{c}" for c in range(CONTEXTS)}, files=files, seed=seed)
        assert [(one.tag, one.data) for one in replies] == expected, f"seed {seed}"
    assert 15 < stored < 100, "of 150 store_conditionals"


@pytest.mark.parametrize("name", ["cache", "mshr_cache"])
def test_each_context_unlinks_by_itself(name: str, bench: Bench) -> None:
    with pytest.raises(AssertionError, match="each of 4 contexts needs a lane of unlink, not 1 lanes in all"):
        bench.build(f"import memory_types;\ninstance s : memory_source;\n{CACHES[name]}s.memory -> cache.in;\ninstance f : source; f.out -> cache.unlink : bool;\n")
