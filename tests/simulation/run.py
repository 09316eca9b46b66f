"""One seed: the real supervisor, aggregator, pipeline and candle table, on virtual time, against a bad network."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from core.domain.backoff import Backoff
from core.domain.candle import Candle, Market
from core.domain.candle_faults import problem_of
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    CorrectedCandle,
    FeedEvent,
    FeedStatus,
    FeedVitals,
    FormingCandle,
    MissingCandles,
    RejectedMessage,
    StoredCandles,
)
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.rate_limits import RateLimitHold, RequestGate, RequestQueue
from core.market.feeds.timing import ExchangeTimes
from core.market.pipeline import MarketPipeline, PipelineListener
from core.storage.candles import CandleStore
from core.storage.holes import HoleStore
from tests.simulation.market import EPOCH_MS, MINUTE, STEP_MS, SimulatedMarket
from tests.simulation.toxics import LIES, Toxic, Toxics, random_toxics
from tests.simulation.venue import SimulatedExchange, closed_until, suffer_moments
from tests.simulation.virtual_time import VirtualLoop, VirtualTime, run_virtually
from tests.support.tables import empty_tables

MARKET = Market("simulated exchange", "BTC/USDT", MINUTE)
MINUTES = 60
"""Of a short run; the long ones have as many as `long_minutes` says."""
HEALING = 12
"""Minutes at the end in which nothing goes wrong: so long may the last correction take."""
CATCH_UP = 20
_ROUNDING_MS = 5
_FALSE_END_MS = 2_000
"""A closing message that lies is believed so long before the candle's end: clocks differ by as much."""
_CHECKED_AFTER_MS = 8 * STEP_MS
_TIMES = ExchangeTimes(vitals_s=10.0, renew_s=2_000.0, renew_jitter_s=400.0)


@dataclass(slots=True)
class Outcome:
    """Events and stored candles of a run, and the truth to compare with."""

    seed: int
    market: SimulatedMarket
    toxics: Toxics
    name: Market = MARKET
    ended_ms: int = 0
    wall_offset_ms: int = 0
    events: list[FeedEvent] = field(default_factory=list)
    received_at_ms: list[int] = field(default_factory=list)
    """When each event came."""
    stored: list[Candle] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def take(self, event: FeedEvent, now_ms: int) -> None:
        self.events.append(event)
        self.received_at_ms.append(now_ms)

    def closed(self) -> list[ClosedCandle]:
        return [event for event in self.events if isinstance(event, ClosedCandle)]

    def corrected(self) -> list[CorrectedCandle]:
        return [event for event in self.events if isinstance(event, CorrectedCandle)]

    def missing_times(self) -> list[int]:
        holes = [event for event in self.events if isinstance(event, MissingCandles)]
        return [hole.first_ms + index * STEP_MS for hole in holes for index in range(hole.count)]

    def vitals(self) -> list[FeedVitals]:
        return [event for event in self.events if isinstance(event, FeedVitals)]


class _Recording(ExchangeFeed):
    """Records the events."""

    outcome: Outcome
    time: VirtualTime

    async def events(self, after_ms: int | None = None, known: StoredCandles | None = None):  # type: ignore[no-untyped-def]
        async for event in super().events(after_ms, known):
            self.outcome.take(event, self.time.true_ms())
            if not isinstance(event, FormingCandle | FeedVitals | CatchUpProgress):
                minute = (self.time.true_ms() - EPOCH_MS) / STEP_MS
                self.outcome.log.append(f"{minute:8.3f} {_short(event)}")
            yield event


def _short(event: FeedEvent) -> str:
    match event:
        case ClosedCandle(candle=candle):
            index = (candle.open_time_ms - EPOCH_MS) // STEP_MS
            return f"closed {index} live={event.is_live} {candle.close} {candle.volume:.4f}"
        case CorrectedCandle(candle=candle, before=before):
            index = (candle.open_time_ms - EPOCH_MS) // STEP_MS
            return f"corrected {index} {before.close} {before.volume:.4f} -> {candle.close} {candle.volume:.4f}"
        case MissingCandles():
            return f"missing {(event.first_ms - EPOCH_MS) // STEP_MS} +{event.count}"
        case RejectedMessage():
            return f"rejected {event.reason}"
        case FeedStatus():
            return f"{event.state.value}: {event.sentence}"
    return str(event)


def long_minutes(seed: int) -> int:
    """Four to six hours."""
    return 240 + Random(seed).randrange(121)


def simulate(seed: int, chosen: Sequence[Toxic] | None = None, minutes: int = MINUTES) -> Outcome:
    """So many minutes of market, an hour of them in a tenth of a second. chosen: the faults; without it the seed
    decides."""
    (outcome,) = simulate_together(seed, 1, chosen, minutes)
    return outcome


def simulate_together(
    seed: int, count: int, chosen: Sequence[Toxic] | None = None, minutes: int = MINUTES
) -> list[Outcome]:
    """The same with so many markets of one exchange, whose requests wait in one queue."""
    random = Random(seed)
    until_ms = EPOCH_MS + (minutes - HEALING) * STEP_MS
    toxics = random_toxics(random, EPOCH_MS, until_ms) if chosen is None else Toxics(chosen)
    asleep = -(-toxics.asleep_ms // STEP_MS)
    names = [MARKET, *(Market(MARKET.venue, f"M{number}/USDT", MINUTE) for number in range(1, count))]
    outcomes = [
        Outcome(
            seed, SimulatedMarket(random, minutes + HEALING + asleep, shows_empty=random.random() < 0.5), toxics, name
        )
        for name in names
    ]
    run_virtually(lambda loop: _run(loop, random, outcomes, until_ms))
    return outcomes


async def _run(loop: VirtualLoop, random: Random, outcomes: Sequence[Outcome], until_ms: int) -> None:
    """until_ms: then all is well again, but for a computer that sleeps longer."""
    time = VirtualTime(loop, EPOCH_MS, wall_offset_ms=random.choice((0, 0, -4_000, 90_000)))
    exchanges = [SimulatedExchange(random, outcome.market, time, outcome.toxics) for outcome in outcomes]
    queue = RequestQueue(RateLimitHold(time)) if len(outcomes) > 1 else None
    feeds = [_feed(outcome, exchange, time, queue) for outcome, exchange in zip(outcomes, exchanges, strict=True)]
    db = empty_tables()
    store = CandleStore(db)
    suffering = asyncio.ensure_future(suffer_moments(exchanges))
    pumping = [
        asyncio.ensure_future(MarketPipeline(feed, store, HoleStore(db), time, PipelineListener()).run())
        for feed in feeds
    ]
    await suffering
    healed_ms = max(time.true_ms(), until_ms)
    end_ms = MINUTE.open_time_ms(healed_ms) + HEALING * STEP_MS + 40_000
    await asyncio.sleep((end_ms - time.true_ms()) / 1000.0)
    for outcome in outcomes:
        outcome.ended_ms, outcome.wall_offset_ms = time.true_ms(), time.wall_offset_ms
    for feed in feeds:
        await feed.aclose()
    await asyncio.gather(*pumping)
    for outcome in outcomes:
        outcome.stored = store.load(outcome.name)
    db.conn.close()


def _feed(outcome: Outcome, exchange: SimulatedExchange, time: VirtualTime, gate: RequestGate | None) -> _Recording:
    feed = _Recording(
        outcome.name,
        time,
        catch_up=CATCH_UP,
        times=_TIMES,
        backoff=Backoff(random=Random(outcome.seed)),
        open_venue=exchange.connect,
        gate=gate,
    )
    feed.outcome, feed.time = outcome, time
    return feed


def problems(outcome: Outcome) -> list[str]:
    """Violated guarantees of an outcome in words; empty if all hold."""
    kept = (_order_problems, _truth_problems, _table_problems, _hole_problems, _liveness_problems)
    return [problem for promise in kept for problem in promise(outcome)]


def _order_problems(outcome: Outcome) -> list[str]:
    times = [closed.candle.open_time_ms for closed in outcome.closed()]
    wrong = [later for earlier, later in itertools.pairwise(times) if later <= earlier]
    return [f"a closed candle came twice or out of order: {_index(time_ms)}" for time_ms in wrong]


def _truth_problems(outcome: Outcome) -> list[str]:
    """No event is nonsense, no candle comes before its end, and none differs from the exchange's versions; unless
    the data was wrong in an undetectable way."""
    found = []
    is_honest = not {toxic.kind for toxic in outcome.toxics.all} & LIES
    for event, now_ms in zip(outcome.events, outcome.received_at_ms, strict=True):
        if isinstance(event, ClosedCandle | FormingCandle | CorrectedCandle):
            candle = event.candle
            if problem_of(candle, MINUTE) is not None:
                found.append(f"nonsense was reported: {event}")
            early_ms = _ROUNDING_MS if is_honest else _FALSE_END_MS
            if not isinstance(event, FormingCandle) and candle.open_time_ms + STEP_MS > now_ms + early_ms:
                found.append(f"candle {_index(candle.open_time_ms)} was reported before its end")
        if isinstance(event, ClosedCandle) and is_honest:
            versions = (
                outcome.market.first_version(candle.open_time_ms),
                outcome.market.final.get(candle.open_time_ms),
            )
            if candle not in versions:
                found.append(f"candle {_index(candle.open_time_ms)} was passed on as the exchange never sent it")
    return found


def _table_problems(outcome: Outcome) -> list[str]:
    stored = {candle.open_time_ms: candle for candle in outcome.stored}
    if not stored:
        return ["nothing was stored"]
    last_ms = closed_until(outcome.ended_ms - 30_000)
    first_ms = min(stored)
    expected = {open_ms: each for open_ms, each in outcome.market.final.items() if first_ms <= open_ms <= last_ms}
    found = []
    for open_ms in sorted(expected.keys() | stored.keys()):
        mine, true = stored.get(open_ms), expected.get(open_ms)
        is_recent = open_ms >= outcome.ended_ms - _CHECKED_AFTER_MS  # a correction of it may not be known yet
        if mine != true and not (is_recent and mine == outcome.market.first_version(open_ms)):
            found.append(f"candle {_index(open_ms)}: stored {mine}, is {true}")
    return found


def _hole_problems(outcome: Outcome) -> list[str]:
    """Exactly the gaps of the exchange are reported, except those reported as filled later."""
    filled = {each.candle.open_time_ms for each in outcome.corrected() if each.was_missing}
    reported = outcome.missing_times()
    wrong = [time_ms for time_ms in reported if time_ms in outcome.market.final and time_ms not in filled]
    found = [f"candle {_index(time_ms)} is reported missing" for time_ms in wrong]
    if len(set(reported)) != len(reported):
        found.append("a gap was reported twice")
    passed = {closed.candle.open_time_ms for closed in outcome.closed()}
    if passed:
        gaps = set(range(min(passed), max(passed) + 1, STEP_MS)) - passed
        found += [f"the hole at {_index(time_ms)} was not reported" for time_ms in sorted(gaps - set(reported))]
    return found


def _liveness_problems(outcome: Outcome) -> list[str]:
    """When all is well again candles come live, and soon."""
    recent = [each for each in outcome.closed() if each.candle.open_time_ms >= outcome.ended_ms - 6 * STEP_MS]
    late = [each for each in recent if not each.is_live]
    found = [f"candle {_index(each.candle.open_time_ms)} did not come live" for each in late]
    vitals = outcome.vitals()
    if vitals and outcome.ended_ms + outcome.wall_offset_ms - (vitals[-1].last_message_ms or 0) > 8 * STEP_MS:
        found.append("the stream is dead, and nobody has noticed")
    if not vitals or (vitals[-1].close_delay_ms or 0.0) > 8_000.0:
        found.append(f"the newest candle came late, or nothing is known of it: {vitals[-1:]}")
    return found


def _index(open_time_ms: int) -> int:
    return (open_time_ms - EPOCH_MS) // STEP_MS
