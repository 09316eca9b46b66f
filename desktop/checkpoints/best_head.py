"""The head of the checkpoint browser: the best checkpoint in two lines, and a button that restores it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from core.checkpoints.best import is_proven_to_add
from core.domain.checkpoint_info import CheckpointInfo
from desktop.state.checkpoint_source import ADDS_MEANING, BEST_MEANING, CheckpointSource, adds_sentence, adds_text
from desktop.ui.formatting import format_age, format_count, format_time
from desktop.ui.icons import icon, put_icon, tabular
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import ElidedLabel, Label, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_LEAST_PX = 150
"""Height of the browser below which the second line is only in the tooltip: rows need the room."""


class BestCheckpointHead(QWidget):
    """Shows the best of the watched run, or why there is none. `restore_requested` carries its id."""

    restore_requested = Signal(str)

    def __init__(self, source: CheckpointSource, theme: Theme) -> None:
        super().__init__()
        self._source = source
        self._best: CheckpointInfo | None = None
        self._trophy, self._first, self._second = Label(), ElidedLabel(), ElidedLabel()
        self._restore = QPushButton(translate("Checkpoints", "Restore"))
        self._restore.setToolTip(
            translate("Checkpoints", "Restore the model to this checkpoint. Recorded forecasts and scores are kept.")
        )
        put_icon(self._restore, "backup-restore", theme)
        self._restore.clicked.connect(self._on_restore)
        theme.follow(self._trophy, lambda to: self._trophy.setPixmap(icon("trophy-outline", to.warning).pixmap(18, 18)))
        self._first.setFont(tabular(self.font()))
        mute(self._second)
        lines = QWidget()
        stacked(lines, self._first, self._second, margins=NO_MARGINS, spacing=0)
        parts = self._trophy, lines, self._restore
        beside(self, *parts, stretched=lines, margins=NO_MARGINS, spacing=8)

    def refresh(self) -> None:
        """Show the best as it is now."""
        self._best = best = self._source.best()
        self._trophy.setVisible(best is not None and is_proven_to_add(best))
        self._restore.setVisible(best is not None)
        self.setVisible(bool(self._source.checkpoints()))
        set_text(self._first, translate("Checkpoints", "No best checkpoint yet") if best is None else self._title(best))
        self.tick()

    def tick(self) -> None:
        """Update its age, and whether the model equals it."""
        best = self._best
        if best is None:
            set_text(self._second, self._why_none())
        else:
            is_the_model = self._source.is_the_model(best)
            self._restore.setEnabled(not is_the_model)
            restore = translate("Checkpoints", "In use") if is_the_model else translate("Checkpoints", "Restore")
            set_text(self._restore, restore)
            set_text(self._second, self._details(best))
        meaning = [adds_sentence(best)] if best is not None else []
        meaning += [translate("Checkpoints", each) for each in (BEST_MEANING, ADDS_MEANING)]
        set_tooltip(self, "\n".join((self._first.text(), self._second.text(), *meaning)))

    def fit(self, height_px: int) -> None:
        """Fit the browser's height."""
        self._second.setVisible(height_px >= _LEAST_PX)

    def _title(self, best: CheckpointInfo) -> str:
        step = format_count(best.step)
        if not is_proven_to_add(best):
            return translate("Checkpoints", "Best so far: step {0}, not proven to add").format(step)
        text = translate("Checkpoints", "Best checkpoint: step {0} adds {1}").format(step, adds_text(best))
        if (count := self._source.market_count) == 1:
            return text
        return translate("Checkpoints", "{0}, mean of {1} markets").format(text, format_count(count))

    def _details(self, best: CheckpointInfo) -> str:
        age = format_age(best.created_at_ms, self._source.clock.now_ms())
        saved = translate("Checkpoints", "Saved {0}, candle of {1}").format(age, format_time(best.candle_open_time_ms))
        if is_proven_to_add(best):
            return saved
        unproven = translate("Checkpoints", "No checkpoint is proven to add to the baselines yet.")
        return f"{unproven} {saved}"

    def _why_none(self) -> str:
        if any(info.skill is not None for info in self._source.checkpoints()):
            return translate("Checkpoints", "In all that are scored, the model had diverged or is proven to take away.")
        return translate("Checkpoints", "It appears once 100 candles that a saved model forecast have closed.")

    def _on_restore(self) -> None:
        if self._best is not None:
            self.restore_requested.emit(self._best.checkpoint_id)
