"""Mistakes in C that a user wrote, in a module or in a netlist: told at their own place, in the user's words."""

import json
import re

import pytest

from tests.sample import sampled, seldom

MODULE = """module m {
  inport in : uint32;
  outport out : uint32;
  event taken(uint32 value);
  userpoint f(uint32 x) -> uint32 = <<< return x; >>>;
  state { uint32 value; bool full; }
  phase_start -> out.data;
  handler take : out.ack -> in.ack;
  phase_end;
}
"""
CODE = """phase_start() { send_if(out, self->full, self->value); }
handler(take) { accept(in, !self->full || acked(out)); }
phase_end() {
  if (transferred(out)) self->full = false;
  if (transferred(in)) { self->value = call(f, data(in)); self->full = true; event(taken, data(in)); }
}
"""
MACHINE = "instance x : m;\ninstance s : source;\ninstance k : sink;\ns.out -> x.in;\nx.out -> k.in;\n"


def errors(lss, tmp_path, code: str = CODE, machine: str = MACHINE, **files: str) -> str:
    """What the compiler says, without the folder."""
    for name, text in {"m_lss": MODULE, "m_c": code, "top_lss": machine, **files}.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    done = lss("build", "top.lss", "-o", "sim", ok=False)
    assert done.status == 1
    assert not (tmp_path / "sim").exists()
    return done.err.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("self->full = true", "self->fall = true", "m.c:5:65: error[unknown-name]: the state of this module has no field called fall"),
        ("accept(", "acept(", "m.c:2:17: error[unknown-name]: there is no function `acept`; did you mean `accept`?"),
        ("call(f,", "call(g,", "m.c:5:40: error[unknown-name]: this module has no userpoint called g"),
        ("f, data(in)", "f, data(in), 1", "m.c:5:58: error[c-code]: too many arguments to function call, expected 1, have 2"),
        ("call(f, data(in))", "call(f)", "m.c:5:40: error[c-code]: too few arguments to function call, expected 1, have 0"),
        ("accept(in", "return 1; accept(in", "m.c:2:17: error[c-code]: void function 'handler(take)' should not return a value"),
        ("phase_start()", '#include "none.h"\nphase_start()', "m.c:1:10: error[c-code]: 'none.h' file not found"),
        ("phase_start()", "#include <none.h>\nphase_start()", "m.c:1:10: error[c-code]: 'none.h' file not found"),
        ("data(in)); }\n}\n", "data(in)); \n}\n", "m.c:6:1: error[c-code]: the C ends before all of its braces are closed"),
        ("self->value); }", "self->value); {", "m.c:1:1: note: a brace that opens here is not closed"),
        ("phase_start()", "\0phase_start()", "the behaviour of module m cannot be read: it holds a zero byte and is no text"),
    ],
)  # fmt: skip
def test_mistakes_in_a_module(lss, tmp_path, right, wrong, expected):
    assert CODE.count(right) == 1
    found = errors(lss, tmp_path, CODE.replace(right, wrong))
    assert expected in found
    assert "_S0_" not in found and "_S1_" not in found
    place = re.match(r"m\.c:\d+:(\d+): error", expected)
    if place:  # the character that clang names is marked, below its line
        lines = found.split(expected)[1].splitlines()
        assert lines[2] == f"{'|':>7}{'^':>{int(place[1]) + 1}}", found


def test_a_parameter_is_no_state(lss, tmp_path):
    """Of the structure and set at run time; what is neither is a field that there is not."""
    module = "module m { runtime parameter rate = 10 Gb/s : rate; parameter n = 3 : int; stat uint64 seen; phase_end; }\n"
    code = "phase_end() { if (self->rate > 3) count(seen); if (self->n) count(seen); if (self->none) count(seen); }\n"
    found = errors(lss, tmp_path, code, "clock c = 1 GHz; instance x : m on c;\n", m_lss=module)
    assert "m.c:1:25: error[unknown-name]: rate is a parameter, not state: write param(rate)" in found
    assert "error[unknown-name]: n is a parameter, not state: write param(n)" in found
    assert "error[unknown-name]: the state of this module has no field called none" in found


KEYED = """module m {
  keyed repeated inport in : uint32;
  stat uint64 sum;
  always in.ack;
  phase_end;
}
"""
KEYED_MACHINE = """instance x : m;
instance s[4] : source;
s[0].out -> x.in["mac_state"] : uint32;
s[1].out -> x.in["base"];
s[2].out -> x.in["limit"];
s[3].out -> x.in["limit"];
"""


@pytest.mark.parametrize(
    ("lane", "expected"),
    [
        ("lane(in, mac_stat)", "error[unknown-key]: no lane of in has the key mac_stat; did you mean mac_state?\n"),
        ("lane(in, mac_stat)", "note: the keys of in are mac_state, base, limit, limit\n"),
        ("lane(in, limit)", "error[ambiguous-key]: several lanes of in have the key limit; key(in, i) returns which\n"),
        ("lane(inn, base)", "error[unknown-name]: this module has no port called inn; did you mean in?\n"),
    ],
)
def test_keys_in_c(lss, tmp_path, lane, expected):
    code = f"phase_end() {{ count(sum, data(in, {lane})); }}\n"
    assert expected in errors(lss, tmp_path, code, KEYED_MACHINE, m_lss=KEYED)


SLIPS = [
    ("n_taken++;", "error[c-code]: use of undeclared identifier 'n_taken'\n"),
    ("total++;", "error[unknown-name]: total is state of the module: write self->total\n"),
    ("table[0]++;", "error[unknown-name]: table is state of the module: write self->table\n"),
    ("if (transferred(inn)) { }", "error[unknown-name]: this module has no port called inn; did you mean in?\n"),
    ("if (some(memory.request)) { }", "error[unknown-name]: this module has no port called memory; memory is a bundle: write memory_request or memory_reply\n"),
    ("send(out);", "error[c-code]: an argument is missing: send(port, value); a port with several lanes has the lane after the port\n"),
    ("self->total += param(dept);", "error[unknown-name]: this module has no parameter called dept; did you mean depth?\n"),
    ("static int calls; calls++;", "error[static-variable]: `calls` is static, so no checkpoint has it and all instances share it: declare it in the module's state, or make it const\n"),
]


@pytest.mark.parametrize(("slip", "expected"), SLIPS)
def test_slips_in_c(lss, tmp_path, slip: str, expected: str) -> None:
    module = "import memory_types;\nmodule m {\n  parameter depth = 2 : int;\n  inport in : uint32;\n  optional inport memory : mem(32);\n"
    module += "  outport out : uint32;\n  state { uint32 total; uint8 table[4]; }\n  always in.ack, memory.request.ack;\n"
    module += "  handler show : -> out.data, out.enable;\n  handler reply : -> memory.reply.data, memory.reply.enable;\n  phase_end;\n}\n"
    code = "handler(show) { send(out, 1); enable(out, true); }\nhandler(reply) { send_nothing(memory_reply); }\nphase_end() { }\n"
    code = code.replace("send(out, 1);", slip) if slip.startswith("send") else code.replace("phase_end() { }", f"phase_end() {{ {slip} }}")
    assert expected in errors(lss, tmp_path, code, m_lss=module)


STATICS = """
static const int table[] = {1, 2};
static int f(int x) { return x; }
static __attribute__((unused)) inline int g(void) { return 2; }
// static int one;
static const char *const two = "static int three;";
"""


def test_statics_that_are_no_variables(lss, tmp_path) -> None:
    code = CODE + STATICS
    for name, text in {"m.lss": MODULE, "m.c": code, "top.lss": MACHINE}.items():
        (tmp_path / name).write_text(text)
    assert "static-variable" not in lss("check", "top.lss", ok=None).err
    (tmp_path / "m.c").write_text(code + "static unsigned count_of_all[2];\n")
    assert "`count_of_all` is static" in lss("check", "top.lss", ok=False).err


def test_keys_of_lanes_without(lss, tmp_path):
    code = "phase_end() { count(sum, data(in, lane(in, base))); }\n"
    found = errors(lss, tmp_path, code, "instance x : m;\ninstance s : source;\ns.out -> x.in;\n", m_lss=KEYED.replace("keyed repeated ", ""))
    assert "error[unknown-key]: no lane of in has the key base\n" in found
    assert "note: the lanes of in have no keys\n" in found


UNCONNECTED = """module m {
  optional keyed inport in : uint32;
  optional keyed outport out : uint32;
  stat uint64 sum "units";
  always in.ack, out.enable;
  phase_start -> out.data;
  phase_end;
}
"""
UNCONNECTED_CODE = """phase_start() { send(out, lane(out, left), 1); send_nothing(out, lane(out, right)); }
phase_end() {
  count(sum, 1 + data(in, lane(in, left)) + (some(in, lane(in, right)) != 0) + strlen(key(in, lane(in, left))));
  if (width(in)) count(sum, data(in, lane(in, left)) << lane(in, right));
  for (int i = 0; i < width(in); i++)
    switch (i) {
    case lane(in, left): count(sum, 10); break;
    case lane(in, right): count(sum, 20); break;
    }
}
"""
BOTH = """instance s[2] : source;
s[0].out -> x.in["left"] : uint32;
s[1].out -> x.in["right"];
instance k[2] : sink;
x.out["right"] -> k[0].in;
x.out["left"] -> k[1].in;
"""


@pytest.mark.parametrize(("connections", "each_cycle"), [("", 1), (BOTH, 36)], ids=["unconnected", "connected"])
@pytest.mark.parametrize("options", [[], ["--debug"]], ids=["release", "debug"])
def test_keys_of_an_unconnected_port_are_never_reached(build_sim, run_sim, tmp_path, connections, each_cycle, options):
    (tmp_path / "m.lss").write_text(UNCONNECTED)
    (tmp_path / "m.c").write_text("#include <string.h>\n" + UNCONNECTED_CODE)
    (tmp_path / "top.lss").write_text("clock c = 1 MHz;\ninstance x : m;\n" + connections)
    done = run_sim(build_sim(tmp_path / "top.lss", *options), "--cycles", 1, "--quiet")
    assert done.value("x", "sum") == each_cycle


@seldom
@pytest.mark.parametrize("wrong", sampled(["pair_request", "pair_request_16", "pair_request_t"], 3, 1))
@pytest.mark.parametrize(("use", "column"), [("{} p = {{0}}; self->value = p.value;", 3), ("self->value = (({} *)0)->value;", 19)])
def test_types_of_families_are_called_by_their_arguments(lss, tmp_path, wrong, use, column):
    """Whatever clang says of the wrong name, the right one is told."""
    code = CODE.replace("phase_end() {", "phase_end() {\n  " + use.format(wrong))
    module = "struct pair_request(int width = 64) { bits(width) value; }\n" + MODULE.replace("bool full;", "bool full; pair_request(32) pair; pair_request(8) small;")
    found = errors(lss, tmp_path, code, m_lss=module)
    said = next(line for line in found.splitlines() if "there is no type" in line)
    assert said.startswith(f"m.c:4:{column}: error[unknown-name]: there is no type `{wrong}` here; of this family there is `pair_request_")
    assert "`pair_request_32`" in said and "`pair_request_8`" in said
    assert "typeof_port(p) is the type of a port" in found
    lss("build", "top.lss", "-o", "sim", ok=False)
    (tmp_path / "m.c").write_text(code.replace(wrong, "pair_request_8"))
    lss("check", "top.lss")
    lss("export", "top.lss", "-o", "m.json")
    assert {t["name"]: t["c_name"] for t in json.loads((tmp_path / "m.json").read_text())["types"]}["pair_request(8)"] == "pair_request_8"


def test_the_reference_reports_what_types_are_called_in_c(lss, tmp_path):
    assert "In C: mem_request_WIDTH, by default mem_request_64; the type of a port p is typeof_port(p)." in lss("doc", "memory_types").out
    assert "In C: `mem_reply_WIDTH`" in lss("doc", "--markdown", "memory_types").out


STATISTIC = "m.c:{at}: error[statistic-read]: `seen` is a statistic: count(seen) and count(seen, n) add to it, report(seen, v) sets it, and in init, statistics and finish it is counted(seen)"


@pytest.mark.parametrize(
    "use",
    [
        "if (self->seen > 3) self->full = false;",
        "self->seen++;",
        "uint32_t *at = &self->seen; ++*at;",
        "if (self -> seen == 3) self->full = false;",
        "if (counted(seen) > 3) self->full = false;",
        "event(taken, counted(seen));",
        "if (counted( seen ) == 3) self->full = false;",
    ],
)
def test_statistics_decide_nothing(lss, tmp_path, use):
    code = CODE.replace("phase_end() {", "phase_end() {\n  " + use)
    module = MODULE.replace("  phase_start", '  stat uint32 seen "items"; /** Items. */\n  phase_start')
    found = errors(lss, tmp_path, code, m_lss=module)
    assert STATISTIC.format(at=f"4:{use.rindex('seen') + 3}") in found
    assert "m.lss:7:3: note: make it state if behaviour depends on it, and count it in a statistic as well" in found


@pytest.mark.parametrize("use", ["count(full);", "report(full, 1);", "count(sen);", "count(sen[0], 2);"])
def test_what_is_no_statistic_is_not_counted(lss, tmp_path, use):
    code = CODE.replace("phase_end() {", "phase_end() {\n  " + use)
    name, at = ("full", use.index("full")) if "full" in use else ("sen", use.index("sen"))
    assert f"m.c:4:{at + 3}: error[unknown-name]: m has no statistic `{name}`" in errors(lss, tmp_path, code)


def test_statistics_are_counted_and_reported(lss, build_sim, run_sim, tmp_path):
    """Adding and setting anywhere; in init, statistics and finish they are read, too."""
    uses = """
  count(seen);
  count(seen, 1 + 2 * data(in));
  if (self->full) count(by[0]);
  else count(by[self->full ? 1 : 0], 2);
  report(latest, 5 + (uint32_t)cycle());
"""
    code = CODE.replace("phase_end() {", "phase_end() {" + uses) + "finish() { if (counted(seen) > 3) counted(by[1]) = counted(seen); }\n"
    fields = 'stat uint32 seen "items"; /** Items. */\n  stat uint32 by[2] "items"; /** Items. */\n  gauge stat uint32 latest "cycles"; /** The last cycle. */'
    module = MODULE.replace("  phase_start", f"  {fields}\n  finish;\n  phase_start")
    for name, text in {"m.lss": module, "m.c": code}.items():
        (tmp_path / name).write_text(text)
    done = run_sim(build_sim(MACHINE), "--cycles", 10)
    seen = done.value("x", "seen")
    assert seen >= 10 and done.value("x", "by[1]") == seen
    assert done.value("x", "latest") == 14


def test_a_function_twice(lss, tmp_path):
    assert "m.c:7:1: error[c-code]: redefinition of 'phase_end'" in errors(lss, tmp_path, CODE + "phase_end() { }\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return z;", "top.lss:1:33: error[c-code]: use of undeclared identifier 'z'"),
        ("\n\n\treturn z;\n", "top.lss:3:9: error[c-code]: use of undeclared identifier 'z'"),
        ("return data(in);", "top.lss:1:33: error[c-code]: signals exist in"),
        ("x++;", "top.lss:1:31: error[c-code]: non-void function does not return a value"),
        ("if (x) { return 1;", "top.lss:1:1: error[c-code]: the C ends before all of its braces are closed"),
        ("return 1; }", "top.lss:1:38: error[c-code]: extraneous closing brace"),
    ],
)
def test_mistakes_in_a_userpoint(lss, tmp_path, code, expected):
    machine = MACHINE.replace(": m;", f": m {{ f = <<< {code} >>>; }};")
    assert expected in errors(lss, tmp_path, machine=machine)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("int n;", "it n;", "top.lss:6:46: error[c-code]: unknown type name 'it'"),
        ("self->n++;", "self->n += val;", "top.lss:6:79: error[c-code]: use of undeclared identifier 'val'"),
        ("self->n++;", "if (value) {", "top.lss:6:1: error[c-code]: the C ends before all of its braces are closed"),
        ("report_value(", "report_valu(", "error[unknown-name]: there is no function `report_valu`"),
    ],
)
def test_mistakes_in_a_collector(lss, tmp_path, right, wrong, expected):
    collector = 'collector c on "x" event taken { declare <<< int n; >>> record <<< self->n++; >>> '
    collector += 'report <<< report_value("n", self->n, "items", "taken"); >>> }\n'
    assert collector.count(right) == 1
    assert expected in errors(lss, tmp_path, machine=MACHINE + collector.replace(right, wrong))
