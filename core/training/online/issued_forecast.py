"""An issued forecast: its ghosts, and its score."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.events import ExpertForecasts, ForecastMade, ForecastScored, Ghost, StepDone
from core.domain.quantities import BAND_50, BAND_90, MEDIAN, FloatArray, Quantity
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, STORED, Quantiles, pack_losses
from core.forecast.ghosts import ghosts, overlap
from core.forecast.score import pinball
from core.storage.packing import as_stored
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast, StoredScore
from core.training.online.forecast_events import drawn_experts, packed_quantiles

_log = logging.getLogger("ghostcandle.training")

_SHOWN_OF_FORECAST = (
    *("origin_open_time_ms", "inputs_until_ms", "made_at_ms", "mode", "step"),
    *("checkpoint_id", "origin_close", "ghosts", "conditions"),
)
_SHOWN_OF_SCORE = (
    *("origin_open_time_ms", "target_open_time_ms", "horizon", "mode", "after_gap", "version"),
    *("loss", "model_loss", "reference_loss", "inside_50", "inside_90", "direction_hit"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IssuedForecast(StoredForecast):
    """A forecast as it is stored, and what it is drawn and scored with."""

    interval: Interval
    conditions: RegimeProbabilities | None = None
    ghosts: tuple[Ghost, ...] = field(init=False)
    """Drawn from the quantiles."""
    reference_ghosts: tuple[Ghost, ...] = field(init=False)
    """Empty without the exact arrays."""

    def __post_init__(self) -> None:
        reference = self.quantiles.experts[REFERENCE] if len(self.quantiles.experts) else None
        for name, natural in (("ghosts", self.quantiles.shown), ("reference_ghosts", reference)):
            origin = self.origin_close, self.origin_open_time_ms, self.interval
            object.__setattr__(self, name, () if natural is None else ghosts(natural, *origin))

    def moved_since(self, log_close: float) -> float:
        """Difference between returns from the origin's close at the time of the forecast and returns from this close;
        not 0 if the origin was corrected since."""
        return log_close - math.log(self.origin_close)

    def relative_to(self, log_close: float) -> Quantiles:
        """The quantiles, those of the close converted to be relative to this close of the origin."""
        moved = self.moved_since(log_close)
        if moved == 0.0:
            return self.quantiles
        shown, experts = self.quantiles.shown.copy(), self.quantiles.experts.copy()
        shown[:, Quantity.CLOSE] -= moved
        experts[:, :, Quantity.CLOSE] -= moved
        return Quantiles(shown, experts)

    def drawn(self, run_id: str, experts: ExpertForecasts | None = None) -> ForecastMade:
        """The event for the window; a thinned old forecast is enough."""
        shown = self.quantiles.shown
        return ForecastMade(
            run_id=run_id,
            **{name: getattr(self, name) for name in _SHOWN_OF_FORECAST},
            quantiles=packed_quantiles(shown) if np.isfinite(shown).all() else None,
            experts=experts,
        )

    def event(self, run_id: str) -> ForecastMade:
        """The event with the experts that are stored."""
        return self.drawn(
            run_id, drawn_experts([EXPERTS[expert] for expert in STORED], self.quantiles.experts[: len(STORED)])
        )


def from_stored(
    stored: StoredForecast, interval: Interval, conditions: RegimeProbabilities | None = None
) -> IssuedForecast:
    """conditions: the market's regime stored with it."""
    committed = {each.name: getattr(stored, each.name) for each in fields(StoredForecast)}
    return IssuedForecast(**committed, interval=interval, conditions=conditions)


def stored_forecast(reader: RecordReader, origin_open_time_ms: int, interval: Interval) -> IssuedForecast | None:
    """The stored forecast of this origin; None if there is none, or its exact arrays are no longer stored: thinned, or
    damaged and in no backup."""
    stored = reader.forecast_of(origin_open_time_ms)
    if stored is None or not len(stored.quantiles.experts):
        return None
    return from_stored(stored, interval, reader.conditions_of(origin_open_time_ms))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one horizon of a forecast."""

    score: StoredScore
    event: ForecastScored
    losses: FloatArray
    """Of the shown forecast: [Q], natural units."""
    learned_losses: FloatArray
    """Of the forecast without challengers, on which learning depends, likewise."""
    learned_hit: bool | None
    """Its direction, as `StoredScore.direction_hit`."""
    all_losses: FloatArray | None
    """In the order of `ExpertList.loss_rows`: [.., Q], natural units."""
    hits: FloatArray | None = None
    """Of each expert, one candle ahead (`core.forecast.score.close_hits`): [.., 2, 2]; None where not known."""


def losses_of(quantiles: Sequence[Quantiles], horizons: Sequence[int], natural: FloatArray) -> FloatArray:
    """Losses of these forecasts [n], each at its horizon, of the outcomes [n, Q]: of the shown one, then of each stored
    expert, [.., n, Q]."""
    pairs = list(zip(quantiles, horizons, strict=True))
    shown = np.stack([made.shown[horizon - 1] for made, horizon in pairs])
    experts = np.stack([made.experts[:, horizon - 1] for made, horizon in pairs], axis=1)
    return pinball(natural, np.concatenate([shown[None], experts]))


def score(
    forecast: IssuedForecast,
    horizon: int,
    candle: Candle,
    natural: FloatArray,
    losses: FloatArray,
    all_losses: FloatArray | None,
    after_gap: bool,
    run_id: str,
    now_ms: int,
    version: int = 1,
    reference_model: FloatArray | None = None,
) -> Outcome:
    """Score the forecast of `horizon` against the candle that has closed.

    natural: the candle's quantities [Q], the volume NaN if not known. losses: as `losses_of` finds them [.., Q].
    all_losses: the losses to store, in the order of `ExpertList.loss_rows`, if known. reference_model: the losses [Q]
    of the reference model, if there is one.
    """
    shown_losses, *expert_losses = losses
    ghost, reference = forecast.ghosts[horizon - 1], forecast.reference_ghosts[horizon - 1]
    close = float(natural[Quantity.CLOSE])
    quantiles = forecast.quantiles.shown[horizon - 1, Quantity.CLOSE]
    found = StoredScore(
        origin_open_time_ms=forecast.origin_open_time_ms,
        horizon=horizon,
        target_open_time_ms=candle.open_time_ms,
        mode=forecast.mode,
        after_gap=after_gap,
        loss=float(shown_losses[Quantity.CLOSE]),
        model_loss=float(expert_losses[MODEL][Quantity.CLOSE]),
        reference_loss=float(expert_losses[REFERENCE][Quantity.CLOSE]),
        range_loss=float(shown_losses[Quantity.RANGE]),
        range_model_loss=float(expert_losses[MODEL][Quantity.RANGE]),
        range_reference_loss=float(expert_losses[REFERENCE][Quantity.RANGE]),
        inside_50=_is_inside(quantiles, BAND_50, close),
        inside_90=_is_inside(quantiles, BAND_90, close),
        direction_hit=_direction_hit(float(quantiles[MEDIAN]), close),
        overlap=overlap(ghost.low, ghost.high, candle.low, candle.high),
        reference_overlap=overlap(reference.low, reference.high, candle.low, candle.high),
        scored_at_ms=now_ms,
        version=version,
        expert_losses=b"" if all_losses is None else pack_losses(all_losses),
        regime=forecast.conditions,
        twin_loss=None if reference_model is None else float(reference_model[Quantity.CLOSE]),
        range_twin_loss=None if reference_model is None else float(reference_model[Quantity.RANGE]),
        body_loss=float(shown_losses[Quantity.BODY]),
        upper_wick_loss=float(shown_losses[Quantity.UPPER_WICK]),
        lower_wick_loss=float(shown_losses[Quantity.LOWER_WICK]),
        volume_loss=None if math.isnan(natural[Quantity.VOLUME]) else float(shown_losses[Quantity.VOLUME]),
    )
    stored = as_stored(found)
    own = forecast.quantiles.without_challengers[horizon - 1, Quantity.CLOSE]
    learned_losses = losses[-1] if len(expert_losses) > len(STORED) else shown_losses
    learned_hit = _direction_hit(float(own[MEDIAN]), close)
    event = scored_event(stored, forecast, candle, run_id)
    return Outcome(stored, event, shown_losses, learned_losses, learned_hit, all_losses)


def _is_inside(quantiles: FloatArray, band: tuple[int, int], value: float) -> bool:
    return bool(quantiles[band[0]] <= value <= quantiles[band[1]])


def _direction_hit(forecast: float, outcome: float) -> bool | None:
    """None if the close did not move, or the forecast has no direction."""
    if forecast == 0.0 or outcome == 0.0:
        return None
    return (forecast > 0.0) == (outcome > 0.0)


def scored_event(stored: StoredScore, forecast: IssuedForecast, candle: Candle, run_id: str) -> ForecastScored:
    """The event for the window of a stored score."""
    return ForecastScored(
        run_id=run_id,
        **{name: getattr(stored, name) for name in _SHOWN_OF_SCORE},
        ghost=forecast.ghosts[stored.horizon - 1],
        actual_close=candle.close,
        made_at_ms=forecast.made_at_ms,
        step=forecast.step,
        checkpoint_id=forecast.checkpoint_id,
    )


def log_step(step: StepDone, outcomes: Sequence[Outcome], candle: Candle) -> None:
    """Log the forecast of the candle, its close, and the training loss."""
    one_step = next((outcome for outcome in outcomes if outcome.score.horizon == 1), None)
    forecast = "none" if one_step is None else f"{one_step.event.ghost.close:.8g}"
    overlap = "none" if one_step is None else f"{one_step.score.overlap:.3f}"
    loss = step.skipped_because or f"{step.loss:.5f}"
    _log.info(
        "step %d: forecast %s, actual %.8g, loss %s, candle accuracy %s",
        step.step,
        forecast,
        candle.close,
        loss,
        overlap,
    )
