"""register_bank: kinds of access, rules by userpoint, order of simultaneous accesses, ports that show, drive and announce."""

import pytest

from tests.modules.harness import Bench, Memory, collect, happened, read_items, read_monitor
from tests.sample import seldom

TABLE = """
const TABLE = [
  { name = "plain", offset = 0x00, reset = 0x11, access = register_access.rw, doc = "" },
  { name = "fixed", offset = 0x04, reset = 0x22, access = register_access.ro, doc = "" },
  { name = "flags", offset = 0x08, reset = 0xf0, access = register_access.w1c, doc = "" },
  { name = "sets", offset = 0x0c, access = register_access.w1s, doc = "" },
  { name = "once", offset = 0x10, reset = 0x33, access = register_access.rc, doc = "" },
  { name = "count", offset = 0x14, access = register_access.counter, doc = "" },
  { name = "lock", offset = 0x18, access = register_access.semaphore, doc = "" },
  { name = "time", offset = 0x1c, access = register_access.timer, doc = "" },
  { name = "secret", offset = 0x20, access = register_access.wo, doc = "" },
  { name = "narrow", offset = 0x24, access = register_access.rw, mask = 0xff0, doc = "" },
  { name = "ruled", offset = 0x28, access = register_access.rw, doc = "" }
];
"""
RULES = """
read_value = <<< return offset == 0x28 ? stored + reg(0x00) : stored; >>>;
write_value = <<< return offset == 0x28 ? value & 0xff : value; >>>;
side_effect = <<< return offset == 0x28 && nth == 0 ? set_reg(0x14, value + 1) : 0; >>>;
"""


def bank(bench: Bench, lanes: int = 1, body: str = "", extra: str = "") -> Memory:
    joins = "".join(f"requester[{i}].memory -> bank.in[\"r{i}\"];\n" for i in range(lanes))
    text = f"import register_types;\n{TABLE}instance bank : register_bank {{ registers = TABLE; size = 64 B; {RULES} {body} }};\n{joins}{extra}{collect('bank', 'access(lane, offset, value, write)')}"
    return Memory(bench, text, lanes)


def values(bench: Bench, script: list[str], cycles: int = 40) -> list[int]:
    [replies] = bank(bench).play([script], cycles, outstanding=8)
    assert not any(reply.error for reply in replies)
    return [reply.data for reply in replies]


def test_every_kind_of_access(bench: Bench) -> None:
    assert values(bench, ["0 read 4 0x00", "1 write 4 0x00 0x99", "2 read 4 0x00"]) == [0x11, 0, 0x99]
    assert values(bench, ["0 write 4 0x04 0x99", "1 read 4 0x04"]) == [0, 0x22]
    assert values(bench, ["0 write 4 0x08 0x30", "1 read 4 0x08"]) == [0, 0xC0]
    assert values(bench, ["0 write 4 0x0c 0x30", "1 write 4 0x0c 0x01", "2 read 4 0x0c"]) == [0, 0, 0x31]
    assert values(bench, ["0 read 4 0x10", "1 read 4 0x10"]) == [0x33, 0]
    assert values(bench, ["0 write 4 0x20 0x30", "1 read 4 0x20"]) == [0, 0]
    assert values(bench, ["0 write 4 0x24 0x1234", "1 read 4 0x24"]) == [0, 0x230]


@pytest.mark.parametrize("big_endian", [True, False])
def test_parts_of_registers(bench: Bench, big_endian: bool) -> None:
    """A part that is written leaves the rest: a byte of flags that are reset or set by ones changes no other bit."""
    machine = bank(bench, body="" if big_endian else "big_endian = false;")

    def after(*script: str) -> list[int]:
        lines = [f"{k} {op} {size} {int(at, 0) + (4 - int(size.strip('-')) - int(low) if big_endian else int(low))} {value}" for k, (op, size, at, low, value) in enumerate(map(str.split, script))]
        [replies] = machine.play([lines], 40, outstanding=8)
        return [a.data for a in replies if not a.error]

    assert after("write 2 0x00 2 0xabcd", "read 4 0x00 0 0", "read 1 0x00 3 0", "read -2 0x00 2 0") == [0, 0xABCD0011, 0xAB, 0xFFFFABCD]
    assert after("write 1 0x08 0 0x30", "write 1 0x08 1 0xff", "read 4 0x08 0 0") == [0, 0, 0xC0]
    assert after("write 1 0x0c 0 1", "write 1 0x0c 1 1", "read 4 0x0c 0 0") == [0, 0, 0x101]
    assert after("write 4 0x14 0 0x109", "write 1 0x14 0 5", "read 4 0x14 0 0") == [0, 0, 0x105]


def test_what_is_no_access_of_a_register(bench: Bench) -> None:
    """Three bytes, bytes of two registers and read-modify-writes are errors and change nothing; a barrier is fine."""
    machine = bank(bench)
    script = ["0 write 3 0 0", "1 write 4 1 0", "2 write 2 3 0", "3 fetch_add 4 0 1", "4 barrier 4 1", "5 write 2 0 0x55", "6 read 4 0"]
    [replies] = machine.play([script], 40, outstanding=8)
    assert [a.error for a in replies] == [True] * 4 + [False] * 3 and replies[-1].data == 0x550011
    assert machine.last.counted("bank") == {"reads": 1, "writes": 1}


@seldom
def test_a_write_has_eight_effects_at_most(bench: Bench) -> None:
    """A rule that always has one more is not asked for a ninth."""
    registers = ", ".join(f'{{ name = "r{i}", offset = {4 * i}, access = register_access.rw, doc = "" }}' for i in range(12))
    text = f"""import register_types;  const ALL = [{registers}];
        instance bank : register_bank {{ registers = ALL; size = 64 B; side_effect = <<< return set_reg(4 * (nth + 1), 7); >>>; }};
        requester[0].memory -> bank.in["r0"];\n"""
    [replies] = Memory(bench, text).play([["0 write 4 0 1", *(f"2 read 4 {4 * i}" for i in range(12))]], 40, outstanding=16)
    assert [reply.data for reply in replies[1:]] == [1] + 8 * [7] + 3 * [0]


def test_each_access_of_a_register_is_an_event(bench: Bench) -> None:
    """With the value that was asked to be written, or that was read; and what is not in the table is none."""
    machine = bank(bench, 2)
    machine.play([["0 write 4 0x24 0x1234", "3 read 4 0x24", "5 read 4 0x30"], ["1 read 4 0x04"]], 20)
    assert machine.last.counted("bank") == {"reads": 2, "writes": 1, "unlisted": 1}
    assert [event[1:] for event in happened(machine.last, "access")] == [(0, 0x24, 0x1234, 1), (1, 0x04, 0x22, 0), (0, 0x24, 0x230, 0)]


def test_what_is_not_in_the_table_reads_zero_and_addresses_wrap(bench: Bench) -> None:
    assert values(bench, ["0 write 4 0x30 5", "1 read 4 0x30", "2 read 4 0x40"]) == [0, 0, 0x11]


def test_requests_for_what_is_not_in_the_table_are_reported_at_the_end(bench: Bench) -> None:
    """Which offset, how often, and who was first, and where that one stood if it is known; nothing when all are registers."""
    machine = bank(bench, 2, body="position = <<< return lane == 1 ? reg(0x00) : 0; >>>;")
    machine.play([["3 write 1 0x31 5", "4 read 4 0x2c"], ["1 read 4 0x30", "2 read 4 0x2c"]], 40, outstanding=8)
    [told] = [line for line in machine.last.err.splitlines() if "no register" in line]
    assert "0x2c 2 times, first by r1 near pc 0x11; 0x30 2 times, first by r1 near pc 0x11" in told
    assert machine.last.stat("bank", "unlisted") == 4
    machine.play([["3 write 4 0x30 5", "4 read 4 0x00"], []], 40, outstanding=8)
    [told] = [line for line in machine.last.err.splitlines() if "no register" in line]
    assert told.count("0x") == 1 and "0x30 1 time, first by r0" in told
    machine.play([["4 read 4 0x00"], []], 40, outstanding=8)
    assert "no register" not in machine.last.err and machine.last.stat("bank", "unlisted") == 0


def test_writes_to_what_cannot_be_written_are_reported_at_the_end(bench: Bench) -> None:
    """Unless they have an effect on another register."""
    machine = bank(bench, 2)
    machine.play([["3 write 4 0x04 5", "4 read 4 0x04"], ["1 write 4 0x04 7"]], 40, outstanding=8)
    [told] = [line for line in machine.last.err.splitlines() if "cannot be written" in line]
    assert "0x4 2 times, first by r1" in told and "no register" not in machine.last.err
    assert machine.last.stat("bank", "read_only") == 2 == machine.last.stat("bank", "writes")


def test_parts_of_a_register(bench: Bench) -> None:
    """Big-endian: the most significant byte is at the lowest address."""
    script = ["0 write 4 0x00 0x11223380", "1 read 1 0x00", "2 read 2 0x02", "3 read -1 0x03", "4 write 1 0x01 0xee", "5 read 4 0x00"]
    assert values(bench, script) == [0, 0x11, 0x3380, 0xFFFFFF80, 0, 0x11EE3380]


def test_an_access_beyond_a_word_is_an_error(bench: Bench) -> None:
    [replies] = bank(bench).play([["0 read 8 0x00", "5 write 4 0x02 1", "10 swap 4 0x00 1"]], 20)
    assert [reply.error for reply in replies] == [True, True, True]


def test_rules_see_other_registers_and_act_on_them(bench: Bench) -> None:
    assert values(bench, ["0 write 4 0x28 0x1234", "1 read 4 0x28", "2 read 4 0x14"]) == [0, 0x34 + 0x11, 0x1235]


def test_a_semaphore_has_one_holder(bench: Bench) -> None:
    """A write takes, gives back or does nothing; simultaneous takers: the lower lane wins."""
    first = ["0 write 4 0x18 1", "2 read 4 0x18", "6 write 4 0x18 1", "8 read 4 0x18"]
    second = ["0 write 4 0x18 1", "2 read 4 0x18", "4 write 4 0x18 1", "7 write 4 0x18 1", "8 read 4 0x18"]
    one, two = bank(bench, 2).play([first, second], 20, outstanding=8)
    assert [a.data for a in one] == [0, 1, 0, 0]
    assert [a.data for a in two] == [0, 0, 0, 0, 1]


def test_simultaneous_writes_happen_in_the_order_of_the_lanes(bench: Bench) -> None:
    one, two = bank(bench, 2).play([["0 write 4 0x00 1", "3 read 4 0x00"], ["0 write 4 0x00 2"]], 20, outstanding=8)
    assert one[1].data == 2


def test_the_timer_counts_from_what_was_written(bench: Bench) -> None:
    """At the default clock of 1 GHz, a microsecond is 1,000 cycles."""
    script = ["0 read 4 0x1c", "1500 read 4 0x1c", "1600 write 4 0x1c 0xffffffff", "2700 read 4 0x1c"]
    assert values(bench, script, 3000) == [0, 1, 0, 0]


def test_more_accesses_where_no_register_is_than_one_line_takes(bench: Bench) -> None:
    text = "instance bank : register_bank { registers = []; };\nrequester[0].memory -> bank.in[\"r0\"];\n"
    machine = Memory(bench, text, 1)
    machine.play([[f"{k} read 4 {4 * k:#x}" for k in range(200)]], 300, outstanding=8)
    [told] = [line for line in machine.last.err.splitlines() if "no register" in line]
    assert "0x4 1 time, first by r0; 0x8 1 time" in told and "; and others" in told


@seldom
def test_many_timers(bench: Bench) -> None:
    """Each counts from its own reset value, or from what was written to it."""
    rows = ", ".join(f'{{ name = "t{k}", offset = {4 * k}, reset = {k}, access = register_access.timer, doc = "" }}' for k in range(6))
    joins = 'requester[0].memory -> bank.in["r0"];\n'
    text = f"import register_types;\ninstance bank : register_bank {{ registers = [{rows}]; timer_tick = 10 ns; }};\n{joins}"
    script = ["5 write 4 0x8 100", *(f"{20 + k} read 4 {4 * k:#x}" for k in range(6)), *(f"{at} read 4 4" for at in (29, 30, 39, 40, 69, 70))]
    [replies] = Memory(bench, text, 1).play([script], 90, outstanding=8)
    assert [reply.data for reply in replies] == [0, 2, 3, 102, 5, 6, 7, 3, 4, 4, 5, 7, 8]


@seldom
def test_latency(bench: Bench) -> None:
    for latency in (1, 3):
        [replies] = bank(bench, body=f"latency = {latency};").play([["2 read 4 0", "3 read 4 4"]], 20, outstanding=8)
        assert [a.cycle for a in replies] == [2 + latency, 3 + latency]


def test_ports_drive_show_and_signal(bench: Bench) -> None:
    extra = """
    instance drive[5] : source;
    instance watch[2] : monitor;
    instance end[2] : sink;
    instance heard : sink;
    drive[0].out -> bank.hardware_write["plain"] : uint32;
    drive[1].out -> bank.hardware_write["flags"];
    drive[2].out -> bank.hardware_write["count"];
    drive[3].out -> bank.hardware_write["once"];
    drive[4].out -> bank.hardware_write["ruled"];
    bank.value["plain"] -> watch[0].in;
    bank.value["ruled"] -> watch[1].in;
    watch[*].out -> end[*].in;
    bank.write_strobe["flags"] -> heard.in;
    """
    machine = bank(bench, extra=extra)
    settings = {f"drive[{i}].script": f"drive{i}.txt" for i in range(5)} | {"watch[0].record": "shown0", "watch[1].record": "shown1", "heard.record": "heard"}
    files = {"drive0.txt": "3 0x77\n", "drive1.txt": "3 0x05\n", "drive2.txt": "3 4\n4 6\n", "drive3.txt": "3 0x44\n", "drive4.txt": "9 0x30\n"}
    script = ["3 write 4 0x00 0x66", "6 read 4 0x00", "7 read 4 0x08", "8 read 4 0x14", "9 write 4 0x08 0xf1", "10 read 4 0x10", "10 read 4 0x14"]
    [replies] = machine.play([script], 20, settings, outstanding=8, files=files)
    assert [a.data for a in replies[1:4]] == [0x77, 0xF5, 10]
    assert [a.data for a in replies[5:]] == [0x77, 0x31], "bits that were set, and the effect of a register that hardware drives"
    assert read_items(machine.last.directory / "heard") == [(10, str(0xF1))]
    shown = [int(seen.value, 0) for seen in read_monitor(machine.last.directory / "shown0")]
    assert shown[:4] == [0x11] * 4 and shown[4:6] == [0x77] * 2
    ruled = [int(seen.value, 0) for seen in read_monitor(machine.last.directory / "shown1")]
    assert ruled[3] == 0x11 and ruled[5] == 0x77


@seldom
def test_live_values_are_looked_at_by_who_reads(bench: Bench) -> None:
    """What hardware shows in the cycle of a request is in its word, for that register and for the rules of others."""
    extra = "instance hand : source;\nhand.out -> bank.hardware_read[\"plain\"] : uint32;\n"
    script = ["2 read 4 0x00", "3 read 4 0x00", "4 read 4 0x00", "5 read 4 0x28", "6 read 4 0x00"]
    machine = bank(bench, extra=extra)
    [replies] = machine.play([script], 20, {"hand.script": "hand.txt"}, outstanding=8, files={"hand.txt": "3 0x77\n5 0x78\n"})
    assert [a.data for a in replies] == [0x11, 0x77, 0x77, 0x78, 0x78]


@seldom
def test_hidden_words_are_for_the_rules_only(bench: Bench) -> None:
    """Who reads one gets 0, and a write does nothing; what hardware shows in it is there for the rules of registers."""
    table = """registers = [{ name = "seen", offset = 0 }, { name = "behind", offset = 4, access = register_access.hidden }]; size = 8 B;
      read_value = <<< return offset == 0 ? reg(4) : stored; >>>;"""
    text = f"""import register_types;
      instance bank : register_bank {{ {table} }};
      instance hand : source;
      hand.out -> bank.hardware_read["behind"] : uint32;
      requester[0].memory -> bank.in["reader"];
      """
    script = ["2 read 4 0", "4 read 4 0", "5 read 4 4", "6 write 4 4 9", "7 read 4 0"]
    [replies] = Memory(bench, text, 1).play([script], 20, {"hand.script": "hand.txt"}, outstanding=8, files={"hand.txt": "4 0x77\n"})
    assert [replies[i].data for i in (0, 1, 2, 4)] == [0, 0x77, 0, 0x77]


@seldom
def test_a_write_may_reset_the_bank(bench: Bench) -> None:
    """Reset values everywhere, what is announced is announced, and the timer starts anew; bits that the rule does not mean reset nothing."""
    body = "resets = <<< return offset == 0x28 && (value & 8) != 0; >>>;"
    extra = "instance heard[2] : sink;\nbank.write_strobe[\"plain\"] -> heard[0].in;\nbank.write_strobe[\"flags\"] -> heard[1].in;\n"
    machine = bank(bench, body=body, extra=extra)
    before = ["0 write 4 0x00 5", "1 write 4 0x08 0xff", "2 write 4 0x24 0xff0", "3 write 4 0x18 1", "4 write 4 0x1c 1000", "5 write 4 0x28 7"]
    after = ["10 read 4 0x00", "10 read 4 0x1c", "20 write 4 0x28 8", *(f"30 read 4 {offset:#x}" for offset in (0x00, 0x08, 0x24, 0x18, 0x1C, 0x28))]
    settings = {"heard[0].record": "heard0", "heard[1].record": "heard1"}
    [replies] = machine.play([[*before, *after]], 60, settings, outstanding=8)
    assert [a.data for a in replies[6:8]] == [5, 1000] and [a.data for a in replies[9:]] == [0x11, 0xF0, 0, 0, 0, 0x11]
    told = [read_items(machine.last.directory / f"heard{i}")[-1] for i in range(2)]
    assert told == [(21, str(0x11)), (21, str(0xF0))]


TABLES = [
    ([("odd", 6)], "", "register odd is outside the bank or between two words"),
    ([("a", 0), ("b", 4), ("c", 0)], "", "registers a and c have the same offset"),
    ([("a", 0), ("a", 4)], "", "two registers have the name a"),
]


@pytest.mark.parametrize(("rows", "body", "words"), TABLES)
def test_a_table_that_makes_no_sense_is_refused(bench: Bench, rows: list, body: str, words: str) -> None:
    table = ", ".join(f'{{ name = "{name}", offset = {offset}, access = register_access.rw, doc = "" }}' for name, offset in rows)
    text = "import memory_types;\nimport register_types;\ninstance r : memory_source;\n"
    told = bench.refuse(f"{text}instance bank : register_bank {{ registers = [{table}]; {body} }};\nr.memory -> bank.in[\"r\"];\n")
    assert words in told


KEYS = [
    ('bank.value["aa"] -> k.in;', "error[unknown-key]: `bank` has no register `aa`; did you mean `a`?"),
    ('bank.value -> k.in;', "error[key-missing]: the lanes of `value` are named by keys"),
    ('bank.write_strobe["a"] -> k.in; bank.write_strobe["a"] -> l.in;', "error[duplicate-key]: a lane of `write_strobe` has the key \"a\" already"),
    ('bank.value["a"] -> k.in; bank.value -> l.in;', "error[mixed-lanes]: lanes of `bank.value` are both appended and named by key"),
    ('s.out -> bank.hardware_write["b"];', "error[unknown-key]: `bank` has no register `b`"),
    ('s.out -> bank.hardware_read["b"];', "error[unknown-key]: `bank` has no register `b`"),
]


REQUESTERS = [
    ("r.memory -> bank.in;", "error[key-missing]: the lanes of `in` are named by keys"),
    ('r.memory -> bank.in["a"]; q.memory -> bank.in["a"];', 'error[duplicate-key]: a lane of `in` has the key "a" already'),
]


@pytest.mark.parametrize(("line", "words"), REQUESTERS)
def test_requesters_have_names(bench: Bench, line: str, words: str) -> None:
    """Userpoints test which lane a request comes from."""
    text = "import register_types;\ninstance r : memory_source;\ninstance q : memory_source;\n"
    assert words in bench.refuse(f'{text}instance bank : register_bank {{ registers = [{{ name = "a", offset = 0 }}]; }};\n{line}\n')


@pytest.mark.parametrize(("line", "words"), KEYS)
def test_lanes_name_registers(bench: Bench, line: str, words: str) -> None:
    text = "import register_types;\ninstance r : memory_source;\ninstance k : sink;\ninstance l : sink;\ninstance s : source;\n"
    assert words in bench.refuse(f'{text}instance bank : register_bank {{ registers = [{{ name = "a", offset = 0 }}]; }};\nr.memory -> bank.in[\"r\"];\n{line}\n')


def test_only_bits_of_registers_have_names(bench: Bench) -> None:
    text = "import register_types;\ninstance r : memory_source;\nconst T = [{ name = \"a\", offset = 0 }];\n"
    text += 'instance bank : register_bank { registers = T; };\nr.memory -> bank.in["r"];\n'
    told = bench.refuse(text + 'debug memory { 0 .. 3 = bank.file : with_fields(T, [{ register = "b", fields = [{ name = "x", mask = 1 }] }]); }\n')
    assert "no register has the name b" in told
