"""A client of the language server: pytest-lsp's, with what the tests ask of it in one call each."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types as lsp
from pytest_lsp import client_capabilities, make_test_lsp_client

TIMEOUT = 120  # seconds until a test fails instead of hanging


class Editor:
    """An editor with some files open."""

    def __init__(self) -> None:
        self.client = make_test_lsp_client()
        self.versions: dict[str, int] = {}

    async def start(self, *command: str | Path, folder: Path | None = None) -> None:
        await self.client.start_io(*map(str, command))
        capabilities = client_capabilities("visual-studio-code")
        folders = [lsp.WorkspaceFolder(folder.as_uri(), folder.name)] if folder else None
        params = lsp.InitializeParams(capabilities=capabilities, root_uri="file:///", workspace_folders=folders)
        await self.client.initialize_session(params)

    def open(self, path: Path, text: str | None = None) -> None:
        self.versions[path.as_uri()] = 1
        item = lsp.TextDocumentItem(path.as_uri(), "lss", 1, path.read_text() if text is None else text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(self.document(path)))

    def document(self, path: Path) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(path.as_uri())

    def change(self, path: Path, *changes: object) -> None:
        """Applies texts, of the whole document, and changes of ranges."""
        self.versions[path.as_uri()] += 1
        items = [lsp.TextDocumentContentChangeWholeDocument(c) if isinstance(c, str) else c for c in changes]
        document = lsp.VersionedTextDocumentIdentifier(self.versions[path.as_uri()], path.as_uri())
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, items))

    async def diagnostics(self, path: Path, wanted: Callable[[list[lsp.Diagnostic]], bool]) -> list[lsp.Diagnostic]:
        """What is said of a file, as soon as it is what is wanted."""
        while not wanted(found := list(self.client.diagnostics.get(path.as_uri(), []))):
            await self.client.wait_for_notification("textDocument/publishDiagnostics")
        return found

    async def published(self, path: Path) -> list[lsp.Diagnostic]:
        """What is said of a file when something was said of it at all."""
        while path.as_uri() not in self.client.diagnostics:
            await self.client.wait_for_notification("textDocument/publishDiagnostics")
        return list(self.client.diagnostics[path.as_uri()])


def edit(command: list, scenario: Callable[[Editor], Awaitable[None]], folder: Path | None = None) -> None:
    """Runs a scenario with an editor whose server is `command`, which must end well afterwards."""

    async def session() -> None:
        editor = Editor()
        await editor.start(*command, folder=folder)
        await scenario(editor)
        server = editor.client._server
        await editor.client.shutdown_session()
        assert server is not None and await server.wait() == 0

    async def bounded() -> None:
        await asyncio.wait_for(session(), TIMEOUT)

    asyncio.run(bounded())
