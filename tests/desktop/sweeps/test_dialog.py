from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.settings.tree import Settings
from core.sweeps.plan import SettingRange, plan_data, plan_of
from core.sweeps.plan_text import plan_text
from desktop.jobs.job_commands import Order
from desktop.sweeps.dialog import SweepDialog
from desktop.ui.theme import Theme
from tests.desktop.chart.support import random_series

NOW = datetime(2026, 11, 30, 16, 20, 1, tzinfo=UTC)
CANDLES = 400


def candle_file(folder: Path, name: str, seed: int, minutes: int = 1) -> Path:
    path = folder / name
    candles = random_series(CANDLES, seed=seed)
    first_ms = candles[0].open_time_ms
    rows = [
        f"{first_ms + (each.open_time_ms - first_ms) * minutes},{each.open},{each.high},{each.low},{each.close},1"
        for each in candles
    ]
    path.write_text("\n".join(("time,open,high,low,close,volume", *rows)), encoding="utf-8")
    return path


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, tmp_path: Path) -> SweepDialog:
    for number in range(2):
        candle_file(tmp_path, f"market-{number}.csv", seed=number)
    dialog = SweepDialog(Settings(), tmp_path / "sweeps", NOW, theme)
    qtbot.addWidget(dialog)
    dialog.picker.line.setText(str(tmp_path / "market-*.csv"))
    dialog.show()
    return dialog


def is_offered(dialog: SweepDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def settle(qtbot: QtBot, dialog: SweepDialog) -> None:
    qtbot.waitUntil(lambda: dialog.preview.found_for(dialog.plan()) is not None, timeout=20_000)
    dialog.check()


def test_it_counts_cells_and_says_that_the_time_is_a_guess(qtbot: QtBot, dialog: SweepDialog) -> None:
    settle(qtbot, dialog)
    text = dialog.extent.text()
    assert "12 cells: 6 settings on 2 files with 1 seed" in text and "guess" in text
    assert is_offered(dialog) and not dialog.message.text()


def test_the_plan_has_what_was_typed(qtbot: QtBot, dialog: SweepDialog) -> None:
    rate, width = dialog.rows.rows
    rate.values.setText("0.0001 to 0.01 in 3, log")
    width.remove.click()
    dialog.models.boxes["gru"].click()
    dialog.seeds.setText("1 to 3")
    dialog.together.setCurrentIndex(1)
    dialog.candles.setValue(300)
    dialog.first_part.setText("40 %")
    plan = dialog.plan()
    assert plan.settings == {
        "training.learning_rate": SettingRange(**{"from": 0.0001, "to": 0.01, "steps": 3, "scale": "log"})
    }
    assert plan.models == ("transformer", "gru") and plan.seeds == (1, 2, 3)
    assert plan.together and plan.candles == 300 and plan.first_part == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda dialog: dialog.rows.rows[1].values.setText("4"), "Width: it should be greater than or equal to 8"),
        (lambda dialog: dialog.rows.rows[1].values.setText("16 to 64"), "Width: a range needs its number of values"),
        (lambda dialog: dialog.rows.rows[0].setting.setCurrentIndex(0), "Width: type one value or several"),
        (lambda dialog: dialog.models.boxes["transformer"].click(), "at least one model"),
        (lambda dialog: dialog.models.others.setText("no model"), "is no model"),
        (lambda dialog: dialog.seeds.setText("one"), "Seeds: type whole numbers"),
        (lambda dialog: dialog.seeds.setText("1, 1"), "has 1 twice"),
        (lambda dialog: dialog.first_part.setText("half"), "First part: type a share"),
        (lambda dialog: dialog.name.setText("a/b"), "a name that a folder can have"),
        (lambda dialog: dialog.picker.line.setText(""), "Choose a candle file"),
    ],
)
def test_a_fault_is_a_sentence_while_typing(
    qtbot: QtBot, dialog: SweepDialog, change: Callable[[SweepDialog], object], fault: str
) -> None:
    settle(qtbot, dialog)
    change(dialog)
    assert fault in dialog.message.text() and not is_offered(dialog)


def test_values_that_do_not_go_together_are_found(qtbot: QtBot, dialog: SweepDialog) -> None:
    dialog.rows.rows[1].values.setText("32, 66")
    settle(qtbot, dialog)
    assert "4 heads do not divide a width of 66" in dialog.message.text() and not is_offered(dialog)


def test_files_of_two_intervals_are_refused_together_alone(qtbot: QtBot, dialog: SweepDialog, tmp_path: Path) -> None:
    candle_file(tmp_path, "market-5m.csv", seed=3, minutes=5)
    settle(qtbot, dialog)
    assert is_offered(dialog)
    dialog.together.setCurrentIndex(1)
    settle(qtbot, dialog)
    assert "different intervals" in dialog.message.text()


def test_a_pattern_without_files_is_refused(qtbot: QtBot, dialog: SweepDialog, tmp_path: Path) -> None:
    dialog.picker.line.setText(str(tmp_path / "none-*.csv"))
    settle(qtbot, dialog)
    assert "no file in" in dialog.message.text() and not is_offered(dialog)


def test_an_existing_plan_fills_the_fields(qtbot: QtBot, dialog: SweepDialog, tmp_path: Path) -> None:
    plan = plan_of(
        {
            "files": ["market-0.csv"],
            "models": ["gru", "own.py:Own", "process:python own.py"],
            "settings": {"model.layers": [1, 2], "training.schedule": ["constant", "cosine"]},
            "seeds": [4, 5],
            "random": 3,
            "first_part": 0.6,
            "search_seed": 9,
        }
    )
    (tmp_path / "SWEEP.toml").write_text(plan_text(plan), encoding="utf-8")
    dialog.open_plan(str(tmp_path / "SWEEP.toml"))
    opened = dialog.plan()
    models = ["gru", f"{tmp_path / 'own.py'}:Own", "process:python own.py"]
    assert opened == plan_of({**plan_data(plan), "files": [str(tmp_path / "market-0.csv")], "models": models})


def test_a_model_without_its_file_is_refused(qtbot: QtBot, dialog: SweepDialog, tmp_path: Path) -> None:
    dialog.models.others.setText(f"{tmp_path / 'own.py'}:Own")
    settle(qtbot, dialog)
    assert "there is no file" in dialog.message.text() and not is_offered(dialog)


def test_a_wrong_plan_is_a_sentence(dialog: SweepDialog, tmp_path: Path) -> None:
    (tmp_path / "SWEEP.toml").write_text("files = 3", encoding="utf-8")
    dialog.open_plan(str(tmp_path / "SWEEP.toml"))
    assert "SWEEP.toml is not right" in dialog.message.text()


def test_start_hands_over_the_order_and_the_plan(qtbot: QtBot, dialog: SweepDialog, tmp_path: Path) -> None:
    settle(qtbot, dialog)
    with qtbot.waitSignal(dialog.planned) as planned:
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    order, plan = planned.args
    assert isinstance(order, Order) and str(tmp_path / "sweeps" / "20261130-162001") in order.arguments
    assert plan.files == (str(tmp_path / "market-*.csv"),)


def test_start_waits_for_the_files(qtbot: QtBot, dialog: SweepDialog) -> None:
    settle(qtbot, dialog)
    dialog.seeds.setText("0, 1")
    with qtbot.waitSignal(dialog.planned, timeout=20_000) as planned:
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
        assert dialog.isVisible() and "Reading" in dialog.message.text()
    assert planned.args[1].seeds == (0, 1)


def test_a_setting_is_added_and_its_values_begin_empty(dialog: SweepDialog) -> None:
    dialog.rows.add_button.click()
    row = dialog.rows.rows[-1]
    assert len(dialog.rows.rows) == 3 and row.key not in {each.key for each in dialog.rows.rows[:2]}
    assert "type one value or several" in dialog.message.text()
