"""The feed in numbers."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.state.feed_record import FeedRecord
from desktop.ui.formatting import format_age, format_count, format_milliseconds
from desktop.ui.number_grid import NumberGrid
from desktop.ui.translation import translate

_MOST_IN_A_ROW = 2
"""What lasts on the left, what is counted on the right."""
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
"""The tooltip of each number; its value is in `show_record`."""


class FeedNumbers(NumberGrid):
    """Reads a FeedRecord. What is not known is a dash."""

    def __init__(self, parent: QWidget | None = None) -> None:
        meanings = {name: translate("Panels", meaning) for name, meaning in MEANINGS.items()}
        super().__init__(meanings, _MOST_IN_A_ROW, is_by_column=True, parent=parent)

    def show_record(self, record: FeedRecord, now_ms: int) -> None:
        vitals = record.vitals
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
            self.put(name, text)
