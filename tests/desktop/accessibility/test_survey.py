"""What one visit to the whole window and every dialog found: names and roles for screen readers, titles, Tab."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog

from tests.desktop.accessibility.survey import Survey


def leaves_of(kind: type) -> set[type]:
    """The classes under one that have none under them."""
    below = kind.__subclasses__()
    return set().union(*(leaves_of(each) for each in below)) if below else {kind}


def test_each_control_of_window_docks_and_dialogs_has_a_name_and_a_role(found: Survey) -> None:
    assert "\n".join(found.names) == ""


def test_tab_reaches_every_control_comes_round_and_is_seen(found: Survey) -> None:
    assert "\n".join(found.keys) == ""


def test_each_dialog_was_looked_at_and_has_a_title(found: Survey) -> None:
    ours = {kind for kind in leaves_of(QDialog) if kind.__module__.startswith("desktop.")}
    assert ours - found.dialogs == set()
    assert [name for name, title in found.titles.items() if not title] == []
