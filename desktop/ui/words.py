"""The words for values of core's enumerations, in the user's language."""

from __future__ import annotations

from enum import Enum

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE
from core.domain.diagnosis import Disease
from core.domain.events import ForecastMode, Severity
from core.domain.quantities import Quantity
from core.domain.regimes import Regime
from core.domain.venue_names import venue_name
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_WORDS: dict[Enum, str] = {
    ForecastMode.LIVE: QT_TRANSLATE_NOOP("Words", "live"),
    ForecastMode.CATCH_UP: QT_TRANSLATE_NOOP("Words", "catch-up"),
    ForecastMode.RECOVERY: QT_TRANSLATE_NOOP("Words", "recovery"),
    ForecastMode.REPLAY: QT_TRANSLATE_NOOP("Words", "replay"),
    ForecastMode.SIMULATED: QT_TRANSLATE_NOOP("Words", "simulated"),
    ForecastMode.SEEN: QT_TRANSLATE_NOOP("Words", "seen-before"),
    Regime.CALM: QT_TRANSLATE_NOOP("Words", "calm"),
    Regime.TRENDING: QT_TRANSLATE_NOOP("Words", "trending"),
    Regime.VOLATILE: QT_TRANSLATE_NOOP("Words", "volatile"),
    Severity.INFO: QT_TRANSLATE_NOOP("Words", "info"),
    Severity.WARNING: QT_TRANSLATE_NOOP("Words", "warning"),
    Severity.ERROR: QT_TRANSLATE_NOOP("Words", "error"),
    Disease.UNKNOWN: QT_TRANSLATE_NOOP("Words", "too early to say"),
    Disease.HEALTHY: QT_TRANSLATE_NOOP("Words", "healthy"),
    Disease.DIVERGED: QT_TRANSLATE_NOOP("Words", "diverged"),
    Disease.EXPLODING: QT_TRANSLATE_NOOP("Words", "exploding gradients"),
    Disease.VANISHING: QT_TRANSLATE_NOOP("Words", "vanishing gradients"),
    Disease.UPDATES_TOO_LARGE: QT_TRANSLATE_NOOP("Words", "updates too large"),
    Disease.ALWAYS_CLIPPING: QT_TRANSLATE_NOOP("Words", "always clipping"),
    Disease.NEVER_CLIPPING: QT_TRANSLATE_NOOP("Words", "never clipping"),
    Disease.DEAD_LAYERS: QT_TRANSLATE_NOOP("Words", "dead layers"),
    Disease.NOT_FINITE: QT_TRANSLATE_NOOP("Words", "not finite"),
    Quantity.CLOSE: QT_TRANSLATE_NOOP("Words", "Close"),
    Quantity.BODY: QT_TRANSLATE_NOOP("Words", "Body"),
    Quantity.UPPER_WICK: QT_TRANSLATE_NOOP("Words", "Upper wick"),
    Quantity.LOWER_WICK: QT_TRANSLATE_NOOP("Words", "Lower wick"),
    Quantity.RANGE: QT_TRANSLATE_NOOP("Words", "Range"),
    Quantity.VOLUME: QT_TRANSLATE_NOOP("Words", "Volume"),
}

_WITH_VENUE = {
    FILE_VENUE: QT_TRANSLATE_NOOP("Words", "{0} from a file"),
    SIMULATED_VENUE: QT_TRANSLATE_NOOP("Words", "{0}, simulated"),
}
_WITH_EXCHANGE = QT_TRANSLATE_NOOP("Words", "{0} on {1}")


def word(value: Disease | ForecastMode | Quantity | Regime | Severity) -> str:
    """``catch-up``, ``calm``, ``warning``, ``dead layers``."""
    return translate("Words", _WORDS[value])


def with_venue(market: str, venue: str) -> str:
    """A market's name, or its interval, with the source of its candles: ``1h on Binance``, ``1h from a file``."""
    return translate("Words", _WITH_VENUE.get(venue, _WITH_EXCHANGE)).format(market, venue_name(venue))
