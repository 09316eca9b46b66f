from __future__ import annotations

import signal

import pytest

from core.training.recovery.exit_reasons import EXIT_GONE, EXIT_STICKY, DeathCause, exit_reason

CAUSES = {
    EXIT_STICKY: DeathCause.STICKY,
    EXIT_GONE: DeathCause.GONE,
    3: DeathCause.EXITED,
    0xC0000005: DeathCause.CRASHED,
    0xC0000374: DeathCause.ABORTED,
    None: DeathCause.HUNG,
    -200: DeathCause.CRASHED,
    -signal.SIGABRT: DeathCause.ABORTED,
    -signal.SIGSEGV: DeathCause.CRASHED,
    -signal.SIGTERM: DeathCause.TERMINATED,
}


@pytest.mark.parametrize(("code", "cause"), CAUSES.items())
def test_an_exit_code_has_a_cause(code: int | None, cause: DeathCause) -> None:
    assert exit_reason(code).cause is cause


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_a_kill_from_outside_is_attributed_to_the_system() -> None:
    ending = exit_reason(-signal.SIGKILL)
    assert ending.cause is DeathCause.KILLED and "out-of-memory" in ending.words
