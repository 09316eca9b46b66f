"""A replayed file: order, pace, and interruption."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import ManualClock
from core.market.feeds.base import CatchUpProgress, FeedEvent, FeedKind, FeedState, FeedStatus
from core.market.feeds.replay import ReplayFeed, replay_name, sample_feed
from core.market.history.candle_file import read_candle_file
from core.market.history.errors import CandleFileError
from core.market.history.skipped_rows import UNFINISHED
from core.market.shown_names import SAMPLE_MARKET
from tests.core.market.feeds.collected import all_of, candles, collected, states, timed
from tests.simulation.virtual_time import run_virtually
from tests.support.candles import MINUTE, file_of, random_walk, without

CANDLES = without(random_walk(200), 50)
FILE = file_of(CANDLES)


def test_an_unpaced_replay_is_all_history_and_keeps_the_gap() -> None:
    feed = ReplayFeed(FILE, "TEST", ManualClock())
    events = all_of(feed)
    assert feed.market == Market(FILE_VENUE, "TEST", MINUTE)
    assert feed.kind is FeedKind.REPLAY
    assert candles(events, is_live=False) == CANDLES
    assert states(events) == [FeedState.CATCHING_UP, FeedState.ENDED]
    assert [event for event in events if isinstance(event, CatchUpProgress)][-1] == CatchUpProgress(199, 199)


def test_a_replay_yields_to_the_event_loop() -> None:
    async def turns() -> int:
        count, task = 0, asyncio.create_task(collected(ReplayFeed(FILE, "TEST", ManualClock())))
        while not task.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert run_virtually(lambda loop: turns()) >= 3


def test_a_replay_after_its_last_candle_ends_at_once() -> None:
    assert all_of(ReplayFeed(FILE, "TEST", ManualClock()), CANDLES[-1].open_time_ms)[-1] == FeedStatus(
        FeedState.ENDED, "The end of TEST was reached.", 0
    )


@pytest.mark.parametrize(("catch_up", "at_once"), [(40, 40), (199, 99), (1_000, 99), (0, 0)])
def test_a_paced_replay_begins_with_candles_behind_it_and_never_at_its_end(catch_up: int, at_once: int) -> None:
    events = all_of(ReplayFeed(FILE, "TEST", ManualClock(), speed=2.0, catch_up=catch_up))
    assert len(candles(events, is_live=False)) == at_once and candles(events) == CANDLES


def test_a_limit_ends_the_replay() -> None:
    assert candles(all_of(ReplayFeed(FILE, "TEST", ManualClock(), limit=7))) == CANDLES[:7]


def test_after_the_catch_up_candles_come_at_their_pace() -> None:
    events, took_s = timed(ReplayFeed(FILE, "TEST", ManualClock(), speed=0.1, catch_up=180, limit=190))
    assert 90.0 <= took_s <= 101.0
    assert candles(events, is_live=False) == CANDLES[:180]
    assert candles(events, is_live=True) == CANDLES[180:190]
    assert states(events) == [FeedState.CATCHING_UP, FeedState.REPLAYING, FeedState.ENDED]


def test_a_resumed_replay_does_not_catch_up_twice() -> None:
    feed = ReplayFeed(FILE, "TEST", ManualClock(), speed=1000.0, catch_up=100, limit=120)
    events = all_of(feed, CANDLES[109].open_time_ms)
    assert candles(events, is_live=True) == CANDLES[110:120]
    assert candles(events, is_live=False) == []


def test_closing_interrupts_the_wait() -> None:
    async def closed_while_waiting() -> list[FeedEvent]:
        feed = ReplayFeed(FILE, "TEST", ManualClock(), speed=0.001, catch_up=2)
        events: list[FeedEvent] = []
        async for event in feed.events():
            events.append(event)
            if isinstance(event, FeedStatus) and event.state is FeedState.REPLAYING:
                asyncio.get_running_loop().call_soon(asyncio.ensure_future, feed.aclose())
        await feed.aclose()
        return events

    events = run_virtually(lambda loop: closed_while_waiting())
    assert candles(events) == CANDLES[:2]
    assert states(events) == [FeedState.CATCHING_UP, FeedState.REPLAYING]


def test_a_closed_feed_sends_nothing_more() -> None:
    async def closed_early() -> list[FeedEvent]:
        feed = ReplayFeed(FILE, "TEST", ManualClock(), speed=1.0, catch_up=100)
        await feed.aclose()
        return await collected(feed)

    events = run_virtually(lambda loop: closed_early())
    assert candles(events) == []
    assert FeedState.REPLAYING not in states(events)


def test_a_replay_is_named_after_its_file_and_stored_by_content() -> None:
    feed = ReplayFeed(FILE, "walk#dd2831", ManualClock(), catch_up=4)
    events = run_virtually(lambda loop: collected(feed))
    assert feed.market.symbol == "walk#dd2831"
    sentences = [event.sentence for event in events if isinstance(event, FeedStatus)]
    assert (
        sentences
        and not any("#" in sentence for sentence in sentences)
        and sentences[-1] == "The end of walk was reached."
    )


def test_another_content_is_another_market(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    names = set()
    for close in ("1.5", "1.6"):
        path.write_text(f"time,open,high,low,close\n2020-01-01,1,2,0.5,{close}\n2020-01-02,1,2,0.5,1.5\n")
        file = read_candle_file(path)
        names.add(replay_name(path, file))
        assert replay_name(path, file) == f"prices#{file.fingerprint[:6]}"
    assert len(names) == 2


def test_the_sample_is_bundled_and_complete() -> None:
    feed = sample_feed(ManualClock(), speed=0.0)
    sample = candles(all_of(feed))
    assert (feed.market.symbol, str(feed.market.interval), len(sample)) == (SAMPLE_MARKET.symbol, "1h", 6225)
    assert sample[0] == Candle(1_483_308_000_000, 1.05236, 1.05253, 1.05221, 1.05227, 143539993.3)
    assert sample[-1] == Candle(1_514_581_200_000, 1.19984, 1.2013, 1.19931, 1.20075, 4885529785.0)


def test_skipped_rows_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "messy.csv"
    rows = [f"{1_600_000_000_000 + 60_000 * index},1,1.1,0.9,{'nan' if index == 5 else 1.0},3" for index in range(20)]
    file.write_text("open_time,open,high,low,close,volume\n" + "\n".join(rows) + "\n")
    read = read_candle_file(file)
    events = all_of(ReplayFeed(read, "messy", ManualClock()))
    assert len(candles(events)) == 19
    assert any("rejected: 1" in event.sentence for event in events if isinstance(event, FeedStatus))
    assert "skipped" in caplog.text


def test_an_assumed_time_zone_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Times that name a zone, or are numbers, need no assumption."""
    for zone, is_assumed in (("", True), ("Z", False)):
        file = tmp_path / "zone.csv"
        rows = [f"2024-03-01T00:{row:02}:00{zone},1,1.1,0.9,1.0,3" for row in range(20)]
        file.write_text("open_time,open,high,low,close,volume\n" + "\n".join(rows) + "\n")
        caplog.clear()
        events = all_of(ReplayFeed(read_candle_file(file), "zone", ManualClock()))
        said = [event.sentence for event in events if isinstance(event, FeedStatus)]
        assert any("UTC is assumed" in each for each in said) is is_assumed
        assert ("UTC is assumed" in caplog.text) is is_assumed


def test_a_file_that_needs_an_option_of_import_is_sent_there(tmp_path: Path) -> None:
    """A replay cannot name a form, so the advice to do so alone would lead nowhere."""
    file = tmp_path / "minutes.csv"
    rows = [f"20240301 00{row:02}00;1;1.1;0.9;1.0;3" for row in range(20)]
    file.write_text("\n".join(rows) + "\n")
    with pytest.raises(CandleFileError, match=r"--form histdata-ascii .*--form ninjatrader .*import the file with it"):
        read_candle_file(file)


def test_rows_that_are_left_out_for_other_reasons_than_a_fault_are_reported(tmp_path: Path) -> None:
    """Regression: such a file raised ValueError, as its reason is none of a candle's faults."""
    file = tmp_path / "recorded.csv"
    rows = [f"{1_600_000_000_000 + 60_000 * row},1,1.1,0.9,1.0,3,{str(row < 19).lower()}" for row in range(20)]
    file.write_text("open_time,open,high,low,close,volume,closed\n" + "\n".join(rows) + "\n")
    events = all_of(ReplayFeed(read_candle_file(file), "recorded", ManualClock()))
    assert len(candles(events)) == 19
    assert any(f"1 ({UNFINISHED})" in event.sentence for event in events if isinstance(event, FeedStatus))
