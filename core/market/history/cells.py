"""The numbers of a column's cells."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_GROUPED_DIGITS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?")
_SHORTENED = re.compile(r"(-?\d+(?:\.\d*)?)([KMB])")
_TIMES = {"K": 1e3, "M": 1e6, "B": 1e9}


def numbers_of(column: pd.Series) -> NDArray[np.float64]:
    """NaN for cells without a number. Text cells one by one, as `to_numeric` rounds less exactly."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=math.nan), dtype=np.float64)
    try:
        return np.asarray(column.to_numpy(), dtype=np.float64)  # most text is of plain numbers
    except (ValueError, TypeError):
        return np.fromiter((_number(str(cell)) for cell in column), np.float64, len(column))


def is_number(cell: str) -> bool:
    """Whether Python parses it as a number; NaN and infinity count."""
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


def _number(cell: str) -> float:
    if is_number(cell):
        return float(cell.strip().strip('"'))
    bare = cell.strip().lstrip("$€£¥")
    shortened = _SHORTENED.fullmatch(bare)
    if shortened is not None:
        return float(shortened[1]) * _TIMES[shortened[2]]
    if _GROUPED_DIGITS.fullmatch(bare):
        return float(bare.replace(",", ""))
    return float(bare) if bare != cell and is_number(bare) else math.nan
