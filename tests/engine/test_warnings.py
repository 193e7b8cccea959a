"""clang's warnings about a module's C, and its errors where `lss check` is all that runs."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sample import sampled
from tests.tree import found

DECLARED = """module m {{
  inport in : uint32;
  userpoint choose(uint32 item) -> uint32 = <<<{userpoint}>>>;
  event taken(uint32 item);
  state {{ bool full; uint32 n; }}
  handler take : in.data -> in.ack;
  phase_end;
}}
"""
BEHAVIOUR = """static uint32_t helper(uint32_t a) {{ return a + 1; }}
handler(take) {{ accept(in, some(in)); }}
phase_end() {{
  const uint32_t item = some(in) ? data(in) : 0;
  event(taken, item);
  {statement}
}}
"""
MACHINE = "instance s : source; instance a : m; s.out -> a.in : uint32;\n"
GOOD = "if (transferred(in)) self->n += call(choose, helper(data(in)));"


@pytest.fixture
def module(tmp_path: Path) -> Callable[..., None]:
    """Writes a machine of one module, with this statement in its phase_end and this body of its userpoint."""

    def write(statement: str = GOOD, userpoint: str = " return item; ") -> None:
        (tmp_path / "m.lss").write_text(DECLARED.format(userpoint=userpoint))
        (tmp_path / "m.c").write_text(BEHAVIOUR.format(statement=statement))
        (tmp_path / "top.lss").write_text(MACHINE)
        time.sleep(0.02)  # what is written while clang reads it is not kept, by a clock that goes in ticks

    return write


def test_no_warning_without_reason(lss, module) -> None:
    module()
    assert lss("check", "top.lss").err == ""


def test_names_of_a_module_end_with_it(lss, module, tmp_path: Path) -> None:
    """A function and a macro that are called like words which the next module uses."""
    module()
    (tmp_path / "own.lss").write_text("module own { outport out : uint32; handler show : -> out.data; }\n")
    (tmp_path / "own.c").write_text("#define some 3\nstatic uint32_t transferred(uint32_t a) { return a; }\nhandler(show) { send(out, transferred(some)); }\n")
    (tmp_path / "top.lss").write_text("instance s : own; instance a : m; s.out -> a.in;\n")
    assert lss("check", "top.lss").err == ""


@pytest.mark.optimised  # in two units, of which one tells
@pytest.mark.parametrize(
    ("statement", "says"),
    sampled([
        (
            "if (self->full = 1) self->n++;",
            "m.c:6:18: warning[c-warning]: using the result of an assignment as a condition without parentheses [-Wparentheses]",
        ),
        ("int unused;", "m.c:6:7: warning[c-warning]: unused variable 'unused' [-Wunused-variable]"),
        ("self->n == 3;", "m.c:6:11: warning[c-warning]: equality comparison result unused [-Wunused-comparison]"),
        (
            "int low = -1; if (low < self->n) self->n++;",
            "m.c:6:25: warning[c-warning]: comparison of integers of different signs",
        ),
    ], 4),
)
def test_a_warning_is_reported_each_time(statement: str, says: str, lss, module, tmp_path: Path) -> None:
    """By a check, by the build that compiles, and by one that finds the object in the cache."""
    module(statement)
    env = {"LSS_CACHE": str(tmp_path / "cache"), "LSS_TIMES": "1"}
    commands = [["check", "top.lss"]] * 2 + [["build", "top.lss", "-o", "sim"]] * 2
    work = []
    for arguments in commands:
        done = lss(*arguments, env=env)
        assert done.err.count("c-warning") == 1 and says in done.err, done.err
        assert statement in done.err  # the line, for its caret
        work.append(done.err.count("compiling ") + done.err.count("checking "))
    assert work == [1, 0, 2, 0]


def test_a_userpoint_is_looked_at_too(lss, module) -> None:
    module(userpoint=" if (item = 3) return 1; return 2; ")
    done = lss("check", "top.lss")
    assert "m.lss:3:58: warning[c-warning]: using the result of an assignment" in done.err


def test_a_check_finds_the_errors_of_a_build(lss, module) -> None:
    module("self->nn++; missing(3);")
    check, build = lss("check", "top.lss", ok=False), lss("build", "top.lss", "-o", "sim", ok=False)
    assert (check.status, check.err) == (build.status, build.err)
    assert "error[unknown-name]: the state of this module has no field called nn" in check.err
    assert lss("check", "--netlist-only", "top.lss").err == ""


def test_netlist_errors_come_without_the_compiler(lss, module, tmp_path: Path) -> None:
    module("this is no C;")
    (tmp_path / "top.lss").write_text(MACHINE.replace("s.out", "s.outt"))
    for arguments in (["check"], ["check", "--netlist-only"]):
        done = lss(*arguments, "top.lss", ok=False, env={"PATH": "/nowhere"})
        assert done.err.count("error[") == 1 and "outt" in done.err


MACHINES = [path for path in found(Path(__file__).resolve().parents[2] / "examples", "*.lss") if path.stem == path.parent.name]


@pytest.mark.parametrize("machine", sampled(MACHINES, 4, 3), ids=lambda path: path.stem)
def test_the_library_is_free_of_warnings(machine: Path, lss) -> None:
    assert len(MACHINES) >= 8 and lss("check", machine).err == ""
