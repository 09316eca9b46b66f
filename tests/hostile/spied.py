"""`python -m tests.hostile.spied run ...`: the real program, which also writes to stdout what its window says.

One JSON object a line, whenever something of it has changed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys

MOVE = "GHOSTCANDLE_TEST_MOVES_TO"
"""Position to move the open window to: ``x,y``."""
_LOOK_EVERY_MS = 50


def main() -> None:
    multiprocessing.freeze_support()
    from PySide6.QtCore import QTimer  # noqa: PLC0415 - a spawned trainer imports this module too
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from desktop.commands.cli import run_command_line  # noqa: PLC0415

    qt = QApplication(["ghostcandle"])
    printed: list[str] = []
    moves = [[int(part) for part in os.environ[MOVE].split(",")]] if MOVE in os.environ else []

    def look() -> None:
        for widget in qt.topLevelWidgets():
            if moves and widget.objectName() == "main_window" and widget.isVisible():
                widget.move(*moves.pop())
        said = json.dumps(_what_it_says(qt))
        if not printed or said != printed[-1]:
            printed[:] = [said]
            print(said, flush=True)

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(_LOOK_EVERY_MS)
    code = run_command_line(sys.argv[1:])
    timer.stop()
    sys.exit(code)


def _what_it_says(qt: object) -> dict[str, object]:
    from PySide6.QtGui import QGuiApplication  # noqa: PLC0415
    from PySide6.QtWidgets import QApplication, QMessageBox  # noqa: PLC0415

    from desktop.window.main_window import MainWindow  # noqa: PLC0415

    assert isinstance(qt, QApplication)
    said: dict[str, object] = {"window": False}
    for widget in qt.topLevelWidgets():
        if isinstance(widget, MainWindow) and widget.isVisible():
            place = widget.frameGeometry()
            said = {
                "window": True,
                "title": widget.windowTitle(),
                "banner": sorted(notice.text for notice in widget.banner._notices),
                "place": [place.x(), place.y(), place.width(), place.height()],
                "docks": sorted(id_.name for id_, dock in widget.docks.items() if dock.isVisible()),
                "on_screen": any(screen.availableGeometry().intersects(place) for screen in QGuiApplication.screens()),
                "feed": widget._state.feed.state.value if widget._state.feed is not None else "",
                "feed_says": widget._state.feed.sentence if widget._state.feed is not None else "",
                "feed_waits": widget._state.feed is not None and widget._state.feed.passing is not None,
                "step": widget._state.status.step if widget._state.status is not None else 0,
                "is_front": widget.isActiveWindow(),
            }
    boxes = [widget.text() for widget in qt.topLevelWidgets() if isinstance(widget, QMessageBox) and widget.isVisible()]
    return {**said, "boxes": boxes}


if __name__ == "__main__":
    main()
