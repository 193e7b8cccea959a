"""References and renaming: each name that the text shows, in all files of the workspace; what cannot be is one line."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.lang.server.client import Editor, edit
from tests.lang.server.test_questions import place, server

FILES = {
    "shop_types.lss": """const _SHELVES = 4;
const SIZES = [_SHELVES, 2];
function shelves(n : int) : int { var sum = 0; for (i = 0; i < n; i = i + 1) { sum = sum + _SHELVES; } return sum; }
""",
    "store.lss": """import shop_types;
module store {
  parameter depth = shelves(1) : int in 1..SIZES[0] * 8;
  parameter limit = depth : int;
  userpoint fits(uint32 n) -> bool = <<< return n < param(depth) + ${depth}; >>>;
  inport in : 'a;
  outport out : 'a;
  local bool full[in.width];
  state { 'a held[depth]; }
  phase_start -> full, out.data;
  handler take[k] : in[k].data, full[k] -> in[k].ack;
}
""",
    "around.lss": """module around {
  wraps core : store except fits { default depth = 6; limit = depth; };
  parameter twice = depth * 2 : int;
  instance other : store { depth; limit = twice; };
  for (lane = 0; lane < in.width; lane = lane + 1) { in[lane] -> core.in[lane]; }
  core.out -> other.in;
  other.out -> out;
}
module pair {
  parameter length = 3 : int;
  instance a : store { depth = length; limit; };
  instance b : around { depth = 2; };
  const limit = length;
  if (length > 1) { a.depth = 5; }
}
""",
    "m.lss": """import shop_types;
parameter fill = 8 : int;
const far = SIZES[1];
instance s : source;
instance a : around { depth = fill + shelves(far); };
instance b : around { twice = fill; };
instance shop : store(depth = fill) { fits = <<< return n < param(depth); >>>; limit = fill; };
instance k : sink;
s.out -> a.in : uint32;
a.out -> b.in;
b.out -> shop.in;
shop.out -> k.in;
""",
}  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "store.c").write_text("handler(take) { send(out, param(depth)); }\n")
    return tmp_path


def session(build_dir: Path, shop: Path, scenario: Callable[[Editor], Awaitable[None]]) -> None:
    edit(server(build_dir), scenario, shop)


def at(shop: Path, file: str, mark: str) -> tuple[Path, lsp.Position]:
    return shop / file, place((shop / file).read_text(), mark)


def applied(text: str, edits: list) -> str:
    lines = text.splitlines(keepends=True)
    for one in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        line = lines[one.range.start.line]
        lines[one.range.start.line] = line[: one.range.start.character] + one.new_text + line[one.range.end.character :]
    return "".join(lines)


async def renamed(editor: Editor, where: tuple[Path, lsp.Position], name: str) -> dict[str, list[str]]:
    """The lines that a rename changes, by file, as they are then."""
    path, position = where
    editor.open(path)
    prepared = await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(editor.document(path), position))
    assert prepared
    found = await editor.client.text_document_rename_async(lsp.RenameParams(editor.document(path), position, name))
    editor.close(path)
    result = {}
    for uri, edits in sorted((found.changes or {}).items()):
        file = Path(uri.removeprefix("file://"))
        before = file.read_text()
        after = applied(before, list(edits))
        result[file.name] = [new.strip() for old, new in zip(before.splitlines(), after.splitlines(), strict=True) if old != new]
    return result


# Where, the new name, and some of the lines that change; the number of all of them.
RENAMES = {
    "parameter": ("around.lss", "default de^pth", "rooms"),
    "set": ("store.lss", "parameter li^mit", "most"),
    "passed": ("around.lss", "const li^mit", "most"),
    "outer": ("around.lss", "depth = len^gth", "extent"),
    "own": ("m.lss", "{ twi^ce", "both"),
    "userpoint": ("store.lss", "userpoint fi^ts", "holds"),
    "port": ("m.lss", "a.i^n", "entry"),
    "instance": ("m.lss", "sh^op.out", "last"),
    "wraps": ("around.lss", "co^re : store", "inner"),
    "array": ("store.lss", "fu^ll[k]", "taken"),
    "constant": ("m.lss", "SI^ZES", "COUNTS"),
    "private": ("shop_types.lss", "[_SHEL^VES", "_ROWS"),
    "function": ("store.lss", "shel^ves(1)", "rows"),
    "argument": ("shop_types.lss", "i < ^n", "most"),
    "variable": ("shop_types.lss", "return s^um", "all"),
    "loop": ("shop_types.lss", "(^i = 0", "turn"),
    "lane": ("around.lss", "in[la^ne]", "way"),
}


def test_renames(shop: Path, build_dir: Path, golden) -> None:
    """Each kind of declaration, begun at its declaration or at a use."""
    said = []

    async def scenario(editor: Editor) -> None:
        for kind, (file, mark, new) in RENAMES.items():
            said.append(f"{kind}: {mark.replace('^', '')} of {file} -> {new}")
            for name, lines in (await renamed(editor, at(shop, file, mark), new)).items():
                said.extend(f"  {name}: {line}" for line in lines)

    session(build_dir, shop, scenario)
    golden(Path(__file__).parent / "rename.golden", "\n".join(said) + "\n")


REFUSED = {
    "digit": ("store.lss", "parameter de^pth", "2x", '"2x" is no name: letters, digits and _ are, without a digit in front'),
    "two": ("store.lss", "parameter de^pth", "a b", '"a b" is no name: letters, digits and _ are, without a digit in front'),
    "empty": ("store.lss", "parameter de^pth", "", '"" is no name: letters, digits and _ are, without a digit in front'),
    "word": ("m.lss", "instance sh^op", "module", "`module` is a reserved word"),
    "c": ("store.lss", "parameter de^pth", "register", "a parameter cannot be called `register`: that word has a meaning in C"),
    "type": ("m.lss", "const fa^r", "uint8", "`uint8` is the name of a built-in type"),
    "builtin": ("shop_types.lss", "function she^lves", "length", "`length` is the name of a built-in function"),
    "own": ("store.lss", "parameter de^pth", "limit", "`limit` is taken by the parameter at store.lss:4"),
    "wrapping": ("store.lss", "parameter de^pth", "twice", "`twice` is taken by the parameter at around.lss:3"),
    "instance": ("m.lss", "instance ^k", "a", "`a` is taken by the instance at m.lss:5"),
    "global": ("store.lss", "parameter de^pth", "SIZES", "`SIZES` is taken by the const at shop_types.lss:2"),
    "used": ("shop_types.lss", "const SI^ZES", "far", "`far` is taken by the const at m.lss:3"),
    "module": ("shop_types.lss", "function she^lves", "store", "`store` is taken by the module at store.lss:2"),
    "hidden": ("shop_types.lss", "const _SHEL^VES", "sum", "`sum` is taken by the variable at shop_types.lss:3"),
    "private": ("shop_types.lss", "function she^lves", "_rows", "`_rows` would be private to shop_types.lss, and m.lss:5 uses it"),
    "library": ("m.lss", "s.o^ut", "exit", "`out` is declared in source.lss, which is not in the workspace"),
    "field": ("store.lss", "'a he^ld", "kept", "the field `held` cannot be renamed: "),
    "named": ("m.lss", "s : sou^rce", "spring", "the module `source` cannot be renamed: "),
}


def test_what_cannot_be(shop: Path, build_dir: Path) -> None:
    async def scenario(editor: Editor) -> None:
        for file, mark, new, error in REFUSED.values():
            path, position = at(shop, file, mark)
            editor.open(path)
            with pytest.raises(JsonRpcException) as refused:
                await editor.client.text_document_rename_async(lsp.RenameParams(editor.document(path), position, new))
            assert refused.value.message.startswith(error) and "\n" not in refused.value.message
            editor.close(path)
        path, position = at(shop, "m.lss", "import^ shop")
        editor.open(path)
        assert await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(editor.document(path), position)) is None
        assert await editor.client.text_document_rename_async(lsp.RenameParams(editor.document(path), position, "x")) is None

    session(build_dir, shop, scenario)


def test_the_machine_stays_the_same(shop: Path, build_dir: Path, lss) -> None:
    """After each rename the machine has no error, and is made of as many values."""

    def exported() -> int:
        lss("check", "--netlist-only", "m.lss", cwd=shop)
        return lss("export", "m.lss", cwd=shop).out.count('"value"')

    values = exported()

    async def scenario(editor: Editor) -> None:
        for kind, (file, mark, new) in RENAMES.items():
            path, position = at(shop, file, mark)
            editor.open(path)
            params = lsp.RenameParams(editor.document(path), position, new)
            found = await editor.client.text_document_rename_async(params)
            editor.close(path)
            for uri, edits in (found.changes or {}).items():
                changed = Path(uri.removeprefix("file://"))
                changed.write_text(applied(changed.read_text(), list(edits)))
            assert exported() == values, kind
            for name, text in FILES.items():
                (shop / name).write_text(text)

    session(build_dir, shop, scenario)


def test_references(shop: Path, build_dir: Path) -> None:
    """All uses of a name, with its declaration when that is wanted; of an open document as the editor has it."""
    expected = {"around.lss": [1, 1, 2, 3, 10, 11, 13], "m.lss": [4, 5, 6, 6], "store.lss": [2, 3, 4, 4, 8]}

    async def scenario(editor: Editor) -> None:
        path, position = at(shop, "store.lss", "limit = dep^th")
        editor.open(path)
        editor.open(shop / "m.lss", FILES["m.lss"].replace("{ twice = fill; }", "{ depth = fill; }"))
        for declared in (True, False):
            params = lsp.ReferenceParams(lsp.ReferenceContext(declared), editor.document(path), position)
            found: dict[str, list[int]] = {}
            for one in await editor.client.text_document_references_async(params) or ():
                found.setdefault(Path(one.uri).name, []).append(one.range.start.line)
            assert found == expected
            expected["store.lss"] = expected["store.lss"][1:]

    session(build_dir, shop, scenario)


def test_the_c_of_a_module_is_left(shop: Path, build_dir: Path) -> None:
    """The editor shows in which files the old name stays."""

    async def scenario(editor: Editor) -> None:
        await renamed(editor, at(shop, "store.lss", "parameter de^pth"), "rooms")
        assert [m.message for m in editor.client.messages] == ["`depth` stays in store.c: rename it there, too"]
        await renamed(editor, at(shop, "store.lss", "parameter lim^it"), "most")
        assert len(editor.client.messages) == 1

    session(build_dir, shop, scenario)


def test_machines(shop: Path, build_dir: Path) -> None:
    """Files that extend a machine set its parameters, and so does a netlist that it is a part of."""
    (shop / "large.lss").write_text("extends m { default fill = 4; }\n")
    (shop / "larger.lss").write_text("import shop_types;\nextends large { default fill = SIZES[0]; }\n")
    (shop / "two.lss").write_text("import m;\ninstance node[2] : m { fill = 3; };\n")

    async def scenario(editor: Editor) -> None:
        expected = {
            "large.lss": ["extends m { default amount = 4; }"],
            "larger.lss": ["extends large { default amount = SIZES[0]; }"],
            "two.lss": ["instance node[2] : m { amount = 3; };"],
        }
        for file, mark in (("m.lss", "parameter fi^ll"), ("larger.lss", "default fi^ll"), ("two.lss", "{ fi^ll")):
            found = await renamed(editor, at(shop, file, mark), "amount")
            assert len(found.pop("m.lss")) == 4 and found == expected
        path, position = at(shop, "large.lss", "extends ^m")
        editor.open(path)
        (place_of,) = [await editor.client.text_document_definition_async(lsp.DefinitionParams(editor.document(path), position))]
        assert place_of.uri.endswith("/m.lss")

    session(build_dir, shop, scenario)


OPEN = """module chosen {
  parameter part = store : module;
  parameter big = true : bool;
  parameter room = 3 : int;
  instance a : part { depth = 2; limit = room; };
  if (big) { instance b : store { depth = 1; }; b.limit = 4; } else { instance b : around { depth = 1; }; b.twice = 2; }
  b.depth = room;
}
"""


def test_what_only_a_machine_decides(shop: Path, build_dir: Path) -> None:
    """The module of an instance may come by a value, and instances in branches may share a name: a message says where."""
    (shop / "chosen.lss").write_text(OPEN)
    said = {
        ("store.lss", "parameter de^pth", "rooms"): "at chosen.lss:5 (and at 1 more)",
        ("store.lss", "parameter lim^it", "most"): "at chosen.lss:5",
        ("around.lss", "parameter tw^ice", "both"): "",
    }

    async def scenario(editor: Editor) -> None:
        for (file, mark, new), where in said.items():
            editor.client.messages.clear()
            changed = await renamed(editor, at(shop, file, mark), new)
            shown = "".join(m.message for m in editor.client.messages)
            assert (f"{where}, whether" in shown) if where else not shown
            assert "instance a : part { depth = 2; limit = room; };" not in changed["chosen.lss"]

    session(build_dir, shop, scenario)


NAMESAKES = """enum color { red, green };
module sink_of {
  parameter size = 1 KiB : size;
  parameter color = 3 : int;
  outport level : color;
  local color shown[size / (1 B)];
  instance sink : sink;
  level -> sink.in;
  handler sink[k] : color -> level.data;
  const shade = color;
  outport held : uint32;
  state { uint32 held[4] in 0..size / (1 B); uint8 n; n % 3 in 0..2; }
  debug sink { registers = held; }
}
module user { instance m : sink_of; debug pool { pc = m.held; } m.held -> out; }
"""


def test_types_and_modules_of_the_same_name(tmp_path: Path, build_dir: Path) -> None:
    """Where a type or module is expected, a parameter or instance of its name is not meant."""
    (tmp_path / "n.lss").write_text(NAMESAKES)

    async def scenario(editor: Editor) -> None:
        assert await renamed(editor, at(tmp_path, "n.lss", "parameter si^ze"), "bytes") == {
            "n.lss": ["parameter bytes = 1 KiB : size;", "local color shown[bytes / (1 B)];", "state { uint32 held[4] in 0..bytes / (1 B); uint8 n; n % 3 in 0..2; }"]
        }
        assert await renamed(editor, at(tmp_path, "n.lss", "outport he^ld"), "kept") == {
            "n.lss": ["outport kept : uint32;", "module user { instance m : sink_of; debug pool { pc = m.held; } m.kept -> out; }"]
        }
        assert await renamed(editor, at(tmp_path, "n.lss", "instance si^nk"), "drain") == {
            "n.lss": ["instance drain : sink;", "level -> drain.in;"]
        }
        assert await renamed(editor, at(tmp_path, "n.lss", "parameter co^lor"), "hue") == {
            "n.lss": ["parameter hue = 3 : int;", "handler sink[k] : hue -> level.data;", "const shade = hue;"]
        }

    session(build_dir, tmp_path, scenario)


def test_without_a_folder(shop: Path, build_dir: Path) -> None:
    """An editor that has opened no folder means the one of the file, and what is open elsewhere."""
    far = shop / "far"
    far.mkdir()
    (far / "user.lss").write_text("import shop_types;\nconst own = shelves(2);\n")

    async def scenario(editor: Editor) -> None:
        where = far / "user.lss", place((far / "user.lss").read_text(), "shel^ves")
        with pytest.raises(JsonRpcException, match="`shelves` is declared in shop_types.lss, which is not in the workspace"):
            await renamed(editor, where, "rows")
        editor.open(shop / "shop_types.lss")
        assert {"shop_types.lss", "user.lss"} == set(await renamed(editor, where, "rows"))

    edit([*server(build_dir), "-I", shop], scenario)
