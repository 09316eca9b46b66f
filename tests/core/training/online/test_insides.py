"""A run that reads the inside of its candles."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle, Inside, Market
from core.domain.clock import SystemClock
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import as_it_began
from tests.core.training import rigs
from tests.support.candles import MINUTE

CANDLES = rigs.CANDLES[:50]


def known(candles: list[Candle]) -> list[Candle]:
    """The candles with random insides, and each seventh without."""
    generator = np.random.default_rng(3)
    numbers = generator.uniform(0.1, 1.0, (len(candles), 4)).astype(np.float32).tolist()
    insides = [Inside(5, 1e-6 * a, 4e-7 * b, 4e-7 * c, 1e-7 * d, 0.25, 0.5) for a, b, c, d in numbers]
    return [
        replace(candle, inside=inside if row % 7 else None)
        for row, (candle, inside) in enumerate(zip(candles, insides, strict=True))
    ]


def opened(root: Path, *, reads_inside: bool) -> TrainingService:
    return TrainingService(replace(rigs.spec(root), reads_inside=reads_inside), SystemClock())


def digest_of(root: Path, candles: list[Candle], *, reads_inside: bool, stops: tuple[int, ...] = ()) -> str:
    """Of a run over these candles; it is abandoned without a last checkpoint at these rows, and opened again."""
    run_id, session = "", opened(root, reads_inside=reads_inside)
    for stop in (*stops, len(candles)):
        position_ms = session.status().position_ms
        rigs.feed(session, [each for each in candles[:stop] if position_ms is None or each.open_time_ms > position_ms])
        run_id = session.status().run_id
        session.close()
        if stop < len(candles):
            session = opened(root, reads_inside=reads_inside)
    return rigs.digest(root, run_id)


def test_insides_change_the_forecasts_of_a_run_that_reads_them_and_of_no_other(tmp_path: Path) -> None:
    plain = digest_of(tmp_path / "plain", CANDLES, reads_inside=False)
    assert digest_of(tmp_path / "unread", known(CANDLES), reads_inside=False) == plain
    assert digest_of(tmp_path / "read", known(CANDLES), reads_inside=True) != plain


def test_a_run_with_insides_that_is_interrupted_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    whole = digest_of(tmp_path / "whole", known(CANDLES), reads_inside=True)
    assert digest_of(tmp_path / "cut", known(CANDLES), reads_inside=True, stops=(13, 34)) == whole


def test_a_checkpoint_holds_candles_without_an_inside(tmp_path: Path) -> None:
    """Regression: what is not known was stored as no number, so no checkpoint was written."""
    whole = digest_of(tmp_path / "whole", known(CANDLES), reads_inside=True)
    session = opened(tmp_path / "cut", reads_inside=True)
    rigs.feed(session, known(CANDLES)[:30])
    assert rigs.saved_now(session).candle_open_time_ms == CANDLES[29].open_time_ms
    session.close()
    session = opened(tmp_path / "cut", reads_inside=True)
    assert session.status().position_ms == CANDLES[29].open_time_ms
    rigs.feed(session, known(CANDLES)[30:])
    run_id = session.status().run_id
    session.close()
    assert rigs.digest(tmp_path / "cut", run_id) == whole


@pytest.mark.parametrize("began", [True, False])
def test_a_live_run_reads_insides_as_it_did_from_its_beginning(tmp_path: Path, began: bool) -> None:
    spec = replace(rigs.spec(tmp_path, market=Market("binance", "BTC/USDT", MINUTE)), reads_inside=began)
    session = TrainingService(spec, SystemClock())
    rigs.feed(session, known(CANDLES)[:3])
    session.close()
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        wanted = replace(spec, reads_inside=not began)
        assert as_it_began(wanted, RunStore(db)) == spec
        assert as_it_began(replace(wanted, new_run=True), RunStore(db)).reads_inside is not began
