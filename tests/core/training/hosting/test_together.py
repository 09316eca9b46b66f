"""Several markets learned by one model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.domain.events import ForecastMade, ForecastScored, StepDone
from core.domain.incident_kinds import IncidentKind
from core.forecast.experts import Quantiles
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import MarketCandle
from core.training.engine.device import Device
from core.training.hosting.opening import open_run
from core.training.online.drift import Rise
from core.training.online.session import TrainingSession
from core.training.online.trainer_spec import SessionSpec, for_markets
from tests.core.training import rigs
from tests.core.training.hosting.learned_together import SETTINGS, learned, market
from tests.support.candles import START_MS, random_walk
from tests.support.plain_loop import closes

COUNT = 36
CPU = Device(torch.device("cpu"), "CPU")


def digests(root: Path, candles: dict[str, Sequence[Candle]]) -> list[str]:
    with learned(root, candles) as readers:
        return [reader.forecasts_sha256() for reader in readers.values()]


@given(st.lists(st.sets(st.integers(0, 30), max_size=20), min_size=1, max_size=5))
def test_closes_hold_every_candle_once_in_the_order_of_time_and_market(times: list[set[int]]) -> None:
    series = random_walk(31)
    found = list(closes([iter([series[row] for row in sorted(rows)]) for rows in times]))
    opened = [[candle.open_time_ms for _, candle in each] for each in found]
    assert all(len(set(each)) == 1 for each in opened)
    assert [each[0] for each in opened] == sorted({series[row].open_time_ms for rows in times for row in rows})
    assert [index for each in found for index, _ in each] == [
        index for row in range(31) for index, rows in enumerate(times) if row in rows
    ]


def test_one_market_has_the_bytes_of_a_plain_run(tmp_path: Path) -> None:
    candles = random_walk(COUNT)
    service = rigs.service(tmp_path / "plain", SETTINGS)
    rigs.feed(service, candles)
    run_id = service.status().run_id
    service.close()
    assert digests(tmp_path / "together", {"only": candles}) == [rigs.digest(tmp_path / "plain", run_id)]


def test_no_forecast_of_any_market_depends_on_later_candles_of_one(tmp_path: Path) -> None:
    moment = 24
    true, other = random_walk(COUNT, seed=9), random_walk(COUNT, seed=77)
    changed = [*true[: moment + 1], *(replace(each, volume=9.0 * each.volume) for each in other[moment + 1 :])]
    found = []
    for name, candles in (("true", true), ("changed", changed)):
        with learned(tmp_path / name, {"a": random_walk(COUNT), "b": candles}) as readers:
            rows = {
                (market, made.origin_open_time_ms): made.quantiles.shown
                for market, reader in readers.items()
                for made in reader.forecasts_after(None)
            }
        found.append(rows)
    until_ms = true[moment].open_time_ms
    early = [key for key in found[0] if key[1] <= until_ms]
    assert len(early) == 2 * (moment + 1)
    assert all(np.array_equal(found[0][key], found[1][key]) for key in early)
    assert any(not np.array_equal(found[0][key], found[1][key]) for key in found[0] if key[0] == "a")


@pytest.mark.parametrize(("markets", "samples", "factor"), [(1, 32, 1.0), (4, 8, 2.0), (9, 4, 3.0), (200, 2, 4.0)])
def test_markets_share_the_samples_of_a_step(markets: int, samples: int, factor: float) -> None:
    training = replace(rigs.SMALL, training=replace(rigs.SMALL.training, replay_samples=31, learning_rate=3e-5))
    found = for_markets(training, markets).training
    assert 1 + found.replay_samples == samples
    assert found.learning_rate == pytest.approx(3e-5 * factor)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TrainingSession]:
    """Of the markets "a" and "b"."""
    folder = DataFolder(tmp_path)
    folder.ensure()
    spec = SessionSpec(tmp_path, market("a"), SETTINGS, others=(market("b"),))
    with closing(open_database(folder.database)) as db:
        yield open_run(spec, db, CPU, ManualClock(START_MS)).session


def close_of(session: TrainingSession, candles: Iterable[tuple[int, Candle]]) -> tuple[MarketCandle, ...]:
    return rigs.close_of(candles, [each.market for each in session.markets])


def test_the_reference_model_is_renewed_after_the_longest_market_has_ended(session: TrainingSession) -> None:
    first, second = random_walk(90), random_walk(90, seed=9)
    ages = []
    for pair in closes([iter(first[:50]), iter(second[45:])]):
        session.on_close(close_of(session, pair))
        ages.append(session.reference_model.age_at(session.closes))
    assert session.closes == 90 and max(ages[30:]) <= 1.25 * 20 + 1


def test_a_drift_of_one_market_is_an_incident_of_that_market(
    session: TrainingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rises = iter([Rise(30, 0.1, 0.3)])
    monkeypatch.setattr(session.markets[1].drifts, "observe", lambda loss: next(rises, None))
    for pair in closes([iter(random_walk(5)), iter(random_walk(5, seed=9))]):
        session.on_close(close_of(session, pair))
    by_market = [[each.kind for each in every.record.reader.incidents()] for every in session.markets]
    assert by_market == [[], [IncidentKind.DRIFT]]


def test_a_late_candle_makes_no_step_and_is_learned_from_in_the_next(session: TrainingSession) -> None:
    first, second = random_walk(12), random_walk(12, seed=9)
    for pair in closes([iter(first[:11]), iter(second[:10])]):
        session.on_close(close_of(session, pair))
    before = session.step
    late = session.on_close(close_of(session, [(1, second[10])]))
    assert {type(event) for event in late} == {ForecastScored, ForecastMade} and session.step == before
    (step,) = (each for each in session.on_close(close_of(session, [(0, first[11])])) if isinstance(each, StepDone))
    assert step.samples == 4, "two of each market"


def test_one_pass_of_the_model_gives_each_market_its_own_forecast(session: TrainingSession) -> None:
    for pair in closes([iter(random_walk(30)), iter(random_walk(30, seed=9))]):
        session.on_close(close_of(session, pair))
    forecaster = session.forecaster

    def forecasts(*places: int) -> list[Quantiles]:
        corrections = session.engine.corrections(*forecaster.inputs(np.array(places)))
        return forecaster.with_corrections(np.array(places), corrections)

    together = forecasts(0, 1)
    for place, ours in enumerate(together):
        (own,) = forecasts(place)
        np.testing.assert_allclose(ours.experts, own.experts, rtol=1e-4, atol=1e-7)
    assert not np.allclose(together[0].experts, together[1].experts, rtol=1e-3)
