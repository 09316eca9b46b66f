from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot

from core.machine.readings import GpuReading, MachineReading
from core.settings.tree import Settings
from desktop.dialogs import welcome
from desktop.dialogs.welcome import ChoiceRow, WelcomeDialog
from desktop.services.machine_watch import MachineWatch
from desktop.ui.dialog_parts import keep_on_screen
from desktop.ui.theme import Theme
from tests.support.candles import random_walk, without, write_csv

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def dialog(qtbot: QtBot) -> WelcomeDialog:
    dialog = WelcomeDialog(Settings())
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def click(qtbot: QtBot, row: ChoiceRow, text: str) -> None:
    qtbot.mouseClick(row.button(text), LEFT)


def test_it_is_whole_on_a_laptop_of_1366x768_at_200_percent(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    room = QSize(628, 330)
    for place in ("desktop.dialogs.welcome", "desktop.ui.dialog_parts"):
        monkeypatch.setattr(f"{place}.room_on_screen", lambda _dialog: room)
    dialog = WelcomeDialog(Settings())
    qtbot.addWidget(dialog)
    keep_on_screen(dialog)
    dialog.show()
    assert dialog.size().boundedTo(room) == dialog.size() and not dialog.findChildren(QScrollArea)
    dialog.show_machine(machine())
    QApplication.processEvents()
    note = dialog.devices.note
    button = dialog.devices.button("CPU")
    assert note.geometry().top() > button.geometry().bottom() and note.height() >= note.heightForWidth(note.width())


def test_three_clicks_choose_symbol_and_exchange_and_start(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.symbols, "ETH/USDT")
    click(qtbot, dialog.sources, "Live from Kraken")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.start, LEFT)
    (settings,) = chosen.args
    assert (settings.market.venue, settings.market.symbol, settings.market.feed) == ("kraken", "ETH/USDT", "auto")


def test_return_accepts_the_defaults(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert chosen.args == [Settings()]


def test_a_device_can_be_chosen(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.devices, "CPU")
    assert dialog.settings().training.device == "cpu"


def machine(*gpus: str) -> MachineReading:
    return MachineReading(3.0, 2**30, 2**33, tuple(GpuReading(name, None, None, None, None) for name in gpus))


def test_cuda_is_offered_only_with_a_working_gpu_else_the_reason_is_shown(
    qtbot: QtBot, dialog: WelcomeDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(welcome, "is_torch_for_cpu_only", lambda: False)
    cuda = dialog.devices.button("GPU (CUDA)")
    assert not cuda.isEnabled(), "nothing is known yet"
    dialog.show_machine(machine())
    assert not cuda.isEnabled() and "no NVIDIA driver answers" in dialog.devices.note.text()
    dialog.show_machine(machine("NVIDIA H200"))
    assert cuda.isEnabled() and dialog.devices.note.text() == "Found: NVIDIA H200.", "torch was not asked"
    click(qtbot, dialog.devices, "GPU (CUDA)")
    assert dialog.settings().training.device == "cuda"
    dialog.show_machine(machine())
    assert dialog.settings().training.device == "auto", "it has gone"


@pytest.mark.parametrize(
    ("capability", "driver", "cuda", "why_not"),
    [
        ((8, 9), "580.95.05", "13.0", ""),
        ((8, 9), "550.120", "13.0", "driver 550.120 is too old: 580 is needed"),
        ((6, 1), "580.95.05", "13.0", "this torch is not for RTX"),
        ((6, 1), "550.120", "12.6", ""),
        ((3, 5), "470.256", "13.0", "this torch is too new for RTX"),
        ((6, 1), "550.120", None, ""),
        (None, None, "13.0", ""),
    ],
)
def test_cuda_is_not_offered_where_it_is_known_not_to_work(
    dialog: WelcomeDialog,
    monkeypatch: pytest.MonkeyPatch,
    capability: tuple[int, int] | None,
    driver: str | None,
    cuda: str | None,
    why_not: str,
) -> None:
    monkeypatch.setattr(welcome, "is_torch_for_cpu_only", lambda: False)
    monkeypatch.setattr(welcome, "cuda_of_torch", lambda: cuda)
    gpu = GpuReading("RTX", None, None, None, None, capability=capability, driver=driver)
    dialog.show_machine(MachineReading(3.0, 2**30, 2**33, (gpu,)))
    note = dialog.devices.note.text()
    assert dialog.devices.button("GPU (CUDA)").isEnabled() == (not why_not)
    assert note == "Found: RTX." if not why_not else why_not in note and "ghostcandle doctor" in note


def test_a_gpu_is_not_offered_with_a_cpu_build_of_torch(dialog: WelcomeDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(welcome, "is_torch_for_cpu_only", lambda: True)
    dialog.show_machine(machine("NVIDIA H200"))
    assert not dialog.devices.button("GPU (CUDA)").isEnabled()
    assert "NVIDIA H200" in dialog.devices.note.text() and "CPUs only" in dialog.devices.note.text()
    assert "ghostcandle doctor" in dialog.devices.note.text()


def test_the_machine_probe_reaches_the_dialog(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    """The real probe on its thread."""
    watch = MachineWatch()
    watch.reading_changed.connect(dialog.show_machine)
    before = dialog.devices.note.text()
    watch.start()
    try:
        qtbot.waitUntil(lambda: dialog.devices.note.text() != before)
    finally:
        assert watch.close()


def test_a_simulated_market_has_no_symbol(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    button = dialog.symbols.button("BTC/USDT")
    highlighted = button.palette().button().color()
    click(qtbot, dialog.sources, "Simulated")
    assert not dialog.symbols.isEnabled() and button.palette().button().color() != highlighted
    assert dialog.settings().market.feed == "simulate"
    click(qtbot, dialog.sources, "Live from Binance")
    assert dialog.symbols.isEnabled() and button.palette().button().color() == highlighted


def choose_file(dialog: WelcomeDialog, path: Path) -> None:
    (files,) = dialog.findChildren(QFileDialog)
    files.filesSelected.emit([str(path)])
    files.reject()


def test_a_file_is_chosen_and_looked_at_in_the_welcome(qtbot: QtBot, dialog: WelcomeDialog, tmp_path: Path) -> None:
    """Regression: three windows, and a good file was accepted in silence."""
    path = write_csv(tmp_path / "mine.csv", without(random_walk(300), 50))
    click(qtbot, dialog.sources, "A file…")
    assert not dialog.start.isEnabled() and not dialog.found.isVisible()
    choose_file(dialog, path)
    qtbot.waitUntil(dialog.start.isEnabled)
    note = dialog.found.text()
    assert note.startswith("299 candles of 1m from ") and note.endswith("UTC, 1 candle missing.")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.mouseClick(dialog.start, LEFT)
    (settings,) = chosen.args
    assert (settings.market.feed, settings.market.file) == ("replay", str(path))


def test_a_useless_file_is_refused_in_the_welcome(qtbot: QtBot, dialog: WelcomeDialog, tmp_path: Path) -> None:
    path = tmp_path / "diary.csv"
    path.write_text("Dear diary,\nnothing happened.\n")
    click(qtbot, dialog.sources, "A file…")
    choose_file(dialog, path)
    qtbot.waitUntil(lambda: "diary.csv" in dialog.found.text())
    assert not dialog.start.isEnabled()
    click(qtbot, dialog.sources, "Simulated")
    assert dialog.start.isEnabled() and not dialog.found.isVisible()


def test_closing_it_keeps_the_settings(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    click(qtbot, dialog.sources, "Simulated")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert chosen.args == [Settings()]


def test_the_checked_buttons_follow_a_theme_change(qtbot: QtBot, dialog: WelcomeDialog) -> None:
    theme, application = Theme("light"), QApplication.instance()
    assert isinstance(application, QApplication)
    before = application.palette()
    theme.apply_to(application)
    try:
        theme.set_mode("dark")
        chosen = next(button for button in dialog.findChildren(QPushButton) if button.isChecked())
        qtbot.waitUntil(lambda: chosen.palette().button().color() == application.palette().highlight().color())
        theme.set_mode("light")
        qtbot.waitUntil(lambda: chosen.palette().button().color() == application.palette().highlight().color())
    finally:
        application.setPalette(before)
