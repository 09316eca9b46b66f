"""No line of a text ends between a number and its unit: "12" above "candles" is read as another sentence."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate
from desktop.panels.gradients.diagnosis_card import WrappingButton
from desktop.ui.panel_base import Panel
from desktop.ui.plain_text import WrappedLabel, paragraphs
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.support.torn_figures import torn_figures

SENTENCE = "Learning: too early to tell (12 of 1,008 candles), 97 % simple rules, 4.2K candles, at 54 °C for 12 min"


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    own = scenario.accuracy(scored=12, live_scored=0, skill_close=Estimate(0.037, 0.029, 0.045, 4_024))
    bench.state.apply(scenario.status(accuracy=own))
    bench.state.apply(scenario.drift())
    feed_scenario.eventful(bench.state)
    return bench


def test_no_text_of_the_window_breaks_between_number_and_unit(bench: Bench, qapp: QApplication) -> None:
    looked_at = set()
    bench.window.show_feed()
    for action_id, dock in bench.window.docks.items():
        bench.window.show_dock(action_id)
        qapp.processEvents()
        panel = dock.widget()
        assert isinstance(panel, Panel)
        panel.refresh()
        for label in panel.findChildren(QLabel):
            drawn, is_markup = QLabel.text(label), label.textFormat() is Qt.TextFormat.RichText
            if label.wordWrap() and any(map(str.isdigit, drawn)):
                looked_at.add(action_id)
                assert torn_figures(drawn, label.font(), is_markup=is_markup) == set(), drawn
    assert len(looked_at) >= 3


def test_a_label_shows_whole_figures_and_gives_back_the_text_it_was_given(qtbot: QtBot) -> None:
    label = WrappedLabel(SENTENCE)
    qtbot.addWidget(label)
    assert torn_figures(SENTENCE, label.font(), is_markup=False) >= {
        "of / 1,008",
        "1,008 / candles),",
        "97 / %",
        "4.2K / candles,",
    }
    assert torn_figures(QLabel.text(label), label.font(), is_markup=False) == set()
    assert label.text() == SENTENCE


def test_copied_text_has_ordinary_spaces(qtbot: QtBot) -> None:
    label = WrappedLabel(SENTENCE)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    qtbot.addWidget(label)
    label.show()
    label.setSelection(0, len(SENTENCE))
    qtbot.keyClick(label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == SENTENCE


def test_tooltips_and_buttons_do_not_break_between_number_and_unit(qtbot: QtBot, qapp: QApplication) -> None:
    assert torn_figures(paragraphs(SENTENCE), QFont(), is_markup=True) == set()
    shown = QTextDocument()
    shown.setHtml(paragraphs(SENTENCE))
    assert shown.toPlainText() == SENTENCE
    button = WrappingButton()
    button.setText("Clip at 12 units")
    qtbot.addWidget(button)
    longest = button.fontMetrics().horizontalAdvance("12 units")
    assert button.minimumSizeHint().width() >= longest > button.fontMetrics().horizontalAdvance("units")
