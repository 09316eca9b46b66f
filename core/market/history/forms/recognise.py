"""Which known form a file has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.market.history.errors import CandleFileError
from core.market.history.forms.exchanges import EXCHANGE_FORMS
from core.market.history.forms.form import UNSTATED, Form
from core.market.history.forms.layouts import FEWEST, places_of, prices_by, share_that_fits
from core.market.history.forms.vendors import VENDOR_FORMS

if TYPE_CHECKING:
    import pandas as pd

STANDARD = Form(
    name="standard",
    title="time, open, high, low, close, volume",
    source="ccxt, Binance's candles, Bybit, MEXC, Bitget, OKX, Kraken and most tables without a header",
    layout="time open high low close …",
    volume_unit=UNSTATED,
)
FORMS = {form.name: form for form in (STANDARD, *EXCHANGE_FORMS, *VENDOR_FORMS)}


def form_named(name: str) -> Form:
    """Raises CandleFileError for an unknown name."""
    if name not in FORMS:
        raise CandleFileError(f"'{name}' is not a known form of candle files; `ghostcandle import --forms` lists them.")
    return FORMS[name]


def form_of(name: str, first: pd.DataFrame, requested: str | None, delimiter: str) -> Form | None:
    """The form of a file, by its first part; None if unknown. name: the file's, or the packed file's.
    requested: the form's name from the user, if any. delimiter: a text file's.

    Raises CandleFileError if the requested form does not fit, if the name alone would tell forms apart, and if the form
    holds no candles.
    """
    is_named = not all(isinstance(column, int) for column in first.columns)
    if requested is None:
        named = [form for form in FORMS.values() if is_named and _has_names(form, first)]
        named = [form for form in named if not form.file_name or re.search(form.file_name, name)]
        best = max(named, key=lambda form: (bool(form.file_name), len(form.columns)), default=None)
        found = best if is_named else _by_layout(name, first, delimiter)
    else:
        found = form_named(requested)
        if not (_has_names(found, first) if is_named else _share(found, first, judges_prices=False) > 0.0):
            raise CandleFileError(
                f"{name} does not have the form {requested} ({found.title}). Leave out --form, or choose another one."
            )
    if found is not None and found.refusal:
        raise CandleFileError(f"{name} {found.refusal}")
    return found


def _has_names(form: Form, first: pd.DataFrame) -> bool:
    names = {"" if str(column).startswith("Unnamed:") else str(column).strip() for column in first.columns}
    return bool(form.columns) and names.issuperset(form.columns) and _has_times(form, first, form.columns[:1])


def _by_layout(name: str, first: pd.DataFrame, delimiter: str) -> Form | None:
    shares = {form: _share(form, first) for form in FORMS.values() if form.delimiter in ("", delimiter)}
    found = {form: share for form, share in shares.items() if share}
    by_name = [form for form in found if form.file_name and re.search(form.file_name, name)]
    if by_name:
        return max(by_name, key=_strictness)
    found = {form: share for form, share in found.items() if not form.file_name or form.needs_name}
    if any(form.needs_name for form in found):
        raise _ambiguous(name, found)
    best = [form for form, share in found.items() if share == max(found.values())]
    candles = [form for form in best if "open" in form.layout or "whole" in form.layout]
    if any((prices_by(form, first) != prices_by(candles[0], first)).any() for form in candles[1:]):
        raise _ambiguous(name, candles)
    same = STANDARD.layout.removesuffix("…")
    if STANDARD in best:  # another order that fits every line gives the same prices, and perhaps another volume
        best = [form for form in best if form not in candles or form.times or form.layout.startswith(same)]
    return max(best, key=_strictness, default=None)


def _strictness(form: Form) -> tuple[bool, bool, int]:
    """Orders fitting forms: prefers a pattern of times, then whole prices, then more parts."""
    return bool(form.times), "whole" in form.layout, len(form.layout.split())


def _share(form: Form, first: pd.DataFrame, *, judges_prices: bool = True) -> float:
    """The share of the lines that the form's layout fits; 0 if it fits too few, or not their times."""
    places = places_of(form, len(first.columns)) if form.layout else None
    if places is None or not _has_times(
        form, first, [first.columns[places[part]] for part in ("moment", "date", "clock") if part in places]
    ):
        return 0.0
    return share_that_fits(form, first, judges_prices=judges_prices)


def _has_times(form: Form, first: pd.DataFrame, columns: Sequence[str | int]) -> bool:
    if not form.times:
        return True
    text = first[columns[0]].astype(str).str.strip()
    for column in columns[1:]:
        text = text + " " + first[column].astype(str).str.strip()
    return bool(text.str.fullmatch(form.times).mean() >= FEWEST)


def _ambiguous(name: str, forms: Iterable[Form]) -> CandleFileError:
    listed = " or ".join(f"--form {form.name} ({form.title})" for form in forms)
    return CandleFileError(
        f"{name} has a layout that several vendors use, with other times. Name the one that it is from: {listed}."
    )


def refuse_unclear(name: str, form: Form, *, has_zone: bool, has_stamp: bool) -> None:
    """Raises CandleFileError for a form of candles shorter than a day if facts are missing that only the user knows."""
    if form.clock_of and not has_zone:
        raise CandleFileError(
            f"{name} is of {form.title}, which has the times of {form.clock_of}; the file does not name that zone. "
            "Name it with --time-zone."
        )
    if form.asks_stamp and not has_stamp:
        raise CandleFileError(
            f"{name} is of {form.title}, which some programs stamp with the beginning of a candle and others with its "
            "end. Say which: --stamp start or --stamp end."
        )
