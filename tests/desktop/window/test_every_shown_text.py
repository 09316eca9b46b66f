"""The real window in a made-up language: no word stays English, but for what is data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args
from zoneinfo import available_timezones

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QToolBar, QWidget
from pytestqt.qtbot import QtBot

from core.checkpoints.columns import REASON_TEXTS, reason_text
from core.checkpoints.row import CheckpointRow
from core.domain.candle import FILE_VENUE, Market
from core.domain.drawings import Anchor, Drawing, DrawingKind
from core.domain.venue_names import venue_name
from core.indicators.registry import INDICATORS, Indicator
from core.logs.crashes import CrashReport
from core.market.history.forms.recognise import FORMS
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.app.crash_watch import open_crash_report
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.checkpoints.clean_up_dialog import CleanUpData, CleanUpDialog
from desktop.checkpoints.columns import PLACE, why_saved
from desktop.checkpoints.compare_dialog import CompareDialog
from desktop.checkpoints.text_dialogs import open_name, open_note, open_tags
from desktop.dialogs.compared_market import ComparedMarketDialog
from desktop.dialogs.date import ZoneDialog
from desktop.dialogs.drawings import DrawingDialog, LineTextDialog
from desktop.dialogs.indicators import IndicatorsDialog
from desktop.dialogs.market import EXCHANGES, USUAL_SYMBOLS
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.welcome import WelcomeDialog
from desktop.finder.finder import Finder
from desktop.jobs.history_dialogs import BackfillDialog, ImportDialog
from desktop.jobs.model_dialogs import EvaluateDialog, PretrainDialog
from desktop.panels.markets.adder import VENUES
from tests.desktop import scenario
from tests.desktop.conftest import Bench, fill, lasting_bench
from tests.desktop.made_up_language import MadeUpLanguage, installed_language, texts_of, untranslated

_WORDS = Drawing(DrawingKind.TEXT, (Anchor(0, 1.0),), "–")

_COMPARED = Market.parse("ETH/USDT 1m (binance)")
OPENERS: dict[str, Callable[[Bench], QWidget]] = {
    "preferences": lambda bench: bench.window.open_preferences(),
    "market": lambda bench: bench.window.open_market(),
    "welcome": lambda bench: WelcomeDialog(Settings(), bench.window),
    "indicators": lambda bench: IndicatorsDialog((), bench.theme.palette, bench.window),
    "zone": lambda bench: ZoneDialog("Europe/Berlin", bench.window),
    "comparison": lambda bench: ComparedMarketDialog((_COMPARED,), _COMPARED, bench.window),
    "date": lambda bench: _date(bench),
    "line": lambda bench: open_dialog(LineTextDialog("", 64_000.0, 2, "", lambda _price, _text: None, bench.window)),
    "drawing": lambda bench: open_dialog(DrawingDialog(_WORDS, QColor("blue"), lambda _drawing: None, bench.window)),
    "note": lambda bench: open_note(bench.window, scenario.checkpoint(12_340), lambda _text: None),
    "crash": lambda bench: open_crash_report(bench.window, CrashReport(5, "Fatal Python error", Path("report.txt"))),
    "about": lambda bench: _after(bench, ActionId.ABOUT),
    "shortcuts": lambda bench: _after(bench, ActionId.SHORTCUTS),
    "documentation": lambda bench: _after(bench, ActionId.DOCUMENTATION),
    "layout": lambda bench: _after(bench, ActionId.KEEP_LAYOUT),
    "columns": lambda bench: bench.window.panels.checkpoints.choose_columns(),
    "runs": lambda bench: bench.window.panels.checkpoints.open_runs(),
    "clean up": lambda bench: _clean_up(bench),
    "compare": lambda bench: _compare(bench),
    "name": lambda bench: open_name(bench.window, scenario.checkpoint(12_340), lambda _text: None),
    "tags": lambda bench: open_tags(bench.window, [scenario.checkpoint(12_340)], lambda _add, _remove: None),
    "import": lambda bench: ImportDialog(bench.window),
    "backfill": lambda bench: BackfillDialog(bench.shell.settings.current.market, scenario.NOW_MS, bench.window),
    "pretrain": lambda bench: PretrainDialog("cpu", bench.window),
    "evaluate": lambda bench: EvaluateDialog(
        _kept(bench), None, Path("reports"), datetime.now(UTC), "cpu", bench.window
    ),
    "finder": lambda bench: Finder(
        bench.shell, bench.theme, bench.source, bench.market_choice, lambda _venue: ()
    ).open(),
}


@pytest.fixture(scope="module")
def bench(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A window in full swing, with all that its panels can show."""
    with installed_language(qapp), lasting_bench(tmp_path_factory.mktemp("window"), scenario.checkpoints()) as made:
        fill(made)
        for dock in made.window.docks.values():
            dock.show()
        made.window._refresher._refresh()
        yield made


def test_the_language_is_seen(made_up_language: MadeUpLanguage) -> None:
    assert QCoreApplication.translate("Chart", "Candle chart") == "⟦Candle chart⟧"
    assert untranslated("Candle chart") and not untranslated("⟦Step 5⟧ · 12.5 % (Ctrl+M)")


def test_all_actions_and_menus_are_translated(bench: Bench) -> None:
    window = bench.window
    panels = (window.panels.events, window.panels.checkpoints, window.panels.markets)
    registries = [panel.actions_of_panel for panel in panels]
    actions = [action for registry in (window.shell.actions, *registries) for action in registry.actions()]
    menus = [menu.menuAction() for menu in window.menuBar().findChildren(QMenu)]
    shown = [text for action in (*actions, *menus) for text in _of_action(action)]
    assert len(shown) > 150
    assert not [text for text in shown if untranslated(text)]


def test_the_panels_are_translated(bench: Bench) -> None:
    window, data = bench.window, _data()
    bars = window.findChildren(QToolBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    roots = [dock.widget() for dock in window.docks.values()] + [window.status, window.chart, *bars]
    found = [(name, text) for root in roots for name, text in _texts(root) if untranslated(text, data)]
    assert not found, "\n".join(f"{name}: {text!r}" for name, text in found)


def test_what_the_table_of_checkpoints_says_is_translated(bench: Bench) -> None:
    bench.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    panel, data = bench.window.panels.checkpoints, _data()
    panel.refresh()
    info, column = panel.model.info(0), PLACE["pinned"]
    said = str(panel.model.index(0, column).data(Qt.ItemDataRole.ToolTipRole))
    assert panel.model.rowCount() and said.count("<p>") >= 8
    of_info = frozenset(filter(None, (info.run_id, info.file, info.health, info.device, *info.tags, info.note)))
    assert not untranslated(said, data | of_info)
    assert not untranslated(str(panel.model.index(0, column).data()))


@pytest.mark.parametrize("reason", REASON_TEXTS)
def test_why_a_checkpoint_was_saved_is_translated(reason: str, made_up_language: MadeUpLanguage) -> None:
    info = scenario.checkpoint(12_340, reason=reason)
    assert why_saved(info) == f"⟦{reason_text(reason)}⟧"


@pytest.mark.parametrize("name", OPENERS)
def test_the_dialogs_are_translated(name: str, bench: Bench, qtbot: QtBot) -> None:
    dialog, data = OPENERS[name](bench), _data()
    found = [(where, text) for where, text in _texts(dialog) if untranslated(text, data)]
    assert sum(1 for _ in _texts(dialog)) > 2
    assert not found, "\n".join(f"{where}: {text!r}" for where, text in found)
    dialog.close()
    dialog.deleteLater()


def _after(bench: Bench, action_id: ActionId) -> QWidget:
    """The dialog that an action opens."""
    before = set(bench.window.findChildren(QDialog))
    bench.shell.actions[action_id].trigger()
    (opened,) = set(bench.window.findChildren(QDialog)) - before
    return opened


def _date(bench: Bench) -> QWidget:
    dialog = ChartAppearance(bench.shell, bench.chart).open_date()
    assert dialog is not None
    return dialog


def _kept(bench: Bench) -> list[CheckpointRow]:
    return bench.source.catalog.rows()


def _clean_up(bench: Bench) -> QWidget:
    infos = bench.source.checkpoints()
    rules = bench.shell.settings.current.checkpoints
    return CleanUpDialog(lambda: CleanUpData(infos, scenario.NOW_MS, is_training=False), rules, bench.window)


def _compare(bench: Bench) -> QWidget:
    kept = _kept(bench)[:2]
    return CompareDialog(kept, [{}, None], lambda _run: (), bench.theme.palette, bench.window, has_ghosts=True)


def _of_action(action: QAction) -> tuple[str, str]:
    return action.text(), action.toolTip()


def _texts(root: QWidget) -> Iterator[tuple[str, str]]:
    """What is shown from `root` on, with the class that shows it."""
    for widget in (root, *root.findChildren(QWidget)):
        for text in filter(None, texts_of(widget)):
            yield f"{type(widget).__name__} in {type(widget.parent()).__name__}", text


def _data() -> frozenset[str]:
    """What is shown as it is stored: core's sentences, what settings are made of, names of markets, devices, zones,
    and of known forms of files."""
    said = [sentence for each in scenario.incidents() for sentence in _sentences(each)]
    of_settings = [
        each for group in dataclasses.fields(Settings) for each in _of_group(getattr(Settings(), group.name))
    ]
    of_indicators = [text for info in INDICATORS.values() for text in _of_indicator(info)]
    markets = [FILE_VENUE, *EXCHANGES, *USUAL_SYMBOLS, *map(venue_name, VENUES), scenario.live_feed().sentence]
    of_feed = f"{scenario.MARKET.symbol} {scenario.MARKET.interval}"
    headline, _colon, reason = scenario.accuracy().verdict.partition(": ")
    of_run = [headline, reason[:1].upper() + reason[1:], scenario.status().device]
    forms = [form.title for form in FORMS.values()]
    return frozenset((*said, *of_settings, *of_indicators, *markets, of_feed, *of_run, *forms, *available_timezones()))


def _sentences(event: object) -> Iterator[str]:
    return (value for value in dataclasses.asdict(event).values() if isinstance(value, str) and value)  # type: ignore[call-overload]


def _of_group(group: object) -> Iterator[str]:
    for name, info in all_field_infos(type(group)).items():
        yield str(getattr(group, name))
        yield from (str(option) for option in (*get_args(info.annotation), *(info.examples or ())))


def _of_indicator(info: Indicator) -> Iterator[str]:
    yield from (info.title, info.description, f"{info.title} ({info.short})")
