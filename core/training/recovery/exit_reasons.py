"""The reasons for a trainer process's exit, and their exit codes."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

EXIT_ERROR = 1
EXIT_STICKY = 76
EXIT_GONE = 77


class DeathCause(StrEnum):
    """The cause of a trainer's end. It decides the reaction: the same device again, another one, or no restart."""

    ERROR = "an unrecoverable error"
    REFUSED = "a cause that must be fixed first"
    NO_DEVICE = "the requested device cannot be used"
    OUT_OF_MEMORY = "out of memory"
    STICKY = "a device error that the process cannot recover from"
    GONE = "the device is gone"
    ABORTED = "aborted"
    CRASHED = "crashed"
    KILLED = "killed"
    TERMINATED = "terminated"
    EXITED = "exited silently"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class ExitReason:
    """A cause, and the words that complete the sentence ``The trainer process ended: ...``."""

    cause: DeathCause
    words: str


_MEMORY_CORRUPT = "its memory was corrupt"
_BY_SIGNAL = {
    "SIGABRT": ExitReason(DeathCause.ABORTED, f"it aborted (signal SIGABRT), most likely because {_MEMORY_CORRUPT}"),
    "SIGSEGV": ExitReason(DeathCause.CRASHED, "it accessed memory that is not its own (signal SIGSEGV)"),
    "SIGBUS": ExitReason(DeathCause.CRASHED, "it accessed memory that does not respond (signal SIGBUS)"),
    "SIGILL": ExitReason(DeathCause.CRASHED, "it met an instruction that this processor lacks (signal SIGILL)"),
    "SIGFPE": ExitReason(DeathCause.CRASHED, "a calculation failed in the processor (signal SIGFPE)"),
    "SIGKILL": ExitReason(
        DeathCause.KILLED, "it was killed (signal SIGKILL), most likely by the system's out-of-memory killer"
    ),
    "SIGTERM": ExitReason(DeathCause.TERMINATED, "another program terminated it (signal SIGTERM)"),
}
_BY_CODE = {
    EXIT_STICKY: ExitReason(DeathCause.STICKY, "after a GPU error the process cannot use it any more"),
    EXIT_GONE: ExitReason(DeathCause.GONE, "the GPU no longer responds"),
    # NTSTATUS values, which Windows gives as exit codes
    0xC0000005: ExitReason(DeathCause.CRASHED, "it accessed memory that is not its own (0xC0000005)"),
    0xC00000FD: ExitReason(DeathCause.CRASHED, "its stack overflowed (0xC00000FD)"),
    0xC0000374: ExitReason(DeathCause.ABORTED, f"{_MEMORY_CORRUPT} (0xC0000374)"),
    0xC0000409: ExitReason(DeathCause.ABORTED, f"it aborted, most likely because {_MEMORY_CORRUPT} (0xC0000409)"),
}


def exit_reason(exit_code: int | None) -> ExitReason:
    """The meaning of an exit code of `multiprocessing`: negative for a signal, None if it was still running."""
    if exit_code is None:
        return ExitReason(DeathCause.HUNG, "it stopped answering")
    if exit_code >= 0:
        return _BY_CODE.get(exit_code, ExitReason(DeathCause.EXITED, f"exit code {exit_code}"))
    name = _signal_name(-exit_code)
    return _BY_SIGNAL.get(name, ExitReason(DeathCause.CRASHED, f"signal {name}"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
