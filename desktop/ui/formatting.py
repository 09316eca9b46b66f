"""Numbers and times as people read them. Every text of the window goes through here; NaN is never shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.price_lines import PriceLine
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

MISSING = "–"
"""Shown in place of a missing number."""

MINUS = "−"
_MAX_DECIMALS = 14
_SIGNIFICANT_DIGITS = 8
_EXACT_DIGITS = 15
"""A double has no more exact digits."""
_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_SMALLEST_PLAIN, _LARGEST_PLAIN = -4, 3
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MONTHS = (
    QT_TRANSLATE_NOOP("Units", "Jan"),
    QT_TRANSLATE_NOOP("Units", "Feb"),
    QT_TRANSLATE_NOOP("Units", "Mar"),
    QT_TRANSLATE_NOOP("Units", "Apr"),
    QT_TRANSLATE_NOOP("Units", "May"),
    QT_TRANSLATE_NOOP("Units", "Jun"),
    QT_TRANSLATE_NOOP("Units", "Jul"),
    QT_TRANSLATE_NOOP("Units", "Aug"),
    QT_TRANSLATE_NOOP("Units", "Sep"),
    QT_TRANSLATE_NOOP("Units", "Oct"),
    QT_TRANSLATE_NOOP("Units", "Nov"),
    QT_TRANSLATE_NOOP("Units", "Dec"),
)
_SPANS = (
    (86_400, 3_600, QT_TRANSLATE_NOOP("Units", "{0} d {1} h"), QT_TRANSLATE_NOOP("Units", "{0} d")),
    (3_600, 60, QT_TRANSLATE_NOOP("Units", "{0} h {1} min"), QT_TRANSLATE_NOOP("Units", "{0} h")),
    (60, 1, QT_TRANSLATE_NOOP("Units", "{0} min {1} s"), QT_TRANSLATE_NOOP("Units", "{0} min")),
)
_AGES = (
    (86_400, QT_TRANSLATE_NOOP("Units", "{0} d ago")),
    (3_600, QT_TRANSLATE_NOOP("Units", "{0} h ago")),
    (60, QT_TRANSLATE_NOOP("Units", "{0} min ago")),
)
_WEEKDAYS = (
    QT_TRANSLATE_NOOP("Units", "Mon"),
    QT_TRANSLATE_NOOP("Units", "Tue"),
    QT_TRANSLATE_NOOP("Units", "Wed"),
    QT_TRANSLATE_NOOP("Units", "Thu"),
    QT_TRANSLATE_NOOP("Units", "Fri"),
    QT_TRANSLATE_NOOP("Units", "Sat"),
    QT_TRANSLATE_NOOP("Units", "Sun"),
)


def is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def decimals_of_price(price: float) -> int:
    """Decimals for one price of unknown tick: 19,715.93; 1.05227; 0.00001234."""
    if not math.isfinite(price) or price == 0.0:
        return 2
    magnitude = math.floor(math.log10(abs(price)))
    if magnitude < 0:
        return min(3 - magnitude, _MAX_DECIMALS)
    return {0: 5, 1: 3}.get(magnitude, 2 if magnitude < 6 else 0)


def decimals_of_prices(prices: Sequence[float] | NDArray[np.float64]) -> int:
    """The fewest decimals that write these prices without loss, as a market's tick shows itself in its prices.

    Prices that follow no tick (adjusted stock prices, say) get the decimals of `decimals_of_price`.
    """
    values = np.asarray(prices, dtype=np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    if values.size == 0:
        return 2
    typical = float(np.median(values))
    magnitude = math.floor(math.log10(typical))
    fewest = 0 if magnitude >= 6 else 2 if magnitude >= 0 else min(3 - magnitude, _MAX_DECIMALS)
    most = min(max(_SIGNIFICANT_DIGITS - 1 - magnitude, fewest), _MAX_DECIMALS)
    for decimals in range(fewest, most + 1):
        if np.allclose(np.round(values, decimals), values, rtol=1e-10, atol=0.0):
            return decimals
    return decimals_of_price(typical)


def format_number(value: float | None, decimals: int = 2, *, signed: bool = False) -> str:
    """A plain number with thousands separators: ``1,234.50``."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{abs(value):,.{decimals}f}"
    is_zero = not text.strip("0,.")
    if value < 0 and not is_zero:
        return MINUS + text
    return "+" + text if signed and not is_zero else text


def format_level(value: float | None, decimals: int = 2, *, signed: bool = False) -> str:
    """A number for an axis: as `format_number`, or as a power of ten if that would have more digits than are exact."""
    text = format_number(value, decimals, signed=signed)
    if value is None or sum(character.isdigit() for character in text) <= _EXACT_DIGITS:
        return text
    return ("+" if signed and value > 0 else "") + format_significant(value)


def format_price(price: float | None, decimals: int | None = None, *, signed: bool = False) -> str:
    """A price with `decimals`, or with decimals by its magnitude."""
    if price is None or not math.isfinite(price):
        return MISSING
    return format_number(price, decimals_of_price(price) if decimals is None else decimals, signed=signed)


def format_volume(volume: float | None) -> str:
    """136.1, 1.2K, 3.4M, 1.4B; small volumes keep three digits: 0.00123."""
    if volume is None or not math.isfinite(volume):
        return MISSING
    size = abs(volume)
    sign = MINUS if volume < 0 else ""
    for scale, letter in _SCALES:
        # 999.96 would round to 1000.0: it belongs to the next scale.
        if size >= scale * 0.99995:
            return f"{sign}{size / scale:,.1f}{letter}"
    if size == 0.0:
        return "0"
    if size < 1.0:
        decimals = min(2 - math.floor(math.log10(size)), _MAX_DECIMALS)
        return sign + (f"{size:.{decimals}f}".rstrip("0").rstrip(".") or "0")
    return f"{sign}{size:.1f}"


def format_significant(value: float | None, digits: int = 3) -> str:
    """A number of any size to `digits` significant digits: ``0.00123``, ``2.10``, ``1,234``, ``3.20×10⁻⁷``."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0.0:
        return "0"
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    magnitude = int(exponent)
    if _SMALLEST_PLAIN <= magnitude <= _LARGEST_PLAIN:
        return format_number(value, max(digits - 1 - magnitude, 0))
    sign = MINUS if value < 0 else ""
    return f"{sign}{mantissa}×{power_of_ten(magnitude)}"


def power_of_ten(exponent: int) -> str:
    """``10⁻⁷``"""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def format_percent(fraction: float | None, decimals: int = 2, *, signed: bool = False) -> str:
    """0.0123 as ``1.23 %``."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    return f"{format_number(fraction * 100.0, decimals, signed=signed)} %"


def format_count(count: int | None) -> str:
    """12,345"""
    return MISSING if count is None else format_number(count, 0)


def format_candles(count: int) -> str:
    """``1 candle``, ``12,345 candles``"""
    text = translate("Units", "{0} candle") if count == 1 else translate("Units", "{0} candles")
    return text.format(format_count(count))


def local_datetime(time_ms: int, time_zone: tzinfo | None = None) -> datetime | None:
    """The time in `time_zone` (None: the machine's). None if it is outside the calendar."""
    try:
        moment = datetime.fromtimestamp(time_ms / 1000.0, tz=time_zone)  # noqa: TID251 - out of reach is an answer here
        return moment.astimezone(time_zone)
    except (OverflowError, ValueError, OSError):
        return None


def format_date(time_ms: int | None, time_zone: tzinfo | None = None, *, weekday: bool = False) -> str:
    """``1 Dec 2020``, or ``Tue 1 Dec 2020``."""
    moment = None if time_ms is None else local_datetime(time_ms, time_zone)
    if moment is None:
        return MISSING
    day = f"{moment.day} {month_name(moment.month)} {moment.year}"
    return f"{translate('Units', _WEEKDAYS[moment.weekday()])} {day}" if weekday else day


def format_clock(time_ms: int | None, time_zone: tzinfo | None = None, *, seconds: bool = False) -> str:
    """``14:05``, or ``14:05:30``."""
    moment = None if time_ms is None else local_datetime(time_ms, time_zone)
    if moment is None:
        return MISSING
    return moment.strftime("%H:%M:%S" if seconds else "%H:%M")


def format_time(
    time_ms: int | None, time_zone: tzinfo | None = None, *, seconds: bool = False, weekday: bool = False
) -> str:
    """Date and clock, in the machine's time zone by default: ``1 Dec 2020 14:05``."""
    day = format_date(time_ms, time_zone, weekday=weekday)
    return day if day == MISSING else f"{day} {format_clock(time_ms, time_zone, seconds=seconds)}"


def month_name(month: int) -> str:
    """``Jan`` for 1."""
    return translate("Units", _MONTHS[month - 1])


def format_duration(seconds: float | None, *, has_tenths: bool = True) -> str:
    """``0.4 s``, ``45 s``, ``3 min 20 s``, ``2 h 5 min``, ``3 d 4 h``. has_tenths: below ten seconds."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 0:
        return MINUS + format_duration(-seconds, has_tenths=has_tenths)
    if has_tenths and seconds < 9.95:
        return translate("Units", "{0} s").format(f"{seconds:.1f}")
    whole = round(seconds)
    for seconds_in, seconds_below, both, alone in _SPANS:
        if whole >= seconds_in:
            rest = whole % seconds_in // seconds_below
            return translate("Units", both if rest else alone).format(whole // seconds_in, rest)
    return translate("Units", "{0} s").format(whole)


def format_age(time_ms: int | None, now_ms: int) -> str:
    """How long ago: ``just now``, ``45 s ago``, ``3 min ago``, ``2 h ago``, ``5 d ago``."""
    if time_ms is None:
        return MISSING
    seconds = (now_ms - time_ms) // 1000
    if seconds < 5:
        return translate("Units", "just now")
    for size, text in _AGES:
        if seconds >= size:
            return translate("Units", text).format(seconds // size)
    return translate("Units", "{0} s ago").format(seconds)


def format_countdown(milliseconds: int) -> str:
    """Time left as a clock shows it: ``00:45``, ``1:02:03``, ``2d 03:04:05``; never below zero."""
    # Rounded up, so that it reads 00:01 until the moment itself.
    seconds = max(0, -(-milliseconds // 1000))
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3_600)
    minutes, seconds = divmod(seconds, 60)
    if days:
        return translate("Units", "{0}d {1:02d}:{2:02d}:{3:02d}").format(days, hours, minutes, seconds)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


def format_milliseconds(milliseconds: float | None, *, signed: bool = False) -> str:
    """``84 ms``, ``1.2 s``; signed: ``+12 ms``, ``−1.2 s``."""
    if milliseconds is None or not math.isfinite(milliseconds):
        return MISSING
    size = abs(milliseconds)
    if size < 0.5:
        return translate("Units", "{0} ms").format(0) if size == 0.0 else translate("Units", "below 1 ms")
    milli = translate("Units", "{0} ms")
    text = milli.format(f"{size:.0f}") if size < 999.5 else format_duration(size / 1000.0)
    return f"{MINUS if milliseconds < 0 else '+' if signed else ''}{text}"


def crossing_time(line: PriceLine, time_zone: tzinfo | None) -> str:
    """``5 Jan 2020 08:52``, or ``in the 15m candle of 5 Jan 2020 08:45``: by its opening, as on the time axis."""
    opened_ms, within_ms = line.crossing_candle_ms, line.crossed_within_ms
    if opened_ms is None or within_ms is None:
        return format_time(line.crossed_at_ms, time_zone)
    interval = Interval(within_ms)
    opened = format_time(opened_ms, time_zone, seconds=interval.has_seconds)
    return translate("Chart", "in the {0} candle of {1}").format(interval, opened)
