"""A run in one object, from its stored data: for `headless`, `metrics`, `evaluate` and the window. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from core.checkpoints.best import proven_gain
from core.domain.events import (
    ForecastMode,
    LossSummary,
    MarketStatus,
    MemberRun,
    OnlineGain,
    TrainerState,
    TrainerStatus,
)
from core.domain.incident_kinds import ENDS_OF_EPISODES
from core.evaluation.findings import estimate_data
from core.forecast.experts import ExpertList
from core.settings.tree import Settings
from core.storage.checkpoints import CheckpointRows
from core.storage.record_reader import RecordReader
from core.storage.runs import Run
from core.training.online.loss_ledger import LossLedger
from core.training.online.score_ledger import ScoreLedger, load_scores
from core.training.online.trainer_spec import own_mode_of

_INCIDENTS = 100
_FOREVER = 2**63 - 1


def summarise(db: Database, run: Run) -> dict[str, Any]:
    """Plain data, fit for JSON. Raises StorageError."""
    reader = RecordReader(db, run.run_id)
    counts = reader.counts()
    losses, skipped = _losses(reader)
    best = CheckpointRows(db).best(run.run_id)
    return {
        "run_id": run.run_id,
        "market": str(run.market),
        "seed": run.seed if run.is_seeded else None,
        "candles": counts.candles,
        "scored": counts.scored,
        "steps": counts.steps,
        "device": run.device,
        "loss": {"current": losses.current, "best": losses.best, "trend": losses.trend.value, "skipped": skipped},
        **_scores(reader, run, counts.scored),
        "checkpoints": {
            "saved": counts.checkpoints_saved,
            "kept": counts.checkpoints_kept,
            "best": best and {"id": best.checkpoint_id, "step": best.step, "adds": proven_gain(best)},
        },
        "incidents": stored_incidents(reader),
        "forecasts_sha256": reader.forecasts_sha256(),
    }


def stored_incidents(reader: RecordReader, others: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The newest ones as plain data, as in `RecordReader.incidents`. Raises StorageError."""
    return [
        {"at_ms": incident.at_ms, "last_at_ms": incident.newest_at_ms, "count": incident.count}
        | {"severity": incident.severity.value, "kind": incident.kind}
        | {"what_happened": incident.what_happened, "what_was_done": incident.what_was_done}
        for incident in reader.incidents(_INCIDENTS, others)
    ]


def stored_status(db: Database, run: Run, settings: Settings) -> TrainerStatus:
    """The status of a run from its stored data, before its trainer has started; without the device and the expert
    shares. Steps and losses are those of its model. settings: the trainer's. Raises StorageError."""
    of_model, market = RecordReader(db, run.head_id), stored_market(db, run, settings)
    last = of_model.steps(1)
    return TrainerStatus(
        run_id=run.head_id,
        state=TrainerState.STOPPED,
        step=last[0].step if last else 0,
        candles=RecordReader(db, run.run_id).counts().candles,
        steps_per_s=None,
        last_step_at_ms=last[0].at_ms if last else None,
        loss=_losses(of_model)[0],
        device="",
        learning_rate=settings.training.learning_rate,
        clip_norm=settings.gradients.clip_norm,
        markets=(market,),
    )


def stored_market(db: Database, run: Run, settings: Settings) -> MarketStatus:
    """The part of `stored_status` about the run's market alone. Raises StorageError."""
    reader = RecordReader(db, run.run_id)
    by_mode, ledger = reader.scored_by_mode(), _score_ledger(reader, run)
    counts = sum(by_mode.values()), sum(count for (mode, _), count in by_mode.items() if mode is ForecastMode.LIVE)
    return MarketStatus(
        member=MemberRun(run.run_id, run.market, run.is_learned),
        position_ms=reader.latest_origin_ms(),
        accuracy=replace(ledger.own_summary(*counts, None), after_gap=by_mode.get((ledger.own_mode, True), 0)),
        accuracy_apart=ledger.other_summary(*counts),
        online=_stored_gain(ledger, reader.counts().candles, settings.online.twin_age),
        shares=None,
    )


def _stored_gain(ledger: ScoreLedger, candles: int, needed: int) -> OnlineGain | None:
    """The gain from online learning. The reference model's age is not stored: before its first score, the run's age
    counts."""
    found = ledger.evidence.online_gain(candles, needed)
    if found.gain.n:
        return replace(found, age=needed + 1) if needed else None
    return found if candles <= needed else None


def _losses(reader: RecordReader) -> tuple[LossSummary, int]:
    """The losses of the steps, and how many steps were skipped."""
    losses = LossLedger()
    done, skipped = reader.step_losses()
    losses.extend(done)
    went_back = [one.newest_at_ms for one in reader.incidents() if one.kind in ENDS_OF_EPISODES]
    if went_back:  # earlier losses are of another line of weights
        losses.restore(losses.best, losses.newest, reader.losses_after(max(went_back)))
    return losses.summary(), skipped


def _score_ledger(reader: RecordReader, run: Run) -> ScoreLedger:
    ledger = ScoreLedger(own_mode_of(run.market), ExpertList(run.challengers))
    load_scores(ledger, reader, ledger.own_mode, _FOREVER)
    return ledger


def _scores(reader: RecordReader, run: Run, scored: int) -> dict[str, Any]:
    ledger = _score_ledger(reader, run)
    summary, online = ledger.own_summary(scored, 0, None), ledger.evidence.online_gain(0, 0)
    return {
        "accuracy": {
            "group": summary.group,
            "window": summary.window,
            "direction": estimate_data(summary.direction),
            "candle": estimate_data(summary.candle_accuracy),
            "candle_reference": summary.reference_candle_accuracy,
            "coverage_50": estimate_data(summary.coverage_50),
            "coverage_90": estimate_data(summary.coverage_90),
        },
        "skill": {
            "close": estimate_data(summary.skill_close),
            "range": estimate_data(summary.skill_range),
            "proven": summary.has_proven_edge,
            "verdict": summary.verdict,
            "model_gain": estimate_data(ledger.evidence.model_gains()[0]),
            "online_gain": estimate_data(online.gain),
            "online_gain_close": estimate_data(online.close),
            "online_gain_range": estimate_data(online.range),
            "twin_age": json.loads(run.settings_json).get("online", {}).get("twin_age", 0),
        },
    }
