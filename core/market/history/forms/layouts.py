"""The layout of lines without a header: one part a column, such as ``time open high low close volume``.

Parts: time (a moment as a number, or a date), moment (a date and a time as text), date and clock (in two columns), ms
(milliseconds since midnight); open, high, low, close, or whole four times for such prices as whole numbers; volume,
quote (a turnover), average (a price, or 0); id, count, price, amount; flag (yes or no), side, text, any. A last
``…`` is any number of further columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS
from core.domain.candle_faults import LATEST_MS
from core.domain.dates import YEAR_1990_MS
from core.market.history.cells import numbers_of
from core.market.history.forms.form import Form

if TYPE_CHECKING:
    import pandas as pd

PRICES = ("open", "high", "low", "close")
FEWEST = 0.9
"""Share of a file's lines that must have its layout; a few may be broken."""
_PATTERNS = {
    "moment": r".*\d[-./:T ]\d.*|\d{8}",
    "date": r".*\d[-./]\d.*|\d{8}",
    "clock": r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?|\d{1,6}",
}
FLAGS = frozenset(("true", "false", "0", "1", "0.0", "1.0"))
"""Yes or no, in lower case."""
_WORDS = {
    "flag": FLAGS,
    "side": frozenset(("buy", "sell", "b", "s", "1", "2", "0", "bid", "ask")),
}
_UNITS_MS = (1e-3, 1.0, 1e3, 1e6)
"""How many of each unit of moments (s, ms, us, ns) a millisecond has."""
_SAMPLE_ROWS = 100


def places_of(form: Form, columns: int) -> dict[str, int] | None:
    """The index of each part, by name; None if a line with this number of columns cannot have this layout."""
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


def share_that_fits(form: Form, table: pd.DataFrame, *, judges_prices: bool = True) -> float:
    """The share of the lines of a table without a header that have the form's layout; 0 if too few do.

    judges_prices: whether the highs and lows have to enclose the other prices.
    """
    places = places_of(form, len(table.columns))
    if places is None or not len(table):
        return 0.0
    if len(table) > _SAMPLE_ROWS and not share_that_fits(form, table[:_SAMPLE_ROWS], judges_prices=judges_prices):
        return 0.0  # most forms do not fit the first lines
    is_line = np.ones(len(table), np.bool_)
    for part, place in places.items():
        is_line &= _is_part(part, place, table.iloc[:, place])
        if is_line.mean() < FEWEST:
            return 0.0
    if "open" in places and judges_prices:
        is_line &= _are_prices(form, table, places)
    share = float(is_line.mean())
    return share if share >= FEWEST else 0.0


def prices_by(form: Form, table: pd.DataFrame) -> NDArray[np.float64]:
    """Open, high, low and close of the lines as a layout has them, shape (4, n)."""
    places = places_of(form, len(table.columns)) or {}
    return np.stack([numbers_of(table.iloc[:, places[name]]) for name in PRICES])


def _are_prices(form: Form, table: pd.DataFrame, places: dict[str, int]) -> NDArray[np.bool_]:
    prices = prices_by(form, table)
    opened, high, low, close = prices
    found = (high >= np.maximum(opened, close)) & (low <= np.minimum(opened, close)) & (low > 0)
    if "whole" in form.layout:
        found &= (_is_integer(prices) & (prices >= form.least_integer_price)).all(axis=0)
    if "average" in places:
        shown = numbers_of(table.iloc[:, places["average"]])
        found &= (shown == 0.0) | ((low <= shown) & (shown <= high))
    return np.asarray(found)


def _is_part(part: str, place: int, column: pd.Series) -> NDArray[np.bool_]:
    """Which cells can be this part of a line."""
    if part in ("any", "text"):
        return ~np.isfinite(numbers_of(column)) | (part == "any")
    if part in _PATTERNS:
        text = column.astype(str).str.strip().str.removesuffix(".0")
        return text.str.fullmatch(_PATTERNS[part]).to_numpy(dtype=np.bool_)
    if part in _WORDS:
        return column.astype(str).str.lower().isin(_WORDS[part]).to_numpy()
    numbers = numbers_of(column)
    match part:
        case "time":
            if (~np.isfinite(numbers)).mean() < FEWEST:
                # A moment from 1990 on, in one of the four units.
                fits = [(numbers >= each * YEAR_1990_MS) & (numbers < each * LATEST_MS) for each in _UNITS_MS]
                return np.asarray(np.logical_or.reduce(fits))
            return column.astype(str).str.contains(r"\d{4}[-./]\d|\d[-./]\d{4}").to_numpy(dtype=np.bool_)
        case "ms":
            return _is_integer(numbers) & (numbers >= 0) & (numbers < DAY_MS)
        case "id":
            before, after = numbers[:-1], numbers[1:]  # of two infinities a difference would be no number
            in_order = place == 0 or bool((after >= before).all() or (after <= before).all())
            return _is_integer(numbers) & in_order
        case "count":
            return _is_integer(numbers)
    return np.isfinite(numbers)


def _is_integer(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(numbers) & (numbers == np.floor(numbers)))
