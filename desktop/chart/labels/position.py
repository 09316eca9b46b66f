"""The words at the levels of a drawn long or short position."""

from __future__ import annotations

from core.domain.drawings import Drawing, reward_to_risk
from desktop.chart.panes.frame import Frame
from desktop.ui import formatting
from desktop.ui.translation import translate


def position_texts(frame: Frame, drawing: Drawing) -> tuple[str, str, str]:
    """Of entry, target and stop. Percents are of the entry's price, and signed as the price moves."""
    prices = [anchor.price for anchor in drawing.anchors]
    entry, target, stop = (formatting.format_price(price, frame.decimals) for price in prices)
    to_target, to_stop = (formatting.format_percent(price / prices[0] - 1, signed=True) for price in prices[1:])
    ratio = formatting.format_number(reward_to_risk(drawing))
    return (
        translate("Chart", "Entry {0} · reward/risk {1}").format(entry, ratio),
        translate("Chart", "Target {0} ({1})").format(target, to_target),
        translate("Chart", "Stop {0} ({1})").format(stop, to_stop),
    )
