"""The client in a history command: it stores in turns that the window grants, and reports what has changed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtNetwork import QLocalSocket

from core.domain.candle import Market
from core.domain.clock import SystemClock
from core.storage.errors import StorageError
from desktop.services.private_socket import address, is_own_peer
from desktop.services.remote_protocol import GREETING, WireError, market_fields, next_message, packed

_LOOK_MS = 100
_PATIENCE_S = 60.0
_STARTING_PAUSE_S = 0.5


class OpenWindow:
    """The window, from the beginning of a command to its end.

    Raises StorageError where the window cancels, ends, or does not answer.
    """

    def __init__(self, data_folder: Path, title: str, *, is_shown: bool = True) -> None:
        """is_shown: False if the window gets the progress in another way."""
        self._qt = QCoreApplication.instance() or QCoreApplication([])  # a socket wants one, though none runs
        self._folder, self._title, self._is_shown = data_folder, title, is_shown
        self._clock = SystemClock()
        self._socket = QLocalSocket()

    def __enter__(self) -> OpenWindow:
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

    def in_turn(self, market: Market, store: Callable[[], int]) -> int:
        """A `core.market.history.importing.InTurn`: waits until the window lets this command store.

        Ctrl+Z is ignored meanwhile: a process that is stopped would keep the database locked. Ctrl+C waits, for up to
        ten seconds where another program has locked it.
        """
        self._ask({"op": "store", **market_fields(market)})
        with _not_stopped():
            changed = store()
        self._send({"op": "stored", "changed": changed})
        return changed

    def show(self, done: int, total: int) -> None:
        """How far the command is, for the window's progress bar. Nothing is answered."""
        self._send({"op": "progress", "done": done, "total": total})

    @property
    def _is_connected(self) -> bool:
        return self._socket.state() == QLocalSocket.LocalSocketState.ConnectedState

    def _send(self, message: dict[str, Any]) -> None:
        if self._is_connected:  # Qt warns of a write that goes nowhere; the wait for the next answer notices it
            self._socket.write(packed(message))
            self._socket.flush()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send, and wait for the answer in short turns, so that Ctrl+C is handled."""
        self._send(message)
        deadline_s = self._clock.monotonic_s() + _PATIENCE_S
        while (answer := self._next()) is None:
            if not self._is_connected:
                raise StorageError(
                    "The window was closed meanwhile. Stored candles are kept; the same command continues from there."
                )
            if self._clock.monotonic_s() > deadline_s:
                raise StorageError(
                    f"The window has not answered for {_PATIENCE_S:g} s. What has been stored stays; "
                    "close it, then run the same command again."
                )
            self._socket.waitForReadyRead(_LOOK_MS)
        if "error" in answer:
            raise StorageError(str(answer["error"]))
        return answer

    def _next(self) -> dict[str, Any] | None:
        try:
            return next_message(self._socket)
        except WireError as error:
            raise StorageError(f"The window answered with {error}; is it another version of Ghostcandle?") from error


@contextmanager
def _not_stopped() -> Iterator[None]:
    is_main = threading.current_thread() is threading.main_thread()  # Python sets handlers in no other
    if not is_main or not hasattr(signal, "SIGTSTP"):
        yield
        return
    before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)
