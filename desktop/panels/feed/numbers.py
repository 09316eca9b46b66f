"""The feed in numbers: connection status, delays, counts, and what can be done without a connection."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from core.domain.venue_names import venue_name
from core.market.shown_names import shown_market
from desktop.panels.feed.words import moment, state_colour, state_word
from desktop.state.feed_record import OTHER_REASONS
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_age, format_count, format_duration, format_milliseconds
from desktop.ui.icons import Dot, put_icon, tabular
from desktop.ui.number_grid import NumberGrid
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_MOST_IN_A_ROW = 2
"""Lasting facts on the left, counts on the right."""
MEANINGS = {
    "Last message": "Time of the last message on the stream. A dead connection has none.",
    "Last trade": "Time of the last trade of this market. A quiet market may have none for minutes.",
    "Request time": "Round-trip time of the newest answered request.",
    "Clock offset": (
        "The exchange's clock minus this computer's, at the last check. Candles close by the exchange's clock."
    ),
    "Close delay": "From the end of the newest candle to its arrival here.",
    "Reconnect attempts": "Connection attempts after a break, since this market was chosen; failed ones included.",
    "Candles back-filled": "Candles fetched after a break, since this market was chosen.",
    "Candles corrected": (
        "Candles that the exchange corrected later. They are stored and drawn again, but not learned from again."
    ),
    "Candles missing": "Candles that the exchange does not have. They remain a gap.",
    "Messages rejected": "Messages that failed validation. The reasons are below, the newest messages in the list.",
}
"""The tooltip of each number; its value is in `_show_numbers`."""


class FeedNumbers(DownScrolling):
    """`try_again_requested`, and `venue_requested` with the ccxt id of another exchange."""

    try_again_requested = Signal()
    venue_requested = Signal(str)

    def __init__(self, state: RunState, theme: Theme) -> None:
        inside = QWidget()
        super().__init__(inside, translate("Panels", "Feed status and numbers"))
        self._record, self._clock, self._theme = state.feed_record, state.clock, theme
        self._dot = Dot()
        self.state_word, self.since = Label(), Label(wraps=True)
        self.market, self.sentence, self.reasons = (Label(wraps=True) for _ in range(3))
        mute(self.since, self.market, self.reasons)
        self.try_again, self.use_next = QPushButton(translate("Panels", "Try again now")), QPushButton()
        put_icon(self.try_again, "refresh", theme)
        put_icon(self.use_next, "swap-horizontal", theme)
        self.numbers = NumberGrid(MEANINGS, _MOST_IN_A_ROW, is_by_column=True)
        self._build_layout(inside)
        self.try_again.clicked.connect(lambda _checked: self.try_again_requested.emit())
        self.use_next.clicked.connect(self._use_next)

    def refresh(self) -> None:
        """Show the feed as it is now."""
        record, now_ms = self._record, self._clock.now_ms()
        state = None if record.status is None else record.status.state
        self._dot.show_colour(state_colour(state, self._theme.palette))
        set_text(self.state_word, state_word(state))
        set_text(self.market, self._market_text())
        self._show_buttons()
        other = {OTHER_REASONS: translate("Panels", "other reasons")}  # the others are core's
        counts = ((other.get(reason, reason), many) for reason, many in record.rejected_by_reason)
        reasons = ", ".join(f"{reason} {format_count(many)}×" for reason, many in counts)
        set_text(self.reasons, translate("Panels", "Rejected: {0}").format(reasons) if reasons else "")
        self.reasons.setVisible(bool(reasons))
        self.show_times(now_ms)

    def show_times(self, now_ms: int) -> None:
        """Update what changes without an event: ages, and the time left to wait."""
        set_text(self.sentence, self._sentence(now_ms))
        since_ms = self._record.since_ms
        text = ""
        if since_ms is not None:
            held = format_duration(max(0, (now_ms - since_ms) // 1000), has_tenths=False)
            text = translate("Panels", "since {0}, for {1}").format(moment(since_ms, now_ms), held)
        set_text(self.since, text)
        self._show_numbers(now_ms)

    def _market_text(self) -> str:
        record = self._record
        if record.market is not None and record.is_exchange:
            return f"{venue_name(record.market.venue)} · {record.market.symbol} {record.market.interval}"
        if record.market is not None:
            return shown_market(record.market)
        return "" if record.asked is None else f"{venue_name(record.asked.venue)} · {record.asked.symbol}"

    def _sentence(self, now_ms: int) -> str:
        """The feed's last message with the time left to wait, after the notice if another market is shown."""
        text = "" if self._record.status is None else self._record.status.sentence_at(now_ms)
        return f"{self._record.notice} {text}".strip()

    def _show_buttons(self) -> None:
        venue = self._record.next_venue
        self.try_again.setVisible(self._record.is_in_trouble)
        self.use_next.setVisible(venue is not None)
        if venue is not None:
            set_text(self.use_next, translate("Panels", "Use {0}").format(venue_name(venue)))
            hint = translate(
                "Panels",
                "Watch the same symbol at {0}. Set the order in “Choose market…”; Ghostcandle never switches by "
                "itself.",
            )
            set_tooltip(self.use_next, hint.format(venue_name(venue)))

    def _show_numbers(self, now_ms: int) -> None:
        record, vitals = self._record, self._record.vitals  # an unknown value is a dash
        texts = {
            "Last message": format_age(None if vitals is None else vitals.last_message_ms, now_ms),
            "Last trade": format_age(None if vitals is None else vitals.last_trade_ms, now_ms),
            "Request time": format_milliseconds(None if vitals is None else vitals.request_ms),
            "Clock offset": format_milliseconds(None if vitals is None else vitals.clock_offset_ms, signed=True),
            "Close delay": format_milliseconds(None if vitals is None else vitals.close_delay_ms),
            "Reconnect attempts": format_count(record.tries),
            "Candles back-filled": format_count(None if vitals is None else vitals.back_filled),
            "Candles corrected": format_count(record.corrected_count),
            "Candles missing": format_count(record.missing_count),
            "Messages rejected": format_count(record.rejected_count),
        }
        for name, text in texts.items():
            self.numbers.put(name, text)

    def _use_next(self) -> None:
        venue = self._record.next_venue
        if venue is not None:
            self.venue_requested.emit(venue)

    def _build_layout(self, inside: QWidget) -> None:
        self.state_word.setFont(tabular(self.font(), bold=True))
        self.since.setFont(tabular(self.font()))
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.try_again.setToolTip(
            translate("Panels", "Reconnect now instead of waiting for the next attempt. Training continues.")
        )
        for button in (self.use_next, self.try_again):
            button.hide()
        top = beside(None, self._dot, self.state_word, self.since, stretched=self.since, spacing=6)
        buttons = beside(None, self.use_next, self.try_again, None, spacing=6)
        parts = (top, self.market, self.sentence, buttons, self.numbers, self.reasons, None)
        stacked(inside, *parts, margins=(6, 0, 6, 0), spacing=3)
