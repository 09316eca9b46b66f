"""One pass over the whole program: screen-reader names, keyboard access, contrast of texts, and dialogs that fit a
small screen.

All in one file, so that parallel workers do not each repeat the pass.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog

from desktop.app.composition import Application
from tests.desktop.accessibility import stage
from tests.desktop.accessibility.survey import Survey, survey, too_large_at
from tests.desktop.whole_window import CandleGate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(qapp: QApplication, speaking_widgets: None, tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """The findings of one pass."""
    with pytest.MonkeyPatch.context() as patch:
        CandleGate.install(patch)
        return survey(qapp, tmp_path_factory.mktemp("survey"))


def leaves_of(kind: type) -> set[type]:
    """The subclasses without subclasses."""
    below = kind.__subclasses__()
    return set().union(*(leaves_of(each) for each in below)) if below else {kind}


def test_each_control_of_window_docks_and_dialogs_has_a_name_and_a_role(found: Survey) -> None:
    assert "\n".join(found.names) == ""


def test_every_dialog_was_checked_and_has_a_title(found: Survey) -> None:
    ours = {kind for kind in leaves_of(QDialog) if kind.__module__.startswith("desktop.")}
    assert ours - found.dialogs == set()
    assert [name for name, title in found.titles.items() if not title] == []


def test_tab_reaches_every_control_and_the_focus_is_visible(found: Survey) -> None:
    assert "\n".join(found.keys) == ""


def test_all_texts_have_a_contrast_of_at_least_four_and_a_half(found: Survey) -> None:
    """On their actual backgrounds, in both themes and with both pairs of colours."""
    assert "\n".join(found.inks) == ""


def test_no_dialog_is_larger_than_the_screen(found: Survey) -> None:
    """With text of the default and the largest size; the rest can be scrolled to."""
    assert "\n".join(found.too_large) == ""


def test_no_dialog_is_larger_than_the_screen_with_text_of_the_sizes_between(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    too_large: list[str] = []

    async def story(application: Application) -> None:
        for percent in (150, 200):
            too_large.extend(too_large_at(qapp, application, percent))

    CandleGate.install(monkeypatch)
    stage.play(qapp, tmp_path, story)
    assert "\n".join(too_large) == ""
