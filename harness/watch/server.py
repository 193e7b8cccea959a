"""Serves the page of a run to one user of this host.

The server listens on 127.0.0.1 alone.  The address that it prints has a token of 128 bits; a browser that comes with it
gets a cookie, and without either nothing is served.  Host and Origin are compared with the server's own, so that no
page of another server speaks through the browser.
"""

import json
import secrets
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from harness.watch.leader import Message, WishError

HOST = "127.0.0.1"
COOKIE = "spinach"
LONGEST = 4096  # bytes of a message
LINGER = 1.0  # seconds in which browsers receive the end
PAGE = Path(__file__).parent / "page"
FILES = {  # "/" is the page of the server
    "/live.js": ("live.js", "text/javascript"),
    "/study.js": ("study.js", "text/javascript"),
    "/watch.js": ("watch.js", "text/javascript"),
    "/watch.css": ("watch.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
Wish = Callable[[str, str], None]


class WatchError(Exception):
    """Work that cannot be watched; the text says why."""


class Guard(RequestHandler):
    """Lets only the user in who has the token."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        server: Server = self.application.settings["server"]
        origin = self.request.headers.get("Origin")
        if self.request.host not in server.hosts or (origin and origin not in server.origins):
            raise HTTPError(403)
        if isinstance(self, WebSocketHandler) and not origin:
            raise HTTPError(403)
        given = self.get_query_argument("token", "") or self.get_cookie(COOKIE, "") or ""
        if not secrets.compare_digest(given.encode(), server.token.encode()):
            raise HTTPError(401)


class Page(Guard):
    """The page and its parts."""

    def get(self) -> None:
        server: Server = self.application.settings["server"]
        if self.get_query_argument("token", ""):  # the page removes it from the address
            self.set_cookie(COOKIE, server.token, httponly=True, samesite="Strict")
        name, kind = FILES.get(self.request.path, (server.page, "text/html"))
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.write((PAGE / name).read_bytes())


class Picture(Guard):
    """The latest diagram of a run."""

    def get(self) -> None:
        self.set_header("Content-Type", "image/svg+xml; charset=utf-8")
        self.write(self.application.settings["server"].picture())


class Live(Guard, WebSocketHandler):
    """The run as it goes on, and the wishes of the user."""

    def check_origin(self, origin: str) -> bool:
        return True  # prepare() has

    def open(self, *args: str, **named: str) -> None:
        server: Server = self.application.settings["server"]
        server.watchers.add(self)
        self.send(server.latest())

    def on_close(self) -> None:
        self.application.settings["server"].watchers.discard(self)

    def on_message(self, message: str | bytes) -> None:
        try:
            wanted = json.loads(message)
            if not isinstance(wanted, dict) or set(wanted) - {"do", "value"} or not isinstance(wanted.get("do"), str):
                raise WishError("a message has `do` and `value`")
            self.application.settings["server"].wish(wanted["do"], str(wanted.get("value", "")))
        except (ValueError, WishError) as error:
            self.send({"refused": str(error)})

    def send(self, message: Message) -> None:
        """Nothing, if the browser is gone."""
        try:
            self.write_message(json.dumps(message))
        except WebSocketClosedError:
            self.application.settings["server"].watchers.discard(self)


class Server:
    """The server of one run, or of one study; `page` is the file of its page."""

    def __init__(self, port: int, page: str) -> None:
        self.page = page
        self.token = secrets.token_urlsafe(16)
        self.watchers: set[Live] = set()
        self.latest: Callable[[], Message] = dict
        self.picture: Callable[[], str] = str
        self.wish: Wish = lambda what, value: None
        try:
            sockets = bind_sockets(port, HOST)
        except OSError as error:
            cure = "choose another one, or leave it out for a free one"
            raise WatchError(f"--port {port}: {error.strerror} ({cure})") from error
        self.port = sockets[0].getsockname()[1]
        names = (HOST, "localhost")
        self.hosts = {f"{name}:{self.port}" for name in names}
        self.origins = {f"http://{host}" for host in self.hosts}
        handlers: list[tuple[str, Any]] = [
            *((path, Page) for path in ("/", *FILES)),
            ("/graph.svg", Picture),
            ("/live", Live),
        ]
        application = Application(
            handlers, server=self, websocket_max_message_size=LONGEST, websocket_ping_interval=20, log_function=_no_log
        )
        self._server = HTTPServer(application)
        self._server.add_sockets(sockets)

    @property
    def address(self) -> str:
        """Where a browser begins."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def notify(self, message: Message) -> None:
        """Shows all who watch how the run is."""
        for watcher in list(self.watchers):
            watcher.send(message)

    def stop(self) -> None:
        """Serves nobody any more."""
        self._server.stop()


def show_address(server: Server, opened: bool) -> None:
    """Says where the page is, and opens it if that is wanted."""
    print(server.address, flush=True)
    if opened and not webbrowser.open(server.address):
        print("harness: there is no browser that can be opened here", file=sys.stderr)


def _no_log(handler: RequestHandler) -> None:
    """The terminal is for the simulator."""
