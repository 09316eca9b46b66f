from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QScrollArea,
)
from pytestqt.qtbot import QtBot

from core.settings.tree import Settings
from desktop.dialogs.forms import field_infos, make_editor, number_boxes
from desktop.dialogs.preferences import OWN_DIALOG_GROUPS, PreferencesDialog
from desktop.dialogs.setting_texts import EXPERIMENTAL, facts, title
from desktop.ui.inputs import WholeSpinBox

GROUPS = [field.name for field in fields(Settings)]
OK = QDialogButtonBox.StandardButton.Ok


WITH_LARGE_SEED = replace(Settings(), training=replace(Settings().training, seed=3_000_000_000))


def opened(qtbot: QtBot, settings: Settings) -> PreferencesDialog:
    dialog = PreferencesDialog(settings)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


@pytest.fixture
def dialog(qtbot: QtBot) -> PreferencesDialog:
    return opened(qtbot, Settings())


def test_an_alert_url_that_apprise_cannot_use_is_refused_at_once(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    editor = dialog.form("notifications").editor("alert_urls")
    for text, is_usable in (
        ("ntfy://a-topic tgram://s3cr3t", False),
        ("no-address", False),
        ("http://hooks.example.com/s3cr3t", False),
        ("ntfy://a-topic https://hooks.example.com/a?token=b", True),
        ("", True),
    ):
        editor.put(text)
        assert dialog.buttons.button(OK).isEnabled() is is_usable, text
        assert bool(dialog.message.text()) is not is_usable and "s3cr3t" not in dialog.message.text()
    editor.put("ntfy://a-topic tgram://s3cr3t")
    assert dialog.message.text().startswith("Alert URLs: apprise cannot use URL 2, tgram://.")
    editor.put("ntfy://a-topic")
    with qtbot.waitSignal(dialog.applied) as applied:
        press(qtbot, dialog, OK)
    assert applied.args[0].notifications.alert_urls == "ntfy://a-topic"


def test_a_challenger_that_this_machine_lacks_is_refused_at_once(dialog: PreferencesDialog, tmp_path: Path) -> None:
    editor, script = dialog.form("model").editor("challengers"), tmp_path / "own.py"
    script.write_text("class Own: ...\n")
    for text, problem in (
        ("gru; nope", "There is no model “nope”."),
        (f"gru; {tmp_path}/missing.py:Own", "There is no file"),
        ("process:no-such-program-here own.py", "There is no program “no-such-program-here”."),
        (f"gru; {script}:Own; tcn", ""),
    ):
        editor.widget.setText(text)  # type: ignore[attr-defined]
        assert problem in dialog.message.text() and dialog.buttons.button(OK).isEnabled() is not problem.startswith("T")
    editor.put(())
    assert not dialog.message.text()


def test_experimental_settings_are_folded_away_until_asked_for_searched_or_used(qtbot: QtBot) -> None:
    def seen(dialog: PreferencesDialog, group: str, name: str) -> bool:
        return dialog.form(group).editor(name).widget.isVisibleTo(dialog.form(group))

    dialog = opened(qtbot, Settings())
    assert not any(seen(dialog, group, name) for group, name in EXPERIMENTAL)
    assert seen(dialog, "training", "shrinkage") and seen(dialog, "gradients", "clip_norm")
    dialog.search.setText("wrong directions")
    assert seen(dialog, "training", "wrong_direction_weight") and not seen(dialog, "training", "poor_forecast_weight")
    dialog.search.clear()
    assert not seen(dialog, "training", "wrong_direction_weight")
    dialog.show_setting("training", "wrong_direction_weight")
    assert seen(dialog, "training", "poor_forecast_weight") and not seen(dialog, "gradients", "noise")
    used = replace(Settings(), gradients=replace(Settings().gradients, noise=0.1))
    assert seen(opened(qtbot, used), "gradients", "noise")


def press(qtbot: QtBot, dialog: PreferencesDialog, button: QDialogButtonBox.StandardButton) -> None:
    qtbot.mouseClick(dialog.buttons.button(button), Qt.MouseButton.LeftButton)


def test_no_page_scrolls_on_a_large_screen(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.dialogs.preferences.room_on_screen", lambda _dialog: QSize(1280, 736))
    dialog = PreferencesDialog(Settings())
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.height() <= 736
    for number in range(dialog.tabs.count()):
        dialog.tabs.setCurrentIndex(number)
        page = dialog.tabs.widget(number)
        assert isinstance(page, QScrollArea)
        qtbot.waitUntil(page.isVisible)
        for bar in (page.verticalScrollBar(), page.horizontalScrollBar()):
            assert bar.maximum() == 0, dialog.tabs.tabText(number)


@pytest.mark.parametrize("group", GROUPS)
def test_every_setting_has_an_editor_that_returns_its_default(qapp: object, group: str) -> None:
    default = getattr(Settings(), group)
    for name, info in field_infos(type(default)).items():
        editor = make_editor(info)
        editor.put(getattr(default, name))
        assert editor.get() == pytest.approx(getattr(default, name)), name
        assert info.description, name


def test_the_forms_return_the_given_settings(qtbot: QtBot) -> None:
    settings = Settings()
    training = replace(settings.training, seed=7, learning_rate=2.5e-4, weight_decay=0.0125, host="thread")
    settings = replace(settings, training=training)
    dialog = PreferencesDialog(settings)
    qtbot.addWidget(dialog)
    assert dialog.settings().training.learning_rate == pytest.approx(2.5e-4)
    assert replace(dialog.settings().training, learning_rate=2.5e-4) == training


def test_a_change_is_applied_with_ok(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    layers = dialog.form("model").editor("layers").widget
    assert isinstance(layers, WholeSpinBox)
    layers.setFocus()
    layers.selectAll()
    qtbot.keyClicks(layers, "3")
    with qtbot.waitSignal(dialog.applied) as applied:
        press(qtbot, dialog, OK)
    assert applied.args[0].model.layers == 3
    assert replace(applied.args[0], model=Settings().model) == Settings()


@pytest.mark.parametrize(
    ("group", "name", "text", "words"),
    [
        ("training", "learning_rate", "10", "Learning rate: 10 is out of range. Enter a number from"),
        ("training", "replay_samples", "5000", "Replay samples: 5000 is out of range. Enter a number from 0 to 1,023."),
        ("training", "shrinkage", "11", "from 0 to 10."),
        ("gradients", "accumulation", "0", "is out of range"),
        ("training", "seed", "9223372036854775808", "Enter a number from 0 to 9,223,372,036,854,775,807."),
        ("gradients", "clip_norm", "1e", "“1e” is not a number"),
    ],
)
def test_an_out_of_range_number_is_refused_with_its_range_and_never_replaced(
    qtbot: QtBot, group: str, name: str, text: str, words: str
) -> None:
    """Regression: typing stopped at the end of the range, so 5000 became 500, and 10 became 1."""
    dialog = opened(qtbot, WITH_LARGE_SEED)
    dialog.show_setting(group, name)
    (box,) = number_boxes(dialog.form(group).editor(name).widget)
    before = box.text()
    box.selectAll()
    qtbot.keyClicks(box, text)
    assert words in dialog.message.text() and not dialog.buttons.button(OK).isEnabled(), "as it is typed"
    with qtbot.assertNotEmitted(dialog.applied):
        qtbot.keyClick(box, Qt.Key.Key_Return)
        assert dialog.isVisible(), "Return in the field does not accept the former number"
        assert box.text() == before
        qtbot.waitUntil(dialog.buttons.button(OK).isEnabled)
        assert words in dialog.message.text() and "stays" in dialog.message.text()
        press(qtbot, dialog, OK)
    assert not dialog.isVisible()


@pytest.mark.parametrize("name", ["learning_rate", "weight_decay", "replay_samples"])
def test_showing_a_number_does_not_round_it(qtbot: QtBot, name: str) -> None:
    value = {"learning_rate": 1.234567e-4, "weight_decay": 0.012345678, "replay_samples": 1023}[name]
    settings = replace(Settings(), training=replace(Settings().training, **{name: value}))  # type: ignore[arg-type]
    dialog = PreferencesDialog(settings)
    qtbot.addWidget(dialog)
    assert getattr(dialog.settings().training, name) == pytest.approx(value, rel=1e-4)


def test_ok_without_a_change_applies_nothing(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    with qtbot.assertNotEmitted(dialog.applied):
        press(qtbot, dialog, OK)


def test_cancel_applies_nothing(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    dialog.form("model").editor("layers").put(3)
    with qtbot.assertNotEmitted(dialog.applied):
        press(qtbot, dialog, QDialogButtonBox.StandardButton.Cancel)


def message(dialog: PreferencesDialog) -> str:
    return dialog.message.text()


def test_heads_that_do_not_divide_the_width_are_refused_with_a_message(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    dialog.form("model").editor("heads").put(5)
    assert "5 heads do not divide a width of 64" in message(dialog)
    assert not dialog.buttons.button(OK).isEnabled()
    dialog.form("model").editor("heads").put(8)
    assert dialog.buttons.button(OK).isEnabled()


def test_it_names_the_settings_that_take_effect_at_the_next_start(dialog: PreferencesDialog) -> None:
    dialog.form("chart").editor("show_bands").put(False)
    dialog.form("training").editor("learning_rate").put(3e-4)
    assert message(dialog) == ""
    dialog.form("training").editor("replay_samples").put(15)
    assert message(dialog).startswith("1 change will take effect")


def test_each_page_says_when_its_changes_take_effect(dialog: PreferencesDialog) -> None:
    notes = {
        group: dialog.form(group).findChildren(QLabel)[0].text() for group in GROUPS if group not in OWN_DIALOG_GROUPS
    }
    assert (
        notes["gradients"] == "Clip threshold takes effect immediately, everything else at the next start of training."
    )
    assert notes["training"].startswith("Learning rate and time for training (%) take effect immediately")
    assert notes["appearance"] == (
        "Interface size and font take effect at the next start of the program, everything else immediately."
    )
    assert notes["notifications"] == "Changes take effect immediately."


def test_no_two_settings_of_a_page_share_a_title() -> None:
    for group in GROUPS:
        titles = [title(field.name) for field in fields(getattr(Settings(), group))]
        assert len(set(titles)) == len(titles)


def test_defaults_are_restored_for_the_open_page(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    dialog.form("model").editor("layers").put(3)
    dialog.form("checkpoints").editor("keep_newest").put(9)
    dialog.tabs.setCurrentIndex(0)
    button = dialog.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
    assert button.text() == "Restore this page's defaults"
    button.click()
    assert dialog.settings().model == Settings().model
    assert dialog.settings().checkpoints.keep_newest == 9


def test_a_click_on_the_label_toggles_the_switch(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    dialog.show_setting("notifications", "alert_sound")
    (name,) = (label for label in dialog.findChildren(QLabel) if label.text() == "Price alert sound")
    before = dialog.settings().notifications.alert_sound
    qtbot.mouseClick(name, Qt.MouseButton.LeftButton)
    assert dialog.settings().notifications.alert_sound is not before
    qtbot.mouseClick(name, Qt.MouseButton.LeftButton)
    assert dialog.settings().notifications.alert_sound is before


def facts_of(group: str, name: str) -> str:
    return facts(group, name, field_infos(type(getattr(Settings(), group)))[name])


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        ("chart", "hindsight_horizon", "Default: 1 candle, from 1 to 64."),
        ("gradients", "accumulation", "Default: 1 micro-batch, from 1 to 64."),
        ("model", "horizons", "Default: 8 candles, from 1 to 64."),
    ],
)
def test_one_of_a_unit_is_singular(group: str, name: str, said: str) -> None:
    assert facts_of(group, name) == said


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        ("backups", "every_hours", "Default: 6 h, from 0 to 8,760."),
        ("training", "replay_window", "Default: 2,048 candles, from 64 to 65,536."),
        ("backups", "keep", "Default: 3, from 1 to 100."),
    ],
)
def test_a_unit_follows_from_the_end_of_the_name_or_is_given(group: str, name: str, said: str) -> None:
    assert facts_of(group, name) == said


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        ("appearance", "interface_percent", "Default: automatic; else from 75 to 300 %."),
        ("market", "speed", "Default: automatic; else from 0 candles/s."),
        ("market", "file", "Default: none."),
    ],
)
def test_an_unset_number_shows_no_range_and_no_unit(group: str, name: str, said: str) -> None:
    assert facts_of(group, name) == said


def test_a_seed_can_be_set_and_unset(dialog: PreferencesDialog) -> None:
    editor = dialog.form("training").editor("seed")
    assert editor.get() is None
    editor.put(42)
    assert editor.get() == 42
    editor.put(None)
    assert editor.get() is None


@pytest.mark.parametrize("group", GROUPS)
def test_every_integer_can_be_set_and_typed_up_to_the_ends_of_its_range(qtbot: QtBot, group: str) -> None:
    """Regression: Qt's spin box has 32 bits and a seed 63, so Preferences could not be opened."""
    default = getattr(Settings(), group)
    for name, info in field_infos(type(default)).items():
        if info.annotation not in (int, int | None):
            continue
        ends = [getattr(rule, bound) for rule in info.metadata for bound in ("ge", "le") if hasattr(rule, bound)]
        assert len(ends) == 2, name
        for end in ends:
            assert getattr(replace(default, **{name: end}), name) == end
            editor = make_editor(info)
            qtbot.addWidget(editor.widget)
            editor.put(end)
            assert editor.get() == end, name
            (box,) = number_boxes(editor.widget)
            box.selectAll()
            qtbot.keyClicks(box, str(end))
            assert editor.get() == end, name


def test_a_large_seed_is_shown_edited_and_applied_exactly(qtbot: QtBot) -> None:
    dialog = opened(qtbot, WITH_LARGE_SEED)
    dialog.show_setting("training", "seed")
    (box,) = number_boxes(dialog.form("training").editor("seed").widget)
    assert box.text() == "3,000,000,000" and dialog.settings() == WITH_LARGE_SEED
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert dialog.settings().training.seed == 3_000_000_001
    box.selectAll()
    qtbot.keyClicks(box, "9223372036854775807")
    with qtbot.waitSignal(dialog.applied) as applied:
        press(qtbot, dialog, OK)
    assert applied.args[0].training.seed == 2**63 - 1


def test_the_page_and_the_error_name_the_same_range_of_a_seed(dialog: PreferencesDialog) -> None:
    labels = dialog.form("training").findChildren(QLabel)
    assert any("from 0 to 9,223,372,036,854,775,807." in label.text() for label in labels)


def test_no_page_has_the_market_settings(dialog: PreferencesDialog) -> None:
    titles = [dialog.tabs.tabText(index) for index in range(dialog.tabs.count())]
    assert titles == [
        "Model",
        "Training",
        "Online",
        "Gradients",
        "Recovery",
        "Checkpoints",
        "Backups",
        "Record",
        "Paper score",
        "Chart",
        "Appearance",
        "Notifications",
    ]
    assert not dialog.findChildren(QLineEdit, "symbol") and dialog.findChildren(QComboBox, "theme")


def shown_fields(dialog: PreferencesDialog) -> dict[str, list[str]]:
    """The names of the fields that a user can see, by page."""
    shown: dict[str, list[str]] = {}
    for number, group in enumerate(dialog._forms):
        if dialog.tabs.isTabVisible(number):
            editors = {
                name: dialog.form(group).editor(name).widget for name in field_infos(type(getattr(Settings(), group)))
            }
            shown[group] = [name for name, widget in editors.items() if not widget.isHidden()]
    return shown


def test_a_setting_is_found_by_words_of_its_name_or_description(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    everything = shown_fields(dialog)
    qtbot.keyClicks(dialog.search, "decay weights")
    found = shown_fields(dialog)
    assert "ema_decay" in found["training"]
    assert sum(map(len, found.values())) < 6
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible() and not dialog.search.hasFocus(), "Enter moves to the match"
    current = list(dialog._forms)[dialog.tabs.currentIndex()]
    assert current in found, "a page with a match is open"
    dialog.search.clear()
    assert shown_fields(dialog) == everything


def test_a_page_is_found_by_its_name(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    qtbot.keyClicks(dialog.search, "recovery")
    assert shown_fields(dialog)["recovery"] == list(field_infos(type(Settings().recovery)))


def test_a_search_without_a_match_says_so_and_keeps_changes(qtbot: QtBot, dialog: PreferencesDialog) -> None:
    spin = dialog.form("model").editor("layers").widget
    assert isinstance(spin, WholeSpinBox)
    spin.setValue(3)
    qtbot.keyClicks(dialog.search, "zzzz")
    assert not dialog.tabs.isVisible()
    assert dialog.nothing.isVisible()
    with qtbot.waitSignal(dialog.applied) as applied:
        press(qtbot, dialog, OK)
    assert applied.args[0].model.layers == 3


def test_an_inactive_number_is_not_shown(dialog: PreferencesDialog) -> None:
    """Regression: a grey 75 looked like the size of the interface."""
    dialog.show_setting("appearance", "interface_percent")
    host = dialog.form("appearance").editor("interface_percent").widget
    (switch,), (box,) = host.findChildren(QCheckBox), host.findChildren(WholeSpinBox)
    assert not switch.isChecked() and switch.isVisible() and not box.isVisible()
    switch.setChecked(True)
    assert box.isVisible() and box.isEnabled()


def test_challengers_are_typed_one_after_the_other(qtbot: QtBot, dialog: PreferencesDialog, tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.touch()
    dialog.show_setting("model", "challengers")
    line = dialog.form("model").editor("challengers").widget
    assert isinstance(line, QLineEdit) and line.placeholderText() == "separated by semicolons"
    qtbot.keyClicks(line, "gru;gru")
    assert "two models are called gru" in dialog.message.text() and not dialog.buttons.button(OK).isEnabled()
    line.clear()
    qtbot.keyClicks(line, f"gru; {script}:Own;")
    with qtbot.waitSignal(dialog.applied) as applied:
        press(qtbot, dialog, OK)
    assert applied.args[0].model.challengers == ("gru", f"{script}:Own")
