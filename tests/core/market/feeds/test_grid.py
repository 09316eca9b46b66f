"""The grid of candles as rows show it."""

from __future__ import annotations

import pytest

from core.domain.candle import DAY_MS, Interval
from core.market.feeds.grid import CandleGrid

HOUR_MS = 3_600_000
WEEK_MS = 7 * DAY_MS
MONDAY_MS = 1_704_067_200_000
EVENING_MS = MONDAY_MS + 16 * HOUR_MS


def learned(interval: str, *times_ms: int) -> tuple[int, str | None]:
    """The phase that rows show, and why they are refused."""
    grid = CandleGrid(Interval.parse(interval))
    grid.learn(times_ms)
    return grid.phase_ms, grid.refusal("Kraken", times_ms)


def every(step_ms: int, first_ms: int = MONDAY_MS, count: int = 5) -> list[int]:
    return [first_ms + index * step_ms for index in range(count)]


@pytest.mark.parametrize(
    ("interval", "times_ms", "phase_ms"),
    [
        ("1m", every(60_000), 0),
        ("1d", every(DAY_MS), 0),
        ("1d", every(DAY_MS, EVENING_MS), 16 * HOUR_MS),
        ("1d", [EVENING_MS], 16 * HOUR_MS),
        ("1w", every(WEEK_MS), MONDAY_MS % WEEK_MS),
        ("1w", sorted([*every(WEEK_MS), MONDAY_MS + 3 * DAY_MS]), MONDAY_MS % WEEK_MS),
        ("1d", [MONDAY_MS, MONDAY_MS + 3 * DAY_MS, MONDAY_MS + 9 * DAY_MS], 0),
        ("1m", [MONDAY_MS + 7, MONDAY_MS + 60_011, MONDAY_MS + 120_000], 0),
    ],
)
def test_the_grid_is_that_of_most_rows(interval: str, times_ms: list[int], phase_ms: int) -> None:
    assert learned(interval, *times_ms) == (phase_ms, None)


@pytest.mark.parametrize(
    ("interval", "times_ms", "said"),
    [
        ("1w", every(3 * DAY_MS), "has no candles of 1w: those that it sends are 3d apart"),
        ("2w", every(15 * DAY_MS, count=3), "are 15d apart"),
        ("1d", every(HOUR_MS), "are 1h apart"),
        ("4h", every(8 * HOUR_MS, count=20), "are 8h apart"),
        ("1h", every(HOUR_MS, MONDAY_MS + 60_000), "do not fit those of other exchanges"),
        ("12h", every(12 * HOUR_MS, EVENING_MS), "do not fit those of other exchanges"),
        ("1d", every(DAY_MS, MONDAY_MS + 7_000), "do not fit those of other exchanges"),
    ],
)
def test_rows_of_another_length_or_grid_are_refused(interval: str, times_ms: list[int], said: str) -> None:
    assert said in (learned(interval, *times_ms)[1] or "")


def test_rows_have_to_fit_a_stored_candle() -> None:
    grid = CandleGrid(Interval.parse("1d"))
    grid.place(MONDAY_MS)
    grid.learn(every(DAY_MS, EVENING_MS))
    assert grid.phase_ms == 0
    assert "do not fit the stored ones" in (grid.refusal("HTX", every(DAY_MS, EVENING_MS)) or "")
    assert grid.refusal("HTX", every(DAY_MS)) is None


def test_one_row_is_believed_until_there_are_more() -> None:
    grid = CandleGrid(Interval.parse("1d"))
    for times_ms, phase_ms in (
        ([MONDAY_MS], 0),
        (every(DAY_MS, EVENING_MS), 16 * HOUR_MS),
        ([MONDAY_MS], 16 * HOUR_MS),
    ):
        grid.learn(times_ms)
        assert grid.phase_ms == phase_ms
