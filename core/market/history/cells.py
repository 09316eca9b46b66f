"""The numbers of a column's cells."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_GROUPED_DIGITS = re.compile(r"[-+]?\d{1,3}(([ '’]\d{3})+|(,\d{2,3})*,\d{3})(\.\d*)?")
"""Digits grouped by commas, also as in India: 5,66,515; by blanks and apostrophes before three digits, so not in a
bond's 119'16."""
_SHORTENED = re.compile(r"([-+]?[\d., '’]*\d\.?)\s?(k|K|M|B|T|[Mm]io|[Mm]rd|[Mm]n|[Bb]n)\.?")
_TIMES = {"k": 1e3, "m": 1e6, "mio": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "mrd": 1e9, "t": 1e12}
_NO_NUMBER = frozenset(("", "-", "–", "—", "nan", "none", "null", "n/a", "na", "nil", "."))
"""Texts of cells without a number."""


def numbers_of(column: pd.Series) -> NDArray[np.float64]:
    """NaN for cells without a number, infinity for other cells. Text cells one by one, as `to_numeric` rounds less
    exactly."""
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
    bare = re.sub(r"\s", " ", cell).strip(" $€£¥₽₩")
    if bare.lower() in _NO_NUMBER:
        return math.nan
    shortened = _SHORTENED.fullmatch(bare)
    factor = 1.0 if shortened is None else _TIMES[shortened[2].lower()]
    digits = bare if shortened is None else shortened[1]
    if _GROUPED_DIGITS.fullmatch(digits):
        digits = re.sub("[, '’]", "", digits)
    return float(digits) * factor if is_number(digits) else math.inf
