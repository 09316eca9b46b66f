from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Candle, Interval, Market
from core.domain.clock import ManualClock
from core.market.feeds.base import FeedState, FeedStatus, FeedVitals, MissingCandles, RejectedMessage
from core.market.feeds.tickers import Quote
from core.settings.tree import MarketSettings
from desktop.state.feed_record import CHANGES_KEPT, OTHER_REASONS, REASONS_KEPT, REJECTED_KEPT, FeedRecord

BINANCE = Market("binance", "BTC/USDT", Interval.parse("1m"))
SAMPLE = Market(FILE_VENUE, "EUR/USD sample", Interval.parse("1h"))
CANDLE = Candle(60_000, 1.0, 2.0, 0.5, 1.5, 3.0)
NEVER_MIND = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


@pytest.fixture
def record(qapp: object, clock: ManualClock) -> FeedRecord:
    record = FeedRecord(clock)
    record.begin(MarketSettings())
    return record


def status(state: FeedState, at_ms: int = 0, sentence: str = "…") -> FeedStatus:
    return FeedStatus(state, sentence, at_ms)


def test_since_is_the_start_of_the_state_not_its_last_report(record: FeedRecord) -> None:
    record.add_status(status(FeedState.LIVE, 1_000))
    record.add_status(status(FeedState.RECONNECTING, 5_000, "Next try in 1 s."))
    record.add_status(status(FeedState.RECONNECTING, 7_000, "Next try in 2 s."))
    assert record.since_ms == 5_000
    assert [change.sentence for change in record.changes] == ["Next try in 2 s.", "Next try in 1 s.", "…"]


def test_tries_are_counted_while_there_are_no_vitals(record: FeedRecord) -> None:
    """Vitals need a connection, so in an outage only the feed's reports count the tries."""
    assert record.tries is None, "nothing was broken, and nothing is known"
    record.add_report(FeedVitals(0, "binance", reconnects=0))
    record.add_status(status(FeedState.LIVE))
    assert record.tries == 0
    counted = []
    for number in range(4):
        record.add_status(status(FeedState.RECONNECTING, number, f"Next try in {number} s."))
        counted.append(record.tries)
    assert counted == [0, 1, 2, 3], "the one that was announced last is yet to be made"
    record.add_status(status(FeedState.LIVE))
    assert record.tries == 4, "the last count is kept"
    record.add_report(FeedVitals(0, "binance", reconnects=4))
    assert record.tries == 4
    record.begin(MarketSettings())
    assert record.tries is None


def test_the_last_price_is_that_of_the_forming_candle_or_of_the_newest_closed_one(record: FeedRecord) -> None:
    assert record.last_price is None
    record.opened(BINANCE)
    minute_ms = BINANCE.interval.duration_ms
    record.add_closed([Candle(0, 1.0, 1.0, 1.0, 1.0, 1.0), Candle(minute_ms, 1.0, 2.0, 1.0, 2.0, 1.0)])
    assert record.last_price == Quote(2.0, 2 * minute_ms), "of history it is as old as its end"
    record.add_forming(Candle(2 * minute_ms, 2.0, 3.0, 2.0, 3.0, 1.0))
    record.add_closed([Candle(minute_ms, 1.0, 2.0, 1.0, 1.5, 1.0)])
    assert record.last_price is not None and record.last_price.last == 3.0, "an older candle changes nothing"
    record.add_corrected(Candle(2 * minute_ms, 2.0, 3.0, 2.0, 2.5, 1.0))
    assert record.last_price.last == 2.5
    record.begin(MarketSettings())
    assert record.last_price is None


@NEVER_MIND
@given(st.lists(st.sampled_from("abcde"), max_size=300))
def test_every_rejection_is_counted_and_the_newest_are_kept_raw(record: FeedRecord, reasons: list[str]) -> None:
    record.begin(MarketSettings())
    for number, reason in enumerate(reasons):
        record.add_report(RejectedMessage(number, reason, str(number)))
    assert record.rejected_count == len(reasons)
    assert dict(record.rejected_by_reason) == {reason: reasons.count(reason) for reason in set(reasons)}
    newest = [str(number) for number in range(len(reasons))][::-1][:REJECTED_KEPT]
    assert [message.raw for message in record.rejected] == newest


def test_nothing_grows_without_bound(record: FeedRecord) -> None:
    for number in range(CHANGES_KEPT * 3):
        record.add_status(status(FeedState.RECONNECTING, number))
        record.add_report(RejectedMessage(number, f"reason {number}", "x" * 50_000))
        record.add_report(MissingCandles(number, 2))
        record.add_corrected(CANDLE)
    assert len(record.changes) == CHANGES_KEPT and len(record.rejected) == REJECTED_KEPT
    assert len(record.holes) <= CHANGES_KEPT and len(record.corrections) <= CHANGES_KEPT
    assert len(record.rejected_by_reason) == REASONS_KEPT + 1
    assert dict(record.rejected_by_reason)[OTHER_REASONS] == CHANGES_KEPT * 3 - REASONS_KEPT
    assert max(len(message.raw) for message in record.rejected) <= 2_000
    assert (record.missing_count, record.corrected_count) == (CHANGES_KEPT * 6, CHANGES_KEPT * 3)


def test_vitals_may_count_more_than_the_individual_reports(record: FeedRecord) -> None:
    record.add_report(MissingCandles(0, 3))
    assert record.missing_count == 3
    record.add_report(FeedVitals(0, "binance", missing=5, corrected=2))
    assert (record.missing_count, record.corrected_count) == (5, 2)


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        (FeedState.LIVE, None),
        (FeedState.CONNECTING, None),
        (FeedState.CATCHING_UP, None),
        (FeedState.RECONNECTING, "kraken"),
        (FeedState.FAILED, "kraken"),
    ],
)
def test_the_next_venue_is_offered_only_in_trouble(record: FeedRecord, state: FeedState, offered: str | None) -> None:
    record.opened(BINANCE)
    record.add_status(status(state))
    assert record.next_venue == offered


def test_no_venue_is_offered_for_an_unreadable_file(record: FeedRecord) -> None:
    record.begin(MarketSettings(feed="replay", file="nowhere.csv"))
    record.add_status(status(FeedState.FAILED))
    assert record.is_in_trouble and record.next_venue is None


def test_replaying_the_sample_counts_as_trouble_until_the_exchange_is_live(record: FeedRecord) -> None:
    record.opened(SAMPLE)
    record.fell_back("Binance cannot be reached. The sample is shown instead.")
    record.add_status(status(FeedState.REPLAYING))
    assert record.next_venue == "kraken" and not record.is_exchange
    record.begin(replace(MarketSettings(), venue="kraken"))
    assert record.next_venue is None and record.notice == ""
    record.opened(replace(BINANCE, venue="kraken"))
    record.fell_back("Kraken cannot be reached. The stored candles are shown.")
    assert record.next_venue == "coinbase"
    record.add_status(status(FeedState.LIVE))
    assert record.next_venue is None


def test_another_market_resets_the_record(record: FeedRecord, qtbot: QtBot) -> None:
    record.add_status(status(FeedState.LIVE))
    record.add_report(RejectedMessage(0, "jump", "{}"))
    record.add_report(FeedVitals(0, "binance", reconnects=3))
    with qtbot.waitSignal(record.changed):
        record.begin(MarketSettings(venue="kraken"))
    assert record.status is None and record.vitals is None and record.since_ms is None
    assert not (record.changes or record.rejected or record.rejected_by_reason)
    assert record.rejected_count == record.missing_count == record.corrected_count == 0


def test_an_open_connection_without_a_message_is_trouble_but_no_further_try(record: FeedRecord) -> None:
    record.opened(BINANCE)
    record.add_status(status(FeedState.RECONNECTING, 1_000))
    assert record.tries == 0
    record.add_status(replace(status(FeedState.RECONNECTING, 2_000), awaits_message=True))
    assert record.tries == 1 and record.is_silent and record.since_ms == 1_000
