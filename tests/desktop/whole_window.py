"""The whole window, composed as it is for the user, over a small model: the start of each test of it.

`run_window` opens it, runs a story and closes it. With the fixture `gate` candles come when the story releases them;
`idle_trainer` skips the training in tests about something else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

import resources
from core.market.feeds import replay_speed, simulated
from core.settings.tree import CheckpointSettings, MarketSettings, ModelSettings, Settings, TrainingSettings
from core.settings.window import ChartSettings
from core.storage.folder import DataFolder
from core.training.commands import TrainerCommand
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.app.interpreter import collected_here
from desktop.services.trainer import TrainingWorker

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
CATCH_UP = 40
Story = Callable[[Application], Awaitable[None]]


def context(root: Path, host: str = "thread", *, waits: bool = False, **market: object) -> Context:
    """waits: whether a replay waits for the model; most stories release its candles themselves."""
    chosen = {"feed": "replay", "file": str(SAMPLE), "speed": 20.0, "catch_up_candles": CATCH_UP, **market}
    settings = Settings(
        market=MarketSettings(**chosen),  # type: ignore[arg-type]
        model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3),
        training=TrainingSettings(seed=1, replay_samples=3, device="cpu", host=host),  # type: ignore[arg-type]
        checkpoints=CheckpointSettings(every_steps=10, undo_minutes=0),
        chart=ChartSettings(replay_waits=waits),
    )
    folder = DataFolder(root)
    folder.ensure()
    return Context(settings, folder, as_json=False)


def run_window(qapp: QApplication, context: Context, story: Story, timeout_s: float = 280.0) -> None:
    """Open the window, run the story, close the window, and wait until all of it has ended."""

    async def run() -> None:
        application = Application(context, qapp)
        application.window.resize(1280, 720)
        application.start()
        try:
            await story(application)
        finally:
            application.window.close()
            await application.close()

    run_on_qt_loop(qapp, run(), timeout_s)


def run_on_qt_loop(qapp: QApplication, work: Coroutine[Any, Any, None], timeout_s: float = 280.0) -> None:
    """Run a coroutine to its end on Qt's event loop."""
    qapp.setQuitOnLastWindowClosed(False)  # as run_application does
    with QEventLoop(qapp) as loop, collected_here():
        asyncio.set_event_loop(loop)
        loop.run_until_complete(asyncio.wait_for(work, timeout_s))
    asyncio.set_event_loop(None)


async def until(condition: Callable[[], bool], what: str, timeout_s: float = 120.0) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"waited {timeout_s} s for {what}")


def step_of(application: Application) -> int:
    """The newest that the window knows; the trainer's status reports it only occasionally."""
    last = application.state.steps.last
    return 0 if last is None else last.step


class CandleGate:
    """Replaces the pace of replays and simulations: after the catch-up only released candles arrive."""

    def __init__(self) -> None:
        self._given = 0
        self._waiting: set[asyncio.Future[None]] = set()
        """Of each pace or feed that waits for its next."""

    @classmethod
    def install(cls, patch: pytest.MonkeyPatch) -> CandleGate:
        gate = cls()
        patch.setattr(replay_speed, "happens_within", lambda changed, _seconds: gate.wait(changed))
        patch.setattr(simulated, "sleep", lambda _seconds: gate.wait())
        return gate

    def release(self, count: int) -> None:
        """Release this many candles of each replay, or ticks of each simulation. Callable from any thread."""
        self._given += count
        for more in tuple(self._waiting):
            more.get_loop().call_soon_threadsafe(self._wake)

    @property
    def is_empty(self) -> bool:
        """Whether all released candles were consumed."""
        return not self._given

    def _wake(self) -> None:
        for more in self._waiting:
            if not more.done():
                more.set_result(None)

    async def wait(self, changed: asyncio.Event | None = None) -> bool:
        """True when the pace was changed; False when the next may come."""
        changed = changed or asyncio.Event()
        changing = asyncio.ensure_future(changed.wait())
        try:
            while not self._given and not changed.is_set():
                more = asyncio.get_running_loop().create_future()
                self._waiting.add(more)
                try:
                    await asyncio.wait({more, changing}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    self._waiting.discard(more)
        finally:
            changing.cancel()
        self._given -= not changed.is_set()
        return changed.is_set()


class IdleWorker(TrainingWorker):
    """Takes commands and trains nothing: the test emits the trainer's signals."""

    def _drive(self) -> None:
        while not self.inbox.is_stopped:
            self.inbox.wait(60.0)

    def commands(self) -> list[TrainerCommand]:
        """The commands received since the last call, in order."""
        return list(iter(self.inbox.pop_command, None))
