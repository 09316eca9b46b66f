"""A session's whole state as tensors and JSON, and back: all that resuming needs is in one file."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.settings import ModelSettings
from core.storage.weights import CheckpointError
from core.training.engine import TrainingEngine
from core.training.session import TrainingSession

SCHEMA = 1


def pack(session: TrainingSession, model: ModelSettings) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and metadata of everything: weights, optimizer, generator, calibration, experts, past, position."""
    tensors = {f"model.{name}": tensor for name, tensor in session.engine.model.state_dict().items()}
    for index, entry in session.engine.optimizer.state_dict()["state"].items():
        tensors.update({f"optimizer.{index}.{name}": tensor for name, tensor in entry.items()})
    tensors.update(_tensors("history", session.history.state()))
    tensors.update(_tensors("forecaster", session.forecaster.state()))
    metadata = {
        "schema": SCHEMA,
        "training_type": "online",
        "model": _shape(model),
        "step": session.step,
        "position_ms": session.position_ms,
        "learning_rate": session.engine.learning_rate,
        "clip_norm": session.engine.clip_norm,
        "generator": session.generator.bit_generator.state,
        "best_loss": session.losses.best,
        "newest_losses": list(session.losses.newest),
        "torch": torch.__version__,
    }
    return tensors, metadata


def require_fit(metadata: dict[str, Any], model: ModelSettings, name: str) -> None:
    """Raise CheckpointError where a checkpoint is of another architecture or a later form."""
    if metadata.get("schema") != SCHEMA:
        raise CheckpointError(f"{name} is of form {metadata.get('schema')}; this version reads form {SCHEMA}.")
    if metadata.get("model") != _shape(model):
        raise CheckpointError(f"{name} holds another architecture ({metadata.get('model')}) than this run's.")


def unpack_learned(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Take what was learned: weights, optimizer, experts, calibration. The position stays.

    Raises CheckpointError; the session is unchanged then.
    """
    model_state = _strip(tensors, "model")
    expected = {name: tensor.shape for name, tensor in session.engine.model.state_dict().items()}
    if {name: tensor.shape for name, tensor in model_state.items()} != expected:
        raise CheckpointError("The checkpoint's weights do not have the shapes of this run's model.")
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values() if tensor.is_floating_point()):
        raise CheckpointError("The checkpoint holds numbers that are not finite.")
    session.forecaster.restore(_arrays(tensors, "forecaster"))
    session.engine.model.load_state_dict(model_state)
    _load_optimizer(session.engine, _strip(tensors, "optimizer"))


def unpack_all(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Take everything, the position and the past too: the session goes on as if it had never stopped."""
    unpack_learned(session, tensors, metadata)
    session.history.restore(_arrays(tensors, "history"))
    session.generator.bit_generator.state = metadata["generator"]
    session.step = int(metadata["step"])
    session.losses.restore(metadata["best_loss"], metadata["newest_losses"])


def _load_optimizer(engine: TrainingEngine, state: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for key, tensor in state.items():
        index, name = key.split(".", 1)
        entries.setdefault(int(index), {})[name] = tensor
    groups = engine.optimizer.state_dict()["param_groups"]
    engine.optimizer.load_state_dict({"state": entries, "param_groups": groups})


def _shape(model: ModelSettings) -> dict[str, Any]:
    return {
        "name": model.name,
        "width": model.width,
        "layers": model.layers,
        "heads": model.heads,
        "context": model.context,
        "horizons": model.horizons,
    }


def _tensors(prefix: str, arrays: dict[str, NDArray[np.generic]]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": torch.from_numpy(array) for name, array in arrays.items()}


def _strip(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def _arrays(tensors: dict[str, Tensor], prefix: str) -> dict[str, NDArray[np.generic]]:
    return {name: tensor.numpy() for name, tensor in _strip(tensors, prefix).items()}
