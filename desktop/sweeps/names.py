"""Names of a sweep's settings for people."""

from __future__ import annotations

from core.sweeps.points import MODEL
from desktop.dialogs.setting_texts import title
from desktop.ui.translation import translate


def axis_title(name: str) -> str:
    """``Learning rate`` for training.learning_rate."""
    return translate("Sweeps", "Model") if name == MODEL else title(name.rpartition(".")[2])
