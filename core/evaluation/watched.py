"""The figures of a run that the window shows, as plain data for the pages: over all of the run's own candles, with
intervals that hold however often one looks. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.evaluation.assess import assess, skill_at, with_run_figures
from core.evaluation.findings import HorizonAccuracy, HorizonSkill, Request, RunAccuracy, estimate_data
from core.evaluation.judged_scores import ALSO_DRAWN, Origins, ScoreColumns, judged
from core.training.online.evidence import RunEvidence


def watched(columns: Mapping[int, ScoreColumns], origins: Origins, evidence: RunEvidence) -> dict[str, Any]:
    """Plain data, fit for JSON. columns: by horizon. The figures of the run come from its evidence, as in the window
    (`core.evaluation.running`)."""
    found = RunAccuracy(
        run_id="",
        left_out=0,
        most=0,
        is_whole=True,
        groups=(),
        horizons=tuple(skill_at(judged(those), horizon) for horizon, those in sorted(columns.items())),
        chosen=assess(judged(columns[1]), origins, Request()),
    )
    found = with_run_figures(found, evidence)
    return {**_one_ahead(found.chosen), "horizons": {str(row.horizon): _ahead(row) for row in found.horizons}}


def _one_ahead(of: HorizonAccuracy) -> dict[str, Any]:
    drawn = {each.quantity: each.skill for each in of.also_drawn}
    return {
        "close": {"skill": estimate_data(of.close.skill), "model_gain": estimate_data(of.close.model_gain)},
        "range": {"skill": estimate_data(of.range.skill), "model_gain": estimate_data(of.range.model_gain)},
        **{name: {"skill": estimate_data(drawn[quantity])} for name, quantity in ALSO_DRAWN.items()},
        "direction": estimate_data(of.direction),
        "reverse_last": estimate_data(of.reverse_last),
        "majority": estimate_data(of.majority),
        "coverage_90": estimate_data(of.coverage_90),
        "worst_500": of.worst_500,
        "best_500": of.best_500,
    }


def _ahead(row: HorizonSkill) -> dict[str, Any]:
    return {
        "close": {"skill": estimate_data(row.close), "model_gain": estimate_data(row.model_gain_close)},
        "range": {"skill": estimate_data(row.range), "model_gain": estimate_data(row.model_gain_range)},
    }
