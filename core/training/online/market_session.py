"""One market of a session: its past, its forecasts until they are scored, and its scores.

Everything here is of this market alone. The model, its optimizer and the recovery ladder belong to the session.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import AccuracySummary, DriftFound, ForecastMade, ForecastMode
from core.domain.quantities import FloatArray, Quantity
from core.forecast.conditions import ConditionsWatch
from core.forecast.experts import EXPERTS, MODEL, Quantiles
from core.forecast.history import History
from core.storage.evidence import EvidenceBlock
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredScore
from core.training.engine.samples import usual_weights
from core.training.online.drift import DriftWatch, Rise
from core.training.online.forecaster import Forecaster
from core.training.online.issued_forecast import IssuedForecast, Outcome, losses_of, score, stored_forecast
from core.training.online.learned_chances import ChanceLearner
from core.training.online.ledger import ScoreLedger, learned_loss, take_scores
from core.training.online.provenance import Provenance
from core.training.online.reference_model import ReferenceForecasts


class MarketSession:
    """For each closed candle: `take`, `observe`, `score`, `issue`, `store` in a transaction, then `account`."""

    def __init__(
        self,
        market: Market,
        history: History,
        forecaster: Forecaster,
        record: TrainingRecord,
        scores: ScoreLedger,
        drifts: DriftWatch,
        chances: ChanceLearner,
        provenance: Provenance,
        clock: Clock,
    ) -> None:
        self.market = market
        self._interval = market.interval
        self.history = history
        self.forecaster = forecaster
        self.conditions = ConditionsWatch(history)
        self.record = record
        self.scores = scores
        self.drifts = drifts
        self._chances = chances
        self.reference_forecasts = ReferenceForecasts(history.horizons)
        self._provenance = provenance
        self._clock = clock
        self.is_learned = True
        """False: the model takes no samples of this market."""
        self.scored = 0
        self.live_scored = 0
        self.after_gap = 0
        """Of the run's own mode."""
        self.prequential_loss: float | None = None
        """Of the newest one-step forecast, in units of the training loss; None if a gap lies before its target."""
        self.rise: Rise | None = None
        """Found on the newest candle."""
        self._pending: deque[IssuedForecast] = deque(maxlen=history.horizons)
        self.recorded_until_ms = record.reader.latest_origin_ms()

    @property
    def run_id(self) -> str:
        return self.record.reader.run_id

    @property
    def position_ms(self) -> int | None:
        """The newest candle that was taken."""
        return self.history.last_open_time_ms

    @property
    def newest_forecast(self) -> IssuedForecast | None:
        """The forecast after the newest candle; None before the first one."""
        newest = self._pending[-1] if self._pending else None
        return newest if newest is not None and newest.origin_open_time_ms == self.position_ms else None

    def load_record(self) -> None:
        """Read from the record what a checkpoint does not hold: forecasts still to be scored, scores so far."""
        reader, position = self.record.reader, self.position_ms
        for origin in self.history.open_time_ms[-self.history.horizons :]:
            forecast = stored_forecast(reader, int(origin), self._interval)
            if forecast is not None:
                self._pending.append(forecast)
            else:
                self._pending.clear()  # the k-th newest pending forecast belongs to the k-th newest candle
        known = reader.scored_by_mode()
        self.scored = sum(known.values())
        self.live_scored = sum(count for (mode, _), count in known.items() if mode is ForecastMode.LIVE)
        self.after_gap = known.get((self.scores.own_mode, True), 0)
        if position is not None:
            self.scores.evidence.experts.resume(reader, self.scores.own_mode, position)
            take_scores(self.scores, reader, self.scores.own_mode, position, self._first_loss)

    def _first_loss(self, score: StoredScore) -> float:
        """The loss that was learned from, before the candle was corrected."""
        if score.version == 1:
            return learned_loss(score)
        return learned_loss(self.record.reader.score_versions(score.target_open_time_ms)[0])

    def is_new(self, candle: Candle) -> bool:
        """Whether it is later than every candle taken."""
        return self.position_ms is None or candle.open_time_ms > self.position_ms

    def set_learned(self, is_learned: bool) -> None:
        """Whether the model takes samples of this market from now on. Kept with the run: needs an open transaction."""
        self.record.set_learned(is_learned)
        self.is_learned = is_learned

    def take(self, candle: Candle) -> None:
        """Take the next closed candle."""
        self.history.append(candle)

    def observe(self) -> None:
        """Learn from the candle taken, and forecast without the model, once every market has taken its own."""
        self.forecaster.observe()
        self.conditions.observe()

    def score(self, candle: Candle) -> list[Outcome]:
        """Score every horizon that this candle is the target of, the newest forecast first, and learn from it."""
        self.rise = None
        forecasts = list(reversed(self._pending))
        if not forecasts:
            return []
        steps = np.arange(len(forecasts))
        origins = len(self.history) - 2 - steps
        targets, _, is_whole = self.history.targets(origins)
        natural, is_usable = targets[steps, steps], is_whole[steps, steps]
        closes = self.history.column("log_close")[origins].tolist()
        outcomes = self._outcomes(
            forecasts, closes, natural, self.forecaster.losses(origins, natural), ~is_usable, candle
        )
        hits = self.forecaster.hits(int(origins[0]), float(natural[0, Quantity.CLOSE]))
        outcomes[0] = replace(outcomes[0], hits=hits)
        made = [forecast.relative_to(close).shown for forecast, close in zip(forecasts, closes, strict=True)]
        is_own = np.array([forecast.mode is not ForecastMode.SEEN for forecast in forecasts])
        shown = np.stack([quantiles[row] for row, quantiles in enumerate(made)])
        self.forecaster.learn(origins, shown, natural, is_learned=is_usable, trusts_model=is_own)
        self._take_one_step(outcomes[0], int(origins[0]))
        return outcomes

    def losses_in_units(self, outcomes: Sequence[Outcome]) -> FloatArray:
        """Losses of the model, of the forecast without it, and of each challenger, of close and range at each horizon:
        [2 + C, H, 2]; NaN where there is none."""
        challengers = self.forecaster.challengers
        rows = [1 + MODEL, 0, *range(1 + len(EXPERTS), 1 + len(EXPERTS) + challengers)]
        losses = np.full((len(rows), self.history.horizons, 2), np.nan)
        steps = np.arange(len(outcomes))
        factor, _ = self.history.units(len(self.history) - 2 - steps)
        for row, outcome in enumerate(outcomes):
            all_losses = outcome.all_losses
            if all_losses is None or outcome.score.after_gap or outcome.score.mode is ForecastMode.SEEN:
                continue
            losses[:, row] = (all_losses[rows] / factor[row, row])[:, [Quantity.CLOSE, Quantity.RANGE]]
        return losses

    def _outcomes(
        self,
        forecasts: Sequence[IssuedForecast],
        closes: Sequence[float],
        natural: FloatArray,
        all_losses: Sequence[FloatArray | None],
        after_gap: NDArray[np.bool_],
        candle: Candle,
    ) -> list[Outcome]:
        """Of the horizons from 1. closes: of the origins, as logarithms."""
        committed = natural.copy()  # relative to the origin's close at the time of the forecast
        moves = [forecast.moved_since(close) for forecast, close in zip(forecasts, closes, strict=True)]
        committed[:, Quantity.CLOSE] += moves
        horizons = range(1, len(forecasts) + 1)
        losses = losses_of([forecast.quantiles for forecast in forecasts], horizons, committed)
        frozen = self.reference_forecasts
        now_ms = self._clock.now_ms()
        return [
            score(
                forecast,
                horizon,
                candle,
                committed[row],
                losses[:, row],
                all_losses[row],
                bool(after_gap[row]),
                self.run_id,
                now_ms,
                reference_model=frozen.losses(forecast.origin_open_time_ms, horizon, natural[row]),
            )
            for row, (horizon, forecast) in enumerate(zip(horizons, forecasts, strict=True))
        ]

    def _take_one_step(self, outcome: Outcome, origin: int) -> None:
        after_gap = outcome.score.after_gap
        self.prequential_loss = None if after_gap else self._in_training_units(origin, outcome.learned_losses)
        if self.prequential_loss is not None:
            self.rise = self.drifts.observe(self.prequential_loss)
            usual = self.scores.usual_loss
            ratio = learned_loss(outcome.score) / usual if usual else 1.0
            self.history.mark_outcome(origin, ratio, outcome.learned_hit is False)

    def _in_training_units(self, origin: int, losses: FloatArray) -> float:
        """The loss of a one-step forecast in units of the training loss, so that both curves share an axis."""
        factor, _ = self.history.units(np.array([origin], dtype=np.int64))
        weights = usual_weights()
        return float((losses / factor[0, 0] * weights).sum() / weights.sum())

    def recorded(self, resumed_from: str | None) -> IssuedForecast | None:
        """The forecast after the newest candle that the record holds already, from before a crash. resumed_from: the
        checkpoint that was restored since."""
        origin_ms = self.position_ms
        if self.recorded_until_ms is None or origin_ms is None or origin_ms > self.recorded_until_ms:
            return None
        forecast = stored_forecast(self.record.reader, origin_ms, self._interval)
        if forecast is not None and forecast.checkpoint_id != resumed_from:
            self.scores.begin_line(origin_ms)  # made by a model that was not resumed
        return forecast

    def issue(
        self, quantiles: Quantiles, candle: Candle, mode: ForecastMode, step: int, checkpoint_id: str | None
    ) -> IssuedForecast:
        """The forecast after this candle, the newest. step, checkpoint_id: of the weights."""
        target_opens_ms = self._interval.close_time_ms(candle.open_time_ms)
        made_at_ms = self._clock.now_ms()
        return IssuedForecast(
            interval=self._interval,
            quantiles=quantiles,
            origin_open_time_ms=candle.open_time_ms,
            inputs_until_ms=target_opens_ms,
            made_at_ms=made_at_ms,
            mode=self._provenance.mode_of(mode, made_at_ms, target_opens_ms),
            step=step,
            checkpoint_id=checkpoint_id,
            origin_close=candle.close,
            scale=float(self.history.column("scale")[-1]),
            conditions=self.conditions.now,
        )

    def issue_beside(
        self, quantiles: Quantiles, newest: IssuedForecast, step: int, checkpoint_id: str, learned_until_ms: int
    ) -> IssuedForecast:
        """Another model's forecast at the origin of `newest`. learned_until_ms: it learned from candles up to here."""
        return replace(
            newest,
            quantiles=quantiles,
            made_at_ms=self._clock.now_ms(),
            mode=ForecastMode.SEEN if newest.inputs_until_ms < learned_until_ms else newest.mode,
            step=step,
            checkpoint_id=checkpoint_id,
            conditions=None,
        )

    def event(self, forecast: IssuedForecast) -> ForecastMade:
        """The event of the forecast that was committed last, with those of all experts."""
        return forecast.drawn(self.run_id, self.forecaster.drawn_experts())

    def commit(self, forecast: IssuedForecast, candle: Candle) -> None:
        """Remember the forecast of every expert until its targets have closed."""
        self.forecaster.commit(forecast.relative_to(math.log(candle.close)))

    def store(self, outcomes: Sequence[Outcome], forecast: IssuedForecast) -> int:
        """Write scores and forecast in the transaction that is open. Returns how many one-step scores were new."""
        one_step = [outcome.score for outcome in outcomes if outcome.score.horizon == 1]
        further = [outcome.score for outcome in outcomes if outcome.score.horizon != 1]
        new_scores = self.record.add_scores(one_step)
        self.record.add_scores(further)
        self.record.add_evidence(self.scores.evidence.take_new())
        self.record.add_forecast(forecast)
        if forecast.conditions is not None:
            self.record.add_conditions(forecast.origin_open_time_ms, forecast.conditions)
        return new_scores

    def account(self, outcomes: Sequence[Outcome], new_scores: int, forecast: IssuedForecast) -> None:
        """Count the scores, once they are stored."""
        for outcome in outcomes:
            if outcome.score.horizon == 1:
                self.scores.add(outcome.score, hits=outcome.hits)
                mode, own_mode = outcome.score.mode, self.scores.own_mode
                self.live_scored += new_scores if mode is ForecastMode.LIVE else 0
                self.after_gap += new_scores if outcome.score.after_gap and mode is own_mode else 0
        self.scored += new_scores
        self._pending.append(forecast)

    def learn_chances(self) -> list[EvidenceBlock]:
        """What the chances of prices learn after the newest candle, to be stored. Raises StorageError."""
        return [] if self.position_ms is None else self._chances.learn(self.position_ms)

    def accuracy(self) -> AccuracySummary:
        """The headline, as of now."""
        own = self.scores.own_summary(self.scored, self.live_scored, self.forecaster.model_weight)
        return replace(own, after_gap=self.after_gap)

    def answer_drift(self, rise: Rise, step: int, is_paused: bool) -> DriftFound:
        """Respond to a rise of the loss on the newest candle. Returns it as an event."""
        position = self.position_ms
        assert position is not None
        done = self.drifts.answer(is_learned=self.is_learned, is_paused=is_paused)
        at_ms = self._clock.now_ms()
        return DriftFound(self.run_id, position, step, rise.candles, rise.loss_before, rise.loss_after, done, at_ms)
