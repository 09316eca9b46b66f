"""A new user returns to last week's checkpoint and exports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.checkpoints.row import CheckpointRow
from core.domain.candle import Interval, Market
from core.settings.tree import CheckpointSettings, MarketSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from desktop.checkpoints.best_head import BestCheckpointHead
from desktop.checkpoints.table import CheckpointTable
from desktop.ui.banner import BannerRow
from desktop.ui.formatting import format_count
from tests.stranger import screen
from tests.stranger.day import QUICK
from tests.stranger.last_week import end_of_last_week_ms, go_through
from tests.stranger.program import has_ghosts_of_the_model, main_window, play
from tests.stranger.user import CONTROL, User
from tests.support.exchange.clock import wall_ms
from tests.support.loopback_exchange import loopback_thread
from tests.support.market_hall import MarketHall, priced_tape
from tests.support.tape import Tape

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.timeout(700)]

HOURS = Interval.parse("4h")
MARKET = Market("binance", "BTC/USDT", HOURS)
KEEPING = replace(
    QUICK,
    market=MarketSettings(interval="4h", catch_up_candles=300),
    checkpoints=CheckpointSettings(every_steps=5, keep_hours=24 * 60),
)
"""All checkpoints of two months are kept."""


@contextmanager
def exchange(tape: Tape) -> Iterator[MarketHall]:
    hall = MarketHall({"BTC/USDT": tape}, wall_ms)
    with loopback_thread(hall):
        yield hall


def test_last_weeks_best_checkpoint_is_found_compared_restored_and_exported(
    qt: QApplication, user: User, tmp_path: Path
) -> None:
    tape = priced_tape(64_250.0, HOURS, wall_ms(), 6 * 50, future=100, trades=3601)
    mine, other, gift = tmp_path / "mine", tmp_path / "other", tmp_path / "gift"
    gift.mkdir()
    go_through(mine, MARKET, KEEPING, tape, end_of_last_week_ms(wall_ms()))
    with exchange(tape) as hall:
        here = Context(KEEPING, DataFolder(mine), as_json=False, urls=hall.urls)
        play(qt, here, lambda user: with_my_checkpoints(user, gift), user, longest_s=300.0)
        (given,) = gift.iterdir()
        there = replace(here, folder=DataFolder(other))
        play(qt, there, lambda user: with_a_gift(user, given), user)


async def with_my_checkpoints(user: User, gift: Path) -> None:
    await user.read("Live")
    await user.until(has_ghosts_of_the_model, "the forecast after the catching up", patience_s=180.0)
    best = await find_the_best_of_last_week(user)
    await compare_with_todays(user, best)
    await restore(user, best)
    await export(user, best, gift)
    await user.press("Ctrl+Q")


async def find_the_best_of_last_week(user: User) -> str:
    """Its step, as the table writes it."""
    await user.menu("View", "Layouts", "Compare")
    await user.click("Checkpoint filter", within="Checkpoints")
    # without its Sunday: on a Monday the checkpoint in use may be of then
    before = datetime.fromtimestamp(end_of_last_week_ms(wall_ms()) / 1000)  # noqa: DTZ006 - as shown
    await user.type(f"saved < {before:%Y-%m-%d}")
    await user.read(" of ")
    await user.picture("14-of-last-week")
    await user.click("Loss", within="Checkpoints")
    await user.picture("15-best-of-last-week")
    first = table().rows.row(0).info
    losses = [kept.info.loss for kept in rows()]
    assert first.loss is not None and first.loss == min(loss for loss in losses if loss is not None)
    assert all(kept.info.created_at_ms < end_of_last_week_ms(wall_ms()) + 1_000 for kept in rows())
    return format_count(first.step)


async def compare_with_todays(user: User, best: str) -> None:
    """Today's is the one that the model has become."""
    await user.click("Checkpoint filter", within="Checkpoints")
    await user.press("Ctrl+A")
    await user.type(f"in_use or step = {best}")
    await user.until(lambda: len(rows()) == 2, "the two")
    newest = format_count(max(kept.info.step for kept in rows()))
    await user.press("Ctrl+A")  # a later checkpoint may come into use, and take the row of this one
    await user.type(f"step = {newest} or step = {best}".replace(",", ""))
    await user.until(lambda: len(rows()) == 2, "the same two")
    await user.click(best, within="Checkpoints")
    await user.click(newest, within="Checkpoints", keys=CONTROL)
    await user.picture("16-two-chosen")
    await user.click("Compare", within="Checkpoints")
    await user.read("Compare 2 checkpoints", f"Step {best}", f"Step {newest}")
    await user.picture("17-compared")
    await user.click("Curves")
    await user.picture("18-compared-curves")
    await user.click("Close", within="Compare 2 checkpoints")


async def restore(user: User, best: str) -> None:
    await user.click(best, within="Checkpoints")
    await user.until(lambda: bool(restores_of_rows()), "the button of the rows")
    await user.click_on(restores_of_rows()[0])
    await user.read(f"Restore the checkpoint of step {best}?")
    await user.picture("19-before-the-restore")
    await user.click_on(next(spot for spot in screen.find("Restore") if isinstance(spot.widget.parent(), BannerRow)))
    await user.read(f"The checkpoint of step {best}")
    await user.picture("20-restored")


async def export(user: User, best: str, gift: Path) -> None:
    await user.click(best, within="Checkpoints")
    await user.click("More checkpoint actions", within="Checkpoints")
    await user.picture("21-more")
    await user.click("Export")
    await user.read("Export to a folder")
    await choose_folder(user, gift, "22-where-to")
    await user.read("Exported to")
    await user.picture("23-exported")


async def with_a_gift(user: User, given: Path) -> None:
    await user.read("Live")
    await user.menu("View", "Panels", "Checkpoints")
    await user.click("More checkpoint actions", within="Checkpoints")
    await user.click("Import")
    await user.read("Import an exported checkpoint")
    await choose_folder(user, given, "24-which-folder")
    await user.read("was imported as run")
    await user.picture("25-imported")
    await user.press("Ctrl+Q")


async def choose_folder(user: User, folder: Path, step: str) -> None:
    """By its whole path, which the dialog has a line for."""
    await user.press("Ctrl+A")
    await user.type(str(folder))
    await user.picture(step)
    await user.press("Return")


def restores_of_rows() -> list[screen.Spot]:
    """Restore as it can be clicked for the selected row: the head above has one for the best checkpoint."""
    found = screen.find("Restore", within="Checkpoints")
    return [spot for spot in found if spot.is_enabled and not isinstance(spot.widget.parent(), BestCheckpointHead)]


def table() -> CheckpointTable:
    found = main_window().findChild(CheckpointTable)
    assert found is not None
    return found


def rows() -> list[CheckpointRow]:
    return [table().rows.row(row) for row in range(table().rows.rowCount())]
