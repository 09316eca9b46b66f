"""The progress view of a command in a terminal."""

from __future__ import annotations

import json

import pytest

from core.domain.clock import ManualClock
from core.domain.events import EventBatch, JobProgress, TrainerReady
from core.market.feeds.base import FeedState, FeedStatus
from core.training.hosting.catch_up import CatchUpMeter
from core.training.online.adjusting import rate_adapted
from desktop.app.progress_lines import ProgressLines
from desktop.app.terminal_progress import TerminalProgress


def job(done: int, *, is_over: bool = False) -> EventBatch:
    return EventBatch((JobProgress("import", "Importing", done, 4, is_over=is_over),))


def test_a_job_is_shown_until_it_is_over_and_may_begin_again() -> None:
    with TerminalProgress(is_shown=False) as progress:
        bars = progress._progress
        for batch in (job(0), job(1)):
            progress.apply_batch(batch)
        assert [(bar.description, bar.completed, bar.total) for bar in bars.tasks] == [("Importing", 1, 4)]
        progress.apply_batch(job(4, is_over=True))
        assert bars.tasks == []
        progress.apply_batch(job(2))
        assert [bar.completed for bar in bars.tasks] == [2]


@pytest.mark.parametrize(
    ("resumed_from", "words"),
    [(None, "Evaluating a new model on CPU."), ("run-7", "Evaluating the checkpoint on CPU.")],
)
def test_an_evaluation_reports_evaluating_rather_than_training(
    capsys: pytest.CaptureFixture[str], resumed_from: str | None, words: str
) -> None:
    with TerminalProgress(is_shown=True, evaluated="mine.csv") as progress:
        progress.apply_batch(EventBatch((TrainerReady("run", "CPU", 0, resumed_from, 1, ()),)))
    shown = capsys.readouterr().err
    assert words in shown and "Training" not in shown and "new run" not in shown


def test_an_evaluation_names_its_file_rather_than_stored_candles() -> None:
    report = CatchUpMeter(ManualClock()).report(800)
    assert report is not None
    with TerminalProgress(is_shown=False, evaluated="mine.csv") as progress:
        progress.apply_batch(EventBatch((report,)))
        assert [bar.description for bar in progress._progress.tasks] == ["Evaluating candles of mine.csv"]


def test_an_evaluation_is_not_over_at_the_end_of_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Its job said “Under way. The end of AAPL_1min was reached.” for as long as the model was loaded."""
    ended = FeedStatus(FeedState.ENDED, "The end of mine was reached.", 0)
    ready = TrainerReady("run", "CPU", 0, "run-7", 1, ())
    report = CatchUpMeter(ManualClock()).report(800)
    assert report is not None
    lines = []
    with TerminalProgress(is_shown=False, lines=ProgressLines(), evaluated="mine.csv") as progress:
        progress.show_feed(FeedStatus(FeedState.CATCHING_UP, "Reading mine.", 0))
        progress.show_feed(ended)
        progress.show_feed(ended)  # of another of several files
        lines += [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        progress.apply_batch(EventBatch((ready, report)))
        progress.show_feed(ended)
        lines += [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    unknown = {"done": 0, "total": 0, "seconds_left": None}
    assert lines == [
        {"say": "Reading mine."},
        {"say": "The candles of mine.csv are evaluated once the model is loaded."},
        {"progress": {"title": "Loading the model", **unknown}},
        {"say": "Evaluating the checkpoint on CPU."},
        {"progress": {**unknown, "title": "Evaluating candles of mine.csv", "total": 800}},
    ]


def test_an_incident_of_an_evaluation_is_not_taken_for_one_of_the_live_run(capsys: pytest.CaptureFixture[str]) -> None:
    done = rate_adapted(0.5, 0.000015, 500).incident("run", 0)
    with TerminalProgress(is_shown=False, lines=ProgressLines(), evaluated="mine.csv") as progress:
        progress.apply_batch(EventBatch((done,)))
    said = json.loads(capsys.readouterr().err)["say"]
    assert said.startswith("In the evaluation on mine.csv: The model forecast worse") and "newest 500 candles" in said


@pytest.mark.parametrize(("step", "words"), [(0, "a new run"), (1200, "step 1,200")])
def test_the_starting_point_of_training_is_printed_on_stderr(
    capsys: pytest.CaptureFixture[str], step: int, words: str
) -> None:
    with TerminalProgress(is_shown=True) as progress:
        progress.apply_batch(EventBatch((TrainerReady("run", "CPU", step, None, 1, ()),)))
    shown = capsys.readouterr()
    assert "CPU" in shown.err and words in shown.err and shown.out == ""


@pytest.mark.hostile
@pytest.mark.parametrize("words", ["[/nothing]", "[red]", "[link=file:///dev/zero]x[/link]", "\x1b[2J\x1b]0;title\x07"])
def test_an_exchanges_text_is_escaped_in_the_terminal(capsys: pytest.CaptureFixture[str], words: str) -> None:
    with TerminalProgress(is_shown=True) as progress:
        progress.show_feed(FeedStatus(FeedState.FAILED, f"Loopback refused the request: {words}.", 0))
        progress.apply_batch(EventBatch((JobProgress("import", words, 1, 4),)))
    shown = capsys.readouterr().err
    assert "refused the request: " in shown and "\x1b[2J" not in shown and "\x1b]0" not in shown
    if words.isprintable():
        assert words in shown


def test_a_sentence_is_one_line_of_a_log_file(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "The exchange cannot be reached: no network, or its address is blocked. Next try in 10 s, and so on."
    with TerminalProgress(is_shown=True) as progress:
        progress.say(sentence)
    assert capsys.readouterr().err == f"{sentence}\n"
