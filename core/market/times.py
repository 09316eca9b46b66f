"""Opening times as files write them, read into UTC milliseconds. What cannot be told apart is refused, not guessed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_DOTTED = r"\d{1,2}\.\d{1,2}\.\d{4}"
_SLASHED = r"(\d{1,2})[/-](\d{1,2})[/-]\d{4}"
_OFFSET = r"(?:Z|[+-]\d{2}:?\d{2})$"
_LARGEST_NUMBER = 9e18
_MONTHS_FIRST = 12


class TimeColumnError(ValueError):
    """A time cannot be read. `row` is its place in the column, from 0, or None where the whole column is meant."""

    def __init__(self, sentence: str, row: int | None = None) -> None:
        super().__init__(sentence)
        self.row = row


def times_ms(column: pd.Series) -> pd.Series:
    """UTC milliseconds, int64, in the column's order.

    Numbers are s, ms, us or ns since the epoch, or dates as 20200131. Text is a date, UTC where it names no zone.
    Raises TimeColumnError.
    """
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if pd.api.types.is_datetime64_any_dtype(column):
        return _epoch_ms(pd.to_datetime(column, utc=True))
    numeric = pd.to_numeric(column, errors="coerce")
    if numeric.notna().mean() > 0.5:
        return _of_numbers(column, numeric)
    return _of_text(column.astype(str).str.strip())


def _of_numbers(column: pd.Series, numeric: pd.Series) -> pd.Series:
    bad = numeric.isna() | (numeric.abs() > _LARGEST_NUMBER)
    _refuse_first(column, bad)
    if numeric.between(19_000_101, 21_001_231).all() and (numeric % 1 == 0).all():
        return _of_text(numeric.astype("int64").astype(str), "%Y%m%d")
    milliseconds: pd.Series = (numeric * _to_ms(float(numeric.median()))).round()
    _refuse_first(column, milliseconds.abs() > _LARGEST_NUMBER)
    return milliseconds.astype("int64")


def _of_text(text: pd.Series, layout: str | None = None) -> pd.Series:
    import pandas as pd  # noqa: PLC0415

    wall = text.str.replace(_OFFSET, "", regex=True).str.strip() if _is_one_moment_of_day(text) else text
    if layout is None:
        parsed = _parsed(wall, _is_day_first(wall))
    else:
        parsed = pd.to_datetime(wall, utc=True, errors="coerce", format=layout)
    _refuse_first(text, parsed.isna())
    return _epoch_ms(parsed)


def _parsed(text: pd.Series, is_day_first: bool) -> pd.Series:
    """By the first row's layout, which is ten times as fast; what does not follow it, one by one."""
    import pandas as pd  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas says that it finds no layout; there is another way
        parsed = pd.to_datetime(text, utc=True, errors="coerce", dayfirst=is_day_first)
    left = parsed.isna()
    if left.any():
        rest = pd.to_datetime(text[left], utc=True, errors="coerce", dayfirst=is_day_first, format="mixed")
        parsed = parsed.where(~left, rest)
    return parsed


def _is_one_moment_of_day(text: pd.Series) -> bool:
    """Whether these are days that begin at one local time under two offsets: summer time moves them off their grid."""
    offsets = text.str.extract(rf"({_OFFSET})")[0]
    if offsets.isna().any() or offsets.nunique() < 2:
        return False
    return bool(text.str.extract(r"(\d{1,2}:\d{2}\S*?)" + _OFFSET)[0].nunique() == 1)


def _is_day_first(text: pd.Series) -> bool:
    """Dots put the day first; with slashes and dashes only a number above 12 tells."""
    if bool(text.str.match(_DOTTED).all()):
        return True
    parts = text.str.extract(_SLASHED).dropna().astype(int)
    if parts.empty:
        return False
    first, second = int(parts[0].max()), int(parts[1].max())
    if (first > _MONTHS_FIRST) != (second > _MONTHS_FIRST):
        return first > _MONTHS_FIRST
    raise TimeColumnError(
        f"'{text.iloc[0]}' may be day/month or month/day, and no other row tells which; write 2020-01-31 instead"
    )


def _refuse_first(column: pd.Series, bad: pd.Series) -> None:
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise TimeColumnError(f"'{column.iloc[row]}' is not a time", row)


def _epoch_ms(times: pd.Series) -> pd.Series:
    _refuse_first(times, times.isna())
    epoch: pd.Series = times.dt.tz_localize(None).astype("datetime64[ms]").astype("int64")
    return epoch


def _to_ms(median: float) -> float:
    """The factor from the unit that this moment must be in, between the years 1970 and 2128."""
    for limit, factor in ((5e9, 1e3), (5e12, 1.0), (5e15, 1e-3)):
        if median < limit:
            return factor
    return 1e-6
