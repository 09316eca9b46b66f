"""Checkpoints as a machine with a GPU writes them, made from those of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from sqlite_utils import Database
from torch import Tensor

from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.weights import read_weights, write_weights

CUDA_STATE = torch.tensor([5, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0], dtype=torch.uint8)
"""As torch.Generator("cuda").get_state() gives it: eight bytes of seed, eight of offset."""
CPU_BYTES = 5056


def on_cuda(tensors: dict[str, Tensor], metadata: dict[str, Any]) -> dict[str, Any]:
    """Put the noise generator's state of a GPU into `tensors`. Returns the metadata that go with them."""
    assert tensors["noise"].numel() == CPU_BYTES
    tensors["noise"] = CUDA_STATE
    return {**metadata, "engine": {**metadata["engine"], "noise_device": "cuda"}}


def move_checkpoints_to_cuda(root: Path) -> int:
    """All checkpoints of all runs in the folder. Returns how many."""
    folder = DataFolder(root)
    db = open_database(folder.database)
    try:
        rows = list(db.execute("SELECT checkpoint_id, file, sha256 FROM checkpoints WHERE is_deleted = 0"))
        for checkpoint_id, file, sha256 in rows:
            _rewrite(db, folder.absolute(file), str(checkpoint_id), str(sha256))
        return len(rows)
    finally:
        db.close()


def move_pretrained_to_cuda(root: Path) -> None:
    """The pretrained models in the folder."""
    for description in (DataFolder(root).checkpoints("pretrained")).glob("*.json"):
        facts = json.loads(description.read_text(encoding="utf-8"))
        path = DataFolder(root).absolute(facts["file"])
        tensors, metadata = read_weights(path)
        written = write_weights(path, tensors, on_cuda(tensors, metadata))
        facts.update(sha256=written.sha256, size_bytes=written.size_bytes)
        description.write_text(json.dumps(facts), encoding="utf-8")


def _rewrite(db: Database, path: Path, checkpoint_id: str, sha256: str) -> None:
    tensors, metadata = read_weights(path, sha256)
    written = write_weights(path, tensors, on_cuda(tensors, metadata))
    with db.conn:
        db.execute("UPDATE checkpoints SET sha256 = ? WHERE checkpoint_id = ?", (written.sha256, checkpoint_id))
