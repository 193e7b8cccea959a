"""Signals that show a field of the state: read in the state where that is the same, copied where it is not."""

import re

import pytest

from tests.sample import sampled

MODULE = """
module mixer {
  parameter first : int;
  inport in : uint32;
  optional outport out : uint32;
  always in.ack, out.enable;
  state { uint32 value[2]; uint64 sum; }
  init;
  handler show[i] : -> out[i].data;
  phase_end;
}
"""
CODE = """
init() { for (int i = 0; i < 2; i++) self->value[i] = (uint32_t)param(first) + (uint32_t)i; }
handler(show, i) { send(out, i, self->value[i]); }
phase_end() {
  const uint32_t old = self->value[0];
  self->value[0] = old * 3 + data(in);
  self->value[1] = old ^ self->value[1];
  if (width(out) > 1 && (!some(out, 0) || data(out, 0) != old)) sim_error("what is shown changed within a cycle");
  self->sum += data(in);
}
"""
MACHINE = """
instance a : mixer { first = 5; };
instance b : mixer { first = 77; };
instance c : mixer { first = 1000; };
a.out[0] -> b.in;  a.out[1] -> c.in;
b.out[0] -> a.in;
"""
PRINTED = [word for name in "abc" for field in ("value", "sum") for word in ("--print", f"{name}.{field}")]
WORD = 2**32


def expected(cycles: int) -> str:
    """The machine once more: everybody sees what the others showed when the cycle began."""
    value = {"a": [5, 6], "b": [77, 78], "c": [1000, 1001]}
    total = dict.fromkeys(value, 0)
    for _ in range(cycles):
        seen = {"a": value["b"][0], "b": value["a"][0], "c": value["a"][1]}
        for name, (first, second) in value.items():
            value[name] = [(first * 3 + seen[name]) % WORD, first ^ second]
            total[name] += seen[name]
    return "".join(f"{n}.value = {shown(value[n][0])} {shown(value[n][1])}\n{n}.sum = {shown(total[n])}\n" for n in value)


def shown(number: int) -> str:
    """As --print writes it: large numbers are hexadecimal."""
    return str(number) if number < 1 << 16 else f"{number:#x}"


def test_a_shown_field_is_what_it_was_when_the_cycle_began(build_sim, run_sim, tmp_path):
    (tmp_path / "mixer.lss").write_text(MODULE)
    (tmp_path / "mixer.c").write_text(CODE)
    for options in ([], ["--debug"], ["--single-function"], ["--collect", "connections"]):
        done = run_sim(build_sim(MACHINE, *options), "--cycles", "100", *PRINTED)
        assert expected(100) in done.out


def test_a_shown_field_is_copied_only_where_it_changes_too_early(lss, tmp_path):
    """Of two that look at each other one changes first, and the other must see what it was before."""
    (tmp_path / "mixer.lss").write_text(MODULE)
    (tmp_path / "mixer.c").write_text(CODE)
    (tmp_path / "top.lss").write_text(MACHINE)
    lss("build", "top.lss", "-o", "sim", "--keep", "kept")
    generated = "".join(path.read_text() for path in sorted((tmp_path / "kept").glob("*.c")))
    copied = set(re.findall(r"handler_show\(&s->i(\d+), &ctx, (\d)\)", generated))
    assert len(copied) in (1, 2)
    assert sum(lane == "0" for _, lane in copied) == 1


STRUCTS = """
struct pair { uint64 first; uint64 second; uint64 third; }
module shower {
  optional inport in : pair;
  optional outport out : pair;
  always in.ack, out.enable;
  state { pair value[2]; uint64 sum; }
  init;
  handler show[i] : -> out[i].data;
  phase_end;
}
"""
SHOW = """
init() { for (int i = 0; i < 2; i++) self->value[i] = (pair){1 + i, 2, 3}; }
handler(show, i) { send(out, i, self->value[i / 2]); }
phase_end() {
  self->value[0].second += self->value[1].first;
  self->value[1].first ^= self->value[0].second * 5;
  LOOK
  if (width(in)) self->sum += item(in).second * 3 + item(in).first;
}
"""
SHOWERS = """
instance a : shower; instance b : shower; instance c : shower; instance d : shower;
a.out[0] -> b.in;  a.out[1] -> c.in;  a.out[2] -> d.in;
"""


@pytest.mark.parametrize(("look", "copied"), sampled([("", False), ("if (width(out)) self->sum += item(out, 1).second;", True), ("if (width(out)) self->sum += OWN(out, 2).first;", True)], 3, 1))
def test_structs_are_read_in_place_unless_their_module_looks_at_them(look: str, copied: bool, lss, build_sim, run_sim, tmp_path):
    """Two lanes show one element; who looks at what it shows after changing it sees what it showed."""
    (tmp_path / "shower.lss").write_text(STRUCTS)
    (tmp_path / "shower.c").write_text("#define OWN(p, i) data(p, i)\n" * ("OWN" in look) + SHOW.replace("LOOK", look))
    printed = [word for name in "abcd" for word in ("--print", f"{name}.sum")]
    done = [run_sim(build_sim(SHOWERS, *options), "--cycles", "50", *printed) for options in ([], ["--debug"])]
    assert done[0].out == done[1].out and "b.sum = 0\n" not in done[0].out
    (tmp_path / "top.lss").write_text(SHOWERS)
    lss("build", "top.lss", "-o", "sim", "--keep", "kept")
    generated = "".join(path.read_text() for path in sorted((tmp_path / "kept").glob("*.c")))
    lanes = set(re.findall(r"handler_show\(&s->i\d+, &ctx, (\d)\)", generated))
    assert lanes == {"0", "1", "2"} if copied else len(lanes) <= 1  # one is read by who comes after the change
