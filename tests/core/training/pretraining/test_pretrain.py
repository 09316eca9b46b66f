"""Pretraining in one process: it learns, never from the future, keeps its best epoch, and ends as documented."""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.candle import Candle
from core.domain.events import Estimate
from core.settings.tree import GradientSettings, RecoverySettings, TrainingSettings
from core.storage.folder import DataFolder
from core.storage.weights import read_weights
from core.training.engine.device import choose_device
from core.training.engine.engine import TrainingEngine
from core.training.hosting.pretrained import PretrainedStore
from core.training.pretraining import loop, run
from core.training.pretraining.dataset import Series, build_series
from core.training.pretraining.errors import Interrupted, PretrainingError
from core.training.pretraining.sources import Source
from core.training.pretraining.validation import Validation
from tests.core.training.engine.rigs import assert_same
from tests.core.training.pretraining import rigs
from tests.support.candles import random_walk


@pytest.fixture(scope="module")
def known() -> dict[object, Series]:
    return {}


@pytest.fixture(autouse=True)
def the_same_candles_are_gone_through_once(known: dict[object, Series], monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes longer than to learn from them, and what comes of it is only read."""

    def build_once(source: Source, horizons: int, on_progress: Callable[[int], None]) -> Series:
        key = (tuple(source.file.candles), source.cut, horizons)
        if key in known:
            on_progress(0)  # which may ask for a stop
        else:
            known[key] = build_series(source, horizons, on_progress)
        return known[key]

    monkeypatch.setattr(run, "build_series", build_once)


@pytest.fixture
def candles(tmp_path: Path) -> Path:
    """240: six steps an epoch."""
    return rigs.write(tmp_path / "reverting.csv", rigs.reverting(240))


def weights(root: Path) -> dict[str, torch.Tensor]:
    (kept,) = PretrainedStore(DataFolder(root)).newest_first()
    tensors, _ = PretrainedStore(DataFolder(root)).load(kept)
    return tensors


def test_pretraining_learns_a_known_pattern(tmp_path: Path, candles: Path) -> None:
    listener = rigs.Listener()
    account = rigs.run(tmp_path, candles, epochs=8, listener=listener)
    best = account["epochs"][account["best_epoch"] - 1]["validation"]
    assert best["close_skill"] > 0.1 and best["close_ci95"][0] > 0.0
    assert account["epochs"][-1]["loss"] < account["epochs"][0]["loss"]
    assert best["n"] == account["validation_samples"] == 47
    assert [epoch["epoch"] for epoch in account["epochs"]] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert account["samples"] == 189 and account["steps"] == 8 * 6
    assert account["world_size"] == 1 and not account["stopped_early"] and not account["interrupted"]
    job = listener.jobs[-1]
    assert job.done == job.total == 240 + 8 * (189 + 47) and job.seconds_left == 0.0
    shares = [job.done / job.total for job in listener.jobs]
    assert shares == sorted(shares), "its parts have one progress"
    assert len(listener.sentences) == 8 and all(" to " in sentence for sentence in listener.sentences)


def test_the_file_is_complete_and_self_describing(tmp_path: Path, candles: Path) -> None:
    account = rigs.run(tmp_path, candles)
    checkpoint = account["checkpoint"]
    tensors, metadata = read_weights(tmp_path / checkpoint["file"], checkpoint["sha256"])
    assert metadata["training_type"] == "pretrained" and metadata["epoch"] == account["best_epoch"]
    assert metadata["files"][0]["name"] == "reverting.csv" and metadata["seed"] == 5
    assert Path(checkpoint["file"]).parts[:3] == ("models", "transformer", "pretrained")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values())


def changed(candles: list[Candle], start: int) -> list[Candle]:
    """Another market from `start` on: valid candles, none as it was."""
    other = random_walk(len(candles), 99)
    return candles[:start] + [
        dataclasses.replace(theirs, open_time_ms=ours.open_time_ms)
        for ours, theirs in zip(candles[start:], other[start:], strict=True)
    ]


def test_no_future_data_is_used(tmp_path: Path) -> None:
    """All that is held back may become another market: every weight and moment comes out the same, bit for bit."""
    candles = rigs.reverting(240)
    for name, given in (("true", candles), ("false", changed(candles, 192)), ("earlier", changed(candles, 191))):
        rigs.run(tmp_path / name, rigs.write(tmp_path / f"{name}.csv", given), epochs=1)
    true, false, earlier = (weights(tmp_path / name) for name in ("true", "false", "earlier"))
    assert true.keys() == false.keys()
    assert_same(true, false)
    assert any(not torch.equal(true[name], earlier[name]) for name in true), "the last candle before the cut counts"


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accounts = [rigs.run(tmp_path / "one", candles)]
    monkeypatch.setattr(run, "build_series", build_series)  # the candles are gone through once more
    accounts.append(rigs.run(tmp_path / "other", candles))
    assert_same(weights(tmp_path / "one"), weights(tmp_path / "other"))
    one, other = ([epoch["loss"] for epoch in account["epochs"]] for account in accounts)
    assert one == other


def validations(skills: list[float | None]) -> object:
    """Validation that gives these skills, one an epoch."""
    left = iter(skills)

    def validate(*_: object) -> Validation:
        estimate = Estimate(next(left), None, None, 100)
        return Validation(estimate, estimate, 100)

    return validate


@pytest.mark.parametrize(
    ("skills", "patience", "best", "epochs", "is_early"),
    [
        ([0.1, 0.3, 0.2, 0.2, 0.9], 2, 2, 4, True),
        ([0.1, 0.1, 0.1, 0.1, 0.9], 4, 5, 5, False),
        ([0.1, float("nan"), 0.05, 0.2, 0.1], 3, 4, 5, False),
        ([float("nan"), -0.2, float("nan"), None, -0.9], 3, 2, 5, False),
        ([0.5, 0.4, 0.4, 0.4, 0.4], 4, 1, 5, False),
    ],
)
def test_the_best_epoch_is_kept_and_a_nan_is_never_best(
    tmp_path: Path,
    candles: Path,
    monkeypatch: pytest.MonkeyPatch,
    skills: list[float | None],
    patience: int,
    best: int,
    epochs: int,
    is_early: bool,
) -> None:
    """Which skill an epoch has is given here, because real ones cannot be had at will; all else is real."""
    monkeypatch.setattr(loop, "validate", validations(skills))
    states: list[dict[str, torch.Tensor]] = []
    judge = loop.Pretraining._judge

    def watch(work: loop.Pretraining, epoch: loop.Epoch) -> bool:
        states.append({name: tensor.clone() for name, tensor in work._engine.tensors().items()})
        return judge(work, epoch)

    monkeypatch.setattr(loop.Pretraining, "_judge", watch)
    account = rigs.run(tmp_path, candles, epochs=5, patience=patience)
    assert account["best_epoch"] == best and len(account["epochs"]) == epochs
    assert account["stopped_early"] is is_early
    assert_same(states[best - 1], weights(tmp_path))
    assert len(list((tmp_path / "models" / "transformer" / "pretrained").iterdir())) == 2, "a file and its description"


def test_it_ends_when_a_forecast_is_not_finite_and_no_rollback_is_left(
    tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "validate", validations([0.3, float("nan"), float("nan"), 0.9]))
    settings = dataclasses.replace(rigs.SMALL, recovery=RecoverySettings(rollbacks=1))
    with pytest.raises(PretrainingError) as error:
        rigs.run(tmp_path, candles, epochs=4, patience=4, settings=settings)
    assert str(error.value).startswith(
        "Training could not continue. The model's forecast was not finite. The budget of 1 rollback is spent. Training "
        "ends here. A lower learning rate may help. The best epoch so far is saved in "
    )


def stop_after(asked: int) -> object:
    left = iter(range(asked))
    return lambda: next(left, None) is None


def test_a_stop_ends_after_the_step_with_the_best_so_far(tmp_path: Path, candles: Path) -> None:
    whole = rigs.run(tmp_path / "whole", candles, epochs=1)
    readings = _readings(tmp_path / "count", candles)
    account = rigs.run(tmp_path / "stopped", candles, epochs=50, should_stop=stop_after(readings + 8))  # type: ignore[arg-type]
    assert account["interrupted"] and not account["stopped_early"]
    assert account["steps"] == 9 and account["best_epoch"] == 1 and len(account["epochs"]) == 1
    assert account["epochs"][0]["loss"] == whole["epochs"][0]["loss"]
    assert_same(weights(tmp_path / "whole"), weights(tmp_path / "stopped"))


def test_a_stop_in_the_first_epoch_keeps_the_current_weights(tmp_path: Path, candles: Path) -> None:
    readings = _readings(tmp_path / "count", candles)
    account = rigs.run(tmp_path, candles, epochs=50, should_stop=stop_after(readings + 4))  # type: ignore[arg-type]
    assert account["interrupted"] and account["steps"] == 5
    assert [epoch["complete"] for epoch in account["epochs"]] == [False]
    assert (tmp_path / account["checkpoint"]["file"]).exists()


def test_a_stop_before_the_first_step_is_reported(tmp_path: Path, candles: Path) -> None:
    with pytest.raises(Interrupted, match="nothing was learned"):
        rigs.run(tmp_path, candles, should_stop=lambda: True)
    assert not (tmp_path / "models" / "transformer").exists()


def _readings(root: Path, candles: Path) -> int:
    """Number of stop checks before the first step."""
    asked: list[int] = []
    listener = rigs.Listener()

    def count() -> bool:
        asked.append(any(job.title == "Pretraining" for job in listener.jobs))
        return False

    rigs.run(root, candles, epochs=1, listener=listener, should_stop=count)
    return asked.index(True)


def test_a_flat_market_has_no_score(tmp_path: Path) -> None:
    flat = [dataclasses.replace(one, open=1.0, high=1.0, low=1.0, close=1.0, volume=1.0) for one in rigs.reverting(180)]
    with pytest.raises(PretrainingError, match="No epoch could be validated"):
        rigs.run(tmp_path, rigs.write(tmp_path / "flat.csv", flat))


def test_a_full_disk_is_explained(tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PretrainedStore, "write", full)
    with pytest.raises(PretrainingError, match="No space left on device"):
        rigs.run(tmp_path, candles)


@pytest.mark.faults
def test_a_bad_batch_is_quarantined_and_training_continues(
    tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = loop.Dataset.batch
    count = iter(range(1000))

    def spoiled(*given: object) -> object:
        made, reference = batch(*given)  # type: ignore[arg-type]
        if next(count) == 3:
            made.features[0, 0, 0] = np.nan
        return made, reference

    monkeypatch.setattr(loop.Dataset, "batch", spoiled)
    account = rigs.run(tmp_path, candles, epochs=1)
    assert [incident["kind"] for incident in account["incidents"]] == ["bad batch"]
    assert account["skipped_steps"] == 1 and account["steps"] == 6
    (kept,) = (tmp_path / "quarantine" / "batches" / "pretraining").iterdir()
    tensors, metadata = read_weights(kept)
    assert metadata["step"] == 4 and torch.isnan(tensors["features"]).sum() == 1


@pytest.mark.faults
def test_out_of_memory_splits_the_batch_with_the_same_result(
    tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rigs.run(tmp_path / "calm", candles, epochs=1)
    step = TrainingEngine.step

    def short(engine: TrainingEngine, *given: object) -> object:
        if engine.micro_batches < 4:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes")
        return step(engine, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(TrainingEngine, "step", short)
    account = rigs.run(tmp_path / "short", candles, epochs=1)
    assert [incident["kind"] for incident in account["incidents"]] == ["out of memory"] * 2
    calm, split = weights(tmp_path / "calm"), weights(tmp_path / "short")
    for name, tensor in calm.items():
        if name.startswith("model."):
            torch.testing.assert_close(split[name], tensor, rtol=1e-3, atol=1e-4)


@pytest.mark.faults
def test_training_that_cannot_continue_is_explained(
    tmp_path: Path, candles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("something that was not foreseen")

    monkeypatch.setattr(TrainingEngine, "step", broken)
    with pytest.raises(PretrainingError, match="something that was not foreseen"):
        rigs.run(tmp_path, candles)


def test_gradient_and_precision_settings_apply_to_pretraining(tmp_path: Path, candles: Path) -> None:
    settings = dataclasses.replace(
        rigs.SMALL,
        training=TrainingSettings(seed=5, learning_rate=3e-3, device="cpu", precision="bfloat16", ema_decay=0.9),
        gradients=GradientSettings(accumulation=3, clip_mode="adaptive"),
        recovery=RecoverySettings(spike_action="clip"),
    )
    account = rigs.run(tmp_path, candles, epochs=8, settings=settings)
    assert account["skipped_steps"] == 0 and account["epochs"][-1]["validation"]["close_skill"] > 0.0
    assert any(name.startswith("average.") for name in weights(tmp_path))


def test_the_requested_device_is_used(tmp_path: Path, candles: Path) -> None:
    assert rigs.run(tmp_path, candles, epochs=1)["device"] == choose_device("cpu").label
