"""Which stored candles of several markets are taken together, and how long a late one is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from core.domain.candle import FILE_VENUE, Candle, Market
from core.domain.clock import ManualClock
from core.domain.events import ForecastMode, MemberRun, ResumePoint, TrainerReady
from core.market.feeds.base import FeedState
from core.settings.tree import MarketSettings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.training.hosting.close_queue import CloseQueue
from core.training.hosting.inbox import Inbox
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support.candles import MINUTE, START_MS, random_walk

STEP_MS = MINUTE.duration_ms
SERIES = random_walk(60)
ALLOWED_MS = 3_000
"""5 % of a minute."""
FORECASTING_MS = 750
FETCHING_MS = 20_000


class Rig:
    """A queue over a database, without a trainer."""

    def __init__(self, db: Database, venue: str, count: int = 2) -> None:
        first, *others = (Market(venue, f"M{number}/USDT", MINUTE) for number in range(count))
        settings = replace(rigs.SMALL, market=MarketSettings(catch_up_candles=20))
        self.spec = SessionSpec(Path(), first, settings, others=tuple(others))
        self.store, self.inbox, self.clock = CandleStore(db), Inbox(), ManualClock(START_MS)
        self.queue = CloseQueue(self.spec, self.store, self.inbox, self.clock)

    def save(self, market: int, *rows: int, is_live: bool = False) -> None:
        candles = [SERIES[row] for row in rows]
        self.store.save(self.spec.markets[market], candles)
        live = tuple(each.open_time_ms for each in candles) if is_live else ()
        self.inbox.candles_stored(self.spec.markets[market], live)

    def place_of(self, market: Market) -> int:
        return self.spec.markets.index(market)

    def feed_changed(self, state: FeedState, market: int) -> None:
        self.inbox.feed_changed(self.spec.markets[market], state)

    def caught_up(self, market: int) -> None:
        self.inbox.caught_up(self.spec.markets[market])

    def feed_ended(self, market: int) -> None:
        self.inbox.feed_ended(self.spec.markets[market])

    def at(self, row: int, after_close_ms: int) -> None:
        """Set the clock to so long after the close of this candle."""
        self.clock.advance_ms(SERIES[row].open_time_ms + STEP_MS + after_close_ms - self.clock.now_ms())

    def pop(self, most: int = 99) -> list[tuple[int, list[int]]]:
        """Of each close the candle's row, and the markets."""
        closes = list(self.queue.pop(most))
        return [
            (row_of(each.candles[0].candle), [self.place_of(one.market) for one in each.candles]) for each in closes
        ]


def row_of(candle: Candle) -> int:
    return (candle.open_time_ms - SERIES[0].open_time_ms) // STEP_MS


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(open_database(tmp_path / "candles.sqlite3")) as opened:
        yield opened


@pytest.fixture
def replayed(db: Database) -> Rig:
    return Rig(db, FILE_VENUE)


@pytest.fixture
def live(db: Database) -> Rig:
    """Both markets have caught up to the first candle, which was taken."""
    rig = Rig(db, "binance")
    for market in (0, 1):
        rig.save(market, 0)
        rig.caught_up(market)
    assert rig.pop() == [(0, [0, 1])]
    return rig


def test_candles_of_one_time_are_taken_together_and_a_gap_is_no_reason_to_wait(replayed: Rig) -> None:
    replayed.save(0, 0, 1, 2, 4)
    replayed.save(1, 1, 2, 3, 4)
    assert replayed.pop() == [(0, [0]), (1, [0, 1]), (2, [0, 1]), (3, [1]), (4, [0, 1])]
    assert replayed.pop() == []


def test_a_replayed_market_is_waited_for_until_its_end(replayed: Rig) -> None:
    replayed.save(0, 0, 1, 2)
    replayed.save(1, 0)
    assert replayed.pop() == [(0, [0, 1])]
    replayed.clock.advance_ms(10 * 86_400_000)
    assert replayed.pop() == [], "no time is a reason"
    replayed.feed_ended(1)
    assert replayed.pop() == [(1, [0]), (2, [0])] and not replayed.queue.is_over
    replayed.feed_ended(0)
    assert replayed.queue.is_over and replayed.queue.left() == 0


@settings(max_examples=25)
@given(
    rows=st.lists(st.sets(st.integers(0, 25), min_size=1), min_size=2, max_size=4),
    order=st.randoms(use_true_random=False),
    most=st.integers(1, 20),
)
def test_the_closes_do_not_depend_on_the_order_of_arrival(
    tmp_path_factory: pytest.TempPathFactory, rows: list[set[int]], order: object, most: int
) -> None:
    left = [sorted(each, reverse=True) for each in rows]
    with closing(open_database(tmp_path_factory.mktemp("order") / "candles.sqlite3")) as db:
        rig, found = Rig(db, FILE_VENUE, len(rows)), []
        while any(left):
            market = order.choice([at for at, each in enumerate(left) if each])  # type: ignore[attr-defined]
            rig.save(market, left[market].pop())
            if not left[market]:
                rig.feed_ended(market)
            found += rig.pop(most)
        while last := rig.pop(most):
            found += last
        assert rig.queue.is_over
    times = sorted(set().union(*rows))
    assert found == [(row, [at for at, each in enumerate(rows) if row in each]) for row in times]


def test_a_late_live_market_is_waited_for_as_long_as_the_others_stay_live(live: Rig) -> None:
    live.save(0, 1, is_live=True)
    live.at(1, ALLOWED_MS - FORECASTING_MS - 1)
    assert live.pop() == []
    live.at(1, ALLOWED_MS - FORECASTING_MS)
    assert live.pop() == [(1, [0])]
    live.save(1, 1, is_live=True)
    assert live.pop() == [(1, [1])], "the late candle is a close by itself"
    live.save(1, 2, is_live=True)
    live.save(0, 2, is_live=True)
    live.at(2, 100)
    assert live.pop() == [(2, [0, 1])], "and the next one is taken together again"


def test_many_markets_are_left_longer_to_forecast_them(db: Database) -> None:
    rig = Rig(db, "binance", count=200)
    for market in range(200):
        rig.caught_up(market)
        rig.save(market, 0)
    assert len(rig.pop()) == 1
    rig.save(0, 1, is_live=True)
    rig.at(1, 599)
    assert rig.pop() == []
    rig.at(1, 600)
    assert rig.pop() == [(1, [0])]


def test_a_live_market_that_missed_three_closes_is_waited_for_only_once_it_is_back(live: Rig) -> None:
    for row in (1, 2, 3):
        live.save(0, row, is_live=True)
        live.at(row, 0)
        assert live.pop() == []
        live.at(row, ALLOWED_MS - FORECASTING_MS)
        assert live.pop() == [(row, [0])]
    live.save(0, 4, is_live=True)
    live.at(4, 0)
    assert live.pop() == [(4, [0])], "at once"
    live.save(1, 1, 2, 3, 4)
    assert live.pop() == [(row, [1]) for row in (1, 2, 3, 4)]
    live.save(0, 5, is_live=True)
    live.at(5, 0)
    assert live.pop() == []
    live.save(1, 5, is_live=True)
    assert live.pop() == [(5, [0, 1])]


@pytest.fixture
def cut_off(live: Rig) -> Rig:
    """Both markets were cut off after the first candle; the second one still is, two minutes after candle 20."""
    for market in (0, 1):
        live.feed_changed(FeedState.RECONNECTING, market)
    live.at(20, 2 * STEP_MS)
    live.save(0, *range(1, 21))
    live.feed_changed(FeedState.LIVE, 0)
    return live


def test_what_several_markets_missed_in_an_outage_is_taken_together(cut_off: Rig) -> None:
    assert cut_off.pop() == [], "one alone would pull the model towards it"
    cut_off.save(1, *range(1, 8))
    assert cut_off.pop() == [(row, [0, 1]) for row in range(1, 8)], "the rest is still being fetched"
    cut_off.save(1, *range(8, 21))
    assert cut_off.pop() == [(row, [0, 1]) for row in range(8, 21)]


def test_candles_that_an_exchange_does_not_list_are_not_waited_for(cut_off: Rig) -> None:
    cut_off.save(1, 1, 2)
    assert cut_off.pop() == [(1, [0, 1]), (2, [0, 1])]
    cut_off.feed_changed(FeedState.LIVE, 1)
    assert cut_off.pop() == [(row, [0]) for row in range(3, 21)], "it was not traded"


def test_a_market_without_a_connection_holds_the_others_up_once_in_an_outage(cut_off: Rig) -> None:
    assert cut_off.pop() == []
    cut_off.clock.advance_ms(FETCHING_MS - 1)
    assert cut_off.pop() == []
    cut_off.clock.advance_ms(1)
    assert cut_off.pop() == [(row, [0]) for row in range(1, 21)]
    cut_off.save(0, 21)
    assert cut_off.pop() == [(21, [0])], "it has been waited for"
    cut_off.save(1, *range(1, 22))
    cut_off.feed_changed(FeedState.LIVE, 1)
    assert cut_off.pop() == [(row, [1]) for row in range(1, 22)]
    cut_off.feed_changed(FeedState.RECONNECTING, 1)
    cut_off.at(25, 2 * STEP_MS)
    cut_off.save(0, 22)
    assert cut_off.pop() == [], "the next outage"


def test_a_candle_that_comes_live_ends_the_wait(cut_off: Rig) -> None:
    assert cut_off.pop() == []
    cut_off.save(0, 21, 22, is_live=True)
    assert cut_off.pop() == [(row, [0]) for row in range(1, 23)]


def test_what_was_missed_beside_a_market_that_stayed_connected_is_not_held_up(db: Database) -> None:
    """It makes no step by itself."""
    rig = Rig(db, "binance", count=3)
    for market in range(3):
        rig.save(market, 0)
        rig.feed_changed(FeedState.LIVE, market)
    assert rig.pop() == [(0, [0, 1, 2])]
    for market in (0, 1):
        rig.feed_changed(FeedState.RECONNECTING, market)
    for row in range(1, 8):
        rig.save(2, row, is_live=True)
        rig.at(row, ALLOWED_MS - FORECASTING_MS)
        assert rig.pop() == [(row, [2])]
    rig.at(7, 2 * STEP_MS)
    rig.save(0, *range(1, 8))
    assert rig.pop() == [(row, [0]) for row in range(1, 8)]


def test_a_market_that_fetches_what_it_missed_is_not_back_yet(cut_off: Rig) -> None:
    cut_off.feed_changed(FeedState.CATCHING_UP, 1)
    assert cut_off.pop() == []
    cut_off.feed_changed(FeedState.LIVE, 1)
    assert cut_off.pop() == [(row, [0]) for row in range(1, 21)]


def test_several_markets_without_a_connection_are_waited_for_together(db: Database) -> None:
    rig = Rig(db, "binance", count=4)
    for market in range(4):
        rig.save(market, 0)
        rig.feed_changed(FeedState.RECONNECTING if market else FeedState.LIVE, market)
    assert rig.pop() == [(0, [0, 1, 2, 3])]
    rig.at(5, 2 * STEP_MS)
    rig.save(0, 1)
    assert rig.pop() == []
    rig.clock.advance_ms(FETCHING_MS)
    assert rig.pop() == [(1, [0])]


def test_a_live_candle_is_not_held_up_by_a_lost_connection(live: Rig) -> None:
    live.feed_changed(FeedState.RECONNECTING, 1)
    for row in (1, 2, 3, 4, 5):
        live.save(0, row, is_live=True)
        live.at(row, ALLOWED_MS - FORECASTING_MS)
        assert live.pop() == [(row, [0])]


def test_a_live_market_that_still_fetches_its_past_is_waited_for(db: Database) -> None:
    rig = Rig(db, "binance")
    rig.save(0, 0, 1)
    rig.caught_up(0)
    rig.at(1, 60_000)
    assert rig.pop() == []
    rig.save(1, 0)
    assert rig.pop() == [(0, [0, 1])]
    rig.caught_up(1)
    assert rig.pop() == [(1, [0])]


def test_each_candle_has_its_own_mode(live: Rig) -> None:
    live.save(0, 1, is_live=True)
    live.save(1, 1)
    (close,) = live.queue.pop(1)
    assert [each.mode for each in close.candles] == [ForecastMode.LIVE, ForecastMode.CATCH_UP]
    assert close.mode_of_close(ForecastMode.LIVE) is ForecastMode.LIVE


def ready(rig: Rig, positions: Sequence[tuple[int | None, int | None]]) -> TrainerReady:
    """positions: of each market, the rows of the newest candle that was learned and of the newest that was recorded."""
    times = [[None if row is None else SERIES[row].open_time_ms for row in pair] for pair in positions]
    members = [MemberRun(f"run-{at}", market, True) for at, market in enumerate(rig.spec.markets)]
    points = (
        ResumePoint(member, learned, recorded) for member, (learned, recorded) in zip(members, times, strict=True)
    )
    return TrainerReady("run", "CPU", 0, None, 1, tuple(points))


def test_a_trainer_that_starts_again_gets_what_each_market_lacks(live: Rig) -> None:
    for market in (0, 1):
        live.save(market, 1, 2, 3)
    live.queue.trainer_is_ready(ready(live, [(2, 2), (1, 2)]))
    closes = list(live.queue.pop(9))
    assert [[(row_of(one.candle), live.place_of(one.market)) for one in each.candles] for each in closes] == [
        [(2, 1)],
        [(3, 0), (3, 1)],
    ]
    assert closes[0].candles[0].mode is ForecastMode.RECOVERY


def test_a_new_live_run_begins_at_the_newest_candles_of_each_market(db: Database) -> None:
    rig = Rig(db, "binance")
    series = random_walk(200)
    rig.store.save(rig.spec.markets[0], series)
    rig.store.save(rig.spec.markets[1], series[100:])
    rig.queue.trainer_is_ready(ready(rig, [(None, None), (None, None)]))
    closes = list(rig.queue.pop(999))
    assert [len(each.candles) for each in closes] == [1] * 20 + [2] * 100
