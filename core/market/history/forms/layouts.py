"""The layout of lines without a header: one part a column, such as ``time open high low close volume``.

Parts: time (a moment as a number, or a date), moment (a date and a time as text), date and clock (in two columns), ms
(milliseconds since midnight); open, high, low, close, or whole four times for such prices as whole numbers; volume,
quote (a turnover), average (a price, or 0); id, count, price, amount; flag (yes or no), side, text, any. A last ``…``
stands for any number of further columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.market.history.cells import numbers_of
from core.market.history.forms.form import Form

if TYPE_CHECKING:
    import pandas as pd

PRICES = ("open", "high", "low", "close")
_FLAGS = frozenset(("true", "false", "0", "1", "0.0", "1.0"))
_SIDES = frozenset(("buy", "sell", "b", "s", "1", "2", "0", "bid", "ask"))
_FIRST_MOMENT_S = 631_152_000
"""1990. Only days are older, and those are not in files without a header."""
_FACTORS = (1.0, 1e3, 1e6, 1e9)
_LAST_MOMENT_S = 4_102_444_800
_SAMPLE_ROWS = 100
_DAY_MS = 86_400_000


def places_of(form: Form, columns: int) -> dict[str, int] | None:
    """The place of each part, by name; None if a line of so many columns cannot have this layout."""
    parts = form.layout.split()
    if parts[-1] == "…":
        parts = parts[:-1]
        if columns < len(parts):
            return None
    elif columns != len(parts):
        return None
    if "whole" in parts:
        first = parts.index("whole")
        parts[first : first + 4] = PRICES
    return {part: place for place, part in reversed(list(enumerate(parts)))}


def fits(form: Form, table: pd.DataFrame) -> bool:
    """Whether every line of a table without a header can have the form's layout."""
    places = places_of(form, len(table.columns))
    if places is None or not len(table):
        return False
    if len(table) > _SAMPLE_ROWS and not fits(form, table[:_SAMPLE_ROWS]):  # most forms do not fit the first rows
        return False
    if not all(_is_part(part, place, table.iloc[:, place]) for part, place in places.items()):
        return False
    if "open" not in places:
        return True
    opened, high, low, close = (numbers_of(table.iloc[:, places[name]]) for name in PRICES)
    if "whole" in form.layout and not all(
        _are_whole(prices) and prices.min() >= form.least_whole for prices in (opened, high, low, close)
    ):
        return False
    if "average" in places:
        shown = numbers_of(table.iloc[:, places["average"]])
        if not ((shown == 0.0) | ((low <= shown) & (shown <= high))).all():
            return False
    return bool(((high >= np.maximum(opened, close)) & (low <= np.minimum(opened, close)) & (low > 0)).all())


def _is_part(part: str, place: int, column: pd.Series) -> bool:
    match part:
        case "time":
            numbers = numbers_of(column)
            if not np.isnan(numbers).all():
                return bool(_is_moment(numbers).all())
            return bool(column.astype(str).str.contains(r"\d{4}[-./]\d|\d[-./]\d{4}").all())
        case "moment" | "date" | "clock":
            text = column.astype(str).str.strip()
            pattern = r".*[-./:T ].*|\d{8}" if part != "clock" else r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?"
            return bool(text.str.fullmatch(pattern).all())
        case "ms":
            numbers = numbers_of(column)
            return _are_whole(numbers) and bool(((numbers >= 0) & (numbers < _DAY_MS)).all())
        case "id":
            numbers = numbers_of(column)
            steps = np.diff(numbers)
            return _are_whole(numbers) and (place == 0 or bool((steps >= 0).all() or (steps <= 0).all()))
        case "count":
            return _are_whole(numbers_of(column))
        case "flag" | "side":
            known = _FLAGS if part == "flag" else _SIDES
            return bool(column.astype(str).str.lower().isin(known).all())
        case "price" | "amount" | "volume" | "quote":
            return not np.isnan(numbers_of(column)).any()
        case "text":
            return bool(np.isnan(numbers_of(column)).all())
    return True


def _is_moment(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a number is a moment from 1990 on, in one of the four units."""
    found = [(numbers >= each * _FIRST_MOMENT_S) & (numbers < each * _LAST_MOMENT_S) for each in _FACTORS]
    return np.asarray(np.logical_or.reduce(found))


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
