from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.domain.diagnosis import Disease, DivergenceRecovery, SettingChange
from core.settings.tree import GradientSettings, Settings
from core.training.doctor.doctor import GradientDoctor
from core.training.online.health import GradientHealth
from desktop.dialogs.setting_texts import with_change
from desktop.panels.gradients.diagnosis_card import _ICONS, DiagnosisCard
from desktop.ui.icons import icon
from desktop.ui.theme import Theme
from tests.core.training.doctor.steps import NAMES, step
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def card(qtbot: QtBot, theme: Theme) -> DiagnosisCard:
    """A card alone; requested settings are applied and shown, as the window does."""
    card = DiagnosisCard(Settings(), theme)
    tree = [Settings()]

    def take(change: SettingChange) -> None:
        tree[0] = with_change(tree[0], change)
        card.show_settings(tree[0])

    card.change_requested.connect(take)
    shown_panel(qtbot, card, 360, 200)
    return card


def press_apply(qtbot: QtBot, card: DiagnosisCard) -> None:
    qtbot.mouseClick(card.apply_button, Qt.MouseButton.LeftButton)


def press_undo(qtbot: QtBot, card: DiagnosisCard) -> None:
    qtbot.mouseClick(card.undo_button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("disease", Disease)
def test_every_disease_has_texts_and_an_icon_of_the_font(card: DiagnosisCard, disease: Disease) -> None:
    card.show_diagnosis(scenario.diagnosis(disease))
    assert card.headline.text().lower() == disease.value
    assert card.evidence.text() and card.advice.text()
    assert not icon(_ICONS[disease], card._theme.palette.text).pixmap(16, 16).isNull()


def test_before_the_first_verdict_there_is_no_button(card: DiagnosisCard) -> None:
    card.show_diagnosis(None)
    assert "first diagnosis" in card.evidence.text()
    assert not card.apply_button.isVisible() and not card.undo_button.isVisible()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SettingChange("gradients", "clip_norm", 0.42), "Set the clip threshold to 0.42"),
        (SettingChange("training", "learning_rate", 1.5e-5), "Halve the learning rate to 0.000015"),
        (SettingChange("training", "learning_rate", 3e-6), "Lower the learning rate to a tenth: 0.000003"),
        (SettingChange("gradients", "clip_norm", 2.0), "Double the clip threshold to 2"),
        (SettingChange("gradients", "clip_norm", 3e-11), "Set the clip threshold to 3.00×10⁻¹¹"),
        (SettingChange("model", "layers", 1), "Halve the number of layers to 1, from the next start"),
        (SettingChange("gradients", "clip_mode", "adaptive"), "Set the clip mode to adaptive, from the next start"),
        (scenario.NEW_RUN, "Set the initialisation to by-activation, from the next start"),
    ],
)
def test_the_button_names_its_change(card: DiagnosisCard, change: SettingChange, words: str) -> None:
    card.show_diagnosis(scenario.diagnosis(change=change))
    assert card.apply_button.text() == words
    assert card.apply_button.isEnabled()


def test_apply_requests_the_change_and_undo_the_former_value(qtbot: QtBot, card: DiagnosisCard) -> None:
    asked: list[SettingChange] = []
    card.change_requested.connect(asked.append)
    card.show_diagnosis(scenario.diagnosis())
    press_apply(qtbot, card)
    assert card.undo_button.isVisible() and not card.apply_button.isVisible()
    assert card.note.text() == "Clip threshold set to 3.4."
    press_undo(qtbot, card)
    assert asked == [SettingChange("gradients", "clip_norm", 3.4), SettingChange("gradients", "clip_norm", 1.0)]
    assert card.apply_button.isVisible() and card.apply_button.isEnabled() and not card.undo_button.isVisible()


def test_a_change_for_the_next_start_says_so_before_and_after(qtbot: QtBot, card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis(change=scenario.NEW_RUN))
    assert "at the next start of training, as a new run" in card.note.text()
    with qtbot.waitSignal(card.change_requested) as asked:
        press_apply(qtbot, card)
    assert asked.args == [scenario.NEW_RUN]
    assert "is stored" in card.note.text() and "as a new run" in card.note.text()


def test_the_button_is_off_if_no_setting_helps(card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis(Disease.NOT_FINITE, change=None, advice="Look at the candles."))
    assert card.apply_button.isVisible() and not card.apply_button.isEnabled()
    assert card.apply_button.text() == "No setting fixes this"
    assert card.apply_button.toolTip() == "Look at the candles."


def test_a_healthy_model_has_no_button(card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis(Disease.HEALTHY, change=None, advice=""))
    assert not card.apply_button.isVisible() and not card.advice.isVisible()


def test_a_change_already_in_force_is_not_offered(card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis(change=SettingChange("gradients", "clip_norm", 1.0)))
    assert not card.apply_button.isEnabled()
    assert card.note.text() == "Clip threshold is 1 already."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SettingChange("gradients", "clip_norm", -1.0), "Clip threshold cannot be -1.0"),
        (SettingChange("gradients", "no_such_thing", 1.0), "no setting"),
        (SettingChange("nowhere", "clip_norm", 1.0), "no setting"),
        (SettingChange("model", "activation", "step"), "Activation cannot be step"),
    ],
)
def test_an_invalid_change_is_refused_with_a_message(card: DiagnosisCard, change: SettingChange, words: str) -> None:
    card.show_diagnosis(scenario.diagnosis(change=change))
    assert not card.apply_button.isEnabled()
    assert words in card.note.text()


def test_the_next_verdict_ends_undo_but_the_same_one_again_does_not(qtbot: QtBot, card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis())
    press_apply(qtbot, card)
    card.show_diagnosis(scenario.diagnosis(step=12_440, evidence="98 % of the last 200 steps were clipped."))
    assert card.undo_button.isVisible()
    card.show_diagnosis(scenario.diagnosis(Disease.HEALTHY, change=None))
    assert not card.undo_button.isVisible()
    card.show_diagnosis(scenario.diagnosis())
    assert not card.undo_button.isVisible() and not card.apply_button.isEnabled()


def test_undo_stays_while_the_change_makes_a_verdict_too_early(qtbot: QtBot, card: DiagnosisCard) -> None:
    """With the real doctor, which forgets the steps before the change, as in a session."""
    tree = [Settings(gradients=GradientSettings(clip_norm=1e-3))]
    health = GradientHealth(GradientDoctor("run", NAMES, lambda: tree[0]))
    card.show_settings(tree[0])

    def take(change: SettingChange) -> None:
        tree[0] = with_change(tree[0], change)
        card.show_settings(tree[0])
        card.show_diagnosis(health.forget())

    def take_steps(first: int, last: int) -> list[Disease]:
        verdicts = [
            verdict
            for number in range(first, last + 1)
            for verdict in health.observe([step(number, clip_norm=tree[0].gradients.clip_norm)])
        ]
        for verdict in verdicts:
            card.show_diagnosis(verdict)
        return [verdict.disease for verdict in verdicts]

    card.change_requested.disconnect()
    card.change_requested.connect(take)
    assert take_steps(1, 150)[-1] is Disease.ALWAYS_CLIPPING
    press_apply(qtbot, card)
    assert tree[0].gradients.clip_norm == 1.0
    assert card.headline.text() == "Too early to say"
    assert take_steps(151, 199) == [Disease.UNKNOWN] * 4
    assert "40 steps" in card.evidence.text()
    assert card.undo_button.isVisible()
    press_undo(qtbot, card)
    assert tree[0].gradients.clip_norm == 1e-3
    assert not card.undo_button.isVisible()


def test_after_rollbacks_the_rate_in_force_is_lowered_and_restored_by_undo(qtbot: QtBot, card: DiagnosisCard) -> None:
    asked: list[SettingChange] = []
    card.change_requested.connect(asked.append)
    card.show_rate_in_force(1.25e-5)
    lower = SettingChange("training", "learning_rate", 1.25e-6)
    card.show_diagnosis(scenario.diagnosis(Disease.NOT_FINITE, change=lower))
    assert card.apply_button.text() == "Lower the learning rate to a tenth: 0.00000125"
    press_apply(qtbot, card)
    card.show_rate_in_force(1.25e-6)
    press_undo(qtbot, card)
    assert asked == [lower, SettingChange("training", "learning_rate", 1.25e-5)]


def test_changing_the_setting_elsewhere_ends_undo(qtbot: QtBot, card: DiagnosisCard) -> None:
    card.show_diagnosis(scenario.diagnosis())
    press_apply(qtbot, card)
    elsewhere = replace(Settings(), gradients=replace(Settings().gradients, clip_norm=7.0))
    card.show_settings(elsewhere)
    assert not card.undo_button.isVisible() and card.apply_button.isEnabled()


@pytest.mark.parametrize("width", [220, 320, 700])
def test_the_button_is_high_enough_for_its_text(qtbot: QtBot, card: DiagnosisCard, width: int) -> None:
    card.show_diagnosis(scenario.diagnosis(change=scenario.NEW_RUN))
    card.resize(width, card.heightForWidth(width))
    button = card.apply_button
    qtbot.waitUntil(lambda: button.height() >= button.heightForWidth(button.width()))
    assert button.width() <= button.sizeHint().width() and button.geometry().right() < width
    is_one_line = button.heightForWidth(button.width()) == button.heightForWidth(2_000)
    assert is_one_line == (width == 700)


def test_one_button_restores_a_diverged_model(qtbot: QtBot, card: DiagnosisCard) -> None:
    change = SettingChange("training", "learning_rate", 3e-5)
    way = DivergenceRecovery((change,), "run-300", 300)
    card.show_diagnosis(scenario.diagnosis(Disease.DIVERGED, change=change, recovery=way))
    assert card.headline.text() == "Diverged"
    assert card.apply_button.text() == "Go back to step 300" and card.apply_button.isEnabled()
    with qtbot.assertNotEmitted(card.change_requested), qtbot.waitSignal(card.recovery_requested) as asked:
        press_apply(qtbot, card)
    assert asked.args == [way] and not card.undo_button.isVisible()
