from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QStyle, QStyleOptionSlider
from pytestqt.qtbot import QtBot

from desktop.ui.inputs import (
    DecimalSpinBox,
    LogSpinBox,
    WholeSpinBox,
    ambiguity,
    next_on_ladder,
    readable_decimal,
    readings,
)
from desktop.window.controls import TrainingInputs


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-4, "0.0001"), (0.00048828125, "0.000488"), (2.5e-5, "0.000025"), (1.0, "1"), (20.0, "20"), (0.0, "0")],
)
def test_numbers_are_written_without_exponents(value: float, text: str) -> None:
    assert readable_decimal(value) == text


ENGLISH, GERMAN, SWISS, FRENCH, POLISH, EGYPTIAN, PERSIAN, HINDI = map(
    QLocale, ("en_GB", "de_DE", "de_CH", "fr_FR", "pl_PL", "ar_EG", "fa_IR", "hi_IN")
)
LOCALES = (ENGLISH, GERMAN, SWISS, FRENCH, POLISH, EGYPTIAN, PERSIAN, HINDI, QLocale.c())


@pytest.mark.parametrize(
    ("typed", "locale", "numbers"),
    [
        ("1,000", ENGLISH, ["1000"]),
        ("1,000", QLocale.c(), ["1000"]),
        ("1,000", GERMAN, ["1000", "1"]),
        ("1.000", GERMAN, ["1", "1000"]),
        ("1,000", FRENCH, ["1000", "1"]),
        ("1,000", EGYPTIAN, ["1000"]),
        ("1.250,5", GERMAN, ["1250.5"]),
        ("1,250.5", GERMAN, ["1250.5"]),
        ("1 250,5", FRENCH, ["1250.5"]),
        ("1’250.5", SWISS, ["1250.5"]),
        ("١٬٢٥٠٫٥", EGYPTIAN, ["1250.5"]),
        ("12,34,567", HINDI, ["1234567"]),
        ("0,125", ENGLISH, ["0.125"]),
        ("1,5", ENGLISH, ["1.5"]),
        ("1000.5", ENGLISH, ["1000.5"]),
        ("−5", ENGLISH, ["-5"]),
        ("1,23,4", ENGLISH, []),
        ("a thousand", ENGLISH, []),
    ],
)
def test_a_number_is_read_as_the_window_and_the_systems_language_write_it(
    typed: str, locale: QLocale, numbers: list[str]
) -> None:
    assert readings(typed, locale) == tuple(map(Decimal, numbers))


@given(st.sampled_from(LOCALES), st.decimals(-(10**9), 10**9, places=4), st.integers(0, 4))
def test_no_number_that_a_language_writes_is_taken_for_another(locale: QLocale, number: Decimal, decimals: int) -> None:
    """It is read, or refused because the window writes another one that way."""
    value = round(number, decimals)
    grouped = locale.toString(float(value), "f", decimals)
    in_window = f"{value:,.{decimals}f}"
    for text, others in ((grouped, in_window), (in_window, grouped)):
        meanings = readings(text, locale)
        assert value in meanings
        assert len(meanings) == 1 or (len(meanings) == 2 and text.count(",") + text.count(".") == 1), others


@given(st.sampled_from(LOCALES), st.decimals(-(10**6), 10**6, places=4))
def test_what_a_refusal_offers_instead_is_not_refused(locale: QLocale, number: Decimal) -> None:
    text = locale.toString(float(round(number, 3)), "f", 3)
    meanings = readings(text, locale)
    if len(meanings) > 1:
        for offered in ambiguity(text, meanings).partition("mean ")[2].partition(". Enter")[0].split(" or "):
            assert readings(offered, locale) in [(meaning,) for meaning in meanings]


@pytest.mark.parametrize(("typed", "number"), [("1,000", 1_000), ("2,500", 2_500), ("3 000", 3_000), ("7", 7)])
def test_all_boxes_read_a_number_alike(qtbot: QtBot, typed: str, number: int) -> None:
    """Regression: 1,000 was a thousand in one box of a dialog, and one in the box below."""
    for box in (WholeSpinBox(0, 50_000), DecimalSpinBox(0.0, 50_000.0), LogSpinBox(0.1, 50_000.0)):
        qtbot.addWidget(box)
        box.show()
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, typed)
        qtbot.keyClick(box, Qt.Key.Key_Return)
        assert box.value() == number and box.text() == f"{number:,}"


@pytest.mark.parametrize("kind", [WholeSpinBox, DecimalSpinBox])
def test_a_number_with_two_readings_is_refused_with_both(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, kind: type[WholeSpinBox] | type[DecimalSpinBox]
) -> None:
    monkeypatch.setattr(QLocale, "system", lambda: GERMAN)
    box: WholeSpinBox | DecimalSpinBox = kind(0, 50_000)
    qtbot.addWidget(box)
    box.selectAll()
    qtbot.keyClicks(box, "1,250")
    with qtbot.waitSignal(box.refused) as refused:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert refused.args[0].startswith("“1,250” can mean 1250 or 1.2500.") and box.value() == 0


@given(st.floats(1e-9, 1e6))
def test_a_readable_number_is_the_number_to_its_digits(value: float) -> None:
    text = readable_decimal(value, 4)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=6e-4)


@given(st.floats(1e-8, 1e6), st.integers(1, 6))
def test_the_ladder_goes_up_and_down_through_1_2_5(value: float, steps: int) -> None:
    above, below = next_on_ladder(value, steps), next_on_ladder(value, -steps)
    assert below < value < above
    for rung in (above, below):
        mantissa = rung / 10.0 ** math.floor(math.log10(rung) + 1e-9)
        assert min(abs(mantissa - each) for each in (1.0, 2.0, 5.0)) < 1e-6


def typed(qtbot: QtBot, box: LogSpinBox, text: str) -> None:
    box.selectAll()
    qtbot.keyClicks(box, text)
    qtbot.keyClick(box, Qt.Key.Key_Return)


@pytest.fixture
def inputs(qtbot: QtBot) -> TrainingInputs:
    widget = TrainingInputs(1e-4)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_an_exponent_may_be_typed(qtbot: QtBot, inputs: TrainingInputs) -> None:
    with qtbot.waitSignal(inputs.learning_rate_changed) as changed:
        typed(qtbot, inputs.learning_rate, "3e-4")
    assert changed.args == [pytest.approx(3e-4)]
    assert inputs.learning_rate.text() == "0.0003"


def test_an_incomplete_number_is_not_sent(qtbot: QtBot, inputs: TrainingInputs) -> None:
    sent: list[float] = []
    inputs.learning_rate_changed.connect(sent.append)
    inputs.learning_rate.selectAll()
    qtbot.keyClicks(inputs.learning_rate, "0.003")
    assert sent == []
    qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Return)
    assert sent == [pytest.approx(0.003)]


@pytest.mark.parametrize("text", ["10", "1.5", "0", "-1", "1e-30", "1e999", "e", "", "1-2"])
def test_an_out_of_range_number_is_refused_and_the_former_stays(
    qtbot: QtBot, inputs: TrainingInputs, text: str
) -> None:
    """Regression: 10 silently became 1."""
    with qtbot.assertNotEmitted(inputs.learning_rate_changed), qtbot.waitSignal(inputs.refused) as refused:
        inputs.learning_rate.selectAll()
        qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Delete)
        qtbot.keyClicks(inputs.learning_rate, text)
        qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Return)
    assert inputs.learning_rate.value() == 1e-4 and inputs.learning_rate.text() == "0.0001"
    (sentence,) = refused.args
    assert sentence.startswith("Learning rate: ") and text in sentence
    assert sentence.endswith("from 0.000000000001 to 1. 0.0001 stays.")


def test_leaving_the_box_refuses_too(qtbot: QtBot, inputs: TrainingInputs) -> None:
    inputs.learning_rate.setFocus()
    inputs.learning_rate.selectAll()
    qtbot.keyClicks(inputs.learning_rate, "2000000")
    with qtbot.assertNotEmitted(inputs.learning_rate_changed), qtbot.waitSignal(inputs.refused) as refused:
        inputs.duty.setFocus()
    assert refused.args == [
        "Learning rate: 2000000 is out of range. Enter a number from 0.000000000001 to 1. 0.0001 stays."
    ]


@pytest.mark.parametrize("text", ["1", "0.000123456", "3e-5", "0,5", " 0.25 ", "1e-12"])
def test_the_entered_number_is_sent(qtbot: QtBot, inputs: TrainingInputs, text: str) -> None:
    with qtbot.waitSignal(inputs.learning_rate_changed) as changed, qtbot.assertNotEmitted(inputs.refused):
        typed(qtbot, inputs.learning_rate, text)
    assert changed.args == [float(text.replace(",", "."))]


def test_after_entering_the_focused_box_follows_the_trainer(qtbot: QtBot, inputs: TrainingInputs) -> None:
    """Regression: after rollbacks the box said 1 and training used 0.5."""
    inputs.learning_rate.setFocus()
    typed(qtbot, inputs.learning_rate, "1")
    assert inputs.learning_rate.hasFocus()
    inputs.show_rate(0.5)
    assert inputs.learning_rate.text() == "0.5"


def test_arrow_keys_step_through_the_ladder(qtbot: QtBot, inputs: TrainingInputs) -> None:
    inputs.learning_rate.setFocus()
    qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Up)
    assert inputs.learning_rate.text() == "0.0002"
    qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Down)
    qtbot.keyClick(inputs.learning_rate, Qt.Key.Key_Down)
    assert inputs.learning_rate.text() == "0.00005"


def test_the_trainers_value_is_shown_without_being_sent_back(qtbot: QtBot, inputs: TrainingInputs) -> None:
    with qtbot.assertNotEmitted(inputs.learning_rate_changed):
        inputs.show_rate(5e-5)
    assert inputs.learning_rate.text() == "0.00005"


def test_a_number_being_typed_is_not_overwritten(qtbot: QtBot, inputs: TrainingInputs) -> None:
    inputs.learning_rate.setFocus()
    inputs.learning_rate.selectAll()
    qtbot.keyClicks(inputs.learning_rate, "0.00")
    inputs.show_rate(5e-5)
    assert inputs.learning_rate.text() == "0.00"


@pytest.fixture
def share(qtbot: QtBot) -> WholeSpinBox:
    box = WholeSpinBox(5, 5_000)
    box.setSuffix(" %")
    box.setValue(20)
    qtbot.addWidget(box)
    box.show()
    box.setFocus()
    return box


def test_the_unit_stays_behind_a_number_that_is_typed_over_all_of_it(qtbot: QtBot, share: WholeSpinBox) -> None:
    share.selectAll()
    qtbot.keyClicks(share, "1")
    assert share.text() == "1 %" and share.value() == 20, "it is not finished, nor in the range yet"
    qtbot.keyClicks(share, "200")
    assert share.text() == "1200 %" and share.entered() == 1_200
    qtbot.keyClick(share, Qt.Key.Key_Return)
    assert share.text() == "1,200 %" and share.value() == 1_200


def test_steps_begin_at_the_number_that_is_typed_and_end_with_the_range(qtbot: QtBot, share: WholeSpinBox) -> None:
    share.selectAll()
    qtbot.keyClicks(share, "4999")
    qtbot.keyClick(share, Qt.Key.Key_Up)
    qtbot.keyClick(share, Qt.Key.Key_Up)
    assert share.value() == 5_000
    qtbot.keyClick(share, Qt.Key.Key_PageDown)
    assert share.value() == 4_990


def test_a_screen_reader_finds_number_and_range(share: WholeSpinBox) -> None:
    found = QAccessible.queryAccessibleInterface(share).valueInterface()
    assert (found.currentValue(), found.minimumValue(), found.maximumValue()) == (20, 5, 5_000)
    share.setValue(30)
    assert found.currentValue() == 30


def test_a_whole_number_may_be_larger_than_those_of_qt(qtbot: QtBot) -> None:
    box = WholeSpinBox(0, 2**63 - 1)
    qtbot.addWidget(box)
    box.setValue(2**63 - 1)
    assert box.value() == box.entered() == 2**63 - 1 and box.text() == "9,223,372,036,854,775,807"


def drag(qtbot: QtBot, inputs: TrainingInputs, share: float) -> None:
    """Drag the slider's handle to a share of its range, and release it."""
    slider = inputs.duty
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    part = QStyle.SubControl.SC_SliderHandle
    handle = slider.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, slider).center()
    there = QPoint(round(share * slider.width()), handle.y())
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=handle)
    for place in (QPoint((handle.x() + there.x()) // 2, there.y()), there):  # Qt drops a move to where the mouse is
        qtbot.mouseMove(slider, place)
    qtbot.waitUntil(lambda: inputs.duty_percent.text() != "100 %")
    assert inputs.duty.value() == 20, "nothing is sent while it is dragged"
    inputs.show_duty(85)
    assert inputs.duty_percent.text() != "85 %", "what is dragged is left alone"
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=there)


def test_the_duty_is_sent_when_the_slider_is_released(qtbot: QtBot, inputs: TrainingInputs) -> None:
    with qtbot.waitSignal(inputs.duty_changed) as changed:
        drag(qtbot, inputs, 0.5)
    assert 40 <= changed.args[0] <= 60
    assert inputs.duty_percent.text() == f"{changed.args[0]} %"


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_a_click_on_the_groove_moves_the_slider_there(qtbot: QtBot, inputs: TrainingInputs, share: float) -> None:
    """Regression: it moved by a tenth of the range."""
    slider, sent = inputs.duty, list[int]()
    inputs.duty_changed.connect(sent.append)
    place = QPoint(round(share * slider.width()), slider.height() // 2)
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=place)
    assert inputs.duty_percent.text() != "100 %" and sent == [], "it is shown, and sent on release"
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=place)
    assert len(sent) == 1 and abs(sent[0] - 100 * share) <= 10 and inputs.duty_percent.text() == f"{sent[0]} %"
    assert slider.handle_rect().contains(place) and not slider.isSliderDown()


def test_a_click_on_the_groove_can_continue_as_a_drag(qtbot: QtBot, inputs: TrainingInputs) -> None:
    slider, sent = inputs.duty, list[int]()
    inputs.duty_changed.connect(sent.append)
    there, back = (QPoint(round(share * slider.width()), slider.height() // 2) for share in (0.2, 0.7))
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=there)
    for place in (QPoint((there.x() + back.x()) // 2, back.y()), back):
        qtbot.mouseMove(slider, place)
    qtbot.waitUntil(lambda: slider.sliderPosition() > 10)
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=back)
    assert len(sent) == 1 and 60 <= sent[0] <= 80


def test_the_slider_moves_by_keys_and_never_to_zero(qtbot: QtBot, inputs: TrainingInputs) -> None:
    sent: list[int] = []
    inputs.duty_changed.connect(sent.append)
    inputs.duty.setFocus()
    qtbot.keyClick(inputs.duty, Qt.Key.Key_Left)
    qtbot.keyClick(inputs.duty, Qt.Key.Key_Home)
    qtbot.keyClick(inputs.duty, Qt.Key.Key_Left)
    assert sent == [95, 5]


@pytest.mark.parametrize(("percent", "shown"), [(100, "100 %"), (37, "37 %"), (5, "5 %")])
def test_a_duty_set_elsewhere_is_shown_exactly(qtbot: QtBot, inputs: TrainingInputs, percent: int, shown: str) -> None:
    with qtbot.assertNotEmitted(inputs.duty_changed):
        inputs.show_duty(percent)
    assert inputs.duty_percent.text() == shown
