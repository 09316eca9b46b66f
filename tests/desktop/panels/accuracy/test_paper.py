"""The page of the paper score: its headline is a cost, and what is not proven is called so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate
from core.evaluation.assess import assess
from core.evaluation.findings import OVERALL, Request, RunAccuracy
from core.evaluation.paper import PaperScore
from desktop.panels.accuracy.paper import PaperPage
from desktop.ui.theme import Mode, Theme
from tests.core.evaluation.rigs import every, filled, origins, scored
from tests.desktop.window.test_pictures import cut_texts, keep_picture

N = 4_000
SCORE = PaperScore(
    n=N,
    break_even=Estimate(8e-5, 2e-5, 14e-5, N),
    cost=5e-4,
    net=Estimate(-4e-5, -9e-5, 1e-5, N),
    net_total=-0.16,
    turnover=0.412,
    drawdown=0.0312,
    time_in_market=0.55,
)


def page_of(qtbot: QtBot, theme: Theme, score: PaperScore) -> PaperPage:
    page = PaperPage(theme)
    qtbot.addWidget(page)
    page.resize(368, 420)
    page.show()
    chosen = assess(every(filled(scored(40))), origins(40), Request())
    page.show_found(RunAccuracy("made up", 0, N, True, (OVERALL,), (), chosen, score), None)
    QApplication.processEvents()
    return page


def estimate(low: float | None, high: float | None) -> Estimate:
    return Estimate(8e-5, low, high, N)


@pytest.mark.parametrize(
    ("score", "headline"),
    [
        (SCORE, "This needs costs under 0.80 bp (0.20 to 1.40) a trade."),
        (
            replace(SCORE, break_even=estimate(-2e-5, 18e-5)),
            "Not proven to gain even if a trade costs nothing: break-even 0.80 bp (−0.20 to 1.80).",
        ),
        (replace(SCORE, break_even=estimate(-9e-5, -1e-5)), "This loses even if a trade costs nothing"),
        (replace(SCORE, break_even=estimate(None, None)), "No break-even cost yet: n = 4,000, and it takes 750"),
        (replace(SCORE, break_even=Estimate(None, None, None, N)), "No break-even cost: the forecasts never gave"),
        (replace(SCORE, n=12), "Not yet: 12 of 30 candles needed."),
    ],
)
def test_the_headline_is_a_cost(qtbot: QtBot, theme: Theme, score: PaperScore, headline: str) -> None:
    assert page_of(qtbot, theme, score).headline.text().startswith(headline)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_net_result_turnover_and_fall_are_below_it(qtbot: QtBot, theme: Theme, mode: Mode) -> None:
    theme.set_mode(mode)
    page = page_of(qtbot, theme, SCORE)
    keep_picture(page, f"accuracy-paper-{mode}")
    assert {name: label.text() for name, label in page.numbers.values.items()} == {
        "Assumed cost": "5.0 bp",
        "Net, a candle": "−0.400 bp (−0.900 to +0.100)",
        "Turnover": "0.412 (55 %)",
        "Largest fall": "312.0 bp",
        "Candles": "4,000",
    }
    assert page.remark.text() == "The net result is not proven to differ from 0."
    assert cut_texts(page) == []


def test_a_rule_that_never_trades_at_this_cost_says_so(qtbot: QtBot, theme: Theme) -> None:
    idle = replace(SCORE, net=Estimate(0.0, 0.0, 0.0, N), turnover=0.0, drawdown=0.0, time_in_market=0.0)
    assert page_of(qtbot, theme, idle).remark.text() == "No median moved by more than a trade costs."


def test_the_costs_are_asked_for(qtbot: QtBot, theme: Theme) -> None:
    page = page_of(qtbot, theme, SCORE)
    with qtbot.waitSignal(page.costs_requested):
        page.costs.click()
