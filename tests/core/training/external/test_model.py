"""A forecaster in a process may do anything: the model has a forecast or an incident, and nothing waits too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import Quantity
from core.training.external.model import MOST_DEATHS
from core.training.external.protocol import ForecastRequest
from tests.core.training.external.rigs import (
    HORIZONS,
    Answer,
    Behaviour,
    Message,
    Rig,
    close_after,
    forecast,
    line,
    same,
    sound,
)
from tests.support.candles import MARKET, MINUTE, random_walk

CANDLES = random_walk(60)
MISSING, SORTED = IncidentKind.CHALLENGER_WITHOUT_FORECAST, IncidentKind.CHALLENGER_SORTED
ENDED, SUSPENDED = IncidentKind.CHALLENGER_ENDED, IncidentKind.CHALLENGER_SUSPENDED


def at(places: Iterable[int], do: Behaviour) -> Behaviour:
    """Sound, except that the candles at these places, of all lives together, are answered by `do`."""
    asked, chosen = count(), frozenset(places)

    def behave(message: Message) -> Iterable[Answer]:
        is_chosen = message["type"] == "candle" and next(asked) in chosen
        return do(message) if is_chosen else sound(message)

    return behave


def is_given(rig: Rig, candles: Iterable[Candle]) -> list[bool]:
    return [found is not None for found in rig.take_all(candles)]


def test_a_forecast_is_the_answer_and_candles_are_sent_once_in_order() -> None:
    rig = Rig()
    rig.taken += CANDLES[:5]
    rig.open()
    found = rig.take_all(CANDLES[5:])
    assert rig.candles_of(0) == [candle.open_time_ms for candle in CANDLES]
    assert [message["type"] for message in rig.lives[0].received[:3]] == ["hello", "history", "candle"]
    for candle, made in zip(CANDLES[5:], found, strict=True):
        assert made is not None
        expected = close_after({"open": candle.open, "close": candle.close})
        np.testing.assert_array_equal(made.quantiles[Quantity.CLOSE], expected)
    assert rig.kinds() == []
    rig.model.close()
    assert rig.lives[0].is_closed


@pytest.mark.parametrize("is_live", [True, False])
def test_a_forecast_does_not_depend_on_how_fast_it_came(is_live: bool) -> None:
    delays = np.random.default_rng(3).uniform(0.0, 0.999, 100)
    seconds = iter(delays.tolist())
    slow = Rig(lambda message: sound(message, next(seconds)), is_live=is_live)
    assert all(map(same, slow.take_all(CANDLES), Rig(is_live=is_live).take_all(CANDLES)))
    assert slow.kinds() == []


def test_a_late_answer_is_dropped() -> None:
    rig = Rig(at([4, 9], lambda message: sound(message, 1.5)))
    found, on_time = rig.take_all(CANDLES[:12]), Rig().take_all(CANDLES[:12])
    assert [place for place, made in enumerate(found) if made is None] == [4, 9]
    assert all(same(made, other) for made, other in zip(found, on_time, strict=True) if made is not None)
    assert rig.kinds() == [MISSING, MISSING]
    assert len(rig.lives) == 1


def test_without_candles_in_real_time_a_slow_answer_is_waited_for() -> None:
    rig = Rig(lambda message: sound(message, 9.0), is_live=False)
    assert all(is_given(rig, CANDLES[:5])) and rig.kinds() == []


@pytest.mark.parametrize(("is_live", "closes"), [(True, 30), (False, 3)])
def test_a_forecaster_that_hangs_is_started_again(is_live: bool, closes: int) -> None:
    rig = Rig(at(range(2, 2 + closes), lambda message: []), is_live=is_live)
    given = is_given(rig, CANDLES[: closes + 8])
    assert [place for place, has in enumerate(given) if not has] == list(range(2, 2 + closes))
    assert rig.kinds() == [MISSING] * closes + [ENDED]
    assert rig.lives[0].is_closed and rig.candles_of(1) == [candle.open_time_ms for candle in CANDLES[: closes + 8]]


def test_forecasts_that_are_not_taken_do_not_pile_up() -> None:
    rig, other = Rig(lambda message: sound(message, 0.5)), Rig()
    for candle in random_walk(150):
        rig.model.observe([(str(MARKET), candle)], is_live=True)
    candle = random_walk(151)[150]
    assert same(rig.take(candle), other.take(candle)) and rig.kinds() == []


def test_an_ended_forecaster_is_started_again_with_all_it_missed() -> None:
    rig = Rig(at([3], lambda message: [(0.0, None)]))
    assert is_given(rig, CANDLES[:8]) == [True] * 3 + [False] + [True] * 4
    assert rig.candles_of(1) == [candle.open_time_ms for candle in CANDLES[:8]]
    (draft,) = rig.model.pop_incidents()
    assert (
        draft.happened == "The process of the challenger Test ended: exit code 3."
        and "Segmentation fault" in draft.details
    )


def test_one_that_starts_at_a_late_candle_knows_what_the_other_markets_have_sent() -> None:
    rig = Rig(at([3], lambda message: [(0.0, None)]), ForecastRequest(("a", "b"), MINUTE, HORIZONS))
    first, late, newest = CANDLES[:3]
    for market, candle in (("a", first), ("b", first), ("b", late), ("b", newest), ("a", late)):
        rig.take(candle, market)
    assert len(rig.lives) == 2 and rig.kinds() == [ENDED]
    assert rig.history_ends == {"a": late.open_time_ms, "b": newest.open_time_ms + 1}


def test_each_further_end_costs_more_candles_until_it_is_suspended() -> None:
    rig = Rig(lambda message: [(0.0, None)] if message["type"] == "candle" else sound(message))
    assert not any(is_given(rig, CANDLES))
    starts = [len(rig.candles_of(life)) - 1 for life in range(len(rig.lives))]
    assert starts == [0, 1, 3, 7, 15] and len(starts) == MOST_DEATHS
    drafts = rig.model.pop_incidents()
    assert [draft.kind for draft in drafts] == [ENDED] * (MOST_DEATHS - 1) + [SUSPENDED]
    assert [draft.done for draft in drafts[:2]] == [
        "It is started again for the next candle.",
        "It is started again after 1 candle.",
    ]
    rig.behaviour = sound
    rig.model.resume()
    assert is_given(rig, random_walk(63)[60:]) == [True] * 3


def test_ends_far_apart_never_suspend_it() -> None:
    rig = Rig(at(range(0, 400, 25), lambda message: [(0.0, None)]))
    given = is_given(rig, random_walk(400))
    assert given.count(False) == 16 and set(rig.kinds()) == {ENDED}


@pytest.mark.parametrize(
    "answer",
    [
        b"Loading ...\n",
        b"\xff\n",
        line({"type": "forecast", "open_time_ms": 1}),
        line({"type": "forecast", "open_time_ms": [1]}),
        line({"type": "forecast"}),
        None,
    ],
)
def test_nonsense_costs_one_forecast(answer: bytes | None) -> None:
    def nonsense(message: Message) -> list[Answer]:
        return [(0.0, answer or forecast(message, close=[[float("nan")] * 7] * HORIZONS))]

    rig = Rig(at([3], nonsense))
    assert is_given(rig, CANDLES[:6]) == [True] * 3 + [False] + [True] * 2
    assert rig.kinds() == [MISSING] and len(rig.lives) == 1


def test_crossed_quantiles_are_sorted_with_an_incident() -> None:
    crossed = at([1], lambda message: [(0.0, forecast(message, close=[row[::-1] for row in close_after(message)]))])
    rig = Rig(crossed)
    assert all(map(same, rig.take_all(CANDLES[:4]), Rig().take_all(CANDLES[:4])))
    assert rig.kinds() == [SORTED]


def test_lines_that_are_no_answer_are_skipped() -> None:
    rig = Rig(at([2], lambda message: [(0.0, b"epoch 1\n"), (0.0, b"\n"), *sound(message)]))
    assert all(is_given(rig, CANDLES[:5])) and rig.kinds() == []


@pytest.mark.parametrize("text", [line({"open_time_ms": 7}), b"\n"])
def test_a_flood_ends_it(text: bytes) -> None:
    rig = Rig(at([2], lambda message: [(0.0, text)] * 5000))
    assert is_given(rig, CANDLES[:8]) == [True, True, False, *[True] * 5]
    assert rig.kinds() == [ENDED]


def test_a_forecaster_that_falls_behind_for_ever_is_ended() -> None:
    due_s = count(3.0, 2.0)
    rig = Rig(lambda message: sound(message, next(due_s) if message["type"] == "candle" else 0.0))
    rig.take_all(random_walk(150))
    kinds = rig.kinds()
    assert kinds[kinds.index(ENDED) - 1] is MISSING and kinds.index(ENDED) > 64


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [
        ([(0.0, line({"type": "ready", "protocol": 9}))], "must have “protocol”: 1, not “9”"),
        ([(0.0, b"hello\n")] * 200, "it wrote 100 lines before it was ready"),
        ([], 'it did not answer "hello" with "type": "ready" within 60 s'),
        ([(0.0, None)], "exit code 3"),
    ],
)
def test_a_forecaster_that_does_not_greet_is_ended(greeting: list[Answer], reason: str) -> None:
    rig = Rig(lambda message: greeting)
    rig.open()
    (draft,) = rig.model.pop_incidents()
    assert reason.replace("“protocol”", '"protocol"') in draft.happened and rig.lives[0].is_closed
    assert draft.kind is ENDED


def test_what_a_library_prints_before_the_greeting_is_skipped() -> None:
    rig = Rig(lambda message: [(0.0, b"Welcome to a library\n"), *sound(message)])
    rig.open()
    assert rig.kinds() == []


def test_while_it_starts_again_live_candles_do_not_wait_for_it() -> None:
    starting = iter([0.0, 30.0])
    crash = at([1], lambda message: [(0.0, None)])
    rig = Rig(lambda message: sound(message, next(starting)) if message["type"] == "hello" else crash(message))
    rig.take_all(CANDLES[:2])
    for place in range(2, 35):
        before_s = rig.clock.monotonic_s()
        rig.take(CANDLES[place])
        assert rig.clock.monotonic_s() - before_s <= 1.0
    assert rig.take(CANDLES[35]) is not None
    assert rig.candles_of(1) == [candle.open_time_ms for candle in CANDLES[:36]]


def test_several_markets_share_one_process_and_its_deadline() -> None:
    markets = ("A", "B")
    held: list[Message] = []

    def second_first(message: Message) -> Iterable[Answer]:
        """Answers both markets once it has both candles, in the opposite order."""
        if message["type"] != "candle":
            return sound(message)
        held.append(message)
        if len(held) < len(markets):
            return []
        both, held[:] = [(0.0, forecast(each)) for each in reversed(held)], []
        return both

    rig = Rig(second_first, ForecastRequest(markets, MINUTE, HORIZONS))
    others = random_walk(60, seed=5)
    for candle, other in zip(CANDLES[:5], others, strict=False):
        rig.model.observe(list(zip(markets, (candle, other), strict=True)), is_live=True)
        for market, own in zip(markets, (candle, other), strict=True):
            made = rig.model.forecast(market, own.open_time_ms)
            assert made is not None
            expected = close_after({"open": own.open, "close": own.close})
            np.testing.assert_array_equal(made.quantiles[Quantity.CLOSE], expected)
    assert rig.kinds() == []


def test_markets_of_a_close_share_one_deadline() -> None:
    markets = ("A", "B")

    def silent(message: Message) -> Iterable[Answer]:
        return sound(message) if message["type"] == "hello" else []

    rig = Rig(silent, ForecastRequest(markets, MINUTE, HORIZONS))
    rig.model.begin()
    assert rig.model.get_ready()
    began_s = rig.clock.monotonic_s()
    rig.model.observe([(market, CANDLES[0]) for market in markets], is_live=True)
    for market in markets:
        assert rig.model.forecast(market, CANDLES[0].open_time_ms) is None
    assert rig.clock.monotonic_s() - began_s == pytest.approx(rig.model._wanted.deadline_ms / 1000.0)
