"""What goes wrong with history. Every message is a sentence for the user."""

from __future__ import annotations


class CandleFileError(Exception):
    """A candle file cannot be used. The message is a sentence for the user."""


class ReadingCancelledError(CandleFileError):
    """The user wants the file no more."""


class HistoryError(Exception):
    """History cannot be imported, exported or fetched as asked. The message is a sentence for the user."""


class UnnamedMarketError(HistoryError):
    """Nothing tells which market a file is of. The message asks for it."""
