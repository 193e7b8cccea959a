"""Work that `spinach watch` shows, and what a browser would send to its page."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect


class Watched:
    """A command that is watched, and what a browser would send."""

    def __init__(self, root: Path, folder: Path, *words: str | Path) -> None:
        command = [sys.executable, "-m", "harness", "watch", *words]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/\?token=([\w-]{22})\n", line)
        assert match, line + self.process.stderr.read()
        self.url, self.token = match[1], match[2]

    def status(self, path: str = "/", **headers: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    async def connect(self, **headers: str):
        given = {"Origin": self.url, "Cookie": f"spinach={self.token}", **headers}
        request = HTTPRequest(self.url.replace("http", "ws") + "/live", headers={name: text for name, text in given.items() if text})
        return await websocket_connect(request)

    def refused(self, **headers: str) -> int:
        with pytest.raises(HTTPClientError) as caught:
            asyncio.run(self.connect(**headers))
        return caught.value.code


async def shown(live, wanted) -> dict:
    """The next message of which this is true."""
    while True:
        text = await asyncio.wait_for(live.read_message(), 90)
        assert text is not None, "the server has closed the connection"
        message = json.loads(text)
        if wanted(message):
            return message


def check_security(watched: Watched) -> None:
    """Only its user is let in: token or cookie, Host and Origin."""
    own = {"Cookie": f"spinach={watched.token}"}
    assert watched.status(f"/?token={watched.token}") == watched.status(**own) == watched.status("/live.js", **own) == 200
    assert watched.status() == watched.status("/live.js") == watched.status("/?token=other") == watched.status(Cookie="spinach=other") == 401
    assert watched.status(**own, Origin="http://evil.example") == watched.status(**own, Host="evil.example") == 403
    assert watched.status("/nothing", **own) == 404
    assert [watched.refused(Origin="http://evil.example"), watched.refused(Origin=""), watched.refused(Cookie="")] == [403, 403, 401]


WARM, SOAK = 30, 180  # seconds before memory is measured, and between the two measurements
MOST = 1024  # KiB by which the memory of a server may grow


def memory(pid: int) -> int:
    """The memory of a process, in KiB."""
    return int(re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1])


def check_memory(watched: Watched) -> None:
    """The server does not grow, with a page that shows everything and others that come and go."""

    async def show(seconds: float) -> int:
        lasting, messages, end = await watched.connect(), 0, time.monotonic() + seconds
        while time.monotonic() < end:
            passing = await watched.connect()
            for _ in range(10):
                assert await asyncio.wait_for(lasting.read_message(), 20) and await asyncio.wait_for(passing.read_message(), 20)
                messages += 2
            passing.close()
        lasting.close()
        return messages

    asyncio.run(show(WARM))
    before = memory(watched.process.pid)
    messages = asyncio.run(show(SOAK))
    grown = memory(watched.process.pid) - before
    print(f"{messages} messages, {before} KiB and {grown:+} KiB")
    assert messages > SOAK and grown <= MOST


@contextmanager
def opened(url: str) -> Iterator:
    """A page in a browser, which reports no problem; without one the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright")
    path = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path)), None)
    if not path:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        page = driver.chromium.launch(executable_path=path).new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(url)
        yield page, playwright.expect
        assert not problems


@contextmanager
def browser(watched: Watched) -> Iterator:
    """The page of a run in a browser."""
    with opened(f"{watched.url}/?token={watched.token}") as (page, expect):
        page.wait_for_selector("#table tr")
        assert page.url == f"{watched.url}/"
        yield page, expect
