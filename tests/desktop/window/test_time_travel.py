"""Time travel by mouse and keys in the whole window: real feed, real trainer, real record."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from core.storage.record_reader import RecordReader
from core.training.online.issued_forecast import from_stored
from desktop.actions import ActionId
from desktop.app.composition import Application
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until

_ALT = Qt.KeyboardModifier.AltModifier


def stored_at(application: Application, index: int) -> object:
    """The ghosts that the record holds for this candle."""
    series, run_id = application.series, application.state.run_id
    assert series is not None and run_id is not None
    reader = RecordReader(application.database.db, run_id)
    origin = int(series.open_time_ms[index])
    stored = reader.forecast_of(origin)
    assert stored is not None
    return from_stored(stored, series.interval, *reader.conditions_of(origin)).drawn(run_id).ghosts


def button_of(application: Application, action_id: ActionId) -> QToolButton:
    bar, action = application.charting.travel.bar, application.window.shell.actions[action_id]
    return next(button for button in bar.findChildren(QToolButton) if button.defaultAction() is action)


def click(application: Application, action_id: ActionId) -> None:
    QTest.mouseClick(button_of(application, action_id), Qt.MouseButton.LeftButton)


def test_pause_step_back_ten_candles_see_their_ghosts_and_resume(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        window, model, travel = application.window, application.chart.model, application.charting.travel
        await until(lambda: step_of(application) >= CATCH_UP - 2 and travel.bar.isVisible(), "the replay")
        await until(lambda: model.count >= CATCH_UP and bool(model.ghosts()), "the newest forecast")
        newest = model.count
        QTest.keyClick(window, Qt.Key.Key_F9)
        assert travel.bar.label.text().startswith("Paused at")
        gate.release(2)
        for _ in range(10):
            QTest.keyClick(window, Qt.Key.Key_Left, _ALT)
        await until(lambda: bool(model.ghosts()), "the ghosts of then")
        assert model.count == newest - 10 and model.moment is not None
        assert tuple(placed.ghost for placed in model.ghosts()) == stored_at(application, newest - 11)
        assert "10 candles ago" in travel.bar.label.text()
        click(application, ActionId.TRAVEL_BACK)
        assert model.count == newest - 11 and application.series is not None and len(application.series) == newest
        travel.bar.speed_chosen.emit(30.0)
        click(application, ActionId.TRAVEL_PLAY)
        await until(lambda: model.moment is None, "now, by playing")
        await until(lambda: model.count == newest + 2, "the resumed replay")
        await until(lambda: model.forecast is not None and model.forecast_age == 0, "its forecast")

    run_window(qapp, context(tmp_path), story)


def test_a_step_releases_one_candle_and_later_ones_wait(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        model, travel = application.chart.model, application.charting.travel
        await until(lambda: model.count >= CATCH_UP and travel.bar.isVisible(), "the replay")
        newest, feed = model.count, application.state
        click(application, ActionId.TRAVEL_FORWARD)
        await until(lambda: model.count == newest + 1, "one candle")
        await until(lambda: feed.feed is not None and "paused" in feed.feed.sentence, "what the feed says")
        gate.release(1)
        click(application, ActionId.TRAVEL_BACK)
        click(application, ActionId.TRAVEL_FORWARD)
        assert model.moment is None and model.count == newest + 1, "back at now, and nothing came"
        click(application, ActionId.TRAVEL_BACK)
        click(application, ActionId.TRAVEL_NOW)
        click(application, ActionId.TRAVEL_PLAY)
        await until(lambda: model.count == newest + 2, "the resumed replay")
        click(application, ActionId.TRAVEL_BACK)
        gate.release(2)
        await until(lambda: len(application.series or ()) == newest + 4, "candles meanwhile")
        assert model.count == newest + 1 and "3 candles ago" in travel.bar.label.text()
        QTest.keyClick(application.chart, Qt.Key.Key_Escape)
        assert model.count == newest + 4

    run_window(qapp, context(tmp_path), story)
