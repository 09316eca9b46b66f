"""The page of the paper score: the cost of a trade at which a rule breaks even, never a gain in its place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from core.domain.events import Estimate, ExpertShares
from core.evaluation.findings import RunAccuracy
from core.evaluation.paper import PaperScore
from core.forecast.confidence import FEWEST_FOR_A_PROOF
from core.forecast.score import FEWEST_FOR_AN_ESTIMATE
from desktop.panels.accuracy.pages import Page
from desktop.panels.accuracy.words import not_yet, value_of
from desktop.ui.formatting import MISSING, format_count, format_number, format_percent
from desktop.ui.interface_size import scale_text
from desktop.ui.number_grid import NumberGrid
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import WrappedLabel
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_BASIS_POINT = 1e-4
_RULE = QT_TRANSLATE_NOOP(
    "Panels",
    "The rule: long where the median of the next close lies above the last close by more than the cost of a trade, "
    "short where it lies below by more, else flat. No order is placed. Break-even: the highest cost of a trade at "
    "which the same rule, without regard to costs, does not lose. Intervals hold however often you look.",
)
MEANINGS = {
    "Assumed cost": (
        "Of a trade: fee, half the spread and slippage, from the settings, in basis points: hundredths of a percent."
    ),
    "Net, a candle": "Mean return of a candle after costs, in basis points, with its 95 % interval.",
    "Turnover": "Trades a candle; from long to short is two. In brackets, the share of candles with a position.",
    "Largest fall": "The largest fall of the summed net returns below an earlier value, in basis points.",
    "Candles": "The run's own forecasts of the next close, except those across a gap.",
}


class PaperPage(Page):
    """The headline is a cost. What the rule would have made of the assumed costs is below it."""

    costs_requested = Signal()
    is_chosen = False

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.headline, self.remark = WrappedLabel(), WrappedLabel()
        self._rule = WrappedLabel(translate("Panels", _RULE))
        scale_text(self.headline, 1.15, bold=True)
        scale_text(self._rule, 0.92)
        mute(self.remark, self._rule)
        self.numbers = NumberGrid(MEANINGS)
        self.numbers.grid.setColumnStretch(0, 0)
        self.numbers.grid.setColumnStretch(2, 1)
        self.costs = QPushButton(translate("Panels", "&Costs…"))
        self.costs.setToolTip(translate("Panels", "Fee, spread and slippage of a trade on this exchange"))
        self.costs.clicked.connect(self.costs_requested)
        inside = QWidget()
        parts = (self.headline, self.numbers, self.remark, self._rule, self.costs)
        layout = stacked(inside, *parts, None, margins=(0, 2, 6, 2), spacing=6)
        layout.setAlignment(self.costs, Qt.AlignmentFlag.AlignLeft)
        stacked(self, DownScrolling(inside, translate("Panels", "Paper score")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        score = found.paper
        if score is None:
            return
        set_text(self.headline, _headline(score))
        remark = _remark(score)
        set_text(self.remark, remark)
        self.remark.setVisible(bool(remark))
        self.numbers.put("Assumed cost", translate("Panels", "{0} bp").format(_in_bp(score.cost)))
        self.numbers.put("Net, a candle", _with_span(score.net, 3, signed=True))
        turnover, in_market = score.turnover, format_percent(score.time_in_market, 0)
        self.numbers.put("Turnover", MISSING if turnover is None else f"{format_number(turnover, 3)} ({in_market})")
        fall = score.drawdown
        self.numbers.put(
            "Largest fall", MISSING if fall is None else translate("Panels", "{0} bp").format(_in_bp(fall))
        )
        self.numbers.put("Candles", format_count(score.n))


def _headline(score: PaperScore) -> str:
    of = score.break_even
    if score.n < FEWEST_FOR_AN_ESTIMATE:
        return not_yet(score.n)
    if of.value is None:
        return translate("Panels", "No break-even cost: the forecasts never gave a reason to trade.")
    if of.low is None or of.high is None:
        words = translate("Panels", "No break-even cost yet: n = {0}, and it takes {1} candles with enough trades.")
        return words.format(format_count(score.n), FEWEST_FOR_A_PROOF)
    if of.high < 0.0:
        words = translate("Panels", "This loses even if a trade costs nothing: break-even {0}.")
    elif of.low <= 0.0:
        words = translate("Panels", "Not proven to gain even if a trade costs nothing: break-even {0}.")
    else:
        words = translate("Panels", "This needs costs under {0} a trade.")
    return words.format(_with_span(of, 2))


def _remark(score: PaperScore) -> str:
    """What the net result proves at the assumed cost."""
    net = score.net
    if not score.turnover:
        return "" if score.turnover is None else translate("Panels", "No median moved by more than a trade costs.")
    if value_of(net) is None or net.low is None or net.high is None:
        return ""
    if net.low <= 0.0 <= net.high:
        return translate("Panels", "The net result is not proven to differ from 0.")
    return "" if net.high < 0.0 else translate("Panels", "The interval of the net result lies above 0.")


def _with_span(estimate: Estimate, decimals: int, *, signed: bool = False) -> str:
    """``0.80 bp (0.10 to 1.50)``; a dash without an interval."""
    if value_of(estimate) is None or estimate.low is None or estimate.high is None:
        return MISSING
    value, low, high = (_in_bp(each, decimals, signed=signed) for each in (estimate.value, estimate.low, estimate.high))
    return translate("Panels", "{0} bp ({1} to {2})").format(value, low, high)


def _in_bp(value: float | None, decimals: int = 1, *, signed: bool = False) -> str:
    return format_number(None if value is None else value / _BASIS_POINT, decimals, signed=signed)
