"""The trade aggregator against a naive model, with trades in any order, repeated, late or lost."""

from __future__ import annotations

import math
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.aggregate import Trade, TradeAggregator, TradeFate

MINUTE = Interval.parse("1m")
STEP_MS = MINUTE.duration_ms
START_MS = 1_700_000_040_000
amounts = st.floats(1e-6, 1e6)
prices = st.floats(0.01, 1e5)


def trades_of(count: int, seed: int = 0, spacing_ms: int = 700) -> list[Trade]:
    random = Random(seed)
    return [
        Trade(1000 + index, START_MS + index * spacing_ms, random.uniform(90.0, 110.0), random.uniform(0.001, 3.0))
        for index in range(count)
    ]


def naive_candle(trades: list[Trade], open_time_ms: int) -> Candle | None:
    """The candle by definition."""
    own = sorted(
        (each for each in trades if open_time_ms <= each.time_ms < open_time_ms + STEP_MS),
        key=lambda each: (each.time_ms, each.trade_id),
    )
    if not own:
        return None
    found = [each.price for each in own]
    volume = math.fsum(each.amount for each in own)
    return Candle(open_time_ms, found[0], max(found), min(found), found[-1], volume)


def aggregated(trades: list[Trade], **options: bool) -> TradeAggregator:
    aggregator = TradeAggregator(MINUTE, **options)
    for trade in trades:
        aggregator.add(trade)
    return aggregator


class AggregatorMachine(RuleBasedStateMachine):
    """Trades are made in order and come in any: at once, held back, twice, or never."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.aggregator = TradeAggregator(MINUTE, has_consecutive_ids=True)
        self.next_id, self.now_ms = 1, START_MS
        self.taken: list[Trade] = []
        self.known: set[int] = set()
        self.highest: int | None = None
        self.given_up: set[int] = set()
        self.closed_ms: int | None = None
        self.counted = {fate: 0 for fate in TradeFate}

    def make(self, wait_ms: int, price: float, amount: float) -> Trade:
        self.now_ms += wait_ms
        self.next_id += 1
        return Trade(self.next_id, self.now_ms, price, amount)

    def expected(self, trade: Trade) -> TradeFate:
        number = trade.trade_id
        assert isinstance(number, int)
        is_before_the_first = bool(self.known) and number < min(self.known)
        if number in self.known or number in self.given_up or is_before_the_first:
            return TradeFate.DUPLICATE
        open_ms = MINUTE.open_time_ms(trade.time_ms)
        return TradeFate.LATE if self.closed_ms is not None and open_ms <= self.closed_ms else TradeFate.TAKEN

    def deliver(self, trade: Trade) -> None:
        expected = self.expected(trade)
        assert self.aggregator.add(trade) is expected
        self.counted[expected] += 1
        if expected is not TradeFate.DUPLICATE:
            assert isinstance(trade.trade_id, int)
            self.known.add(trade.trade_id)
        if expected is TradeFate.TAKEN:
            self.taken.append(trade)
        for loss in self.aggregator.pop_losses():
            missing = set(range(loss.first_id, self.next_id + 1)) - self.known - self.given_up
            assert loss.count <= len(missing)
            self.given_up.update(sorted(missing)[: loss.count])

    @rule(wait_ms=st.integers(0, 40_000), price=prices, amount=amounts)
    def come(self, wait_ms: int, price: float, amount: float) -> None:
        self.deliver(self.make(wait_ms, price, amount))

    @rule(target=held, wait_ms=st.integers(0, 900), price=prices, amount=amounts)
    def be_held_back(self, wait_ms: int, price: float, amount: float) -> Trade:
        return self.make(wait_ms, price, amount)

    @rule(trade=consumes(held))
    def come_later(self, trade: Trade) -> None:
        self.deliver(trade)

    @precondition(lambda self: bool(self.taken))
    @rule(pick=st.randoms(use_true_random=False))
    def come_twice(self, pick: Random) -> None:
        self.deliver(pick.choice(self.taken))

    @rule(price=st.sampled_from([0.0, -1.0, math.nan, math.inf]))
    def be_nonsense(self, price: float) -> None:
        self.counted[TradeFate.INVALID] += 1
        assert self.aggregator.add(Trade(self.next_id + 1, self.now_ms, price, 1.0)) is TradeFate.INVALID

    @precondition(lambda self: bool(self.taken))
    @rule()
    def close_the_oldest(self) -> None:
        open_times = self.aggregator.open_times()
        if open_times:
            self.closed_ms = open_times[0]
            self.aggregator.close(open_times[0])

    @invariant()
    def candles_are_those_of_the_model(self) -> None:
        after_ms = -1 if self.closed_ms is None else self.closed_ms
        open_times = sorted({MINUTE.open_time_ms(each.time_ms) for each in self.taken})
        expected = [each for each in open_times if each > after_ms]
        assert self.aggregator.open_times() == expected
        for open_ms in expected:
            assert self.aggregator.candle(open_ms) == naive_candle(self.taken, open_ms)

    @invariant()
    def a_whole_candle_lacks_no_trade_that_could_be_known(self) -> None:
        for open_ms in self.aggregator.open_times():
            if not self.aggregator.is_complete(open_ms):
                continue
            own = sorted(
                each.trade_id
                for each in self.taken
                if isinstance(each.trade_id, int) and MINUTE.open_time_ms(each.time_ms) == open_ms
            )
            assert set(range(own[0], own[-1] + 1)) <= self.known

    @invariant()
    def every_trade_is_counted(self) -> None:
        assert {fate: self.aggregator.fates[fate] for fate in TradeFate} == self.counted


TestAggregator = AggregatorMachine.TestCase
TestAggregator.settings = settings(
    max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=50)
def test_the_order_of_trades_does_not_matter(random: Random, has_consecutive_ids: bool) -> None:
    trades = trades_of(100, seed=3)
    first, *rest = trades
    reach = 2 if has_consecutive_ids else len(trades)  # what is missing for two seconds is given up for lost
    rest = [rest[index] for index in sorted(range(len(rest)), key=lambda index: index + random.uniform(0.0, reach))]
    mixed = aggregated([first, *rest, *random.sample(trades, 20)], has_consecutive_ids=has_consecutive_ids)
    straight = aggregated(trades)
    assert mixed.open_times() == straight.open_times()
    for open_ms in straight.open_times():
        assert mixed.candle(open_ms) == straight.candle(open_ms)


def test_a_candle_with_an_unseen_start_is_incomplete() -> None:
    aggregator = aggregated(trades_of(300))
    first, *later = aggregator.open_times()
    assert not aggregator.is_complete(first)
    assert all(aggregator.is_complete(open_ms) for open_ms in later)


def test_an_unfilled_id_gap_is_a_loss_in_its_candle_only() -> None:
    trades = trades_of(300)
    aggregator = TradeAggregator(MINUTE, has_consecutive_ids=True)
    lost = trades[120:125]
    for trade in trades[:120] + trades[125:]:
        aggregator.add(trade)
    (loss,) = aggregator.pop_losses()
    assert (loss.first_id, loss.count) == (lost[0].trade_id, 5)
    torn_ms = MINUTE.open_time_ms(lost[0].time_ms)
    assert not aggregator.is_complete(torn_ms)
    assert aggregator.is_complete(torn_ms + STEP_MS)
    assert aggregator.pop_losses() == []


def test_one_outlier_id_is_ignored_but_a_shifted_sequence_accepted() -> None:
    trades = trades_of(40)
    aggregator = TradeAggregator(MINUTE, has_consecutive_ids=True)
    wild = Trade(10**12, trades[10].time_ms, 100.0, 1.0)
    fates = [aggregator.add(each) for each in (*trades[:10], wild, *trades[10:20])]
    assert fates.count(TradeFate.ID_JUMP) == 1 and fates.count(TradeFate.TAKEN) == 20
    moved = [Trade(5_000_000 + index, trade.time_ms, 100.0, 1.0) for index, trade in enumerate(trades[20:])]
    assert [aggregator.add(each) for each in moved].count(TradeFate.ID_JUMP) == 1
    (loss,) = aggregator.pop_losses()
    assert loss.first_id == 1020


def test_memory_does_not_grow_with_trades() -> None:
    aggregator = aggregated(trades_of(30_000, spacing_ms=1), has_consecutive_ids=True)
    (open_ms,) = aggregator.open_times()
    bucket = aggregator._buckets[open_ms]
    assert len(bucket.volume_parts) < 40


def test_five_thousand_trades_a_second_reach_the_series_without_loss() -> None:
    """Some of the seconds around a minute's end, of which a fifth comes out of order and a tenth twice."""
    random = Random(11)
    amount, per_second, seconds = 0.25, 5_000, 6
    trades = [
        Trade(index, START_MS + STEP_MS - 3_000 + index * 1000 // per_second, 100.0 + index % 7, amount)
        for index in range(per_second * seconds)
    ]
    aggregator, series = TradeAggregator(MINUTE, has_consecutive_ids=True), CandleSeries(MINUTE)
    for start in range(0, len(trades), 100):
        block = trades[start : start + 100]
        if start:
            for _ in range(20):
                one, other = random.randrange(100), random.randrange(100)
                block[one], block[other] = block[other], block[one]
        for trade in block + block[:10]:
            aggregator.add(trade)
        forming = aggregator.candle(aggregator.open_times()[-1])
        assert forming is not None
        series.add(forming)
        for open_ms in aggregator.open_times()[:-1]:
            closed = aggregator.candle(open_ms)
            assert closed is not None
            series.add(closed)
            aggregator.close(open_ms)
    assert aggregator.fates[TradeFate.TAKEN] == len(trades)
    assert aggregator.fates[TradeFate.DUPLICATE] == len(trades) // 10
    closed_volume = float(series.volume.sum())
    assert closed_volume == amount * len(trades)
    assert aggregator.pop_losses() == []
