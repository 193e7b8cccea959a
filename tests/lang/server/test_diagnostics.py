"""What an editor is told while a file is edited, by a client that speaks the protocol."""

import time
from pathlib import Path

from lsprotocol import types as lsp

from tests.lang.server.client import Editor, edit

MODULE = """module half {
  inport in : uint32;
  outport out : uint32;
  instance delay : pipe;
  in -> delay.in;
  delay.out -> out;
}
"""
MACHINE = """import half;
instance producer : source;
instance middle : half;
instance consumer : sink;
producer.out -> middle.in;
middle.out -> consumer.in;
"""


def codes(diagnostics: list[lsp.Diagnostic]) -> list:
    return [d.code for d in diagnostics]


def lines(diagnostics: list[lsp.Diagnostic]) -> list[int]:
    return [d.range.start.line for d in diagnostics]


def test_a_change_of_the_nic(root: Path, build_dir: Path) -> None:
    """A module by itself: the machine beside it that uses it says what is wrong, soon."""
    path = root / "examples" / "tigon2" / "tigon2_nic.lss"
    text = path.read_text()
    assert "queue = 8" in text
    times: list[float] = []

    async def scenario(editor: Editor) -> None:
        editor.open(path)
        assert await editor.published(path) == []
        for _ in range(5):
            begin = time.monotonic()
            editor.change(path, text.replace("queue = 8", "queu = 8"))
            (found,) = await editor.diagnostics(path, bool)
            times.append(time.monotonic() - begin)
            assert found.code == "unknown-parameter" and found.severity == lsp.DiagnosticSeverity.Error
            assert "did you mean `queue`?" in found.message and "in instance nic.controller" in found.message
            line = text.splitlines()[found.range.start.line]
            assert line[found.range.start.character :].startswith("queue = 8")
            (note,) = found.related_information or []
            assert note.location.uri.endswith("/sram_controller.lss") and note.message == "declared here"
            editor.change(path, text)
            assert await editor.diagnostics(path, lambda d: not d) == []

    edit([build_dir / "bin" / "lss", "server"], scenario)
    print("diagnostics after", ", ".join(f"{1000 * t:.0f}" for t in sorted(times)), "ms")


def test_unsaved_files_count(tmp_path: Path, build_dir: Path) -> None:
    """What another file imports is what the editor holds, saved or not, and there need not be a file."""
    module, machine = tmp_path / "half.lss", tmp_path / "whole.lss"
    machine.write_text(MACHINE)

    async def scenario(editor: Editor) -> None:
        editor.open(machine)
        assert codes(await editor.diagnostics(machine, bool)) == ["import-missing"]
        editor.open(module, MODULE)
        await editor.diagnostics(machine, lambda d: not d)
        assert await editor.published(module) == [], "of the second file, too"
        editor.change(module, MODULE.replace("uint32;\n  instance", "bool;\n  instance"))
        found = await editor.diagnostics(module, bool)
        assert "type-clash" in codes(found)
        editor.change(module, MODULE)
        await editor.diagnostics(module, lambda d: not d)
        editor.close(module)
        assert codes(await editor.diagnostics(machine, bool)) == ["import-missing"]

    edit([build_dir / "bin" / "lss", "server"], scenario)


def test_a_table_counts_like_a_source(tmp_path: Path, build_dir: Path) -> None:
    """Its mistakes are shown in it, as the editor holds it, and a change on the disk checks the machine again."""
    table, machine = tmp_path / "steps.csv", tmp_path / "m.lss"
    machine.write_text('var rows = read_csv("steps.csv");\ninstance s : source { count = rows[0].steps; };\ninstance k : sink;\ns.out -> k.in : uint32;\n')

    async def scenario(editor: Editor) -> None:
        editor.open(machine)
        assert codes(await editor.diagnostics(machine, bool)) == ["csv"]
        table.write_text("steps,more\n3\n")
        change = lsp.FileEvent(table.as_uri(), lsp.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
        await editor.diagnostics(machine, lambda d: not d)
        assert lines(await editor.diagnostics(table, bool)) == [1]
        editor.open(table, "steps\n3\n")
        await editor.diagnostics(table, lambda d: not d)

    edit([build_dir / "bin" / "lss", "server"], scenario)


def test_ranges_count_in_utf16(tmp_path: Path, build_dir: Path) -> None:
    """Changes of ranges, empty ones too, and places, beside characters of several bytes and of two units."""
    machine = tmp_path / "m.lss"
    text = "instance s : source;\ninstance k : sink;\n/* é 😀 */ s.out -> k.in;\n"

    async def scenario(editor: Editor) -> None:
        editor.open(machine, text)
        await editor.published(machine)
        at = lsp.Position(2, text.splitlines()[2].index("k.in") + 1)  # the emoji is two units of UTF-16
        whole = lsp.Range(at, lsp.Position(at.line, at.character + 4))
        editor.change(machine, lsp.TextDocumentContentChangePartial(whole, "k.inn"))
        (found,) = await editor.diagnostics(machine, lambda d: "unknown-port" in codes(d))
        assert found.range.start.line == 2 and found.range.start.character in (at.character, at.character + 2)
        start = lsp.Position(0, 0)
        for end, put, line in ((start, "\n\n", 4), (lsp.Position(1, 0), "", 3)):  # an insertion, a deletion
            editor.change(machine, lsp.TextDocumentContentChangePartial(lsp.Range(start, end), put))
            await editor.diagnostics(machine, lambda d, line=line: lines(d) == [line])

    edit([build_dir / "bin" / "lss", "server"], scenario)


def test_c_of_modules_comes_later(tmp_path: Path, build_dir: Path) -> None:
    """clang's words, at the line of the module's C; gone when it is mended and saved."""
    module, code, machine = tmp_path / "own.lss", tmp_path / "own.c", tmp_path / "m.lss"
    module.write_text("module own { inport in : uint32; phase_start -> in.ack; }\n")
    code.write_text("phase_start() {\n  accept(in, tru);\n}\n")
    machine.write_text("instance s : source;\ninstance o : own;\ns.out -> o.in;\n")

    async def scenario(editor: Editor) -> None:
        editor.open(machine)
        found = await editor.diagnostics(code, bool)
        assert lines(found) == [1] and codes(found) == ["c-code"], found
        code.write_text(code.read_text().replace("tru)", "true)"))
        editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(editor.document(code)))
        await editor.diagnostics(code, lambda d: not d)

    edit([build_dir / "bin" / "lss", "server"], scenario)


def test_a_machine_of_the_command_line(tmp_path: Path, build_dir: Path) -> None:
    """A module of another folder is checked in the machine that the command line names."""
    (tmp_path / "lib").mkdir()
    module, machine = tmp_path / "lib" / "half.lss", tmp_path / "whole.lss"
    module.write_text(MODULE)
    machine.write_text(MACHINE)

    async def scenario(editor: Editor) -> None:
        editor.open(module, MODULE.replace("delay.in;", "delay.inn;"))
        (found,) = await editor.diagnostics(module, bool)
        assert found.code == "unknown-port" and "in instance middle" in found.message

    edit([build_dir / "bin" / "lss", "server", "-I", tmp_path / "lib", machine], scenario)
