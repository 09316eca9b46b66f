"""The errors of candle history. Every message is a sentence for the user."""

from __future__ import annotations


class CandleFileError(Exception):
    """A candle file cannot be used. The message is a sentence for the user."""


class ReadingCancelledError(CandleFileError):
    """The user has cancelled the reading."""


class HistoryError(Exception):
    """History cannot be imported, exported or fetched as requested. The message is a sentence for the user."""


class UnnamedMarketError(HistoryError):
    """The market of a file is unknown. The message asks for it."""
