"""How a trainer can end by itself, and what its exit code says of it."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

EXIT_ERROR = 1
EXIT_STICKY = 76
EXIT_GONE = 77


class DeathCause(StrEnum):
    """Why a trainer ended. What follows depends on it: the same device again, another one, or nothing."""

    ERROR = "an error that nothing could answer"
    REFUSED = "something that must be mended first"
    FULL_DISK = "there is no room for what it has to write"
    NO_DEVICE = "the device that was asked for cannot be used"
    STICKY = "a device error that spoils the process"
    GONE = "the device is gone"
    ABORTED = "aborted"
    CRASHED = "crashed"
    KILLED = "killed"
    TERMINATED = "told to end"
    EXITED = "ended without a word"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class Ending:
    """A cause, and the words that complete the sentence ``The trainer process ended: ...``."""

    cause: DeathCause
    words: str


_MEMORY_CORRUPT = "its memory was corrupt"
_BY_SIGNAL = {
    "SIGABRT": Ending(DeathCause.ABORTED, f"it aborted (signal SIGABRT), most likely because {_MEMORY_CORRUPT}"),
    "SIGSEGV": Ending(DeathCause.CRASHED, "it touched memory that it does not have (signal SIGSEGV)"),
    "SIGBUS": Ending(DeathCause.CRASHED, "it touched memory that does not answer (signal SIGBUS)"),
    "SIGILL": Ending(DeathCause.CRASHED, "it came upon an instruction that this processor lacks (signal SIGILL)"),
    "SIGFPE": Ending(DeathCause.CRASHED, "a calculation failed in the processor (signal SIGFPE)"),
    "SIGKILL": Ending(
        DeathCause.KILLED, "it was killed (signal SIGKILL), most likely by the system's out-of-memory killer"
    ),
    "SIGTERM": Ending(DeathCause.TERMINATED, "another program told it to end (signal SIGTERM)"),
}
_BY_CODE = {
    EXIT_STICKY: Ending(DeathCause.STICKY, "the GPU reported an error after which the process cannot use it any more"),
    EXIT_GONE: Ending(DeathCause.GONE, "the GPU does not answer any more"),
    # NTSTATUS values, which Windows gives as exit codes
    0xC0000005: Ending(DeathCause.CRASHED, "it touched memory that it does not have (0xC0000005)"),
    0xC00000FD: Ending(DeathCause.CRASHED, "its stack overflowed (0xC00000FD)"),
    0xC0000374: Ending(DeathCause.ABORTED, f"{_MEMORY_CORRUPT} (0xC0000374)"),
    0xC0000409: Ending(DeathCause.ABORTED, f"it aborted, most likely because {_MEMORY_CORRUPT} (0xC0000409)"),
}


def ending_of(exit_code: int | None) -> Ending:
    """What an exit code tells, as `multiprocessing` gives it: negative for a signal, None where it still ran."""
    if exit_code is None:
        return Ending(DeathCause.HUNG, "it no longer answered")
    if exit_code >= 0:
        return _BY_CODE.get(exit_code, Ending(DeathCause.EXITED, f"exit code {exit_code}"))
    name = _signal_name(-exit_code)
    return _BY_SIGNAL.get(name, Ending(DeathCause.CRASHED, f"signal {name}"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
