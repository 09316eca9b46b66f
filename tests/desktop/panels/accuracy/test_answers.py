"""Three questions, three answers: in words, and in a colour that claims no more than is proven."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Market
from core.domain.events import AccuracySummary, Estimate, ForecastGroup, JobProgress, TrainerState
from core.market.feeds.base import FeedState, FeedStatus
from core.training.hosting.catch_up import JOB_ID
from desktop.panels.accuracy.answers import Answers, Found, answers_of, found_in
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from desktop.window.status_bar import StatusPanel
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

N = 4_000
ABOVE, AROUND, BELOW = (Estimate(value, value - 0.01, value + 0.01, N) for value in (0.02, 0.0, -0.02))
EARLY, NOTHING = Estimate(0.02, None, None, 200), Estimate(None, None, None, 3)
ESTIMATES = {Found.YES: ABOVE, Found.OPEN: AROUND, Found.NO: BELOW, Found.EARLY: EARLY}


def run(skill: Estimate, gain: Estimate, group: ForecastGroup = ForecastGroup.LIVE) -> AccuracySummary:
    return scenario.accuracy(group=group, skill_close=skill, model_gain=(gain, gain, gain))


def answers(
    skill: Estimate, gain: Estimate, learning: Estimate = AROUND, group: ForecastGroup = ForecastGroup.LIVE
) -> Answers:
    return answers_of(run(skill, gain, group), scenario.online_gain(gain=learning))


def test_an_edge_of_the_simple_rules_alone_is_named_and_not_green(theme: Theme) -> None:
    found = answers(ABOVE, AROUND)
    assert found.ghosts.in_full == "Ghosts beat “no change” on the close: +2.0 % (1.0 to 3.0)"
    assert found.model.in_full == "No proven gain from the model yet, on close and range: 0.0 % (−1.0 to 1.0)"
    assert found.colour(found.ghosts, theme.palette) != theme.palette.good
    assert found.colour(found.model, theme.palette) == theme.palette.text


def test_the_headline_says_how_many_candles_are_left_out() -> None:
    """Regression: "over all of the run's own candles", which were fewer than those that were learned from."""
    for count, words in ((0, ""), (1, "1 candle after a gap"), (1_076, "1,076 candles after a gap")):
        meaning = answers_of(replace(run(ABOVE, AROUND), after_gap=count), None).ghosts.meaning
        assert ("Not counted" in meaning) is (count > 0) and words in meaning


def test_a_ratio_of_nothing_says_that_there_was_nothing_to_forecast() -> None:
    """Neither too early nor unproven: 4,000 candles without movement are enough, and prove nothing."""
    flat = Estimate(None, None, None, N)
    found = answers(flat, flat, flat).all()
    assert [each.in_full for each in found] == [
        "Ghosts: nothing to forecast",
        "Model: nothing to forecast",
        "Learning: nothing to forecast",
    ]


def test_without_an_interval_no_tooltip_has_a_number() -> None:
    for found in answers(EARLY, EARLY, EARLY).all():
        assert found.found is Found.EARLY and "2.0 %" not in found.meaning
    assert all("2.0 % (1.0 to 3.0)" in found.meaning for found in answers(ABOVE, ABOVE, ABOVE).all()[1:2])


def test_a_diverged_model_overrides_earlier_measurements(theme: Theme) -> None:
    """Regression: Incidents said that it did harm, and the answer that it adds nothing yet."""
    found = answers_of(run(ABOVE, ABOVE), scenario.online_gain(gain=ABOVE), has_diverged=True)
    assert found.model.found is Found.NO and "diverged" in found.model.text
    assert found.learning is not None and found.learning.found is Found.NO and "diverged" in found.learning.text
    assert found.colour(found.model, theme.palette) == theme.palette.bad
    assert found.colour(found.ghosts, theme.palette) != theme.palette.good


@pytest.mark.parametrize("ghosts", Found)
@pytest.mark.parametrize("model", Found)
@pytest.mark.parametrize("group", [ForecastGroup.LIVE, ForecastGroup.REPLAYED, ForecastGroup.SIMULATED])
def test_the_headline_is_green_only_for_a_live_edge_with_a_proven_model_gain(
    theme: Theme, ghosts: Found, model: Found, group: ForecastGroup
) -> None:
    found = answers(ESTIMATES[ghosts], ESTIMATES[model], group=group)
    is_green = found.colour(found.ghosts, theme.palette) == theme.palette.good
    assert is_green == (ghosts is Found.YES and model is Found.YES and group is ForecastGroup.LIVE)
    assert (found.ghosts.found, found.model.found) == (ghosts, model)


@pytest.mark.parametrize(
    ("learning", "text"),
    [
        (ABOVE, "Learning helps, on close and range: +2.0 % (1.0 to 3.0)"),
        (BELOW, "Learning does harm, on close and range: −2.0 % (−3.0 to −1.0)"),
        (AROUND, "Learning is not proven to help, on close and range: 0.0 % (−1.0 to 1.0)"),
        (EARLY, "Learning: too early to tell (2,200 of 2,750 candles)"),
    ],
)
def test_the_gain_from_learning(learning: Estimate, text: str) -> None:
    found = answers(ABOVE, ABOVE, learning).learning
    assert found is not None and found.in_full == text


def test_the_age_of_a_young_reference_model_is_shown() -> None:
    found = answers_of(run(ABOVE, ABOVE), scenario.online_gain(gain=NOTHING, age=1_201)).learning
    assert found is not None and "1,200 of 2,750 candles" in found.text


def test_learning_counts_candles_like_scores() -> None:
    """The first candle is neither learned nor scored. The copy made after 2,000 scores its first one two later."""
    counts = []
    for taken, scored in ((0, 0), (1, 0), (2, 0), (1_999, 0), (2_000, 0), (2_001, 0), (2_002, 1), (2_003, 2)):
        gain = Estimate(None, None, None, scored)
        found = answers_of(run(ABOVE, ABOVE), scenario.online_gain(gain=gain, age=taken)).learning
        assert found is not None
        counts.append(found.text.split("(")[1].split(" of")[0])
    assert counts == ["0", "0", "1", "1,998", "1,999", "2,000", "2,001", "2,002"]


numbers = st.floats(-0.5, 0.5)


@given(numbers, numbers, numbers)
def test_an_answer_requires_the_whole_interval(a: float, b: float, c: float) -> None:
    low, value, high = sorted((a, b, c))
    found = found_in(Estimate(value, low, high, N))
    assert (found is Found.YES) == (low > 0.0)
    assert (found is Found.NO) == (high < 0.0 and low <= 0.0)


def test_status_bar_and_panel_agree_in_text_and_colour(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    bar, panel = StatusPanel(state, theme), AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    qtbot.addWidget(bar)
    state.apply(scenario.status(accuracy=run(ABOVE, ABOVE), online=scenario.online_gain(gain=BELOW)))
    for each in (bar, panel):
        each.refresh()
    assert [label.text() for label in bar.answers] == ["Ghosts ✓", "Model ✓", "Learning ✗"]
    lines = (panel._ghosts.sentence, panel._model.sentence, panel._learning.sentence)
    for label, line in zip(bar.answers, lines, strict=True):
        assert label.palette().windowText().color() == line.palette().windowText().color()
        assert label.accessibleName() in line.text()


def test_after_the_end_of_a_file_open_answers_are_not_called_early(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    bar, panel = StatusPanel(state, theme), AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    qtbot.addWidget(bar)
    state.feed_record.opened(Market(FILE_VENUE, "walk#dd2831", scenario.MINUTE))
    summary, online = run(EARLY, EARLY, ForecastGroup.REPLAYED), scenario.online_gain(gain=EARLY)
    state.apply(scenario.status(TrainerState.CATCHING_UP, accuracy=summary, online=online))
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.ENDED, "The end of walk was reached.", 0))

    def words() -> str:
        for each in (bar, panel):
            each.refresh()
        lines = (panel._ghosts.sentence, panel._reason, panel._model.sentence, panel._learning.sentence)
        return " | ".join([*(label.text() for label in lines), *(label.accessibleName() for label in bar.answers)])

    assert "early" in words() and "ended" not in words(), "stored candles are still being learned from"
    state.apply(scenario.status(TrainerState.TRAINING, accuracy=summary, online=online))
    assert "early" not in words() and words().count("undecided until more candles arrive") == 7
    assert "The file has ended: undecided until more candles arrive. A proof needs" in panel._reason.text()
    stored = JobProgress(JOB_ID, "Learning from stored candles", 159, 1_100)
    for learning in (stored, replace(stored, done=749)):
        state.apply(learning)
        assert "ended" not in words() and "early" in words(), "candles that are stored are still to be scored"
    state.apply(replace(stored, done=1_100))
    assert words().count("undecided until more candles arrive") == 7
    candles = scenario.market(40)
    state.feed_record.add_closed(candles)
    state.apply(scenario.status(accuracy=summary, online=online, position_ms=candles[-2].open_time_ms))
    assert "ended" not in words(), "the last candle is being learned from"
    state.apply(scenario.status(accuracy=summary, online=online, position_ms=candles[-1].open_time_ms))
    assert words().count("undecided until more candles arrive") == 7
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.REPLAYING, "walk at 1 candle a second.", 0))
    assert "ended" not in words()
