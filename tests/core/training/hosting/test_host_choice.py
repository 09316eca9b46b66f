"""One contract for both hosts, and failures that only the process host survives."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from core.domain.clock import SystemClock
from core.domain.events import (
    CheckpointForecast,
    CheckpointsChanged,
    EventBatch,
    ForecastMade,
    ForecastScored,
    StepDone,
    TrainerEvent,
    TrainerReady,
    TrainerStatus,
)
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import (
    ForecastWith,
    RescoreCandle,
    SetClipNorm,
    SetPaused,
    TrainerCommand,
)
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.host import Host, HostDiedError, ThreadHost
from core.training.hosting.inbox import Inbox
from core.training.hosting.process_host import ProcessHost
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support import thread_child
from tests.support.driven import scores_of, store_candles
from tests.support.thread_child import ThreadContext

CANDLES = rigs.CANDLES[:30]
CLOCK = SystemClock()
HOSTS: dict[str, Callable[[SessionSpec], Host]] = {
    "thread": lambda spec: ThreadHost(spec, CLOCK),
    "process in a thread": lambda spec: ProcessHost(spec, CLOCK, thread_child.serve, ThreadContext()),  # type: ignore[arg-type]
    "process": lambda spec: ProcessHost(spec, CLOCK),
}
KINDS = ["thread", "process in a thread", pytest.param("process", marks=pytest.mark.slow)]


@pytest.fixture(params=KINDS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    made = HOSTS[request.param](rigs.spec(tmp_path))
    made.start()
    yield made
    made.close()


def answer(host: Host, timeout_s: float = 120.0) -> EventBatch:
    """All that comes of one command."""
    events: list[TrainerEvent] = []
    while True:
        batch = host.receive(timeout_s)
        assert batch is not None, "no answer in time"
        events.extend(batch.events)
        if batch.is_whole:
            return EventBatch(tuple(events))


def ask(host: Host, command: TrainerCommand) -> EventBatch:
    host.send(command)
    return answer(host)


def test_the_first_answer_reports_readiness(host: Host) -> None:
    ready = [event for event in answer(host).events if isinstance(event, TrainerReady)]
    assert len(ready) == 1 and ready[0].step == 0 and ready[0].markets[0].position_ms is None


def test_every_command_has_one_answer_in_order(host: Host) -> None:
    answer(host)
    for candle in CANDLES[:5]:
        host.send(rigs.observed(candle))
    host.send(SetClipNorm(0.5))
    batches = [answer(host) for _ in range(6)]
    origins = [
        event.origin_open_time_ms for batch in batches for event in batch.events if isinstance(event, ForecastMade)
    ]
    assert origins == [candle.open_time_ms for candle in CANDLES[:5]]
    assert [event.clip_norm for event in batches[-1].events if isinstance(event, TrainerStatus)] == [0.5]
    assert host.receive(0.0) is None


def test_a_forecast_does_not_wait_for_the_step(host: Host) -> None:
    answer(host)
    ask(host, rigs.observed(CANDLES[0]))
    host.send(rigs.observed(CANDLES[1]))
    first, rest = host.receive(120.0), answer(host)
    assert first is not None and not first.is_whole
    assert {type(event) for event in first.events} == {ForecastScored, ForecastMade}
    assert any(isinstance(event, StepDone) for event in rest.events)


def test_the_newest_close_is_in_a_status_while_no_command_waits(host: Host) -> None:
    answer(host)
    batches = [ask(host, rigs.observed(candle)) for candle in CANDLES[:4]]
    while not any(isinstance(event, TrainerStatus) for event in batches[-1].events):
        late = host.receive(0.1)
        if late is not None:
            assert not late.is_whole
            batches.append(late)
    (status,) = [event for event in batches[-1].events if isinstance(event, TrainerStatus)]
    assert status.markets[0].position_ms == CANDLES[3].open_time_ms


def test_a_checkpoint_preview_is_returned(host: Host) -> None:
    answer(host)
    for candle in CANDLES[:12]:
        made = ask(host, rigs.observed(candle))
    (saved,) = (event.saved for event in ask(host, SetPaused(True)).events if isinstance(event, CheckpointsChanged))
    assert saved is not None
    batch = ask(host, ForecastWith((saved.checkpoint_id, "nonsense"), rigs.MARKET))
    seen, unknown = (event for event in batch.events if isinstance(event, CheckpointForecast))
    (standing,) = (event for event in made.events if isinstance(event, ForecastMade))
    assert seen.forecast is not None and seen.forecast.origin_open_time_ms == standing.origin_open_time_ms
    assert unknown.forecast is None and "nonsense" in unknown.why_not


def test_closing_twice_is_allowed_and_ends_the_host(host: Host) -> None:
    answer(host)
    host.close()
    host.close()
    with pytest.raises(HostDiedError):
        host.send(SetPaused(True))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
@pytest.mark.parametrize("kind", KINDS)
def test_a_user_error_is_final_and_explained(kind: str, tmp_path: Path) -> None:
    wanted = dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, device="cuda"))
    made = HOSTS[kind](rigs.spec(tmp_path, wanted))
    with pytest.raises(HostDiedError) as death:
        made.start()
        made.receive(60.0)
    made.close()
    assert death.value.is_final and "CUDA cannot be used" in death.value.sentence


def run_id_of(events: list[TrainerEvent]) -> str:
    return next(event.run_id for event in events if isinstance(event, TrainerReady))


def reference_losses(root: Path) -> list[tuple[float | None, float | None]]:
    """Losses of the reference model, candle by candle; the newest candles have them."""
    lost = [(score.twin_loss, score.range_twin_loss) for score in scores_of(root)]
    assert lost[0] == (None, None) and None not in lost[-1]
    return lost


@pytest.mark.slow
def test_both_hosts_give_the_same_bytes_also_for_a_corrected_candle(tmp_path: Path) -> None:
    """The one test of these that starts a real process."""
    right = dataclasses.replace(CANDLES[20], low=CANDLES[20].low * 0.99)
    digests, reference, rescored = set(), list[object](), list[object]()
    for kind in ("thread", "process"):
        root = tmp_path / kind
        store_candles(root, CANDLES)
        host = HOSTS[kind](rigs.spec(root))
        host.start()
        run_id = run_id_of(list(answer(host).events))
        for candle in CANDLES:
            ask(host, rigs.observed(candle))
        store_candles(root, [right])
        batch = ask(host, RescoreCandle(right.open_time_ms, rigs.MARKET))
        host.close()
        digests.add(rigs.digest(root, run_id))
        reference.append(reference_losses(root))
        scored = [event for event in batch.events if isinstance(event, ForecastScored)]
        assert [event.version for event in scored] == [2] * rigs.SMALL.model.horizons
        assert [score.version for score in scores_of(root)] == [1] * 19 + [2] + [1] * 9
        rescored.append(
            [dataclasses.replace(event, run_id="", made_at_ms=None, checkpoint_id=None) for event in scored]
        )
    assert len(digests) == 1 and reference[0] == reference[1] and rescored[0] == rescored[1]


def test_the_parent_never_imports_torch_for_a_process_host() -> None:
    """In a fresh interpreter, since this one has torch already."""
    import subprocess  # noqa: PLC0415

    modules = "core.training.hosting.driver, core.training.hosting.process_host, core.training.online.trainer_spec"
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_stop_ends_a_driver_waiting_for_candles(tmp_path: Path) -> None:
    spec, inbox = rigs.spec(tmp_path), Inbox()
    ready = threading.Event()

    def emit(batch: EventBatch) -> None:
        if any(isinstance(event, TrainerReady) for event in batch.events):
            ready.set()

    def run() -> None:
        db = open_database(DataFolder(tmp_path).database)
        TrainingDriver(spec, lambda wanted: ThreadHost(wanted, CLOCK), CandleStore(db), inbox, emit, CLOCK).run()
        db.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(60)
    inbox.stop()
    thread.join(60)
    assert not thread.is_alive()
