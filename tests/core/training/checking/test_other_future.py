"""Another future of the same candles."""

from __future__ import annotations

import numpy as np
import pytest

from core.domain.candle_faults import Validator
from core.training.checking.check import with_other_future
from tests.support.candles import MINUTE, random_walk, without

CANDLES = without(random_walk(400, seed=2), 30, 310)


@pytest.mark.parametrize("known", [1, 200, 390])
def test_it_begins_after_the_known_candles_at_the_same_times(known: int) -> None:
    other = with_other_future(CANDLES, known)
    assert other[:known] == CANDLES[:known]
    assert [candle.open_time_ms for candle in other] == [candle.open_time_ms for candle in CANDLES]
    assert all(mine != theirs for mine, theirs in zip(other[known:], CANDLES[known:], strict=True))
    validator = Validator(MINUTE)
    assert [validator.check(candle) for candle in other] == [None] * len(other)


def test_it_says_nothing_of_the_true_future() -> None:
    moves = (np.diff(np.log([candle.close for candle in each])) for each in (CANDLES, with_other_future(CANDLES, 100)))
    true, other = (each[100:] for each in moves)
    assert abs(np.corrcoef(true, other)[0, 1]) < 0.2
    assert other.std() == pytest.approx(true.std(), rel=0.3)
