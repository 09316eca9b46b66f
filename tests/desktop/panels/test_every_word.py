"""The accuracy, feed and markets panels with all that they can show, in a made-up language: no word stays English,
but for what is data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate, ForecastGroup
from core.domain.quantities import QUANTITY_NAMES
from core.domain.regimes import Regime
from core.domain.venue_names import venue_name
from core.evaluation.assess import SHOWN
from core.evaluation.findings import AFTER_GAP, OVERALL
from core.forecast.experts import LOSS_ROWS
from core.logs.reading import LogBook
from core.market.feeds.base import FeedState
from desktop.dialogs.market import INTERVALS
from desktop.panels.accuracy import words as accuracy_words
from desktop.panels.accuracy.answers import AnswerLine, answers_of
from desktop.panels.accuracy.details import PAGES, AccuracyDetails
from desktop.panels.events.panel import EventsPanel
from desktop.panels.events.rows import EventKind
from desktop.panels.feed.words import state_within, state_word
from desktop.panels.markets.adder import VENUES
from desktop.panels.markets.model import Column
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.quotes import QuoteState
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario, watch_scenario
from tests.desktop.conftest import shown_panel
from tests.desktop.made_up_language import texts_of, untranslated
from tests.desktop.panels.accuracy_helpers import found

pytestmark = pytest.mark.usefixtures("made_up_language")

CALLED_BY_LETTERS = {"EWMA", "HAR", "GARCH"}


def left_english(root: QWidget, data: frozenset[str] = frozenset()) -> list[str]:
    widgets = (root, *root.findChildren(QWidget))
    return [text for widget in widgets for text in texts_of(widget) if text and untranslated(text, data)]


def in_cells(model: QAbstractItemModel) -> Iterator[str]:
    for row in range(model.rowCount()):
        for column in range(model.columnCount()):
            for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
                yield model.index(row, column).data(role) or ""


@pytest.mark.parametrize(
    ("name_of", "names"),
    [
        (accuracy_words.kind_word, set(ForecastGroup)),
        (accuracy_words.group_name, {OVERALL, AFTER_GAP, *map(str, Regime)}),
        (accuracy_words.expert_name, {SHOWN, *LOSS_ROWS} - CALLED_BY_LETTERS),
        (accuracy_words.quantity_name, set(QUANTITY_NAMES)),
        (state_word, {None, *FeedState}),
        (state_within, {None, *FeedState}),
        (lambda state: state.shown, set(QuoteState)),
    ],
    ids=["kinds", "groups", "experts", "quantities", "states", "states within", "quotes"],
)
def test_each_name_of_core_has_a_separate_text(name_of: Callable[[object], str], names: set[object]) -> None:
    words = [name_of(name) for name in names]
    assert len(set(words)) == len(names) and not [word for word in words if untranslated(word)]


@pytest.mark.parametrize("n", [1_700, 12], ids=["many candles", "few candles"])
def test_the_details_of_the_accuracy_are_translated(n: int, state: RunState, theme: Theme, qtbot: QtBot) -> None:
    details = AccuracyDetails(state, theme)
    shown_panel(qtbot, details, 400, 640)
    details.horizon.addItem("", 2)
    details.horizon.setCurrentIndex(1)
    for name in PAGES:
        details.open_page(name)
        made = found(n)
        details.show_found(replace(made, chosen=replace(made.chosen, request=details.request)), None)
        assert not left_english(details, frozenset(CALLED_BY_LETTERS))
    cells = [text for text in in_cells(details.models.model) if text]
    assert bool(cells) is (n > 1_000) and not [text for text in cells if not _is_translated(text)]


def _is_translated(text: str) -> bool:
    """Names spelled letter by letter have no brackets."""
    for letters in CALLED_BY_LETTERS:
        text = text.replace(letters, "")
    return not untranslated(text)


@pytest.mark.parametrize(
    ("gain", "age"),
    [
        (Estimate(0.0082, 0.0021, 0.0143, 4_000), 2_312),
        (Estimate(-0.0082, -0.0143, -0.0021, 4_000), 2_312),
        (Estimate(0.0012, -0.0021, 0.0043, 900), 2_312),
        (Estimate(0.05, None, None, 120), 2_312),
        (Estimate(None, None, None, 0), 1_200),
        (Estimate(None, None, None, 12), 2_312),
    ],
    ids=["helps", "harms", "unproven", "few", "too young", "not yet"],
)
def test_the_three_answers_are_translated(gain: Estimate, age: int, qtbot: QtBot, theme: Theme) -> None:
    own = scenario.accuracy(skill_close=gain, model_gain=(gain, gain, gain))
    for answer in answers_of(own, scenario.online_gain(gain=gain, age=age)).all():
        line = AnswerLine(theme)
        qtbot.addWidget(line)
        line.show_answer(answer, theme.palette.text)
        assert line.sentence.text() and not left_english(line)


@pytest.mark.parametrize("fill", [feed_scenario.eventful, feed_scenario.refused])
def test_the_feed_is_translated(
    fill: Callable[[RunState], None], tmp_path: Path, state: RunState, theme: Theme, qtbot: QtBot
) -> None:
    panel = EventsPanel(state, LogBook(tmp_path), theme)
    shown_panel(qtbot, panel, 880, 300)
    fill(state)
    panel.show_kind(EventKind.FEED)
    panel.table.selectAll()
    record = state.feed_record
    assert record.status is not None
    reasons = {reason for reason, _ in record.rejected_by_reason}
    market = {"BTC/USDT 1m", *map(venue_name, VENUES)}
    data = frozenset({record.status.sentence, *(change.sentence for change in record.changes), *reasons, *market})
    assert not [text for text in left_english(panel, data) if not text.startswith("{")], "a raw message is data"
    assert not [text for text in in_cells(panel.model) if untranslated(text, data)]


def test_the_markets_are_translated(state: RunState, theme: Theme, qtbot: QtBot) -> None:
    markets = watch_scenario.markets()
    panel = MarketsPanel(state, theme, markets)
    shown_panel(qtbot, panel, 420, 420)
    panel.set_seen(True)
    feed_scenario.connected(state)
    watch_scenario.fill_quotes(state)
    watch_scenario.run_universe(state, [markets[0].market, markets[1].market])
    panel.refresh()
    rows = panel.model.rows
    said = {each for row in rows for each in (row.known.feed_sentence, row.standing.sentence) if each}
    said.add(watch_scenario.CUT)
    data = frozenset({*said, *map(venue_name, VENUES), *INTERVALS})
    assert not left_english(panel, data)
    cells = [text for text in in_cells(panel.model) if text]
    assert len(cells) == 2 * len(Column) * len(markets)
    names = {f"{row.market.symbol}, {venue_name(row.market.venue)}" for row in panel.model.rows}
    assert not [text for text in cells if untranslated(text, data | names)]
