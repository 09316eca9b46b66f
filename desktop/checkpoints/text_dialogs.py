"""Short dialogs for a checkpoint's note, its name and its tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from core.domain.checkpoint_info import CheckpointInfo
from desktop.dialogs.messages import open_dialog
from desktop.ui.dialog_parts import ok_and_cancel
from desktop.ui.formatting import format_count
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

_LONGEST_NAME = 60
_LONGEST_NOTE = 200


def open_note(parent: QWidget, info: CheckpointInfo, on_note: Callable[[str], object]) -> QDialog:
    question = translate("Checkpoints", "Note on the checkpoint of step {0}:").format(format_count(info.step))
    title, hint = translate("Checkpoints", "Note"), translate("Checkpoints", "Your note")
    return _ask(parent, title, question, info.note, hint, _LONGEST_NOTE, on_note)


def open_name(parent: QWidget, info: CheckpointInfo, on_name: Callable[[str], object]) -> QDialog:
    question = translate("Checkpoints", "Name of the checkpoint of step {0}:").format(format_count(info.step))
    title, hint = translate("Checkpoints", "Rename"), translate("Checkpoints", "Leave empty to remove the name")
    return _ask(parent, title, question, info.name, hint, _LONGEST_NAME, on_name)


def open_tags(
    parent: QWidget, infos: Sequence[CheckpointInfo], on_tags: Callable[[list[str], list[str]], object]
) -> QDialog:
    """Ask for the tags of these checkpoints; `on_tags` gets the new tags, and the tags removed from all of them."""
    common = [tag for tag in infos[0].tags if all(tag in info.tags for info in infos)]

    def change_tags(text: str) -> None:
        tags = list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))
        on_tags([tag for tag in tags if tag not in common], [tag for tag in common if tag not in tags])

    title, hint = translate("Checkpoints", "Tags"), translate("Checkpoints", "For example: keep, before-halving")
    if len(infos) == 1:
        template, number = translate("Checkpoints", "Tags of step {0}, separated by commas or spaces:"), infos[0].step
    else:
        template, number = translate("Checkpoints", "Tags of all {0}, separated by commas or spaces:"), len(infos)
    question = template.format(format_count(number))
    return _ask(parent, title, question, ", ".join(common), hint, _LONGEST_NOTE, change_tags)


def _ask(
    parent: QWidget,
    title: str,
    question: str,
    text: str,
    placeholder: str,
    longest: int,
    on_text: Callable[[str], object],
) -> QDialog:
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    edit = QLineEdit(text, maxLength=longest, placeholderText=placeholder)
    edit.setMinimumWidth(380)
    edit.setAccessibleName(question)
    edit.selectAll()
    stacked(dialog, Label(question), edit, ok_and_cancel(dialog))
    dialog.accepted.connect(lambda: on_text(edit.text().strip()))
    return open_dialog(dialog)
