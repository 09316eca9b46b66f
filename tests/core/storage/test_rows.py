"""Every record round-trips bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from sqlite_utils import Database

from core.checkpoints.best import best_of
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.domain.events import ForecastMode, Incident, Severity, StepDone
from core.domain.incident_kinds import IncidentKind
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import Quantiles
from core.storage.browsing import BrowsedRows
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.packing import MODES, NUMBERS, pack_gradients, unpack_gradients
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredForecast, StoredScore
from tests.core.storage.samples import HORIZONS, forecast, open_record, score
from tests.support.scores import as_stored

TEXT = st.text(max_size=20)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
INTEGER = st.integers(-(2**63), 2**63 - 1)
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    int: INTEGER,
    float: FINITE,
    bool: st.booleans(),
    str: TEXT,
    bytes: st.binary(max_size=8),
    tuple[str, ...]: st.lists(st.text(alphabet="ab-é", min_size=1, max_size=5), unique=True, max_size=3).map(tuple),
    int | None: st.none() | INTEGER,
    float | None: st.none() | FINITE,
    bool | None: st.none() | st.booleans(),
    str | None: st.none() | TEXT,
    ForecastMode: st.sampled_from(ForecastMode),
    Severity: st.sampled_from(Severity),
    IncidentKind: st.sampled_from(IncidentKind) | TEXT.map(IncidentKind),  # those of other versions too
}
SINGLE = st.none() | st.floats(width=32, allow_nan=False, allow_infinity=False)
LAYERS = st.lists(st.builds(LayerStatistics, *[SINGLE] * 6), max_size=4).map(tuple)
PARTS = st.lists(SINGLE, max_size=6).map(tuple)
BY_TYPE[GradientStatistics | None] = st.none() | st.builds(
    GradientStatistics,
    LAYERS,
    SINGLE,
    SINGLE,
    SINGLE,
    PARTS,
    SINGLE,
    st.none() | st.sampled_from(NonFiniteOrigin),
    SINGLE,
)

REGIMES = st.builds(RegimeProbabilities, *[st.floats(0.0, 1.0)] * 3)
BY_TYPE[RegimeProbabilities | None] = st.none() | REGIMES
SHAPES = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(1, 5), st.integers(1, 7))


def records(kind: type, **others: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records of this dataclass whose every field takes any value of its type, or of what is given for it."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: BY_TYPE[hints[field.name]] for field in fields(kind)} | others)


def scores() -> st.SearchStrategy[StoredScore]:
    """Scores whose numbers fit what they are stored in."""
    fits = st.floats(-1e38, 1e38)
    hints = get_type_hints(StoredScore)
    return records(StoredScore, **{name: fits if hints[name] is float else st.none() | fits for name in NUMBERS})


@st.composite
def forecast_arrays(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shown [horizon, quantity, level] and experts [expert, ..]: any bits, either byte order, any layout."""
    shape = draw(SHAPES)
    kind = draw(st.sampled_from(["<f8", ">f8"]))
    every_bit = st.floats(width=64, allow_nan=True, allow_infinity=True, allow_subnormal=True)
    experts = draw(arrays.arrays(kind, shape, elements=every_bit))
    quantiles = draw(arrays.arrays(kind, shape[1:], elements=every_bit))
    return (np.asfortranarray(quantiles), np.asfortranarray(experts)) if draw(st.booleans()) else (quantiles, experts)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all examples; each writes to a separate run."""
    with open_database(tmp_path_factory.mktemp("rows") / "db.sqlite3") as db:
        db.execute("PRAGMA synchronous = OFF")
        yield db


@settings(max_examples=30)
@given(data=forecast_arrays(), numbers=st.tuples(FINITE, FINITE), mode=st.sampled_from(ForecastMode))
def test_forecasts(
    shared: Database,
    data: tuple[NDArray[np.float64], NDArray[np.float64]],
    numbers: tuple[float, float],
    mode: ForecastMode,
) -> None:
    close, scale = numbers
    given = replace(
        forecast(1), quantiles=Quantiles(*data), origin_close=close, scale=scale, mode=mode, checkpoint_id="ü"
    )
    record = open_record(shared)
    with record.write():
        assert record.add_forecast(given) == 1
    (stored,) = record.reader.forecasts_after(None)
    assert_same(stored, given)


def assert_same(stored: StoredForecast, given: StoredForecast) -> None:
    for field in fields(StoredForecast):
        ours, theirs = getattr(stored, field.name), getattr(given, field.name)
        if field.name == "quantiles":
            for name in ("shown", "experts"):
                read, written = getattr(ours, name), getattr(theirs, name)
                assert read.shape == written.shape
                assert read.astype("<f8").tobytes() == written.astype("<f8").tobytes()
        else:
            assert ours == theirs


@settings(max_examples=30)
@given(given=scores())
def test_scores(shared: Database, given: StoredScore) -> None:
    given = as_stored(replace(given, horizon=1, version=max(1, given.version)))
    record = open_record(shared)
    with record.write():
        record.add_forecast(replace(forecast(1), origin_open_time_ms=given.origin_open_time_ms))
        assert record.add_scores([given]) == 1
        if given.regime is not None:
            record.add_conditions(given.origin_open_time_ms, given.regime)
    assert record.reader.scores() == [given]


@settings(max_examples=30)
@given(given=REGIMES, following=st.none() | REGIMES, origin_ms=INTEGER)
def test_conditions(
    shared: Database, given: RegimeProbabilities, following: RegimeProbabilities | None, origin_ms: int
) -> None:
    record = open_record(shared)
    with record.write():
        assert record.add_conditions(origin_ms, given, following) == 1
        other = replace(given, calm=given.calm + 1.0)
        assert record.add_conditions(origin_ms, other) == 0, "what is stored stays"
    assert record.reader.conditions_of(origin_ms) == (given, following)


@settings(max_examples=30)
@given(given=records(StepDone))
def test_steps(shared: Database, given: StepDone) -> None:
    record = open_record(shared)
    with record.write():
        assert record.add_step(given) == 1
    assert record.reader.steps() == [replace(given, run_id=record.reader.run_id)]


@settings(max_examples=30)
@given(given=records(Incident))
def test_incidents(shared: Database, given: Incident) -> None:
    record = open_record(shared)
    with record.write():
        record.add_incident(given)
    assert record.reader.incidents() == [replace(given, run_id=record.reader.run_id)]


@settings(max_examples=30)
@given(given=records(CheckpointInfo), note=TEXT, is_pinned=st.booleans())
def test_checkpoints(shared: Database, given: CheckpointInfo, note: str, is_pinned: bool) -> None:
    record = open_record(shared)
    run_id = record.reader.run_id
    given = replace(given, run_id=run_id, checkpoint_id=f"{run_id}/{given.checkpoint_id}")
    with record.write():
        record.add_checkpoint(given)
    rows = CheckpointRows(shared)
    rows.set_note(given.checkpoint_id, note)
    rows.set_pinned(given.checkpoint_id, is_pinned)
    rows.set_name(given.checkpoint_id, given.name)
    rows.set_tags(given.checkpoint_id, given.tags)
    rows.set_verified(given.checkpoint_id, given.verified_at_ms or 0, given.fault)
    given = replace(given, verified_at_ms=given.verified_at_ms or 0)
    expected = replace(given, note=note, is_pinned=is_pinned, is_in_use=False, is_best=best_of([given]) is given)
    assert rows.list(run_id) == [expected]
    assert rows.by_id(given.checkpoint_id) == replace(expected, is_best=False)
    assert [kept.info for kept in BrowsedRows(shared).of([given.checkpoint_id])] == [replace(expected, is_best=False)]


def test_a_missing_number_raises_instead_of_skipping_the_row(shared: Database) -> None:
    record = open_record(shared)
    with record.write():
        record.add_forecast(forecast(1))
    for add, words in ((score_without_loss, "needs a loss"), (forecast_without_scale, "NOT NULL")):
        with pytest.raises(Exception, match=words), record.write():
            add(record)
    assert record.reader.counts().forecasts == HORIZONS
    assert record.reader.counts().scored == 0


def score_without_loss(record: TrainingRecord) -> None:
    record.add_scores([replace(score(1), loss=float("nan"))])


def forecast_without_scale(record: TrainingRecord) -> None:
    record.add_forecast(replace(forecast(2), scale=float("nan")))


@pytest.mark.parametrize(
    "shapes",
    [
        (np.zeros((HORIZONS, 4, 7)), np.zeros((3, HORIZONS, 5, 7))),
        (np.zeros((HORIZONS - 1, 5, 7)), np.zeros((3, HORIZONS, 5, 7))),
        (np.zeros((5, 7)), np.zeros((3, 5, 7))),
    ],
)
def test_mismatched_arrays_are_refused(shared: Database, shapes: tuple[NDArray[np.float64], ...]) -> None:
    record = open_record(shared)
    with pytest.raises(ValueError, match="horizon, quantity, level"), record.write():
        record.add_forecast(replace(forecast(1), quantiles=Quantiles(*shapes)))
    assert record.reader.forecasts_after(None) == []


def test_every_mode_has_a_distinct_number() -> None:
    assert set(MODES) == set(ForecastMode) and len(set(MODES.values())) == len(MODES)


def test_statistics_with_the_anchors_loss_round_trip() -> None:
    layers = (LayerStatistics(1.0, 0.0, 1.0, 2.0, 0.5, 0.25),) * 3
    statistics = GradientStatistics(layers, 1.0, 2.0, 0.5, (0.5,) * 6, None, None, 0.25)
    assert unpack_gradients(pack_gradients(statistics)) == statistics
