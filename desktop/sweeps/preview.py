"""Checks a plan while it is typed, on another thread: files are read, and a disk may not answer."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.settings.tree import Settings
from core.sweeps.errors import SweepError
from core.sweeps.grid import Extent, base_of, check_ends, configurations_of, extent_of
from core.sweeps.plan import SweepPlan
from core.sweeps.sources import find_files
from core.sweeps.start import model_files

_PAUSE_MS = 300
"""From the last key press."""
_ASKED_EVERY_MS = 50
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True)
class Preview:
    """extent: None if the plan has a fault. problem: the fault, in sentences."""

    extent: Extent | None
    problem: str = ""


def look_at(plan: SweepPlan, settings: Settings) -> Preview:
    """Read the files, which have absolute paths, and try all configurations."""
    base = base_of(settings)
    try:
        if plan.budget is None:
            count = len(configurations_of(plan, base))
        else:
            check_ends(plan, base)
            count = plan.budget
        model_files(plan, Path.home())
        return Preview(extent_of(plan, count, find_files(plan, Path.home())))
    except SweepError as error:
        return Preview(None, str(error))


class _Looking:
    def __init__(self, plan: SweepPlan, settings: Settings) -> None:
        self.found: Preview | None = None
        self._plan, self._settings = plan, settings

    def start(self) -> None:
        threading.Thread(target=self._run, name="look at a plan", daemon=True).start()

    def _run(self) -> None:
        try:
            self.found = look_at(self._plan, self._settings)
        except Exception as error:  # the job reports it
            _log.exception("A plan could not be looked at.")
            self.found = Preview(None, f"{type(error).__name__}: {error}")


class PlanPreview(QObject):
    """`answered` once the newest plan was looked at."""

    answered = Signal()

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._plan: SweepPlan | None = None
        self._looking: _Looking | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)
        self._wait = QTimer(self, interval=_ASKED_EVERY_MS)
        self._wait.timeout.connect(self._ask_look)

    def found_for(self, plan: SweepPlan) -> Preview | None:
        """None while it is unknown; the plan is then looked at."""
        if plan != self._plan:
            self.end()
            self._plan = plan
            self._pause.start()
        return None if self._looking is None else self._looking.found

    def end(self) -> None:
        """Drop the question; `answered` will not come."""
        self._pause.stop()
        self._wait.stop()
        self._looking = self._plan = None

    @Slot()
    def _begin(self) -> None:
        if self._plan is not None:
            self._looking = _Looking(self._plan, self._settings)
            self._looking.start()
            self._wait.start()

    @Slot()
    def _ask_look(self) -> None:
        if self._looking is not None and self._looking.found is not None:
            self._wait.stop()
            self.answered.emit()
