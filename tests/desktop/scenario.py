"""Plausible events for the window's tests and pictures, built from the real dataclasses; seeded."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import numpy as np

from core.checkpoints.row import CheckpointRow
from core.domain.candle import Candle, Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Diagnosis, Disease, GradientStatistics, LayerStatistics, SettingChange
from core.domain.events import (
    QUANTILE_LEVELS,
    AccuracySummary,
    DriftFound,
    Estimate,
    ExpertForecasts,
    ForecastGroup,
    ForecastMade,
    ForecastMode,
    Ghost,
    Incident,
    LossSummary,
    MarketStatus,
    MemberRun,
    OnlineGain,
    ResumePoint,
    Severity,
    StepDone,
    TrainerReady,
    TrainerState,
    TrainerStatus,
    Trend,
)
from core.domain.quantities import QUANTITIES, Quantity
from core.evaluation.leaderboard import Leaderboard, LeaderboardRow, Ranking
from core.market.feeds.base import FeedState, FeedStatus
from core.storage.errors import StorageError
from core.storage.evidence_blocks import COMBINATION
from core.training.online.forecast_events import drawn_experts
from desktop.state.run_state import RunState

RUN = "btcusdt-1m-7f3a"
NOW_MS = 1_795_234_567_000
MINUTE = Interval.parse("1m")
MARKET = Market("binance", "BTC/USDT", MINUTE)
NOTHING = Estimate(None, None, None, 0)
_IN_A_BLOCK = (
    "attention_norm",
    "attention.project_in",
    "attention.project_out",
    "feed_forward_norm",
    "widen",
    "narrow",
)
LAYERS = (
    "embed",
    "position",
    *(f"blocks.{block}.{part}" for block in range(2) for part in _IN_A_BLOCK),
    "final_norm",
    "head",
)


def market(count: int = 1_200, seed: int = 11) -> list[Candle]:
    """Candles whose volatility clusters, ending just before `NOW_MS`."""
    return list(_market(count, seed))


@functools.lru_cache(maxsize=16)
def _market(count: int, seed: int) -> tuple[Candle, ...]:
    generator = np.random.default_rng(seed)
    start_ms = MINUTE.open_time_ms(NOW_MS) - count * MINUTE.duration_ms
    candles, price, sigma = [], 64_250.0, 6e-4
    for index in range(count):
        sigma = 6e-4 + 0.9 * (sigma - 6e-4) + 4e-4 * abs(float(generator.normal())) * 0.2
        path = price * np.exp(np.cumsum(generator.normal(0.0, sigma / 4, 16)))
        high, low, close = max(price, float(path.max())), min(price, float(path.min())), float(path[-1])
        volume = float(generator.gamma(2.0, 4.0) * sigma / 6e-4)
        numbers = (round(each, 2) for each in (price, high, low, close))
        candles.append(Candle(start_ms + index * MINUTE.duration_ms, *numbers, volume))
        price = round(close, 2)
    return tuple(candles)


def steps(count: int = 800, first: int = 11_541, seed: int = 3) -> Iterator[StepDone]:
    """A loss that falls slowly through noise; one step was skipped, and those of a norm above 1 were clipped."""
    return iter(_steps(count, first, seed))


@functools.lru_cache(maxsize=16)
def _steps(count: int, first: int, seed: int) -> tuple[StepDone, ...]:
    return tuple(_each_step(count, first, seed))


def _each_step(count: int, first: int, seed: int) -> Iterator[StepDone]:
    generator, of_layers = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    for index in range(count):
        is_skipped = index == count // 2
        fall = 0.05 * math.exp(-index / 400)
        norm = float(of_layers.lognormal(-0.4, 0.5))
        yield StepDone(
            run_id=RUN,
            step=first + index,
            candle_open_time_ms=NOW_MS - (count - index) * MINUTE.duration_ms,
            loss=None if is_skipped else 0.31 + fall + 0.05 * float(generator.gamma(2.0, 0.5) - 1.0),
            prequential_loss=0.33 + 0.6 * fall + 0.14 * float(generator.gamma(2.0, 0.5) - 1.0),
            gradient_norm=None if is_skipped else norm,
            clipped=norm > 1.0 and not is_skipped,
            learning_rate=1e-4 if index < 500 else 5e-5,
            clip_norm=1.0,
            samples=32,
            duration_ms=38.4,
            at_ms=NOW_MS - (count - index) * 900,
            skipped_because="The gradient was not finite." if is_skipped else None,
            gradients=gradients(of_layers, None if is_skipped else norm),
        )


def gradients(generator: np.random.Generator, norm: float | None, clip_norm: float = 1.0) -> GradientStatistics:
    """Of one step with this total norm, None for a step whose gradients are not finite."""
    if norm is None:
        nothing = LayerStatistics(None, None, None, None, None, 0.0)
        return GradientStatistics((nothing,) * len(LAYERS), None, 21.4, 0.0, (None,) * 6)
    shares = 10.0 ** (np.linspace(-1.4, 0.0, len(LAYERS)) + generator.normal(0.0, 0.15, len(LAYERS)))
    shares[3:-1:3] *= 0.15
    shares /= np.sqrt((shares**2).sum())
    layers = tuple(
        LayerStatistics(
            norm=norm * float(share),
            mean=norm * float(share) * 1e-3,
            std=norm * float(share) / 64,
            largest=norm * float(share) / 9,
            gradient_ratio=norm * float(share) / 5,
            update_ratio=1.2e-3 * float(share) ** 0.3,
        )
        for share in shares
    )
    parts = tuple(float(each) for each in generator.dirichlet((8, 6, 4, 4, 9, 14)) * 0.31)
    return GradientStatistics(layers, min(norm, clip_norm), 21.4, 1.3e-3, parts)


NEW_RUN = SettingChange("model", "initialisation", "by-activation")
"""A change that takes effect at the next start of training, as a new run."""


def diagnosis(disease: Disease = Disease.ALWAYS_CLIPPING, **changes: object) -> Diagnosis:
    """The gradient doctor's verdict, with a change of the clip threshold."""
    verdict = Diagnosis(
        run_id=RUN,
        step=12_340,
        disease=disease,
        evidence="97 % of the last 200 steps were clipped; the median norm is 2.1, the threshold 1.",
        advice="Raise the threshold to the 90th percentile of the norms, so that only outliers are clipped.",
        change=SettingChange("gradients", "clip_norm", 3.4),
    )
    return replace(verdict, **changes)  # type: ignore[arg-type]


def accuracy(**changes: object) -> AccuracySummary:
    """The scores of a run with no proven edge."""
    summary = AccuracySummary(
        group=ForecastGroup.LIVE,
        window=1_000,
        scored=12_340,
        live_scored=3_210,
        direction=Estimate(0.523, 0.491, 0.555, 948),
        candle_accuracy=Estimate(0.437, 0.421, 0.453, 1_000),
        reference_candle_accuracy=0.419,
        coverage_50=Estimate(0.508, 0.477, 0.539, 1_000),
        coverage_90=Estimate(0.893, 0.872, 0.911, 1_000),
        skill_close=Estimate(0.011, -0.004, 0.026, 1_000),
        skill_range=Estimate(0.098, 0.071, 0.124, 1_000),
        model_weight=0.64,
        has_proven_edge=False,
        verdict="No proven edge: the interval includes zero, on 1000 candles.",
        model_gain=(Estimate(0.003, -0.002, 0.008, 1_000), *[Estimate(0.001, -0.004, 0.006, 1_000)] * 2),
    )
    return replace(summary, **changes)  # type: ignore[arg-type]


def drift(**changes: object) -> DriftFound:
    """The loss doubled, 740 steps ago."""
    found = DriftFound(
        run_id=RUN,
        candle_open_time_ms=NOW_MS - 740 * MINUTE.duration_ms,
        step=11_600,
        candles=37,
        loss_before=0.327,
        loss_after=0.661,
        what_was_done="The learning rate was set to 3 times its value; it falls back over 300 steps.",
        at_ms=NOW_MS - 740 * 900,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def online_gain(**changes: object) -> OnlineGain:
    """Learning has helped a little over 4,000 candles."""
    found = OnlineGain(
        gain=Estimate(0.0082, 0.0021, 0.0143, 4_000),
        close=Estimate(0.0011, -0.0012, 0.0034, 4_000),
        range=Estimate(0.0153, 0.0031, 0.0275, 4_000),
        age=2_312,
        needed=2_000,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def market_status(market: Market = MARKET, run_id: str = RUN, **changes: object) -> MarketStatus:
    """Of a market of a run in full swing."""
    member = MemberRun(run_id, market, is_learned=True)
    found = MarketStatus(member, NOW_MS - MINUTE.duration_ms, accuracy(), None, online_gain(), None)
    return replace(found, **changes)  # type: ignore[arg-type]


def status(state: TrainerState = TrainerState.TRAINING, **changes: object) -> TrainerStatus:
    """A run in full swing; its market is `MARKET` unless `markets` are given, and changes may be of it too."""
    names = {field.name for field in fields(MarketStatus)}
    of_market = {name: changes.pop(name) for name in names.intersection(changes)}
    run_id = str(changes.get("run_id", RUN))
    pulse = TrainerStatus(
        run_id=run_id,
        state=state,
        step=12_340,
        candles=12_371,
        steps_per_s=15.5,
        last_step_at_ms=NOW_MS - 900,
        loss=LossSummary(0.3127, 0.3098, Trend.IMPROVING),
        device="CPU, 1 thread",
        learning_rate=5e-5,
        clip_norm=1.0,
        markets=(market_status(run_id=run_id, **of_market),),
    )
    return replace(pulse, **changes)  # type: ignore[arg-type]


def just_caught_up(live: int = 0, caught_up: int = 821) -> TrainerStatus:
    """A live run after the catch-up, with few live forecasts scored."""
    few = Estimate(None, None, None, live)
    own = accuracy(
        scored=live + caught_up,
        live_scored=live,
        direction=few,
        candle_accuracy=few,
        reference_candle_accuracy=None,
        coverage_50=few,
        coverage_90=few,
        skill_close=few,
        skill_range=few,
        model_weight=0.03,
        verdict=f"Too early to tell: {live} scored candles.",
    )
    apart = accuracy(
        group=ForecastGroup.CAUGHT_UP,
        scored=own.scored,
        live_scored=live,
        coverage_90=Estimate(0.893, 0.872, 0.911, caught_up),
        skill_close=Estimate(0.011, -0.004, 0.026, caught_up),
    )
    return status(accuracy=own, accuracy_apart=apart)


def fresh_status(state: TrainerState = TrainerState.STARTING) -> TrainerStatus:
    """A run that has not learned or scored anything."""
    nothing = AccuracySummary(
        ForecastGroup.LIVE,
        0,
        0,
        0,
        NOTHING,
        NOTHING,
        None,
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        None,
        False,
        "Too early to tell: 0 scored candles.",
    )
    loss = LossSummary(None, None, Trend.UNKNOWN)
    return status(
        state, step=0, candles=0, position_ms=None, steps_per_s=None, last_step_at_ms=None, loss=loss, accuracy=nothing
    )


def ready(run_id: str = RUN, *members: MemberRun) -> TrainerReady:
    """The trainer is ready; the market is `MARKET` unless members are given."""
    learned = members or (MemberRun(run_id, MARKET, is_learned=True),)
    return TrainerReady(
        run_id=run_id,
        device="CPU, 1 thread",
        step=11_540,
        resumed_from="checkpoint-11540",
        parameters=118_432,
        markets=tuple(ResumePoint(member, NOW_MS, NOW_MS) for member in learned),
        layers=LAYERS,
    )


def ready_of_three() -> TrainerReady:
    """Its model learns two more markets."""
    others = (Market("binance", f"{name}/USDT", MINUTE) for name in ("ETH", "SOL"))
    members = (MemberRun(f"{RUN}-{at}", market, is_learned=True) for at, market in enumerate(others, 1))
    return ready(RUN, MemberRun(RUN, MARKET, is_learned=True), *members)


def watch(state: RunState, run_id: str | None = RUN, market: Market = MARKET) -> None:
    """Open a market; its run is known unless it is None."""
    state.markets.set_universe((market,))
    state.begin(market)
    if run_id is not None:
        state.set_members(run_id, {run_id: market})


def forecast(candles: Sequence[Candle], horizons: int = 8, seed: int = 5) -> ForecastMade:
    """Ghosts ahead of the newest candle, whose bands widen."""
    generator = np.random.default_rng(seed)
    last = candles[-1]
    levels = np.array(QUANTILE_LEVELS)
    price, ghosts = last.close, []
    for ahead in range(1, horizons + 1):
        close = price * math.exp(float(generator.normal(1e-4, 3e-4)))
        spread = last.close * 9e-4 * math.sqrt(ahead)
        quantiles = tuple(float(close + spread * 1.3 * (level - 0.5) * 2) for level in levels)
        high, low = max(price, close) * (1 + 2e-4), min(price, close) * (1 - 2e-4)
        open_time_ms = last.open_time_ms + ahead * MINUTE.duration_ms
        ghosts.append(Ghost(open_time_ms, price, high, low, close, 8.0, quantiles))
        price = close
    return ForecastMade(
        run_id=RUN,
        origin_open_time_ms=last.open_time_ms,
        inputs_until_ms=last.open_time_ms + MINUTE.duration_ms,
        made_at_ms=NOW_MS,
        mode=ForecastMode.LIVE,
        step=12_340,
        checkpoint_id="checkpoint-12340",
        origin_close=last.close,
        ghosts=tuple(ghosts),
        experts=_experts(horizons),
    )


def _experts(horizons: int) -> ExpertForecasts:
    """What three of them alone forecast: each rises or falls steadily."""
    natural = np.zeros((3, horizons, QUANTITIES, len(QUANTILE_LEVELS)))
    ahead = np.arange(1, horizons + 1)
    spread = 1.2e-3 * np.sqrt(ahead)[:, None] * (np.array(QUANTILE_LEVELS) - 0.5) * 2
    natural[:, :, Quantity.CLOSE] = spread + np.array([-2e-4, 0.0, 3e-4])[:, None, None] * ahead[:, None]
    natural[:, :, Quantity.RANGE] = -6.5
    return drawn_experts(("model", "reference", "HAR"), natural)


def leaderboard(ranking: Ranking = Ranking.BOTH) -> Leaderboard:
    """HAR leads; the combination, the model and one challenger may be as good, others are proven worse."""
    of = (
        ("HAR", 1, 0.0388, 0.2019, None, 0.0),
        (COMBINATION, 1, 0.0359, 0.2014, 0.512, 0.0017),
        ("model", 1, 0.0348, 0.1999, 0.505, 0.0031),
        ("gru", 1, 0.0331, 0.1985, 0.508, 0.0038),
        ("my_model", 5, 0.0266, 0.1672, 0.503, 0.0301),
        ("GARCH", 5, 0.0252, 0.1269, None, 0.0444),
        ("12-lag regression", 5, -0.0043, 0.1685, 0.509, 0.0383),
        ("Markov switching", 8, 0.0181, 0.0768, None, 0.073),
        ("reference", 9, 0.0, 0.0, None, 0.1204),
        ("repeat last", 10, -0.4399, 0.026, 0.485, 0.3273),
        ("reverse last", 10, -0.4659, None, 0.515, 0.3534),
    )
    return Leaderboard(ranking, tuple(_leaderboard_row(*each) for each in of))


def _leaderboard_row(
    name: str, rank: int, close: float, height: float | None, direction: float | None, behind: float
) -> LeaderboardRow:
    def estimate(value: float | None, width: float) -> Estimate | None:
        return None if value is None else Estimate(value, value - width, value + width, 12_350)

    exact = Estimate(0.0, None, None, 12_350) if name == "reference" else None
    return LeaderboardRow(
        name=name,
        rank=rank,
        n=12_350,
        since_ms=NOW_MS - 12_371 * MINUTE.duration_ms,
        close=exact or estimate(close, 0.0145),
        range=exact or estimate(height, 0.056),
        coverage_90=estimate(0.9, 0.025),
        direction=estimate(direction, 0.042),
        cost_ms={"model": 29.5, "gru": 11.2, "my_model": 4.6}.get(name),
        answered={"gru": 1.0, "my_model": 0.97149}.get(name),
        behind_leader=estimate(behind, 0.005) if behind else None,
    )


def checkpoint(step: int, **changes: object) -> CheckpointInfo:
    """One kept checkpoint; its id is ``checkpoint-<step>``."""
    age_ms = (12_340 - step) * 6_000
    skill = 0.011 - abs(step - 12_100) * 4e-6
    info = CheckpointInfo(
        checkpoint_id=f"checkpoint-{step}",
        run_id=RUN,
        step=step,
        candle_open_time_ms=NOW_MS - age_ms,
        created_at_ms=NOW_MS - 45_000 - age_ms,
        reason="periodic",
        skill=skill,
        skill_low=skill - 0.015,
        skill_high=skill + 0.014,
        scored=step - 40,
        model_gain=skill,
        gain_low=skill - 0.005,
        gain_high=skill + 0.006,
        gain_candles=900,
        loss=0.3127 + abs(step - 12_300) * 2e-6,
        file=f"models/transformer/{RUN}/{step}.safetensors",
        size_bytes=1_431_552,
        sha256="9f2c" * 16,
        parent_id=None,
    )
    return replace(info, **changes)  # type: ignore[arg-type]


def checkpoints() -> list[CheckpointInfo]:
    """What a run keeps, newest first."""
    return [
        checkpoint(12_340),
        checkpoint(12_330),
        checkpoint(12_320),
        checkpoint(12_310, reason="pause"),
        checkpoint(12_100, reason="best", is_best=True),
        checkpoint(11_800, reason="manual", is_pinned=True, note="Before the learning rate was halved"),
        checkpoint(10_020, reason="exit", skill=None, model_gain=None, gain_low=None, gain_high=None, gain_candles=42),
    ]


def incidents() -> list[Incident]:
    """Oldest first."""
    return [
        Incident(
            RUN,
            NOW_MS - 7_200_000,
            Severity.INFO,
            "feed.reconnected",
            "The connection to Binance was lost for 12 s.",
            "It was opened again, and 1 missing candle was fetched.",
            "Nothing: no candle is missing.",
        ),
        Incident(
            RUN,
            NOW_MS - 3_000_000,
            Severity.WARNING,
            "training.skipped",
            "A gradient was not finite.",
            "The step was skipped and the weights were left as they were.",
            "One step.",
            "step 11941, total norm nan",
        ),
        Incident(
            RUN,
            NOW_MS - 600_000,
            Severity.ERROR,
            "trainer.died",
            "The trainer process ended unexpectedly (signal 9).",
            "It was started again from checkpoint 12,310.",
            "20 steps were repeated; no candle was missed.",
        ),
    ]


def live_feed() -> FeedStatus:
    """The exchange is live."""
    return FeedStatus(FeedState.LIVE, "Binance, BTC/USDT 1m, newest trade just now.", NOW_MS)


class Library:
    """A table of checkpoints in memory, with the contract of the real one."""

    def __init__(self, infos: Sequence[CheckpointInfo] = ()) -> None:
        self.infos = list(infos)
        self.requested: list[str] = []
        self.is_broken = False
        self.is_open = True
        self.archived: set[str] = set()
        self._sequences: dict[str, int] = {}

    @property
    def checkpoints(self) -> Library:
        return self

    @property
    def browsed(self) -> Library:
        return self

    def page(self, before: int | None, limit: int) -> Sequence[CheckpointRow]:
        return [kept for kept in self._kept() if before is None or kept.sequence < before][:limit]

    def newer(self, after: int) -> Sequence[CheckpointRow]:
        return [kept for kept in self._kept() if kept.sequence > after]

    def of(self, ids: Sequence[str]) -> Sequence[CheckpointRow]:
        return [kept for kept in self._kept() if kept.info.checkpoint_id in ids]

    def _kept(self) -> list[CheckpointRow]:
        self._check()
        for info in reversed(self.infos):
            self._sequences.setdefault(info.checkpoint_id, len(self._sequences) + 1)
        kept = [
            CheckpointRow(
                info,
                "binance",
                "BTC/USDT",
                MINUTE.duration_ms,
                self._sequences[info.checkpoint_id],
                info.run_id in self.archived,
            )
            for info in self.infos
            if info.checkpoint_id not in self.requested
        ]
        return sorted(kept, key=lambda each: each.sequence, reverse=True)

    def set_pinned(self, checkpoint_id: str, is_pinned: bool) -> None:
        self._change(checkpoint_id, is_pinned=is_pinned)

    def set_note(self, checkpoint_id: str, note: str) -> None:
        self._change(checkpoint_id, note=note)

    def set_name(self, checkpoint_id: str, name: str) -> None:
        self._change(checkpoint_id, name=name)

    def set_tags(self, checkpoint_id: str, tags: Sequence[str]) -> None:
        self._change(checkpoint_id, tags=tuple(tags))

    def request_deletion(self, ids: Sequence[str], at_ms: int) -> None:
        self._check()
        self.requested.extend(ids)

    def set_verified(self, checkpoint_id: str, at_ms: int, fault: str) -> None:
        self._change(checkpoint_id, fault=fault, verified_at_ms=at_ms)

    def set_archived(self, run_id: str, is_archived: bool) -> None:
        self._check()
        (self.archived.add if is_archived else self.archived.discard)(run_id)

    def cancel_deletion(self, ids: Sequence[str]) -> Sequence[str]:
        self._check()
        self.requested = [id_ for id_ in self.requested if id_ not in ids]
        return [info.checkpoint_id for info in self.infos if info.checkpoint_id in ids]

    def _change(self, checkpoint_id: str, **changes: object) -> None:
        self._check()
        self.infos = [
            replace(info, **changes) if info.checkpoint_id == checkpoint_id else info  # type: ignore[arg-type]
            for info in self.infos
        ]

    def _check(self) -> None:
        if self.is_broken:
            raise StorageError("The database is locked by another program. Close that program, then try again.")
