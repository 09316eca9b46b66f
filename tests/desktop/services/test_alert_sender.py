"""The thread that sends alerts in a window: it starts with the first alert and ends with the window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.alerts.delivery import Delivery
from core.alerts.service import Alert
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
    hook.statuses = [503]
    with qtbot.waitSignal(sender.failed) as failed:
        sender.send(ALERT)
    assert "the webhook at 127.0.0.1 answered 503" in failed.args[0]
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


@pytest.mark.parametrize("late_status", [200, 503])
def test_alerts_that_come_while_a_service_answers_late_are_sent_once(
    qtbot: QtBot, hook: Webhook, file: Path, late_status: int
) -> None:
    hook.statuses = [late_status]
    hook.may_answer.clear()
    sender = AlertSender(lambda: [hook.url], file, ManualClock())
    sender.send(replace(ALERT, text="1"))
    qtbot.waitUntil(lambda: len(hook.paths) == 1)
    sender.send(replace(ALERT, text="2"))
    sender.send(replace(ALERT, text="3"))
    assert Delivery(file, ManualClock()).waiting == 3, "they are stored before the answer"
    sender._is_closed.set()
    hook.may_answer.set()
    sender.close()
    again = AlertSender(lambda: [hook.url], file, ManualClock())
    qtbot.waitUntil(lambda: not file.exists())
    again.close()
    assert hook.messages == ["1", "2", "3"]


def test_without_a_url_there_is_no_thread(file: Path) -> None:
    sender = AlertSender(list, file, ManualClock())
    sender.send(ALERT)
    assert sender._thread is None
    sender.close()
