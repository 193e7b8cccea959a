"""What people read of a run: states that --print names, line traces, and the report of a run that ends with an error."""

import re

import pytest

from tests.sample import sampled

PACKETS = """
struct packet { uint32 address; uint32 pc; uint32 word; uint64 control; uint16 size; };
instance s : source { generate = <<< return (packet){16 + index, 4 * index, 0x24020000 + index, 1000000, 3}; >>>; };
instance k : sink;
s.out -> k.in : packet;
"""
BYTES = """
module keeper { state { uint8 bytes[64] = range(64); uint32 big = 70000; uint32 small = 9; uint32 pc = 0x40; uint16 rows[2][3]; }
  stat uint64 counted "items"; inport in : uint32; always in.ack; init; phase_end; }
instance a : keeper; instance s : source; s.out -> a.in;
"""
BYTES_C = "init() { for (int i = 0; i < 6; i++) self->rows[i / 3][i % 3] = (uint16_t)i; }\nphase_end() { count(counted, 70000); }\n"


@pytest.fixture
def keeper(build_sim, tmp_path):
    (tmp_path / "keeper.c").write_text(BYTES_C)
    return build_sim(BYTES)


@pytest.mark.parametrize(
    ("name", "text"),
    sampled([
        ("a.big", "a.big = 0x11170\n"),
        ("a.small", "a.small = 9\n"),
        ("a.pc", "a.pc = 0x40\n"),
        ("a.counted", "a.counted = 140000\n"),
        ("a.rows[1]", "a.rows[1] = 3 4 5\n"),
        ("a.rows[1][1..2]", "a.rows[1][1..2] = 4 5\n"),
        ("a.bytes[2..4]", "a.bytes[2..4] = 2 3 4\n"),
        ("a.bytes[0x31..0x30]", "the range ends before it begins"),
        ("a.bytes[1..64]", "the index must be less than 64"),
        ("a.rows[0..1][2]", "nothing may follow a range"),
        ("*.small", "a.small = 9\n"),
        ("b.*", 'no state matches "b.*"'),
    ], 3),
)
def test_states_are_printed_by_name_range_and_pattern(keeper, run_sim, name, text):
    done = run_sim(keeper, "--cycles", 2, "--quiet", "--print", name, ok=None)
    assert text in (done.out if done.status == 0 else done.err) and done.status == (0 if text.endswith("\n") else 2)


def test_an_instance_is_no_state(build_sim, run_sim, tmp_path):
    (tmp_path / "keeper.c").write_text(BYTES_C)
    simulator = build_sim(BYTES.split("instance")[0] + "module box { inport in : uint32; instance inner : keeper; in -> inner.in; }\n"
                          "instance s[3] : source; instance one : box; instance row[2] : box; s[0].out -> one.in; s[1].out -> row[0].in; s[2].out -> row[1].in;\n")
    for name, pattern in ("one.inner", "one.inner.*"), ("one", "one.**"), ("row", "row[*].**"), ("row[1]", "row[1].**"):
        done = run_sim(simulator, "--cycles", 2, "--quiet", "--print", name, ok=False)
        assert f'"{name}" is an instance; {pattern} is all of its state' in done.err
        assert "inner.small = 9" in run_sim(simulator, "--cycles", 2, "--quiet", "--print", pattern).out
    assert '"on" is no state: write INSTANCE.FIELD' in run_sim(simulator, "--cycles", 2, "--print", "on", ok=False).err


def test_long_stretches_of_bytes_are_a_hexdump(keeper, run_sim):
    done = run_sim(keeper, "--cycles", 2, "--quiet", "--print", "a.bytes[0x30..0x3f]")
    row = "30 31 32 33 34 35 36 37  38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?"
    assert done.out == f"a.bytes[48..63] =\n  000030  {row}\n"


def test_traces_show_addresses_and_instructions(build_sim, run_sim):
    done = run_sim(build_sim(PACKETS), "--cycles", 2, "--trace", "s")
    assert "out>{address=17 pc=0x4 word=<addiu $v0, $zero, 1> control=0xf4240 size=3}" in done.err.replace("0x11", "17")


def test_a_trace_has_no_line_for_an_instant_in_which_nothing_passed(build_sim, run_sim):
    """A source that makes an item in every fifth cycle."""
    simulator = build_sim("instance a : source { interval = 5; }; instance b : sink; a.out -> b.in : uint32;")
    done = run_sim(simulator, "--cycles", 20, "--quiet", "--trace", "a,b")
    lines = [[word.strip() for word in line.split("|")] for line in done.err.splitlines()]
    assert lines[0] == ["cycle", "a", "b"] and len(lines) == 5
    assert [line[1:] for line in lines[1:]] == [[f"out>{i}", f"in<{i}"] for i in range(4)]
    assert {int(line[0]) % 5 for line in lines[1:]} == {int(lines[1][0])}


def test_lanes_with_keys_are_traced_when_they_change(build_sim, run_sim):
    machine = """
      instance a : source { interval = 1; generate = <<< return (uint32_t)index / 3; >>>; };  instance b : source;
      instance ka : sink; instance kb : sink;  a.out["shown"] -> ka.in : uint32;  b.out -> kb.in : uint32;"""
    done = run_sim(build_sim(machine), "--cycles", 7, "--trace", "a,b")
    lines = [line.split("|")[1:] for line in done.err.splitlines()[1:8]]
    assert [line[0].strip() for line in lines] == [f"out[shown]>{i // 3}" if i % 3 == 0 else "." for i in range(7)]
    assert [line[1].strip() for line in lines] == [f"out>{i}" for i in range(7)]


LOOPING = """
struct jump { uint32 behind; uint32 to; };
module looper { inport in : uint32; always in.ack; phase_end; state { trace jump ring[4]; trace uint32 pc; uint32 device[2]; } }
instance l : looper; instance s : source; s.out -> l.in;
debug cpu { pc = l.pc; history = l.ring; }
debug memory { 0 .. 7 = l.device : [
  { name = "control", offset = 0, fields = [{ name = "enable", mask = 1 }, { name = "stop", mask = 2 }, { name = "step", mask = 12 }] },
  { name = "count", offset = 4 }]; }
"""
LOOPING_C = """phase_end() {
  const uint32_t n = (uint32_t)cycle(), pc = 0x1000 + 4 * (n % 10);
  if (n % 10 == 0) note(ring, (jump){n ? 0x1028 : 0, pc});
  note(pc, pc);
  self->device[0] = 0x1d;
  if (n == 40) sim_error("the end");
}
"""


def test_a_loop_is_printed_once(build_sim, run_sim, tmp_path):
    (tmp_path / "looper.c").write_text(LOOPING_C)
    done = run_sim(build_sim(LOOPING), ok=False)
    lines = done.err[done.err.index("how it came here") :].splitlines()[1:]
    assert lines.pop() == "l.control = enable|step=0x3|0x10"
    assert lines[0] == "    4 times:" and [int(line.split()[0], 16) for line in lines[1:]] == [*range(0x1000, 0x1028, 4), 0x1000]
    assert all(line.startswith("      ") for line in lines[1:11]) and not lines[11].startswith("      ")


def test_symbols_come_from_another_file(build_sim, run_sim, build_dir, tmp_path):
    (tmp_path / "looper.c").write_text(LOOPING_C.replace("0x1000", "0").replace("0x1028", "0x28"))
    simulator = build_sim(LOOPING)
    elf = build_dir / "firmware" / "sum" / "sum.elf"
    assert "<_start+0x4>" not in run_sim(simulator, ok=False).err
    assert re.search(r"00000004  .*<_start\+0x4> start\.S:", run_sim(simulator, "--symbols", elf, ok=False).err)
    done = run_sim(simulator, "--symbols", "looper.c", ok=False)
    assert done.status == 2 and "--symbols: looper.c: " in done.err and done.err.count("\n") == 1


def test_checks_of_debug_builds(build_sim, run_sim, tmp_path):
    """What a module has to see to itself stops a debug build, and is not even evaluated in another."""
    (tmp_path / "checks.lss").write_text("module checks { inport in : uint32; state { uint32 looked; } always in.ack; phase_end; }")
    (tmp_path / "checks.c").write_text('phase_end() {\n  sim_check(self->looked++ < 3, "it looked %d times", (int)self->looked);\n}\n')
    text = "instance c : checks; instance s : source; s.out -> c.in;"
    run_sim(build_sim(text), "--cycles", "9")
    done = run_sim(build_sim(text, "--debug"), "--cycles", "9", ok=False)
    assert "c: it looked 4 times" in done.err



def test_bytes_that_differ_are_marked(build_sim, run_sim, tmp_path):
    (tmp_path / "differ.lss").write_text("module differ { inport in : uint32; always in.ack; phase_end; }")
    (tmp_path / "differ.c").write_text(
        "phase_end() {\n  uint8_t a[40] = {0}, b[36] = {0};\n  a[18] = 65, b[18] = 66, b[31] = 1;\n"
        '  sim_difference(a, 40, b, 36);\n  sim_error("they differ");\n}\n'
    )
    done = run_sim(build_sim("instance d : differ; instance s : source; s.out -> d.in;"), ok=False)
    zeros = "00 " * 8
    assert "\n".join(done.err.splitlines()[1:7]) == "\n".join(
        [
            f"  expected 000010  00 00 41 00 00 00 00 00  {zeros} ..A.............",
            f"  came out 000010  00 00 42 00 00 00 00 00  {zeros[:-3]}01  ..B.............",
            " " * 25 + "^^" + " " * 38 + "^^",
            "  expected 000020  00 00 00 00 00 00 00 00" + " " * 27 + "........",
            "  came out 000020  00 00 00 00" + " " * 39 + "....",
            " " * 31 + "^^ ^^ ^^ ^^",
        ]
    )
