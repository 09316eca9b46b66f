"""How good the model's forecasts of the next candle's regime were, against the regime staying as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.score import skill
from core.storage.record_reader import RecordReader
from core.storage.records import ConditionRows

_FOREVER = 2**63 - 1


def _brier_scores(rows: ConditionRows, interval_ms: int) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """The targets of the model's forecasts [n], and the squared differences of the forecasts, and of the regime before,
    to the regime that the mixture found there: [n] each."""
    made = (np.diff(rows.open_time_ms) == interval_ms) & np.isfinite(rows.next_regimes[:-1, 0])
    found, before, forecast = rows.regimes[1:][made], rows.regimes[:-1][made], rows.next_regimes[:-1][made]
    errors = (((each - found) ** 2).sum(axis=1) for each in (forecast, before))
    return rows.open_time_ms[1:][made], *errors


def next_regime(reader: RecordReader, interval_ms: int, judged_ms: NDArray[np.int64]) -> dict[str, Any]:
    """Over these targets. Raises StorageError."""
    targets, model, stays = _brier_scores(reader.conditions(_FOREVER, _FOREVER), interval_ms)
    is_judged = np.isin(targets, judged_ms)
    estimate = skill(model[is_judged], stays[is_judged])
    means = (float(each[is_judged].mean()) if estimate.n else None for each in (model, stays))
    return dict(zip(("brier", "brier_if_it_stays"), means, strict=True)) | {
        "skill": estimate.value,
        "skill_ci95": estimate.ci95,
        "n": estimate.n,
    }
