"""The webhook's thread in a window: it starts with the first alert and ends with the window."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from core.alerts.alert import Alert, AlertKind
from core.alerts.webhook import Outbox
from desktop.services.webhook import Webhook

ALERT = Alert(AlertKind.DRIFT, "BTC/USDT 1m (binance)", 1, "Drift", "The loss rose.")


class Hook(ThreadingHTTPServer):
    """On a free port of this computer; each request is answered with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?token=s3cr3t"


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_alerts_reach_a_real_server_in_their_order(qtbot: QtBot, hook: Hook, tmp_path: Path) -> None:
    webhook = Webhook(lambda: hook.url, Outbox(tmp_path / "outbox.json"))
    webhook.send(ALERT)
    webhook.send(ALERT)
    qtbot.waitUntil(lambda: len(hook.bodies) == 2)
    hook.status = 404
    with qtbot.waitSignal(webhook.trouble) as said:
        webhook.send(ALERT)
    assert said.args == ["An alert was not delivered: the webhook at 127.0.0.1 answered 404."]
    webhook.close()
    assert hook.bodies[0]["kind"] == "drift" and len(hook.bodies) == 3


@pytest.mark.slow
def test_an_alert_of_the_last_start_is_sent_without_a_new_one(qtbot: QtBot, hook: Hook, tmp_path: Path) -> None:
    Outbox(tmp_path / "outbox.json").write([ALERT])
    webhook = Webhook(lambda: hook.url, Outbox(tmp_path / "outbox.json"))
    qtbot.waitUntil(lambda: len(hook.bodies) == 1 and not (tmp_path / "outbox.json").exists())
    webhook.close()
    assert hook.bodies == [ALERT.to_json()]


def test_without_an_address_there_is_no_thread(tmp_path: Path) -> None:
    webhook = Webhook(lambda: None, Outbox(tmp_path / "outbox.json"))
    webhook.send(ALERT)
    assert not webhook._thread.isRunning()
    webhook.close()
