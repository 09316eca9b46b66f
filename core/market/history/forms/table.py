"""All known forms, by name."""

from __future__ import annotations

from core.market.history.errors import CandleFileError
from core.market.history.forms.exchanges import EXCHANGE_FORMS
from core.market.history.forms.form import UNSTATED, Form
from core.market.history.forms.vendors import VENDOR_FORMS

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
