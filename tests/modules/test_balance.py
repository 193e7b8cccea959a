"""What modules say of their items and statistics is compared: in debug builds what they conserve, in all builds identities."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

# Holds up to four items.  In cycles of `fault` it does what no module should.
BUCKET = """module bucket {
  runtime parameter fault = "" : string;
  inport in : 'a;
  outport out : 'a;
  stat uint64 refused "items";
  stat uint64 entered "items";
  state { 'a slot[4]; uint32 held; uint32 cycle; }
  SAID
  phase_start -> out.data;
  handler advance : -> in.ack;
  phase_end;
}
"""
BUCKET_C = """#include <string.h>
static bool has(self_t *self, const char *word) { return !strcmp(param(fault), word) && self->cycle == 60; }
phase_start() { send_if(out, self->held, self->slot[0]); }
handler(advance) { accept(in, self->held < 4); }
phase_end() {
  self->cycle++;
  if (transferred(out) && !has(self, "repeat")) {
    self->held--;
    for (int i = 0; i < 3; i++) self->slot[i] = self->slot[i + 1];
  }
  if (!transferred(in)) return;
  count(entered);
  if (has(self, "lose")) return;
  if (has(self, "count")) count(refused);
  else self->slot[self->held++] = has(self, "alter") ? 0 : data(in);
}
"""
MACHINE = """import bucket;
instance a : source { count = 400; };
instance b : bucket;
instance c : sink { ready = 0.5; };
a.out -> b.in : uint32;
b.out -> c.in;
"""
LOST = "error: b: 1 item in that neither left nor is held: "
ACCOUNT = "conserves in, out, held held, dropped refused;"


@pytest.fixture
def bucket(build_sim, tmp_path: Path) -> Callable[..., Path]:
    def build(said: str, *options: str) -> Path:
        (tmp_path / "bucket.lss").write_text(BUCKET.replace("SAID", said))
        (tmp_path / "bucket.c").write_text(BUCKET_C)
        return build_sim(MACHINE, "-I", tmp_path, *options)

    return build


def test_items_that_vanish_are_found(bucket, run_sim, tmp_path: Path) -> None:
    simulator = bucket(ACCOUNT, "--debug")
    assert run_sim(simulator, "--cycles", 1000).err.count("error") == 0
    assert "error" not in run_sim(simulator, "--cycles", 1000, "--set", "b.fault=count").err

    lost = run_sim(simulator, "--cycles", 1000, "--set", "b.fault=lose", ok=False)
    assert LOST + "400 in, 399 out (conserves in, out, held held, dropped refused) (at 1000 ns)" in lost.err
    assert lost.stats["run"]["ended"].startswith("error: b: 1 item in")
    twice = run_sim(simulator, "--cycles", 1000, "--set", "b.fault=repeat", ok=False)
    assert "b: an item left in the cycle before that had not come in, or had left already" in twice.err
    altered = run_sim(simulator, "--cycles", 1000, "--set", "b.fault=alter", ok=False)
    assert "b: an item left in the cycle before" in altered.err and "cycle 6" in altered.err

    saved = tmp_path / "saved"
    early = run_sim(simulator, "--cycles", 1000, "--set", "b.fault=lose", "--checkpoint-every", 64, "--checkpoint", saved, ok=False)
    assert LOST in early.err and "(at 64 ns)" in early.err and not saved.exists()


def test_a_restored_run_counts_from_where_it_begins(bucket, run_sim, tmp_path: Path) -> None:
    simulator = bucket(ACCOUNT, "--debug")
    run_sim(simulator, "--cycles", 50, "--checkpoint", tmp_path / "saved")
    assert "error" not in run_sim(simulator, "--restore", tmp_path / "saved", "--cycles", 1000).err
    lost = run_sim(simulator, "--restore", tmp_path / "saved", "--cycles", 1000, "--set", "b.fault=lose", ok=False)
    assert LOST in lost.err


def test_a_leak_of_a_module_that_says_nothing_is_noted(build_sim, run_sim, tmp_path: Path) -> None:
    (tmp_path / "bucket.lss").write_text(BUCKET.replace("SAID", ""))
    (tmp_path / "bucket.c").write_text(BUCKET_C.replace("self->held < 4", "true").replace('has(self, "lose")', "self->held == 4"))
    done = run_sim(build_sim(MACHINE, "-I", tmp_path, "--debug"), "--cycles", 1000)
    assert " items in that neither left nor are held: 400 in, " in done.err and "note: b: " in done.err


def test_an_identity_ends_a_release_build_with_an_error(bucket, run_sim, tmp_path: Path) -> None:
    simulator = bucket("identity entered == refused;  identity entered >= held;  /** Never both. */ identity held * refused < 5;")
    done = run_sim(simulator, "--cycles", 100, "--set", "b.fault=count", ok=False)
    assert "error: b: the identity entered == refused does not hold: " in done.err and done.err.count("error") == 1
    assert done.stats["run"]["ended"].startswith("error: b: the identity") and done.stats["statistics"]


def test_identities_of_several_instances_and_of_ports(build_sim, run_sim, lss, tmp_path: Path) -> None:
    machine = """instance a[2] : source { count = 100; };
    instance p[2] : pipe { depth = 3; };
    instance q : queue { depth = 2; };
    for (i in [0, 1]) { a[i].out -> p[i].in : uint32; }
    instance t[2] : sink;
    p[0].out -> q.in;  q.out -> t[0].in;  p[1].out -> t[1].in;
    identity a[*].items == t[*].items + p[*].count + q.count;
    identity a[1].items == t[1].items + (p[1].count > 0) * p[1].count + 0 * cycles;
    """
    assert "error" not in run_sim(build_sim(machine, "--debug"), "--cycles", 77).err
    wrong = machine.replace("+ q.count", "")
    text = run_sim(build_sim(wrong, "-O0"), "--cycles", 77, ok=False).err
    assert re.search(r"error: the identity a\[\*\]\.items == .* does not hold: 154 is not 15\d \(at 77 ns\)", text)
    (tmp_path / "machine.lss").write_text(wrong)
    lss("export", tmp_path / "machine.lss", "-o", tmp_path / "machine.json")
    said = json.loads((tmp_path / "machine.json").read_text())["balances"]
    assert [one["text"].split(" ==")[0] for one in said if one["kind"] == "identity" and not one["path"]] == ["a[*].items", "a[1].items"]


# Groups of one or two words, which a module takes apart.
SAYING_TYPES = """packed marks : uint8 { bool odd : 0; bits(3) kind : 1..3; };
struct group { uint8 count; marks marks; uint8 word[3]; };
"""
GROUPS = """import saying_types;
module groups { outport out : group; state { uint32 sent; } makes out; always out.enable; phase_start -> out.data; phase_end; }
"""
GROUPS_C = """phase_start() {
  const bool two = self->sent % 2;
  send(out, ((group){.count = 1 + two, .marks = self->sent % 3 ? 10 : 11, .word = {7, two ? 7 : 0}}));
}
phase_end() { self->sent += transferred(out); }
"""
WORDS = """import saying_types;
module words {
  runtime parameter fault = "" : string;
  inport in : group;
  outport out : uint8;
  optional outport spare : uint8;
  event entered(uint32 many);
  event late(uint32 many);
  stat uint64 lost "words";
  state { uint8 word[32]; uint32 held; uint64 set; uint32 cycle; marks last; }
  makes out, spare;
  consumes in;
  identity in.count == out + held + lost;
  identity in.count == entered.many;
  identity in == entered;
  identity sum(out) == 7 * out;
  identity in.word[*] == 7 * in.count;
  identity (in.count == 2) * 2 + (in.count != 2) == in.count;
  identity in.marks.kind == 5 * in;
  identity in.marks.odd <= in;
  identity ones(set) == held;
  identity last.kind <= 5;
  identity sum(spare) == 0;
  identity in <= late.many + 1;
  always in.ack, out.enable, spare.enable;
  phase_start -> out.data, spare.data;
  phase_end;
}
"""
WORDS_C = """#include <string.h>
static bool has(self_t *self, const char *word) { return !strcmp(param(fault), word) && self->cycle == 40; }
phase_start() { send_if(out, self->held > 0, self->word[0]); send_nothing(spare); }
phase_end() {
  event(late, self->cycle++ > 0);
  if (transferred(out) && !has(self, "repeat")) {
    self->held--;
    memmove(self->word, self->word + 1, 31);
  }
  if (some(in)) {
    event(entered, has(self, "event") ? 9 : data(in).count);
    for (int i = 0; i < data(in).count; i++) {
      if (self->held == 32) count(lost);
      else if (!has(self, "lose")) self->word[self->held++] = data(in).word[i];
    }
    self->last = has(self, "last") ? 15 : data(in).marks;
  }
  self->set = has(self, "set") ? 0 : (UINT64_C(1) << self->held) - 1;
}
"""
SAYING = """import words;
instance a : groups;
instance b : words;
instance c : sink;
a.out -> b.in;
b.out -> c.in : uint8;
"""


def test_totals_of_what_items_say_and_of_events(build_sim, run_sim, tmp_path: Path) -> None:
    texts = {"saying_types.lss": SAYING_TYPES, "groups.lss": GROUPS, "groups.c": GROUPS_C, "words.lss": WORDS, "words.c": WORDS_C}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    simulator = build_sim(SAYING, "-I", tmp_path, "--debug")
    saved = tmp_path / "saved"
    assert "error" not in run_sim(simulator, "--cycles", 200, "--checkpoint", saved).err
    assert "error" not in run_sim(simulator, "--restore", saved, "--cycles", 300).err
    wrong = {
        "lose": "in.count == ((out + held) + lost) does not hold: 60 is not 58",
        "repeat": "in.count == ((out + held) + lost) does not hold: 60 is not 61",
        "event": "in.count == entered.many does not hold: 60 is not 67",
        "last": "last.kind <= 5 does not hold: 7 is more than 5",
        "set": "ones(set) == held does not hold: 0 is not ",
    }
    for fault, said in wrong.items():
        done = run_sim(simulator, "--cycles", 40, "--set", f"b.fault={fault}", ok=False)
        assert f"the identity {said}" in done.err
    release = build_sim(SAYING, "-I", tmp_path, "-O0")
    assert "error" not in run_sim(release, "--cycles", 40, "--set", "b.fault=lose").err
