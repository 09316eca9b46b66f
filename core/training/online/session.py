"""The online session: closed candles in; scores, a step, forecasts out. No threads, no Qt, time from a `Clock`.

Order at each close: score forecasts whose target has closed, forecast the next candles, commit both in one transaction;
then train on closed candles, and commit the step. A forecast waits for no training, and the next candle is read only
afterwards, so a forecast is always stored before its target is seen. Same seed and same candles on the CPU: same bytes.

One model learns one market or several. What belongs to each market is its `MarketSession`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import DriftFound, ForecastMode, Incident, StepDone, TrainerEvent
from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays
from core.settings.tree import Settings
from core.storage.close_writer import add_close
from core.storage.record_writer import TrainingRecord
from core.training.commands import MarketCandle
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.samples import Batch, LossWeights, anchor_loss, build_batch, draw_origins, padded
from core.training.online.adjusting import rate_adapted
from core.training.online.close_forecasts import CloseForecasts
from core.training.online.close_scores import mean_of_known, score_close
from core.training.online.drift import drift_incident
from core.training.online.forecast_mode import Provenance
from core.training.online.guarded_challenger import GuardedChallenger
from core.training.online.issued_forecast import IssuedForecast, Outcome, log_step
from core.training.online.loss_ledger import LossLedger
from core.training.online.market_session import MarketSession
from core.training.online.reference_model import ReferenceModel
from core.training.recovery.forecasting import ForecastGuard
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import Recovered, RecoveryLadder, TrainedStep


@dataclass(frozen=True, slots=True)
class _Closed:
    """A candle of this close, with its market and the scores of the forecasts for it."""

    market: MarketSession
    candle: Candle
    mode: ForecastMode
    outcomes: list[Outcome]
    losses_in_units: FloatArray
    """As in `CloseScores`, of this market."""


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
        self._by_market = {each.market: each for each in self.markets}
        self.forecaster = self.markets[0].forecaster
        self.engine = engine
        self.ladder = ladder
        self._guard = ForecastGuard(ladder)
        self._record = record
        self._records = {each.reader.run_id: each for each in (record, *(market.record for market in self.markets))}
        self.generator = generator
        self._clock = clock
        self.reference_model = reference_model
        self.challengers = tuple(challengers)
        self._forecasts = CloseForecasts(self.forecaster, engine, self._guard, self.challengers, reference_model)
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
        self.on_part_done: Callable[[], None] = lambda: None
        """Called each time that the work on another market, or on all of them, begins."""
        self._to_learn: _Closed | None = None
        """The candles of the close that a step is due for, or None."""
        self._incidents: list[Incident] = []
        """Incidents of the current close."""

    @property
    def market(self) -> MarketSession:
        """The first market, and the only one of most runs."""
        return self.markets[0]

    def of_market(self, market: Market) -> MarketSession:
        """Raises KeyError for a market that the run does not have."""
        return self._by_market[market]

    @property
    def run_id(self) -> str:
        return self._record.reader.run_id

    @property
    def position_ms(self) -> int | None:
        """The newest candle that was taken, of any market."""
        return max((each.position_ms for each in self.markets if each.position_ms is not None), default=None)

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

    def keep_reference_line_of(self, state: dict[str, Any]) -> None:
        """As `ReferenceModel.keep_line_of`, when the model takes a checkpoint's weights."""
        self.reference_model.keep_line_of(state)
        if not self.reference_model.is_in_force:
            self._forget_reference_forecasts()

    def _forget_reference_forecasts(self) -> None:
        for market in self.markets:
            market.reference_forecasts.clear()

    def load_record(self) -> None:
        """Read from the record what a checkpoint does not hold: forecasts still to be scored, scores so far.

        Called once, after a restore. Scores of later candles are added again as they are replayed.
        """
        self._resumed_from = self.checkpoint_id
        for market in self.markets:
            self._work_on(market)
            market.load_record()
        self._work_on(None)

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
        new = [(market, each) for each in closed if (market := self._by_market[each.market]).is_new(each.candle)]
        if not new:
            return ()
        newest_ms = self.position_ms
        is_late = newest_ms is not None and new[0][1].candle.open_time_ms <= newest_ms
        taking, observed = {market for market, _ in new}, [each for _, each in new]
        self._unlearned |= taking
        if not is_late:
            self.reference_model.renew(self.closes)
            self.closes += 1
        self._work_on(None)
        markets, candles = [market for market, _ in new], [each.candle for each in observed]
        self.forecaster.panel.append(np.array([market.place for market in markets]), candles)
        for challenger in self.challengers:
            challenger.observe(observed)
        scored = score_close(self.forecaster, markets, candles, self._clock.now_ms(), self._work_on)
        found = zip(new, scored.outcomes, scored.losses_in_units, strict=True)
        taken = [_Closed(of, each.candle, each.mode, outcomes, losses) for (of, each), outcomes, losses in found]
        if not is_late:
            self._apply_losses(taken)
        risen = [(each.market, each.market.rise) for each in taken if each.market.rise is not None]
        drifts = [market.answer_drift(rise, self.step, self.is_paused) for market, rise in risen]
        rollbacks, is_step_due = self.ladder.known_good.restores, not (is_late or self.is_paused)
        of_close = [(each.market, each.candle, each.mode) for each in taken]
        forecasts, recovered = self._forecasts.make(of_close, self.step, self.checkpoint_id, self._resumed_from)
        self._handle(recovered)
        is_undone = is_step_due and self.ladder.known_good.restores > rollbacks
        self._to_learn = taken[0] if is_step_due and not is_undone else None
        step = self._undone_step() if is_undone else None
        self._commit(taken, forecasts, drifts, step)
        self._notice_rollback()
        scores = [outcome.event for each in taken for outcome in each.outcomes]
        learned = (*drifts, *(() if step is None else (step,)), *self._pop_incidents())
        made = [each.market.event(forecast) for each, forecast in zip(taken, forecasts, strict=True)]
        return (*scores, *learned, *made)

    def learn(self) -> tuple[TrainerEvent, ...]:
        """Do and commit the step that is due, unless training is paused; then the chances of prices learn."""
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
        log_step(step, taken.market.market, taken.outcomes, taken.candle)
        return (step, *self._pop_incidents())

    def _learn_chances(self) -> None:
        for market in self.markets:
            self._work_on(market)
            if blocks := market.learn_chances():
                with self._record.write():
                    market.record.add_evidence(blocks)
        self._work_on(None)

    def _work_on(self, market: MarketSession | None) -> None:
        """market: None for all of them."""
        self._at_work = market
        self.on_part_done()

    @property
    def market_at_work(self) -> Market | None:
        """The market that a failure was of; None: of all that were in the close."""
        if len(self.markets) == 1:
            return self.market.market
        return None if self._at_work is None else self._at_work.market

    def step_once(self) -> tuple[TrainerEvent, ...]:
        """One extra step on replayed samples; nothing while there is nothing to learn from."""
        step = self._stored_step([market for market in self.markets if len(market.history)])
        return () if step is None else (step, *self._pop_incidents())

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
        self._guard.resumed()
        for challenger in self.challengers:
            challenger.resume()

    def _apply_losses(self, taken: Sequence[_Closed]) -> None:
        """Pass the newest losses to the learning rate's schedule, as means over the markets learned from."""
        scored = [each for each in taken if each.outcomes and each.market.is_learned]
        if not scored:
            return
        losses = [each.market.prequential_loss for each in scored if each.market.prequential_loss is not None]
        self._prequential_loss = float(np.mean(losses)) if losses else None
        if self._prequential_loss is not None:
            self.engine.schedule.observe(self._prequential_loss)
        compared = mean_of_known([each.losses_in_units for each in scored])
        model, without, *of_challengers = compared.reshape(len(compared), -1)
        for challenger, own in zip(self.challengers, of_challengers, strict=True):
            challenger.compare(own, without)
        times = self.engine.schedule.compare(model, without)
        if times is not None:
            adapted = rate_adapted(times, self.engine.rate_now, self.engine.schedule.compared_candles)
            self._incidents.append(adapted.incident(self.run_id, self._clock.now_ms()))

    def _train(self, markets: Sequence[MarketSession]) -> StepDone | None:
        learned = [market for market in markets if market.is_learned]
        if not learned:
            return None
        batch, anchors = self._samples(learned)
        if not batch.weights.any():
            return None
        started_s = self._clock.monotonic_s()
        self.step += 1
        trained = self.ladder.train(batch, anchors, self.step, self.losses.newest)
        result = trained.result.beside(anchor_loss(batch, anchors))
        duration_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        self._handle(trained)
        for challenger in self.challengers:
            challenger.learn(batch, anchors, self.step)
        if self.step % self._settings.checkpoints.every_steps == 0:  # a check for a known good state
            looked = self.ladder.look_for_known_good(self.step)
            self._handle(looked)
            result = result.with_non_finite_parameters() if looked.incidents else result
        return self._step_done(result, batch.samples, duration_ms)

    def _undone_step(self) -> StepDone:
        """In place of the step after a forecast that was not finite: the model went back to a state before it."""
        self.step += 1
        result = self.engine.skipped_step("the model's forecast was not finite", NonFiniteOrigin.PARAMETERS)
        return self._step_done(result, 0, 0.0)

    def _samples(self, markets: Sequence[MarketSession]) -> tuple[Batch, FloatArray]:
        """The next batch of samples of these markets, and the forecasts [B, H, Q, L] that the model corrects."""
        training, panel = self._settings.training, self.forecaster.panel
        drawn = training.replay_samples, training.replay_window, self.generator
        origins = [draw_origins(len(market.history), *drawn) for market in markets]
        places = np.repeat([market.place for market in markets], [each.size for each in origins])
        weights = LossWeights(training.poor_forecast_weight, training.wrong_direction_weight)
        rows = np.concatenate(origins)
        batch = build_batch(panel, places, rows, self._settings.model.context, weights)
        anchors = panel.anchors(places, rows)
        if not self.engine.keeps_graph:
            return batch, anchors
        full = (1 + training.replay_samples) * sum(market.is_learned for market in self.markets)
        return batch.padded(full), padded(anchors, full)  # so that a late market changes no size

    def _handle(self, done: TrainedStep | Recovered) -> None:
        """Store the ladder's incidents, and whether training must pause."""
        self.is_paused = self.is_paused or done.must_pause
        self._add_drafts(done.incidents)

    def _add_drafts(self, drafts: Sequence[IncidentDraft]) -> None:
        now_ms = self._clock.now_ms()
        self._incidents.extend(draft.incident(self.run_id, now_ms) for draft in drafts)

    def _pop_incidents(self) -> tuple[TrainerEvent, ...]:
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

    def _commit(
        self,
        taken: Sequence[_Closed],
        forecasts: Sequence[IssuedForecast],
        drifts: Sequence[DriftFound],
        step: StepDone | None,
    ) -> None:
        """Store the scores and forecasts of this close in one transaction. step: one that was not done."""
        with self._record.write():
            for drift in drifts:
                if self._records[drift.run_id].add_drift(drift):  # a replayed candle's is stored already
                    self._incidents.append(drift_incident(drift))
            self._record.add_challenger_work([challenger.pop_work() for challenger in self.challengers])
            self._add_step(step)
            pairs = zip(taken, forecasts, strict=True)
            rows = [each.market.rows(each.outcomes, forecast) for each, forecast in pairs]
            new_scores = add_close(self._record.db, rows)
        for each, forecast, new in zip(taken, forecasts, new_scores, strict=True):
            each.market.account(each.outcomes, new, forecast)
        if step is not None:
            self._account_step(step)

    def _add_step(self, step: StepDone | None) -> None:
        if step is not None:
            self._record.add_step(step)
        for challenger in self.challengers:
            self._add_drafts(challenger.pop_incidents())
        self._incidents = [self._records[each.run_id or self.run_id].add_incident(each) for each in self._incidents]

    def _account_step(self, step: StepDone) -> None:
        self.last_step_at_ms = step.at_ms
        if step.loss is not None:
            self.losses.add(step.loss)
