"""A card with the best checkpoint: its score, its time, and a button that restores it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from core.checkpoints.best import is_wrecked
from core.domain.checkpoint_info import CheckpointInfo
from desktop.panels.accuracy.answers import Found, model_found
from desktop.state.checkpoint_source import BEST_MEANING, SCORE_MEANING, CheckpointSource, score_text
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_age, format_count, format_number, format_percent, format_time
from desktop.ui.icons import icon, put_icon, tabular
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_NONE_SCORED = QT_TRANSLATE_NOOP(
    "Panels", "No best checkpoint yet.\nIt appears once enough forecasts have been scored."
)


class BestCheckpointPanel(Panel):
    """Shows the best of a source. `restore_requested` carries the checkpoint's id."""

    restore_requested = Signal(str)

    def __init__(self, source: CheckpointSource, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._source, self._state = source, state
        self._best: CheckpointInfo | None = None
        self._trophy, self._step, self._when, self._more = (Label() for _ in range(4))
        self._score, self._of = WrappedLabel(), WrappedLabel()
        """The score of the model alone, not of the ghosts, and its reference."""
        self._unproven = WrappedLabel()
        """A caution that the score proves nothing, or that a higher one was left out."""
        set_tooltip(self._unproven, translate("Checkpoints", BEST_MEANING))
        set_tooltip(self._trophy, translate("Checkpoints", BEST_MEANING))
        self._restore = QPushButton(translate("Panels", "Restore"))
        self._restore.setToolTip(
            translate("Panels", "Restore the model to this checkpoint. Recorded forecasts and scores are kept.")
        )
        put_icon(self._restore, "backup-restore", theme)
        self._restore.clicked.connect(self._on_restore)
        scale_text(self._step, 1.25, bold=True)
        self._score.setFont(tabular(self.font()))
        for label in (self._score, self._of):
            set_tooltip(label, translate("Checkpoints", SCORE_MEANING))
        mute(*self._small)
        theme.follow(self._trophy, lambda to: self._trophy.setPixmap(icon("trophy-outline", to.warning).pixmap(22, 22)))
        self._build_layout()
        self._empty = EmptyState(translate("Panels", _NONE_SCORED), self)
        self.follow(source.changed, state.status_changed)

    def refresh(self) -> None:
        self._best = self._source.best()
        best = self._best
        text = "" if best is not None else self._why_none()
        self._empty.update_state(is_empty=best is None, is_loading=self._source.is_loading, text=text)
        self._scroll.setVisible(best is not None)  # its bar would lie over the words
        for part in (self._trophy, self._step, self._score, *self._small, self._restore):
            part.setVisible(best is not None)
        if best is None:
            return
        set_text(self._step, translate("Panels", "Step {0}").format(format_count(best.step)))
        alone = translate("Panels", "Model alone:")
        if (count := self._source.market_count) != 1:
            alone = translate("Panels", "Model alone, all {0} markets:").format(format_count(count))
        set_text(self._score, f"{alone} {score_text(best)}")
        set_text(self._unproven, _caution(best, next(iter(self._source.scored()), None), self._model_found))
        set_text(self._of, _of_what(best, self._model_found))
        loss = () if best.loss is None else (translate("Panels", "Loss {0}").format(format_number(best.loss, 4)),)
        candle = translate("Panels", "candle of {0}").format(format_time(best.candle_open_time_ms))
        set_text(self._more, " · ".join((*loss, candle)))
        over = translate("Panels", "The score is over {0} candles.\n{1}")
        set_tooltip(self._more, over.format(format_count(best.scored), best.file))
        self.tick()

    def tick(self) -> None:
        if self._best is None:
            return
        is_the_model, saved = self._source.is_the_model(self._best), self._best.created_at_ms
        self._restore.setEnabled(not is_the_model)
        set_text(self._restore, translate("Panels", "In use") if is_the_model else translate("Panels", "Restore"))
        age = format_age(saved, self._source.clock.now_ms())
        set_text(self._when, translate("Panels", "Saved {0}, {1}").format(age, format_time(saved)))

    @property
    def _model_found(self) -> Found:
        """The run's verdict on its model: a checkpoint's gain has no interval."""
        status = self._state.market_status
        return Found.EARLY if status is None else model_found(status.accuracy)

    @property
    def _small(self) -> tuple[Label, ...]:
        return self._unproven, self._of, self._when, self._more

    def _build_layout(self) -> None:
        top = beside(None, self._trophy, self._step, None, self._restore, spacing=6)
        inside = QWidget()
        self._scroll = DownScrolling(inside, translate("Panels", "Best checkpoint"))
        stacked(self, self._scroll, margins=NO_MARGINS)
        labels = (self._score, *self._small)
        for label in labels:
            label.setAlignment(Qt.AlignmentFlag.AlignLeft)
        stacked(inside, top, *labels, None, margins=(8, 6, 8, 6), spacing=2)

    def _why_none(self) -> str:
        """The reason why there is no best: the highest score, which the table shows too, and its fault."""
        scored = self._source.scored()
        if not scored:
            return translate("Panels", _NONE_SCORED)
        highest = scored[0]
        text = (
            translate("Panels", "No best checkpoint yet.\nThe only score is {0}, at step {1}, but {2}.")
            if len(scored) == 1
            else translate("Panels", "No best checkpoint yet.\nThe highest score is {0}, at step {1}, but {2}.")
        )
        return text.format(score_text(highest), format_count(highest.step), _fault(highest, self._model_found))

    def _on_restore(self) -> None:
        if self._best is not None:
            self.restore_requested.emit(self._best.checkpoint_id)


def _caution(best: CheckpointInfo, highest: CheckpointInfo | None, model: Found) -> str:
    """The table shows the scores that the rule leaves out: the highest of them is named, with its fault."""
    if highest is None or highest.skill is None or best.skill is None or highest.skill <= best.skill:
        return translate("Panels", "The highest of many scores proves no edge.")
    text = translate("Panels", "Not the highest score: step {0} has {1}, but {2}. Neither proves an edge.")
    return text.format(format_count(highest.step), score_text(highest), _fault(highest, model))


def _fault(info: CheckpointInfo, model: Found) -> str:
    """Why this one can never be the best."""
    if is_wrecked(info):
        return translate("Panels", "its model had diverged or was in trouble")
    if info.skill is not None and info.skill < 0.0:
        is_proven = info.skill_high is not None and info.skill_high < 0.0
        worse = translate("Panels", "“no change” is better")
        return worse if is_proven else translate("Panels", "it is not proven better than “no change”")
    return (
        translate("Panels", "the model lowers the skill of the ghosts by {0}: the simple rules alone are better")
        if model is Found.NO
        else translate("Panels", "the model lowered the skill of the ghosts by {0}, which is not proven yet")
    ).format(_size(abs(info.model_gain or 0.0), 2))


def _of_what(best: CheckpointInfo, model: Found) -> str:
    """The reference of the score, and the model's gain for the ghosts, if any."""
    if best.model_gain is None:
        return translate("Panels", "Measured against “no change”, without the simple rules")
    gain = _size(best.model_gain, 1, signed=True)
    text = (
        translate("Panels", "Measured against “no change”; adds {0} to the simple rules")
        if model is Found.YES
        else translate("Panels", "Measured against “no change”; gain over the simple rules {0}, not proven yet")
    )
    return text.format(gain)


def _size(share: float, decimals: int, *, signed: bool = False) -> str:
    """A share that is not zero is never shown as zero."""
    if share == 0.0 or round(100.0 * share, decimals):
        return format_percent(share, decimals, signed=signed)
    return translate("Panels", "less than {0}").format(format_percent(10.0 ** -(decimals + 2), decimals))
