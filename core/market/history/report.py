"""How a file was read: what it says itself, what its form says, and what is assumed."""

from __future__ import annotations

from dataclasses import dataclass

from core.market.history.forms.form import Form, Stamp

_AS_ZERO = "stored as 0"
_OTHER_SIGN = str.maketrans("+-", "-+")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows that are not among the candles. example: one of them, with its place in the file."""

    reason: str
    count: int
    example: str = ""


@dataclass(frozen=True, slots=True)
class HowRead:
    """Each sentence says a decision and what it rests on."""

    form: Form | None
    form_sentence: str
    zone_sentence: str
    stamp_sentence: str
    volume_sentence: str
    numbers_sentence: str = ""
    is_zone_assumed: bool = False

    def describe(self, *, has_volume: bool) -> dict[str, object]:
        """For JSON. has_volume: whether any candle has one."""
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


def zone_sentence(form: Form | None, how: str, requested: str | None, *, are_dates: bool) -> tuple[str, bool]:
    """The sentence, and whether the zone is assumed. how: as the times say, see `core.market.history.times.Zone`.
    are_dates: the candles are days that open at midnight UTC of their date."""
    if are_dates and how != "moment":
        return "not needed: days are stored at their date", False
    if how == "moment":
        return "not needed: the times are moments, in numbers", False
    if how == "file":
        return "named by the file with each time", False
    if requested is not None:
        return f"{requested}, as requested; the file names none", False
    if form is not None and form.zone and not form.zone.startswith("?"):
        return f"{_shown_zone(form.zone)}, in which this form has its times; the file names none", False
    return "UTC is assumed, as the file names none; --time-zone names another", True


def _shown_zone(name: str) -> str:
    """``Etc/GMT+5`` is five hours behind UTC, which its name hides."""
    hours = name.removeprefix("Etc/GMT")
    return name if hours == name else f"UTC{hours.translate(_OTHER_SIGN)} without summer time"


def stamp_sentence(interval: object, *, ends_short_ms: int | None, end_by: str) -> str:
    """end_by: who says that the times are the ends, empty where they are the beginnings."""
    if ends_short_ms is not None:
        return f"the end of each candle, {ends_short_ms:,} ms before the next one; each was moved to its beginning"
    if end_by:
        return f"the end of each candle, {end_by}; each was moved back by {interval}"
    return "the beginning of each candle"


def volume_sentence(columns: tuple[object, ...], form: Form | None, *, is_turnover: bool, missing: int) -> str:
    if not columns:
        return f"none in the file; {_AS_ZERO}"
    name = " + ".join(f"column {each + 1}" if isinstance(each, int) else f"column {each}" for each in columns)
    unit = f", in {form.volume_unit}" if form is not None and form.volume_unit else ", read as the base currency"
    if form is not None and columns == _base_columns(form):
        unit = ", in the base currency"
    if form is not None and form.volume_factor != 1.0:
        unit += f", each of it counted as {form.volume_factor:g}"
    if is_turnover:
        unit = ", which is a turnover in the quote currency, not a volume in the base currency"
    empty = f"; {missing:,} {'row has' if missing == 1 else 'rows have'} none, {_AS_ZERO}" if missing else ""
    return f"{name}{unit}{empty}"


def _base_columns(form: Form) -> tuple[object, ...]:
    """The column that the form names as the volume in the base currency."""
    named = form.reads.get("volume", form.reads.get("amount"))
    return (named,) if isinstance(named, str) and not form.volume_unit else ()


def end_by(form: Form | None, requested: Stamp | None, *, is_named: bool) -> str:
    """Who says that the times are the ends of candles; empty where nobody does. is_named: their column's name."""
    if requested is not None:
        return "as requested" if requested is Stamp.END else ""
    if is_named:
        return "by its column's name"
    return "as this form has it" if form is not None and form.stamp is Stamp.END else ""


def describe_form(form: Form) -> dict[str, str]:
    """What is known of a form, in words, for a list of all of them."""
    return {
        "name": form.name,
        "title": form.title,
        "zone": _zone_in_words(form),
        "stamp": _stamp_in_words(form),
        "volume": _volume_in_words(form),
        "source": form.source,
        "refusal": form.refusal,
    }


def _zone_in_words(form: Form) -> str:
    if form.zone.startswith("?"):
        return f"to be named: {form.zone[1:]}"
    return _shown_zone(form.zone) if form.zone else "as the file names it, or UTC"


def _stamp_in_words(form: Form) -> str:
    if form.are_days:
        return "the day"
    return "to be named" if form.asks_stamp else form.stamp or Stamp.START


def _volume_in_words(form: Form) -> str:
    is_known = "volume" in form.reads or "amount" in form.reads
    unit = form.volume_unit or f"{'' if is_known else 'read as the '}base currency"
    return unit if form.volume_factor == 1.0 else f"{unit}, each of the file's counted as {form.volume_factor:g}"
