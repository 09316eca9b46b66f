"""Three questions that a run has to answer: are the ghosts better than no change, does the model add to the baselines,
is learning helping? In words, colour and a bar, first in the Accuracy panel and in the status bar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from core.domain.events import AccuracySummary, Estimate, ForecastGroup, OnlineGain
from core.forecast.sample_sizes import BLOCK, FEWEST_FOR_A_PROOF
from desktop.panels.accuracy.words import NOTHING, is_of_nothing, span, value_of
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING, format_candles, format_count, format_percent
from desktop.ui.icons import tabular
from desktop.ui.interface_size import scale_text
from desktop.ui.interval_bar import IntervalBar
from desktop.ui.panel_base import colour_text, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

BAR_REACH = 0.1
"""How far each bar reaches to both sides of 0. Fixed, so that a bar moves only when its figure does."""
_NONE = Estimate(None, None, None, 0)
_WHERE = {
    ForecastGroup.REPLAYED: QT_TRANSLATE_NOOP("Panels", "in replay"),
    ForecastGroup.SIMULATED: QT_TRANSLATE_NOOP("Panels", "in simulation"),
}
"""Origins of an answer that is no proof: replay and simulation, whose future is known."""


class Found(Enum):
    """Verdict of an interval that holds however often it is looked at; the value is its symbol."""

    YES = "✓"
    NO = "✗"
    OPEN = "–"
    EARLY = "…"


@dataclass(frozen=True, slots=True)
class Answer:
    """name: the subject, in a word. text: the answer in a sentence, without its figure. meaning: how that was
    measured."""

    name: str
    found: Found
    text: str
    meaning: str
    estimate: Estimate

    @property
    def in_full(self) -> str:
        """The sentence with its figure, if there is one."""
        return ": ".join(part for part in (self.text, figure_of(self.estimate)) if part)


@dataclass(frozen=True, slots=True)
class Answers:
    """learning: None if no reference model is kept."""

    ghosts: Answer
    model: Answer
    learning: Answer | None
    is_live: bool

    def all(self) -> tuple[Answer, ...]:
        return tuple(answer for answer in (self.ghosts, self.model, self.learning) if answer is not None)

    def colour(self, answer: Answer, palette: Palette) -> QColor:
        """Green only for live proofs; for the ghosts only if the model has a part in it."""
        if answer.found is Found.NO:
            return palette.bad if self.is_live else palette.warning
        if answer.found is not Found.YES:
            return palette.text if answer.found is Found.OPEN else palette.muted_text
        is_models_own = answer is not self.ghosts or self.model.found is Found.YES
        return palette.good if self.is_live and is_models_own else palette.accent


def answers_of(
    accuracy: AccuracySummary, online: OnlineGain | None, *, has_ended: bool = False, has_diverged: bool = False
) -> Answers:
    """The answers from the run's own scores.

    has_ended: no candle is to come any more. has_diverged: the doctor says so of the model.
    """
    ghosts, model = _ghosts(accuracy, has_ended=has_ended), _model(accuracy, has_ended=has_ended)
    if has_diverged:
        text = translate("Panels", "Model: diverged, forecasts without it are better")
        model = replace(model, found=Found.NO, text=text, estimate=_NONE)
    learning = _learning(online, has_ended=has_ended)
    if has_diverged and learning is not None and learning.found is not Found.NO:
        text = translate("Panels", "Learning: the model has diverged")
        learning = replace(learning, found=Found.NO, text=text, estimate=_NONE)
    return Answers(ghosts, model, learning, accuracy.group is ForecastGroup.LIVE)


def is_by_simple_rules(state: RunState) -> bool:
    """Whether the forecast on the chart is the baselines' alone: the trainer has yet to catch up."""
    shown = state.shown_forecast
    return shown is not None and shown.is_by_simple_rules


def found_in(estimate: Estimate) -> Found:
    """Whether an interval lies above zero, below it, or contains it. A ratio of nothing stays open."""
    if is_of_nothing(estimate):
        return Found.OPEN
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return Found.EARLY
    return Found.YES if estimate.low > 0.0 else Found.NO if estimate.high < 0.0 else Found.OPEN


def model_found(accuracy: AccuracySummary) -> Found:
    """Whether the model adds to the baselines: the one verdict for all texts about its gain."""
    return found_in(_gain(accuracy))


def _gain(accuracy: AccuracySummary) -> Estimate:
    return _NONE if accuracy.model_gain is None else accuracy.model_gain[0]


def _ghosts(accuracy: AccuracySummary, *, has_ended: bool) -> Answer:
    skill = accuracy.skill_close
    found, where = found_in(skill), translate("Panels", _WHERE[accuracy.group]) if accuracy.group in _WHERE else ""
    texts = {
        Found.YES: translate("Panels", "Ghosts beat “no change” on the close {0}"),
        Found.NO: translate("Panels", "Ghosts are worse than “no change” on the close {0}"),
        Found.OPEN: translate("Panels", "Ghosts are not proven better than “no change” on the close {0}"),
        Found.EARLY: translate("Panels", "Ghosts: undecided until more candles arrive")
        if has_ended
        else translate("Panels", "Ghosts {0}: too early to tell"),
    }
    text = " ".join(texts[found].format(where).split()).replace(" :", ":")
    meaning = translate("Panels", _GHOSTS).format(FEWEST_FOR_A_PROOF, BLOCK)
    if accuracy.after_gap:
        left_out = translate("Panels", "Not counted: {0} after a gap or a session break.")
        meaning = f"{meaning}\n{left_out.format(format_candles(accuracy.after_gap))}"
    return _answer(translate("Panels", "Ghosts"), found, text, meaning, skill)


def _model(accuracy: AccuracySummary, *, has_ended: bool) -> Answer:
    gain, found = _gain(accuracy), model_found(accuracy)
    texts = {
        Found.YES: translate("Panels", "The model adds to the baselines, on close and range"),
        Found.NO: translate("Panels", "The model does harm, on close and range"),
        Found.OPEN: translate("Panels", "No proven gain from the model yet, on close and range"),
        Found.EARLY: translate("Panels", "Model: undecided until more candles arrive")
        if has_ended
        else translate("Panels", "Model: too early to tell"),
    }
    meaning = translate("Panels", _MODEL)
    if accuracy.model_gain is not None and found is not Found.EARLY:
        both, close, spread = (figure_of(each) or MISSING for each in accuracy.model_gain)
        details = translate("Panels", "Both: {0}. Close alone: {1}. Range alone: {2}. n = {3}.")
        meaning = f"{meaning}\n{details.format(both, close, spread, format_count(gain.n))}"
    return _answer(translate("Panels", "Model"), found, texts[found], meaning, gain)


def _learning(online: OnlineGain | None, *, has_ended: bool) -> Answer | None:
    if online is None:
        return None
    found = found_in(online.gain)
    needed = online.needed + FEWEST_FOR_A_PROOF
    # Candles count as steps and scores do: there is nothing yet that the first could be held against.
    has_reference_model = online.age > online.needed
    have = online.needed + online.gain.n if has_reference_model else max(online.age - 1, 0)
    texts = {
        Found.YES: translate("Panels", "Learning helps, on close and range"),
        Found.NO: translate("Panels", "Learning does harm, on close and range"),
        Found.OPEN: translate("Panels", "Learning is not proven to help, on close and range"),
        Found.EARLY: (
            translate("Panels", "Learning: undecided until more candles arrive ({0} of {1})")
            if has_ended
            else translate("Panels", "Learning: too early to tell ({0} of {1} candles)")
        ).format(format_count(min(have, needed)), format_count(needed)),
    }
    meaning = translate("Panels", _LEARNING).format(format_count(online.needed))
    if found is not Found.EARLY:
        details = translate("Panels", "Close alone: {0}. Range alone: {1}. n = {2}.")
        close, spread = (figure_of(each) or MISSING for each in (online.close, online.range))
        details = details.format(close, spread, format_count(online.gain.n))
        meaning = f"{meaning}\n{details}"
    return _answer(translate("Panels", "Learning"), found, texts[found], meaning, online.gain)


def _answer(name: str, found: Found, text: str, meaning: str, estimate: Estimate) -> Answer:
    if is_of_nothing(estimate):
        text = f"{name}: {translate('Panels', NOTHING)}"
    return Answer(name, found, text, meaning, estimate)


def figure_of(estimate: Estimate) -> str:
    """``+2.0 % (1.0 to 3.0)``; empty without an interval."""
    if value_of(estimate) is None:
        return ""
    return f"{format_percent(estimate.value, 1, signed=True)} ({span(estimate, 1)})"


class AnswerLine(QWidget):
    """One answer: its sign and its sentence, and below them the figure and a bar around 0."""

    def __init__(self, theme: Theme, *, scale: float = 1.0) -> None:
        """scale: of the sentence; above 1 it is bold."""
        super().__init__()
        self.sentence, self.figure = WrappedLabel(), Label()
        self.bar = IntervalBar(theme, BAR_REACH, self)
        scale_text(self.sentence, scale, bold=scale > 1.0)
        self.figure.setFont(tabular(self.font(), bold=True))
        measured = beside(None, self.figure, self.bar, stretched=self.bar, spacing=8)
        stacked(self, self.sentence, measured, margins=NO_MARGINS, spacing=1)
        self.hide()

    def show_answer(self, answer: Answer | None, colour: QColor) -> None:
        """None hides it."""
        self.setVisible(answer is not None)
        if answer is not None:
            self.show_figure(f"{answer.found.value}  {answer.text}", answer.estimate, colour)
            for part in (self.sentence, self.figure):
                set_tooltip(part, answer.meaning)
            reach = translate("Panels", "The 95 % interval, from {0} to {1} %. The mark is 0, as good as without.")
            set_tooltip(self.bar, reach.format(*(f"{sign}{round(100 * BAR_REACH)}" for sign in ("−", "+"))))

    def show_figure(self, sentence: str, estimate: Estimate, colour: QColor) -> None:
        set_text(self.sentence, sentence)
        colour_text(self.sentence, colour)
        set_text(self.figure, figure_of(estimate))
        for part in (self.figure, self.bar):
            part.setVisible(bool(self.figure.text()))
        self.bar.show_estimate(estimate, 0.0, colour)


_GHOSTS = QT_TRANSLATE_NOOP(
    "Panels",
    "Skill of the close over all of the run's own candles, against “no change”: the last price with the recent "
    "spread of prices. The 95 % interval holds however often you look: without an edge, at most 5 % of runs ever "
    "claim one. It needs {0} candles; from then on, figure and verdict change together, with every {1}th.\nGreen: the "
    "model has a proven part in it. Blue: the baselines alone, or a result of a replay or a simulation.",
)
_MODEL = QT_TRANSLATE_NOOP(
    "Panels",
    "The ghosts combine the model's forecast with the baselines': “no change”, averages, regressions, GARCH. The same "
    "is also made without the model; the difference in skill is what the model adds: close and range in equal parts, "
    "one candle ahead, over all of the run's own candles.",
)
_LEARNING = QT_TRANSLATE_NOOP(
    "Panels",
    "A reference model forecasts the same candles: a frozen copy of the model from some {0} candles ago, which no "
    "longer learns. The share of its loss that the model avoids is what learning was worth since then: close and "
    "range in equal parts, one candle ahead.",
)
