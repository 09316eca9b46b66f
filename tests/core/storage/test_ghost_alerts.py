"""States of alerts on ghosts are kept, replaced and removed."""

from __future__ import annotations

from pathlib import Path

from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.placed import GhostAlertStore


def test_states_survive_a_restart(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    with open_database(folder.database) as db:
        store = GhostAlertStore(db)
        assert store.states() == {}
        store.put("line 1", "armed", 1)
        store.put("drift", "fired", 2)
        store.put("line 1", "fired", 3)
    with open_database(folder.database) as db:
        store = GhostAlertStore(db)
        assert store.states() == {"line 1": "fired", "drift": "fired"}
        store.remove(["drift", "unknown"])
        assert store.states() == {"line 1": "fired"}
