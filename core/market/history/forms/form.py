"""The known form of one vendor's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Stamp(StrEnum):
    """Which moment of a candle its time stamps."""

    START = "start"
    END = "end"


BASE = "the base currency"
UNSTATED = "the unit that the file has; it does not name one"
SHARES = "shares"
TICKS = "price changes (ticks)"
DOLLARS = "US dollars (turnover)"
QUOTES = "holds quotes (bid and ask), and candles are made of trades. Choose the vendor's file of trades or candles."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """A row of the table of known forms.

    A file is recognised by `columns`, names that its header has exactly so, in any order and perhaps among others; or,
    without a header, by `layout`, the parts of its lines (see `core.market.history.forms.layouts`); by `times`, a
    regular expression that every time matches; and by `file_name`, one found in the name of the file or of the packed
    one. If another form has the same layout, needs_name lets the user be asked if the name does not tell.
    """

    name: str
    """The argument of ``--form``."""
    title: str
    source: str
    """The documentation of the form, with a version or a date."""
    columns: tuple[str, ...] = ()
    layout: str = ""
    times: str = ""
    delimiter: str = ""
    file_name: str = ""
    needs_name: bool = False
    reads: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """The column of each part that general names do not find; of several the first that is there, ``Up+Down`` is a sum.
    Parts: time, or date and clock; open, high, low, close, volume; price, amount, trade_id; symbol; final."""
    day_first: bool | None = None
    """Whether dates such as 01/02/2024 begin with the day. None: as the rows prove it."""
    zone: str = ""
    """The zone of times that name none."""
    clock_of: str = ""
    """The owner of the clock that the times follow, if only the user knows its zone: for candles shorter than a day it
    must be named."""
    stamp: Stamp | None = None
    """The stamp of candles shorter than a day. None: the beginning, or as the times show."""
    asks_stamp: bool = False
    are_days: bool = False
    """Whether each candle is a day, whatever its time of day."""
    volume_unit: str = BASE
    volume_factor: float = 1.0
    """Units that one of the volume column counts as."""
    quote_amounts: str = ""
    """Symbols whose amounts are in the quote currency, as a regular expression."""
    integer_price_factor: float = 1.0
    """The factor of prices, if all of a file's prices are whole numbers of at least `least_integer_price`."""
    least_integer_price: float = 10_000.0
    refusal: str = ""
    """The content of the file and the next step, if it holds no candles and no trades."""
