"""Names of files and folders with all that a name can hold: pages stay what they are, links lead to files, JSON and other
formats hold the bytes.

One name has all of it, as each machine takes a while to build; that no part of it hides another is looked at in the
texts that are made of names alone.
"""

import gzip
import html.parser
import json
import os
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from harness.report import page
from harness.trace import callgrind, flame, pprof
from harness.trace.profile import read
from tests.sample import sampled, seldom

NAME = os.fsdecode(b"-a \"b' &<img src=x onerror=alert(1)>&amp;\xff\xc3\xa4\x01{0}{style}%s%25$x$\\d\\1#?;[red]`*_|")
TEXT = "-a \"b' &<img src=x onerror=alert(1)>&amp;ä%s%25$x$\\d\\1#?;[red]`*_|"  # which a study and a directive can hold
ENDS = "\r\n"  # in no path that is given to the compiler, which refuses a line break there
MACHINE = """
runtime parameter ready = 1.0 : float;
instance producer : source { count = 100; };
instance consumer : sink { ready = ready; };
producer.out -> consumer.in : uint32;
"""
STUDY = """
title = %(text)s
about = %(text)s
machine = "machine.lss"
axis = [{ name = "ready", label = %(text)s, setting = "option.ready", values = [{ label = %(text)s, settings = { "option.ready" = 0.5 } }, { label = "one", settings = { "option.ready" = 1 } }] }]
published = [{ label = %(text)s, source = %(text)s, rate = 1, where = { ready = "one" }, explained = [%(text)s] }]
[window]
to = "cycles(clk) >= 50"
[measure.rate]
value = "consumer.items / cycles(clk)"
label = %(text)s
[[figure]]
title = %(text)s
kind = "bars"
y = "rate"
[[table]]
title = %(text)s
rows = "ready"
columns = "ready"
value = "rate"
"""


class Page(html.parser.HTMLParser):
    """The elements of a page outside of its pictures, and what it links to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.elements: list[tuple] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open = 0
        self.feed(file.read_text(errors="strict"))
        self.close()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.open += tag == "svg"
        if not self.open or tag == "a":
            self.elements.append((tag, *(name for name, _ in attributes)))
        self.links += [value for name, value in attributes if name in ("href", "src") and tag != "use"]
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.open -= tag == "svg"


def checked(file: Path) -> Page:
    """A page whose links lead to files, or to places in it."""
    found = Page(file)
    assert not found.open and len(set(found.ids)) == len(found.ids)
    for link in found.links:
        parts = urllib.parse.urlsplit(link)
        assert not parts.scheme and not parts.netloc, link
        if parts.path:
            assert (file.parent / os.fsdecode(urllib.parse.unquote_to_bytes(parts.path))).is_file(), link
        else:
            assert parts.fragment in found.ids, link
    return found


def harness(root: Path, build_dir: Path, folder: Path, *words: str, status: int = 0) -> tuple[str, str]:
    """What a command prints, and what it says."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PATH": f"{build_dir}/bin:{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-m", "harness", *words], cwd=folder, env=environment, capture_output=True)
    out, err = os.fsdecode(done.stdout), os.fsdecode(done.stderr)
    assert done.returncode == status and "internal" not in err, out + err
    return out, err


def quoted(text: str) -> str:
    """A word of a directive."""
    return "'" + text.replace("'", "'\\''") + "'"


def work(folder: Path, name: str, text: str) -> Path:
    """A folder with a machine, a study and a text about it, of this name."""
    folder.mkdir()
    for file in f"{name}.lss", "machine.lss":
        (folder / file).write_text(MACHINE)
    for file in f"{name}.toml", f"{text}.toml":
        (folder / file).write_text(STUDY % {"text": json.dumps(text)})
    directives = f"{{{{published}}}}\n\n{{{{changes {quoted(text)}}}}}\n\n{{{{table {quoted(text)}}}}}\n\n{{{{rate {quoted(text)} {quoted(text)}}}}}"
    (folder / f"{name}.md").write_text(f"# {text}\n\nabout\n\n{directives} and {{{{setting {quoted(text)} one ready}}}}\n")
    return folder


@pytest.mark.parametrize("command", sampled(["bottleneck", "study", "studies"], 3, 1))
def test_pages(root: Path, build_dir: Path, tmp_path: Path, command: str) -> None:
    """A page of hostile names has the elements of one with plain names."""
    pages = []
    for name, text in ("plain", "plain"), (NAME, TEXT):
        folder = work(tmp_path / f"in {name}", name, text)
        place = "plain" if name == "plain" else f"{name}{ENDS}"
        words = {
            "bottleneck": [f"./{name}.lss", "--out", f"./{name}", "--", "--cycles", "90"],
            "study": [f"./{name}.toml", "--out", f"./{place}"],
            "studies": ["--text", f"./{name}.md", f"./{text}.toml"],
        }[command]
        harness(root, build_dir, folder, command, *words)
        out = folder / {"bottleneck": name, "study": place, "studies": "build/studies"}[command]
        pages.append(checked(out / "index.html"))
        for file in out.rglob("*.json"):
            json.loads(file.read_text())
        for file in out.rglob("*.svg"):
            ET.fromstring(file.read_text())
        if command == "bottleneck":
            assert os.fsencode(json.loads((out / "bottleneck.json").read_text())["machine"]).endswith(os.fsencode(f"{name}.lss"))
    assert pages[0].elements == pages[1].elements


def test_pictures_and_formats_of_a_profile(tmp_path: Path) -> None:
    """A machine and source files whose names are not UTF-8, as a simulator writes them, in each format of a profile."""
    file = os.fsdecode(f"{NAME}{ENDS}.c".encode(errors="surrogateescape"))
    place = {"pc": 4, "word": 0, "instructions": 1, "cycles": [5], "requests": [], "file": file, "line": 3, "text": "nop", "function": "f<g>(\"h\")"}
    core = {"path": "core", "module": "m", "clock": "clk", "period": 1, "issue_stages": 1, "instructions": 1, "cycles": 5, "regions": [], "places": [place],
            "calls": [{"parent": -1, "calls": 0, "cycles": 0, "instructions": 0}, {"function": place["function"], "parent": 0, "calls": 1, "cycles": 5, "instructions": 1}]}  # fmt: skip
    whole = {"machine": f"{NAME}.lss", "ticks_per_second": 1000, "begun": 0, "ended": 5, "events": {}, "causes": ["issued"], "cores": [core]}
    (tmp_path / "profile.json").write_text(json.dumps(whole))
    found = read(tmp_path / "profile.json")
    assert (found.machine, found.cores[0].places[0].file) == (f"{NAME}.lss", file)
    page.write(tmp_path / "flame.svg", flame.svg(found.cores, f"Where the cycles of {NAME} go"))
    texts = [one.text or "" for one in ET.parse(tmp_path / "flame.svg").iter() if one.tag.endswith("text")]
    assert f"Where the cycles of {page.shown(NAME)} go" in texts and any(text.startswith("f<g>") for text in texts)
    lines = callgrind.text(found, found.cores).split("\n")
    assert f"cmd: {NAME}.lss" in lines and f"fl={NAME}\\r\\n.c" in lines
    assert page.shown(file).encode() in gzip.decompress(pprof.encode(found, found.cores))


@seldom
def test_traces(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """What a machine of this name recorded, as a timeline; and a file of this name that is none."""
    (tmp_path / f"{NAME}.lss").write_text(MACHINE)
    lss = [build_dir / "bin" / "lss", "build", f"./{NAME}.lss", "--record", "ports", "-o", f"./{NAME}"]
    subprocess.run(lss, cwd=tmp_path, check=True)
    record = [f"./{NAME}", "--quiet", "--cycles", "20", "--record", f"{NAME}.trace", "--record-events", "ports"]
    subprocess.run(record, cwd=tmp_path, check=True)
    harness(root, build_dir, tmp_path, "timeline", f"./{NAME}.trace", "-o", f"./{NAME}.pftrace")
    assert (tmp_path / f"{NAME}.pftrace").stat().st_size > 100
    for command in ["profile"], ["frames"], ["timeline", "-o", "./x"]:
        assert harness(root, build_dir, tmp_path, *command, f"./{NAME}.lss", status=1)[1].count("\n") == 1


@seldom
def test_packet_files(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Names that are printed are those of the files."""
    folder = f"./{NAME}{ENDS}"
    out, _ = harness(root, build_dir, tmp_path, "traffic", "--payload", "18", "--frames", "4", "--out", folder)
    assert out == "".join(f"{folder[2:]}/{name}\n" for name in ("send.pcap", "receive.pcap", "descriptors.txt"))
    harness(root, build_dir, tmp_path, "conversations", "--count", "1", "--exchanges", "1", "--out", f"{folder}/tcp")
    harness(root, build_dir, tmp_path, "split", f"{folder}/send.pcap", "--out", f"{folder}/{NAME}")
    assert harness(root, build_dir, tmp_path, "check", f"{folder}/send.pcap", f"{folder}/{NAME}/send.pcap")[0].startswith("2 in, 2 out; 0 missing")


def test_paths_of_4000_bytes(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """A machine, its outputs and its page at the end of a long way."""
    folder = tmp_path
    while len(os.fsencode(folder)) < 3750:
        folder /= "é" * 100
        folder.mkdir()
    machine = folder / ("m" * (3996 - len(os.fsencode(folder)) - 1) + ".lss")
    machine.write_text(MACHINE)
    assert len(os.fsencode(machine)) == 4000
    out = folder / "out"
    harness(root, build_dir, tmp_path, "bottleneck", str(machine), "--out", str(out), "--", "--cycles", "90")
    checked(out / "index.html")
    assert json.loads((out / "bottleneck.json").read_text())["machine"] == str(machine)


@pytest.mark.parametrize("text", [NAME, TEXT, ENDS, "\\g<0>", "\\", '"', "<svg", "]]>", "-->", "\ufffe", "\x9f", "🙂", "a b"])
def test_texts_of_a_page(tmp_path: Path, text: str) -> None:
    shown = page.shown(text)
    ET.fromstring(f"<a>{html.escape(shown)}</a>".encode())
    assert page.shown(shown) == shown and (shown == text) == (text not in (NAME, ENDS, "\ufffe", "\x9f"))
    assert os.fsdecode(urllib.parse.unquote_to_bytes(page.link(text))) == text
    (tmp_path / "x.svg").write_text('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/><use href="#a"/><g fill="url(#a)"/></svg>')
    svg = ET.fromstring(page.shown(page.inline(tmp_path / "x.svg", text, f"{text}-")))
    assert svg.get("aria-label", "").split() == shown.split() and svg[0].get("id") == f"{page.identifier(text)}-a"
    assert svg[1].get("href") == f"#{svg[0].get('id')}" and svg[2].get("fill") == f"url(#{svg[0].get('id')})"


def test_ids_of_different_names_differ() -> None:
    names = ["a b", "a:20b", "a_b", "a-b", "a.b", "ab", "a\u0120b", "a 0b", NAME]
    assert len({page.identifier(name) for name in names}) == len(names)


def test_a_program_of_firmware(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """Of this name; clang and lld write nothing below a folder with a %, which is said."""
    name = NAME.replace("%", "")
    (tmp_path / name).mkdir()
    (tmp_path / name / "-x y.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / name / "machine").write_text("examples/single_core/single_core.lss\n")
    out, _ = harness(root, build_dir, tmp_path, "firmware", f"./{name}", "--out", f"./{name} out", "--build", str(build_dir))
    assert out == f"{name} out/{name}.elf\n" and (tmp_path / out[:-1]).is_file()
    for text, said in ("'x", "no closing quotation"), ("", "it names no machine"):
        (tmp_path / name / "machine").write_text(text)
        assert said in harness(root, build_dir, tmp_path, "firmware", f"./{name}", status=1)[1]
    (tmp_path / name / "machine").write_text("examples/single_core/single_core.lss\n")
    said = harness(root, build_dir, tmp_path, "firmware", f"./{name}", "--out", "./a%b", "--build", str(build_dir), status=1)[1]
    assert said == "spinach firmware: a%b: clang and ld.lld write nothing below a folder with a % in its name\n"


def test_messages_name_the_file(root: Path, build_dir: Path, tmp_path: Path) -> None:
    """In its bytes, also where the compiler says what is wrong."""
    name = f"./none {NAME}"
    for words in ["check", name, name], ["bottleneck", name], ["frames", name]:
        out, err = harness(root, build_dir, tmp_path, *words, status=1)
        assert name[2:] in err and err.count("\n") == 1 and not out
    (tmp_path / "latin").write_bytes(b"# caf\xe9\n")
    assert harness(root, build_dir, tmp_path, "studies", "--text", "latin", status=1)[1].startswith("harness: latin: 'utf-8' codec can't decode byte 0xe9")
