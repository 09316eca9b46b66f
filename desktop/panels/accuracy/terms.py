"""What the accuracy panel measures, and what each measure means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from core.domain.events import AccuracySummary, Estimate
from core.forecast.confidence import FEWEST_FOR_A_PROOF
from core.forecast.score import FEWEST_FOR_AN_ESTIMATE
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SHARES_REACH, _SKILLS_REACH = 0.1, 0.25


class Kind(Enum):
    """What a measure is held against."""

    TO_BEAT = auto()
    PROMISE = auto()
    SKILL = auto()


@dataclass(frozen=True, slots=True)
class Term:
    """One row: what it is called, and what it means, in English."""

    name: str
    meaning: str
    kind: Kind = Kind.TO_BEAT

    @property
    def reach(self) -> float:
        """How far the row's bar reaches to each side. Fixed, so that a bar moves only when its numbers do."""
        return _SKILLS_REACH if self.kind is Kind.SKILL else _SHARES_REACH

    @property
    def fewest(self) -> int:
        """Candles from which on it has an interval, and so a number."""
        return FEWEST_FOR_A_PROOF if self.kind is Kind.SKILL else FEWEST_FOR_AN_ESTIMATE

    @property
    def bar_meaning(self) -> str:
        """What the row's bar shows, in the user's language."""
        if self.kind is Kind.SKILL:
            others = translate("Panels", "The other skill has the same scale.")
        else:
            others = translate("Panels", "Direction, candle accuracy and both bands have the same scale.")
        bar = translate(
            "Panels",
            "The bar shows the interval, from {0} points below to {0} points above the value compared with, which is "
            "the mark in the middle.",
        )
        return f"{bar.format(round(self.reach * 100))} {others}"


TERMS = (
    Term(
        "Direction",
        "How often the next candle closed on the forecast side of the last close.\nFlat candles are excluded. "
        "Against: 50 %, a coin flip. Rules as simple as “the reverse of the last candle” reach 54 % on some "
        "markets, so a little more than 50 % alone proves nothing.",
    ),
    Term(
        "Candle accuracy",
        "Overlap of the forecast candle and the real one, from low to high: the length that both cover, divided "
        "by the length that either covers. 100 % is the same candle.\nAgainst: the same for the reference, “no "
        "change, with the usual width of this market”.",
    ),
    Term(
        "50 % band",
        "Share of closes inside the inner band. Against: 50 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
    ),
    Term(
        "90 % band",
        "Share of closes inside the outer band. Against: 90 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
    ),
    Term(
        "Close skill",
        "How much smaller the loss of the forecast close is than that of the reference, “no change, with the "
        "usual width of this market”. 0 % is no better, below is worse.\nSkill = 1 − loss / loss of the "
        "reference.",
        Kind.SKILL,
    ),
    Term(
        "Range skill",
        "The same for the candle's range, from low to high. Volatility is far easier to forecast than direction, "
        "so this skill is usually the larger one; it is no edge.",
        Kind.SKILL,
    ),
)

INTERVAL_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "If the same market could be watched again and again, 95 of 100 such intervals would contain the true value. "
    "While the interval contains the value compared with, nothing is proven. The intervals of the skills hold "
    "however often you look, over all of the run's own candles; the others hold for one look at the newest candles.",
)
SHARE_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "For the next close, the ghosts combine {0} of the model's forecast with {1} of simpler ones from the same "
    "candles: “no change”, averages, regressions. The better recent ones weigh more; where the model's share is "
    "small, the ghosts are those of the simpler forecasts.",
)


def measured(accuracy: AccuracySummary) -> tuple[tuple[Estimate, float | None], ...]:
    """Each term's estimate and what it is measured against, in the order of `TERMS`."""
    return (
        (accuracy.direction, 0.5),
        (accuracy.candle_accuracy, accuracy.reference_candle_accuracy),
        (accuracy.coverage_50, 0.5),
        (accuracy.coverage_90, 0.9),
        (accuracy.skill_close, 0.0),
        (accuracy.skill_range, 0.0),
    )
