"""The indicators dialog: nothing in a form is cut, and a number out of range is refused with a message."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from core.indicators.registry import INDICATORS
from core.indicators.shown import ShownIndicator
from core.settings.window import AppearanceSettings
from desktop.dialogs.indicators import IndicatorsDialog
from desktop.ui.inputs import NumberBox
from desktop.ui.interface_size import set_font
from desktop.ui.theme import build_palette
from tests.desktop.conftest import MakeBench

_WITH_TEXT = (QLabel, QAbstractButton, QAbstractSpinBox, QComboBox)


def opened(qtbot: QtBot, *kinds: str) -> IndicatorsDialog:
    dialog = IndicatorsDialog([ShownIndicator.of(kind) for kind in kinds], build_palette(True, "green-red"))
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def settle(qapp: QApplication) -> None:
    """Process the pending layouts."""
    qapp.processEvents()
    qapp.processEvents()


def cut(dialog: IndicatorsDialog) -> list[str]:
    """Widgets smaller than their size hint; a wrapped text has a height for its width."""
    found = []
    for part in dialog.findChildren(QWidget):
        if not isinstance(part, _WITH_TEXT) or not part.isVisible():
            continue
        asked = part.sizeHint()
        if isinstance(part, QLabel) and part.wordWrap():
            is_cut = part.height() < part.heightForWidth(part.width())
        else:
            is_cut = part.width() < asked.width() or part.height() < asked.height()
        if is_cut:
            found.append(f"{type(part).__name__} {part.size().toTuple()} of {asked.toTuple()}")
    return found


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("is_small", [False, True])
def test_no_text_is_cut_with_any_indicator(
    qapp: QApplication, qtbot: QtBot, make_bench: MakeBench, is_small: bool, percent: int
) -> None:
    """With the program's own font, also where it is enlarged."""
    set_font(qapp, AppearanceSettings(font="bundled", interface_percent=percent))
    bench = make_bench()
    stored = [ShownIndicator.of(kind) for kind in ("bollinger", "rsi")]
    dialog = IndicatorsDialog(stored, bench.theme.palette, bench.window)
    dialog.show()
    for kind in INDICATORS:
        dialog.add(kind)
        settle(qapp)
        if is_small:
            dialog.resize(dialog.minimumSizeHint())
            settle(qapp)
        assert cut(dialog) == [], kind
        assert percent > 100 or (dialog.width() <= 1280 and dialog.height() <= 680), f"{kind}: larger than 1280 x 720"


def typed(qtbot: QtBot, box: NumberBox, text: str) -> None:
    box.selectAll()
    qtbot.keyClicks(box, text)
    qtbot.keyClick(box, Qt.Key.Key_Return)


def test_a_width_out_of_range_is_refused_with_the_range(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "macd")
    typed(qtbot, dialog.line_width, "9")
    said = "Width: 9 is out of range. Enter a number from 0.5 to 6. 1.5 stays."
    assert (dialog.message.text(), dialog.line_width.text()) == (said, "1.5 px")
    typed(qtbot, dialog.line_width, "3")
    assert (dialog.message.text(), dialog.line_width.text()) == ("", "3 px")
    assert dialog.shown[0].look.width_px == 3.0


def test_a_parameter_out_of_range_is_refused_with_the_range(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "bollinger")
    for name in ("period", "deviations"):
        box = dialog.editor(name)
        assert not isinstance(box, QComboBox)
        before = box.text()
        typed(qtbot, box, "999999")
        assert "999999 is out of range. Enter a number from " in dialog.message.text().replace(",", "")
        assert box.text() == before
