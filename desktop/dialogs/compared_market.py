"""The choice of a market to compare with."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QListWidget, QWidget

from core.domain.candle import Market
from core.domain.plain_text import plain
from core.market.shown_names import symbols_apart
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate
from desktop.ui.words import with_venue

_WIDTH = 360


class ComparedMarketDialog(QDialog):
    """`chosen` carries the market when one was accepted. Open it with `open`."""

    chosen = Signal(object)

    def __init__(self, markets: Sequence[Market], compared: Market | None, parent: QWidget | None = None) -> None:
        """compared: the market compared now; choosing it again ends the comparison."""
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Compare with"))
        self._markets = tuple(markets)
        self.list = QListWidget()
        self.list.setAccessibleName(translate("Dialogs", "Stored markets"))
        for market, symbol in symbols_apart(self._markets).items():
            name = f"{plain(symbol)} · {with_venue(str(market.interval), plain(market.venue))}"
            is_compared = market == compared
            self.list.addItem(translate("Dialogs", "{0} · stop comparing").format(name) if is_compared else name)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self.accept)
        self.buttons = ok_and_cancel(self, translate("Dialogs", "Compare"))
        hint = translate("Dialogs", "Stored markets that can be compared with the one on the chart.")
        stacked(self, Label(hint, wraps=True), self.list, self.buttons, stretched=self.list)
        self.setMinimumWidth(_WIDTH)

    def accept(self) -> None:
        if self.result() == QDialog.DialogCode.Accepted:  # Return in the list presses the button as well
            return
        super().accept()
        row = self.list.currentRow()
        if 0 <= row < len(self._markets):
            self.chosen.emit(self._markets[row])
