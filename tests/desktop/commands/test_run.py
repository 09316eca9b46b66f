"""`ghostcandle run` up to the window: its folder, its settings, and when no window opens."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from core.settings.tree import GradientSettings, Settings
from core.storage import folder as storage_folder
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.app import running
from desktop.app.context import Context
from desktop.services.single_instance import Reply, SingleInstance
from tests.support import commands


class Opened:
    """Records the arguments that the window would be opened with."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self.how: dict[str, Any] = {}
        self.files: list[str] = []

    def __call__(self, context: Context, qt: object, instance_lock: object, **how: Any) -> int:
        self.contexts.append(context)
        self.how = how
        self.files = [path.name for path in context.folder.root.iterdir()]
        return 7


@pytest.fixture
def opened(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    names = qapp.applicationName(), qapp.desktopFileName()
    window = Opened()
    monkeypatch.setattr(running, "run_application", window)
    yield window
    qapp.setApplicationName(names[0])
    qapp.setDesktopFileName(names[1])


def test_the_window_owns_the_folder_and_its_exit_code_is_the_commands(opened: Opened, tmp_path: Path) -> None:
    done = commands.invoke("run", "--data-dir", str(tmp_path), "--feed", "simulate")
    (context,) = opened.contexts
    assert done.returncode == 7 and context.settings.market.feed == "simulate" and opened.how["left_behind"] is None
    assert "owner.json" in opened.files and not DataFolder(tmp_path).owner.exists()
    assert not context.is_first_start, "nobody would answer a question on this platform"


def test_options_override_the_settings(opened: Opened, tmp_path: Path) -> None:
    commands.configure(
        tmp_path, {"market": {"venue": "binance", "catch_up_candles": 40}, "training": {"host": "process"}}
    )
    market = ("--venue", "kraken", "--symbol", "ETH/EUR", "--interval", "5m", "--speed", "2.5")
    training = ("--seed", "7", "--device", "cpu", "--trainer", "thread", "--start-from", "none", "--new-run")
    commands.invoke("run", *market, *training, "--candles", "9", "--data-dir", str(tmp_path))
    commands.invoke("run", "--file", "there.csv", "--warm-up", "100", "--data-dir", str(tmp_path))
    context, replayed = opened.contexts
    chosen, learned = context.settings.market, context.settings.training
    assert (chosen.venue, chosen.symbol, chosen.interval) == ("kraken", "ETH/EUR", "5m")
    assert (chosen.speed, chosen.catch_up_candles) == (2.5, 40)
    of_file = replayed.settings.market
    assert (of_file.feed, of_file.file, of_file.catch_up_candles) == ("replay", "there.csv", 100)
    assert (learned.seed, learned.device, learned.host, learned.start_from) == (7, "cpu", "thread", "none")
    assert context.new_run and context.candles == 9


@pytest.mark.parametrize(
    ("stored", "options", "feed", "market"),
    [
        ("replay binance BTC/USDT", "--venue kraken --symbol ETH/EUR", "auto", "kraken ETH/EUR"),
        ("replay file prices.csv", "--symbol ETH/EUR", "auto", "binance ETH/EUR"),
        ("simulate simulated SIM-3", "--symbol ETH/EUR", "auto", "binance ETH/EUR"),
        ("stored file prices.csv", "--venue kraken --symbol ETH/EUR", "auto", "kraken ETH/EUR"),
        ("replay binance BTC/USDT", "--interval 5m", "replay", "binance BTC/USDT"),
        ("replay binance BTC/USDT", "--feed stored --symbol ETH/EUR", "stored", "binance ETH/EUR"),
        ("simulate simulated SIM-3", "--symbol SIM-4", "simulate", "simulated SIM-4"),
        ("stored file prices.csv", "--symbol others.csv", "stored", "file others.csv"),
        ("live kraken BTC/EUR", "--symbol ETH/EUR", "live", "kraken ETH/EUR"),
    ],
)
def test_a_market_that_is_named_ends_a_replay_or_a_simulation(
    opened: Opened, tmp_path: Path, stored: str, options: str, feed: str, market: str
) -> None:
    names = ("feed", "venue", "symbol")
    commands.configure(tmp_path, {"market": {"file": "there.csv", **dict(zip(names, stored.split(), strict=True))}})
    commands.invoke("run", *options.split(), "--data-dir", str(tmp_path))
    (context,) = opened.contexts
    chosen = context.settings.market
    assert (chosen.feed, f"{chosen.venue} {chosen.symbol}") == (feed, market)


def test_several_files_or_symbols_are_opened_together(opened: Opened, tmp_path: Path) -> None:
    commands.invoke("run", "--file", "a.csv", "--file", "b.csv", "--data-dir", str(tmp_path))
    commands.invoke("run", "--symbol", "ETH/USDT", "--symbol", "LTC/USDT", "--data-dir", str(tmp_path))
    files, symbols = opened.contexts
    assert [files.settings.market.file, *(each.file for each in files.others)] == ["a.csv", "b.csv"]
    assert [symbols.settings.market.symbol, *(each.symbol for each in symbols.others)] == ["ETH/USDT", "LTC/USDT"]
    both = commands.invoke(
        "run", "--symbol", "ETH/USDT", "--file", "a.csv", "--file", "b.csv", "--data-dir", str(tmp_path)
    )
    assert both.returncode == 2 and len(opened.contexts) == 2


def test_a_crashed_owner_is_passed_to_the_window(opened: Opened, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.owner.write_text(json.dumps({"pid": 2**22, "role": "window", "since_ms": 5}), encoding="utf-8")
    commands.invoke("run", "--data-dir", str(tmp_path))
    assert opened.how["left_behind"].since_ms == 5


def test_a_folder_in_use_opens_no_window(opened: Opened, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with own(folder, "headless"):
        done = commands.invoke("run", "--data-dir", str(tmp_path))
    assert done.returncode == 1 and f"in use by a headless (process {os.getpid()})" in done.stderr
    assert opened.contexts == []


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (Reply.RAISED, 0, "brought to the front"),
        (Reply.NO_ANSWER, 1, "does not answer"),
        (Reply.NOBODY, 1, "in use by a window"),
    ],
)
def test_a_second_start_opens_no_window(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply, code: int, words: str
) -> None:
    monkeypatch.setattr(SingleInstance, "ask_owner", lambda _lock: reply)
    with own(DataFolder(tmp_path), "window"):
        done = commands.invoke("run", "--data-dir", str(tmp_path))
    assert done.returncode == code and words in done.stderr and opened.contexts == []


@pytest.mark.parametrize("last", [Reply.CLOSING, Reply.NO_ANSWER, Reply.NOBODY])
def test_a_second_start_waits_for_a_window_that_is_closing(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: Reply
) -> None:
    replies = [last, Reply.CLOSING]

    def ask_owner(_lock: SingleInstance) -> Reply:
        if len(replies) == 1:
            first.close()
        return replies.pop()

    monkeypatch.setattr(SingleInstance, "ask_owner", ask_owner)
    with own(DataFolder(tmp_path), "window") as first:
        commands.invoke("run", "--data-dir", str(tmp_path))
    assert len(opened.contexts) == 1 and replies == []


@pytest.mark.parametrize("reason", [errno.EROFS, errno.ENOSPC])
def test_on_a_read_only_disk_it_opens_a_temporary_folder_with_that_disks_settings(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    folder = DataFolder(commands.configure(tmp_path))
    wanted = folder.settings.read_bytes()

    def prove(place: Path) -> None:
        if place.is_relative_to(tmp_path):
            raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(storage_folder, "prove_writable", prove)
    refused = commands.invoke("headless", "--data-dir", str(tmp_path))
    assert refused.returncode == 1 and f"cannot be written ({os.strerror(reason)})" in refused.stderr
    assert commands.invoke("run", "--data-dir", str(tmp_path)).returncode == 7
    (context,) = opened.contexts
    assert not context.folder.root.is_relative_to(tmp_path) and not context.folder.root.exists(), "it is gone"
    assert context.settings.model.width == commands.TINY["model"]["width"]  # type: ignore[index]
    assert context.folder_notice is not None and str(tmp_path) in context.folder_notice
    assert "temporary folder" in context.folder_notice and folder.settings.read_bytes() == wanted


def test_safe_mode_keeps_the_market_and_uses_defaults_otherwise(opened: Opened, tmp_path: Path) -> None:
    commands.configure(tmp_path, {"market": {"symbol": "ETH/USDT"}, "gradients": {"clip_norm": 0.25}})
    commands.invoke("run", "--safe-mode", "--data-dir", str(tmp_path))
    (context,) = opened.contexts
    assert context.is_safe_mode and context.settings.gradients == GradientSettings()
    assert context.settings.market.symbol == "ETH/USDT" and context.settings.training.device == "cpu"


def test_settings_errors_are_passed_on_and_the_file_is_kept(opened: Opened, tmp_path: Path) -> None:
    """Dropped values would be lost at the next change of a setting."""
    folder = DataFolder(commands.configure(tmp_path, {"appearance": {"theme": "mauve"}, "of_the_future": {"a": 1}}))
    broken = folder.settings.read_bytes()
    commands.invoke("run", "--data-dir", str(tmp_path))
    (context,) = opened.contexts
    copy = folder.root / "settings.json.bak"
    assert len(context.warnings) == 2 and str(copy) in context.warnings[0] and copy.read_bytes() == broken


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how a display is named on Linux")
def test_a_first_start_has_no_saved_choice_and_a_visible_window(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")  # the application of these tests is on its own platform already
    starts = ((tmp_path / "a", ()), (tmp_path / "b", ("--feed", "simulate")), (commands.configure(tmp_path / "c"), ()))
    for folder, options in starts:
        commands.invoke("run", *options, "--data-dir", str(folder))
    assert [context.is_first_start for context in opened.contexts] == [True, False, False]
    assert opened.how["is_visible"] is True


def test_without_a_display_the_window_is_not_shown(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    done = commands.invoke("run", "--data-dir", str(tmp_path))
    assert opened.how["is_visible"] is False and "no display here" in done.stderr
    assert opened.contexts[0].settings == Settings()
