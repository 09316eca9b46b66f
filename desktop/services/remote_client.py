"""A history command's side of the talk with the window that owns the data folder: the window stores what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtNetwork import QLocalSocket

from core.domain.candle import Market
from core.domain.clock import SystemClock
from core.domain.spans import TimeSpan
from core.market.history.importing import OnRows
from core.storage.candles import StoredColumns
from core.storage.errors import StorageError
from desktop.services.private_socket import address, is_own_peer
from desktop.services.remote_protocol import (
    GREETING,
    ROWS_AT_ONCE,
    Unpacker,
    WireError,
    columns_bytes,
    market_fields,
    packed,
)

_LOOK_MS = 100
_PATIENCE_S = 60.0
_STARTING_PAUSE_S = 0.5


class WindowWriter:
    """A `core.market.history.importing.HistoryWriter`: rows go over in parts, each durable before the next is sent.

    Raises StorageError where the window cannot store, ends, or does not answer.
    """

    def __init__(self, data_folder: Path, title: str, *, is_shown: bool = True) -> None:
        """is_shown: False if the window gets the progress in another way."""
        self._qt = QCoreApplication.instance() or QCoreApplication([])  # a socket wants one, though none runs
        self._folder, self._title, self._is_shown = data_folder, title, is_shown
        self._clock = SystemClock()
        self._socket = QLocalSocket()
        self._unpacker = Unpacker()

    def __enter__(self) -> WindowWriter:
        try:
            self._socket.connectToServer(address(self._folder))
        except OSError as error:
            raise StorageError(
                f"The window that has this data folder open cannot be asked ({error}). Close it, then run the same "
                "command again."
            ) from error
        if not self._socket.waitForConnected(int(1000 * _PATIENCE_S)):
            raise StorageError(
                "A window has this data folder open but does not answer. Close it, then run the same command again."
            )
        if not is_own_peer(self._socket):
            self._socket.abort()
            raise StorageError(
                "A program of another user answers for this data folder, so nothing was sent to it. Run the command as "
                "the user who has the window open."
            )
        self._socket.write(GREETING)
        deadline_s = self._clock.monotonic_s() + _PATIENCE_S
        while "later" in (answer := self._ask({"op": "begin", "title": self._title, "is_shown": self._is_shown})):
            if self._clock.monotonic_s() > deadline_s:
                raise StorageError(str(answer["later"]))
            self._clock.sleep_s(_STARTING_PAUSE_S)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._is_connected and error is None:
            self._send({"op": "end"})
            self._socket.waitForBytesWritten(1_000)
        self._socket.abort()

    def put(
        self, market: Market, columns: StoredColumns, *, replaces: bool, on_progress: OnRows = lambda rows: None
    ) -> int:
        changed = 0
        for first in range(0, len(columns), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            rows = StoredColumns(columns.open_time_ms[part], columns.values[:, part])
            message = {"op": "candles", **market_fields(market), "replaces": replaces}
            changed += int(self._ask(message, columns_bytes(rows))["changed"])
            on_progress(first + len(rows))
        return changed

    def put_holes(self, market: Market, holes: list[TimeSpan], asked_at_ms: int) -> None:
        for first in range(0, len(holes), ROWS_AT_ONCE):
            spans = [[hole.first_ms, hole.stop_ms] for hole in holes[first : first + ROWS_AT_ONCE]]
            self._ask({"op": "holes", **market_fields(market), "spans": spans, "asked_at_ms": asked_at_ms})

    def show(self, done: int, total: int) -> None:
        """How far the command is, for the window's progress bar. Nothing is answered."""
        self._send({"op": "progress", "done": done, "total": total})

    @property
    def _is_connected(self) -> bool:
        return self._socket.state() == QLocalSocket.LocalSocketState.ConnectedState

    def _send(self, message: dict[str, Any], payload: bytes = b"") -> None:
        if self._is_connected:  # Qt warns of a write that goes nowhere; the wait for the answer notices it
            self._socket.write(packed(message, payload))

    def _ask(self, message: dict[str, Any], payload: bytes = b"") -> dict[str, Any]:
        """Send, and wait for the answer in short turns, so that Ctrl+C is handled."""
        self._send(message, payload)
        deadline_s = self._clock.monotonic_s() + _PATIENCE_S
        while (answer := self._next()) is None:
            self._socket.waitForReadyRead(_LOOK_MS)
            self._unpacker.feed(bytes(self._socket.readAll().data()))
            if not self._is_connected and not self._socket.bytesAvailable():
                answer = self._next()
                if answer is not None:
                    break
                raise StorageError(
                    "The window was closed meanwhile. Stored candles are kept; the same command continues from there."
                )
            if self._clock.monotonic_s() > deadline_s:
                raise StorageError(
                    f"The window has not answered for {_PATIENCE_S:g} s. What has been stored stays; "
                    "close it, then run the same command again."
                )
        if "error" in answer:
            raise StorageError(str(answer["error"]))
        return answer

    def _next(self) -> dict[str, Any] | None:
        try:
            found = self._unpacker.next()
        except WireError as error:
            raise StorageError(f"The window answered with {error}; is it another version of Ghostcandle?") from error
        return None if found is None else found[0]
