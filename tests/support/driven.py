"""A run driven over stored candles to its end, and its database afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.candle import Candle
from core.domain.clock import Clock, SystemClock
from core.domain.events import EventBatch, Incident, TrainerEvent, TrainerFailed, TrainerReady
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.storage.runs import RunStore
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.gpu_probe import ProcessProbe
from core.training.hosting.host import Host, HostDiedError, ThreadHost
from core.training.hosting.inbox import Inbox
from core.training.hosting.process_host import ProcessHost
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import DeathCause
from tests.core.training import rigs
from tests.support import faulty_trainer, thread_child
from tests.support.candles import MARKET
from tests.support.thread_child import ThreadContext

CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Record:
    """All that a run left in the database, in order."""

    digest: str
    origins_ms: tuple[int, ...]
    scored_targets_ms: tuple[int, ...]
    """Of one-step forecasts."""
    reference_losses: tuple[tuple[float | None, float | None], ...]
    """Of the reference model, for close and range, for each of them."""
    steps: tuple[int, ...]
    runs: int


def store_candles(root: Path, candles: Sequence[Candle]) -> None:
    """Make the data folder, and put candles into its database."""
    rigs.spec(root)
    db = open_database(DataFolder(root).database)
    CandleStore(db).save(MARKET, candles)
    db.close()


def record_of(root: Path) -> Record:
    """Of the newest run in the folder."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        runs = RunStore(db).list()
        reader = RecordReader(db, runs[0].run_id)
        return Record(
            reader.forecasts_sha256(),
            tuple(reader.origins()[0].tolist()),
            tuple(score.target_open_time_ms for score in reader.scores()),
            tuple((score.twin_loss, score.range_twin_loss) for score in reader.scores()),
            tuple(sorted(step.step for step in reader.steps())),
            len(runs),
        )
    finally:
        db.close()


def scores_of(root: Path) -> tuple[StoredScore, ...]:
    """The scores of one-step forecasts of the newest run in the folder, in time order."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        return tuple(RecordReader(db, RunStore(db).list()[0].run_id).scores())
    finally:
        db.close()


def stored_incidents(root: Path) -> list[str]:
    """Their kinds, of the newest run in the folder; of an episode as often as it happened."""
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        incidents = RecordReader(db, RunStore(db).list()[0].run_id).incidents()
        return [incident.kind for incident in incidents for _ in range(incident.count)]
    finally:
        db.close()


class Driven:
    """Drives runs in one data folder, and remembers every host that was made, every death and every event.

    kind: "process", "thread", or "piped": a process host whose child is a thread of this process.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings = rigs.SMALL,
        kind: str = "process",
        clock: Clock = CLOCK,
        make_probe: Callable[[str], ProcessProbe] = ProcessProbe,
    ) -> None:
        self.root = root
        self._settings = settings
        self._kind = kind
        self._clock = clock
        self._make_probe = make_probe
        self.inbox = Inbox()
        self.devices: list[str] = []
        self.children = ThreadContext()
        self.process_ids: list[int] = []
        self.deaths: list[DeathCause] = []
        self.events: list[TrainerEvent] = []

    @property
    def incidents(self) -> list[Incident]:
        return [event for event in self.events if isinstance(event, Incident)]

    @property
    def failures(self) -> list[TrainerFailed]:
        return [event for event in self.events if isinstance(event, TrainerFailed)]

    @property
    def readies(self) -> list[TrainerReady]:
        return [event for event in self.events if isinstance(event, TrainerReady)]

    def run(self, on_event: Callable[[TrainerEvent], None] = lambda _: None, is_whole: bool = True) -> None:
        """To the end of the stored candles, or, if not `is_whole`, until the inbox stops."""
        spec = rigs.spec(self.root, self._settings)

        def emit(batch: EventBatch) -> None:
            for event in batch.events:
                self.events.append(event)
                on_event(event)

        db = open_database(DataFolder(self.root).database)
        try:
            if is_whole:
                self.inbox.feed_ended(spec.market)
            driver = TrainingDriver(
                spec, self._make_host, CandleStore(db), self.inbox, emit, self._clock, self._make_probe
            )
            driver.run()
        finally:
            db.close()

    def _make_host(self, spec: SessionSpec) -> Host:
        self.devices.append(spec.settings.training.device)
        kinds = {"process": _WatchedProcess, "piped": _WatchedPipe, "thread": _WatchedThread}
        return kinds[self._kind](spec, self)


class _WatchedPipe(ProcessHost):
    def __init__(self, spec: SessionSpec, driven: Driven, **child: Any) -> None:
        super().__init__(spec, CLOCK, **(child or {"entry": thread_child.serve, "context": driven.children}))
        self._driven = driven

    def receive(self, timeout_s: float) -> EventBatch | None:
        try:
            return super().receive(timeout_s)
        except HostDiedError as death:
            self._driven.deaths.append(death.cause)
            raise


class _WatchedProcess(_WatchedPipe):
    """A real one, with a child that breaks as scheduled."""

    def __init__(self, spec: SessionSpec, driven: Driven) -> None:
        super().__init__(spec, driven, entry=faulty_trainer.entry)

    def start(self) -> None:
        super().start()
        assert self.process_id is not None
        self._driven.process_ids.append(self.process_id)


class _WatchedThread(ThreadHost):
    def __init__(self, spec: SessionSpec, driven: Driven) -> None:
        super().__init__(spec, CLOCK)
        self._driven = driven

    def receive(self, timeout_s: float) -> EventBatch | None:
        try:
            return super().receive(timeout_s)
        except HostDiedError as death:
            self._driven.deaths.append(death.cause)
            raise


def drive_in_thread_host(root: Path) -> None:
    """The main function of a process that trains in its own thread, and breaks as scheduled."""
    faulty_trainer.leave_no_core_file()
    with faulty_trainer.installed(root):
        Driven(root, kind="thread").run()
