"""The question whether to restore a checkpoint, and ghosts of checkpoints on the chart.

The forecasts are requested again with each closed candle. Meanwhile the trainer deletes none of these checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal, Slot

from core.checkpoints.best import is_wrecked
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import CheckpointForecast, Severity
from core.training.commands import ForecastWith, RestoreCheckpoint, TrainerCommand
from desktop.actions import ActionId
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.chart.widget import ChartWidget
from desktop.checkpoints.columns import why_wrecked
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.state.training_words import cannot_forecast, cannot_go_back
from desktop.ui.banner import Notice
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate

_KEY = "checkpoint preview"


class CheckpointPreviews(QObject):
    """Owns the layer. The ghosts are not forecasts: they are neither stored, scored nor learned from."""

    shown = Signal()
    """Ghosts of checkpoints are to be on the chart."""

    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        state: RunState,
        source: CheckpointSource,
        panel: CheckpointsPanel,
        send: Callable[[TrainerCommand], object],
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._state, self._send = shell, chart, state, send
        self._source = source
        self._show_action = panel.actions_of_panel[ActionId.CHECKPOINT_GHOSTS]
        self.layer = PreviewLayer()
        self._asked: tuple[CheckpointInfo, ...] = ()
        self._forecasts: dict[str, CheckpointForecast] = {}
        self._is_drawn = False
        chart.add_layer(self.layer)
        panel.restore_requested.connect(self.ask_before_restore)
        panel.ghosts_requested.connect(self.show)
        state.checkpoint_forecast.connect(self._on_forecast)
        state.forecast_changed.connect(self._request)
        state.ready.connect(self._request)  # a new trainer knows of none
        state.record_changed.connect(self.hide)

    @property
    def ids(self) -> tuple[str, ...]:
        """The checkpoints that are previewed, or may be restored: the trainer does not delete them."""
        return tuple(info.checkpoint_id for info in self._asked)

    @property
    def is_shown(self) -> bool:
        """Whether ghosts of checkpoints are on the chart, or requested."""
        return bool(self._asked) and self._is_drawn

    @Slot(str)
    def ask_before_restore(self, checkpoint_id: str) -> None:
        row = self._source.catalog.get(checkpoint_id)
        if not self._state.has_answering_trainer:
            self._refuse(cannot_go_back)
        elif row is not None:
            self._begin([row.info], is_drawn=False)
            self._offer(row.info)

    @Slot(object)
    def show(self, infos: Sequence[CheckpointInfo]) -> None:
        """Show the ghosts of these on the same candles; an empty list hides them."""
        can_show = self._state.has_answering_trainer
        self._begin(infos[:MOST_PREVIEWS] if can_show else ())
        if infos and not can_show:
            self._refuse(cannot_forecast)

    def show_if_answered(self, infos: Sequence[CheckpointInfo]) -> bool:
        """Show the ghosts if a trainer answers. Returns whether they were requested."""
        if not self._state.has_answering_trainer:
            return False
        self.show(infos)
        return True

    @Slot(object)
    def make_room(self, names: Sequence[str]) -> None:
        """Hide the ghosts, if any of these experts is to be shown in their place."""
        if names and self.is_shown:
            self.hide()

    @Slot()
    def hide(self) -> None:
        self._begin(())

    def _refuse(self, why: Callable[[RunState], str]) -> None:
        """No trainer answers. An error, so that no graver notice hides the answer to a click."""
        self._shell.banner.notify(why(self._state), Severity.ERROR, key=_KEY, is_answer=True)

    def _begin(self, infos: Sequence[CheckpointInfo], *, is_drawn: bool = True) -> None:
        if self._asked and not infos and self._state.market is not None:
            self._send(ForecastWith((), self._state.market))
        self._asked, self._is_drawn = tuple(infos), is_drawn
        self._forecasts.clear()
        self._shell.banner.withdraw(_KEY)
        self._draw()
        if self.is_shown:
            self.shown.emit()
        self._request()

    def _request(self) -> None:
        if self._asked and self._state.market is not None:
            self._send(ForecastWith(self.ids, self._state.market))

    def _on_forecast(self, event: CheckpointForecast) -> None:
        if event.checkpoint_id not in self.ids:
            return
        if event.forecast is None:
            self._shell.banner.notify(event.why_not, Severity.WARNING, key=_KEY, is_answer=True)
            self._asked = tuple(info for info in self._asked if info.checkpoint_id != event.checkpoint_id)
        else:
            self._forecasts[event.checkpoint_id] = event
        self._draw()

    def _draw(self) -> None:
        forecasts = ((info, self._forecasts.get(info.checkpoint_id)) for info in self._asked if self._is_drawn)
        self.layer.show_previews(
            [
                Preview(
                    info.name or translate("Checkpoints", "step {0}").format(format_count(info.step)), event.forecast
                )
                for info, event in forecasts
                if event is not None and event.forecast
            ]
        )
        self._chart.layers_changed()
        self._show_action.setChecked(self.is_shown)

    def _offer(self, info: CheckpointInfo) -> None:
        self._shell.banner.show_notice(
            Notice(
                _KEY,
                Severity.WARNING if is_wrecked(info) else Severity.INFO,
                offer(info),
                action=translate("Checkpoints", "Restore"),
                on_action=lambda: self._restore(info.checkpoint_id),
                option="" if self._is_drawn else translate("Checkpoints", "Preview"),
                on_option=lambda: self._preview(info),
                is_answer=True,
                on_dismiss=self.hide,
            )
        )
        self._shell.banner.action.setFocus()

    def _preview(self, info: CheckpointInfo) -> None:
        self._is_drawn = True
        self._draw()
        self.shown.emit()
        self._offer(info)

    def _restore(self, checkpoint_id: str) -> None:
        self._asked = ()  # the restore ends the preview
        self._begin(())
        if self._state.has_answering_trainer:
            self._send(RestoreCheckpoint(checkpoint_id))
        else:  # it has ended since then
            self._refuse(cannot_go_back)


def which(info: CheckpointInfo) -> str:
    """The name with the step, since names may repeat, to follow “the checkpoint” in a sentence."""
    step = format_count(info.step)
    if not info.name:
        return translate("Checkpoints", "of step {0}").format(step)
    return translate("Checkpoints", "“{0}” (step {1})").format(info.name, step)


def offer(info: CheckpointInfo) -> str:
    question = translate(
        "Checkpoints", "Restore the checkpoint {0}? The model continues from it; recorded forecasts and scores stay."
    ).format(which(info))
    if not is_wrecked(info):
        return question
    worse = translate("Checkpoints", "Expect it to be worse than an untrained one.")
    return f"{why_wrecked(info)} {worse} {question}"
