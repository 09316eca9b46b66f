"""When an alert was crossed, in words, as exactly as that is known."""

from __future__ import annotations

from datetime import tzinfo

from core.domain.candle import Interval
from core.domain.price_lines import PriceLine
from desktop.ui import formatting
from desktop.ui.translation import translate


def crossing_time(line: PriceLine, time_zone: tzinfo | None) -> str:
    """``5 Jan 2020 08:52``, or ``in the 15m candle of 5 Jan 2020 08:45``: by its opening, as on the time axis."""
    opened_ms, within_ms = line.crossing_candle_ms, line.crossed_within_ms
    if opened_ms is None or within_ms is None:
        return formatting.format_time(line.crossed_at_ms, time_zone)
    opened = formatting.format_time(opened_ms, time_zone)
    return translate("Chart", "in the {0} candle of {1}").format(Interval(within_ms), opened)
