"""The protocol itself: what is malformed is answered, what is over ends, and long sessions cost nothing."""

import json
import os
import select
import subprocess
from pathlib import Path

import pytest

from tests.kits import Kit
from tests.lang.server.client import Editor, edit


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


INITIALIZE = frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
SHUTDOWN = frame({"jsonrpc": "2.0", "id": 99, "method": "shutdown"})
EXIT = frame({"jsonrpc": "2.0", "method": "exit"})


def talk(lss: Path, *parts: bytes) -> tuple[int, list[dict]]:
    """Sends all at once and closes; the exit status and what came back."""
    done = subprocess.run([lss, "server"], input=b"".join(parts), capture_output=True, timeout=60)
    assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode()
    messages, rest = [], done.stdout
    while rest:
        header, _, rest = rest.partition(b"\r\n\r\n")
        length = int(header.removeprefix(b"Content-Length: "))
        messages.append(json.loads(rest[:length]))
        rest = rest[length:]
    return done.returncode, messages


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (b"Content-Length: none\r\n\r\n", -32700),
        (b"Content-Length: -5\r\n\r\n", -32700),
        (b"Content-Length: 99999999999\r\n\r\n", -32700),
        (b"Nothing: 1\r\n\r\n", -32700),
        (b"x" * 5000, -32700),
        (frame(b"{"), -32700),
        (frame(b"[" * 100000), -32700),
        (frame(b'{"id": 1, "method": "\xff"}'), -32700),
        (frame({"id": 2}), -32600),
        (frame({"id": 2, "method": 7}), -32600),
        (frame({"id": 2, "method": "no/such"}), -32601),
        (frame({"id": 2, "method": "textDocument/hover", "params": 5}), -32602),
        (
            frame({"id": 2, "method": "textDocument/hover", "params": {"textDocument": {"uri": "file:///x.lss"}}}),
            -32602,
        ),
        (frame({"id": 2, "method": "initialize"}), -32600),
        (frame({"id": 2, "method": "textDocument/didOpen"}), -32600),
    ],
)
def test_malformed_messages_have_their_replies(wrong: bytes, code: int, kit: Kit) -> None:
    status, messages = talk(kit.lss, INITIALIZE, wrong, SHUTDOWN, EXIT)
    errors = [m["error"]["code"] for m in messages if "error" in m]
    assert errors == [code], messages
    assert status == 0 and messages[-1]["id"] == 99


def test_a_header_is_too_long_once_it_has_4096_bytes(build_dir: Path) -> None:
    """And is answered then, not when more comes."""
    with subprocess.Popen([build_dir / "bin" / "lss", "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin and server.stdout
        server.stdin.write(INITIALIZE + b"x" * 4096)
        server.stdin.flush()
        answers = b""
        while b'"id":null' not in answers.replace(b" ", b"") and select.select([server.stdout], [], [], 20)[0]:
            answers += os.read(server.stdout.fileno(), 65536)
        server.communicate(SHUTDOWN + EXIT)
    assert b"a header without an end" in answers and server.returncode == 0


def test_malformed_notifications_are_ignored(kit: Kit) -> None:
    methods = ["didOpen", "didChange", "didSave", "didClose"]
    shapes = [
        None,
        5,
        {},
        {"textDocument": {"uri": 5}},
        {"textDocument": {"uri": "file:///x.lss"}, "contentChanges": {}},
    ]
    shapes += [
        {"textDocument": {"uri": "file:///x.lss", "text": 5}, "contentChanges": [5, {}, {"range": {}, "text": ""}]}
    ]
    wrong = [frame({"method": f"textDocument/{m}", "params": s}) for m in methods for s in shapes]
    wrong += [frame({"method": "$/cancelRequest", "params": s}) for s in shapes]
    wrong += [frame({"method": "workspace/didChangeWatchedFiles", "params": {"changes": c}}) for c in (5, [5], [{}])]
    status, messages = talk(kit.lss, INITIALIZE, *wrong, SHUTDOWN, EXIT)
    assert status == 0 and [m["id"] for m in messages] == [1, 99]


def test_order_of_life(build_dir: Path) -> None:
    lss = build_dir / "bin" / "lss"
    status, messages = talk(lss, frame({"id": 5, "method": "textDocument/hover"}), EXIT)
    assert status == 1 and messages[0]["error"]["code"] == -32002
    status, messages = talk(lss, INITIALIZE, SHUTDOWN, frame({"id": 5, "method": "textDocument/hover"}), EXIT)
    assert status == 0 and messages[-1]["error"]["code"] == -32600
    assert talk(lss, INITIALIZE)[0] == 1, "the end of the input ends it"
    assert talk(lss, INITIALIZE, b"Content-Length: 100\r\n\r\n{")[0] == 1, "in the middle of a message, too"


def test_a_question_is_cancelled(tmp_path: Path, kit: Kit) -> None:
    document = {"uri": (tmp_path / "m.lss").as_uri(), "version": 1, "text": "instance s : source;\n"}
    opened = frame({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    params = {"textDocument": document, "position": {"line": 0, "character": 0}}
    question = frame({"id": 7, "method": "textDocument/completion", "params": params})
    cancelled = frame({"method": "$/cancelRequest", "params": {"id": 7}})
    status, messages = talk(kit.lss, INITIALIZE, opened, question, cancelled, SHUTDOWN, EXIT)
    assert status == 0 and [m["error"]["code"] for m in messages if m.get("id") == 7] == [-32800]


def memory_of(process: int) -> int:
    fields = Path(f"/proc/{process}/statm").read_text().split()
    return int(fields[1]) * 4096


def test_a_thousand_changes(tmp_path: Path, build_dir: Path) -> None:
    """The server's memory stays as it is, stale work is dropped, and the last change is what is told."""
    path = tmp_path / "m.lss"
    texts = [f"instance s : source;\ninstance k : sink;\ns.out -> k.in : uint32;\n// {n}\n" for n in range(1000)]

    async def scenario(editor: Editor) -> None:
        server = editor.client._server
        assert server is not None
        editor.open(path, texts[0])
        await editor.published(path)
        for n in range(100):
            editor.change(path, texts[n].replace("k.in", "k.inn"))
            await editor.diagnostics(path, bool) if n % 10 == 0 else None
            editor.change(path, texts[n])
            await editor.diagnostics(path, lambda d: not d) if n % 10 == 0 else None
        before = memory_of(server.pid)
        for text in texts[:-1]:
            editor.change(path, text)
        editor.change(path, texts[-1].replace("k.in", "k.inn"))
        (found,) = await editor.diagnostics(path, bool)
        assert found.code == "unknown-port"
        assert memory_of(server.pid) < before + (8 << 20)

    edit([build_dir / "bin" / "lss", "server"], scenario)


def test_an_editing_session(tmp_path: Path, kit: Kit) -> None:
    """Every question at every place of a file that is typed character by character."""
    path = tmp_path / "m.lss"
    text = "instance s : source { count = 5; };\ninstance k : sink;\ns.out -> k.in : uint32;\n"
    parts = [
        INITIALIZE,
        frame(
            {
                "method": "textDocument/didOpen",
                "params": {"textDocument": {"uri": path.as_uri(), "version": 1, "text": ""}},
            }
        ),
    ]
    document = {"uri": path.as_uri(), "version": 1}
    methods = ["hover", "definition", "completion", "documentSymbol", "formatting", "references", "prepareRename", "rename"]
    asked = 0
    for end in range(1, len(text), 3):
        parts += [
            frame(
                {
                    "method": "textDocument/didChange",
                    "params": {"textDocument": document, "contentChanges": [{"text": text[:end]}]},
                }
            )
        ]
        line = text.count("\n", 0, end)
        position = {"line": line, "character": end - (text.rfind("\n", 0, end) + 1)}
        asked += 1
        question = {"textDocument": document, "position": position, "newName": "other"}
        parts += [frame({"id": 1000 + asked, "method": f"textDocument/{methods[asked % 8]}", "params": question})]
    process = subprocess.Popen(
        [kit.lss, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    process.stdin.write(b"".join(parts))
    process.stdin.flush()
    answers: list[dict] = []
    while len([a for a in answers if a.get("id", 0) > 1000]) < asked:
        length = int(process.stdout.readline().removeprefix(b"Content-Length: "))
        process.stdout.readline()
        answers.append(json.loads(process.stdout.read(length)))
    out, err = process.communicate(SHUTDOWN + EXIT, timeout=60)
    assert process.returncode == 0 and b"Sanitizer" not in err, err.decode()
    assert not [a for a in answers if "error" in a and a["error"]["code"] != -32803]  # what cannot be renamed
