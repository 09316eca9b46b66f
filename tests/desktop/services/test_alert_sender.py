"""The thread that sends alerts in a window: it starts with the first alert and ends with the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.alerts.alert import Alert
from core.alerts.delivery import Delivery
from core.domain.clock import ManualClock
from desktop.services.alert_sender import AlertSender
from tests.support.webhook import Webhook, serving

ALERT = Alert("BTC/USDT 1m (binance)", "Drift", "The loss rose.")


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with serving() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "outbox.json"


def test_alerts_are_delivered_and_a_failure_is_reported(qtbot: QtBot, hook: Webhook, file: Path) -> None:
    sender = AlertSender(lambda: [hook.url], file, ManualClock())
    sender.send(ALERT)
    qtbot.waitUntil(lambda: hook.messages == ["The loss rose."] and not file.exists())
    hook.statuses = [404]
    with qtbot.waitSignal(sender.failed) as failed:
        sender.send(ALERT)
    assert "the webhook at 127.0.0.1 answered 404" in failed.args[0]
    sender.close()
    assert Delivery(file, ManualClock()).waiting == 1


def test_what_the_last_start_left_is_sent_without_a_new_alert(qtbot: QtBot, hook: Webhook, file: Path) -> None:
    Delivery(file, ManualClock()).add(ALERT)
    sender = AlertSender(lambda: [hook.url], file, ManualClock())
    qtbot.waitUntil(lambda: len(hook.bodies) == 1 and not file.exists())
    sender.close()
    assert hook.messages == ["The loss rose."]


def test_an_alert_just_before_the_end_is_left_for_the_next_start(hook: Webhook, file: Path) -> None:
    sender = AlertSender(lambda: [hook.url], file, ManualClock())
    sender._is_closed.set()
    sender.send(ALERT)
    sender.close()
    assert not hook.paths and Delivery(file, ManualClock()).waiting == 1


def test_without_a_url_there_is_no_thread(file: Path) -> None:
    sender = AlertSender(list, file, ManualClock())
    sender.send(ALERT)
    assert sender._thread is None
    sender.close()
