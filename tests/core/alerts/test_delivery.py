"""Each alert reaches each service once, also across restarts: against webhooks on this computer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.alerts.delivery import LONGEST_WAIT_MS, MOST_WAITING, Delivery
from core.alerts.service import Alert
from core.domain.clock import ManualClock
from tests.support.webhook import SECRET, Webhook, serving


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with serving() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Webhook]:
    with serving() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class Starts:
    """`delivery()`: the program starts again with the same file."""

    def __init__(self, file: Path, clock: ManualClock) -> None:
        self.file, self.clock = file, clock

    def delivery(self, *texts: str) -> Delivery:
        """With these alerts."""
        delivery = Delivery(self.file, self.clock)
        for text in texts:
            delivery.add(Alert("BTC/USDT 1m (binance)", "Drift", text))
        return delivery


@pytest.fixture
def starts(tmp_path: Path, clock: ManualClock) -> Starts:
    return Starts(tmp_path / "outbox.json", clock)


def test_a_delivered_alert_is_not_sent_again_after_a_restart(hook: Webhook, starts: Starts) -> None:
    assert starts.delivery("1", "2").send([hook.url]) == []
    assert starts.delivery().send([hook.url]) == []
    assert hook.messages == ["1", "2"] and not starts.file.exists()


def test_an_undelivered_alert_is_sent_after_a_restart_once(hook: Webhook, starts: Starts) -> None:
    hook.statuses = [503]
    [sentence] = starts.delivery("1").send([hook.url])
    assert sentence.startswith("An alert was not delivered: the webhook at 127.0.0.1 answered 503.")
    assert starts.delivery().send([hook.url]) == [] and starts.delivery().send([hook.url]) == []
    assert hook.messages == ["1"]


def test_of_two_services_only_the_one_that_failed_gets_it_again(hook: Webhook, other: Webhook, starts: Starts) -> None:
    other.statuses = [500]
    assert len(starts.delivery("1").send([hook.url, other.url])) == 1
    assert SECRET not in starts.file.read_text(encoding="utf-8")
    starts.delivery().send([hook.url, other.url])
    assert hook.messages == other.messages == ["1"]


def test_an_alert_that_a_service_cannot_take_does_not_hold_up_the_next(hook: Webhook, starts: Starts) -> None:
    hook.statuses = [500]
    delivery = starts.delivery("1", "2")
    delivery.send([hook.url])
    assert hook.messages == ["2"] and delivery.waiting == 1


def test_an_alert_that_a_service_refuses_for_good_is_not_sent_to_it_again(
    hook: Webhook, other: Webhook, starts: Starts
) -> None:
    hook.statuses, other.statuses = [404, 404], [503]
    delivery = starts.delivery("1")
    refused, failed = delivery.send([hook.url, other.url])
    assert refused.endswith("answered 404. It is not retried.")
    assert failed.endswith("answered 503. It is retried for up to a day.")
    assert starts.delivery().send([hook.url, other.url]) == [] and not starts.file.exists()
    assert len(hook.paths) == 1 and other.messages == ["1"]
    delivery.add(Alert("", "", "2"))
    assert len(delivery.send([hook.url])) == 1, "each lost alert is reported"


@pytest.mark.parametrize(
    ("status", "is_retried"), [(302, False), (404, False), (410, False), (408, True), (429, True), (500, True)]
)
def test_an_alert_is_retried_where_another_answer_is_possible(
    hook: Webhook, starts: Starts, status: int, is_retried: bool
) -> None:
    hook.statuses = [status]
    delivery = starts.delivery("1")
    delivery.send([hook.url])
    assert (delivery.next_attempt_s() is not None) is is_retried
    delivery.send([hook.url])
    assert hook.messages == [*["1"] * is_retried]


def test_a_service_that_fails_again_and_again_is_left_alone_and_named_once(hook: Webhook, starts: Starts) -> None:
    hook.statuses = [500] * 6
    delivery = starts.delivery(*"12345")
    assert len(delivery.send([hook.url])) == 1 and len(hook.paths) == 3
    assert delivery.send([hook.url]) == [] and len(hook.paths) == 6
    assert delivery.send([hook.url]) == [] and hook.messages == [*"12345"]
    hook.statuses = [500]
    delivery.add(Alert("", "", "6"))
    assert len(delivery.send([hook.url])) == 1, "it had worked meanwhile"


def test_a_changed_url_gets_what_the_former_did_not_take(hook: Webhook, starts: Starts) -> None:
    delivery = starts.delivery("1")
    [sentence] = delivery.send([f"nonsense://{SECRET}"])
    assert SECRET not in sentence and "a URL under Preferences" in sentence
    delivery.send([hook.url])
    assert hook.messages == ["1"] and not delivery.waiting


def test_without_a_url_what_waits_is_dropped(starts: Starts) -> None:
    delivery = starts.delivery("1")
    assert delivery.send([]) == [] and not delivery.waiting and not starts.file.exists()


def test_an_alert_is_given_up_after_a_day(hook: Webhook, starts: Starts, clock: ManualClock) -> None:
    delivery = starts.delivery("1")
    clock.advance_ms(LONGEST_WAIT_MS // 2)
    delivery.add(Alert("", "", "2"))
    clock.advance_ms(LONGEST_WAIT_MS // 2 + 1)
    delivery.send([hook.url])
    assert hook.messages == ["2"]


def test_the_oldest_of_too_many_is_dropped(starts: Starts) -> None:
    assert starts.delivery(*map(str, range(MOST_WAITING + 3))).waiting == MOST_WAITING


def test_nothing_is_sent_once_the_program_ends(hook: Webhook, starts: Starts) -> None:
    starts.delivery("1").send([hook.url], lambda: True)
    assert not hook.paths and starts.delivery().waiting == 1


@pytest.mark.parametrize("content", [b"", b"{", b'[{"alert": 1}]', b"[1]", bytes(range(256))])
def test_a_damaged_file_costs_what_waited(starts: Starts, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    starts.file.write_bytes(content)
    with caplog.at_level(logging.WARNING, "ghostcandle"):
        assert starts.delivery().waiting == 0
    assert "could not be read" in caplog.text
    assert starts.delivery("1").waiting == starts.delivery().waiting == 1
