"""Dialogs for jobs of a model on files: pretraining, and evaluating a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from core.checkpoints.row import CheckpointRow
from core.domain.candle import Interval
from core.market.history.read import interval_of
from core.market.shown_names import shown_symbol
from desktop.dialogs.file_check import FilePicker, Found, Watch, check_readable, check_replayable
from desktop.jobs.form import JobDialog, chosen_device
from desktop.jobs.job_commands import Order, evaluate_order, pretrain_order
from desktop.ui.formatting import format_count, format_time
from desktop.ui.inputs import WholeSpinBox
from desktop.ui.translation import translate


class PretrainDialog(JobDialog):
    def __init__(self, device: str, parent: QWidget | None = None) -> None:
        about = translate(
            "Jobs",
            "Trains a new model on the files for several epochs, and validates it on the last part of each, which it "
            "never learns from. The next new run of the same interval starts from the best epoch; the model in use "
            "is not changed.",
        )
        super().__init__(translate("Jobs", "Pretrain"), about, translate("Jobs", "Pretrain"), parent)
        self._intervals: dict[Path, Interval] = {}
        """Intervals of the files checked so far; filled by the checking thread."""
        self.picker = FilePicker(several=True, look=self._look)
        self.epochs = _whole(10, 1, 10_000)
        self.patience = _whole(3, 1, 1_000)
        self.batch_size = _whole(32, 1, 65_536)
        self.share = _whole(20, 5, 50)
        self.share.setSuffix(translate("Jobs", " % of each file"))
        self.device = chosen_device(device)
        self.add_row(translate("Jobs", "&Files"), self.picker, translate("Jobs", "Candle files of one interval"))
        self.add_row(translate("Jobs", "&Epochs"), self.epochs, translate("Jobs", "Most passes over the files"))
        self.add_row(
            translate("Jobs", "&Validation share"),
            self.share,
            translate("Jobs", "Last part of each file: never learned from, only used to validate"),
        )
        self.add_row(
            translate("Jobs", "&Patience"),
            self.patience,
            translate("Jobs", "Stop after this many epochs without a better skill"),
        )
        self.add_row(translate("Jobs", "&Batch size"), self.batch_size, translate("Jobs", "Samples per step"))
        self.add_row(
            translate("Jobs", "&Device"),
            self.device,
            translate("Jobs", "Device for this job; training continues in parallel"),
        )
        self.check()

    def order(self) -> Order:
        files = self.picker.files()
        known = {file: self._intervals[file] for file in files if file in self._intervals}
        if len(set(known.values())) > 1:
            mixed = translate("Jobs", "The candles are of different lengths ({0}). Choose files of one interval.")
            named = (f"{file.name}: {interval}" for file, interval in known.items())
            raise ValueError(mixed.format(", ".join(named)))
        return pretrain_order(
            files,
            epochs=self.epochs.entered(),
            validation_share=self.share.entered() / 100.0,
            patience=self.patience.entered(),
            batch_size=self.batch_size.entered(),
            device=self.device.currentData(),
        )

    def _look(self, path: Path, watch: Watch) -> Found:
        check_readable(path, watch)
        self._intervals[path] = interval_of(path)
        return check_replayable(path, watch)


class EvaluateDialog(JobDialog):
    """The live session over a file, from a checkpoint or from a new model."""

    def __init__(
        self,
        offered: Sequence[CheckpointRow],
        chosen: str | None,
        reports: Path,
        now: datetime,
        device: str,
        parent: QWidget | None = None,
    ) -> None:
        """offered: in this order. chosen: an id. reports: the folder of the page."""
        about = translate(
            "Jobs",
            "Runs the live session over the file candle by candle: it forecasts each candle before seeing it, and is "
            "scored against the baselines. From a checkpoint it starts with its weights, optimizer, expert weights "
            "and calibration. The model in use is not changed.",
        )
        super().__init__(translate("Jobs", "Evaluate on a file"), about, translate("Jobs", "Evaluate"), parent)
        self._offered, self._reports, self._now = tuple(offered), reports, now
        self._demands: tuple[Interval | None, int | None] = (None, None)
        """The chosen checkpoint's interval, and the time before which candles do not count: read by the check of a file
        on another thread."""
        self.checkpoint = QComboBox()
        self.checkpoint.addItem(translate("Jobs", "A new, untrained model"), None)
        for each in self._offered:
            self.checkpoint.addItem(_title(each), each.info.checkpoint_id)
        self.picker = FilePicker(several=False, look=lambda path, watch: check_replayable(path, watch, *self._demands))
        self.learning = QComboBox()
        self.learning.addItem(translate("Jobs", "Keep learning from each candle, as when live"), True)
        self.learning.addItem(translate("Jobs", "Freeze the weights"), False)
        self.counts_seen = QCheckBox()
        self.device = chosen_device(device)
        self.add_row(
            translate("Jobs", "&Checkpoint"), self.checkpoint, translate("Jobs", "Starting point of the session")
        )
        self.add_row(
            translate("Jobs", "&File"), self.picker, translate("Jobs", "Candles with the checkpoint's interval")
        )
        self.add_row(
            translate("Jobs", "&Learning"),
            self.learning,
            translate("Jobs", "Frozen or not, the mix of model and baselines keeps adapting"),
        )
        self.add_row(
            translate("Jobs", "&Device"),
            self.device,
            translate("Jobs", "Device for this job; training continues in parallel"),
        )
        self.form.addRow("", self.counts_seen)
        self.checkpoint.currentIndexChanged.connect(lambda _index: self._on_checkpoint())
        self.counts_seen.toggled.connect(lambda _checked: self._check_file())
        self.checkpoint.setCurrentIndex(max(self.checkpoint.findData(chosen), 0) if chosen is not None else 0)
        self._on_checkpoint()

    def order(self) -> Order:
        return evaluate_order(
            self._chosen(),
            self.picker.files()[0],
            self._reports,
            self._now,
            device=self.device.currentData(),
            frozen=not self.learning.currentData(),
            count_seen=self.counts_seen.isChecked(),
        )

    def _chosen(self) -> CheckpointRow | None:
        chosen = self.checkpoint.currentData()
        return next((each for each in self._offered if each.info.checkpoint_id == chosen), None)

    def _on_checkpoint(self) -> None:
        kept = self._chosen()
        for part in (self.learning, self.counts_seen):
            part.setEnabled(kept is not None)
        if kept is None:
            self.learning.setCurrentIndex(0)
            self.counts_seen.setChecked(False)
        until = "…" if kept is None else format_time(_learned_until_ms(kept))
        self.counts_seen.setText(translate("Jobs", "Also evaluate candles before {0}").format(until))
        self.counts_seen.setToolTip(
            translate(
                "Jobs",
                "The checkpoint has learned up to then, so scores of earlier candles say little unless the file is "
                "of another market.",
            )
        )
        self.counts_seen.setAccessibleName(self.counts_seen.text())
        self._check_file()

    def _check_file(self) -> None:
        """Check the file again if the choice now demands another interval."""
        kept = self._chosen()
        interval = None if kept is None else Interval(kept.interval_ms)
        until_ms = None if kept is None or self.counts_seen.isChecked() else _learned_until_ms(kept)
        if (interval, until_ms) != self._demands:
            self._demands = interval, until_ms
            self.picker.check_again()
        self.check()


def _title(kept: CheckpointRow) -> str:
    until = format_time(_learned_until_ms(kept))
    return translate("Jobs", "{0}: {1} {2}, up to {3}").format(
        kept.info.name or translate("Jobs", "Step {0}").format(format_count(kept.info.step)),
        shown_symbol(kept.venue, kept.symbol),
        Interval(kept.interval_ms),
        until,
    )


def _learned_until_ms(kept: CheckpointRow) -> int:
    """The close of the newest candle of its run; the weights may know later ones of a run before."""
    return kept.info.candle_open_time_ms + kept.interval_ms


def _whole(value: int, least: int, most: int) -> WholeSpinBox:
    spin = WholeSpinBox(least, most)
    spin.setValue(value)
    return spin
