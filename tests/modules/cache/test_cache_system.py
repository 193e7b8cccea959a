"""Filters, line buffers, crossings, arbiters and a controller together: the memory path of a network processor with two cores.

Each core has a fetch and a data channel.  All values are checked: what a core reads in its own stretches is what it wrote,
and what it polls of another core's is seen after a while, in order, through one-line buffers that snoop.
"""

import random

import pytest

from tests.modules.harness import Bench, Bytes, Memory, Requests
from tests.sample import sampled

CLOCKS = """
clock cpu_clock = {cpu} MHz;
clock sram_clock = {sram} MHz;
"""

NETLIST = """
module core_memory {{
  inport fetch : mem(32);
  inport data : mem(32);
  outport out : mem(64);
  inport snoop : mem_snoop;
  instance filter : scratchpad_filter {{
    segments = [ {{ base = 0xc000, size = 0x1000, target = filter_target.scratchpad }} ];
  }};
  instance scratchpad : memory_state {{ width = 32; size = 4 KiB; base = 0xc000; big_endian = true; }};
  instance prefetch : cache {{ line = 128; sets = 1; ways = 1; big_endian = true; }};
  instance buffer : cache {{ line = 8; sets = 1; ways = 1; big_endian = true; write_buffer = {posted};
    cacheable = <<< return address < 0x8000; >>>; }};
  instance joins : memory_arbiter {{ policy = <<< return highest(requests); >>>; }};
  instance heard : tee;
  fetch -> filter.in;
  data -> filter.in;
  filter.scratchpad -> scratchpad.port;
  filter.main[0] -> prefetch.in;
  filter.main[1] -> buffer.in;
  prefetch.memory -> joins.in;
  buffer.memory -> joins.in;
  joins.out -> out;
  snoop -> heard.in;
  heard.out -> prefetch.snoop;
  heard.out -> buffer.snoop;
}}

instance core[2] : core_memory on cpu_clock;
instance to_sram[2] : memory_crossing {{ stages = {stages}; }};
instance from_sram[2] : clock_crossing {{ depth = 16; stages = {stages}; }};
instance arbiter : memory_arbiter on sram_clock {{ policy = <<< return keep_at_most(requests, last, served, 8); >>>; }};
instance sram : sram_controller on sram_clock;
instance memory : memory_state on sram_clock {{ size = 64 KiB; big_endian = true; }};
for (i = 0; i < 2; i = i + 1) {{
  requester[2 * i].memory -> core[i].fetch;
  requester[2 * i + 1].memory -> core[i].data;
  core[i].out -> to_sram[i].in;
  to_sram[i].out -> arbiter.in;
  memory.snoop -> from_sram[i].in;
  from_sram[i].out -> core[i].snoop;
}}
arbiter.out -> sram.in;
sram.memory -> memory.port;
"""


def system(bench: Bench, cpu: int = 88, sram: int = 100, posted: int = 1, stages: int = 1) -> Memory:
    text = NETLIST.format(posted=posted, stages=stages)
    return Memory(bench, text, 4, 32, before=CLOCKS.format(cpu=cpu, sram=sram), on="cpu_clock")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("cpu", "sram", "posted", "stages"), sampled([(88, 100, 1, 1), (88, 250, 4, 2), (200, 66, 0, 2)], 3, 1))
def test_every_channel_reads_what_it_wrote(
    bench: Bench, cpu: int, sram: int, posted: int, stages: int, seed: int
) -> None:
    """Stretches of main memory, of the uncacheable part and of the scratchpad, apart for each channel: data channels write and
    read, fetch channels read what lay there from the beginning."""
    rng = random.Random(seed)
    image = rng.randbytes(0x4000)
    requests = [Requests(rng) for _ in range(4)]
    for channel in range(4):
        if channel % 2 == 0:
            address = 0
            for k in range(200):
                address = rng.randrange(0x400) * 4 if k % 16 == 0 else address + 4
                requests[channel].script.append(f"{k} read 4 {address} 0 {k}")
                requests[channel].replies.append((k, int.from_bytes(image[address : address + 4], "big")))
        else:
            models = {
                base: Bytes(64, "big", base)
                for base in (0x4000 + 64 * channel, 0x9000 + 64 * channel, 0xC000 + 64 * channel)
            }
            for _ in range(200):
                model = models[rng.choice(list(models))]
                size = rng.choice([1, 2, 4])
                requests[channel].add(model, model.base + rng.randrange(64 // size) * size, size, 32)
    settings: dict[str, object] = {"memory.image": "image.bin"}
    settings |= {f"requester[{i}].cancel": 0.2 for i in range(4)}
    replies = system(bench, cpu, sram, posted, stages).play(
        [r.script for r in requests], 40000, settings, seed=seed, files={"image.bin": image}
    )
    assert [[(a.tag, a.data) for a in lane] for lane in replies] == [r.replies for r in requests]


@pytest.mark.parametrize("seed", range(3))
def test_a_flag_follows_its_data(bench: Bench, seed: int) -> None:
    """Core 0 writes a word and then a flag; core 1 polls the flag through its line buffer, and then reads the word: once it
    has seen flag k, it sees word k or a later one, though it had both lines in its buffer before."""
    rng = random.Random(seed)
    writes, polls, cycle = [], [], 0
    for k in range(1, 21):
        cycle += rng.randrange(10, 80)
        writes += [f"{cycle} write 4 0x100 {k}", f"{cycle} write 4 0x200 {k}"]
    for k in range(300):
        polls += [f"{k * 5} read 4 0x200 0 {k}", f"{k * 5} read 4 0x100 0 {k}"]
    replies = system(bench).play([[], writes, [], polls], 30000, seed=seed)
    seen = [a.data for a in replies[3]]
    flags, words = seen[0::2], seen[1::2]
    assert flags == sorted(flags) and words == sorted(words)
    assert all(word >= flag for flag, word in zip(flags, words, strict=True))
    assert flags[-1] == 20 and len(set(flags)) > 5
