"""The session in a spawned child process, seen from the parent.

A corrupt heap or a dead CUDA context ends a process and cannot be caught; in a child it ends only the child.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.util import Finalize

from core.domain.clock import Clock
from core.domain.events import EventBatch
from core.training.commands import TrainerCommand
from core.training.hosting.crash_output import FILE_NAME, StderrTail
from core.training.hosting.host import Host, HostDiedError, ThreadHost
from core.training.hosting.trainer_process import PartDone, run_trainer, signals_held
from core.training.hosting.watchdog import Watchdog
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import DeathCause, exit_reason

_GRACE_S = 5.0
_LONGEST_REASON = 200

Entry = Callable[[SessionSpec, Connection], None]
SPAWN = multiprocessing.get_context("spawn")


class ProcessHost:
    """Starts, feeds and ends the child. Used from one thread only.

    entry: the child's main function; a new interpreter must find it by name. context: makes the child and the pipe
    to it.
    """

    def __init__(
        self, spec: SessionSpec, clock: Clock, entry: Entry = run_trainer, context: SpawnContext = SPAWN
    ) -> None:
        self._spec = spec
        self._clock = clock
        self._entry = entry
        self._context = context
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._stderr_tail = StderrTail(spec.root / "logs" / FILE_NAME)
        self._watchdog = Watchdog(clock, spec.settings.recovery.hang_seconds)

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=self._entry, args=(self._spec, theirs), name="ghostcandle-trainer", daemon=True
        )
        self._stderr_tail.mark()
        try:
            with signals_held():  # a child that begins without them can ignore them in time
                process.start()
        except (OSError, RuntimeError) as error:
            ours.close()
            reason = " ".join(str(error).split())[:_LONGEST_REASON].rstrip(".")  # Python's message may be half a page
            raise HostDiedError(f"The trainer process could not be started: {reason}.") from error
        finally:
            theirs.close()
        self._process, self._pipe = process, ours
        # An interpreter that exits waits for its children, and this one ignores SIGTERM: the closed pipe ends it.
        self._pipe_closer = Finalize(None, ours.close, exitpriority=0)
        self._watchdog.request_sent()

    def send(self, command: TrainerCommand) -> None:
        pipe = self._open_pipe()
        with contextlib.suppress(OSError):  # it has ended; `receive` returns its last answers, then the reason
            pipe.send(command)
        self._watchdog.request_sent()

    def receive(self, timeout_s: float) -> EventBatch | None:
        pipe = self._open_pipe()
        try:
            message = self._look(pipe, timeout_s)
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(message, HostDiedError):
            self.close()
            message.details = self._with_stderr_tail(message.details)
            raise message
        assert message is None or isinstance(message, EventBatch)
        return message

    def close(self) -> None:
        self._close_pipe()
        self._end_process(_GRACE_S)

    def _look(self, pipe: Connection, timeout_s: float) -> object | None:
        """The next message, or None. Raises HostDiedError if the child has been silent for too long."""
        begun_s, wait_s = self._clock.monotonic_s(), min(timeout_s, self._watchdog.left_s)
        has_message = pipe.poll(wait_s)
        self._watchdog.polled(wait_s)
        if not has_message and self._watchdog.is_overdue:
            has_message = pipe.poll(0.0)  # it may have answered while this process itself was suspended
            if not has_message:
                raise self._hung()
        if not has_message:
            return None
        message: object = pipe.recv()
        if isinstance(message, PartDone):
            self._watchdog.part_done()
            return self._look(pipe, max(0.0, begun_s + timeout_s - self._clock.monotonic_s()))
        self._watchdog.answered(is_whole=not isinstance(message, EventBatch) or message.is_whole)
        return message

    def _open_pipe(self) -> Connection:
        if self._pipe is None:
            raise HostDiedError("The trainer is not running.")
        return self._pipe

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._pipe_closer()
            self._pipe = None

    def _died(self) -> HostDiedError:
        """Describe the end of the child by its exit code."""
        process = self._process
        if process is not None:
            process.join(_GRACE_S)
        reason = exit_reason(None if process is None else process.exitcode)
        self._close_pipe()
        self._end_process(0.0)
        sentence = f"The trainer process ended: {reason.words}."
        return HostDiedError(sentence, self._with_stderr_tail(), cause=reason.cause)

    def _hung(self) -> HostDiedError:
        silence_s = self._watchdog.silence_s
        self._end_process(0.0)  # the pipe stays open until then: the child would notice it only between two steps
        self._close_pipe()
        sentence = f"The trainer process did not answer for {silence_s:.0f} s and was ended."
        return HostDiedError(sentence, self._with_stderr_tail(), cause=DeathCause.HUNG)

    def _with_stderr_tail(self, details: str = "") -> str:
        words = self._stderr_tail.read()
        return "\n".join(part for part in (details, words and f"Last lines of {FILE_NAME}:\n{words}") if part)

    def _end_process(self, patience_s: float) -> None:
        """Wait; then terminate it, and finally kill it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.join(patience_s)
        if process.exitcode is None:
            process.terminate()
            if (
                hasattr(signal, "SIGCONT") and process.pid is not None
            ):  # a stopped one handles SIGTERM once it continues
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)
            process.join(_GRACE_S)
        if process.exitcode is None:
            process.kill()
            process.join(_GRACE_S)
        if process.exitcode is not None:  # else a driver holds it in the kernel, beyond signals
            process.close()


def host_maker(spec: SessionSpec, clock: Clock) -> Callable[[SessionSpec], Host]:
    """The factory for the host in `settings.training.host` of `spec`; called again after a host died.

    It takes the spec of the next host, whose device may differ by then.
    """
    if spec.settings.training.host == "thread":
        return lambda wanted: ThreadHost(wanted, clock)
    return lambda wanted: ProcessHost(wanted, clock)
