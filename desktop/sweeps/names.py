"""Names of a sweep's settings for people."""

from __future__ import annotations

from core.sweeps.plan import Scalar
from core.sweeps.points import MODEL
from desktop.dialogs.setting_texts import number, title
from desktop.ui.translation import translate


def axis_title(name: str) -> str:
    """``Learning rate`` for training.learning_rate."""
    return translate("Sweeps", "Model") if name == MODEL else title(name.rpartition(".")[2])


def value_text(value: Scalar) -> str:
    """``0.00003``, ``64``, ``cosine``"""
    return str(value).lower() if isinstance(value, bool) else number(value) if isinstance(value, int | float) else value
