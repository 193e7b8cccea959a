"""lss fmt: formatting changes layout only, does so once, and --check tells whether it would."""

import re
from pathlib import Path

import pytest

from tests.tree import found

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    p
    for folder in ("modules", "examples", "tests/lang/lib", "tests/lang/good", "tests/lang/bad", "tests/bench")
    for p in found(ROOT / folder, "*.lss")
)

UGLY = """

parameter cpus=2:int;  // how many

clock   c  = 88   MHz;
for(i=0;i<cpus;i=i+1){

  p[i].out->c.in;   // one lane
  a.out[ * ]->b.in[ i+1.. ];
  a.out->b.in,c.in,
d.in:uint32;

}
instance t : tuned { rate=1 Gb/s; shift = -1 ;
list = [1,
2]; };
var n=f(/*one*/1/*two*/,2)/*three*/;


"""

PRETTY = """parameter cpus = 2 : int;                       // how many

clock c = 88 MHz;
for (i = 0; i < cpus; i = i + 1) {
  p[i].out -> c.in;                             // one lane
  a.out[*] -> b.in[i + 1..];
  a.out -> b.in, c.in,
      d.in : uint32;
}
instance t : tuned { rate = 1 Gb/s; shift = -1;
  list = [1,
    2]; };
var n = f( /*one*/1 /*two*/, 2) /*three*/;
"""


TOKENS = """function f(a, b) { return -a + !b; }
if (a) { x = (1); } else {
  y = [1];
}
while (a && b || c) {
  z = a ? -1 : -2;
}
for (i in [1, 2]) q[i].in -> k[-1].in;
var s = "a \\" ;b" + "c";
var t = 'a;
var u = ~a << 2 >> -3 <= 4 >= 5 == 6 != 7;
debug (a) { pc = b.c; }
collector x on "a" event e { record <<< a  b >>> }
shared collector y on "a" event e {
  declare <<< int c; >>>
  record <<< a  b >>>
  record on "d.*" event stalled <<<
       a  c
 >>>
}
c.d = <<<
  kept   as it is
>>>;
handler h : in.data, other.data -> in.ack,
    out.data;
f(
  1,
  2
);
var l = [
  1
];
var m =
    1 +
    2;
var n =
// why
    3;
"""


def squeezed(text: str) -> str:
    """The text without any white space or byte order mark: what formatting must not change."""
    return re.sub(r"\s+", "", text.removeprefix("\ufeff"))


def read(path: Path) -> str:
    return path.read_text(errors="surrogateescape")


def test_example(lss, tmp_path):
    file = tmp_path / "ugly.lss"
    file.write_text(UGLY)
    assert lss("fmt", "--check", file, ok=False).out == f"{file}\n"
    assert file.read_text() == UGLY, "--check must not write"
    lss("fmt", file)
    assert file.read_text() == PRETTY
    assert lss("fmt", "--check", file).out == ""


def test_all_sources_survive(lss, tmp_path):
    """Every netlist of the tree, good and bad: only white space changes, and a second time nothing does."""
    assert FILES
    copies = []
    for number, path in enumerate(FILES):
        if b"\0" in path.read_bytes():
            continue  # text ends at a NUL byte
        copy = tmp_path / f"{number}.lss"
        copy.write_bytes(path.read_bytes())
        copies.append((path, copy))
    lss("fmt", *[copy for _, copy in copies])
    once = [read(copy) for _, copy in copies]
    for (path, _), text in zip(copies, once, strict=True):
        assert squeezed(text) == squeezed(read(path)), path
    lss("fmt", *[copy for _, copy in copies])
    for (path, copy), text in zip(copies, once, strict=True):
        assert read(copy) == text, f"{path}: the second formatting changed something"


def test_a_slash_belongs_to_a_unit_where_both_are_one_piece(lss, tmp_path):
    """As the lexer sees it, so that formatting neither makes a division of a rate nor the other way round."""
    file = tmp_path / "rates.lss"
    file.write_text("var a = 1Gb/s;\nvar b = 2.5 kb/s+1e3B/s;\nvar c = 4 B / s;\nvar d = 4B/n;\nvar e = 0x1b/s;\n")
    lss("fmt", file)
    assert file.read_text() == (
        "var a = 1Gb/s;\nvar b = 2.5 kb/s + 1e3B/s;\nvar c = 4 B / s;\nvar d = 4B / n;\nvar e = 0x1b / s;\n"
    )


def test_spaces_of_each_kind_of_token(lss, tmp_path):
    file = tmp_path / "tokens.lss"
    file.write_text(
        "\tfunction f(a,b){return-a+!b;}\r\n"
        "if(a){ x=(1); }else{\ny = [ 1 ] ;\n}\nwhile(a&&b||c){\n  z=a?-1: - 2 ;\n\n\n}\n"
        "for(i in[1,2])q[i].in->k[ - 1].in;\n"
        'var s="a \\" ;b"+"c";\nvar t=\'a;\nvar u=~a<<2>>-3<=4>=5==6!=7;\n'
        "debug(a){pc=b.c;}\ncollector x on\"a\"event e{record<<< a  b >>>}\n"
        "shared collector y on\"a\"event e{\n declare<<< int c; >>>\n   record<<< a  b >>>\nrecord on\"d.*\"event stalled<<<\n       a  c\n >>>\n}\n"
        "c.d=<<<\n  kept   as it is\n>>>;\n"
        "handler h:in.data,other.data->in.ack,\nout.data;\n"
        "f(\n1,\n2\n);\nvar l=[\n1\n];\nvar m =\n  1 +\n  2;\nvar n =\n  // why\n  3;\n"
    )
    lss("fmt", file)
    assert file.read_text() == TOKENS


def test_comments_of_neighbouring_lines_share_a_column(lss, tmp_path):
    """Column 48 is the last that leaves room; longer lines move their run of comments, not those of others."""
    file = tmp_path / "comments.lss"
    short, last, first, longer = (f"var {'n' * n} = 1;" for n in (3, 38, 39, 45))
    assert [len(line) for line in (last, first)] == [47, 48]
    lines = [f"{short} // a", f"{last} /* b */", f"{first} // c", f"{longer}  /* d */", f"{short} // e", "", f"{longer} // f", short]
    file.write_text("\n".join([*lines, f"{short} /* g", "  over two lines */", f"{longer} // h"]) + "\n")
    lss("fmt", file)
    expected = [
        f"{short}{'// a':>{48 - len(short) + 4}}",
        f"{last} /* b */",
        f"{first}{'':7}// c",
        f"{longer} /* d */",
        f"{short}{'// e':>{48 - len(short) + 4}}",
        "",
        f"{longer} // f",
        short,
    ]
    assert file.read_text().splitlines()[: len(expected)] == expected
    assert file.read_text().splitlines()[-1] == f"{longer} // h"


def test_a_byte_order_mark_goes(lss, tmp_path):
    """The comment behind it is the first thing in the file, not one at the end of a line."""
    file = tmp_path / "mark.lss"
    file.write_text("\ufeff// a\n  var a=1;\n")
    lss("fmt", file)
    assert file.read_text() == "// a\nvar a = 1;\n"


def test_an_exponent_belongs_to_its_number(lss, tmp_path):
    file = tmp_path / "exponents.lss"
    file.write_text("var a = 1e-3+2.5E+3*4e-2kb/s;\nvar b = 0x1e-3;\n")
    lss("fmt", file)
    assert file.read_text() == "var a = 1e-3 + 2.5E+3 * 4e-2kb/s;\nvar b = 0x1e - 3;\n"


def test_failures_are_one_line(lss, tmp_path):
    missing = lss("fmt", tmp_path / "nothing.lss", ok=False)
    assert missing.status == 3 and missing.err.count("\n") == 1 and "nothing.lss" in missing.err
    assert lss("fmt", ok=False).status == 2
    assert lss("fmt", "--chekc", ok=False).status == 2


@pytest.mark.parametrize("folder", ["modules", "examples"])
def test_library_is_formatted(lss, folder):
    """The tree itself is in canonical layout: `lss fmt --width 120` on the named files repairs it."""
    files = found(ROOT / folder, "*.lss")
    assert lss("fmt", "--check", "--width", 120, *files, ok=None).out == ""


def test_ranges_of_parameters(lss, tmp_path):
    file = tmp_path / "ranges.lss"
    file.write_text("parameter a = 1:int in -1 .. 5;\nparameter b = 1:int[] in ..-2;\nparameter c = 1:int in 1 ..;\n")
    lss("fmt", file)
    assert file.read_text() == (
        "parameter a = 1 : int in -1..5;\nparameter b = 1 : int[] in ..-2;\nparameter c = 1 : int in 1..;\n"
    )


LONG = '''// A comment that goes on after the eightieth column of its line is filled.  So is the line after it,
// and the sentence keeps its spaces.
//
//     an example --that is --longer than --the width --of eighty columns --is left as it is
module m {                                      /** A module with a text that does not fit next to it. */
  parameter some_very_long_name = 1234567890 : int in 0..12345678901; /** it goes above its declaration */
  instance a : relay { first = 1; second = 2; third = "a text"; fourth = <<< return 4; >>>; fifth = 5; };
  if (some_very_long_name > 1234567890) punt("a text that cannot be broken, and " + string(some_very_long_name) + " more");
  handler h : first.data, first.enable, second.data, second.enable -> first.ack, second.ack;
}
parameter map = [
  { name = "first", base = 0x1000, size = 0x100, doc = "what is there, said in some words" }
] : map_entry[];
/** A text before a type. It is too long for the line on which it stands. And it has a
 *    drawing
 *  and then more of the text. */
enum e { a, b };
'''

WRAPPED = '''// A comment that goes on after the eightieth column of its line is filled.  So
// is the line after it, and the sentence keeps its spaces.
//
//     an example --that is --longer than --the width --of eighty columns --is left as it is
/** A module with a text that does not fit next to it. */
module m {
  /** it goes above its declaration */
  parameter some_very_long_name = 1234567890 : int in 0..12345678901;
  instance a : relay {
    first = 1; second = 2; third = "a text"; fourth = <<< return 4; >>>;
    fifth = 5;
  };
  if (some_very_long_name > 1234567890)
      punt("a text that cannot be broken, and " + string(some_very_long_name) +
        " more");
  handler h : first.data, first.enable, second.data, second.enable -> first.ack,
      second.ack;
}
parameter map = [
  { name = "first", base = 0x1000, size = 0x100,
    doc = "what is there, said in some words" }
] : map_entry[];
/** A text before a type. It is too long for the line on which it stands. And it
 *  has a
 *    drawing
 *  and then more of the text. */
enum e { a, b };
'''


def test_lines_are_broken_at_a_width(lss, tmp_path):
    file = tmp_path / "long.lss"
    file.write_text(LONG)
    lss("fmt", "--width", 80, file)
    assert file.read_text() == WRAPPED
    assert lss("fmt", "--check", "--width", 80, file).out == ""
    assert lss("fmt", "--check", file).out == "", "without a width, lines stay where they end"


def without_comments(text: str) -> str:
    """What the compiler sees of a text, without white space."""
    return re.sub(r"\s+|//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|<<<.*?>>>)", lambda found: found[1] or "", text, flags=re.S)


@pytest.mark.parametrize("width", [60, 100])
def test_sources_survive_a_width(lss, tmp_path, width):
    """The same program, and a second time nothing changes."""
    copies = []
    for number, path in enumerate(FILES):
        if b"\0" in path.read_bytes() or "bad" in path.parts:
            continue
        copies.append((path, tmp_path / f"{number}.lss"))
        copies[-1][1].write_bytes(path.read_bytes())
    lss("fmt", "--width", width, *[copy for _, copy in copies])
    for path, copy in copies:
        assert without_comments(read(copy)) == without_comments(read(path)), path
    assert lss("fmt", "--check", "--width", width, *[copy for _, copy in copies]).out == ""
    assert lss("fmt", "--check", *[copy for _, copy in copies]).out == ""


@pytest.mark.parametrize("width", ["59", "401", "x"])
def test_a_width_is_a_number_of_columns(lss, width):
    done = lss("fmt", "--width", width, "x.lss", ok=False)
    assert done.status == 2 and done.err.count("\n") == 1 and "--width" in done.err
