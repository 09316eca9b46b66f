"""The models of a sweep: a box for each that is built in, and a line for others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from core.domain.challenger_sources import MODEL_NAMES, source_of
from core.sweeps.plan import MAIN_MODEL
from desktop.ui.plain_text import set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.translation import translate


class ModelsField(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes = {name: QCheckBox(name) for name in MODEL_NAMES}
        self.others = QLineEdit()
        self.others.setPlaceholderText(translate("Sweeps", "Others: path/file.py:Class; process:COMMAND"))
        set_tooltip(self.others, translate("Sweeps", "Models as --model names them, separated by semicolons"))
        stacked(self, beside(None, *self.boxes.values(), None, spacing=12), self.others, margins=NO_MARGINS, spacing=4)
        self.boxes[MAIN_MODEL].setChecked(True)
        for name, box in self.boxes.items():
            box.setAccessibleName(translate("Sweeps", "Model {0}").format(name))
            box.toggled.connect(self.changed)
        self.others.textChanged.connect(self.changed)

    def models(self) -> tuple[str, ...]:
        """Raises ValueError with a sentence."""
        chosen = [name for name, box in self.boxes.items() if box.isChecked()]
        others = [each for each in re.split(r"\s*;\s*", self.others.text().strip()) if each]
        if not chosen and not others:
            raise ValueError(translate("Sweeps", "Choose at least one model."))
        try:
            return (*chosen, *(placed(each, Path.cwd()) for each in others))
        except ValueError as error:
            raise ValueError(translate("Sweeps", "Models: {0}.").format(error)) from error

    def show_models(self, models: Sequence[str]) -> None:
        for name, box in self.boxes.items():
            box.setChecked(name in models)
        self.others.setText("; ".join(model for model in models if model not in self.boxes))


def placed(model: str, folder: Path) -> str:
    """The model with the absolute path of its file, if it has one: the plan is stored in another folder. Raises
    ValueError for a name that is none."""
    source = source_of(model)
    return model if source.file is None else f"{(folder / Path(source.file).expanduser()).absolute()}:{source.name}"
