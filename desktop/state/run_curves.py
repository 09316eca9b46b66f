"""What the curves of steps show: the newest steps or the whole run, and perhaps a second run laid over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal, Slot

from core.storage.runs import Run
from core.storage.step_columns import StepColumns
from desktop.state.run_state import RunState
from desktop.state.step_history import Steps, nearest


@dataclass(frozen=True, slots=True)
class CurvesRequest:
    """The runs whose steps are wanted from the record; None: none."""

    own: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class FoundCurves:
    """runs: all that have steps, the newest first. steps: of those requested, by their ids."""

    runs: Sequence[Run] = ()
    steps: Mapping[str, StepColumns] = field(default_factory=dict)


class RunCurves(QObject):
    """Shared by Loss and Gradients."""

    changed = Signal()

    def __init__(self, state: RunState, parent: QObject) -> None:
        super().__init__(parent)
        self._state = state
        self.is_whole = False
        """Whether the curves are of the whole run rather than of its newest steps."""
        self.other: str | None = None
        """The run that is laid over, by its id."""
        self.found = FoundCurves()
        self.trouble: str | None = None
        state.run_changed.connect(self._on_run)

    @property
    def request(self) -> CurvesRequest:
        return CurvesRequest(self._state.head_id if self.is_whole else None, self.other)

    @property
    def shown(self) -> Steps:
        """The steps of the run; the newest ones while the others are being read."""
        recorded = self.found.steps.get(self._state.head_id or "") if self.is_whole else None
        is_complete = recorded is not None and len(recorded) >= len(self._state.steps)
        return recorded if recorded is not None and is_complete else self._state.steps

    @property
    def laid_over(self) -> StepColumns | None:
        return self.found.steps.get(self.other or "")

    @property
    def extent(self) -> tuple[float, float]:
        """The first and last step of the curves. Raises IndexError without steps."""
        own, other = self.shown.column("step"), self.laid_over
        beyond = other.column("step")[-1:].tolist() if other is not None and self.is_whole else []
        return float(own[0]), float(max(own[-1], *beyond, own[0]))

    def step_at(self, x: float) -> tuple[float, int | None]:
        """The step nearest to a place, and its index among those shown; None if only the second run has it. Raises
        IndexError without steps."""
        own, other = self.shown.column("step"), self.laid_over
        index = nearest(own, x)
        if other is None or not len(other) or x <= own[-1]:
            return float(own[index]), index
        beyond = float(other.column("step")[nearest(other.column("step"), x)])
        return (beyond, None) if beyond > own[-1] else (float(own[index]), index)

    def other_at(self, step: float, name: str) -> float | None:
        """A number of the second run at this step; None if it has no such step."""
        other = self.laid_over
        if other is None or not len(other) or not other.column("step")[0] <= step <= other.column("step")[-1]:
            return None
        return float(other.column(name)[nearest(other.column("step"), step)])

    @property
    def is_reading(self) -> bool:
        """Whether steps of the record are wanted and not here yet."""
        request = self.request
        return any(run_id is not None and run_id not in self.found.steps for run_id in (request.own, request.other))

    def choose_span(self, *, is_whole: bool) -> None:
        self.is_whole = is_whole
        self.changed.emit()

    def choose_other(self, run_id: str | None) -> None:
        """Lay this run over the curves, which then are of the whole run, or none."""
        self.other = run_id
        self.is_whole = self.is_whole or run_id is not None
        self.changed.emit()

    @Slot(object)
    def set_found(self, found: FoundCurves) -> None:
        self.found, self.trouble = found, None
        self.changed.emit()

    @Slot(str)
    def set_trouble(self, sentence: str) -> None:
        self.trouble = sentence
        self.changed.emit()

    @Slot()
    def _on_run(self) -> None:
        if self.other == self._state.head_id:
            self.other = None
        self.changed.emit()
