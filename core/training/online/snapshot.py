"""A session's whole state as tensors and JSON, and back: one file holds all that resuming needs."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.settings.tree import ModelSettings
from core.storage.weights import CheckpointError
from core.training.engine.engine import TrainingEngine, part_of
from core.training.online.session import TrainingSession

SCHEMA = 6
_CHECKED = frozenset({"forecaster", "average", "clip"})
_NEEDED = frozenset({"forecaster"})
_REFERENCE_MODEL = "twin"
"""Its name in checkpoint files."""


def pack(session: TrainingSession, model: ModelSettings) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and metadata of the whole state: engine, generator, calibration, experts, past, position."""
    metadata = {
        "schema": SCHEMA,
        "training_type": "online",
        "model": describe_model(model),
        **_scalars_of(session),
        "torch": torch.__version__,
    }
    return _tensors_of(session), metadata


def _tensors_of(session: TrainingSession) -> dict[str, Tensor]:
    (market,) = session.markets  # a checkpoint of several is not built yet
    tensors = session.engine.tensors()
    tensors.update(_tensors("history", market.history.state()))
    tensors.update(_tensors("forecaster", market.forecaster.state()))
    tensors.update(_tensors("past", market.forecaster.past()))
    tensors.update(_tensors("conditions", market.conditions.state()))
    tensors.update(_tensors(_REFERENCE_MODEL, market.reference_forecasts.arrays()))
    return tensors


def _scalars_of(session: TrainingSession) -> dict[str, Any]:
    return {
        "step": session.step,
        "position_ms": session.position_ms,
        "seen_until_ms": session.provenance.seen_until_ms,
        "learned_until_ms": session.provenance.learned_until_ms(session.position_ms),
        "engine": session.engine.scalars(),
        "recovery": session.ladder.state(),
        "generator": session.generator.bit_generator.state,
        "best_loss": session.losses.best,
        "newest_losses": list(session.losses.newest),
        "losses_of_line": session.losses.of_line,
        "line_after_ms": session.market.scores.line_after_ms,
        "drift": session.market.drifts.state(),
        _REFERENCE_MODEL: session.reference_model.state(),
    }


def require_finite_state(tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Raise CheckpointError if any number of a packed state is not finite: no run could continue from it."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"The state's {name} holds numbers that are not finite.")
    for name, value in metadata.items():
        try:
            require_finite(value)
        except ValueError as error:
            raise CheckpointError(f"The state's {name} holds numbers that are not finite.") from error


def require_fit(metadata: dict[str, Any], model: ModelSettings, name: str) -> None:
    """Raise CheckpointError if a checkpoint is of another architecture or a newer form."""
    if metadata.get("schema") != SCHEMA:
        raise CheckpointError(f"{name} is of form {metadata.get('schema')}; this version reads form {SCHEMA}.")
    if metadata.get("model") != describe_model(model):
        raise CheckpointError(f"{name} holds another architecture ({metadata.get('model')}) than this run's.")


def require_sound_weights(engine: TrainingEngine, tensors: dict[str, Tensor]) -> None:
    """Raise CheckpointError if the weights do not have the shapes of this engine's model, or are not finite."""
    model_state = part_of(tensors, "model")
    expected = {name: tensor.shape for name, tensor in engine.model.state_dict().items()}
    if {name: tensor.shape for name, tensor in model_state.items()} != expected:
        raise CheckpointError("The checkpoint's weights do not have the shapes of this run's model.")
    if not all(bool(torch.isfinite(tensor).all()) for tensor in model_state.values() if tensor.is_floating_point()):
        raise CheckpointError("The checkpoint holds weights that are not finite.")


def require_sound_learning(session: TrainingSession, tensors: dict[str, Tensor]) -> None:
    """Raise CheckpointError if expert weights, calibration, averages or clip statistics have other shapes than this
    session's, or are not finite: NumPy would broadcast one number, and a NaN would stay forever."""
    present = session.engine.tensors() | _tensors("forecaster", session.market.forecaster.state())
    for name, tensor in present.items():
        part = name.split(".")[0]
        found = tensors.get(name)
        if part not in _CHECKED or (found is None and part not in _NEEDED):
            continue
        if found is None or found.shape != tensor.shape or found.is_floating_point() != tensor.is_floating_point():
            raise CheckpointError(f"The checkpoint's {name} does not have the form that this run's has.")
        if found.is_floating_point() and not bool(torch.isfinite(found).all()):
            raise CheckpointError(f"The checkpoint's {name} is not finite.")


def learned_of(tensors: dict[str, Tensor]) -> dict[str, NDArray[np.generic]]:
    """The forecaster's learned state: expert weights and calibration."""
    return _arrays(tensors, "forecaster")


def unpack_learned(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> bool:
    """Take the learned state: weights, optimizer, experts, calibration. The position stays.

    Returns False if the checkpoint had no usable moments, so that a new optimizer starts. Raises CheckpointError; then
    the session is unchanged.
    """
    require_sound_weights(session.engine, tensors)
    require_sound_learning(session, tensors)
    forecaster = session.market.forecaster
    learned = forecaster.state()
    try:
        with engine_restored_on_error(session.engine), as_checkpoint_errors():
            require_finite(metadata["engine"])
            forecaster.restore(learned_of(tensors))
            has_moments = session.engine.restore(tensors, metadata["engine"])
            session.keep_reference_line_of(metadata.get(_REFERENCE_MODEL))
    except CheckpointError:
        forecaster.restore(learned)
        raise
    return has_moments


def unpack_all(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Take the whole state, with position and past: the session continues as if it had never stopped.

    Raises CheckpointError; then the session is unchanged.
    """
    before = {name: tensor.detach().clone() for name, tensor in _tensors_of(session).items()}
    scalars = copy.deepcopy(_scalars_of(session))
    try:
        require_finite_state(tensors, metadata)
        unpack_learned(session, tensors, metadata)
        with as_checkpoint_errors():
            _take_past(session, tensors, metadata)
    except CheckpointError:
        session.market.forecaster.restore(learned_of(before))
        session.engine.restore(before, scalars["engine"])
        _take_past(session, before, scalars)
        raise


def _take_past(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    market = session.market
    market.history.restore(_arrays(tensors, "history"))
    market.forecaster.restore_past(_arrays(tensors, "past"))
    market.conditions.restore(_arrays(tensors, "conditions"))  # older checkpoints have none
    session.generator.bit_generator.state = metadata["generator"]
    session.step = int(metadata["step"])
    session.provenance.seen_until_ms = metadata.get("seen_until_ms")
    session.losses.restore(metadata["best_loss"], metadata["newest_losses"], int(metadata.get("losses_of_line", 0)))
    market.scores.begin_line(_line_after_ms(metadata))
    session.ladder.restore(metadata["recovery"])
    market.drifts.restore(metadata.get("drift"))  # older checkpoints have none of these two
    reference = metadata.get(_REFERENCE_MODEL)
    session.reference_model.restore(reference)
    has_forecasts = reference is not None and session.reference_model.age
    market.reference_forecasts.restore(_arrays(tensors, _REFERENCE_MODEL) if has_forecasts else None)


def _line_after_ms(metadata: dict[str, Any]) -> int | None:
    """Older checkpoints do not say which scores are of their line of weights: none before the checkpoint count."""
    after_ms = metadata.get("line_after_ms", metadata["position_ms"])
    return None if after_ms is None else int(after_ms)


def describe_model(model: ModelSettings) -> dict[str, Any]:
    """What must be equal for weights to fit, as JSON."""
    return {
        "name": model.name,
        "width": model.width,
        "layers": model.layers,
        "heads": model.heads,
        "context": model.context,
        "horizons": model.horizons,
        "activation": model.activation,
    }


@contextmanager
def as_checkpoint_errors() -> Iterator[None]:
    """Convert the errors of a state with another form into a CheckpointError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RuntimeError) as error:
        raise CheckpointError(
            f"The checkpoint's state is not of the form that this version reads ({type(error).__name__}: {error})."
        ) from error


@contextmanager
def engine_restored_on_error(engine: TrainingEngine) -> Iterator[None]:
    """Restore the engine after a CheckpointError."""
    before = {name: tensor.detach().clone() for name, tensor in engine.tensors().items()}
    scalars = copy.deepcopy(engine.scalars())
    try:
        yield
    except CheckpointError:
        engine.restore(before, scalars)
        raise


def require_finite(state: object) -> None:
    """Raise ValueError if any nested number is not finite."""
    if isinstance(state, float) and not math.isfinite(state):
        raise ValueError("a number is not finite")
    for inner in state.values() if isinstance(state, dict) else state if isinstance(state, list) else ():
        require_finite(inner)


def _tensors(prefix: str, arrays: dict[str, NDArray[np.generic]]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": torch.from_numpy(array) for name, array in arrays.items()}


def _arrays(tensors: dict[str, Tensor], prefix: str) -> dict[str, NDArray[np.generic]]:
    return {name: tensor.numpy() for name, tensor in part_of(tensors, prefix).items()}
