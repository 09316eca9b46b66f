"""The online session: one closed candle in; scores, a step, a forecast out. No threads, no Qt, time from a `Clock`.

Order on each candle: score forecasts whose target has closed, train on closed candles, forecast the next ones, commit
all of it in one transaction. The next candle is read only afterwards, so a forecast is always stored before its target
is seen. Same seed and same candles on the CPU: same bytes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.clock import Clock
from core.domain.events import DriftFound, ForecastMode, Incident, OnlineGain, StepDone, TrainerEvent
from core.domain.quantities import FloatArray, Quantity
from core.forecast.arrays import Arrays
from core.forecast.conditions import ConditionsWatch
from core.forecast.experts import MODEL, Quantiles
from core.forecast.history import History
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredScore
from core.training.engine.engine import TrainingEngine
from core.training.engine.result import StepResult
from core.training.engine.samples import LossWeights, build_batch, draw_origins, usual_weights
from core.training.online.adjusting import rate_adapted
from core.training.online.anchor_loss import anchor_loss
from core.training.online.drift import Rise
from core.training.online.drift_response import DriftWatch, drift_incident
from core.training.online.forecaster import Forecaster
from core.training.online.issued_forecast import IssuedForecast, Outcome, from_rows, issue, score
from core.training.online.ledger import LossLedger, ScoreLedger, take_scores
from core.training.online.provenance import Provenance
from core.training.online.reference_model import ReferenceModel
from core.training.online.step_report import log_step, with_non_finite_parameters
from core.training.recovery.forecasting import ForecastGuard
from core.training.recovery.ladder import Recovered, RecoveryLadder, TrainedStep

_FOREVER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The settings that the session itself uses."""

    interval: Interval
    context: int
    replay_samples: int
    replay_window: int
    loss_weights: LossWeights
    known_good_every: int
    """Steps between two checks for a known good state."""
    drift: str
    """See `OnlineSettings.drift`."""


class TrainingSession:
    """Owns the run's state between candles. Used from one thread only."""

    def __init__(
        self,
        options: SessionOptions,
        history: History,
        engine: TrainingEngine,
        ladder: RecoveryLadder,
        record: TrainingRecord,
        generator: np.random.Generator,
        clock: Clock,
        scores: ScoreLedger,
        reference_model: ReferenceModel,
    ) -> None:
        self._options = options
        self.history = history
        self.engine = engine
        self.ladder = ladder
        self.forecaster = Forecaster(history, engine, options.context)
        self.conditions = ConditionsWatch(history)
        self._forecasts = ForecastGuard(ladder)
        self._record = record
        self.generator = generator
        self._clock = clock
        self.scores = scores
        self.reference_model = reference_model
        self.drifts = DriftWatch(options.drift, engine)
        self._rise: Rise | None = None
        """Found on the current candle."""
        self.losses = LossLedger()
        self.step = 0
        self.checkpoint_id: str | None = None
        self._resumed_from: str | None = None
        self._rollbacks_seen = 0
        self.provenance = Provenance(options.interval)
        self.is_paused = False
        self.scored = 0
        self.live_scored = 0
        self.last_step_at_ms: int | None = None
        self._pending: deque[IssuedForecast] = deque(maxlen=history.horizons)
        self._recorded_until_ms = record.reader.latest_origin_ms()
        self._prequential_loss: float | None = None
        self._incidents: list[Incident] = []
        """Incidents of the current candle."""

    @property
    def run_id(self) -> str:
        return self._record.reader.run_id

    @property
    def position_ms(self) -> int | None:
        """The newest candle that was taken."""
        return self.history.last_open_time_ms

    @property
    def recorded_until_ms(self) -> int | None:
        """The newest origin in the record at the start: candles up to it are replayed after a crash."""
        return self._recorded_until_ms

    @property
    def model_weight(self) -> float:
        """The model's share in the shown close one step ahead."""
        return self.forecaster.model_weight

    @property
    def online_gain(self) -> OnlineGain | None:
        """The gain from learning since the reference model was frozen; None without a reference model."""
        reference = self.reference_model
        age = reference.age_at(self.history.observed)
        return self.scores.evidence.online_gain(age, reference.age) if reference.age else None

    def note_new_weights(self, checkpoint_id: str, learned_until_ms: int) -> None:
        """The model now has the weights of this checkpoint, which learned from candles up to this time.

        Forecasts of candles that open before it are scored separately from now on. If it reaches past this run's newest
        candle, the reference model knows less than the restored one, so the comparison of the two starts again.
        """
        self.checkpoint_id = checkpoint_id
        self._begin_line()
        self.provenance.note_new_weights(learned_until_ms)
        self.ladder.known_good.remember(self.step)
        if self.provenance.is_seen(self.provenance.newest_close_ms(self.position_ms)):
            self.reference_model.restore({}, None)

    def load_record(self) -> None:
        """Read from the record what a checkpoint does not hold: forecasts still to be scored, scores so far.

        Called once, after a restore. Scores of later candles are added again as they are replayed.
        """
        self._resumed_from = self.checkpoint_id
        for origin in self.history.open_time_ms[-self.history.horizons :]:
            rows = self._record.reader.forecasts_of(int(origin))
            if rows:
                conditions = self._record.reader.conditions_of(int(origin))
                self._pending.append(from_rows(rows, self._options.interval, conditions))
            else:
                self._pending.clear()  # the k-th newest pending forecast belongs to the k-th newest candle
        reader, position = self._record.reader, self.position_ms
        known = reader.scored_by_mode(_FOREVER)
        self.scored = sum(known.values())
        self.live_scored = sum(count for (mode, _), count in known.items() if mode is ForecastMode.LIVE)
        if position is not None:
            take_scores(self.scores, reader, self.scores.own_mode, position, self._first_loss)

    def _first_loss(self, score: StoredScore) -> float:
        """The loss that was learned from, before the candle was corrected."""
        if score.version == 1:
            return score.loss
        return self._record.reader.score_versions(score.target_open_time_ms)[0].loss

    def on_candle(self, candle: Candle, mode: ForecastMode) -> tuple[TrainerEvent, ...]:
        """Take the next closed candle. A repeated candle changes nothing and returns nothing."""
        position = self.position_ms
        if position is not None and candle.open_time_ms <= position:
            return ()
        self.reference_model.renew(self.history.observed)
        self.history.append(candle)
        self.forecaster.observe()
        self.conditions.observe()
        outcomes = self._score(candle)
        drift = self._answer_drift(candle)
        step = None if self.is_paused else self._train()
        rollbacks = self.ladder.known_good.restores
        forecast = self._forecast(candle, mode)
        self.forecaster.commit(forecast.relative_to(math.log(candle.close)))
        self.reference_model.forecast(self.forecaster, candle.open_time_ms)
        if step is not None and self.ladder.known_good.restores > rollbacks:
            step = with_non_finite_parameters(step)
        new_scores = self._commit(outcomes, drift, step, forecast)
        self._account(outcomes, new_scores, step, candle)
        self._notice_rollback()
        self._pending.append(forecast)
        learned = (*(each for each in (drift, step) if each is not None), *self._take_incidents())
        return (*(outcome.event for outcome in outcomes), *learned, forecast.event(self.run_id))

    def step_once(self) -> tuple[TrainerEvent, ...]:
        """One extra step on replayed samples; nothing while there is nothing to learn from."""
        step = self._train() if len(self.history) else None
        if step is None:
            return ()
        with self._record.write():
            self._add_step(step)
        self._account_step(step)
        self._notice_rollback()
        return (step, *self._take_incidents())

    def forecast_beside(
        self, engine: TrainingEngine, learned: Arrays, step: int, checkpoint_id: str, learned_until_ms: int
    ) -> IssuedForecast | None:
        """What another model would forecast after the newest candle; None before the first one. Changes nothing.

        learned_until_ms: that model learned from candles up to here.
        """
        newest = self._pending[-1] if self._pending else None
        if newest is None or newest.origin_open_time_ms != self.position_ms:
            return None
        return issue(
            self.forecaster.beside(engine, learned).forecast(),
            self._options.interval,
            origin_open_time_ms=newest.origin_open_time_ms,
            inputs_until_ms=newest.inputs_until_ms,
            made_at_ms=self._clock.now_ms(),
            mode=ForecastMode.SEEN if newest.inputs_until_ms < learned_until_ms else newest.mode,
            step=step,
            checkpoint_id=checkpoint_id,
            origin_close=newest.origin_close,
            scale=newest.scale,
        )

    def _begin_line(self) -> None:
        """Forecasts and losses so far are of other weights: they count for no checkpoint from now on."""
        self.scores.begin_line(self.position_ms)
        self.losses.begin_line()

    def _notice_rollback(self) -> None:
        before, self._rollbacks_seen = self._rollbacks_seen, self.ladder.known_good.restores
        if self._rollbacks_seen > before:
            self._begin_line()

    def resume(self) -> None:
        """Resume training with all failure counts reset."""
        self.is_paused = False
        self.ladder.resumed()
        self._forecasts.resumed()

    def _score(self, candle: Candle) -> list[Outcome]:
        """Score every horizon that this candle is the target of, the newest forecast first, and learn from it."""
        newest = len(self.history) - 1
        outcomes = [
            self._score_one(forecast, newest - horizon, horizon, candle)
            for horizon, forecast in enumerate(reversed(self._pending), start=1)
        ]
        self._compare_without_model(outcomes)
        return outcomes

    def _compare_without_model(self, outcomes: Sequence[Outcome]) -> None:
        """Compare losses with and without the model, of close and range at each horizon, for the adaptive schedule."""
        losses = np.full((2, self.history.horizons, 2), np.nan)
        for outcome in outcomes:
            all_losses, origin = outcome.all_losses, len(self.history) - 1 - outcome.score.horizon
            if all_losses is None or outcome.score.after_gap or outcome.score.mode is ForecastMode.SEEN:
                continue
            factor, _ = self.history.units(np.array([origin], dtype=np.int64))
            row = outcome.score.horizon - 1
            losses[:, row] = (all_losses[[1 + MODEL, 0]] / factor[0, row])[:, [Quantity.CLOSE, Quantity.RANGE]]
        if outcomes:
            model, without = losses.reshape(2, -1)
            times = self.engine.schedule.compare(model, without)
            if times is not None:
                adapted = rate_adapted(times, self.engine.rate_now)
                self._incidents.append(adapted.incident(self.run_id, self._clock.now_ms()))

    def _score_one(self, forecast: IssuedForecast, origin: int, horizon: int, candle: Candle) -> Outcome:
        targets, _, usable = self.history.targets(np.array([origin], dtype=np.int64))
        after_gap, natural = not bool(usable[0, horizon - 1]), targets[0, horizon - 1]
        origin_close = float(self.history.column("log_close")[origin])
        committed = natural.copy()  # relative to the origin's close at the time of the forecast
        committed[Quantity.CLOSE] += forecast.moved_since(origin_close)
        losses = self.forecaster.losses(origin, horizon, natural)
        frozen = self.reference_model.losses(forecast.origin_open_time_ms, horizon, natural)
        now_ms = self._clock.now_ms()
        outcome = score(
            forecast, horizon, candle, committed, losses, after_gap, self.run_id, now_ms, reference_model=frozen
        )
        if not after_gap:
            shown = forecast.relative_to(origin_close).shown[horizon - 1]
            is_seen = forecast.mode is ForecastMode.SEEN
            self.forecaster.learn(origin, horizon, shown, natural, trusts_model=not is_seen)
        if horizon == 1:
            self._take_prequential(None if after_gap else self._in_training_units(origin, outcome.losses))
            if not after_gap:
                self._mark(origin, outcome)
        return outcome

    def _take_prequential(self, loss: float | None) -> None:
        """Take the loss of the newest one-step forecast; None if a gap lies between it and its target."""
        self._prequential_loss = loss
        if loss is not None:
            self.engine.schedule.observe(loss)
            self._rise = self.drifts.observe(loss)

    def _answer_drift(self, candle: Candle) -> DriftFound | None:
        """Respond to a rise of the loss, if there is one."""
        rise, self._rise = self._rise, None
        if rise is None:
            return None
        done = self.drifts.answer(self.is_paused)
        at_ms = self._clock.now_ms()
        return DriftFound(
            self.run_id, candle.open_time_ms, self.step, rise.candles, rise.loss_before, rise.loss_after, done, at_ms
        )

    def _in_training_units(self, origin: int, losses: FloatArray) -> float:
        """The loss of a one-step forecast in units of the training loss, so that both curves share an axis."""
        factor, _ = self.history.units(np.array([origin], dtype=np.int64))
        weights = usual_weights()
        return float((losses / factor[0, 0] * weights).sum() / weights.sum())

    def _mark(self, origin: int, outcome: Outcome) -> None:
        usual = self.scores.usual_loss
        ratio = outcome.score.loss / usual if usual else 1.0
        self.history.mark_outcome(origin, ratio, outcome.score.direction_hit is False)

    def _train(self) -> StepDone | None:
        options = self._options
        origins = draw_origins(len(self.history), options.replay_samples, options.replay_window, self.generator)
        batch = build_batch(self.history, origins, options.context, options.loss_weights)
        if not batch.weights.any():
            return None
        started_s = self._clock.monotonic_s()
        self.step += 1
        anchors = self.history.anchors(origins)
        trained = self.ladder.train(batch, anchors, self.step, self.losses.newest)
        trained = replace(trained, result=trained.result.beside(anchor_loss(batch, anchors)))
        duration_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        self._take(trained)
        done = self._step_done(trained.result, batch.size, duration_ms)
        if self.step % self._options.known_good_every == 0:
            looked = self.ladder.look_for_known_good(self.step)
            self._take(looked)
            return with_non_finite_parameters(done) if looked.incidents else done
        return done

    def _take(self, done: TrainedStep | Recovered) -> None:
        """Take the ladder's incidents, and whether training must pause."""
        self.is_paused = self.is_paused or done.must_pause
        now_ms = self._clock.now_ms()
        self._incidents.extend(draft.incident(self.run_id, now_ms) for draft in done.incidents)

    def _take_incidents(self) -> tuple[TrainerEvent, ...]:
        incidents = tuple(self._incidents)
        self._incidents.clear()
        return incidents

    def _step_done(self, result: StepResult, samples: int, duration_ms: float) -> StepDone:
        position = self.position_ms
        assert position is not None
        return StepDone(
            run_id=self.run_id,
            step=self.step,
            candle_open_time_ms=position,
            loss=result.loss,
            prequential_loss=self._prequential_loss,
            gradient_norm=result.gradient_norm,
            clipped=result.clipped,
            learning_rate=result.learning_rate,
            clip_norm=math.inf if result.threshold is None else result.threshold,
            samples=samples,
            duration_ms=duration_ms,
            at_ms=self._clock.now_ms(),
            skipped_because=result.skipped_because,
            gradients=result.gradients,
        )

    def _forecast(self, candle: Candle, mode: ForecastMode) -> IssuedForecast:
        """Forecast; if the record already has a forecast of this candle, return that one."""
        recorded = self._recorded(candle.open_time_ms)
        if recorded is not None:
            return recorded
        interval = self._options.interval
        quantiles = self._finite_quantiles()
        target_opens_ms = interval.close_time_ms(candle.open_time_ms)
        made_at_ms = self._clock.now_ms()
        return issue(
            quantiles,
            interval,
            origin_open_time_ms=candle.open_time_ms,
            inputs_until_ms=target_opens_ms,
            made_at_ms=made_at_ms,
            mode=self.provenance.mode_of(mode, made_at_ms, target_opens_ms),
            step=self.step,
            checkpoint_id=self.checkpoint_id,
            origin_close=candle.close,
            scale=float(self.history.column("scale")[-1]),
            conditions=self.conditions.now,
        )

    def _finite_quantiles(self) -> Quantiles:
        """A finite forecast, even if the model fails."""
        made = self._forecasts.forecast(self.forecaster.forecast, self.step)
        self._take(made.recovered)
        return self.forecaster.without_model() if made.quantiles is None else made.quantiles

    def _recorded(self, origin_open_time_ms: int) -> IssuedForecast | None:
        if self._recorded_until_ms is None or origin_open_time_ms > self._recorded_until_ms:
            return None
        rows = self._record.reader.forecasts_of(origin_open_time_ms)
        if rows and rows[0].checkpoint_id != self._resumed_from:
            self.scores.begin_line(origin_open_time_ms)  # made by a model that was not resumed
        conditions = self._record.reader.conditions_of(origin_open_time_ms)
        return from_rows(rows, self._options.interval, conditions) if rows else None

    def _commit(
        self, outcomes: Sequence[Outcome], drift: DriftFound | None, step: StepDone | None, forecast: IssuedForecast
    ) -> int:
        """Store this candle's results in one transaction. Returns how many one-step scores were new."""
        one_step = [outcome.score for outcome in outcomes if outcome.score.horizon == 1]
        further = [outcome.score for outcome in outcomes if outcome.score.horizon != 1]
        with self._record.write():
            new_scores = self._record.add_scores(one_step)
            self._record.add_scores(further)
            self._record.add_evidence(self.scores.evidence.take_new())
            if drift is not None and self._record.add_drift(drift):  # not again on a replayed candle
                self._incidents.append(drift_incident(drift))
            self._add_step(step)
            self._record.add_forecasts(forecast.rows())
            if forecast.conditions is not None:
                self._record.add_conditions(forecast.origin_open_time_ms, forecast.conditions)
        return new_scores

    def _add_step(self, step: StepDone | None) -> None:
        if step is not None:
            self._record.add_step(step)
        self._incidents = [self._record.add_incident(incident) for incident in self._incidents]

    def _account(self, outcomes: Sequence[Outcome], new_scores: int, step: StepDone | None, candle: Candle) -> None:
        for outcome in outcomes:
            if outcome.score.horizon == 1:
                self.scores.add(outcome.score)
                self.live_scored += new_scores if outcome.score.mode is ForecastMode.LIVE else 0
        self.scored += new_scores
        if step is not None:
            self._account_step(step)
            log_step(step, outcomes, candle)

    def _account_step(self, step: StepDone) -> None:
        self.last_step_at_ms = step.at_ms
        if step.loss is not None:
            self.losses.add(step.loss)
