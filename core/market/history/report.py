"""Reports how a file was read: by its own content, by its form, and by assumption."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.market.history.candle_csv import COLUMNS
from core.market.history.forms.form import BASE, UNSTATED, Form, Stamp
from core.market.history.opening_times import OpeningTimes
from core.market.history.sniff_times import Zone
from core.market.history.sniff_volume import VolumeChoice
from core.market.history.utc_times import moment_text

_AS_ZERO = "stored as 0"
_OTHER_SIGN = str.maketrans("+-", "-+")


@dataclass(frozen=True, slots=True)
class HowRead:
    """Each sentence states a decision and its basis."""

    form: Form | None
    form_sentence: str
    zone_sentence: str
    stamp_sentence: str
    volume_sentence: str
    numbers_sentence: str = ""
    is_zone_assumed: bool = False

    def describe(self, *, has_volume: bool) -> dict[str, object]:
        """The report as plain data for JSON. has_volume: whether any candle has a volume."""
        empty = "" if has_volume or self.volume_sentence.endswith(_AS_ZERO) else "; 0 in every row"
        return {
            "form": None if self.form is None else self.form.name,
            "form_read_as": self.form_sentence,
            "zone": self.zone_sentence,
            "is_zone_assumed": self.is_zone_assumed,
            "stamp": self.stamp_sentence,
            "volume": f"{self.volume_sentence}{empty}",
            "numbers": self.numbers_sentence,
        }


def form_sentence(form: Form | None, *, is_by_name: bool, is_requested: bool) -> str:
    if form is not None:
        return f"{form.title}{', as requested' if is_requested else ''}"
    return (
        "no known one; columns by their names" if is_by_name else "no known one; time, open, high, low, close, volume"
    )


def zone_sentence(
    form: Form | None,
    how: Zone,
    requested: str | None,
    offsets_ms: Collection[int],
    *,
    is_named_utc: bool,
    are_dates: bool,
) -> tuple[str, bool]:
    """The sentence, and whether the zone is assumed. how: its basis in the times. offsets_ms: the file's clocks ahead
    of UTC. is_named_utc: by the name of the column. are_dates: the candles are days that open at midnight UTC of their
    date."""
    if are_dates and how is not Zone.MOMENT:
        return "not needed: days are stored at their date", False
    if how is Zone.MOMENT and are_dates and requested is not None:
        return f"{requested}, as requested, for the dates of moments", False
    if how is Zone.MOMENT:
        return "not needed: the times count from the start of 1970 in UTC", False
    if how is Zone.FILE:
        named = " and ".join(map(_offset_text, sorted(offsets_ms)))
        return f"{named}, which the file names with each time", False
    if requested is not None:
        return f"{requested}, as requested; the file names none", False
    if form is not None and form.zone:
        return f"{_shown_zone(form.zone)}, as files of this form always have it", False
    if is_named_utc:
        return "UTC, by its column's name", False
    return "UTC is assumed, as the file names none; --time-zone names another", True


def _offset_text(offset_ms: int) -> str:
    """``UTC``, ``UTC-04:30``"""
    minutes = abs(offset_ms) // 60_000
    return f"UTC{'-' if offset_ms < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" if minutes else "UTC"


def _shown_zone(name: str) -> str:
    """``Etc/GMT+5`` is five hours behind UTC, which its name hides."""
    hours = name.removeprefix("Etc/GMT")
    return name if hours == name else f"UTC{hours.translate(_OTHER_SIGN)} without summer time"


def stamp_of(form: Form | None, requested: Stamp | None, named: Stamp | None) -> tuple[Stamp, str]:
    """The moment of a candle that its time means, and the source of that, empty if none. named: by the column's
    name."""
    if requested is not None:
        return requested, "as requested"
    if form is not None:
        return form.stamp or Stamp.START, "as files of this form have it"
    if named is not None:
        return named, "by its column's name"
    return Stamp.START, ""


def stamp_sentence(found: OpeningTimes, stamp: Stamp, stated_by: str, *, are_dates: bool) -> str:
    """stated_by: the source of the statement that the times are this moment. are_dates: days that open at midnight UTC
    of their date."""
    if found.short_ms is not None:
        return f"the end of each candle, {found.short_ms:,} ms before the next one; each was moved to its beginning"
    if found.were_ends:
        return f"the end of each candle, {stated_by}; each was moved back by {found.interval}"
    if are_dates:
        is_ignored = stamp is Stamp.END and stated_by == "as requested"
        return f"the date of each day{', to which --stamp does not apply' if is_ignored else ''}"
    if not stated_by:
        return "the beginning of each candle is assumed, as the file does not state it; if it is the end: --stamp end"
    return f"the beginning of each candle{f', {stated_by}' if stamp is Stamp.START else ''}"


def volume_sentence(
    columns: tuple[object, ...], form: Form | None, choice: VolumeChoice, *, is_in_quote: bool, missing: int
) -> str:
    """is_in_quote: amounts of trades were divided by their prices."""
    if not columns:
        return f"none in the file; {_AS_ZERO}"
    name = " + ".join(map(_column, columns))
    unit = f", in {UNSTATED if form is None else form.volume_unit}"
    if choice.turnover is not None and (form is None or form.volume_unit in (BASE, UNSTATED)):
        unit = f", in {BASE}: {_column(choice.turnover)} is its turnover"
    if is_in_quote:
        unit = ", in the quote currency, each divided by its price"
    if form is not None and form.volume_factor != 1.0:
        unit += f", each of it counted as {form.volume_factor:g}"
    if choice.is_turnover:
        unit = ", which is a turnover in the quote currency, not a volume in the base currency"
    empty = f"; {missing:,} {'row has' if missing == 1 else 'rows have'} none, {_AS_ZERO}" if missing else ""
    return f"{name}{unit}{empty}"


def numbers_sentence(form: Form | None, *, has_decimal_comma: bool) -> str:
    """How the numbers were changed while they were read; empty if they were not."""
    decimal = ["a comma is the decimal sign"] if has_decimal_comma else []
    if form is not None and form.integer_price_factor != 1.0:
        decimal.append(f"prices in whole numbers are divided by {1.0 / form.integer_price_factor:,.0f}")
    return "; ".join(decimal)


def _column(name: object) -> str:
    """The column's name; without a header its number."""
    return f"column {name + 1}" if isinstance(name, int) else f"column {name}"


def candle_text(candle: Mapping[str, float]) -> str:
    """A candle as it was read, in UTC, to be compared with the file. Thousands are not grouped: their commas may be
    read as decimal signs."""
    numbers = ", ".join(f"{name} {candle[name]:.12g}" for name in COLUMNS[1:])
    return f"{moment_text(int(candle['open_time_ms']))} UTC: {numbers}"


def describe_form(form: Form) -> dict[str, str]:
    """A form described in words, for a list of all forms."""
    zone = _shown_zone(form.zone) if form.zone else "as the file names it, or UTC"
    factor = "" if form.volume_factor == 1.0 else f", each of the file's counted as {form.volume_factor:g}"
    return {
        "name": form.name,
        "title": form.title,
        "zone": f"to be named: {form.clock_of}" if form.clock_of else zone,
        "stamp": "the day" if form.are_days else "to be named" if form.asks_stamp else form.stamp or Stamp.START,
        "volume": f"{form.volume_unit}{factor}",
        "source": form.source,
        "refusal": form.refusal,
    }
