"""Candle files with the insides of their candles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.candle import Candle, Interval
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.errors import CandleFileError
from core.market.history.insides import add_insides, joined
from tests.support.candles import random_walk, without, write_csv

FIVE = Interval.parse("5m")


def file_of(folder: Path, candles: list[Candle]) -> CandleFile:
    return read_candle_file(write_csv(folder / "candles.csv", candles))


def test_joined_candles_have_their_own_rows_inside(tmp_path: Path) -> None:
    finer = random_walk(63)
    found = joined(file_of(tmp_path, finer), FIVE)
    assert found.interval == FIVE and len(found.candles) == 12
    first, part = found.candles[0], finer[:5]
    assert (first.open, first.close) == (part[0].open, part[-1].close)
    assert (first.high, first.low) == (max(each.high for each in part), min(each.low for each in part))
    assert [candle.inside.count for candle in found.candles if candle.inside is not None] == [5] * 12


def test_a_file_of_the_same_market_gives_the_same_insides(tmp_path: Path) -> None:
    finer = file_of(tmp_path, random_walk(60))
    both = joined(finer, FIVE)
    alone = file_of(tmp_path, [replace(candle, inside=None) for candle in both.candles])
    found = add_insides(alone, finer, "finer.csv")
    assert [candle.inside for candle in found.candles] == [candle.inside for candle in both.candles]


def test_a_hole_in_the_finer_file_leaves_a_candle_without_an_inside(tmp_path: Path) -> None:
    finer = random_walk(60)
    coarse = file_of(tmp_path, list(joined(file_of(tmp_path, finer), FIVE).candles))
    found = add_insides(coarse, file_of(tmp_path, without(finer, *range(11, 15))), "finer.csv")
    assert [place for place, candle in enumerate(found.candles) if candle.inside is None] == [2]


def test_a_file_that_gives_no_candle_an_inside_is_refused(tmp_path: Path) -> None:
    finer = random_walk(60)
    coarse = file_of(tmp_path, list(joined(file_of(tmp_path, finer), FIVE).candles))
    sparse = file_of(tmp_path, [candle for place, candle in enumerate(finer) if place % 5 < 2])
    with pytest.raises(CandleFileError, match=r"sparse\.csv has less than half"):
        add_insides(coarse, sparse, "sparse.csv")


@pytest.mark.parametrize("other", ["same", "elsewhere", "later", "other time zone"])
def test_a_file_that_cannot_be_the_inside_is_refused_with_its_name(tmp_path: Path, other: str) -> None:
    finer = file_of(tmp_path, random_walk(60))
    coarse = joined(finer, FIVE)
    wrong = {
        "same": coarse,
        "elsewhere": file_of(tmp_path, [_dearer(candle) for candle in random_walk(60)]),
        "other time zone": file_of(tmp_path, random_walk(60, start_ms=finer.candles[0].open_time_ms - 20 * 60_000)),
        "later": file_of(tmp_path, random_walk(60, start_ms=1_700_000_100_000)),
    }[other]
    with pytest.raises(CandleFileError, match=r"wrong\.csv"):
        add_insides(coarse, wrong, "wrong.csv")


def _dearer(candle: Candle) -> Candle:
    prices = (2.0 * each for each in (candle.open, candle.high, candle.low, candle.close))
    return Candle(candle.open_time_ms, *prices, candle.volume)


def test_a_file_of_less_than_one_candle_cannot_be_joined(tmp_path: Path) -> None:
    with pytest.raises(CandleFileError, match="less than one candle of 5m"):
        joined(file_of(tmp_path, random_walk(4)), FIVE)
