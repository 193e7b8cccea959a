"""What an editor asks about a place in a file: documentation, declaration, completions, outline, layout."""

import re
from pathlib import Path

from lsprotocol import types as lsp

from tests.lang.server.client import Editor, edit

HERE = Path(__file__).resolve().parent
TYPES = """enum color { red, green };
struct entry { string name; uint32 offset; };
bundle link { forward request : uint32; backward reply : bool; };
const TABLE = [{ name = "status", offset = 4 }, { name = "control", offset = 8 }];
"""
MACHINE = """import shapes;
/** How fast it goes. */
parameter mhz = 100 : int;
clock quick = mhz * 1 MHz;
instance producer : source on quick { count = mhz; };
instance buffers[2] : pipe on quick { depth = 4; };
instance consumer : sink on quick;
const count = 8;
instance other : source on quick { count; };
var offset = TABLE[0].offset;
producer.out -> buffers[0].in : uint32;
buffers[0].out -> buffers[1].in;
buffers[1].out -> consumer.in;
var wanted = "control";
"""


def server(build_dir: Path) -> list:
    return [build_dir / "bin" / "lss", "server"]


def place(text: str, mark: str) -> lsp.Position:
    """Where `mark` stands; the character ^ in it is the cursor and no part of the text."""
    before, after = mark.split("^")
    offset = text.index(before + after) + len(before)
    return lsp.Position(text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1))


async def hover(editor: Editor, path: Path, at: lsp.Position) -> str:
    params = lsp.HoverParams(editor.document(path), at)
    found = await editor.client.text_document_hover_async(params)
    return found.contents.value if found else ""


async def definition(editor: Editor, path: Path, at: lsp.Position) -> tuple[str, int, int] | None:
    params = lsp.DefinitionParams(editor.document(path), at)
    found = await editor.client.text_document_definition_async(params)
    assert found is None or isinstance(found, lsp.Location)
    return (Path(found.uri).name, found.range.start.line, found.range.start.character) if found else None


async def answers(editor: Editor, path: Path, asked: dict[str, tuple[str, str]]) -> None:
    """Opens a file; at each mark the hover has these words, and the declaration is in that file."""
    editor.open(path)
    for mark, (words, file) in asked.items():
        at = place(path.read_text(), mark)
        assert words in await hover(editor, path, at), mark
        found = await definition(editor, path, at)
        assert found and found[0] == file, mark


def shapes(tmp_path: Path) -> Path:
    (tmp_path / "shapes.lss").write_text(TYPES)
    (tmp_path / "m.lss").write_text(MACHINE)
    return tmp_path / "m.lss"


def test_hover_and_definition(tmp_path: Path, build_dir: Path) -> None:
    path = shapes(tmp_path)
    asked = {
        ": so^urce": ("## source", "source.lss"),
        "{ cou^nt": ("parameter count", "source.lss"),
        "producer.ou^t": ("outport out", "source.lss"),
        "buffers[1].i^n": ("inport in", "pipe.lss"),
        "on qui^ck": ("clock quick = mhz", "m.lss"),
        "count = mh^z": ("How fast it goes.", "m.lss"),
        "quick { co^unt;": ("parameter count", "source.lss"),
        "TAB^LE[0]": ("const TABLE", "shapes.lss"),
        '"cont^rol"': ('{ name = "control", offset = 8 }', "shapes.lss"),
        "import sha^pes": ("shapes.lss", "shapes.lss"),
        "prod^ucer.out": ("`source`:", "m.lss"),
    }

    async def scenario(editor: Editor) -> None:
        await answers(editor, path, asked)
        assert await hover(editor, path, lsp.Position(0, 0)) == ""
        assert await definition(editor, path, place(MACHINE, "4; ^}")) is None

    edit(server(build_dir), scenario)


LOOPS = """var outer = 0;
for (own = 0; own < 2; own = own + 1) {
  for (outer = 0; outer < own; outer = outer + 1) {
    instance p : pipe { depth = own + outer; };
    for (own = 0; own < 1; own = own + 1) { const last = own; }
  }
}
for (var said = 0; said < 2; said = said + 1) { const first = said; }
const far = own;
"""


def test_variables_of_loops(tmp_path: Path, build_dir: Path) -> None:
    """`for (own = 0; ...)` declares what no declaration in sight is called, and assigns to any other."""
    path = tmp_path / "loops.lss"
    path.write_text(LOOPS)
    places = {"(o^wn = 0; own < 2": (1, 5), "o^wn < 2": (1, 5), "depth = o^wn": (1, 5), "last = ow^n": (1, 5), "< 1; o^wn": (1, 5),
              "own + out^er": (0, 4), "(out^er": (0, 4), "first = sa^id": (7, 9), "far = o^wn": None}  # fmt: skip

    async def scenario(editor: Editor) -> None:
        editor.open(path)
        for mark, declared in places.items():
            at = place(LOOPS, mark)
            found = await definition(editor, path, at)
            assert found == (declared and ("loops.lss", *declared)), mark
            assert bool(await hover(editor, path, at)) == bool(declared), mark
        assert "own = 0" in await hover(editor, path, place(LOOPS, "last = ow^n"))
        loop = "for (own = 0; own < 2; own = own + 1) {\n^\n}\n"
        assert "own" in await completions(editor, path, loop)
        assert "own" not in await completions(editor, path, loop.replace("^", "") + "^")

    edit(server(build_dir), scenario)


def test_registers_of_the_nic(root: Path, build_dir: Path) -> None:
    """A register's name leads to its line in the table, and its offset."""
    path = root / "examples" / "tigon2" / "tigon2_nic.lss"
    text = path.read_text()

    async def scenario(editor: Editor) -> None:
        editor.open(path)
        assert "offset = 0x05c" in await hover(editor, path, place(text, 'at("pci_^state")'))
        found = await definition(editor, path, place(text, 'at("pci_^state")'))
        assert found and found[0] == "tigon2_registers.lss"
        assert "size = " not in await hover(editor, path, place(text, "sram : memory_st^ate"))
        assert "## memory_state" in await hover(editor, path, place(text, "sram : memory_st^ate"))
        assert "mem(64)" in await hover(editor, path, place(text, "inport win^dow"))
        assert "arbiter" in await hover(editor, path, place(text, "arb^iter.out -> controller.in"))

    edit(server(build_dir), scenario)


def test_outline_and_layout(tmp_path: Path, build_dir: Path) -> None:
    path = shapes(tmp_path)
    text = "module m {\n  if (true) { inport in : uint32; }\n    state { uint8 n;  }\n  phase_start -> in.ack;\n}\nconst a=1;\n"

    async def scenario(editor: Editor) -> None:
        editor.open(path, text)
        outline = await editor.client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(editor.document(path))
        )
        assert outline and [s.name for s in outline] == ["m", "a"]
        assert [c.name for c in outline[0].children or []] == ["in", "n", "phase_start"]
        options = lsp.FormattingOptions(2, True)
        params = lsp.DocumentFormattingParams(editor.document(path), options)
        (change,) = await editor.client.text_document_formatting_async(params) or ()
        assert "const a = 1;" in change.new_text and change.range.end == lsp.Position(6, 0)
        editor.change(path, change.new_text)
        assert not await editor.client.text_document_formatting_async(params)

    edit(server(build_dir), scenario)


def outline(symbols: list, depth: int = 0) -> list[str]:
    lines = []
    for one in symbols:
        at, name = one.range, one.selection_range
        lines.append(f"{'  ' * depth}{one.name}: {one.kind.name} {at.start.line + 1}:{at.start.character + 1}-{at.end.line + 1}:{at.end.character + 1} {name.start.character + 1}-{name.end.character + 1}")
        lines += outline(one.children or [], depth + 1)
    return lines


def test_every_word_of_a_file(tmp_path: Path, build_dir: Path, golden) -> None:
    """The outline of a file that declares one of everything; where each word is declared; what is said of it."""
    shapes(tmp_path)
    path = tmp_path / "everything.lss"
    text = (HERE / "everything.lss").read_text()
    path.write_text(text)
    said = []

    async def scenario(editor: Editor) -> None:
        editor.open(path)
        symbols = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(editor.document(path)))
        said.extend(outline(symbols or []))
        for number, line in enumerate(text.splitlines()):
            for word in re.finditer(r"[A-Za-z]\w*", line):
                at = lsp.Position(number, word.start())
                found, shown = await definition(editor, path, at), await hover(editor, path, at)
                if found or shown:
                    target = f"{found[0]}:{found[1] + 1}:{found[2] + 1}" if found else "-"
                    said.append(f"{number + 1}:{word.start() + 1} {word[0]} -> {target} | {' / '.join(shown.split(chr(10))[:6])}")

    edit(server(build_dir), scenario)
    golden(HERE / "everything.golden", "\n".join(said) + "\n")


async def completions(editor: Editor, path: Path, text: str) -> set[str]:
    """What could stand at the character ^ of a text."""
    before, after = text.split("^")
    editor.change(path, before + after)
    at = lsp.Position(before.count("\n"), len(before) - (before.rfind("\n") + 1))
    found = await editor.client.text_document_completion_async(lsp.CompletionParams(editor.document(path), at))
    assert isinstance(found, list | tuple)
    return {item.label for item in found}


WRAPS = """import shapes;
module around {
  wraps core : source except script { default count = 4; };
  parameter twice = count * 2 : int;
  core.out -> out;
}
module further { wraps a : around { twice = 3; }; parameter more = count : int; }
instance f : further { count = 5; };
instance k : sink;
f.out -> k.in : uint32;
"""


def test_what_a_module_passes_on(tmp_path: Path, build_dir: Path) -> None:
    """Names that come from a wrapped module are found, however many are in between."""
    path = tmp_path / "w.lss"
    shapes(tmp_path)
    path.write_text(WRAPS)
    asked = {
        "core : so^urce": ("## source", "source.lss"),
        "except scr^ipt": ("parameter script", "source.lss"),
        "default cou^nt": ("parameter count", "source.lss"),
        "twice = cou^nt": ("parameter count", "source.lss"),
        "{ twi^ce = 3": ("parameter twice", "w.lss"),
        "more = co^unt": ("parameter count", "source.lss"),
        "{ co^unt = 5": ("parameter count", "source.lss"),
        "f.o^ut": ("outport out", "source.lss"),
    }

    async def scenario(editor: Editor) -> None:
        await answers(editor, path, asked)
        settings = await completions(editor, path, WRAPS + "instance x : further { ^")
        assert {"count", "more"} <= settings and not settings & {"script", "twice", "out"}
        assert "count" in await completions(editor, path, WRAPS + "module m { wraps x : source { default co^")
        assert {"source", "sink"} <= await completions(editor, path, WRAPS + "wraps x : ^")
        assert {"out"} <= await completions(editor, path, WRAPS + "f.^\n")

    edit(server(build_dir), scenario)


def test_machines_among_the_examples(tmp_path: Path, build_dir: Path) -> None:
    """An imported machine is a module wherever the compiler would find it; `extends` is offered machines alone."""
    path = tmp_path / "two.lss"
    text = "import quad_core;\nimport host;\ninstance node[2] : quad_core { processors = 2; };\ninstance server : host { cards = []; };\n"
    path.write_text(text)
    asked = {
        "import quad_c^ore": ("quad_core.lss", "quad_core.lss"),
        "node[2] : quad_c^ore": ("quad_core", "quad_core.lss"),
        "{ process^ors": ("parameter processors", "quad_core.lss"),
        "{ car^ds": ("parameter cards", "host.lss"),
    }

    async def scenario(editor: Editor) -> None:
        await answers(editor, path, asked)
        assert {"processors", "dcache_size"} <= await completions(editor, path, text + "instance x : quad_core { ^")
        assert {"host", "quad_core", "memory_types"} <= await completions(editor, path, text + "import ^")
        machines = await completions(editor, path, "extends ^")
        assert {"host", "smp", "tigon2"} <= machines and not machines & {"memory_types", "tigon2_nic", "cache"}

    edit(server(build_dir), scenario)


def test_private_names(tmp_path: Path, build_dir: Path) -> None:
    """A name that begins with `_` is that of the same file; those of other files are no completions."""
    (tmp_path / "tables.lss").write_text(
        "const _LIMIT = 3;\nfunction _fill(n) { return n; }\nfunction filled(n) { return _fill(n); }\n"
    )
    path = tmp_path / "p.lss"
    text = "import tables;\nfunction _fill(n) { return 2 * n; }\nvar x = _fill(filled(1)) + _LIMIT;\n"
    path.write_text(text)

    async def scenario(editor: Editor) -> None:
        await answers(editor, path, {"= _fi^ll": ("2 * n", "p.lss"), "(fil^led": ("return _fill(n)", "tables.lss")})
        assert await definition(editor, path, place(text, "_LI^MIT")) is None
        assert await hover(editor, path, place(text, "_LI^MIT")) == ""
        words = await completions(editor, path, text + "^")
        assert {"_fill", "filled"} <= words and "_LIMIT" not in words

    edit(server(build_dir), scenario)


def test_completions(tmp_path: Path, build_dir: Path) -> None:
    """Each kind of place, on lines that are not complete."""
    path = shapes(tmp_path)

    async def scenario(editor: Editor) -> None:
        editor.open(path)
        assert {"shapes", "memory_types"} <= await completions(editor, path, MACHINE + "import ^")
        assert {"source", "pipe"} <= await completions(editor, path, MACHINE + "instance x : ^")
        ports = await completions(editor, path, MACHINE + "buffers[1].^\n")
        assert {"in", "out"} <= ports and "module" not in ports
        assert {"MHz", "ns", "Gb/s"} <= await completions(editor, path, MACHINE + "clock c = 5 M^")
        settings = await completions(editor, path, MACHINE + "instance x : source { cou^")
        assert "count" in settings and "out" not in settings
        assert "count" in await completions(editor, path, MACHINE + "instance x : source { rate; cou^")
        inside = await completions(editor, path, MACHINE + "instance x : source {\n  ^\n};\n")
        assert "count" in inside and "out" not in inside
        words = await completions(editor, path, MACHINE + "^")
        assert {"instance", "producer", "mhz", "TABLE", "uint32", "color", "keyed"} <= words
        module = "module m {{\n  inport in : uint32;\n  phase_start -> in.{};\n}}\n"
        assert await completions(editor, path, module.format("^")) == {"data", "enable", "ack"}
        assert {"red", "green"} == await completions(editor, path, "import shapes;\nvar c = color.^\n")

    edit(server(build_dir), scenario)
