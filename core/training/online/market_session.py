"""One market of a session: its past, its forecasts until they are scored, and its scores.

Everything here is of this market alone. The model, its optimizer and the recovery ladder belong to the session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import AccuracySummary, DriftFound, ForecastMade, ForecastMode, Ghost
from core.domain.quantities import FloatArray
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import Quantiles
from core.forecast.history import History
from core.storage.close_writer import MarketRows
from core.storage.evidence_blocks import EvidenceBlock
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredScore
from core.training.engine.samples import USUAL_WEIGHTS
from core.training.online.drift import DriftWatch, Rise
from core.training.online.forecast_mode import Provenance
from core.training.online.forecaster import Forecaster
from core.training.online.issued_forecast import IssuedForecast, Outcome, stored_forecast
from core.training.online.learned_chances import ChanceLearner
from core.training.online.reference_model import ReferenceForecasts
from core.training.online.score_ledger import ScoreLedger, learned_loss, load_scores


class MarketSession:
    """For each candle that the forecaster has observed: `score`, `issue`, `rows` to store, `account`."""

    def __init__(
        self,
        market: Market,
        place: int,
        forecaster: Forecaster,
        record: TrainingRecord,
        scores: ScoreLedger,
        drifts: DriftWatch,
        chances: ChanceLearner,
        provenance: Provenance,
        clock: Clock,
    ) -> None:
        """place: the market's among those of the forecaster, which knows them all."""
        self.market, self.place = market, place
        self._interval = market.interval
        self.history = history = History(forecaster.panel, place)
        self.forecaster = forecaster
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
        """Loss of the newest one-step forecast, in the training loss's units; None if a gap lies before its target."""
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
            load_scores(self.scores, reader, self.scores.own_mode, position, self._first_loss)

    def _first_loss(self, score: StoredScore) -> float:
        """The loss that was learned from, before the candle was corrected."""
        if score.version == 1:
            return learned_loss(score)
        return learned_loss(self.record.reader.score_versions(score.target_open_time_ms)[0])

    def is_new(self, candle: Candle) -> bool:
        """Whether the candle opens later than the newest one processed."""
        return self.position_ms is None or candle.open_time_ms > self.position_ms

    def set_learned(self, is_learned: bool) -> None:
        """Whether the model takes samples of this market from now on. Kept with the run: needs an open transaction."""
        self.record.set_learned(is_learned)
        self.is_learned = is_learned

    @property
    def due(self) -> list[IssuedForecast]:
        """The forecasts that the newest candle is a target of, with horizon 1 first, until `account`."""
        return list(reversed(self._pending))

    def apply_one_step(self, outcome: Outcome | None, factor: FloatArray) -> None:
        """Take the outcome of the newest candle's one-step forecast, None if there was none. factor: the units of its
        origin, [Q]."""
        self.rise = None
        if outcome is None:
            return
        if outcome.score.after_gap:
            self.prequential_loss = None
            return
        weighted = outcome.learned_losses / factor * USUAL_WEIGHTS
        self.prequential_loss = float(weighted.sum() / USUAL_WEIGHTS.sum())
        self.rise = self.drifts.observe(self.prequential_loss)
        usual = self.scores.usual_loss
        ratio = learned_loss(outcome.score) / usual if usual else 1.0
        self.forecaster.panel.mark_outcome(self.place, len(self.history) - 2, ratio, outcome.learned_hit is False)

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
        self,
        quantiles: Quantiles,
        ghosts: tuple[Ghost, ...],
        candle: Candle,
        mode: ForecastMode,
        step: int,
        checkpoint_id: str | None,
        next_regime: RegimeProbabilities | None,
    ) -> IssuedForecast:
        """The forecast after this candle, the newest. step, checkpoint_id: of the weights."""
        target_opens_ms = self._interval.close_time_ms(candle.open_time_ms)
        made_at_ms = self._clock.now_ms()
        return IssuedForecast(
            interval=self._interval,
            quantiles=quantiles,
            ghosts=ghosts,
            origin_open_time_ms=candle.open_time_ms,
            inputs_until_ms=target_opens_ms,
            made_at_ms=made_at_ms,
            mode=self._provenance.mode_of(mode, made_at_ms, target_opens_ms),
            step=step,
            checkpoint_id=checkpoint_id,
            origin_close=candle.close,
            scale=float(self.history.column("scale")[-1]),
            conditions=self.forecaster.regimes.now(self.place),
            next_regime=next_regime,
        )

    def issue_beside(
        self, quantiles: Quantiles, newest: IssuedForecast, step: int, checkpoint_id: str, learned_until_ms: int
    ) -> IssuedForecast:
        """Another model's forecast at the origin of `newest`. learned_until_ms: it learned from candles up to here."""
        return replace(
            newest,
            quantiles=quantiles,
            ghosts=(),
            made_at_ms=self._clock.now_ms(),
            mode=ForecastMode.SEEN if newest.inputs_until_ms < learned_until_ms else newest.mode,
            step=step,
            checkpoint_id=checkpoint_id,
            conditions=None,
            next_regime=None,
        )

    def event(self, forecast: IssuedForecast) -> ForecastMade:
        """The event of the forecast that was committed last, with those of all experts."""
        return forecast.drawn(self.run_id, self.forecaster.drawn_experts(self.place))

    def rows(self, outcomes: Sequence[Outcome], forecast: IssuedForecast) -> MarketRows:
        """What this close adds to the record."""
        scores = [outcome.score for outcome in outcomes]
        evidence = self.scores.evidence.pop_new()
        return MarketRows(self.record, scores, evidence, forecast, forecast.conditions, forecast.next_regime)

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
        own = self.scores.own_summary(self.scored, self.live_scored, self.forecaster.model_weight(self.place))
        return replace(own, after_gap=self.after_gap)

    def answer_drift(self, rise: Rise, step: int, is_paused: bool) -> DriftFound:
        """Respond to a rise of the loss on the newest candle. Returns it as an event."""
        position = self.position_ms
        assert position is not None
        done = self.drifts.answer(is_learned=self.is_learned, is_paused=is_paused)
        at_ms = self._clock.now_ms()
        return DriftFound(self.run_id, position, step, rise.candles, rise.loss_before, rise.loss_after, done, at_ms)
