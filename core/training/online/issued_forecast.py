"""An issued forecast: its ghosts, and its score."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from core.domain.candle import Candle, Interval, Market
from core.domain.counts import decimal_text
from core.domain.events import ExpertForecasts, ForecastMade, ForecastScored, Ghost, StepDone
from core.domain.quantities import BAND_50, BAND_90, MEDIAN, FloatArray, Quantity
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import EXPERTS, MODEL, REFERENCE, STORED, Quantiles, pack_losses
from core.forecast.ghosts import ghost_columns, ghosts, overlap
from core.forecast.score import pinball
from core.market.shown_names import shown_symbol
from core.storage.packing import at_stored_precision
from core.storage.record_reader import RecordReader
from core.storage.records import SHOWN_LOSSES, StoredForecast, StoredScore
from core.training.online.forecast_events import drawn_experts, packed_quantiles

_log = logging.getLogger("ghostcandle.training")
_PRICE_DIGITS = 8

_SHOWN_OF_FORECAST = (
    *("origin_open_time_ms", "inputs_until_ms", "made_at_ms", "mode", "step"),
    *("checkpoint_id", "origin_close", "ghosts", "conditions", "next_regime"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IssuedForecast(StoredForecast):
    """A forecast as it is stored, with the data for drawing and scoring it."""

    interval: Interval
    conditions: RegimeProbabilities | None = None
    next_regime: RegimeProbabilities | None = None
    ghosts: tuple[Ghost, ...] = ()
    """Drawn from the quantiles; left empty, they are drawn here."""

    def __post_init__(self) -> None:
        if not self.ghosts:
            of_origin = self.origin_close, self.origin_open_time_ms, self.interval
            object.__setattr__(self, "ghosts", ghosts(self.quantiles.shown, *of_origin))

    def moved_since(self, log_close: float) -> float:
        """Difference between returns from the origin's close at the time of the forecast and returns from this close;
        not 0 if the origin was corrected since."""
        return log_close - float(np.log(self.origin_close))

    def relative_to(self, log_close: float) -> Quantiles:
        """The quantiles, with the close's converted to be relative to this close of the origin."""
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
    stored: StoredForecast,
    interval: Interval,
    conditions: RegimeProbabilities | None = None,
    next_regime: RegimeProbabilities | None = None,
) -> IssuedForecast:
    """conditions, next_regime: as stored with it."""
    committed = {each.name: getattr(stored, each.name) for each in fields(StoredForecast)}
    return IssuedForecast(**committed, interval=interval, conditions=conditions, next_regime=next_regime)


def stored_forecast(reader: RecordReader, origin_open_time_ms: int, interval: Interval) -> IssuedForecast | None:
    """The stored forecast of this origin; None if there is none, or its exact arrays are no longer stored: thinned, or
    damaged and in no backup."""
    stored = reader.forecast_of(origin_open_time_ms)
    if stored is None or not len(stored.quantiles.experts):
        return None
    return from_stored(stored, interval, *reader.conditions_of(origin_open_time_ms))


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A closed candle as the target of one horizon of a forecast."""

    forecast: IssuedForecast
    horizon: int
    candle: Candle
    natural: FloatArray
    """The candle's quantities, relative to the origin's close at the time of the forecast: [Q]; the volume is NaN if it
    is not known."""
    after_gap: bool
    run_id: str
    all_losses: FloatArray | None = None
    """The losses to store, in the order of `ExpertList.loss_rows`, natural units: [.., Q]; None if unknown."""
    hits: FloatArray | None = None
    """Hits of each expert, one candle ahead (`core.forecast.score.close_hits`): [.., 2, 2]; None if unknown."""
    reference_model: FloatArray | None = None
    """The losses of the reference model: [Q]; None if there is none."""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one horizon of a forecast."""

    score: StoredScore
    event: ForecastScored
    learned_losses: FloatArray
    """The losses of the forecast without challengers, on which learning depends: [Q], natural units."""
    learned_hit: bool | None
    """Its direction, as `StoredScore.direction_hit`."""
    hits: FloatArray | None = None
    """As in `Target`."""


def score(targets: Sequence[Target], now_ms: int) -> list[Outcome]:
    """Score forecasts against candles that have closed; all of one run."""
    if not targets:
        return []
    rows = [(each.forecast, each.horizon - 1) for each in targets]
    natural = np.stack([each.natural for each in targets])
    shown = np.stack([of.quantiles.shown[row] for of, row in rows])
    experts = np.stack([of.quantiles.experts[:, row] for of, row in rows])
    own = np.stack([of.quantiles.without_challengers[row, Quantity.CLOSE] for of, row in rows])
    losses = pinball(natural[:, None], np.concatenate([shown[:, None], experts], axis=1))
    learned = losses[:, -1] if experts.shape[1] > len(STORED) else losses[:, 0]
    close = natural[:, Quantity.CLOSE]
    columns = _losses_of(losses, targets) | _overlaps(targets, experts[:, REFERENCE])
    stored_numbers = at_stored_precision(np.stack(list(columns.values()), axis=1))
    facts = zip(
        *(_is_inside(shown[:, Quantity.CLOSE], band, close) for band in (BAND_50, BAND_90)),
        *(_direction_hits(quantiles[:, MEDIAN], close) for quantiles in (shown[:, Quantity.CLOSE], own)),
        stored_numbers,
        learned,
        strict=True,
    )
    outcomes = []
    for target, (inside_50, inside_90, hit, own_hit, numbers, own_losses) in zip(targets, facts, strict=True):
        stored = StoredScore(
            origin_open_time_ms=target.forecast.origin_open_time_ms,
            horizon=target.horizon,
            target_open_time_ms=target.candle.open_time_ms,
            mode=target.forecast.mode,
            after_gap=target.after_gap,
            inside_50=inside_50,
            inside_90=inside_90,
            direction_hit=hit,
            scored_at_ms=now_ms,
            version=target.version,
            expert_losses=b"" if target.all_losses is None else pack_losses(target.all_losses),
            regime=target.forecast.conditions,
            **dict(zip(columns, numbers, strict=True)),
        )
        event = scored_event(stored, target.forecast, target.candle, target.run_id)
        outcomes.append(Outcome(stored, event, own_losses, own_hit, target.hits))
    return outcomes


def _losses_of(losses: FloatArray, targets: Sequence[Target]) -> dict[str, FloatArray]:
    """The losses to store [n] by their fields. losses: of the shown forecast, then of each stored expert [n, .., Q]."""
    shown, model, reference = losses[:, 0], losses[:, 1 + MODEL], losses[:, 1 + REFERENCE]
    none = np.full(shown.shape[1], np.nan)
    frozen = np.stack([none if each.reference_model is None else each.reference_model for each in targets])
    columns = {name: shown[:, quantity] for quantity, name in SHOWN_LOSSES.items()}
    for prefix, quantity in (("", Quantity.CLOSE), ("range_", Quantity.RANGE)):
        for name, of in (("model", model), ("reference", reference), ("twin", frozen)):
            columns[f"{prefix}{name}_loss"] = of[:, quantity]
    return columns


def _overlaps(targets: Sequence[Target], references: FloatArray) -> dict[str, FloatArray]:
    """How far the ghosts, and those of the reference, overlap the candles. references: their quantiles [n, Q, L]."""
    low, high = np.array([(each.candle.low, each.candle.high) for each in targets]).T
    drawn = [each.forecast.ghosts[each.horizon - 1] for each in targets]
    ghost_low, ghost_high = np.array([(ghost.low, ghost.high) for ghost in drawn]).T
    before = [
        0.0 if of.horizon == 1 else of.forecast.quantiles.experts[REFERENCE, of.horizon - 2, Quantity.CLOSE, MEDIAN]
        for of in targets
    ]
    origin_close = np.array([each.forecast.origin_close for each in targets])
    reference = ghost_columns(references, np.array(before), origin_close)
    return {
        "overlap": overlap(ghost_low, ghost_high, low, high),
        "reference_overlap": overlap(reference.low, reference.high, low, high),
    }


def _is_inside(quantiles: FloatArray, band: tuple[int, int], close: FloatArray) -> list[bool]:
    inside: list[bool] = ((quantiles[:, band[0]] <= close) & (close <= quantiles[:, band[1]])).tolist()
    return inside


def _direction_hits(forecast: FloatArray, close: FloatArray) -> list[bool | None]:
    """None where the close did not move, or the forecast has no direction."""
    is_counted = (forecast != 0.0) & (close != 0.0)
    hits = ((forecast > 0.0) == (close > 0.0)).tolist()
    return [hit if counts else None for hit, counts in zip(hits, is_counted.tolist(), strict=True)]


def scored_event(stored: StoredScore, forecast: IssuedForecast, candle: Candle, run_id: str) -> ForecastScored:
    """The event for the window of a stored score."""
    return ForecastScored(
        run_id=run_id,
        origin_open_time_ms=stored.origin_open_time_ms,
        target_open_time_ms=stored.target_open_time_ms,
        horizon=stored.horizon,
        mode=stored.mode,
        after_gap=stored.after_gap,
        ghost=forecast.ghosts[stored.horizon - 1],
        actual_close=candle.close,
        loss=stored.loss,
        model_loss=stored.model_loss,
        reference_loss=stored.reference_loss,
        inside_50=stored.inside_50,
        inside_90=stored.inside_90,
        direction_hit=stored.direction_hit,
        version=stored.version,
        made_at_ms=forecast.made_at_ms,
        step=forecast.step,
        checkpoint_id=forecast.checkpoint_id,
    )


def log_step(step: StepDone, market: Market, outcomes: Sequence[Outcome], candle: Candle) -> None:
    """Log the forecast of the market's candle, its close, and the training loss."""
    one_step = next((outcome for outcome in outcomes if outcome.score.horizon == 1), None)
    forecast = "none" if one_step is None else decimal_text(one_step.event.ghost.close, _PRICE_DIGITS)
    overlap = "none" if one_step is None else f"{one_step.score.overlap:.3f}"
    loss = step.skipped_because or f"{step.loss:.5f}"
    _log.info(
        "step %d, %s: forecast %s, actual %s, loss %s, candle accuracy %s",
        step.step,
        shown_symbol(market.venue, market.symbol),
        forecast,
        decimal_text(candle.close, _PRICE_DIGITS),
        loss,
        overlap,
    )
