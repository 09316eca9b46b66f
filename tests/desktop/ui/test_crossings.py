from __future__ import annotations

from datetime import UTC

from core.domain.price_lines import LineKind, PriceLine
from desktop.ui.crossings import crossing_time

MINUTE_MS = 60_000
NINE_MS = 1_578_214_800_000
"""5 January 2020, 09:00 UTC."""


def test_a_crossing_in_a_closed_candle_names_its_opening_time() -> None:
    line = PriceLine(1.0, LineKind.ALERT, crossed_at_ms=NINE_MS - 1, crossed_within_ms=15 * MINUTE_MS)
    assert crossing_time(line, UTC) == "in the 15m candle of 5 Jan 2020 08:45"


def test_a_known_moment_is_shown() -> None:
    assert crossing_time(PriceLine(1.0, LineKind.ALERT, crossed_at_ms=NINE_MS - 1), UTC) == "5 Jan 2020 08:59"
