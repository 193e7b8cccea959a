"""A barrier's reply says that all requests before it are done, whatever lies on the path; each stack here has a requester of its
own, and they share one simulator."""

from tests.modules.harness import Bench, Memory

SLOW = "instance slow{i} : memory_delay {{ latency = 20; }};\ninstance ram{i} : memory_state {{ size = 256 B; }};\nslow{i}.out -> ram{i}.port;\n"
POSTING = "instance c{i} : cache {{ width = 64; write_buffer = 4; }};\nc{i}.memory -> slow{i}.in;\n"
# Where writes are answered at once, a barrier must not be.
STACKS = {
    "plain": SLOW + "requester[{i}].memory -> slow{i}.in;",
    "cache": SLOW + POSTING + "requester[{i}].memory -> c{i}.in;",
    "caches": SLOW + POSTING + """
      instance first{i} : cache {{ width = 64; write_buffer = 2; }};
      requester[{i}].memory -> first{i}.in;
      first{i}.memory -> c{i}.in;""",
    "write_back": SLOW + """
      instance c{i} : cache {{ width = 64; write_back = true; write_allocate = true; }};
      requester[{i}].memory -> c{i}.in;
      c{i}.memory -> slow{i}.in;""",
    "router": SLOW + POSTING + """
      instance r{i} : memory_router {{ route = <<< return address < 0x100 ? lane(out, slow) : lane(out, other); >>>; }};
      instance other{i} : memory_state {{ base = 0x100; size = 256 B; }};
      requester[{i}].memory -> r{i}.in;
      r{i}.out["other"] -> other{i}.port;
      r{i}.out["slow"] -> c{i}.in;""",
    "filter": SLOW + POSTING + """
      instance f{i} : scratchpad_filter {{ width = 64; segments = [{{ base = 0, size = 8, target = filter_target.scratchpad }}]; }};
      instance private{i} : memory_state {{ size = 8 B; }};
      requester[{i}].memory -> f{i}.in;
      f{i}.scratchpad -> private{i}.port;
      f{i}.main -> c{i}.in;""",
    "crossbar": SLOW + """
      instance x{i} : memory_crossbar {{ interleave = 8; }};
      instance second{i} : memory_delay;
      instance bank{i} : memory_state {{ size = 256 B; }};
      requester[{i}].memory -> x{i}.in;
      x{i}.out -> slow{i}.in;
      x{i}.out -> second{i}.in;
      second{i}.out -> bank{i}.port;""",
    "sram": """
      instance s{i} : sram_controller {{ segments = [{{ base = 8, size = 248 }}]; first_access = 20; next_access = 20; }};
      instance m{i} : memory_state {{ base = 8; size = 248 B; }};
      requester[{i}].memory -> s{i}.in;
      s{i}.memory -> m{i}.port;""",
    "dram": """
      instance d{i} : dram_controller {{ segments = [{{ base = 8, size = 248 }}]; }};
      instance m{i} : memory_state {{ base = 8; size = 248 B; }};
      requester[{i}].memory -> d{i}.in;
      d{i}.memory -> m{i}.port;""",
    "width": """
      instance w{i} : memory_width {{ from = 64; to = 16; }};
      instance m{i} : memory_state {{ width = 16; size = 256 B; }};
      requester[{i}].memory -> w{i}.in;
      w{i}.out -> m{i}.port;""",
}
POSTED = {"cache", "caches", "router", "filter"}
BARRIER, WRITES = 9, 3


def test_a_barrier_has_its_reply_when_all_writes_are_done(bench: Bench) -> None:
    text = "\n".join(stack.format(i=i) for i, stack in enumerate(STACKS.values()))
    memory = Memory(bench, text, sources=len(STACKS))
    script = [f"0 write 2 {16 + 8 * k:#x} {k + 1} {k}" for k in range(WRITES)] + [f"0 barrier 1 0 0 {BARRIER}", "0 read 2 0x20 0 10"]
    played = memory.play([script] * len(STACKS), 1000, outstanding=8)
    for name, replies in zip(STACKS, played, strict=True):
        at = {a.tag: a.cycle for a in replies}
        assert not any(a.error for a in replies) and len(replies) == WRITES + 2, (name, replies)
        assert at[BARRIER] >= max(at[k] for k in range(WRITES)) and at[10] >= at[BARRIER], (name, replies)
        assert [a.data for a in replies if a.tag == 10] == [3], (name, replies)
        if name in POSTED:
            assert at[0] < 5 and at[BARRIER] >= 20 + WRITES, (name, replies)
