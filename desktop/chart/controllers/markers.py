"""Incidents and best checkpoints as markers on the chart."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from core.domain.candle_series import CandleSeries
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import Settings
from desktop.chart.items.markers import Marker, MarkerKind, MarkersLayer, MarkerTrack
from desktop.chart.tools.tool import ChartPoint, GripTool
from desktop.chart.widget import ChartWidget
from desktop.state.checkpoint_source import CheckpointSource, adds_text
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.state.step_history import StepHistory
from desktop.ui import formatting
from desktop.ui.translation import translate

_KINDS = {IncidentKind.RESTORED: MarkerKind.RESTORE, IncidentKind.ROLLED_BACK: MarkerKind.ROLLBACK}
_SEVERITIES = {
    Severity.ERROR: MarkerKind.ERROR,
    Severity.WARNING: MarkerKind.WARNING,
    Severity.INFO: MarkerKind.INFO,
}


class ChartMarkers(QObject, GripTool[Marker]):
    """Collects markers after state changes, merging many changes; the chart only draws them. A click selects one; a
    press released elsewhere does not."""

    shape = Qt.CursorShape.PointingHandCursor
    incident_chosen = Signal(object)
    """Incident"""
    checkpoint_chosen = Signal(str)
    """A checkpoint's id."""

    def __init__(self, shell: Shell, chart: ChartWidget, state: RunState, source: CheckpointSource) -> None:
        super().__init__(chart)
        self._chart, self._state, self._source = chart, state, source
        self.layer = MarkersLayer()
        self._placed: dict[tuple[str, int, Severity], int] = {}
        self._timer = QTimer(self, singleShot=True, interval=50)
        self._timer.timeout.connect(self.gather)
        chart.add_layer(self.layer)
        chart.add_tool(self)
        state.incidents_changed.connect(self._gather_soon)
        source.changed.connect(self._gather_soon)
        state.run_changed.connect(self._on_run)
        chart.series_changed.connect(self._on_series)
        shell.settings.changed.connect(self._show_settings)
        self._show_settings(shell.settings.current)

    def gather(self) -> None:
        """Collect the markers. Within one series, an incident stays at its first candle."""
        series = self._chart.model.whole
        if not len(series):
            return
        markers = self._of_incidents(series)
        for info in self._source.bests():
            words = translate("Chart", "New best checkpoint at step {0}: its model adds {1} to the ghosts.")
            sentence = words.format(formatting.format_count(info.step), adds_text(info))
            markers.append(Marker(info.candle_open_time_ms, MarkerKind.BEST, sentence, info))
        self._show(MarkerTrack(markers))

    def stop(self) -> None:
        """Stop collecting, because the window is closing."""
        self._timer.stop()

    def part_at(self, at: ChartPoint) -> Marker | None:
        return self.layer.marker_at(at.frame, self._chart.model, at.pixel) if at.is_on_prices else None

    def release(self, at: ChartPoint) -> None:
        pressed = self.held
        self.cancel()
        if pressed is None or self.part_at(at) is not pressed:
            return
        if isinstance(pressed.source, Incident):
            self.incident_chosen.emit(pressed.source)
        elif isinstance(pressed.source, CheckpointInfo):
            self.checkpoint_chosen.emit(pressed.source.checkpoint_id)

    def _gather_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _of_incidents(self, series: CandleSeries) -> list[Marker]:
        markers = []
        for incident in self._state.incidents:
            time_ms = self._placed.get(incident.episode)
            if time_ms is None:
                time_ms = candle_time(incident.at_ms, self._state.steps, series)
            if time_ms is not None:
                self._placed[incident.episode] = time_ms
                kind = _KINDS.get(incident.kind, _SEVERITIES[incident.severity])
                sentence = " ".join(part for part in (incident.what_happened, incident.what_was_done) if part)
                markers.append(Marker(time_ms, kind, sentence, incident))
        return markers

    def _on_series(self) -> None:
        """Place incidents again: with more history there may be a candle for them now."""
        self._placed.clear()
        self._gather_soon()

    def _on_run(self) -> None:
        self._placed.clear()
        self._show(MarkerTrack())

    def _show(self, track: MarkerTrack) -> None:
        self.layer.track = track
        self._chart.layers_changed()

    def _show_settings(self, settings: Settings) -> None:
        self.layer.is_visible = settings.chart.show_markers
        self._chart.layers_changed()


def candle_time(at_ms: int, steps: StepHistory, series: CandleSeries) -> int | None:
    """The candle that training had reached at this wall time; None if unknown.

    During catch-up and replay, training is at old candles, given by the newest step before that time. If that step is
    more than a candle's length old, as in a pause, the wall time is used, if the chart covers it.
    """
    interval = series.interval
    first, last = int(series.open_time_ms[0]), int(series.open_time_ms[-1])
    is_on_chart = first <= at_ms < last + 3 * interval.duration_ms
    found = int(np.searchsorted(steps.column("at_ms"), at_ms, side="right")) - 1
    if found >= 0:
        is_recent = at_ms - float(steps.column("at_ms")[found]) <= interval.duration_ms
        if is_recent or not is_on_chart:
            return int(steps.column("candle_open_time_ms")[found])
    return at_ms if is_on_chart else None
