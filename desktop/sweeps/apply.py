"""The settings of a cell as those of the next run, and what of them is not proven."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from core.settings.faults import sentence_of
from core.settings.tree import Settings
from core.sweeps.plan import MAIN_MODEL
from core.sweeps.rows import CellRow
from desktop.dialogs.setting_texts import effect, title
from desktop.sweeps.names import value_text
from desktop.ui.translation import translate


def with_cell(settings: Settings, cell: CellRow) -> Settings:
    """The tree with the cell's settings, and its model as the one challenger. Raises ValueError with a sentence if they
    do not go together with the others."""
    changes: dict[str, dict[str, object]] = {}
    for key, value in cell.settings:
        group, _, name = key.partition(".")
        changes.setdefault(group, {})[name] = value
    if cell.model != MAIN_MODEL:
        changes.setdefault("model", {})["challengers"] = (cell.model,)
    try:
        groups = {group: replace(getattr(settings, group), **values) for group, values in changes.items()}
        return replace(settings, **groups)
    except (ValidationError, TypeError, AttributeError) as error:
        why = sentence_of(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
        text = translate("Sweeps", "These settings cannot be used: {0}. The present ones stay.")
        raise ValueError(text.format(why)) from error


def applied_text(cell: CellRow) -> str:
    """``Set: learning rate 0.0001 (immediately), width 64 (at the next start of training, as a new run).``"""
    parts = []
    for key, value in cell.settings:
        group, _, name = key.partition(".")
        part = translate("Sweeps", "{0} {1} ({2})").format(title(name).lower(), value_text(value), effect(group, name))
        parts.append(part)
    if cell.model != MAIN_MODEL:
        new_run = effect("model", "challengers")
        parts.append(translate("Sweeps", "challenger {0} ({1})").format(cell.model, new_run))
    if not parts:
        return translate("Sweeps", "This cell has the settings that were there: nothing was changed.")
    return translate("Sweeps", "Set: {0}.").format(", ".join(parts))
