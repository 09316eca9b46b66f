"""Parses opening times in files into UTC milliseconds. Ambiguous times are rejected, not guessed."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from datetime import UTC, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from core.domain.dates import YEAR_1990_MS

if TYPE_CHECKING:
    import pandas as pd

_DOTTED = r"\d{1,2}\.\d{1,2}\.\d{4}"
_SLASHED = r"(\d{1,2})[/-](\d{1,2})[/-]\d{4}"
_SHORT_YEAR = r"^(\d{1,2})([./-])(\d{1,2})[./-](\d{2})(?!\d)"
_ZONE = r"(?:Z|(?:UTC|GMT) ?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT|[+-]\d{2}(?::?\d{2})?)"
_OFFSET = rf"(?::\d{{2}}(?:\.\d+)?(?: ?[AaPp][Mm])?|\dT\d{{4}}(?:\d{{2}}(?:\.\d+)?)?)\s*({_ZONE})$"
_HAS_DATE = r"^(?!\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?$).*?(?:\d{4}|\d{1,2}[./ -]\w{1,9}[./, -]+\d{2})"
"""A year, or three parts. From a time of day alone, whatever its fraction, or a word, a date would be made up."""
_NAMED_ZONE = r"\d\s*(?![AaPp][Mm]$|UTC$|GMT$|Z$)([A-Z]{2,5})$"
_HOUR_OF_HALF_DAY = r"(?<=[ T])(\d{1,2})[ -]?([AaPp][Mm])$"
_TZ_NAME = re.compile(r"\s([A-Z][A-Za-z]+(?:/[A-Za-z_+\-0-9]+)+)$")
"""A zone of the tz database after a time."""
_SPELLINGS = (
    (r"\s*(?:\[[\w/+-]+\]|\([^()]*\))$", ""),  # behind a zone: [Europe/Berlin] of Java, (Central …) of JavaScript
    (r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? ", ""),
    (r"(?<=\d)D(?=\d\d:)", "T"),
    (r"(:\d\d),(\d)", r"\1.\2"),
)
"""Replacements, made if the first time matches."""
_COMPACT_NUMBERS = (
    (19_000_101, 21_001_231, "%Y%m%d"),
    (197_001_010_000, 210_012_312_359, "%Y%m%d%H%M"),
    (19_700_101_000_000, 21_001_231_235_959, "%Y%m%d%H%M%S"),
    (19_700_101_000_000_000, 21_001_231_235_959_999, "%Y%m%d%H%M%S%f"),
)
"""Whole numbers that write a date. Taken for moments they would all lie in 1970 or 1976."""
_LARGEST_NUMBER = 9e18
_LEAST_MOMENT = 100_000
"""A day and a bit, in seconds: smaller numbers are a spreadsheet's dates, years, or numbers of lines."""
_EARLY_S = YEAR_1990_MS // 1000
_HOUR_S = 3_600
_FROM_MS = 5e9
_EARLY_MS = 2e10
"""August 1970 in milliseconds: earlier times could be seconds, were it not for later ones."""
_MONTHS_FIRST = 12
_CALENDAR = ("1678-01-01", "2262-01-01")
"""The range of 64 bits of nanoseconds."""


class TimeColumnError(ValueError):
    """The times of a column cannot be read. The message is a sentence for the user."""


class Zone(StrEnum):
    """How the zone of a file's times is known."""

    MOMENT = "moment"
    FILE = "file"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TimeStyle:
    """The style of a whole column, not visible in each row. zone: for texts that name none. is_zone_named: the user has
    named it, so letters such as EST beside the times are ignored."""

    is_day_first: bool | None = None
    zone: tzinfo = UTC
    is_zone_named: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TimesRead:
    """UTC milliseconds in the column's order; if `is_bad`, the cell holds no time and the number is meaningless.

    offset_ms: the lead of the time's clock over UTC. zone: how it is known.
    """

    ms: NDArray[np.int64]
    is_bad: NDArray[np.bool_]
    offset_ms: NDArray[np.int64]
    zone: Zone


def read_times(column: pd.Series, style: TimeStyle | None = None) -> TimesRead:
    """Read a column, or a part of one.

    Numbers are s, ms, us or ns since the epoch, each by its size, or dates as 20200131 or 202001312359. Text is a
    date, in `style.zone` if it names no zone. Fractions of a millisecond are cut. Raises TimeColumnError if the column
    is ambiguous.
    """
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    style = style or TimeStyle()
    if pd.api.types.is_datetime64_any_dtype(column):
        try:
            if isinstance(column.dtype, pd.DatetimeTZDtype):
                wall, utc = column.dt.tz_localize(None), column.dt.tz_convert("UTC").dt.tz_localize(None)
                return _read(utc, wall, Zone.FILE)
            return _read(_localised(column, style.zone), column, Zone.NONE)
        except pd.errors.OutOfBoundsDatetime as error:
            raise TimeColumnError("a time lies thousands of years outside of the calendar") from error
    numeric = pd.to_numeric(column, errors="coerce")
    if numeric.notna().mean() > 0.5:
        return _of_numbers(column, numeric, style)
    return _of_text(column.astype(str).str.strip(), style)


def day_first(column: pd.Series) -> bool | None:
    """Whether dates with slashes or dashes put the day first; None if these rows do not show it.

    False also if the column has no such dates. Raises TimeColumnError if rows contradict each other.
    """
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return False
    text = column.astype(str).str.strip()
    if _is_dotted(text):
        return True
    short = text.str.extract(_SHORT_YEAR).dropna()
    if len(short):
        return _short_day_first(short)
    parts = text.str.extract("^" + _SLASHED).dropna().astype(int)
    return _proven(parts[0], parts[1]) if len(parts) else False


def _short_day_first(short: pd.DataFrame) -> bool | None:
    """`day_first` for two-digit years, which may not even be last: there are fewer years than days."""
    first, second, third = (short[place].astype(int) for place in (0, 2, 3))
    is_year_last = first.nunique() > third.nunique() or int(second.max()) > _MONTHS_FIRST
    if not is_year_last:
        return None
    return True if bool((short[1] == ".").all()) else _proven(first, second)


def _proven(firsts: pd.Series, seconds: pd.Series) -> bool | None:
    """Which of two numbers is the day: the one that is no month."""
    first, second = int(firsts.max()) > _MONTHS_FIRST, int(seconds.max()) > _MONTHS_FIRST
    if first and second:
        raise TimeColumnError("some rows put the day first and some the month; write 2020-01-31 instead")
    return first if first or second else None


def ambiguous(column: pd.Series) -> TimeColumnError:
    """The error for a column in which no row shows whether the day comes first."""
    return TimeColumnError(
        f"'{column.iloc[0]}' may be day/month or month/day, and no other row shows which; write 2020-01-31 instead"
    )


def _of_numbers(column: pd.Series, numeric: pd.Series, style: TimeStyle) -> TimesRead:
    # As floats: the smallest of all integers has no absolute value.
    sizes = numeric.astype("float64").abs()
    is_number = ((sizes >= _LEAST_MOMENT) & (sizes <= _LARGEST_NUMBER)).to_numpy()
    good = numeric[is_number]
    for low, high, layout in _COMPACT_NUMBERS:
        if len(good) and ((good >= low) & (good <= high)).all() and (good % 1 == 0).all():
            text = column.where(is_number, "").map(lambda cell: str(int(float(cell))) if cell != "" else "")
            return _of_text(text, style, layout)
    # A small number is a day of before 1990, or no time at all.
    is_day = (sizes % _HOUR_S == 0).to_numpy() & (is_number | bool((numeric < 0).any()))  # 0 may be 1970-01-01
    is_bad = ~((is_number & (sizes >= _EARLY_S).to_numpy()) | is_day)
    if is_bad.all():
        raise TimeColumnError(
            f"'{column.iloc[0]}' is not a time. So small a number is a time of day, a spreadsheet's date, a year or "
            "the number of a line; write 2020-01-31, or milliseconds since 1970"
        )
    numbers = numeric.mask(is_bad, 0).to_numpy()
    return TimesRead(_milliseconds(numbers), is_bad, np.zeros(len(numbers), np.int64), Zone.MOMENT)


def _milliseconds(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers read as s, ms, us or ns by size: only one of them lies between 1990 and 2128. Among milliseconds of about
    1970 small ones are milliseconds too."""
    size = np.abs(numbers)
    unit = next((of_ms for low, of_ms in ((5e15, 1e6), (5e12, 1e3), (_FROM_MS, 1.0)) if (size >= low).any()), 1e-3)
    large = size[size >= _FROM_MS]
    is_early = bool((size < _EARLY_S).any() or (numbers < 0).any()) or (unit == 1.0 and large.min() < _EARLY_MS)
    if unit >= 1.0 and is_early:
        return np.asarray(np.floor(numbers / unit), dtype=np.int64)  # days around 1970, all in one unit
    read: NDArray[np.int64] = np.floor(numbers).astype(np.int64)
    for low, high, of_ms in ((0.0, _FROM_MS, 1e-3), (5e12, 5e15, 1e3), (5e15, np.inf, 1e6)):
        is_unit = (size >= low) & (size < high)
        if of_ms < 1.0:  # a fraction of a second is inexact by a quarter of a microsecond
            read[is_unit] = np.floor(numbers[is_unit] / of_ms + 1e-3).astype(np.int64)
        elif np.issubdtype(numbers.dtype, np.integer):
            read[is_unit] = numbers[is_unit] // int(of_ms)
        else:
            read[is_unit] = np.floor(numbers[is_unit] / of_ms).astype(np.int64)
    return read


def _of_text(text: pd.Series, style: TimeStyle, layout: str | None = None) -> TimesRead:
    text, zone = _without_zone_name(text, style)
    for sign, instead in _SPELLINGS:
        if re.search(sign, str(text.iloc[0])):
            text = text.str.replace(sign, instead, regex=True)
    offset = text.str.extract(_OFFSET)[0]
    has_offset = offset.notna()
    wall = text
    if has_offset.any():
        wall = text.where(~has_offset, text.str.replace(rf"\s*{_ZONE}$", "", regex=True))
    walls = _parsed(wall, bool(style.is_day_first) or _is_dotted(wall), layout)
    walls = walls.where(walls.between(*_CALENDAR))  # beyond it pandas 2 reads no time, pandas 3 one without nanoseconds
    if not has_offset.any():
        return _read(_localised(walls, zone or style.zone), walls, Zone.NONE if zone is None else Zone.FILE)
    import pandas as pd  # noqa: PLC0415

    known = {name: _offset_ms(str(name)) for name in offset.dropna().unique()}
    moments = walls - pd.to_timedelta(offset.map(known).fillna(0).to_numpy().astype(np.int64), unit="ms")
    if not has_offset.all():
        moments = moments.where(has_offset, _localised(walls, style.zone))
    return _read(moments, walls, Zone.FILE)


def _without_zone_name(text: pd.Series, style: TimeStyle) -> tuple[pd.Series, tzinfo | None]:
    """The texts without the name of a zone behind them, and that zone. Raises TimeColumnError for letters that mean
    several zones, and for several names."""
    if _TZ_NAME.search(str(text.iloc[0])):
        names = text.str.extract(_TZ_NAME)[0].dropna()
        try:
            (name,) = names.unique()
            return text.str.replace(rf"\s{re.escape(name)}$", "", regex=True), ZoneInfo(name)
        except (ValueError, LookupError, OSError) as error:
            raise TimeColumnError(
                f"'{text.loc[names.index[0]]}' names a zone that is not known, or several; write the offset, as +02:00"
            ) from error
    letters = text.str.extract(_NAMED_ZONE)[0].dropna()
    if not len(letters):
        return text, None
    if style.is_zone_named:
        return text.str.replace(rf"\s*(?:{'|'.join(map(re.escape, letters.unique()))})$", "", regex=True), None
    raise TimeColumnError(
        f"'{text.loc[letters.index[0]]}' names the zone {letters.iloc[0]}, which is not the same everywhere; name the "
        "zone with --time-zone, as in --time-zone America/New_York"
    )


def _is_dotted(text: pd.Series) -> bool:
    return bool(text.str.match(_DOTTED).all())


def _parsed(text: pd.Series, is_day_first: bool, layout: str | None) -> pd.Series:
    """Wall times by the first row's layout, which is ten times as fast; other rows one by one."""
    import pandas as pd  # noqa: PLC0415

    text = text.str.replace(_HOUR_OF_HALF_DAY, r"\1:00 \2", regex=True)
    text = text.where(text.str.contains(_HAS_DATE), "")
    if layout is None and re.fullmatch(r"\d{8} \d{6}", str(text.iloc[0])):
        layout = "%Y%m%d %H%M%S"
    if layout is not None:
        return pd.to_datetime(text, errors="coerce", format=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas warns that it finds no layout; handled below
        parsed = _zoneless(pd.to_datetime(text, errors="coerce", dayfirst=is_day_first))
    left = parsed.isna()
    if left.any():
        rest = _zoneless(pd.to_datetime(text[left], errors="coerce", dayfirst=is_day_first, format="mixed"))
        parsed = parsed.where(~left, rest)
    return parsed


def _zoneless(parsed: pd.Series) -> pd.Series:
    """NaT for times with a zone in a format other than `_ZONE`."""
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_datetime64_dtype(parsed):
        return parsed
    return pd.Series(pd.NaT, index=parsed.index, dtype="datetime64[ns]")


def _offset_ms(name: str) -> int:
    if name in ("Z", "UTC", "GMT"):
        return 0
    signed = name.removeprefix("UTC").removeprefix("GMT").strip()
    digits = signed[1:].replace(":", "")
    hours, rest = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    minutes = 60 * int(hours) + int(rest)
    return (-minutes if signed.startswith("-") else minutes) * 60_000


def _localised(wall: pd.Series, zone: tzinfo) -> pd.Series:
    """Times in UTC, without a zone. NaT in an hour that the clocks skip, or repeat, unless the rows show which it
    is."""
    if zone is UTC:
        return wall
    if (wall.dropna() == wall.dropna().dt.normalize()).all():
        moments = wall.dt.tz_localize(zone, ambiguous=np.ones(len(wall), np.bool_), nonexistent="shift_forward")
    else:
        moments = wall.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
        is_certain, is_summer = _in_repeated_hour(wall)
        if (moments.isna() & is_certain).any():
            moments = moments.where(~is_certain, wall.dt.tz_localize(zone, ambiguous=is_summer, nonexistent="NaT"))
    utc: pd.Series = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    return utc


def _in_repeated_hour(wall: pd.Series) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which times could be certain, and whether they would be of summer time: of two equal ones the earlier row is;
    and of candles of two hours and longer only one can begin in the hour."""
    is_repeated, is_second = wall.duplicated(keep=False).to_numpy(), wall.duplicated().to_numpy()
    steps = np.abs(np.diff(_ms_of(wall.dropna())))
    are_long = steps.size > 0 and float(np.median(steps)) >= 2_000 * _HOUR_S
    is_ascending = len(wall) < 2 or wall.iloc[0] <= wall.iloc[-1]
    return is_repeated | are_long, np.where(is_repeated, ~is_second if is_ascending else is_second, True)


def _read(utc: pd.Series, wall: pd.Series, zone: Zone) -> TimesRead:
    is_bad, ms = utc.isna().to_numpy(), _ms_of(utc)
    offset_ms = np.zeros(len(ms), np.int64) if utc is wall else np.where(is_bad, 0, _ms_of(wall) - ms)
    return TimesRead(ms, is_bad, offset_ms, zone)


def _ms_of(moments: pd.Series) -> NDArray[np.int64]:
    """Fractions cut."""
    return np.asarray(moments.astype("datetime64[ns]").astype("int64").to_numpy() // 1_000_000, dtype=np.int64)


def offsets_of(times: NDArray[np.int64], zone: tzinfo) -> NDArray[np.int64]:
    """How far a zone's clock is ahead of UTC at these moments, in milliseconds."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    moments = pd.Series(pd.to_datetime(times, unit="ms"))
    return _ms_of(moments.dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None)) - times


def moments_of_day(column: pd.Series, date: str) -> pd.Series:
    """Milliseconds since the midnight of a date, YYYYMMDD, as times of that day."""
    import pandas as pd  # noqa: PLC0415 - as above

    moments: pd.Series = pd.Timestamp(date) + pd.to_timedelta(column.astype("int64"), unit="ms")
    return moments
