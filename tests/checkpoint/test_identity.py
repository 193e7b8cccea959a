"""What a checkpoint says of its machine: another one is refused, with the first difference, unless the user lets it differ."""

import hashlib
import json
import os
from pathlib import Path

import pytest

# Names of what may differ in the variants below, each of which has the same state in the same places.
PARTS = {
    "first": "3",
    "levels": "[1, 2, 3]",
    "policy": "return 1;",
    "wires": "a.out -> x.in : uint32; b.out -> y.in : uint32;",
    "domain": "",
    "body": "",
    "shared": "1",
    "inner": "1",
    "further": "",
    "comment": "",
}
MACHINE = """clock slow = 500 MHz; clock also = 500 MHz; {comment}
instance a : source on slow; instance b : source on slow;
instance x : sink on slow; instance y : sink on slow;
instance h : holds on slow {{ first = {first}; levels = {levels}; policy = <<< {policy} >>>; }};
instance l : holds on also;
{wires}
"""
HOLDS = """module holds {
  parameter first = 3 : int;
  parameter levels = [1] : int[];
  userpoint policy(uint32 n) -> uint32 = <<< return n; >>>;
  runtime parameter rate = 1 : int;
  state { uint64 sum; }
  phase_end;
}
"""
BODY = '#include "holds.h"\n#include "inner/scale.h"\n{further}\nphase_end() {{ self->sum += {shared}(param(first) + call(policy, 1) + param(rate)); {body} }}\n'
INNER = "#define FURTHER {inner}\n"
HEADER = "#define SCALE {shared} *\n"
DIFFERENT = {
    "first": ("4", "h.first", '"4" here, "3" there'),
    "levels": ("[1, 2, 4]", "h.levels", '"[1, 2, 4]" here, "[1, 2, 3]" there'),
    "policy": ("return 2;", "h.policy", '"return 2;" here, "return 1;" there'),
    "wires": ("a.out -> y.in : uint32; b.out -> x.in : uint32;", "y.in", '"a.out : uint32" here, "b.out : uint32" there'),
    "body": ("/* another */", "holds.c", "another content here"),
    "shared": ("2", "holds.h", "another content here"),
    "inner": ("2", "scale.h", "another content here"),
}


@pytest.fixture
def build(build_sim, tmp_path: Path):
    """build(part=text, …): the machine with some parts otherwise."""

    def make(*options: str, **changed: str) -> Path:
        parts = PARTS | changed
        (tmp_path / "holds.lss").write_text(HOLDS)
        (tmp_path / "holds.h").write_text(HEADER.format(**parts))
        (tmp_path / "inner").mkdir(exist_ok=True)
        (tmp_path / "inner/scale.h").write_text(INNER.format(**parts))
        (tmp_path / "holds.c").write_text(BODY.format(**(parts | {"shared": "SCALE"})))
        return build_sim(MACHINE.format(**parts), *options)

    return make


def test_another_machine_is_refused_by_its_first_difference(build, run_sim, tmp_path: Path) -> None:
    first = build()
    run_sim(first, "--cycles", 100, "--checkpoint", "point")
    sha256 = hashlib.sha256((tmp_path / "point").read_bytes()).hexdigest()
    for part, (text, name, words) in DIFFERENT.items():
        other = build(**{part: text})
        done = run_sim(other, "--cycles", 200, "--restore", "point", ok=False)
        verb = "has" if "content" in words else "is"
        assert done.err == f'{other.name}: cannot restore "point": it is of another machine: {name} {verb} {words} (--may-differ {name} allows it)\n'
        done = run_sim(other, "--cycles", 200, "--restore", "point", "--may-differ", "*.*" if part == "wires" else name, "--run-dir", "run")
        (restored,) = done.stats["manifest"]["restored"]
        assert (restored["file"], restored["sha256"]) == ("point", sha256)
        assert restored["differences"][0]["name"] == name and len(restored["differences"]) == (2 if part == "wires" else 1)
        assert json.loads((tmp_path / "run/manifest.json").read_text())["restored"] == [restored]


def test_a_machine_built_observed_or_laid_out_otherwise_is_the_same(build, run_sim, tmp_path: Path) -> None:
    straight = run_sim(build(), "--cycles", 200)
    run_sim(build(), "--cycles", 100, "--checkpoint", "point")
    for same in ({"comment": "// nothing"}, {"wires": "b.out -> y.in : uint32;\na.out -> x.in : uint32;"}):
        assert run_sim(build(**same), "--cycles", 200, "--restore", "point").stats["statistics"] == straight.stats["statistics"]
    (tmp_path / "many.lss").write_text('collector many on "*" event taken { declare <<< uint64_t n[9]; >>> record <<< self->n[0]++; >>> }\n')
    for options in (
        ["--debug"], ["--watch", "x.taken"], ["--collect", "connections"], ["--collect", tmp_path / "many.lss"], ["-O", "1", "--single-function"],
    ):  # fmt: skip
        done = run_sim(build(*options), "--cycles", 200, "--restore", "point")
        assert done.stats["statistics"][: len(straight.stats["statistics"])] == straight.stats["statistics"], options
        assert done.stats["manifest"]["restored"][0]["differences"] == []


def test_a_header_more_is_named_and_a_system_header_is_none(build, run_sim, monkeypatch, tmp_path: Path) -> None:
    """Two headers of one name are told apart by their folders; what an environment adds counts like what is written."""
    run_sim(build(), "--cycles", 100, "--checkpoint", "point")
    (tmp_path / "more").mkdir()
    (tmp_path / "more/scale.h").write_text("")
    other = build(further='#include "more/scale.h"')
    done = run_sim(other, "--cycles", 200, "--restore", "point", "--may-differ", "holds.c", ok=False)
    assert done.err.endswith('it is of another machine: its C reads inner/scale.h here, not there (--may-differ inner/scale.h allows it)\n')
    more = run_sim(other, "--cycles", 200, "--restore", "point", "--may-differ", "holds.c", "--may-differ", "*scale.h")
    assert len(more.stats["manifest"]["restored"][0]["differences"]) == 4
    system = build(further="#include <inttypes.h>")
    run_sim(system, "--cycles", 200, "--restore", "point", "--may-differ", "holds.c")
    monkeypatch.setenv("LSS_CFLAGS", os.environ.get("LSS_CFLAGS", "") + " -D TWICE=2")
    done = run_sim(build(), "--cycles", 200, "--restore", "point", ok=False)
    assert done.err.endswith(': LSS_CFLAGS is "-DTWICE=2" here, nothing there (--may-differ LSS_CFLAGS allows it)\n')


def test_a_later_checkpoint_knows_the_earlier_ones(build, run_sim, tmp_path: Path) -> None:
    """What was let differ on the way is in the manifest of all runs that follow."""
    other = build(first="4")
    run_sim(build(), "--cycles", 100, "--checkpoint", "early")
    run_sim(other, "--cycles", 200, "--restore", "early", "--may-differ", "h.*", "--checkpoint", "late")
    early, late = run_sim(other, "--cycles", 300, "--restore", "late").stats["manifest"]["restored"]
    assert early["file"] == "early" and early["differences"] == [{"name": "h.first", "checkpoint": "3", "here": "4"}]
    assert late["file"] == "late" and late["differences"] == []


def test_a_domain_of_the_same_frequency_is_another(build_sim, run_sim, tmp_path: Path) -> None:
    machine = "clock one = 1 GHz; clock two = 1 GHz;\ninstance s : source on {}; instance k : sink on {};\ns.out -> k.in : uint8;\ninstance t : source on one; instance l : sink on one;\nt.out -> l.in : uint8;\ninstance u : source on two; instance m : sink on two;\nu.out -> m.in : uint8;\n"
    run_sim(build_sim(machine.format("one", "one")), "--cycles", 10, "--checkpoint", "point")
    done = run_sim(build_sim(machine.format("two", "two")), "--cycles", 20, "--restore", "point", ok=False)
    assert done.err.endswith('it is of another machine: s has "clock : two" here, "clock : one" there\n')


def test_wrong_use_is_one_line(build, run_sim, tmp_path: Path) -> None:
    simulator = build()
    run_sim(simulator, "--cycles", 100, "--checkpoint", "point")
    done = run_sim(simulator, "--cycles", 200, "--restore", "point", "--may-differ", "h.last", ok=False)
    assert done.err.endswith('--may-differ: no constant, userpoint, connection or file of it matches "h.last"\n')
    assert run_sim(simulator, "--may-differ", "h.first", ok=False).err.endswith("--may-differ is for runs with --restore\n")
