"""The feed panel: connection status, events and rejected messages."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.domain.venue_names import venue_name
from core.market.shown_names import shown_market
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.panels.feed.tables import changes_model, feed_table, rejected_model
from desktop.panels.feed.words import moment, state_colour, state_word, story
from desktop.state.feed_record import OTHER_REASONS
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_age, format_count, format_duration, format_milliseconds, format_time
from desktop.ui.icons import Dot, put_icon, tabular
from desktop.ui.interface_size import enlarged
from desktop.ui.number_grid import NumberGrid
from desktop.ui.panel_base import Panel, mute, set_text
from desktop.ui.plain_text import Label, TextView, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_SIDE_BY_SIDE_FROM = 640
_NUMBERS_IN_TWO = 350
"""Width of the numbers in two pairs a row: in one pair they would have to be scrolled."""
_MARKET_FROM = 430
_ABOVE_EACH_OTHER_FROM = 280
_LEAST_SIZE = QSize(240, 112)
_MARGINS_PX = 20
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
    "Messages rejected": "Messages that failed validation. The list shows the reasons and the newest messages.",
}
"""The tooltip of each number; its value is in `_show_numbers`."""


class FeedPanel(Panel):
    """Numbers on the left, lists on the right; one above the other without room for both.

    `try_again_requested`, and `venue_requested` with the ccxt id of another exchange.
    """

    try_again_requested = Signal()
    venue_requested = Signal(str)

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._record, self._clock = state.feed_record, state.clock
        self._dot = Dot()
        self.state_word, self.market = Label(), Label()
        self.since, self.sentence, self.reasons = (Label(wraps=True) for _ in range(3))
        mute(self.since, self.market, self.reasons)
        self.try_again, self.use_next = QPushButton(translate("Panels", "Try again now")), QPushButton()
        put_icon(self.try_again, "refresh", theme)
        put_icon(self.use_next, "swap-horizontal", theme)
        self.numbers = NumberGrid(MEANINGS, _MOST_IN_A_ROW, is_by_column=True)
        self.changes = changes_model(theme, state.clock.now_ms, self)
        self.rejected = rejected_model(state.clock.now_ms, self)
        self.changes_table = feed_table(self.changes, translate("Panels", "Feed events"))
        self.rejected_table = feed_table(self.rejected, translate("Panels", "Rejected messages"))
        name = translate("Panels", "Selected rejected messages, as received")
        self.raw = TextView(name, translate("Panels", "Select a message to read it as received."))
        self.raw.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.actions_of_panel = ActionRegistry(panel_actions("Feed"), self, theme)
        self.lists = QTabWidget()
        self.lists.setAccessibleName(translate("Panels", "Feed events and rejected messages"))
        self._sides = QSplitter(Qt.Orientation.Horizontal)
        self._inside, self._page = QWidget(), QWidget()
        self._left = DownScrolling(self._inside, translate("Panels", "Feed status and numbers"))
        self._body, self._right = QBoxLayout(QBoxLayout.Direction.LeftToRight), QVBoxLayout()
        self._build_layout()
        self._connect()

    def refresh(self) -> None:
        record, now_ms = self._record, self._clock.now_ms()
        state = None if record.status is None else record.status.state
        self._dot.show_colour(state_colour(state, self.palette_now))
        set_text(self.state_word, state_word(state))
        set_text(self.market, self._market_text())
        set_text(self.sentence, self._sentence(now_ms))
        self._show_buttons()
        self.changes.show(story(record))
        had_none = self.rejected.rowCount() == 0
        self.rejected.show(record.rejected)
        if had_none and self.rejected.rowCount():
            self.rejected_table.selectRow(0)
        self.lists.setTabText(self.lists.indexOf(self._page), _title_of_rejected(record.rejected_count))
        other = {OTHER_REASONS: translate("Panels", "other reasons")}  # the others are core's
        counts = ((other.get(reason, reason), many) for reason, many in record.rejected_by_reason)
        reasons = ", ".join(f"{reason} {format_count(many)}×" for reason, many in counts)
        none, by_reason = translate("Panels", "No rejected messages."), translate("Panels", "By reason: {0}")
        set_text(self.reasons, by_reason.format(reasons) if reasons else none)
        self._show_raw()
        self._show_times(now_ms)

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        set_text(self.sentence, self._sentence(now_ms))
        self._show_times(now_ms)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width(), self.height())

    def _arrange(self, width: int, height: int) -> None:
        """Side by side; one above the other in a narrow dock; in a narrow and low one behind tabs."""
        is_wide = width >= enlarged(_SIDE_BY_SIDE_FROM)
        self._fold(is_folded=not is_wide and height < enlarged(_ABOVE_EACH_OTHER_FROM))
        directions = QBoxLayout.Direction
        self._body.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)
        self._sides.setOrientation(Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical)
        vertical = QSizePolicy.Policy.Expanding if is_wide else QSizePolicy.Policy.Maximum
        self._left.setSizePolicy(QSizePolicy.Policy.Expanding, vertical)
        left = max(width * 2 // 5, min(enlarged(_NUMBERS_IN_TWO), width // 2))
        self._body.setStretchFactor(self._left, left if is_wide else 2)
        self._body.setStretchFactor(self._right, width - left if is_wide else 3)
        self.market.setVisible(width >= enlarged(_MARKET_FROM))  # else the tabs have no room; the sentence names it too

    def _fold(self, *, is_folded: bool) -> None:
        place = self.lists.indexOf(self._left)
        if is_folded and place < 0:
            self.lists.setCurrentIndex(self.lists.insertTab(0, self._left, translate("Panels", "Now")))
        elif not is_folded and place >= 0:
            self.lists.removeTab(place)
            self._body.insertWidget(0, self._left, 2)
            self._left.show()

    def minimumSizeHint(self) -> QSize:
        """One size for both arrangements: a hidden tab must not enlarge the docks that share its place."""
        beside = self._left.minimumSizeHint().width() + self.contentsMargins().left() + _MARGINS_PX
        return QSize(max(_LEAST_SIZE.width(), beside), enlarged(_LEAST_SIZE.height()))

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

    def _show_times(self, now_ms: int) -> None:
        since_ms = self._record.since_ms
        text = ""
        if since_ms is not None:
            held = format_duration(max(0, (now_ms - since_ms) // 1000), has_tenths=False)
            text = translate("Panels", "since {0}, for {1}").format(moment(since_ms, now_ms), held)
        set_text(self.since, text)
        self._show_numbers(now_ms)

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

    def _chosen_messages(self) -> list[str]:
        messages = self.rejected.chosen(self.rejected_table)
        return [f"{format_time(each.at_ms, seconds=True)}, {each.reason}\n{each.raw}" for each in messages]

    def _show_raw(self) -> None:
        self.raw.show_text("\n\n".join(self._chosen_messages()))
        is_rejected = self.lists.currentWidget() is self._page
        chosen = self.rejected_table if is_rejected else self.changes_table
        self.actions_of_panel[ActionId.FEED_COPY].setEnabled(chosen.selectionModel().hasSelection())

    def _copy(self) -> None:
        if self.lists.currentWidget() is self._page:
            text = "\n\n".join(self._chosen_messages())
        else:
            changes = self.changes.chosen(self.changes_table)
            text = "\n".join(f"{format_time(at_ms, seconds=True)}  {sentence}" for at_ms, _state, sentence in changes)
        QGuiApplication.clipboard().setText(text)

    def _connect(self) -> None:
        self._record.changed.connect(self.mark_stale)
        self.try_again.clicked.connect(lambda _checked: self.try_again_requested.emit())
        self.use_next.clicked.connect(self._use_next)
        self.actions_of_panel.wire({ActionId.FEED_COPY: self._copy})
        self.lists.currentChanged.connect(lambda _index: self._show_raw())
        for table in (self.changes_table, self.rejected_table):
            table.selectionModel().selectionChanged.connect(lambda _new, _old: self._show_raw())
            self.actions_of_panel.offer_menu(table)

    def _build_layout(self) -> None:
        self.state_word.setFont(tabular(self.font(), bold=True))
        self.since.setFont(tabular(self.font()))
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        top = beside(None, self._dot, self.state_word, self.since, stretched=self.since, spacing=6)
        head = stacked(None, top, self.sentence, spacing=1)
        stacked(self._inside, head, self.numbers, None, margins=(0, 0, 6, 0), spacing=3)
        self._fill_lists()
        self.try_again.setToolTip(
            translate("Panels", "Reconnect now instead of waiting for the next attempt. Training continues.")
        )
        for button in (self.use_next, self.try_again):
            button.hide()
        self._body.setSpacing(10)
        self._body.addWidget(self._left, 2)
        self._right.setSpacing(3)
        self._right.addLayout(beside(None, self.use_next, self.try_again, None, spacing=6))
        self._right.addWidget(self.lists, 1)
        self._body.addLayout(self._right, 3)
        stacked(self, self._body, margins=(8, 4, 6, 4))

    def _fill_lists(self) -> None:
        self._sides.setChildrenCollapsible(False)
        self._sides.addWidget(self.rejected_table)
        self._sides.addWidget(self.raw)
        stacked(self._page, self.reasons, self._sides, stretched=self._sides, margins=(0, 2, 0, 0), spacing=2)
        copy = QToolButton(autoRaise=True)
        copy.setDefaultAction(self.actions_of_panel[ActionId.FEED_COPY])
        corner = QWidget()
        beside(corner, self.market, copy, margins=NO_MARGINS)
        self.lists.setDocumentMode(True)
        self.lists.addTab(self.changes_table, translate("Panels", "Events"))
        self.lists.addTab(self._page, _title_of_rejected(0))
        self.lists.setCornerWidget(corner)


def _title_of_rejected(count: int) -> str:
    if not count:
        return translate("Panels", "Rejected")
    return translate("Panels", "Rejected ({0})").format(format_count(count))
