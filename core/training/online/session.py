"""The online session: closed candles in; scores, a step, forecasts out. No threads, no Qt, time from a `Clock`.

Order at each close: score forecasts whose target has closed, forecast the next candles, commit both in one transaction;
then train on closed candles, and commit the step. A forecast waits for no training, and the next candle is read only
afterwards, so a forecast is always stored before its target is seen. Same seed and same candles on the CPU: same bytes.

One model learns one market or several. What belongs to each market is its `MarketSession`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import DriftFound, ForecastMode, Incident, StepDone, TrainerEvent
from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays
from core.forecast.experts import Quantiles
from core.forecast.other_markets import exchange_numbers
from core.settings.tree import Settings
from core.storage.record_writer import TrainingRecord
from core.training.commands import MarketCandle
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.samples import Batch, LossWeights, anchor_loss, build_batch, draw_origins, joined
from core.training.online.adjusting import rate_adapted
from core.training.online.challengers import GuardedChallenger
from core.training.online.drift import drift_incident
from core.training.online.forecaster import forecast_together
from core.training.online.issued_forecast import IssuedForecast, Outcome, log_step
from core.training.online.ledger import LossLedger
from core.training.online.market_session import MarketSession
from core.training.online.provenance import Provenance
from core.training.online.reference_model import ReferenceModel
from core.training.recovery.forecasting import ForecastGuard
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import Recovered, RecoveryLadder, TrainedStep


@dataclass(frozen=True, slots=True)
class _Taken:
    """A candle of this close, with its market and the scores of the forecasts for it."""

    market: MarketSession
    candle: Candle
    mode: ForecastMode
    outcomes: list[Outcome]


class TrainingSession:
    """Owns the run's state between candles. Used from one thread only."""

    def __init__(
        self,
        settings: Settings,
        markets: Sequence[MarketSession],
        engine: TrainingEngine,
        ladder: RecoveryLadder,
        record: TrainingRecord,
        generator: np.random.Generator,
        clock: Clock,
        reference_model: ReferenceModel,
        provenance: Provenance,
        challengers: Sequence[GuardedChallenger],
    ) -> None:
        """markets: at least one, in the order in which they are taken at a close. record: of steps and incidents.
        challengers: in the order of the expert axis."""
        self._settings = settings
        self.markets = tuple(markets)
        self.engine = engine
        self.ladder = ladder
        self._forecasts = ForecastGuard(ladder)
        self._record = record
        self._records = {each.reader.run_id: each for each in (record, *(market.record for market in self.markets))}
        self.generator = generator
        self._clock = clock
        self.reference_model = reference_model
        self.challengers = tuple(challengers)
        self.losses = LossLedger()
        self.step = 0
        self.checkpoint_id: str | None = None
        self._resumed_from: str | None = None
        self._rollbacks_seen = 0
        self.provenance = provenance
        self.is_paused = False
        self.last_step_at_ms: int | None = None
        self._prequential_loss: float | None = None
        self.closes = 0
        """How many were taken, without late ones."""
        self.of_absent_markets: dict[str, Arrays] = {}
        """By name: expert weights and calibration of markets that the model had in an earlier start."""
        self._at_work: MarketSession | None = None
        self._unlearned: set[MarketSession] = set()
        """Those with a candle since the newest step was due."""
        self._to_learn: _Taken | None = None
        """Of the close that a step is due for; None: none is."""
        self._incidents: list[Incident] = []
        """Incidents of the current close."""

    @property
    def market(self) -> MarketSession:
        """The first market, and the only one of most runs."""
        return self.markets[0]

    @property
    def run_id(self) -> str:
        return self._record.reader.run_id

    @property
    def position_ms(self) -> int | None:
        """The newest candle that was taken, of any market."""
        return max((each.position_ms for each in self.markets if each.position_ms is not None), default=None)

    @property
    def observed(self) -> int:
        """How many closes were taken; of one market, its candles."""
        return self.market.history.observed if len(self.markets) == 1 else self.closes

    def note_new_weights(self, checkpoint_id: str, learned_until_ms: int) -> None:
        """The model now has the weights of this checkpoint, which learned from candles up to this time.

        Forecasts of candles that open before it are scored separately from now on. If it reaches past this run's newest
        candle, the reference model knows less than the restored one, so the comparison of the two starts again.
        """
        self.checkpoint_id = checkpoint_id
        self._begin_line()
        self.provenance.note_new_weights(learned_until_ms)
        self.ladder.note_new_weights(self.step)
        if self.provenance.is_seen(self.provenance.newest_close_ms(self.position_ms)):
            self.reference_model.restore(None)
            self._forget_reference_forecasts()

    def keep_reference_line_of(self, state: dict[str, Any] | None) -> None:
        """As `ReferenceModel.keep_line_of`, when the model takes a checkpoint's weights."""
        self.reference_model.keep_line_of(state)
        if not self.reference_model.is_in_force:
            self._forget_reference_forecasts()

    def _forget_reference_forecasts(self) -> None:
        for market in self.markets:
            market.reference_forecasts.restore(None)

    def load_record(self) -> None:
        """Read from the record what a checkpoint does not hold: forecasts still to be scored, scores so far.

        Called once, after a restore. Scores of later candles are added again as they are replayed.
        """
        self._resumed_from = self.checkpoint_id
        for market in self.markets:
            market.load_record()

    def on_close(self, closed: Sequence[MarketCandle]) -> tuple[TrainerEvent, ...]:
        """`forecast_close`, then `learn`."""
        return (*self.forecast_close(closed), *self.learn())

    def forecast_close(self, closed: Sequence[MarketCandle]) -> tuple[TrainerEvent, ...]:
        """Take candles of one opening time, in the order of their markets: score, forecast and commit. A repeated one
        changes nothing.

        Late ones, not after the newest candle, are scored and forecast, but make no step by themselves: it would pull
        the model towards one market. They are learned from in the next step.
        """
        assert len({each.candle.open_time_ms for each in closed}) == 1, "candles of different closes"
        known = [(self.markets[each.market], each.candle, each.mode) for each in closed]
        new = [(market, candle, mode) for market, candle, mode in known if market.is_new(candle)]
        if not new:
            return ()
        newest_ms = self.position_ms
        is_late = newest_ms is not None and new[0][1].open_time_ms <= newest_ms
        self._unlearned |= {market for market, _, _ in new}
        if not is_late:
            self.reference_model.renew(self.observed)
            self.closes += 1
        for market, candle, _ in new:
            self._at_work = market
            market.take(candle)
        taking = {market for market, _, _ in new}
        exchange_numbers([market.history if market in taking else None for market in self.markets])
        observed = [each for each in closed if self.markets[each.market] in taking]
        for challenger in self.challengers:
            challenger.observe(observed)
        taken = [_Taken(market, candle, mode, self._scored(market, candle)) for market, candle, mode in new]
        self._at_work = None
        if not is_late:
            self._take_losses(taken)
        risen = [(each.market, each.market.rise) for each in taken if each.market.rise is not None]
        drifts = [market.answer_drift(rise, self.step, self.is_paused) for market, rise in risen]
        rollbacks, is_step_due = self.ladder.known_good.restores, not (is_late or self.is_paused)
        forecasts = self._forecast(taken)
        is_undone = is_step_due and self.ladder.known_good.restores > rollbacks
        self._to_learn = taken[0] if is_step_due and not is_undone else None
        step = self._undone_step() if is_undone else None
        self._commit(taken, forecasts, drifts, step)
        self._notice_rollback()
        scores = [outcome.event for each in taken for outcome in each.outcomes]
        learned = (*drifts, *(() if step is None else (step,)), *self._take_incidents())
        made = [each.market.event(forecast) for each, forecast in zip(taken, forecasts, strict=True)]
        return (*scores, *learned, *made)

    def learn(self) -> tuple[TrainerEvent, ...]:
        """Take and commit the step that is due, unless training is paused; then the chances of prices learn."""
        events = self._learn_step()
        self._learn_chances()
        return events

    def _learn_step(self) -> tuple[TrainerEvent, ...]:
        taken, self._to_learn = self._to_learn, None
        if taken is None or self.is_paused:
            return ()
        unlearned = [market for market in self.markets if market in self._unlearned]
        self._unlearned.clear()
        if (step := self._stored_step(unlearned)) is None:
            return ()
        log_step(step, taken.outcomes, taken.candle)
        return (step, *self._take_incidents())

    def _learn_chances(self) -> None:
        for market in self.markets:
            self._at_work = market
            if blocks := market.learn_chances():
                with self._record.write():
                    market.record.add_evidence(blocks)
        self._at_work = None

    def _scored(self, market: MarketSession, candle: Candle) -> list[Outcome]:
        self._at_work = market
        market.observe()
        return market.score(candle)

    @property
    def market_at_work(self) -> int | None:
        """The place of the market that a failure was of; None: of all that were in the close."""
        if len(self.markets) == 1:
            return 0
        return None if self._at_work is None else self.markets.index(self._at_work)

    def step_once(self) -> tuple[TrainerEvent, ...]:
        """One extra step on replayed samples; nothing while there is nothing to learn from."""
        step = self._stored_step([market for market in self.markets if len(market.history)])
        return () if step is None else (step, *self._take_incidents())

    def _stored_step(self, markets: Sequence[MarketSession]) -> StepDone | None:
        """One step on samples of these markets, committed; None if there is nothing to learn from."""
        step = self._train(markets)
        if step is None:
            return None
        with self._record.write():
            self._add_step(step)
        self._account_step(step)
        self._notice_rollback()
        return step

    def _begin_line(self) -> None:
        """Forecasts and losses so far are of other weights: they count for no checkpoint from now on."""
        for market in self.markets:
            market.scores.begin_line(market.position_ms)
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
        for challenger in self.challengers:
            challenger.resume()

    def _take_losses(self, taken: Sequence[_Taken]) -> None:
        """Give the schedule of the learning rate the newest losses, as means over the markets learned from."""
        scored = [each for each in taken if each.outcomes and each.market.is_learned]
        if not scored:
            return
        losses = [each.market.prequential_loss for each in scored if each.market.prequential_loss is not None]
        self._prequential_loss = float(np.mean(losses)) if losses else None
        if self._prequential_loss is not None:
            self.engine.schedule.observe(self._prequential_loss)
        compared = _mean_of_known([each.market.losses_in_units(each.outcomes) for each in scored])
        model, without, *of_challengers = compared.reshape(len(compared), -1)
        for challenger, own in zip(self.challengers, of_challengers, strict=True):
            challenger.compare(own, without)
        times = self.engine.schedule.compare(model, without)
        if times is not None:
            adapted = rate_adapted(times, self.engine.rate_now, self.engine.schedule.compared_candles)
            self._incidents.append(adapted.incident(self.run_id, self._clock.now_ms()))

    def _train(self, markets: Sequence[MarketSession]) -> StepDone | None:
        samples = [self._samples(market) for market in markets if market.is_learned]
        batch = joined([batch for batch, _ in samples]) if samples else None
        if batch is None or not batch.weights.any():
            return None
        started_s = self._clock.monotonic_s()
        self.step += 1
        anchors = np.concatenate([anchors for _, anchors in samples])
        trained = self.ladder.train(batch, anchors, self.step, self.losses.newest)
        result = trained.result.beside(anchor_loss(batch, anchors))
        duration_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        self._take(trained)
        for challenger in self.challengers:
            challenger.learn(batch, anchors, self.step)
        if self.step % self._settings.checkpoints.every_steps == 0:  # a check for a known good state
            looked = self.ladder.look_for_known_good(self.step)
            self._take(looked)
            result = result.with_non_finite_parameters() if looked.incidents else result
        return self._step_done(result, batch.size, duration_ms)

    def _undone_step(self) -> StepDone:
        """In place of the step after a forecast that was not finite: the model went back to a state before it."""
        self.step += 1
        result = self.engine.skipped_step("the model's forecast was not finite", NonFiniteOrigin.PARAMETERS)
        return self._step_done(result, 0, 0.0)

    def _samples(self, market: MarketSession) -> tuple[Batch, FloatArray]:
        """A market's part of the next batch, and the forecasts [B, H, Q, L] that the model corrects."""
        training, history = self._settings.training, market.history
        origins = draw_origins(len(history), training.replay_samples, training.replay_window, self.generator)
        weights = LossWeights(training.poor_forecast_weight, training.wrong_direction_weight)
        return build_batch(history, origins, self._settings.model.context, weights), history.anchors(origins)

    def _take(self, done: TrainedStep | Recovered) -> None:
        """Take the ladder's incidents, and whether training must pause."""
        self.is_paused = self.is_paused or done.must_pause
        self._add_drafts(done.incidents)

    def _add_drafts(self, drafts: Sequence[IncidentDraft]) -> None:
        now_ms = self._clock.now_ms()
        self._incidents.extend(draft.incident(self.run_id, now_ms) for draft in drafts)

    def _take_incidents(self) -> tuple[TrainerEvent, ...]:
        incidents, self._incidents = tuple(self._incidents), []
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

    def _forecast(self, taken: Sequence[_Taken]) -> list[IssuedForecast]:
        """Forecast every market; where the record already has the forecast of a candle, that one stays."""
        recorded = [each.market.recorded(self._resumed_from) for each in taken]
        missing = [each.market for each, known in zip(taken, recorded, strict=True) if known is None]
        if missing and self.challengers:
            inputs = [of.forecaster.market_inputs(self.markets.index(of)) for of in missing]
            by_challenger = [challenger.forecast(inputs) for challenger in self.challengers]
            for market, own in zip(missing, zip(*by_challenger, strict=True), strict=True):
                market.forecaster.challenge(own)
        made = iter(self._finite_quantiles(missing) if missing else ())
        forecasts = [
            each.market.issue(next(made), each.candle, each.mode, self.step, self.checkpoint_id)
            if known is None
            else known
            for each, known in zip(taken, recorded, strict=True)
        ]
        for each, forecast in zip(taken, forecasts, strict=True):
            each.market.commit(forecast, each.candle)
        self._forecast_with_reference_model(taken)
        return forecasts

    def _finite_quantiles(self, markets: Sequence[MarketSession]) -> Sequence[Quantiles]:
        """A finite forecast of each market, even if the model fails."""
        forecasters = [market.forecaster for market in markets]
        made, recovered = self._forecasts.forecast(lambda: forecast_together(forecasters), self.step)
        self._take(recovered)
        return [forecaster.without_model() for forecaster in forecasters] if made is None else made

    def _forecast_with_reference_model(self, taken: Sequence[_Taken]) -> None:
        corrections = self.reference_model.corrections([each.market.forecaster for each in taken])
        if corrections is not None:
            for each, own in zip(taken, corrections, strict=True):
                forecast = each.market.forecaster.of_model(own)
                each.market.reference_forecasts.take(each.candle.open_time_ms, forecast)

    def _commit(
        self,
        taken: Sequence[_Taken],
        forecasts: Sequence[IssuedForecast],
        drifts: Sequence[DriftFound],
        step: StepDone | None,
    ) -> None:
        """Store the scores and forecasts of this close in one transaction. step: one that was not done."""
        with self._record.write():
            for drift in drifts:
                if self._records[drift.run_id].add_drift(drift):  # a replayed candle's is stored already
                    self._incidents.append(drift_incident(drift))
            self._record.add_challenger_work([challenger.take_work() for challenger in self.challengers])
            self._add_step(step)
            pairs = zip(taken, forecasts, strict=True)
            new_scores = [self._store(each, forecast) for each, forecast in pairs]
        self._at_work = None
        for each, forecast, new in zip(taken, forecasts, new_scores, strict=True):
            each.market.account(each.outcomes, new, forecast)
        if step is not None:
            self._account_step(step)

    def _store(self, taken: _Taken, forecast: IssuedForecast) -> int:
        self._at_work = taken.market
        return taken.market.store(taken.outcomes, forecast)

    def _add_step(self, step: StepDone | None) -> None:
        if step is not None:
            self._record.add_step(step)
        for challenger in self.challengers:
            self._add_drafts(challenger.take_incidents())
        self._incidents = [self._records[each.run_id or self.run_id].add_incident(each) for each in self._incidents]

    def _account_step(self, step: StepDone) -> None:
        self.last_step_at_ms = step.at_ms
        if step.loss is not None:
            self.losses.add(step.loss)


def _mean_of_known(arrays: Sequence[FloatArray]) -> FloatArray:
    """The mean of equal shapes without NaN; NaN where all are."""
    stacked = np.stack(arrays)
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    total: FloatArray = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
