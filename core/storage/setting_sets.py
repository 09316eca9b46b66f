"""Sets of settings, each stored once; checkpoints refer to the one in force when they were saved."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from core.settings.tree import Settings, model_to_dict, to_dict
from core.storage.database import select

if TYPE_CHECKING:
    from sqlite_utils import Database

ADD_SETTINGS = "INSERT INTO setting_sets (settings_id, settings_json) VALUES (?, ?) ON CONFLICT DO NOTHING"
_OF_TRAINING = ("market", "model", "training", "gradients", "recovery", "checkpoints")
"""The window's settings do not affect training."""


def describe(settings: Settings) -> tuple[str, str]:
    """The id and the JSON of the settings that affect training."""
    plain = {**to_dict(settings), "model": model_to_dict(settings.model)}
    return identified({group: plain[group] for group in _OF_TRAINING})


def identified(settings: dict[str, Any]) -> tuple[str, str]:
    """The id and the JSON of a set: equal settings have equal ids."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24], text


def settings_of(db: Database, settings_id: str) -> dict[str, Any] | None:
    """The set with this id; None if it was never stored. Raises StorageError."""
    rows = select(db, "SELECT settings_json FROM setting_sets WHERE settings_id = ?", (settings_id,))
    if not rows:
        return None
    plain: dict[str, Any] = json.loads(rows[0][0])
    return plain
