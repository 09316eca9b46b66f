"""Finds the interval of a file's candles: the most frequent step between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.market.history.errors import CandleFileError
from core.market.history.opening_times import is_usual, most_frequent
from core.market.history.skipped_rows import RowsLeftOut


def sniff_interval(times: NDArray[np.int64], requested: Interval | None, name: str, left_out: RowsLeftOut) -> Interval:
    """The requested interval, if the rows allow it. times: [n], ascending. Raises CandleFileError, in a sentence about
    the file of this name."""
    steps = np.diff(times)
    if not steps.size:
        if requested is not None and times.size:
            return requested
        raise left_out.too_few({}, "two" if requested is None else "one")
    found = Interval(most_frequent(steps))
    if requested is not None and (found == requested or (steps % requested.duration_ms == 0).all()):
        return requested  # finer than any step: a quiet market leaves holes
    if not is_usual(found):
        raise CandleFileError(
            f"{name}: its times are mostly {found} apart, which is no length of candles. They may be of another unit, "
            "or in another column; name that one time."
        )
    if requested is None:
        return found
    raise CandleFileError(
        f"{name} holds candles of {found}, not of {requested} as requested. Import it with --interval {found}; the "
        f"chart aggregates them to {requested}."
    )
