"""A trainer's child process that is a thread of this one: for all of a process host but the process itself.

ProcessHost(spec, clock, entry=serve, context=ThreadContext())
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn
from unittest import mock

from core.training.hosting import service, trainer_process
from core.training.online.trainer_spec import SessionSpec


class _Exit(BaseException):
    def __init__(self, code: int) -> None:
        self.code = code


def serve(spec: SessionSpec, pipe: Any) -> None:
    """The child's main function, without what only a process can do to itself.

    A process that ends in an error leaves its database to the system; here it is closed.
    """
    opened: list[service.TrainingService] = []
    make = service.TrainingService

    def open_service(*arguments: Any) -> service.TrainingService:
        opened.append(make(*arguments))
        return opened[-1]

    def exit_now(code: int) -> NoReturn:
        raise _Exit(code)

    try:
        with mock.patch.object(service, "TrainingService", open_service):
            trainer_process.serve(spec, pipe, exit_now=exit_now)
    finally:
        for each in opened:
            each.close()


class _Direction:
    """Messages from one end of a pipe to the other."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.messages: deque[bytes] = deque()
        self.is_closed = False

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()


class End:
    """One end of a pipe in memory. As through a real one, messages are copies."""

    def __init__(self, incoming: _Direction, outgoing: _Direction) -> None:
        self._in, self._out = incoming, outgoing

    def send(self, message: object) -> None:
        with self._out.changed:
            if self._out.is_closed or self._in.is_closed:
                raise BrokenPipeError
            self._out.messages.append(pickle.dumps(message))
            self._out.changed.notify_all()

    def poll(self, timeout: float | None = 0.0) -> bool:
        with self._in.changed:
            return self._in.changed.wait_for(lambda: bool(self._in.messages) or self._in.is_closed, timeout)

    def recv(self) -> Any:
        self.poll(None)
        if not self._in.messages:
            raise EOFError
        return pickle.loads(self._in.messages.popleft())

    def close(self) -> None:
        self._in.close()
        self._out.close()


class _CopyForParent:
    """The child's end as its parent holds it: closing that leaves the child's own open."""

    def __init__(self, end: End) -> None:
        self.end = end

    def close(self) -> None: ...


class ThreadProcess:
    """A thread with the interface of a process."""

    pid = None

    def __init__(self, target: Callable[[SessionSpec, Any], None], args: tuple[SessionSpec, _CopyForParent]) -> None:
        self._target, self._spec, self._pipe = target, args[0], args[1].end
        self._thread = threading.Thread(target=self._run, name="trainer's child")
        self._signal: int | None = None
        self._code: int | None = None

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    @property
    def exitcode(self) -> int | None:
        return None if self._thread.is_alive() else self._code

    def terminate(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Nothing that it does from now on gets out, and its next look at the pipe ends it."""
        self._end(getattr(signal, "SIGKILL", 9))

    def close(self) -> None: ...

    def _end(self, number: int) -> None:
        self._signal = number
        self._pipe.close()

    def _run(self) -> None:
        code = 0
        try:
            self._target(self._spec, self._pipe)
        except _Exit as end:
            code = end.code
        except SystemExit as end:
            code = int(end.code or 0)
        self._code = code if self._signal is None else -self._signal
        self._pipe.close()


class ThreadContext:
    """Instead of `multiprocessing.get_context("spawn")`. Remembers the processes that it made."""

    def __init__(self) -> None:
        self.processes: list[ThreadProcess] = []

    def Pipe(self) -> tuple[End, _CopyForParent]:
        down, up = _Direction(), _Direction()
        return End(up, down), _CopyForParent(End(down, up))

    def Process(self, *, target: Any, args: Any, **_: object) -> ThreadProcess:
        self.processes.append(ThreadProcess(target, args))
        return self.processes[-1]
