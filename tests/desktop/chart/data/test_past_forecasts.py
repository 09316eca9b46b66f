"""The cache of past forecasts equals a brute-force lookup in the record, under any panning, scoring and reading."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMode
from core.storage.record_reader import RecordReader
from core.storage.record_writer import TrainingRecord
from core.training.online.issued_forecast import from_stored
from desktop.chart.data.past_forecasts import MODES, PastForecast, PastForecasts, PastView
from tests.core.storage.samples import checkpoint
from tests.desktop.chart.past_support import (
    HORIZONS,
    event_of,
    issued,
    open_recorded,
    score_of,
    scores_of,
    stored,
)
from tests.desktop.chart.support import MINUTE_MS, outcome_of, random_series

SERIES = random_series(160, seed=3, skip=frozenset({40, 41, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99}))
RECORDED = 60
"""Candles in the record at the start."""

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("pan"), st.integers(0, len(SERIES)), st.integers(0, 40)),
        st.tuples(st.just("close"), st.just(0), st.integers(1, 6)),
        st.tuples(st.just("read all"), st.just(0), st.just(0)),
        st.tuples(st.just("horizon"), st.integers(1, HORIZONS), st.just(0)),
        st.tuples(st.just("read"), st.integers(1, 6), st.just(0)),
        st.tuples(st.just("hover"), st.integers(0, len(SERIES)), st.just(0)),
        st.tuples(st.just("forget"), st.just(0), st.just(0)),
        st.tuples(st.just("correct"), st.integers(1, RECORDED - 1), st.integers(-3, 3)),
    ),
    min_size=5,
    max_size=30,
)


def brute_force(
    reader: RecordReader, series: CandleSeries, horizon: int, first: int, stop: int
) -> dict[int, dict[str, object]]:
    """Row by row, through the code for a single forecast."""
    found: dict[int, dict[str, object]] = {}
    for index in range(first, stop):
        versions = reader.score_versions(int(series.open_time_ms[index]), horizon=horizon)
        if not versions:
            continue
        score = versions[-1]
        forecast = reader.forecast_of(score.origin_open_time_ms)
        assert forecast is not None
        ghost = from_stored(forecast, series.interval).ghosts[horizon - 1]
        found[index] = {
            "prices": (ghost.open, ghost.high, ghost.low, ghost.close),
            "bands": tuple(ghost.close_quantiles[each] for each in (0, 2, 4, 6)),
            "flags": (score.inside_50, score.inside_90, score.after_gap),
            "hit": -1 if score.direction_hit is None else int(score.direction_hit),
            "mode": score.mode,
            "maker": (forecast.step, forecast.checkpoint_id, forecast.made_at_ms),
        }
    return found


def compare(view: PastView, expected: dict[int, dict[str, object]], *, is_whole: bool) -> None:
    """Everything shown is correct, and complete once everything has been read."""
    shown = [int(index) for index in view.index]
    assert shown == sorted(shown) and set(shown) <= set(expected)
    if is_whole:
        assert set(shown) == set(expected)
    for index, row in zip(shown, view.past, strict=True):
        wanted = expected[index]
        assert tuple(row[name] for name in ("open", "high", "low", "close")) == pytest.approx(wanted["prices"])
        assert tuple(row[name] for name in ("low_90", "low_50", "high_50", "high_90")) == pytest.approx(wanted["bands"])
        assert (row["inside_50"], row["inside_90"], row["after_gap"]) == wanted["flags"]
        assert (int(row["hit"]), MODES[row["mode"]]) == (wanted["hit"], wanted["mode"])


class Watching:
    """A chart's past forecasts over a growing record."""

    def __init__(self, record: TrainingRecord) -> None:
        self.record, self.past = record, PastForecasts(block=8, most_blocks=10)
        self.past.begin(record.reader, MINUTE_MS)
        self.shown = CandleSeries(SERIES.interval)
        self.shown.extend(SERIES[index] for index in range(RECORDED))
        self.view, self.horizon = (0, RECORDED), 1

    def do(self, action: str, number: int, width: int) -> None:
        if action == "pan":
            first = min(number, len(self.shown))
            self.view = (first, min(first + width, len(self.shown)))
        elif action == "horizon":
            self.horizon = number
            self.past.set_horizon(number)
        elif action == "read":
            for _ in range(number):
                self.past.load_next()
        elif action == "read all":
            _read_all(self.past, self.shown, max(self.view[0], self.view[1] - 60), self.view[1])
        elif action == "hover":
            self.past.at(self.shown, number)
        elif action == "forget":
            self.past.forget()
        else:
            self._go_on(action, number, width)

    def _go_on(self, action: str, number: int, width: int) -> None:
        if action == "correct":
            self.correct(number, 1.0 + width / 1000.0)
        else:
            for _ in range(min(width, len(SERIES) - len(self.shown))):
                self.close()

    def close(self) -> None:
        """The next candle closes."""
        index, run_id = len(self.shown), self.record.reader.run_id
        _close(self.record, index)
        self.shown.add(SERIES[index])
        for score in scores_of(SERIES, index):
            origin = SERIES.index_at(score.origin_open_time_ms)
            assert origin is not None
            self.past.add(event_of(issued(SERIES[origin]), score.horizon, SERIES[index], run_id))

    def correct(self, index: int, factor: float) -> None:
        """A scored candle is corrected and scored again."""
        before, run_id = self.shown[index], self.record.reader.run_id
        close = before.close * factor
        candle = replace(before, close=close, high=max(before.high, close), low=min(before.low, close))
        self.shown.add(candle)
        again, events = [], []
        for former in scores_of(SERIES, index):
            origin = SERIES.index_at(former.origin_open_time_ms)
            assert origin is not None
            version = self.record.reader.newest_version(former.target_open_time_ms, former.horizon) + 1
            again.append(replace(score_of(issued(SERIES[origin]), former.horizon, candle), version=version))
            event = event_of(issued(SERIES[origin]), former.horizon, candle, run_id)
            events.append(replace(event, version=version))
        with self.record.write():
            self.record.add_scores(again)
        for event in events:
            self.past.add(event)

    def expected(self, first: int, stop: int) -> dict[int, dict[str, object]]:
        return brute_force(self.record.reader, self.shown, self.horizon, first, stop)


@settings(max_examples=8)
@given(ACTIONS)
def test_it_equals_a_brute_force(actions: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_recorded(Path(folder), SERIES, RECORDED) as (_db, record):
        watching = Watching(record)
        past, shown = watching.past, watching.shown
        _read_all(past, shown, *watching.view)
        for action in actions:
            watching.do(*action)
            compare(past.view(shown, *watching.view), watching.expected(*watching.view), is_whole=False)
        stop = len(shown)
        first = stop - 60
        _read_all(past, shown, first, stop)
        expected = watching.expected(first, stop)
        compare(past.view(shown, first, stop), expected, is_whole=True)
        for index in range(first, stop):
            found = past.at(shown, index)
            assert (found is None) == (index not in expected)
            if found is not None:
                assert (found.step, found.checkpoint_id, found.made_at_ms) == expected[index]["maker"]


def _close(record: TrainingRecord, index: int) -> None:
    """What the trainer commits when this candle has closed."""
    with record.write():
        record.add_scores(scores_of(SERIES, index))
        record.add_forecast(stored(SERIES[index]))


def _read_all(past: PastForecasts, series: CandleSeries, first: int, stop: int) -> None:
    for _ in range(200):
        past.view(series, first, stop)
        if not past.is_waiting:
            return
        while past.load_next():
            pass
    pytest.fail("it never had all that is in view")


@pytest.fixture
def record(tmp_path: Path) -> Iterator[RecordReader]:
    with open_recorded(tmp_path, SERIES) as (_db, record):
        yield record.reader


class Counted:
    """A real reader that counts its reads."""

    def __init__(self, reader: RecordReader) -> None:
        self.reader, self.blocks, self.spans = reader, 0, 0

    def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> object:
        self.blocks += 1
        return self.reader.past_forecasts(horizon, first_ms, stop_ms, most)

    def scored_span(self, horizon: int) -> tuple[int, int] | None:
        self.spans += 1
        return self.reader.scored_span(horizon)


def test_only_new_blocks_are_read_and_never_by_asking(record: RecordReader) -> None:
    counted, past = Counted(record), PastForecasts(block=16)
    past.begin(counted, MINUTE_MS)  # type: ignore[arg-type]
    for first in range(0, 100, 5):
        past.view(SERIES, first, first + 40)
        past.at(SERIES, first)
    assert (counted.blocks, counted.spans) == (0, 0)
    _read_all(past, SERIES, 0, len(SERIES))
    blocks = len({int(time) // (16 * MINUTE_MS) for time in SERIES.open_time_ms[1:]})
    assert (counted.blocks, counted.spans) == (blocks, 1)
    for first in range(0, 100, 5):
        _read_all(past, SERIES, first, first + 40)
    assert counted.blocks == blocks


def test_a_view_wider_than_the_cache_shows_nothing_and_says_so(record: RecordReader) -> None:
    past = PastForecasts(block=8, most_blocks=4)
    past.begin(record, MINUTE_MS)
    past.view(SERIES, 0, len(SERIES))
    while past.load_next():  # the range of scores, and the saved checkpoints
        pass
    view = past.view(SERIES, 0, len(SERIES))
    assert view.is_too_wide and not len(view) and not past.is_waiting
    _read_all(past, SERIES, 60, 80)
    view = past.view(SERIES, 60, 80)
    assert not view.is_too_wide and view.is_complete and len(view) == 20


def test_candles_that_come_late_move_nothing_that_was_read(record: RecordReader) -> None:
    counted, past = Counted(record), PastForecasts(block=16)
    past.begin(counted, MINUTE_MS)  # type: ignore[arg-type]
    late = CandleSeries(SERIES.interval)
    late.extend(SERIES[index] for index in range(50, len(SERIES)))
    _read_all(past, late, 10, 40)
    before, reads = past.view(late, 10, 40), counted.blocks
    for index in range(49, -1, -1):
        late.add(SERIES[index])
    after = past.view(late, 60, 90)
    assert counted.blocks == reads
    np.testing.assert_array_equal(after.index, before.index + 50)
    np.testing.assert_array_equal(after.past, before.past)


def test_forecasts_not_made_live_are_marked(record: RecordReader) -> None:
    past = PastForecasts()
    past.begin(record, MINUTE_MS)
    _read_all(past, SERIES, 0, len(SERIES))
    view = past.view(SERIES, 0, len(SERIES))
    assert 0 < view.is_retrospective.sum() < len(view)
    assert [MODES[mode] for mode in view.past["mode"][view.is_retrospective]] == [
        ForecastMode.CATCH_UP
    ] * view.is_retrospective.sum()


def test_another_run_forgets_the_former(record: RecordReader) -> None:
    past = PastForecasts()
    past.begin(record, MINUTE_MS)
    _read_all(past, SERIES, 0, 50)
    assert len(past.view(SERIES, 0, 50))
    past.begin(None, MINUTE_MS)
    assert not len(past.view(SERIES, 0, 50)) and past.at(SERIES, 10) is None
    past.add(outcome_of(SERIES[10]))
    assert past.at(SERIES, 10) is not None


def test_a_forecast_without_numbers_is_not_shown() -> None:
    past, outcome = PastForecasts(), outcome_of(SERIES[10])
    past.add(replace(outcome, ghost=replace(outcome.ghost, close=float("nan"))))
    past.add(replace(outcome_of(SERIES[11]), ghost=replace(outcome.ghost, close_quantiles=(1.0, 2.0))))
    assert past.at(SERIES, 10) is None and past.at(SERIES, 11) is None
    assert not len(past.view(SERIES, 0, 50))


def test_candles_of_which_nothing_was_forecast_are_read_as_none(record: RecordReader) -> None:
    past, whole = PastForecasts(block=2), random_series(160, seed=3)
    past.begin(record, MINUTE_MS)
    _read_all(past, whole, 84, 110)
    shown = {int(whole.open_time_ms[int(index)]) for index in past.view(whole, 84, 110).index}
    assert shown and shown <= set(SERIES.open_time_ms.tolist())


def test_the_cache_is_bounded(record: RecordReader) -> None:
    past = PastForecasts(block=8, most_blocks=3)
    past.begin(record, MINUTE_MS)
    for first in range(0, 140, 4):
        _read_all(past, SERIES, first, first + 8)
        assert len(past._blocks) <= 3


def test_a_past_forecast_names_the_checkpoint_nearest_to_its_own(tmp_path: Path) -> None:
    with open_recorded(tmp_path, SERIES) as (_db, record):
        run_id, past = record.reader.run_id, PastForecasts(block=16)
        past.begin(record.reader, MINUTE_MS)
        _read_all(past, SERIES, 0, len(SERIES))

        def at(index: int) -> PastForecast:
            """The target whose forecast was made at a candle, after all reads."""
            past.at(SERIES, index)
            while past.load_next():
                pass
            found = past.at(SERIES, index)
            assert found is not None
            return found

        assert past.nearest_kept(at(41)) is None, "none is kept"
        step, own_id = at(41).step, at(41).checkpoint_id
        assert step is not None and own_id is not None
        asked: list[tuple[int, str | None]] = []
        nearest = checkpoint(run_id, 15)
        past.nearest_checkpoint = lambda *of: asked.append(of) or nearest
        assert past.nearest_kept(at(41)) == nearest and set(asked) == {(step, own_id)}
