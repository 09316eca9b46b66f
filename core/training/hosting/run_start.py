"""The first weights of a run that has no checkpoint yet, and newer models that a resumed run ignores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.dates import utc_text
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.market.shown_names import shown_market
from core.settings.tree import ModelSettings
from core.storage.checkpoints import CheckpointRows
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.runs import Run, RunStore
from core.storage.weights import CheckpointError, read_weights
from core.training.hosting.checkpoint_writer import CheckpointWriter
from core.training.hosting.pretrained import PretrainedStore, start_from_newest, take_weights
from core.training.online.session import TrainingSession
from core.training.online.snapshot import require_fit, unpack_learned
from core.training.online.trainer_spec import SessionSpec, StartingPoint
from core.training.recovery.incident_draft import IncidentDraft

if TYPE_CHECKING:
    from sqlite_utils import Database


def start_run(
    session: TrainingSession, writer: CheckpointWriter, spec: SessionSpec, db: Database
) -> Sequence[IncidentDraft]:
    """Load the named checkpoint; else, for several markets, the model that one had alone, and for one market the model
    that had it with others; else the newest pretrained model that fits; else the model stays new. Returns the incidents
    to report. Raises StorageError."""
    if spec.start is not None:
        start_from_checkpoint(session, spec.start, spec.settings.model)
        return ()
    incidents = list(_take_over(session, writer, spec, db))
    if session.checkpoint_id is None and spec.settings.training.start_from == "newest":
        store = PretrainedStore(DataFolder(spec.root))
        taken, further = start_from_newest(session.engine, store, spec.settings.model, spec.market.interval)
        if taken is not None:
            session.note_new_weights(taken.checkpoint_id, taken.seen_until_ms)
        incidents += further
    return incidents


def note_newer(spec: SessionSpec, db: Database, resumed: CheckpointInfo) -> Sequence[IncidentDraft]:
    """An incident if a market continues alone, and a model that has it with others was saved later. Raises
    StorageError."""
    if spec.others or not _may_take_over(spec):
        return ()
    elsewhere = {run.run_id for run, _ in _saved_elsewhere(spec, db)}
    newest_first = CheckpointRows(db).list(resumed.run_id, *elsewhere)
    newer = takewhile(lambda info: info.checkpoint_id != resumed.checkpoint_id, newest_first)
    good_first = sorted((info for info in newer if info.run_id in elsewhere), key=lambda info: not info.is_known_good)
    return [_continued_alone(spec.market, resumed, good_first[0])] if good_first else ()


def _may_take_over(spec: SessionSpec) -> bool:
    """Whether the run may take over another's model. With a seed a run repeats, whatever was learned before."""
    return not spec.new_run and spec.settings.training.seed is None


def _take_over(
    session: TrainingSession, writer: CheckpointWriter, spec: SessionSpec, db: Database
) -> Sequence[IncidentDraft]:
    """Take over the newest weights that the markets learned alone, or that the market learned with others."""
    if not _may_take_over(spec):
        return ()
    incidents: list[IncidentDraft] = []
    for run, info in _saved_elsewhere(spec, db):
        try:
            tensors, metadata, learned_until_ms = writer.load(info.checkpoint_id)
            take_weights(session.engine, tensors, metadata)
        except CheckpointError as error:
            incidents.append(_refused(str(error)))
            continue
        session.note_new_weights(info.checkpoint_id, learned_until_ms)
        return (*incidents, _taken_over(spec, run, info, learned_until_ms))
    return incidents


def _saved_elsewhere(spec: SessionSpec, db: Database) -> list[tuple[Run, CheckpointInfo]]:
    """The checkpoints of each market's newest run alone, or of the newest model that has the market with others; the
    last saved first. Those saved while steps were being skipped come after all known good ones."""
    runs, rows = RunStore(db), CheckpointRows(db)
    fingerprint = replace(spec, others=() if spec.others else (spec.market,)).fingerprint  # any other makes it several
    heads = {run.run_id: run for market in spec.markets if (run := runs.find(market, fingerprint)) is not None}
    saved = sorted(rows.list(*heads), key=lambda info: not info.is_known_good)
    return [(heads[info.run_id], info) for info in saved]


def _taken_over(spec: SessionSpec, run: Run, info: CheckpointInfo, learned_until_ms: int) -> IncidentDraft:
    until = utc_text(learned_until_ms, "%Y-%m-%d %H:%M")
    former = (
        f"This run of several markets starts from the model that {shown_market(run.market)} had alone"
        if spec.others
        else f"This run starts from the model that {shown_market(spec.market)} had with other markets"
    )
    dropped = "" if spec.others else " What it read of the other markets is left out."
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.MODEL_TAKEN_OVER,
        f"{former}, with the weights of step {info.step:,}.",
        f"Optimizer, calibration, expert weights and scores start new, and its steps count from 0.{dropped} Forecasts "
        f"of candles before {until} UTC, which it may have seen, are scored separately.",
        "Nothing. The former run stays as it is; --new-run starts with a new model instead.",
    )


def _continued_alone(market: Market, resumed: CheckpointInfo, together: CheckpointInfo) -> IncidentDraft:
    saved = utc_text(together.created_at_ms, "%Y-%m-%d %H:%M")
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.CONTINUED_ALONE,
        f"{shown_market(market)} continues with the model that it had alone, of step {resumed.step:,}. The model that "
        f"it has had with other markets since, last saved at {saved} UTC with step {together.step:,}, is not in it.",
        "Training continues alone.",
        "Nothing, or switch the other markets on again in Markets: their model then continues.",
    )


def _refused(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING,
        IncidentKind.CHECKPOINT_REFUSED,
        sentence,
        "It was skipped.",
        "What it learned is not in the new run's model.",
    )


def start_from_checkpoint(session: TrainingSession, start: StartingPoint, model: ModelSettings) -> None:
    """Load the checkpoint's weights, optimizer, expert weights and calibration into a new session, but not its past.
    Raises StorageError with the reason, since another try would fail in the same way.
    """
    try:
        tensors, metadata = read_weights(start.file, start.sha256)
        require_fit(metadata, model, start.file.name)
        unpack_learned(session, tensors, metadata)
    except CheckpointError as error:
        raise StorageError(str(error)) from error
    session.note_new_weights(start.checkpoint_id, start.learned_until_ms)
