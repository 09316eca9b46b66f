"""The dialog that plans a sweep without a typed SWEEP.toml, and starts it as a job."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QPushButton, QWidget

from core.settings.tree import Settings
from core.sweeps.errors import SweepError
from core.sweeps.estimate import stored_rate
from core.sweeps.grid import sources_of
from core.sweeps.plan import SweepPlan, plan_data, plan_of, read_plan
from core.sweeps.typed_values import read_seeds, values_data
from desktop.dialogs.file_check import FilePicker, Found, Watch, check_readable
from desktop.dialogs.messages import open_dialog
from desktop.jobs.form import JobDialog
from desktop.jobs.job_commands import Order
from desktop.sweeps.models_field import ModelsField, placed
from desktop.sweeps.orders import sweep_order
from desktop.sweeps.part_text import part_of, part_text
from desktop.sweeps.preview import PlanPreview, Preview
from desktop.sweeps.search_field import SearchField
from desktop.sweeps.setting_rows import FIRST, SettingRows
from desktop.sweeps.texts import extent_text
from desktop.ui.inputs import WholeSpinBox
from desktop.ui.panel_base import mute
from desktop.ui.plain_text import WrappedLabel
from desktop.ui.stacks import beside
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_MOST_CANDLES = 10_000_000
_SUGGESTED = {"training.learning_rate": (0.00001, 0.00003, 0.0001), "model.width": (32, 64)}
_PATTERN_SIGNS = frozenset("*?[")


class SweepDialog(JobDialog):
    """`planned` carries the Order of a new folder, and its SweepPlan."""

    planned = Signal(object, object)

    def __init__(
        self, settings: Settings, root: Path, now: datetime, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """root: of all sweeps. settings: those that the plan does not vary."""
        about = translate(
            "Sweeps",
            "Evaluates each combination of model, settings, file and seed, each as a new model over the candles in "
            "order. The best is chosen on the first part of each file, and judged on the second.",
        )
        super().__init__(translate("Sweeps", "Sweep"), about, translate("Sweeps", "Start"), parent)
        self._root = root
        self._data = plan_data(plan_of({"files": ["x"]}))
        """The fields of an opened plan that the dialog does not show."""
        self.preview = PlanPreview(settings, self)
        self.name = QLineEdit(f"{now:%Y%m%d-%H%M%S}")
        self.open_button = QPushButton(translate("Sweeps", "&Open a plan…"))
        self.picker = FilePicker(several=True, look=_look)
        self.models, self.rows, self.search = ModelsField(), SettingRows(theme), SearchField()
        self.seeds, self.first_part = QLineEdit("0"), QLineEdit("50 %")
        self.together = QComboBox()
        self.together.addItem(translate("Sweeps", "Each file has a model"), False)
        self.together.addItem(translate("Sweeps", "One model learns all files"), True)
        self.candles = WholeSpinBox(0, _MOST_CANDLES)
        self.candles.setSpecialValueText(translate("Sweeps", "All"))
        self.extent = WrappedLabel()
        mute(self.extent)
        self._add_rows()
        self.rows.show_settings({key: _SUGGESTED[key] for key in FIRST})
        self.open_button.clicked.connect(self._on_open)
        self.preview.answered.connect(self._on_answered)
        self.finished.connect(self._on_finished)
        self.ordered.connect(self._on_ordered)
        self.check()

    @property
    def folder(self) -> Path:
        """Of the new sweep. Raises ValueError with a sentence for a name that is none, or taken."""
        name = self.name.text().strip()
        if not name or name in (".", "..") or any(sign in name for sign in '/\\:*?"<>|\0'):
            raise ValueError(translate("Sweeps", "Give the sweep a name that a folder can have."))
        if (self._root / name).exists():
            raise ValueError(translate("Sweeps", "There is a sweep of the name {0}. Choose another.").format(name))
        return self._root / name

    def plan(self) -> SweepPlan:
        """Raises ValueError with a sentence."""
        needs_steps = self.search.needs_steps
        data = self._data | self.search.fields()
        data["files"] = [str(file) for file in self.picker.files()]
        data["models"] = self.models.models()
        settings = self.rows.settings(needs_steps=needs_steps)
        data["settings"] = {key: values_data(values) for key, values in settings.items()}
        data["seeds"] = self._seeds()
        data["together"] = self.together.currentData()
        data["candles"] = self.candles.entered() or None
        data["first_part"] = part_of(self.first_part.text())
        try:
            return plan_of(data, translate("Sweeps", "The sweep"))
        except SweepError as error:
            raise ValueError(str(error)) from error

    def order(self) -> Order:
        folder, plan = self.folder, self.plan()
        found = self.preview.found_for(plan)
        self._show_extent(found, plan)
        if found is not None and found.problem:
            raise ValueError(found.problem)
        return sweep_order(folder, folder.name)

    def _show_extent(self, found: Preview | None, plan: SweepPlan) -> None:
        if found is None or found.extent is None:
            self.extent.setText("")
        else:
            self.extent.setText(extent_text(found.extent, plan, os.cpu_count() or 1, stored_rate(self._root)))

    def show_plan(self, plan: SweepPlan) -> None:
        """Fill the fields from a plan."""
        self._data = plan_data(plan)
        self.picker.choose([Path(file) for file in plan.files])
        self.models.show_models(plan.models)
        self.search.show_plan(plan)
        self.rows.show_settings(plan.settings)
        self.seeds.setText(", ".join(map(str, plan.seeds)))
        self.together.setCurrentIndex(self.together.findData(plan.together))
        self.candles.setValue(plan.candles or 0)
        self.first_part.setText(part_text(plan.first_part))
        self.check()

    def accept(self) -> None:
        try:
            self.order()
            is_known = self.preview.found_for(self.plan()) is not None
        except ValueError:
            self.check()
            return
        if not is_known:
            self._is_accepting = True
            self.message.show_waiting(translate("Jobs", "Reading…"))
            return
        super().accept()

    def _add_rows(self) -> None:
        tr = translate
        self.form.addRow("", beside(None, self.open_button, None))
        self.add_row(tr("Sweeps", "&Name"), self.name, tr("Sweeps", "Of the folder in which its results are stored"))
        self.add_row(tr("Sweeps", "&Files"), self.picker, tr("Sweeps", "Candle files, or patterns such as data/*.csv"))
        self.add_row(
            tr("Sweeps", "&Models"), self.models, tr("Sweeps", "The transformer alone, or with one challenger")
        )
        self.add_row(tr("Sweeps", "S&ettings"), self.rows, tr("Sweeps", "Each combination of these values is compared"))
        self.add_row(
            tr("Sweeps", "See&ds"), self.seeds, tr("Sweeps", "Such as 0, 1, 2 or 0 to 4: each is a repetition")
        )
        self.add_row(tr("Sweeps", "&Together"), self.together, tr("Sweeps", "Files of different intervals stay apart"))
        self.add_row(tr("Sweeps", "&Candles"), self.candles, tr("Sweeps", "Only the first ones of each file; 0: all"))
        parts = tr("Sweeps", "Share of the candles that chooses, such as 50 %, or the date (UTC) at which it ends")
        self.add_row(tr("Sweeps", "First &part"), self.first_part, parts)
        self.add_row(tr("Sweeps", "Sea&rch"), self.search, tr("Sweeps", "Which of the combinations are evaluated"))
        self.form.addRow("", self.extent)
        self.rows.changed.connect(self.check)
        self.models.changed.connect(self.check)
        self.search.changed.connect(self.check)

    def _seeds(self) -> tuple[int, ...]:
        try:
            return read_seeds(self.seeds.text())
        except ValueError as error:
            raise ValueError(translate("Sweeps", "Seeds: {0}.").format(error)) from error

    @Slot()
    def _on_open(self) -> None:
        dialog = QFileDialog(
            self, translate("Sweeps", "Open a plan"), str(self._root if self._root.exists() else Path.home())
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([translate("Sweeps", "Plans of sweeps (*.toml)"), translate("Dialogs", "All files (*)")])
        dialog.fileSelected.connect(self.open_plan)
        open_dialog(dialog)

    @Slot(str)
    def open_plan(self, path: str) -> None:
        """Fill the fields from a SWEEP.toml; the message says what is wrong with it."""
        try:
            self.show_plan(_with_absolute_paths(read_plan(Path(path)), Path(path).parent))
        except SweepError as error:
            self.message.show_sentence(str(error))

    @Slot(object)
    def _on_ordered(self, order: Order) -> None:
        self.planned.emit(order, self.plan())

    @Slot()
    def _on_finished(self) -> None:
        self.preview.end()


def _with_absolute_paths(plan: SweepPlan, folder: Path) -> SweepPlan:
    """A plan's patterns and models are relative to its folder; the new one is in another. Raises SweepError."""
    own = sources_of(plan)
    files = [str((folder / Path(file).expanduser()).absolute()) for file in plan.files]
    models = [placed(model, folder) if model in own else model for model in plan.models]
    return plan_of(plan_data(plan) | {"files": files, "models": models})


def _look(path: Path, watch: Watch) -> Found:
    """The preview reads what a pattern matches."""
    return Found() if _PATTERN_SIGNS & set(str(path)) else check_readable(path, watch)
