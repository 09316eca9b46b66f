"""The process host with a scripted child that is silent, ends or cannot be started."""

from __future__ import annotations

import signal
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from core.domain.clock import ManualClock, SystemClock
from core.domain.events import EventBatch
from core.training.commands import SetPaused
from core.training.hosting.crash_output import FILE_NAME
from core.training.hosting.host import HostDiedError
from core.training.hosting.process_host import ProcessHost
from core.training.hosting.trainer_process import PartDone
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import EXIT_STICKY, DeathCause
from tests.core.training import rigs

HANG_S = rigs.SMALL.recovery.hang_seconds
BATCH = EventBatch(())


@dataclass
class Child:
    """The context that makes it, the process and our end of the pipe at once. A look that finds nothing lasts as long
    as it may."""

    clock: ManualClock
    answers: deque[object] = field(default_factory=deque)
    exitcode: int | None = None
    takes: str = "terminate"
    """The call that ends it: its pipe's `close`, `terminate` or `kill`."""
    log: list[str] = field(default_factory=list)
    pid: None = None

    def Pipe(self) -> tuple[Child, Child]:
        return self, Child(self.clock)

    def Process(self, **_: object) -> Child:
        return self

    def start(self) -> None:
        self.log.append("start")

    def poll(self, timeout_s: float) -> bool:
        if not self.answers and self.exitcode is None:
            self.clock.advance_ms(round(timeout_s * 1000))
        return bool(self.answers) or self.exitcode is not None

    def recv(self) -> object:
        if not self.answers:
            raise EOFError
        return self.answers.popleft()

    def send(self, command: object) -> None:
        if self.exitcode is not None:
            raise BrokenPipeError

    def join(self, timeout_s: float) -> None: ...

    def close(self) -> None:
        self._end("close", 0)

    def terminate(self) -> None:
        self._end("terminate", -signal.SIGTERM)

    def kill(self) -> None:
        self._end("kill", -9)

    def _end(self, how: str, code: int) -> None:
        self.log.append(how)
        if self.exitcode is None and how == self.takes:
            self.exitcode = code


@pytest.fixture
def child() -> Child:
    return Child(ManualClock())


@pytest.fixture
def host(tmp_path: Path, child: Child) -> ProcessHost:
    """One that has given its first answer, and owes one more."""
    context: Any = child
    made = ProcessHost(rigs.spec(tmp_path), child.clock, context=context)
    child.answers.append(BATCH)
    made.start()
    assert made.receive(1.0) is BATCH
    made.send(SetPaused(True))
    return made


def death_of(host: ProcessHost) -> HostDiedError:
    with pytest.raises(HostDiedError) as death:
        for _ in range(1000):
            host.receive(1.0)
    return death.value


def test_a_silent_process_is_ended(host: ProcessHost, child: Child) -> None:
    begins_s = child.clock.monotonic_s()
    death = death_of(host)
    assert child.clock.monotonic_s() - begins_s == pytest.approx(HANG_S, abs=0.01)
    assert (
        death.cause is DeathCause.HUNG and f"did not answer for {HANG_S:.0f} s" in death.sentence and not death.is_final
    )
    assert child.log == ["start", "terminate", "close", "close"], "the pipe stays open until it is gone"


def test_a_process_that_gets_on_with_a_long_answer_is_not_ended(host: ProcessHost, child: Child) -> None:
    for _ in range(10):
        child.answers.append(PartDone())
        assert host.receive(0.9 * HANG_S) is None
    assert death_of(host).cause is DeathCause.HUNG, "nothing more is done"


def test_a_last_moment_answer_counts(host: ProcessHost, child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process itself may have been suspended."""

    def late(timeout_s: float) -> bool:
        if timeout_s > 0.0:
            child.clock.advance_ms(round(1000 * timeout_s))
            child.answers.append(BATCH)
            return False
        return True

    monkeypatch.setattr(child, "poll", late)
    assert host.receive(2.0 * HANG_S) is BATCH
    assert child.log == ["start"]


def test_a_process_that_ignores_termination_is_killed(host: ProcessHost, child: Child) -> None:
    child.takes = "kill"
    assert death_of(host).cause is DeathCause.HUNG
    assert child.log[:3] == ["start", "terminate", "kill"]


def test_a_stalled_parent_does_not_end_a_child_that_has_answered(host: ProcessHost, child: Child) -> None:
    """As a laptop that was suspended: the clock has advanced by hours when the answer is polled."""
    child.answers.append(BATCH)
    child.clock.advance_ms(36_000_000)
    assert host.receive(1.0) is BATCH
    child.clock.advance_ms(36_000_000)
    assert host.receive(1.0) is None, "it owes nothing"


def test_remaining_answers_come_before_the_reason_of_the_end(tmp_path: Path, host: ProcessHost, child: Child) -> None:
    (tmp_path / "logs" / FILE_NAME).write_text("free(): double free")
    child.answers.append(BATCH)
    child.exitcode = -signal.SIGABRT
    host.send(SetPaused(False))  # no error: the answers before the end come first
    assert host.receive(1.0) is BATCH
    death = death_of(host)
    assert death.cause is DeathCause.ABORTED and "double free" in death.details and not death.is_final
    with pytest.raises(HostDiedError, match="not running"):
        host.send(SetPaused(True))


def test_the_last_message_names_the_reason(host: ProcessHost, child: Child) -> None:
    child.answers.append(HostDiedError("The disk is full.", "a stack", True, DeathCause.REFUSED))
    child.exitcode = EXIT_STICKY
    death = death_of(host)
    assert (death.sentence, death.is_final, death.cause) == ("The disk is full.", True, DeathCause.REFUSED)
    assert death.details == "a stack"


def test_a_failed_start_may_be_retried(tmp_path: Path, child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no memory\nfor a process.")

    monkeypatch.setattr(child, "start", fail)
    context: Any = child
    host = ProcessHost(rigs.spec(tmp_path), child.clock, context=context)
    with pytest.raises(HostDiedError, match="could not be started: no memory for a process\\.") as death:
        host.start()
    assert not death.value.is_final and "close" in child.log
    host.close()


def send_mask(spec: SessionSpec, pipe: Connection) -> None:
    pipe.send(EventBatch((signal.pthread_sigmask(signal.SIG_BLOCK, []),)))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="asks for the signals that a process holds back")
def test_a_new_process_cannot_be_interrupted_before_it_ignores_that(tmp_path: Path) -> None:
    """Ctrl+C in the first second of a run ended the trainer: an incident, and no summary."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    host = ProcessHost(rigs.spec(tmp_path), SystemClock(), send_mask)
    host.start()
    try:
        answer = None
        while answer is None:
            answer = host.receive(1.0)
        assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} <= answer.events[0]
    finally:
        host.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
