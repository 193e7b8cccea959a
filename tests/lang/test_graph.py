"""lss graph and lss export: what they say about a small machine with two equal levels below the top."""

import json
import os
import subprocess
import urllib.parse
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIB = Path(__file__).resolve().parent / "lib"
MACHINE = """
module pair {                       /** Two registers in a row. Nothing more. */
  inport  in  : 'a;
  outport out : 'a;
  instance first  : relay;
  instance second : relay { depth = 2; };
  in -> first.in;
  first.out -> second.in;
  second.out -> out;
}
clock slow = 1 MHz;
clock fast = 100 MHz;
instance numbers[2] : producer on fast;
instance row[2] : pair on fast;
instance all : consumer on fast;
for (i = 0; i < 2; i = i + 1) {
  numbers[i].out -> row[i].in;
  row[i].out -> all.in;
}
"""


def make(lss, tmp_path, *arguments):
    machine = tmp_path / "machine.lss"
    machine.write_text(MACHINE)
    return lss(arguments[0], machine, "-I", LIB, *arguments[1:])


def test_json_levels(lss, tmp_path):
    make(lss, tmp_path, "graph", "-o", "x.json")
    levels = {level["path"]: level for level in json.loads((tmp_path / "x.json").read_text())}
    assert set(levels) == {"", "row[0]", "row[1]"}
    top = levels[""]
    assert [node["name"] for node in top["nodes"]] == ["numbers[0]", "numbers[1]", "row[0]", "row[1]", "all"]
    assert {"from": "row[1]", "from_port": "out", "to": "all", "to_port": "in", "lanes": 1} in top["edges"]
    inner = levels["row[0]"]["edges"]
    assert {"from": None, "from_port": "in", "to": "first", "to_port": "in", "lanes": 1} in inner


def test_equal_levels_share_a_picture(lss, tmp_path):
    make(lss, tmp_path, "graph", "-o", "x.dot")
    assert sorted(p.name for p in tmp_path.glob("*.dot")) == ["x.dot", "x.pair.dot"]
    assert 'URL="x.pair.dot"' in (tmp_path / "x.dot").read_text()
    assert 'URL="x.dot"' in (tmp_path / "x.pair.dot").read_text()


def test_svg_links_levels(lss, tmp_path):
    make(lss, tmp_path, "graph", "-o", "x.svg")
    links = set()
    for element in ElementTree.parse(tmp_path / "x.svg").iter():
        links |= {value for key, value in element.attrib.items() if key.endswith("href")}
    assert "x.pair.svg" in links and (tmp_path / "x.pair.svg").exists()


def test_a_picture_names_the_clocks_that_it_shows(lss, tmp_path):
    """A level whose instances share a clock says nothing of others; one of many instances goes from top to bottom."""
    (tmp_path / "m.lss").write_text("""
clock one = 1 MHz;
clock two = 2 MHz;
module inner { inport in : uint32; instance k : sink; in -> k.in; }
instance s : source;
instance p[9] : pipe;
instance x : clock_crossing;
instance b : inner on two;
s.out -> p[0].in : uint32;
for (i = 0; i < 8; i = i + 1) p[i].out -> p[i + 1].in;
p[8].out -> x.in;
x.out -> b.in;
""")
    lss("graph", tmp_path / "m.lss", "-o", "m.dot")
    top, inside = ((tmp_path / name).read_text() for name in ("m.dot", "m.inner.dot"))
    assert ">one<" in top and ">two<" in top and "rankdir=TB" in top
    assert ">one<" not in inside and ">two<" in inside and "rankdir=LR" in inside


def test_arrays_are_drawn_as_one(lss, tmp_path):
    """When their instances are connected alike: to the same, or to those of another array with their index."""
    (tmp_path / "m.lss").write_text("""
module inner { inport in : uint32; outport out : uint32; instance p : pipe; in -> p.in; p.out -> out; }
instance s[6] : source;
instance c[6] : source;
instance row[6] : inner;
instance odd[6] : inner;
instance k[4] : pipe;
instance t[4] : source;
instance all : mux;
for (i = 0; i < 6; i = i + 1) {
  s[i].out -> row[i].in : uint32;
  c[i].out -> odd[(i + 1) % 6].in : uint32;
  row[i].out -> all.in;
  odd[i].out -> all.in;
}
for (i = 0; i < 4; i = i + 1) { t[i].out -> k[i].in : uint32; k[i].out -> all.in; }
instance end : sink;
all.out -> end.in;
""")
    lss("graph", tmp_path / "m.lss", "-o", "m.dot")
    top = (tmp_path / "m.dot").read_text()
    assert '"row ×6" [label=<<b>row ×6</b>' in top and 'URL="m.inner.dot"' in top
    assert '"c[0]"' in top and '"odd[5]"' in top and '"k ×4"' in top  # connected crosswise, and short
    assert '"row ×6" -> "all" [dir=forward, label=" ×6 ", penwidth=1.8, tooltip="row ×6.out to all.in"' in top
    assert '"s ×6" -> "row ×6" [dir=forward, label=" ×6 "' in top
    lss("graph", tmp_path / "m.lss", "--expand", "-o", "apart.dot")
    apart = (tmp_path / "apart.dot").read_text()
    assert "×4" not in apart and '"s[5]" -> "row[5]" [dir=forward, penwidth=1' in apart and '"k[3]"' in apart


def test_what_belongs_side_by_side_is_in_a_row(lss, tmp_path):
    """Instances of a module which the same port feeds, if none leads to another; lines of several connections are short."""
    (tmp_path / "m.lss").write_text("""
instance s : source;
instance split : tee;
instance near : pipe;
instance before : pipe;
instance far : pipe;
instance both : mux;
instance k : sink;
s.out -> split.in : uint32;
split.out -> near.in;
split.out -> before.in;
split.out -> both.in;
before.out -> far.in;
near.out -> both.in;
far.out -> both.in;
both.out -> k.in;
""")
    lss("graph", tmp_path / "m.lss", "-o", "m.dot")
    text = (tmp_path / "m.dot").read_text()
    assert [line.strip() for line in text.splitlines() if "rank=same" in line] == ['{ rank=same; "near"; "before"; }']


def test_ports_that_say_no_more_than_the_arrow_are_not_named(lss, tmp_path):
    (tmp_path / "m.lss").write_text("""
instance s : source;
instance a : source;
instance u : function_unit { apply = <<< return in.v[0]; >>>; };
instance k : sink;
s.out -> u.control : uint32;
a.out -> u.in : uint32;
u.out -> k.in : uint32;
""")
    lss("graph", tmp_path / "m.lss", "-o", "m.dot")
    lines = [line for line in (tmp_path / "m.dot").read_text().splitlines() if "->" in line]
    assert ['label=" control "' in line for line in lines] == [True, False, False]
    assert ["label=" in line.replace("labeltooltip=", "") for line in lines] == [True, False, False]
    assert 'tooltip="u.out to k.in"' in lines[2]


def test_export(lss, tmp_path):
    make(lss, tmp_path, "export", "-o", "x.json")
    netlist = json.loads((tmp_path / "x.json").read_text())
    instances = {instance["path"]: instance for instance in netlist["instances"]}
    depth = instances["row[1].second"]["parameters"][0]
    assert (depth["name"], depth["type"], depth["value"]) == ("depth", "int", 2)
    assert {c["name"]: c["hertz_numerator"] for c in netlist["clocks"]} == {"slow": 10**6, "fast": 10**8}
    assert {"from": "row[1].second.out", "from_lane": 0, "to": "all.in", "to_lane": 1, "type": "uint32"} in netlist[
        "connections"
    ]
    assert instances["all"]["ports"][0]["width"] == 2
    assert {Path(source).stem for source in netlist["sources"]} == {"machine", "producer", "relay", "consumer"}


def test_the_layout_of_json(lss, tmp_path):
    """A value on a line, except in rows of numbers; what is empty is closed where it was opened."""
    make(lss, tmp_path, "export", "-o", "x.json")
    text = (tmp_path / "x.json").read_text()
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_export_of_derived_statistics(lss, tmp_path):
    """Their expressions have whole paths, so that other tools can work them out for any stretch of a run."""
    (tmp_path / "m.lss").write_text("""
clock clk = 1 MHz;
module box { instance q[3] : queue; instance s : source; instance k : sink;
  s.out -> q[0].in : uint32; q[0].out -> q[1].in; q[1].out -> q[2].in; q[2].out -> k.in;
  stat full = 1 - q[*].full_cycles / (2 * cycles) "of the time"; /** Not full. */
}
instance b : box;
""")
    lss("export", tmp_path / "m.lss", "-o", "x.json")
    (derived,) = json.loads((tmp_path / "x.json").read_text())["derived"]
    sums = "(b.q[0].full_cycles + b.q[1].full_cycles + b.q[2].full_cycles)"
    assert derived["expression"] == f"(1 - ({sums} / (2 * cycles(clk))))"
    assert (derived["path"], derived["name"], derived["doc"]) == ("b", "full", "Not full.")


def test_wrong_command_lines(lss, tmp_path):
    machine = tmp_path / "machine.lss"
    machine.write_text(MACHINE)
    assert lss("graph", machine, "-o", "x.png", ok=False).status == 2
    assert lss("graph", machine, ok=False).status == 2
    full = lss("graph", machine, "-I", LIB, "-o", "/dev/full/x.dot", ok=False)
    assert full.status == 3 and full.err.count("\n") == 1


FAN = """
instance a : source;
instance x : tee;
instance m : mux;
instance s : sink;
a.out -> x.in : uint32;
for (i = 0; i < 4; i = i + 1) { x.out -> m.in; }
m.out -> s.in;
"""


def test_a_picture_merges_what_runs_between_two_nodes(lss, tmp_path):
    (tmp_path / "machine.lss").write_text(FAN)
    lss("graph", "machine.lss", "-o", "x.dot")
    lines = [line for line in (tmp_path / "x.dot").read_text().splitlines() if '"x" -> "m"' in line]
    assert len(lines) == 1 and 'label=" ×4 "' in lines[0] and 'tooltip="x.out to m.in"' in lines[0]


def test_a_line_names_the_ports_in_the_direction_of_each_connection(lss, tmp_path):
    """Lines between the same two nodes are one; at the border the node has the port's name, and equal names stand once."""
    (tmp_path / "machine.lss").write_text("""
module pass { inport in : uint32; outport out : uint32; instance p : pipe; in -> p.in; p.out -> out; }
module left { outport ask : uint32; outport same : uint32; inport answer : uint32;
  instance p : pass; instance t : tee; answer -> p.in; p.out -> t.in; t.out -> ask; t.out -> same; }
module right { inport question : uint32; inport same : uint32; outport reply : uint32;
  instance p : pass; instance m : mux; question -> m.in; same -> m.in; m.out -> p.in; p.out -> reply; }
instance a : left;
instance b : right;
a.ask -> b.question;
b.reply -> a.answer;
a.same -> b.same;
""")
    lss("graph", "machine.lss", "-o", "x.dot")
    (line,) = [line for line in (tmp_path / "x.dot").read_text().splitlines() if '"a" -> "b"' in line]
    assert 'label=" ask → question\\nanswer ← reply\\nsame "' in line
    assert 'tooltip="a.ask to b.question&#10;b.reply to a.answer&#10;a.same to b.same"' in line
    border = (tmp_path / "x.pass.dot").read_text()
    assert 'label="in"' in border and 'label="out"' in border and "→" not in border and "←" not in border


def test_fan_out_is_drawn_from_receiver_to_receiver(lss, tmp_path):
    machine = tmp_path / "fan.lss"
    machine.write_text("instance p : producer;\ninstance c[2] : consumer;\np.out -> c[1].in, c[0].in;\n")
    lss("graph", machine, "-I", LIB, "-o", "x.json")
    (top,) = json.loads((tmp_path / "x.json").read_text())
    assert [(one["from"], one["to"]) for one in top["edges"]] == [("p", "c[1]"), ("p", "c[0]")]


def test_a_terminal_gets_what_was_written(build_dir: Path, tmp_path: Path) -> None:
    """In one line; pipes get nothing, so that scripts stay as they are."""
    (tmp_path / "m.lss").write_text(MACHINE)
    for words, said in (
        (["graph", "-I", str(LIB), "m.lss", "-o", "m.dot"], "lss graph: wrote m.dot and 1 more, a page for each level"),
        (["graph", "-I", str(LIB), "m.lss", "-o", "m.json"], "lss graph: wrote m.json"),
        (["export", "-I", str(LIB), "m.lss", "-o", "n.json"], "lss export: wrote n.json"),
        (["build", "-O0", "-I", str(LIB), "m.lss", "-o", "sim"], "lss build: wrote sim"),
    ):
        ours, theirs = os.openpty()
        done = subprocess.run([build_dir / "bin/lss", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = os.read(ours, 4096).decode()
        os.close(ours)
        assert done.returncode == 0 and done.stdout == b"" and shown.splitlines()[-1] == said
        piped = subprocess.run([build_dir / "bin/lss", *words], cwd=tmp_path, capture_output=True)
        assert (piped.returncode, piped.stdout, piped.stderr) == (0, b"", b"")


def test_names_of_files_in_pictures(build_dir: Path, tmp_path: Path) -> None:
    """With all that a name can hold: the title shows it, and links of the levels lead to the files."""
    name = os.fsdecode(b"-a \"b' &<b>x&amp;\xff\xc3\xa4\x01\\N%s%25$#?;:|")
    (tmp_path / f"{name}.lss").write_text(MACHINE)
    for suffix in "svg", "dot", "json":
        command = [build_dir / "bin/lss", "graph", f"./{name}.lss", "-I", LIB, "-o", f"./{name}.{suffix}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
    link, seen = "{http://www.w3.org/1999/xlink}href", set()
    for file in tmp_path.glob("*.svg"):
        picture = ElementTree.parse(file)
        targets = {urllib.parse.unquote_to_bytes(one.get(link)) for one in picture.iter() if one.get(link)}
        assert all((tmp_path / os.fsdecode(target)).is_file() for target in targets)
        seen |= targets
        if file.name == f"{name}.svg":
            shown = f"{name}.lss".replace("\udcff", "\\xff").replace("\x01", "\\x01")
            assert shown in ["".join(one.itertext()).replace("\xa0", " ") for one in picture.iter() if one.tag.endswith("text")]
    assert {os.fsdecode(target) for target in seen} == {file.name for file in tmp_path.glob("*.svg")}
