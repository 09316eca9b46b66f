"""One fault at a time, on virtual time: the feed's reports and the time to recover."""

from __future__ import annotations

import itertools

import pytest

from core.market.feeds.base import CorrectedCandle, FeedEvent, FeedState, FeedStatus, RejectedMessage
from tests.simulation.market import EPOCH_MS, STEP_MS
from tests.simulation.run import HEALING, MINUTES, Outcome, problems, simulate
from tests.simulation.toxics import KINDS, Toxic
from tests.simulation.venue import PAGE_ROWS

pytestmark = pytest.mark.simulation

BEGIN_MS = EPOCH_MS + 20 * STEP_MS + 25_000
END_MS = EPOCH_MS + (MINUTES - HEALING) * STEP_MS


def suffering(kind: str, seed: int = 3, lasts_ms: int = 300_000, strength: float = 1.0, status: int = 503) -> Outcome:
    outcome = simulate(seed, [Toxic(kind, BEGIN_MS, BEGIN_MS + lasts_ms, strength, status)])
    assert problems(outcome) == []
    return outcome


def sentences(outcome: Outcome, state: FeedState = FeedState.RECONNECTING) -> list[str]:
    return [event.sentence for event in outcome.events if isinstance(event, FeedStatus) and event.state is state]


def events_after(outcome: Outcome, kind: type[FeedEvent], at_ms: int) -> list[tuple[int, FeedEvent]]:
    events = zip(outcome.received_at_ms, outcome.events, strict=True)
    return [(now_ms, event) for now_ms, event in events if now_ms >= at_ms and isinstance(event, kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_long_single_fault_breaks_a_guarantee(kind: str) -> None:
    suffering(kind, seed=1, lasts_ms=END_MS - BEGIN_MS, strength=0.7)


@pytest.mark.parametrize("kind", ["outage", pytest.param("stall", marks=pytest.mark.slow)])
def test_the_feed_recovers_from_hours_of_failure(kind: str) -> None:
    """Longer than one answer of the exchange holds candles, so that it takes several."""
    minutes = 270
    toxic = Toxic(kind, BEGIN_MS, BEGIN_MS + (minutes - 2 * HEALING - 20) * STEP_MS, 1.0, 503)
    outcome = simulate(3, [toxic], minutes=minutes)
    assert problems(outcome) == []
    assert len(outcome.stored) > PAGE_ROWS and toxic.until_ms - toxic.from_ms > PAGE_ROWS * STEP_MS


def test_without_faults_only_start_and_daily_renewal_are_reported() -> None:
    outcome = simulate(4, [])
    assert problems(outcome) == []
    assert sentences(outcome) and all("renewed" in sentence for sentence in sentences(outcome))
    assert not [event for event in outcome.events if isinstance(event, RejectedMessage)]


def test_a_dead_socket_is_detected_within_half_a_minute_of_trades() -> None:
    outcome = suffering("stall")
    first_ms, first = events_after(outcome, FeedStatus, BEGIN_MS)[0]
    assert isinstance(first, FeedStatus) and "moves" in first.sentence
    assert first_ms - BEGIN_MS <= 90_000  # a quiet minute may lie between


def test_a_new_connection_without_a_message_is_not_called_live() -> None:
    outcome = suffering("stall")
    reported = events_after(outcome, FeedStatus, BEGIN_MS)
    silent = [event for at_ms, event in reported if at_ms < BEGIN_MS + 300_000]
    waiting = "though its market moves. Connected again; waiting for the first message."
    assert any(isinstance(event, FeedStatus) and event.sentence.endswith(waiting) for event in silent)
    assert {event.state for event in silent if isinstance(event, FeedStatus)} == {FeedState.RECONNECTING}
    last = reported[-1][1]
    assert isinstance(last, FeedStatus) and last.state is FeedState.LIVE


@pytest.mark.parametrize("what", ["trades", "candles"])
def test_a_dead_stream_beside_a_live_one_is_named_and_replaced(what: str) -> None:
    outcome = suffering(f"stalled {what}", seed=5)
    assert f"has stopped sending {what}" in sentences(outcome)[0]


def test_after_a_sleep_the_feed_reports_it_and_fetches_first() -> None:
    outcome = suffering("sleep", strength=0.6)
    (said,) = [sentence for sentence in sentences(outcome) if "slept" in sentence]
    assert "14 min" in said
    events = [event for _, event in events_after(outcome, FeedEvent, BEGIN_MS + 1)]  # type: ignore[arg-type]
    states = [event.state for event in events if isinstance(event, FeedStatus)]
    assert list(dict.fromkeys(states))[:2] == [FeedState.RECONNECTING, FeedState.LIVE]


def test_a_changed_system_clock_causes_no_disconnect() -> None:
    for strength in (0.1, 0.9):
        outcome = suffering("clock set", strength=strength)
        assert all("renewed" in sentence for sentence in sentences(outcome))


def test_an_announced_shutdown_loses_no_time_and_no_candle() -> None:
    outcome = suffering("shutdown")
    (first_ms, _), (second_ms, second) = events_after(outcome, FeedStatus, BEGIN_MS)[:2]
    assert "will close the connection" in sentences(outcome)[0]
    assert isinstance(second, FeedStatus) and second.state is FeedState.LIVE
    assert second_ms - first_ms < 500


@pytest.mark.parametrize(
    ("status", "word"), [(429, "fewer"), (418, "banned"), (403, "firewall"), (502, "server error")]
)
def test_refused_requests_do_not_stop_candles_from_the_stream(status: int, word: str) -> None:
    outcome = suffering("status", lasts_ms=END_MS - BEGIN_MS, status=status)
    assert any(word in sentence for sentence in sentences(outcome)) or outcome.vitals()[-1].reconnects == 0


def test_corrections_are_reported_within_minutes_and_match_the_exchange() -> None:
    count = 0
    for seed in range(4):
        outcome = simulate(seed, [])
        for received_ms, event in zip(outcome.received_at_ms, outcome.events, strict=True):
            if isinstance(event, CorrectedCandle):
                count += 1
                correction = outcome.market.corrections[event.candle.open_time_ms]
                assert correction.first == event.before
                assert correction.at_ms <= received_ms <= event.candle.open_time_ms + 8 * STEP_MS
    assert count >= 4


def test_lost_and_late_trades_are_counted() -> None:
    lost = [suffering("drop", seed, strength=0.5).vitals()[-1].lost_trades for seed in range(2)]
    late = [suffering("late trades", seed, lasts_ms=END_MS - BEGIN_MS).vitals()[-1].late_trades for seed in range(2)]
    assert sum(lost) > 0 and sum(late) > 0


def test_vitals_come_regularly_with_monotonic_counts() -> None:
    outcome = suffering("disconnect")
    vitals = outcome.vitals()
    for earlier, later in itertools.pairwise(vitals):
        assert later.at_ms - earlier.at_ms < 30_000
        for name in (
            "messages",
            "trades",
            "rejected",
            "reconnects",
            "back_filled",
            "corrected",
            "missing",
            "lost_trades",
        ):
            assert getattr(later, name) >= getattr(earlier, name), name
