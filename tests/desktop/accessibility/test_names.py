"""What a screen reader is told: each control of the whole window and of every dialog has a name and a role."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox, QTabWidget, QWidget

from desktop.app import Application
from tests.desktop.accessibility import stage
from tests.desktop.accessibility.controls import complaints, controls

_OF_QT = (QFileDialog, QInputDialog, QMessageBox)


def pages(root: QWidget) -> list[tuple[QTabWidget, int]]:
    """All pages of all tabs in it, and none where there are no tabs."""
    return [(tabs, page) for tabs in root.findChildren(QTabWidget) for page in range(tabs.count())]


async def found_on_all_pages(root: QWidget) -> list[str]:
    """What is wrong anywhere in it, whichever page is open."""
    await asyncio.sleep(0.15)
    found = [each for widget in controls(root) for each in complaints(widget)]
    for tabs, page in pages(root):
        tabs.setCurrentIndex(page)
        await asyncio.sleep(0.02)
        found += [each for widget in controls(root) for each in complaints(widget)]
    return found


def test_each_control_of_window_docks_and_dialogs_has_a_name_and_a_role(qapp: QApplication, tmp_path: Path) -> None:
    wrong: dict[str, list[str]] = {}
    kinds: set[type] = set()

    async def story(application: Application) -> None:
        wrong["window"] = await found_on_all_pages(application.window)
        for name, dock in stage.show_docks(application):
            wrong[name] = await found_on_all_pages(dock)
        for name, opener in stage.openers().items():
            with stage.opened(application, opener) as dialog:
                kinds.add(type(dialog))
                assert dialog.windowTitle(), name
                if not isinstance(dialog, QFileDialog):
                    wrong[name] = await found_on_all_pages(dialog)

    stage.play(qapp, tmp_path, story)
    assert "\n".join(sorted({each for found in wrong.values() for each in found})) == ""
    ours = {kind for kind in QDialog.__subclasses__() if kind.__module__.startswith("desktop.")}
    assert ours - kinds == set(), "each dialog of the program is opened"
