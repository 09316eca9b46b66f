"""The market dialog: an exchange's market, a file to replay, or simulated ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QLineEdit, QWidget

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval
from core.market.feeds.market_check import Objection
from core.market.feeds.replay_speed import WATCHABLE_SPEED
from core.market.shown_names import shown_symbol
from core.settings.group import all_field_infos
from core.settings.tree import MarketSettings
from desktop.dialogs.file_check import FilePicker, check_replayable
from desktop.dialogs.forms import editable, listen
from desktop.dialogs.setting_texts import description
from desktop.dialogs.usual_markets import EXCHANGES, INTERVALS, USUAL_SYMBOLS
from desktop.services.market_check import EXCHANGE_FEEDS, MarketQuestion
from desktop.ui.dialog_parts import Problem, ok_and_cancel
from desktop.ui.inputs import DecimalSpinBox, WholeSpinBox
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import set_tooltip
from desktop.ui.stacks import stacked
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_FEEDS = (
    ("auto", QT_TRANSLATE_NOOP("Dialogs", "Automatic: live, otherwise the sample")),
    ("live", QT_TRANSLATE_NOOP("Dialogs", "Live from an exchange")),
    ("replay", QT_TRANSLATE_NOOP("Dialogs", "Replay a file")),
    ("sample", QT_TRANSLATE_NOOP("Dialogs", "Replay the included sample")),
    ("stored", QT_TRANSLATE_NOOP("Dialogs", "Stored candles only")),
    ("simulate", QT_TRANSLATE_NOOP("Dialogs", "Simulated ticks")),
)
_WIDTH = 460
_USED = {
    "auto": frozenset({"venue", "symbol", "interval", "catch_up_candles", "fallback_venues"}),
    "live": frozenset({"venue", "symbol", "interval", "catch_up_candles", "fallback_venues"}),
    "replay": frozenset({"file", "speed", "catch_up_candles"}),
    "sample": frozenset({"speed", "catch_up_candles"}),
    "stored": frozenset({"venue", "symbol", "interval", "catch_up_candles"}),
    "simulate": frozenset({"interval", "speed", "catch_up_candles"}),
}


AskMarket = Callable[[MarketSettings], MarketQuestion]
"""Asks an exchange for a market; returns the pending question."""


class MarketDialog(QDialog):
    """`chosen` carries the MarketSettings when they were accepted. Open it with `open`."""

    chosen = Signal(object)

    def __init__(self, market: MarketSettings, parent: QWidget | None = None, *, ask: AskMarket | None = None) -> None:
        """ask: checks that the exchange has the market before it is chosen; None: no check."""
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Choose market"))
        self._market = market
        self._ask = ask
        self._question: MarketQuestion | None = None
        """Watch was pressed, and the exchange is still being asked."""
        self._refused: tuple[MarketSettings, str] | None = None
        """A market that the exchange does not have, and the message about it."""
        self.feed = QComboBox()
        for value, text in _FEEDS:
            self.feed.addItem(translate("Dialogs", text), value)
        self.venue = editable(EXCHANGES, market.venue)
        self._shown_symbol = shown_symbol(market.venue, market.symbol)
        self.symbol = editable(USUAL_SYMBOLS, self._shown_symbol)
        self.interval = editable(INTERVALS, market.interval)
        self.picker = FilePicker(several=False, look=check_replayable, text=market.file or "")
        self.picker.line.setAccessibleName(translate("Dialogs", "Candle file"))
        self.finished.connect(lambda _result: self.picker.end())
        self.finished.connect(lambda _result: self._end_question())
        self._is_accepting = False
        """Watch was pressed, and the file is still being looked at."""
        self.speed = DecimalSpinBox(0.0, 10_000.0, step=1.0)
        self.speed.setSuffix(translate("Dialogs", " candles per second"))
        self._has_speed = market.speed is not None
        """Whether a speed was chosen; otherwise the feed's own is shown."""
        if market.speed is not None:
            self.speed.setValue(market.speed)
        self.catch_up = WholeSpinBox(0, 20_000, step=100)
        self.catch_up.setValue(market.catch_up_candles)
        self.fallback = QLineEdit(", ".join(market.fallback_venues), placeholderText=translate("Dialogs", "None"))
        self.buttons = ok_and_cancel(self, translate("Dialogs", "Watch"))
        self._message = Problem(self._require_market, self.buttons)
        self._build_layout()
        self.feed.setCurrentIndex(self.feed.findData(market.feed))
        self._connect()
        self._on_change()

    def market(self) -> MarketSettings:
        """The chosen market. Raises ValueError with a sentence for the user."""
        feed, used = self.feed.currentData(), _USED[self.feed.currentData()]
        if "interval" in used:
            Interval.parse(self.interval.currentText())
        if "venue" in used and not self.venue.currentText().strip():
            raise ValueError(translate("Dialogs", "Enter an exchange, for example binance."))
        is_stored = feed == "stored"  # a file's symbol is its name
        if "venue" in used and not is_stored and self._has_no_exchange():
            named = self.venue.currentText().strip()
            raise ValueError(
                translate("Dialogs", "“{0}” is not a known exchange. Enter one, for example binance.").format(named)
            )
        if "symbol" in used and not is_stored and "/" not in self.symbol.currentText().strip("/ "):
            raise ValueError(translate("Dialogs", "Enter the symbol as BASE/QUOTE, for example BTC/USDT."))
        file = self.picker.line.text().strip() or None
        if "file" in used:
            found = self.picker.files()[0]
            file = file if file == self._market.file else str(found)  # an unchanged name stays as it was written
        is_same_replay = feed == self._market.feed and ("file" not in used or file == self._market.file)
        stored_symbol = self.symbol.currentText().strip()
        if stored_symbol == self._shown_symbol and self.venue.currentText().strip().lower() == self._market.venue:
            stored_symbol = self._market.symbol  # of the watched market, which is shown shortened
        return replace(
            self._market,
            feed=feed,
            venue=self.venue.currentText().strip().lower(),
            symbol=stored_symbol if is_stored else self.symbol.currentText().strip().upper(),
            interval=self.interval.currentText().strip(),
            file=file,
            replayed_as=self._market.replayed_as if is_same_replay else None,
            joined_to=self._market.joined_to if file == self._market.file else None,
            inside=self._market.inside if file == self._market.file else None,
            speed=self.speed.entered() if self._has_speed else None,
            catch_up_candles=self.catch_up.value(),
            fallback_venues=self._fallback() if "fallback_venues" in used else self._market.fallback_venues,
        )

    def _require_market(self) -> None:
        """Raises ValueError if the choice is no market, or one that the exchange is known to lack."""
        market = self.market()
        if self._refused is not None and self._refused[0] == market:
            raise ValueError(self._refused[1])

    def _has_no_exchange(self) -> bool:
        """Whether the candles come from a file or a simulation."""
        return self.venue.currentText().strip().lower() in (FILE_VENUE, SIMULATED_VENUE)

    def _fallback(self) -> tuple[str, ...]:
        names = (name.strip().lower() for name in self.fallback.text().split(","))
        venues = tuple(name for name in names if name)
        try:
            replace(self._market, fallback_venues=venues)
        except ValidationError as error:
            raise ValueError(
                translate(
                    "Dialogs",
                    "List each fallback exchange once, by its ccxt id, for example: binance, kraken, coinbase.",
                )
            ) from error
        return venues

    def accept(self) -> None:
        try:
            self._require_market()
            market = self.market()
        except ValueError:
            return
        self._is_accepting = market.feed == "replay" and self.picker.problem is None
        if self._is_accepting:
            self._show_problem()
        elif self._ask is not None and market.feed in EXCHANGE_FEEDS:
            if self._question is None:  # an unknown market is refused here, where it was typed
                self._question = question = self._ask(market)
                question.answered.connect(lambda objection: self._on_answer(question, market, objection))
                self._show_problem()
        else:
            self._choose(market)

    def _choose(self, market: MarketSettings) -> None:
        super().accept()
        self.chosen.emit(market)

    def _on_answer(self, question: MarketQuestion, market: MarketSettings, objection: Objection | None) -> None:
        if question is not self._question:
            return  # something else was typed meanwhile
        self._question = None
        if objection is None:
            self._choose(market)
            return
        self._refused = (market, objection.sentence) if objection.is_certain else None
        self._show_problem()
        self._message.show_sentence(objection.sentence)

    def _end_question(self) -> None:
        question, self._question = self._question, None
        if question is not None:
            question.cancel()

    def _on_checked(self) -> None:
        """The file is checked: replay it if accepting, or show why it cannot be used. Warnings are shown first."""
        was_accepting, self._is_accepting = self._is_accepting, False
        self._show_problem()
        if was_accepting and not self._remark():
            self.accept()

    def _remark(self) -> str:
        return self.picker.remark if self.feed.currentData() == "replay" else ""

    def _show_problem(self) -> None:
        self._message.check()
        if self._is_accepting or self._question is not None:
            reading = translate("Dialogs", "Reading {0}…").format(Path(self.picker.line.text().strip()).name)
            self._message.show_waiting(reading if self._question is None else self._question.words)
        elif not self._message.text() and self.feed.currentData() == "replay":
            self._message.show_sentence(" ".join(filter(None, (self.picker.contents, self.picker.remark))))

    def _build_layout(self) -> None:
        self._form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._rows: dict[str, QWidget] = {
            "feed": self.feed,
            "venue": self.venue,
            "symbol": self.symbol,
            "interval": self.interval,
            "file": self.picker,
            "speed": self.speed,
            "catch_up_candles": self.catch_up,
            "fallback_venues": self.fallback,
        }
        titles = (
            translate("Dialogs", "Candles"),
            translate("Dialogs", "Exchange"),
            translate("Dialogs", "Symbol"),
            translate("Dialogs", "Interval"),
            translate("Dialogs", "File"),
            translate("Dialogs", "Speed"),
            translate("Dialogs", "Warm up on"),
            translate("Dialogs", "Fallback exchanges"),
        )
        infos = all_field_infos(MarketSettings)
        for title, (name, widget) in zip(titles, self._rows.items(), strict=True):
            self._form.addRow(title, widget)
            set_tooltip(widget, description(infos[name]))
        self.catch_up.setSuffix(translate("Dialogs", " candles"))
        stacked(self, self._form, self._message, None, self.buttons)
        self.setMinimumWidth(enlarged(_WIDTH))

    def _connect(self) -> None:
        for widget in (self.feed, self.venue, self.symbol, self.interval, self.fallback):
            listen(widget, self._on_change)
        listen(self.speed, self._on_speed)
        self.speed.refused.connect(self._message.refuse)
        self.picker.changed.connect(self._on_change)
        self.picker.answered.connect(self._on_checked)

    def _on_change(self) -> None:
        used = _USED[self.feed.currentData()]
        for name, widget in self._rows.items():
            self._form.setRowVisible(widget, name == "feed" or name in used)
        if self.isVisible():
            self.resize(self.size().expandedTo(self.sizeHint()))
        is_simulated = self.feed.currentData() == "simulate"  # without a speed it runs in real time
        text = translate("Dialogs", "in real time") if is_simulated else translate("Dialogs", "as fast as possible")
        self.speed.setSpecialValueText(text)
        if not self._has_speed:
            with QSignalBlocker(self.speed):
                self.speed.setValue(0.0 if is_simulated else WATCHABLE_SPEED)
        if self.feed.currentData() in ("auto", "live") and self._market.feed == "stored" and self._has_no_exchange():
            with QSignalBlocker(self.venue):  # the stored market's own
                self.venue.setCurrentText(EXCHANGES[0])
        self._is_accepting = False
        self._end_question()
        if "file" in used:
            self.picker.check()
        else:
            self.picker.end()
        self._show_problem()

    def _on_speed(self) -> None:
        self._has_speed = True
        self._show_problem()
