"""One accepted candle ended training for good, also in a new run: what no market has is refused, and no arithmetic of
what is accepted may stop a run."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle
from core.domain.candle_faults import (
    HIGHEST_PRICE,
    LARGEST_RANGE,
    LARGEST_VOLUME,
    LOWEST_PRICE,
    Validator,
    problem_of_numbers,
)
from core.domain.events import ForecastMade, Incident, TrainerFailed, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.market.history.candle_file import read_candle_file
from core.market.history.errors import CandleFileError
from core.storage.candles import CandleStore, StoredColumns
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.weights import read_weights, write_weights
from core.training.commands import SaveCheckpoint
from core.training.online.session import TrainingSession
from core.training.online.snapshot import pack
from desktop.app.composition import Application
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.core.training.conftest import no_restart_pause as no_restart_pause
from tests.core.training.conftest import one_thread as one_thread
from tests.core.training.conftest import session_after as session_after
from tests.desktop.conftest import gate as gate
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until
from tests.support.candles import MARKET, MINUTE
from tests.support.driven import Driven, record_of, store_candles

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

GOOD = rigs.CANDLES[40]
ATTACKS = [
    replace(GOOD, volume=1e150),
    replace(GOOD, volume=1e308),
    replace(GOOD, high=1.8e308 / 1.01, low=5e-324),
    Candle(GOOD.open_time_ms, 1e-310, 1e-310, 1e-310, 1e-310, 1.0),
    replace(GOOD, high=HIGHEST_PRICE * 1.01),
    replace(GOOD, low=GOOD.high / LARGEST_RANGE * 0.99),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_impossible_prices_are_refused_on_every_path(tmp_path: Path, attack: Candle) -> None:
    assert Validator(MINUTE).check(attack) is not None
    store_candles(tmp_path, rigs.CANDLES[:40])
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        store = CandleStore(db)
        with pytest.raises(ValueError, match="invalid: "):
            store.save(MARKET, [attack])
        values = np.array([[attack.open, attack.high, attack.low, attack.close, attack.volume]]).T
        with pytest.raises(ValueError, match="invalid: "):
            store.save_columns(MARKET, StoredColumns(np.array([attack.open_time_ms]), values), replaces=True)
        assert store.count(MARKET) == 40
    assert sum(csv_rejections(tmp_path / "attack.csv", attack).values()) == 1


def csv_rejections(path: Path, attack: Candle) -> dict[str, int]:
    """Of a file of 90 ordinary candles with this one among them."""
    lines = ["time,open,high,low,close,volume"]
    for candle in (*rigs.CANDLES[:40], attack, *rigs.CANDLES[41:90]):
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        lines.append(f"{candle.open_time_ms},{','.join(map(repr, numbers))}")
    path.write_text("\n".join(lines))
    try:
        return read_candle_file(path).rejected
    except CandleFileError as error:
        pytest.fail(str(error))


@pytest.mark.parametrize(
    ("price", "volume"), [(1e-12, 1e15), (3e-15, 4.2e17), (1.2e11, 0.001), (1.0, 0.0), (7e5, 5e-324)]
)
def test_extreme_but_real_prices_and_volumes_are_accepted(price: float, volume: float) -> None:
    candle = Candle(GOOD.open_time_ms, price, price * 1.02, price * 0.97, price, volume)
    assert Validator(MINUTE).check(candle) is None
    fell = replace(candle, low=max(LOWEST_PRICE, price / 1e7))
    assert Validator(MINUTE).check(fell) is None


def candle_of(drawn: tuple[float, float, float, float, float], open_time_ms: int) -> Candle:
    """Any candle that passes: drawn are a price, and where in 0..1 high, low, open and close lie; then the volume."""
    price, reach, opens, closes, volume = drawn
    low = max(LOWEST_PRICE, price)
    high = min(HIGHEST_PRICE, low * (LARGEST_RANGE * 0.999) ** reach)
    opening, close = (min(high, max(low, low * (high / low) ** share)) for share in (opens, closes))
    return Candle(open_time_ms, opening, high, low, close, volume)


share = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
price = st.one_of(
    st.sampled_from([LOWEST_PRICE, 1.0, 100.0, HIGHEST_PRICE]),
    st.floats(LOWEST_PRICE, HIGHEST_PRICE),
    st.floats(-18, 18).map(lambda e: 10.0**e),
)
volume = st.one_of(st.sampled_from([0.0, 5e-324, 1.0, LARGEST_VOLUME]), st.floats(0.0, LARGEST_VOLUME))
numbers = st.tuples(price, share, share, share, volume)
odd = st.lists(st.tuples(numbers, st.integers(1, 12), st.booleans()), min_size=1, max_size=4)
"""Numbers, how often they come one after another, and whether a hole follows."""


def survives(
    session_after: SessionAfter, drawn: list[tuple[tuple[float, float, float, float, float], int, bool]]
) -> None:
    root = Path(tempfile.mkdtemp(prefix="ghostcandle-hostile-"))
    session = session_after(root, 41)
    try:
        time_ms = rigs.CANDLES[41].open_time_ms
        fed = 0
        for numbers, times, leaves_hole in drawn:
            for _ in range(times):
                candle = candle_of(numbers, time_ms)
                assert problem_of_numbers(candle) is None
                events = rigs.feed(session, [candle])
                fed += 1
                assert any(isinstance(event, ForecastMade) for event in events)
                time_ms += MINUTE.duration_ms
            time_ms += 5 * MINUTE.duration_ms * leaves_hole
        tensors, _ = pack(session._session, rigs.SMALL.model)
        odd = [name for name, each in tensors.items() if each.is_floating_point() and not torch.isfinite(each).all()]
        assert not odd
        assert not session._session.is_paused
    finally:
        session.close()
        shutil.rmtree(root)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([((LOWEST_PRICE, 1.0, 0.0, 1.0, LARGEST_VOLUME), 3, False), ((HIGHEST_PRICE, 0.0, 0.0, 0.0, 0.0), 3, True)])
@example([((1.0, 0.0, 0.0, 0.0, LARGEST_VOLUME), 30, False), ((1.0, 0.0, 0.0, 0.0, 0.0), 5, False)])
@example([((1e-10, 1.0, 1.0, 0.0, 5e-324), 12, False), ((1e17, 1.0, 0.0, 1.0, 1e24), 12, False)])
@given(odd)
def test_no_accepted_candle_stops_a_run(
    session_after: SessionAfter, drawn: list[tuple[tuple[float, float, float, float, float], int, bool]]
) -> None:
    survives(session_after, drawn)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd)
def test_no_accepted_candle_stops_a_run_among_many(
    session_after: SessionAfter, drawn: list[tuple[tuple[float, float, float, float, float], int, bool]]
) -> None:
    survives(session_after, drawn)


def fails_at(monkeypatch: pytest.MonkeyPatch, open_times_ms: set[int]) -> None:
    """A fault in the arithmetic that these candles meet, in whichever run."""
    take = TrainingSession._train

    def train(session: TrainingSession, *inputs: Any) -> object:
        if session.position_ms in open_times_ms:
            raise OverflowError("math range error")
        return take(session, *inputs)

    monkeypatch.setattr(TrainingSession, "_train", train)


def test_a_candle_that_kills_a_step_twice_is_excluded_permanently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart and in a new run too; the same numbers are not stored again, a correction is."""
    store_candles(tmp_path, rigs.CANDLES[:60])
    bad = rigs.CANDLES[45]
    fails_at(monkeypatch, {bad.open_time_ms})
    driven = Driven(tmp_path, kind="piped")
    driven.run()
    assert len(driven.deaths) == 2 and not driven.failures
    incidents = [incident for incident in driven.incidents if incident.kind == IncidentKind.CANDLE_SET_ASIDE]
    assert len(incidents) == 1 and "math range error" in incidents[0].what_happened
    assert record_of(tmp_path).origins_ms == tuple(candle.open_time_ms for candle in rigs.CANDLES[:60]), (
        "the forecast at its close was committed before the step"
    )
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        store = CandleStore(db)
        assert store.count(MARKET) == 59
        assert store.save(MARKET, rigs.CANDLES[:60]) == 0, "a feed or an import that brings it again"
    new = Driven(tmp_path, settings=replace(rigs.SMALL, training=replace(rigs.SMALL.training, seed=9)), kind="piped")
    new.run()
    assert not new.deaths and not new.failures and len(record_of(tmp_path).origins_ms) == 59
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        assert CandleStore(db).save(MARKET, [replace(bad, volume=bad.volume + 1.0)]) == 1, "a corrected one is taken"


def test_bad_candles_far_apart_do_not_trip_the_breaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_candles(tmp_path, rigs.CANDLES[:60])
    fails_at(monkeypatch, {rigs.CANDLES[index].open_time_ms for index in (20, 33, 47)})
    driven = Driven(tmp_path, kind="piped")
    driven.run()
    assert len(driven.deaths) == 6 and not driven.failures
    assert len(record_of(tmp_path).origins_ms) == 60
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        assert CandleStore(db).count(MARKET) == 57


def test_a_trainer_dying_on_every_candle_is_stopped_and_the_candles_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_candles(tmp_path, rigs.CANDLES[:60])
    fails_at(monkeypatch, {candle.open_time_ms for candle in rigs.CANDLES[:60]})
    driven = Driven(tmp_path, kind="piped")
    driven.run()
    assert [failure.by_breaker for failure in driven.failures] == [True]
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        assert CandleStore(db).count(MARKET) >= 59


def test_a_non_finite_state_is_never_saved(tmp_path: Path, session_after: SessionAfter) -> None:
    """Such checkpoints were written, and none of them could be resumed."""
    session = session_after(tmp_path, 41)
    combined = session._session.forecaster._combined
    state = combined.state(0)
    name = next(name for name, array in state.items() if array.dtype == np.float64)
    state[name].flat[0] = np.inf
    combined.restore(state, 0)
    events = session.handle(SaveCheckpoint("manual"))
    incidents = [event for event in events if isinstance(event, Incident)]
    assert [incident.kind for incident in incidents] == ["checkpoint not written"]
    assert "not finite" in incidents[0].what_happened
    session.close()


@pytest.mark.parametrize(
    "part", ["m000.forecaster.combined", "m000.past.baselines", "m000.history.column.scale", "m000.conditions."]
)
def test_a_resume_skips_an_unreadable_newest_checkpoint(tmp_path: Path, session_after: SessionAfter, part: str) -> None:
    session = session_after(tmp_path, 41)
    run_id, steps = session.status().run_id, session.status().step
    session.close()
    spoil_newest(tmp_path, run_id, part)
    resumed = rigs.service(tmp_path)
    events = resumed.opening_events()
    assert [event.kind for event in events if isinstance(event, Incident)] == ["checkpoint refused"]
    (ready,) = [event for event in events if isinstance(event, TrainerReady)]
    assert ready.resumed_from is not None and 0 < ready.step < steps
    assert not any(isinstance(event, TrainerFailed) for event in rigs.feed(resumed, rigs.after(resumed, 60)))
    resumed.close()


def spoil_newest(root: Path, run_id: str, part: str) -> None:
    """A number of its state that is not finite, in a file that is whole: as a former version wrote them."""
    with closing(open_database(DataFolder(root).database)) as db:
        newest = CheckpointRows(db).newest(run_id)
        assert newest is not None
        path = DataFolder(root).absolute(newest.file)
        tensors, metadata = read_weights(path)
        name = next(
            name
            for name, each in tensors.items()
            if name.startswith(part) and each.is_floating_point() and each.numel()
        )
        tensors[name].view(-1)[0] = torch.inf
        written = write_weights(path, tensors, metadata)
        with db.conn:
            sql = "UPDATE checkpoints SET sha256 = ? WHERE checkpoint_id = ?"
            db.conn.execute(sql, (written.sha256, newest.checkpoint_id))


def test_excluded_candles_are_gaps_on_the_chart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad: set[int] = set()
    fails_at(monkeypatch, bad)

    async def story(application: Application) -> None:
        await until(lambda: step_of(application) >= CATCH_UP - 2, "training")
        series = application.series
        assert series is not None
        bad.add(int(series.open_time_ms[-1]) + series.interval.duration_ms * 2)
        (time_ms,) = bad
        gate.release(5)
        await until(lambda: has_incident(application, IncidentKind.CANDLE_SET_ASIDE), "the incident")
        await until(lambda: is_hole(application, time_ms), "the hole")

    run_window(qapp, context(tmp_path), story)


def has_incident(application: Application, kind: str) -> bool:
    return any(incident.kind == kind for incident in application.state.incidents)


def is_hole(application: Application, time_ms: int) -> bool:
    times = [] if application.series is None else application.series.open_time_ms.tolist()
    return bool(times) and times[-1] > time_ms and time_ms not in times
