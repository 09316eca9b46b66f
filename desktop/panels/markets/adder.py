"""The line that adds a market to the list: exchange, a search over its symbols while one types, interval."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QToolButton, QWidget

from core.domain.candle import SIMULATED_VENUE
from core.domain.venue_names import venue_name
from core.market.symbols import SymbolIndex, SymbolList
from desktop.dialogs.usual_markets import EXCHANGES, INTERVALS
from desktop.ui.accessible import name_box
from desktop.ui.icons import put_icon
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

VENUES = (*EXCHANGES, SIMULATED_VENUE)
_SHOWN_MATCHES = 50
_SIMULATED = tuple(f"SIM-{seed}" for seed in range(1, 201))
"""Simulated markets on offer, one for each seed; nobody could watch more."""


class MarketAdder(QWidget):
    """`chosen` carries exchange, symbol and interval; `symbols_wanted` an exchange whose list is needed; `hint_changed`
    a hint for the user."""

    chosen = Signal(str, str, str)
    symbols_wanted = Signal(str)
    hint_changed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._known: dict[str, tuple[str, ...]] = {}
        self._indexes = {SIMULATED_VENUE: SymbolIndex(_SIMULATED)}
        self.venue, self.interval = QComboBox(), QComboBox()
        self.search = QLineEdit()
        self.add = QToolButton()
        put_icon(self.add, "plus", theme)
        self._matches = QStringListModel(self)
        self._completer = QCompleter(self._matches, self)
        self._apply_style()
        parts = (self.venue, self.search, self.interval, self.add)
        beside(self, *parts, stretched=self.search, margins=NO_MARGINS, spacing=4)
        self.search.textEdited.connect(self._complete)
        self.search.returnPressed.connect(self._on_return)
        self.add.clicked.connect(lambda _checked: self._add_typed())
        self._completer.activated.connect(self._add)
        self.venue.currentIndexChanged.connect(lambda _index: self._request())

    @property
    def venue_id(self) -> str:
        return str(self.venue.currentData())

    def offer_venues(self, venues: Sequence[str]) -> None:
        """Offer these beside the usual ones."""
        for venue in venues:
            if self.venue.findData(venue) < 0:
                self.venue.addItem(venue_name(venue), venue)

    def set_symbols(self, listed: SymbolList) -> None:
        """Search these markets of an exchange."""
        if self._known.get(listed.venue) == listed.symbols:
            return
        self._known[listed.venue] = listed.symbols
        self._indexes[listed.venue] = SymbolIndex(listed.symbols)
        if listed.venue == self.venue_id and self.search.hasFocus() and self.search.isModified():
            self._complete(self.search.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QFocusEvent) and event.gotFocus():
            was_elsewhere = event.reason() is not Qt.FocusReason.PopupFocusReason
            if was_elsewhere:
                self._request()
        return False

    def _apply_style(self) -> None:
        for venue in VENUES:
            self.venue.addItem(venue_name(venue), venue)
        self.interval.addItems(list(INTERVALS))
        self.venue.setToolTip(translate("Panels", "Exchange to search"))
        name_box(self.venue, translate("Panels", "Exchange"))
        self.venue.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.venue.setMinimumContentsLength(7)
        self.interval.setToolTip(translate("Panels", "Candle interval of the market"))
        name_box(self.interval, translate("Panels", "Interval"))
        self.add.setToolTip(translate("Panels", "Add this market to the list (Enter)"))
        self.add.setAccessibleName(translate("Panels", "Add"))
        self.add.setAutoRaise(True)
        self.search.setPlaceholderText(translate("Panels", "Add a symbol"))
        self.search.setAccessibleName(translate("Panels", "Search a symbol to add"))
        self.search.setToolTip(
            translate("Panels", "Type a few letters, such as eth or ethbtc; Enter adds the selected market")
        )
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(70)
        self.search.installEventFilter(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setMaxVisibleItems(12)
        self._completer.setWidget(self.search)

    def _request(self) -> None:
        """Request the chosen exchange's list; simulated markets have none to fetch."""
        if self.venue_id != SIMULATED_VENUE:
            self.symbols_wanted.emit(self.venue_id)

    def _complete(self, text: str) -> None:
        index = self._indexes.get(self.venue_id)
        found = [] if index is None else index.search(text, _SHOWN_MATCHES)
        self._matches.setStringList(found)
        popup = self._completer.popup()
        if not found:
            popup.hide()
            self.hint_changed.emit(self._no_match(text))
            return
        chosen = _chosen(text, found)
        self.hint_changed.emit("" if chosen else self._not_exactly(text))
        self._completer.complete()
        first = self._completer.completionModel().index(0, 0)
        popup.setCurrentIndex(first if chosen else QModelIndex())

    def _no_match(self, text: str) -> str:
        if not text.strip() or self.venue_id not in self._indexes:
            return ""
        if self.venue_id == SIMULATED_VENUE:
            return translate("Panels", "Simulated markets are SIM-1 to SIM-200.")
        no_match = translate("Panels", "{0} has no spot market like “{1}”.")
        return no_match.format(venue_name(self.venue_id), text.strip())

    def _not_exactly(self, text: str) -> str:
        if self.venue_id == SIMULATED_VENUE:
            return self._no_match(text)
        words = translate("Panels", "{0} has no {1}. Choose one from the list.")
        return words.format(venue_name(self.venue_id), text.strip().upper())

    def _on_return(self) -> None:
        """While the matches are open the completer gets the key too, and reports the marked one."""
        if not self._completer.popup().isVisible():
            self._add_typed()

    def _add_typed(self) -> None:
        """Add the best match, or the typed text if the exchange's list is missing."""
        text = self.search.text().strip().upper()
        index = self._indexes.get(self.venue_id)
        if not text:
            return
        if index is None:
            self._add(text)
            return
        found = index.search(text, 1)
        if chosen := _chosen(text, found):
            self._add(chosen)
        else:
            self.hint_changed.emit(self._not_exactly(text) if found else self._no_match(text))

    def _add(self, symbol: str) -> None:
        self._completer.popup().hide()
        self.chosen.emit(self.venue_id, symbol, self.interval.currentText())


def _chosen(text: str, found: Sequence[str]) -> str | None:
    """The match that Enter adds: the best one; if a quote was typed, only that very symbol."""
    has_quote = bool(text.partition("/")[2].strip())
    if not found or (has_quote and found[0].upper() != text.strip().upper()):
        return None
    return found[0]
