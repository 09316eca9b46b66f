"""The rows of a file that are not among its candles: how many for which reason, and an example of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_faults import RejectionReason
from core.market.history.errors import CandleFileError
from core.market.history.table_file import TableFile

if TYPE_CHECKING:
    import pandas as pd

UNREADABLE_TIME = "time cannot be read"
TOO_MANY_CELLS = "too many cells in the line"
TRADE_NUMBER = "price or amount is no number above zero"
NO_PRICES = "no prices, as no trade was made"
UNFINISHED = "not finished when the file was made"
CUT = "candle cut by the file's beginning or end"
SPOILT = "candle with a trade that cannot be read"
TORN = "candle that lacks trades, by their numbers"
_HARMLESS = frozenset((NO_PRICES, UNFINISHED, CUT, SPOILT, TORN, RejectionReason.JUMP.value))
"""Reasons that do not speak against the file."""
_MOST_BROKEN = 0.1
"""Share of broken rows above which the file is probably of another kind."""


def rejections_text(rejected: Mapping[str, int]) -> str:
    """ "; rejected: 2 (reason), 1 (reason)", or an empty text if there are none."""
    shown = ", ".join(f"{count} ({reason})" for reason, count in rejected.items())
    return f"; rejected: {shown}" if shown else ""


@dataclass(slots=True)
class RowsLeftOut:
    """Counts of one file by reason."""

    table: TableFile
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, chunk: pd.DataFrame, is_left_out: NDArray[np.bool_]) -> None:
        """Count rows of a part; the first is the example."""
        if not is_left_out.any():
            return
        self.counts[reason] += int(is_left_out.sum())
        if reason not in self.examples:
            self.examples[reason] = self.table.example(int(chunk.index[int(is_left_out.argmax())]))

    def too_few(self, others: Mapping[RejectionReason, int], required: str) -> CandleFileError:
        """The sentence for a file with fewer valid candles than one or two. others: rows left out besides these."""
        counts = {**+self.counts, **{reason.value: count for reason, count in others.items()}}
        why = rejections_text(counts)
        named = "two valid candles" if required == "two" else "one valid candle"
        return CandleFileError(f"{self.table.path.name} has fewer than {named}{why}.")

    def refuse_broken(self, rows: int, read_as: str, *, is_by_name: bool) -> None:
        """Raises CandleFileError if too many rows are bad. read_as: its form, and a comma. is_by_name: its header names
        the columns."""
        broken = {reason: count for reason, count in (+self.counts).items() if reason not in _HARMLESS}
        count = sum(broken.values())
        if count <= _MOST_BROKEN * rows:
            return
        reason = max(broken, key=broken.__getitem__)
        example = f" (such as {self.examples[reason]})" if reason in self.examples else ""
        if 2 * count < rows:
            advice = "To leave such rows out, add --skip-invalid."
        elif is_by_name:
            advice = "Look whether its header gives each column the right name."
        else:
            named = "add a first line with" if self.table.is_text else "save it as CSV with a first line of"
            advice = f"Its columns may be in an order that is not known: {named} the name of each."
        raise CandleFileError(
            f"{self.table.path.name}: {read_as}{count:,} of {rows:,} rows cannot be used: {reason}{example}. {advice}"
        )
