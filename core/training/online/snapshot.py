"""A session's whole state as tensors and JSON, and back: one file holds all that resuming needs."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.settings.tree import ARCHITECTURE, ModelSettings
from core.storage.weights import CheckpointError
from core.training.engine.engine import TrainingEngine, part_of
from core.training.online.market_session import MarketSession
from core.training.online.session import TrainingSession

SCHEMA = 10
_CHECKED = frozenset({"average", "clip", "regimes"})
_REFERENCE_MODEL = "twin"
"""Its name in checkpoint files."""
_CHALLENGERS = "challengers"
"""The part of a checkpoint with their states, by name; those of the combination with them are apart."""
_OPEN_HITS = "open_hits"
_ABSENT = "absent"
_COMBINED = "with_challengers"


class UnfitError(CheckpointError):
    """A readable checkpoint that does not fit this run."""


def pack(session: TrainingSession, model: ModelSettings) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and metadata of the whole state: engine, generator, calibration, experts, past, position."""
    challengers = {each.name: each.state() for each in session.challengers}
    metadata = {
        "schema": SCHEMA,
        "training_type": "online",
        "model": describe_model(model),
        **_scalars_of(session),
        _ABSENT: list(session.of_absent_markets),
        _CHALLENGERS: {name: scalars for name, (_, scalars) in challengers.items()},
        "torch": torch.__version__,
    }
    tensors = _tensors_of(session)
    for place, state in enumerate(session.of_absent_markets.values()):
        tensors |= _tensors(f"{_ABSENT}.{place}", state)
    for name, (own, _) in challengers.items():
        tensors |= {f"{_CHALLENGERS}.{name}.{key}": tensor for key, tensor in own.items()}
    return tensors, metadata


def _tensors_of(session: TrainingSession) -> dict[str, Tensor]:
    tensors = session.engine.tensors()
    for place, market in enumerate(session.markets):
        states = {
            "history": market.history.state(),
            "forecaster": session.forecaster.state(market.place),
            "past": session.forecaster.past(market.place),
            "conditions": session.forecaster.regimes.state(market.place),
            _REFERENCE_MODEL: market.reference_forecasts.state(),
            _COMBINED: session.forecaster.state_with_challengers(market.place),
            _OPEN_HITS: market.scores.evidence.experts.open_hits(),
        }
        for part, state in states.items():
            tensors |= _tensors(_name_of(part, place), state)
    return tensors


def _names_of(session: TrainingSession) -> list[str]:
    return [str(market.market) for market in session.markets]


def _name_of(part: str, place: int) -> str:
    """The prefix of a market's tensors. place: in the list of the checkpoint's markets."""
    return f"m{place:03d}.{part}"


def _places(markets: Sequence[MarketSession], metadata: dict[str, Any]) -> list[tuple[int, MarketSession]]:
    """Those of the markets that a checkpoint has, each with its place there. Of one market, it fits any other one."""
    names = metadata.get("markets", [])
    if len(markets) == len(names) == 1:
        return [(0, markets[0])]
    return [(names.index(name), each) for each in markets if (name := str(each.market)) in names]


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
        "markets": _names_of(session),
        "of_markets": [
            {"line_after_ms": market.scores.line_after_ms, "drift": market.drifts.state()} for market in session.markets
        ],
        "closes": session.closes,
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
    """Raise UnfitError if a checkpoint is of another architecture or a form that this version does not read."""
    if metadata.get("schema") != SCHEMA:
        raise UnfitError(f"{name} is of form {metadata.get('schema')}; this version reads form {SCHEMA}.")
    names = metadata.get("markets", [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise UnfitError(f"{name} does not say which markets it is of.")
    if metadata.get("model") != describe_model(model):
        raise UnfitError(f"{name} holds another architecture ({metadata.get('model')}) than this run's.")


def require_sound_weights(engine: TrainingEngine, tensors: dict[str, Tensor]) -> None:
    """Raise CheckpointError if the weights do not have the forms of this engine's model, or are not finite."""
    model_state = part_of(tensors, "model")
    if _forms(model_state) != _forms(engine.model.state_dict()):
        raise CheckpointError("The checkpoint's weights do not have the shapes and types of this run's model.")
    if not all(bool(torch.isfinite(tensor).all()) for tensor in model_state.values() if tensor.is_floating_point()):
        raise CheckpointError("The checkpoint holds weights that are not finite.")


def _forms(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, bool]]:
    return {name: (tensor.shape, tensor.is_floating_point()) for name, tensor in tensors.items()}


def require_sound_learning(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Raise CheckpointError if expert weights, calibration, averages or clip statistics have other shapes than this
    session's, or are not finite: NumPy would broadcast one number, and a NaN would stay forever."""
    present = session.engine.tensors()
    wanted = {name: each for name, each in present.items() if name.split(".")[0] in _CHECKED and name in tensors}
    for place, market in _places(session.markets, metadata):
        wanted |= _tensors(_name_of("forecaster", place), market.forecaster.state(market.place))
    for name, tensor in wanted.items():
        found = tensors.get(name)
        if found is None or found.shape != tensor.shape or found.is_floating_point() != tensor.is_floating_point():
            raise CheckpointError(f"The checkpoint's {name} does not have the form that this run's has.")
        if found.is_floating_point() and not bool(torch.isfinite(found).all()):
            raise CheckpointError(f"The checkpoint's {name} is not finite.")


def learned_of(
    market: MarketSession, tensors: dict[str, Tensor], metadata: dict[str, Any]
) -> dict[str, NDArray[np.generic]]:
    """The learned state of its forecaster: expert weights and calibration. As they are if the checkpoint has none."""
    for place, _ in _places([market], metadata):
        return _arrays(tensors, _name_of("forecaster", place))
    return market.forecaster.state(market.place)


def unpack_learned(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Take the learned state: weights, optimizer, experts, calibration. The position stays.

    Raises CheckpointError; then the session is unchanged.
    """
    _require_sound(session, tensors, metadata)
    with _unchanged_on_error(session):
        require_finite(metadata["engine"])
        _apply_learned(session, tensors, metadata)
        session.keep_reference_line_of(metadata[_REFERENCE_MODEL])
    _apply_challengers(session, tensors, metadata, is_same_run=False)


def _require_sound(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    if (len(session.markets) == 1) is not (len(metadata.get("markets", [])) == 1):
        raise CheckpointError("Checkpoints of models of one market and of several do not fit each other.")
    require_sound_weights(session.engine, tensors)
    require_sound_learning(session, tensors, metadata)


def _apply_learned(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    for place, market in _places(session.markets, metadata):
        market.forecaster.restore(_arrays(tensors, _name_of("forecaster", place)), market.place)
    session.engine.restore(tensors, metadata["engine"])


@contextmanager
def _unchanged_on_error(session: TrainingSession, *, with_past: bool = False) -> Iterator[None]:
    """Restore what the session had learned, and its past if that changes too, after a CheckpointError; and convert the
    errors of a state with another form into one."""
    before = {name: tensor.detach().clone() for name, tensor in _tensors_of(session).items()}
    scalars = copy.deepcopy(_scalars_of(session))
    try:
        with as_checkpoint_errors():
            yield
    except CheckpointError:
        _apply_learned(session, before, scalars)
        if with_past:
            _apply_past(session, before, scalars)
        raise


def _apply_challengers(
    session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any], *, is_same_run: bool
) -> None:
    """One that the checkpoint does not have begins new, and so does the combination if they are others."""
    states = metadata.get(_CHALLENGERS, {})
    for each in session.challengers:
        each.restore(part_of(tensors, f"{_CHALLENGERS}.{each.name}"), states.get(each.name), is_same_run=is_same_run)
    is_same = list(states) == [each.name for each in session.challengers]
    for market in session.markets:
        market.forecaster.restore_with_challengers(None, market.place)
    for place, market in _places(session.markets, metadata) if is_same else ():
        market.forecaster.restore_with_challengers(_arrays(tensors, _name_of(_COMBINED, place)), market.place)


def unpack_all(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Take the whole state, with position and past: the session continues as if it had never stopped. A market that the
    checkpoint does not have begins without a past, and its candles up to now count as seen. Expert weights and
    calibration of a market that the session does not have are kept for its return.

    Raises CheckpointError; then the session is unchanged.
    """
    places = _places(session.markets, metadata)
    if not places:
        raise CheckpointError("The checkpoint is of other markets than this run.")
    with _unchanged_on_error(session, with_past=True):
        require_finite_state(tensors, metadata)
        _require_sound(session, tensors, metadata)
        _apply_learned(session, tensors, metadata)
        session.keep_reference_line_of(metadata[_REFERENCE_MODEL])
        _apply_past(session, tensors, metadata)
        if len(places) < len(session.markets):  # others have joined, and the model knows what happened around them
            session.provenance.note_new_weights(session.provenance.learned_until_ms(session.position_ms) or 0)
    _apply_absent(session, tensors, metadata)
    _apply_challengers(session, tensors, metadata, is_same_run=True)


def _apply_absent(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Keep expert weights and calibration of markets that the session does not have, and restore those of markets that
    are back, unless they are of another form."""
    present = {str(market.market): market for market in session.markets}
    kept = {name: _arrays(tensors, f"{_ABSENT}.{place}") for place, name in enumerate(metadata.get(_ABSENT, ()))}
    for name in present.keys() & kept.keys():
        market = present[name]
        own = market.forecaster.state(market.place)
        forms, found = ({key: array.shape for key, array in of.items()} for of in (own, kept[name]))
        if found == forms:
            market.forecaster.restore(kept[name], market.place)
    names = metadata.get("markets", ())
    kept |= {name: _arrays(tensors, _name_of("forecaster", place)) for place, name in enumerate(names)}
    session.of_absent_markets = {name: state for name, state in kept.items() if name not in present}


def _apply_past(session: TrainingSession, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    session.generator.bit_generator.state = metadata["generator"]
    session.step = int(metadata["step"])
    session.closes = int(metadata["closes"])
    session.provenance.seen_until_ms = metadata["seen_until_ms"]
    session.losses.restore(metadata["best_loss"], metadata["newest_losses"], int(metadata["losses_of_line"]))
    session.ladder.restore(metadata["recovery"])
    session.reference_model.restore(metadata[_REFERENCE_MODEL])
    has_same_markets = metadata["markets"] == _names_of(session)
    for place, market in _places(session.markets, metadata):
        scalars = metadata["of_markets"][place]
        arrays = {
            part: _arrays(tensors, _name_of(part, place))
            for part in ("history", "past", "conditions", _OPEN_HITS, _REFERENCE_MODEL)
        }
        market.history.restore(arrays["history"])
        past = arrays["past"]
        if not has_same_markets:  # coefficients of other markets are not those of the ones that have their places now
            past = {name: array for name, array in past.items() if ".leaders." not in name}
        market.forecaster.restore_past(past, market.place)
        market.forecaster.regimes.restore(arrays["conditions"], market.place)
        market.scores.begin_line(scalars["line_after_ms"])
        market.drifts.restore(scalars["drift"])
        market.scores.evidence.experts.restore_hits(arrays[_OPEN_HITS])
        market.reference_forecasts.restore(arrays[_REFERENCE_MODEL])
        if not session.reference_model.age:
            market.reference_forecasts.clear()


def describe_model(model: ModelSettings) -> dict[str, Any]:
    """What must be equal for weights to fit, as JSON."""
    return {name: getattr(model, name) for name in ARCHITECTURE}


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
