"""Whole sessions on the pretend GPU: opened, trained, forecast, saved, and moved to the CPU and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.domain.events import ForecastMade, Incident, StepDone, TrainerEvent, TrainerReady
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import GradientSettings, Settings
from core.training.commands import ObserveClose, SaveCheckpoint
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.rehearsal.device import PretendGpu
from tests.rehearsal.installing import NAME
from tests.rehearsal.rigs import captures
from tests.support.candles import random_walk
from tests.support.driven import Driven, record_of, store_candles

NOISY = replace(rigs.SMALL, gradients=GradientSettings(noise=0.05))
CHALLENGED = replace(rigs.SMALL, model=replace(rigs.SMALL.model, challengers=("gru", "tcn", "nlinear")))
OTHER_WALK = random_walk(30, seed=8)


def on(device: str, settings: Settings = rigs.SMALL) -> Settings:
    return replace(settings, training=replace(settings.training, device=device))  # type: ignore[arg-type]


def opened(session: TrainingService) -> TrainerReady:
    (ready,) = (event for event in session.opening_events() if isinstance(event, TrainerReady))
    return ready


@pytest.mark.parametrize(
    ("settings", "execution"), [(rigs.SMALL, "CUDA graph"), (NOISY, "eager")], ids=["graph", "noise"]
)
def test_a_run_moves_to_the_gpu_and_back(tmp_path: Path, settings: Settings, execution: str) -> None:
    for turn, device in enumerate(("cpu", "cuda", "cpu", "cuda")):
        session = rigs.service(tmp_path, on(device, settings))
        ready = opened(session)
        assert ready.uses_gpu == (device == "cuda") and ready.step == max(0, 8 * turn - 1)
        assert NAME in ready.device or device == "cpu"
        rigs.feed(session, rigs.CANDLES[8 * turn : 8 * turn + 8])
        engine = session._session.engine
        assert engine.is_finite() and (device == "cpu" or engine.execution == execution)
        session.handle(SaveCheckpoint())
        session.close()
    record = record_of(tmp_path)
    assert record.runs == 1 and len(record.steps) == len(record.scored_targets_ms) == 31


def test_all_four_models_forecast_as_on_the_cpu(tmp_path: Path) -> None:
    """The transformer, and the others as its challengers."""
    ours, theirs = (trained(tmp_path / device, on(device, CHALLENGED)) for device in ("cuda", "cpu"))
    assert len(ours) == len(theirs) > 5
    for one, other in zip(ours, theirs, strict=True):
        assert one.quantiles is not None and other.quantiles is not None
        np.testing.assert_allclose(np.frombuffer(one.quantiles), np.frombuffer(other.quantiles), rtol=1e-3, atol=1e-6)


def trained(root: Path, settings: Settings) -> list[ForecastMade]:
    session = rigs.service(root, settings)
    assert opened(session).uses_gpu == (settings.training.device == "cuda")
    events = rigs.feed(session, rigs.CANDLES[:9])
    assert [event for event in events if isinstance(event, Incident)] == []
    assert not any(challenger.is_suspended for challenger in session._session.challengers)
    session.close()
    return [event for event in events if isinstance(event, ForecastMade)]


def test_a_late_market_is_learned_from_as_on_the_cpu(tmp_path: Path, gpu: PretendGpu) -> None:
    """Steps without its samples are padded to the size of the others, so one graph is enough, and another for the
    forecasts of all markets."""
    ours, theirs = (
        [event.loss for event in trained_with_a_late_market(tmp_path / device, device) if isinstance(event, StepDone)]
        for device in ("cuda", "cpu")
    )
    assert ours == pytest.approx(theirs, rel=1e-3) and len(ours) > 15
    assert len(captures(gpu)) == 2 and any(call.startswith("replay") for call in gpu.calls)
    assert gpu.stream == "default"


def trained_with_a_late_market(root: Path, device: str) -> list[TrainerEvent]:
    session = rigs.service_of_two(root, on(device))
    assert opened(session).uses_gpu == (device == "cuda")
    events: list[TrainerEvent] = []
    for number, pair in enumerate(zip(rigs.CANDLES[:18], OTHER_WALK, strict=False)):
        is_late = number % 6 == 5
        closes = [[(0, pair[0])], [(1, pair[1])]] if is_late else [list(enumerate(pair))]
        for close in closes:
            events.extend(session.handle(ObserveClose(rigs.close_of(close))))
    session.close()
    return events


def test_a_gpu_that_is_full_at_each_start_is_replaced_by_the_cpu(tmp_path: Path, gpu: PretendGpu) -> None:
    store_candles(tmp_path, rigs.CANDLES[:12])

    def check(name: str) -> None:
        if name == "cat":  # of the parameters; the product that chooses the device fits
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

    gpu.before_launch = check
    run = Driven(tmp_path, on("auto"), kind="thread")
    run.run()
    assert run.devices == ["auto", "auto", "auto", "cpu"] and not run.failures
    assert [incident.kind for incident in run.incidents] == [
        IncidentKind.TRAINER_ENDED,
        IncidentKind.TRAINER_ENDED,
        IncidentKind.DEVICE_REFUSED,
    ]
    assert len(record_of(tmp_path).steps) == 11
