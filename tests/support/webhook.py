"""A webhook on this computer, over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "s3cr3t-t0ken"


class Webhook(ThreadingHTTPServer):
    """Answers with `statuses` in turn, then with 200, and not before `may_answer` is set. bodies: of the requests that
    were answered with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: list[int] = []
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?token={SECRET}&empty="

    @property
    def messages(self) -> list[str]:
        """Of the delivered alerts, oldest first."""
        return [body["message"] for body in self.bodies]


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.server.paths.append(self.path)
        if status == 200:
            self.server.bodies.append(body)
        self.server.may_answer.wait()
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""


@contextmanager
def serving() -> Iterator[Webhook]:
    """Until the block ends."""
    server = Webhook()
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
