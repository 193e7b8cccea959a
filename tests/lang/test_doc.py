"""lss doc and lss list: what they show of a module, and what they say when there is none."""

import json
from pathlib import Path

import pytest

from tests.tree import library_modules

MODULE = """\
// Half of a bridge.
// It has two paragraphs.
//
// This is the second.

module bridge crossing {                  /** Joins two things. Slowly. */
  parameter depth = 4 : int;              /** entries, >= 1 */
  runtime parameter rate = 10 MHz : frequency;  /** how fast */
  parameter must : string;
  /** items that enter */
  inport in : 'a;
  optional outport out : int32 | bool;    /** items
                                              that leave */
  userpoint pick(uint64 wanted, int32 last[4]) -> int32 = <<< return 0; >>>;
                                          /** the winner */

  if (depth > 1) { event late(uint32 by); }  /** one was late */
  state { uint8 bytes[depth][2]; }        /** storage */
  stat uint64 moved "items";              /** Items moved. */
  handler take[i] : in[i].data, in[i+1..].ack -> in[i].ack;
  phase_end in;
}
"""

PARTS = """\
//First line at the margin.
//
//   an example
//   of two lines
// and text again.

enum color { red, green = 4 /* no documentation */, blue }  /** What it shines in. Now. */
struct point { uint8 x; uint8 y; };                 /** A place. */
struct size {
  uint8 width;                                       /** across */
  uint8 height;
};                                                   /** An extent. */
enum turn { left, right /* not this */ };            /** Which way. */
struct pair(int width, string kind = "a\\"b", bool flag = true) {
  bits(width) first[2][width];                     /** the first */
  uint8 second;
}
struct known(int width = 64, int rows = 2) { bits(width) field; };
/** A word. */
packed status : uint16 { turn way : 0..1; /** whither */ bool lit : 4; };
packed lanes(int n = 8) : bits(2 * n) { bits(n) low : 0..n - 1; bits(n) high : n; };
bundle link { forward data : uint8; backward reply : uint16[2]; };
type word = uint32;

module parts {
  parameter a = -1 : int in -5..5;
  state {                                            /** none of the parameter */
    uint8 kept;
  }
  parameter b = [1, 2] : int[] in 1..;
  parameter c = { x = 1, y = "two" } : struct in ..{ x = 3 };
  parameter d = a < 1 || b[0] <= 2 && !(a >= 3) : bool;
  parameter e = (a + 1) * (a - 2) / 3 % 4 & 5 | 6 ^ ~7 : int;
  parameter f = 1 << a >> 2 == 3 ? a : b != c ? d : -(a + 1) : any;
  parameter g = f(1, 2).field[3] : any;
  parameter h = <<< code >>> : any;
  parameter i = 1.5 : float;
  parameter j = 10 Mb/s : rate;
  runtime init parameter k = 3 : int;
  runtime parameter l = true : bool;
  keyed inport in : 'a;
  optional keyed repeated outport out : pair(3);
  /** Between. */

  inport third : link;
  userpoint code() -> bool = <<<
    int x;
    return x;
  >>>;
  userpoint other(uint8 n) -> bool;              /** which one */
  state { instant ready; counter uint64 held[2]; trace uint8 seen[4]; memory uint32 table[8][a]; } /** by kind */
  gauge stat uint32 level "items";               /** how many */
  stat uint64 hits[2][3];
  stat rate_of = hits[0] / cycles "per cycle";     /** How often. */
  stat share = level / 2;
  clock inner = 2 * 100 MHz;                     /** twice as fast */
  if (a > 1) { instance p : pipe; } else { instance q[a + 1] : pipe; }   /** one or more */
  for (n = 0; n < 3; n = n + 1) { instance r : pipe on inner; }
  for (n in [1, 2]) { instance s : queue { depth = n; }; }
  while (false) { instance t : pipe; }
  partial handler one : in[..2].data, third.reply, in[*].ack -> out.data, local_one;
  partial handler two[i] : in[i - 1].data -> out[i].data;
  local bool local_one;
  always third.reply;
  phase_start;
}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "bridge.lss").write_text(MODULE)
    return tmp_path


def test_text(here, lss, golden, root) -> None:
    golden(root / "tests/lang/doc/bridge.txt", lss("doc", "bridge").out)


def test_markdown(here, lss, golden, root) -> None:
    golden(root / "tests/lang/doc/bridge.md", lss("doc", "--markdown", "bridge").out)


@pytest.mark.parametrize("style", ["txt", "md", "json"])
def test_everything_that_a_file_declares(tmp_path: Path, lss, golden, root, style: str) -> None:
    (tmp_path / "parts.lss").write_text(PARTS)
    options = {"md": ["--markdown"], "json": ["--json"]}.get(style, [])
    text = "".join(lss("doc", *options, name).out for name in ("parts", "./parts.lss"))
    golden(root / f"tests/lang/doc/parts.{style}", text)
    assert style != "json" or [json.loads(line)["name"] for line in text.splitlines()][:2] == ["parts", "color"]


def test_files_of_the_library_are_called_by_their_place_in_it(lss) -> None:
    assert lss("doc", "pipe").out.splitlines()[0] == "pipe: leaf module, modules/generic/pipe.lss"


def test_types_of_a_file(lss) -> None:
    done = lss("doc", "memory_types")
    for part in (
        "mem_op: enum",
        "mem_request: struct (int width = 64)",
        "mem: bundle (int width = 64)",
        "backward mem_reply(width)",
    ):
        assert part in done.out


def test_a_file_by_its_path(here, lss) -> None:
    assert "bridge: clock-domain crossing, bridge.lss" in lss("doc", "./bridge.lss").out


def test_a_machine_has_what_files_that_extend_it_say(lss, root: Path) -> None:
    shown = lss("doc", root / "tests/lang/lib/big_machine.lss").out
    assert shown.startswith("big_machine: machine, tests/lang/lib/big_machine.lss\n\nA larger one.\n")
    rows = {words[0]: words[1:] for line in shown.splitlines() if len(words := line.split()) > 3}
    assert rows["depth"][:6] == ["int", "in", "1..64", "8", "fixed", "by"] and rows["rate"][:5] == ["int", "in", "1..9", "5", "when"]
    assert rows["rest"][:3] == ["k", "int", "twice"] and rows["kind"][:2] == ["module", "relay"]


def test_unknown_name_is_suggested(here, lss) -> None:
    done = lss("doc", "brigde", ok=False)
    assert done.err.startswith('lss doc: there is no module "brigde" on the search path; did you mean "bridge"')


def test_a_broken_file_is_diagnosed_at_its_place(here, lss) -> None:
    (here / "broken.lss").write_text("module broken {\n  inport : int32;\n}\n")
    done = lss("doc", "broken", ok=False)
    assert "broken.lss:2:" in done.err and "error[syntax]" in done.err


def test_list_shows_folders_in_order(here, lss) -> None:
    (here / "more" / "bridge").mkdir(parents=True)
    (here / "more" / "bridge" / "bridge.lss").write_text("module bridge { /** Shadowed. */ state { int32 x; } }")
    (here / "more" / "own").mkdir()
    (here / "more" / "own" / "own.lss").write_text("module own { /** Mine, of 1.5 kinds. And more. */ instance p : pipe; }")
    lines = dict(line.split(None, 1) for line in lss("list", "-I", here / "more").out.splitlines() if " " in line)
    assert lines["bridge"].split(None, 1) == ["crossing", "Joins two things."]
    assert lines["own"].split(None, 1) == ["hierarchical", "Mine, of 1.5 kinds."]
    assert lines["pipe"].startswith("leaf")


def test_every_module_of_the_library_is_documented(lss, root) -> None:
    for line in lss("list").out.splitlines():
        if line.startswith(" "):
            assert len(line.split(None, 2)) == 3, f"a word about the module is missing: {line}"


def test_the_library_is_listed_by_family(lss, root) -> None:
    lines = lss("list").out.splitlines()
    families = [line.removesuffix("/") for line in lines if not line.startswith(" ")]
    assert families == sorted(set(families)) and {"generic", "memory", "core/mips"} <= set(families)
    listed, family = set(), ""
    for line in lines:
        if line.startswith(" "):
            listed.add((family, line.split()[0]))
        else:
            family = line.removesuffix("/")
    assert listed == {(str(p.parent.relative_to(root / "modules")), p.stem) for p in library_modules(root)}


@pytest.mark.parametrize("arguments", [["doc"], ["list", "x"], ["doc", "--nonsense", "pipe"]])
def test_wrong_command_lines(lss, arguments: list[str]) -> None:
    assert lss(*arguments, ok=False).status == 2


def test_a_parameter_is_refused_with_what_shows_it(lss) -> None:
    done = lss("doc", "-D", "processors=2", "pipe", ok=False)
    assert done.status == 2 and done.err.count("\n") == 1
    assert "documentation shows declarations, which -D does not change (`lss export M.lss -D NAME=VALUE` shows" in done.err
