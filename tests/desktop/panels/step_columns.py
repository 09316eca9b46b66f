"""Steps as the record has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain.events import StepDone
from core.storage.step_columns import STEP_COLUMNS, StepColumns


def columns_of(steps: Sequence[StepDone]) -> StepColumns:
    values = np.full((len(STEP_COLUMNS), len(steps)), np.nan)
    for place, each in enumerate(steps):
        numbers = [getattr(each, name) for name in STEP_COLUMNS[:-1]]
        values[:, place] = [*(np.nan if number is None else number for number in numbers), each.loss is None]
    return StepColumns(values, {})
