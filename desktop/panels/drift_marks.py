"""Drifts on the loss curve: a line at each, and the newest in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyqtgraph as pg

from core.domain.candle import Market
from core.domain.events import DriftFound
from core.market.shown_names import shown_symbol
from desktop.ui.formatting import format_count, format_significant, format_time
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import set_text
from desktop.ui.plain_text import ElidedLabel, set_tooltip
from desktop.ui.plots import dashed_pen, own_children
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_DRIFT = QT_TRANSLATE_NOOP("Panels", "drift")
_RIGHT_OF_THE_LINE, _LEFT_OF_THE_LINE = (0.0, 0.0), (1.0, 0.0)
"""The corner of the name at the upper end of the line: the name lies below it."""
_OF_DRIFTS = QT_TRANSLATE_NOOP(
    "Panels",
    "The loss of the ghosts rose for longer than chance explains: the market became harder to forecast, or differs "
    "from what the model has learned. This is not an error. A typical loss is a geometric mean, in which a single "
    "candle counts little.",
)


class DriftMarks(ElidedLabel):
    """Drifts on the loss curve: a dashed line at the step at which each was certain, and the newest of them in words.
    The words take one line: a second would take the plot's room, and its labels would lie on one another."""

    def __init__(self, plot: pg.PlotWidget, theme: Theme) -> None:
        super().__init__()
        self._plot = plot
        self._theme = theme
        self._lines: dict[DriftFound, pg.InfiniteLine] = {}
        self._markets: Mapping[str, Market] = {}
        scale_text(self, 0.9)
        self.setVisible(False)
        theme.follow(self, self._apply_palette)

    @property
    def marked(self) -> tuple[DriftFound, ...]:
        """The drifts with a line, in order."""
        return tuple(self._lines)

    def show_drifts(
        self, drifts: Sequence[DriftFound], first_step: float, last_step: float, markets: Mapping[str, Market]
    ) -> None:
        """Show the drifts between two steps; `drifts` is in order. markets: the model's, by the ids of their runs. With
        several of them, each drift names its market."""
        self._markets = markets
        seen = [drift for drift in drifts if first_step <= drift.step <= last_step]
        for drift in [drift for drift in self._lines if drift not in seen]:
            line = self._lines.pop(drift)
            self._plot.removeItem(line)
            own_children(line)
        for drift in seen:
            if drift not in self._lines:
                self._lines[drift] = self._add_line(drift)
        self.setVisible(bool(seen))
        if seen:
            set_text(self, drift_in_words(seen[-1], self._symbol(seen[-1])))
            at_length = [self._at_length(drift) for drift in reversed(seen)]
            set_tooltip(self, "\n".join([translate("Panels", _OF_DRIFTS), *at_length]))

    def _apply_palette(self, palette: Palette) -> None:
        for line in self._lines.values():
            line.setPen(dashed_pen(palette))
            line.label.setColor(palette.text)

    def _add_line(self, drift: DriftFound) -> pg.InfiniteLine:
        anchors = (_RIGHT_OF_THE_LINE, _LEFT_OF_THE_LINE)
        palette = self._theme.palette
        options = {"position": 1.0, "anchors": anchors, "color": palette.text, "movable": False}
        line = pg.InfiniteLine(
            drift.step,
            angle=90,
            pen=dashed_pen(palette),
            label=translate("Panels", _DRIFT),
            labelOpts=options,
        )
        set_tooltip(line, "\n".join((self._at_length(drift), translate("Panels", _OF_DRIFTS))))
        self._plot.addItem(line, ignoreBounds=True)
        return line

    def _symbol(self, drift: DriftFound) -> str:
        market = self._markets.get(drift.run_id) if len(self._markets) > 1 else None
        return "" if market is None else shown_symbol(market.venue, market.symbol)

    def _at_length(self, drift: DriftFound) -> str:
        text = translate("Panels", "{0} The higher loss covers {1} candles.")
        return text.format(drift_in_words(drift, self._symbol(drift)), format_count(drift.candles))


def drift_in_words(drift: DriftFound, symbol: str = "") -> str:
    """Step, time, loss before and after, and the action taken. symbol: of its market; empty: there is only one."""
    before, after = format_significant(drift.loss_before, 2), format_significant(drift.loss_after, 2)
    step, when = format_count(drift.step), format_time(drift.candle_open_time_ms)
    text = translate("Panels", "Drift at step {0}: typical loss {2} → {3} ({1}). {4}")
    words = text.format(step, when, before, after, drift.what_was_done)
    return translate("Panels", "{0}: {1}").format(symbol, words) if symbol else words
