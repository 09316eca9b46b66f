"""The model's forecast of the next candle's regime, against the regime staying."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.domain.regimes import RegimeProbabilities
from core.evaluation.next_regime import next_regime
from core.evaluation.report.figures import next_regime as sentence
from core.storage.database import open_database
from tests.core.storage.samples import open_record

MINUTE_MS = 60_000
COUNT = 400
NOW = np.random.default_rng(5).dirichlet(np.ones(3), size=COUNT)


def probabilities(row: np.ndarray) -> RegimeProbabilities:
    return RegimeProbabilities(*row.tolist())


def test_its_skill_is_what_it_saves_of_the_squared_error_of_no_change(tmp_path: Path) -> None:
    """It goes half of the way; without a forecast at the first 100 candles, and with a gap after candle 300."""
    with open_database(tmp_path / "record.sqlite3") as db:
        record = open_record(db)
        opened = MINUTE_MS * (np.arange(COUNT) + (np.arange(COUNT) > 300))
        with record.write():
            for row, time_ms in enumerate(opened.tolist()):
                made = None if row < 100 or row == COUNT - 1 else probabilities((NOW[row] + NOW[row + 1]) / 2.0)
                record.add_conditions(time_ms, probabilities(NOW[row]), made)
        found = next_regime(record.reader, MINUTE_MS, opened[:-20])
    changes = ((NOW[1:] - NOW[:-1]) ** 2).sum(axis=1)
    judged = np.delete(changes[100 : COUNT - 21], 200)
    assert found["n"] == len(judged) == 278
    assert found["skill"] == pytest.approx(0.75) and found["brier_if_it_stays"] == pytest.approx(judged.mean())
    assert found["brier"] == pytest.approx(judged.mean() / 4.0)
    assert "+75.0 %" in sentence({"next_regime": found})


def test_a_model_without_it_has_no_figures(tmp_path: Path) -> None:
    with open_database(tmp_path / "record.sqlite3") as db:
        record = open_record(db)
        with record.write():
            for row in range(3):
                record.add_conditions(MINUTE_MS * row, probabilities(NOW[row]))
        found = next_regime(record.reader, MINUTE_MS, MINUTE_MS * np.arange(3))
    assert found == {"brier": None, "brier_if_it_stays": None, "skill": None, "skill_ci95": None, "n": 0}
    assert "none was made" in sentence({"next_regime": found})
