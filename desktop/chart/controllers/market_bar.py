"""The bar above the chart: buttons with the shown market and interval that open their choosers."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from core.domain.candle import Interval, Market
from core.domain.plain_text import plain
from core.market.shown_names import shown_symbol
from desktop.actions import ActionId, ActionRegistry
from desktop.ui.icons import icon
from desktop.ui.menus import Menu
from desktop.ui.plain_text import set_tooltip
from desktop.ui.stacks import beside
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate
from desktop.ui.words import with_venue

_INTERVALS = (
    ActionId.INTERVAL_1M,
    ActionId.INTERVAL_5M,
    ActionId.INTERVAL_15M,
    ActionId.INTERVAL_1H,
    ActionId.INTERVAL_4H,
    ActionId.INTERVAL_1D,
    ActionId.INTERVAL_MARKET,
)
_LEAST_SYMBOL_PX = 90
_LONGEST_SYMBOL = 60
"""Characters: a file's symbol is its name."""


class MarketBar(QWidget):
    """Placed directly above the market's view."""

    market_wanted = Signal()
    """The user asks for another market."""

    def __init__(self, actions: ActionRegistry, below: QWidget, theme: Theme) -> None:
        super().__init__(below.parentWidget())
        self.symbol, self.interval = QToolButton(), QToolButton()
        self._style_buttons(actions)
        self._lay_out(below)
        self.symbol.clicked.connect(self.market_wanted)
        theme.changed.connect(self._apply_palette)
        self._apply_palette(theme.palette)
        self.show_market(None)
        self.show_interval(None)

    def show_market(self, market: Market | None) -> None:
        """Show this market's name; None: no market yet."""
        whole = ""
        if market is None:
            text, name = translate("Chart", "Market"), translate("Chart", "Choose a market")
        else:
            text = plain(shown_symbol(market.venue, market.symbol), _LONGEST_SYMBOL)
            name = translate("Chart", "Market {0}").format(with_venue(text, market.venue))
            if text != market.symbol:
                whole = translate("Chart", "Stored as {0}").format(plain(market.symbol))
        self.symbol.setText(text.replace("&", "&&"))
        self.symbol.setAccessibleName(name)
        hint = translate("Chart", "Change the market: click, or type its letters on the chart")
        set_tooltip(self.symbol, "\n".join(filter(None, (name, whole, hint))))

    def show_interval(self, interval: Interval | None) -> None:
        """Show the interval of the shown candles, which may be merged; None: no candles."""
        self.interval.setVisible(interval is not None)
        if interval is not None:
            self.interval.setText(str(interval))
            self.interval.setAccessibleName(translate("Chart", "Interval {0}").format(interval))

    def _style_buttons(self, actions: ActionRegistry) -> None:
        menu = Menu("", self.interval)
        menu.addActions([actions[action_id] for action_id in _INTERVALS])
        self.interval.setMenu(menu)
        self.interval.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_tooltip(self.interval, translate("Chart", "Change the interval: click, or type its minutes on the chart"))
        self.symbol.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        strong = self.symbol.font()
        strong.setBold(True)
        self.symbol.setFont(strong)
        self.symbol.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.symbol.setMinimumWidth(_LEAST_SYMBOL_PX)  # Qt then takes letters out of the middle
        for button in (self.symbol, self.interval):
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves keyboard focus on the chart

    def _lay_out(self, below: QWidget) -> None:
        beside(self, self.symbol, self.interval, None, margins=(4, 1, 4, 1))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        parent, before = below.parentWidget(), below.previousInFocusChain()
        while before is not None and before.isAncestorOf(below):  # Qt would take the last widget in it
            before = before.previousInFocusChain()
        assert parent is not None and before is not None, "it lies in a window"
        around = parent.layout()
        if isinstance(around, QVBoxLayout):
            around.insertWidget(around.indexOf(below), self)
        QWidget.setTabOrder(before, self.symbol)
        QWidget.setTabOrder(self.symbol, self.interval)

    def _apply_palette(self, palette: Palette) -> None:
        self.symbol.setIcon(icon("magnify", palette.muted_text))
