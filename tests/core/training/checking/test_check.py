"""A model that is brought along fails the check that its habit is about, and no other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.domain.candle import Candle
from core.domain.clock import SystemClock
from core.training.checking.check import FEWEST_CANDLES, Check, Subject, check_model
from tests.core.training import rigs
from tests.support.candles import MINUTE, random_walk

CANDLES = random_walk(FEWEST_CANDLES, seed=3)
SCRIPT = Path(__file__).resolve().parents[3] / "support" / "odd_forecasters.py"
ALL = [
    "It can be started",
    "It answers at every candle",
    "It repeats itself",
    "It sees no future",
    "A restart changes nothing",
    "It knows only what it was sent",
    "It is fast enough",
]


def process(habit: str, *arguments: object) -> str:
    return " ".join(map(str, (f"process:{sys.executable} -I -S", SCRIPT, habit, *arguments)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "candles.csv"
    rows = (f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close!r},{c.volume}" for c in CANDLES)
    path.write_text("\n".join(("open_time_ms,open,high,low,close,volume", *rows)))
    return path


def checked(
    folder: Path, wanted: str, file: Path | None = None, candles: Sequence[Candle] = CANDLES
) -> dict[str, Check]:
    root = folder / "check"
    root.mkdir()
    checks = check_model(Subject(wanted, candles, MINUTE, file, rigs.SMALL), root, SystemClock())
    return {check.requirement: check for check in checks}


def failed(checks: dict[str, Check]) -> list[str]:
    return [name for name, check in checks.items() if not check.passed]


@pytest.mark.slow
def test_a_process_that_keeps_the_rules_passes(tmp_path: Path) -> None:
    checks = checked(tmp_path, process("honest"))
    assert list(checks) == ALL and failed(checks) == []


def test_a_process_that_reads_the_future_from_the_given_file_is_caught(tmp_path: Path, file: Path) -> None:
    """On the first candle whose future differs: fewer than the command asks for are enough."""
    checks = checked(tmp_path, process("peeking", file), file, CANDLES[:60])
    assert "It sees no future" in failed(checks) and "It repeats itself" not in failed(checks)
    assert "forecasts were others" in checks["It sees no future"].found


@pytest.mark.slow
@pytest.mark.parametrize(("habit", "name"), [("peeking", "close"), ("peeking-at-ranges", "range")])
def test_a_process_that_reads_the_future_from_elsewhere_is_caught(
    tmp_path: Path, file: Path, habit: str, name: str
) -> None:
    checks = checked(tmp_path, process(habit, file))
    assert failed(checks) == ["It knows only what it was sent"]
    assert f"of the {name} have a correlation of 1.00" in checks["It knows only what it was sent"].found


@pytest.mark.slow
def test_one_that_never_says_the_same_is_not_judged_further(tmp_path: Path) -> None:
    checks = checked(tmp_path, process("moody"))
    assert failed(checks) == ["It repeats itself", "It sees no future", "A restart changes nothing"]


@pytest.mark.slow
def test_one_that_forgets_at_a_restart_is_caught(tmp_path: Path) -> None:
    assert failed(checked(tmp_path, process("forgetful"))) == ["A restart changes nothing"]


@pytest.mark.slow
def test_an_answer_that_is_no_number_is_caught(tmp_path: Path) -> None:
    checks = checked(tmp_path, process("broken"))
    assert failed(checks) == ["It answers at every candle", "A restart changes nothing"]
    assert "has a number in its close that is not finite" in checks["It answers at every candle"].found


def test_one_that_answers_without_a_forecast_has_nothing_to_check(tmp_path: Path) -> None:
    """It passed: “It forecast 200 candles: right shape, finite, in order.”"""
    checks = checked(tmp_path, process("mute"), candles=CANDLES[:60])
    assert list(checks) == ALL[:2] and failed(checks) == ["It answers at every candle"]


@pytest.mark.slow
def test_one_that_has_too_few_candles_at_first_passes_and_is_counted(tmp_path: Path) -> None:
    checks = checked(tmp_path, process("late-to-begin"), candles=CANDLES[:60])
    assert failed(checks) == [] and "40 of them with a forecast" in checks["It answers at every candle"].found


@pytest.mark.slow
def test_a_process_that_crashes_is_shown_with_the_last_line_of_its_stderr(tmp_path: Path) -> None:
    checks = checked(tmp_path, process("crashing"), candles=CANDLES[:60])
    found = checks["It answers at every candle"].found
    assert "exit code 1. Its stderr ended with: ValueError: not today. Further incidents: " in found


@pytest.mark.slow
def test_a_torch_model_passes(tmp_path: Path) -> None:
    checks = checked(tmp_path, "gru")
    assert set(ALL) < set(checks) and "Padding is ignored" in checks and failed(checks) == []


@pytest.mark.parametrize(("wanted", "sentence"), [("process:/no/such", "could not be started"), ("nosuch", "nosuch")])
def test_a_model_that_does_not_start_is_not_judged_further(tmp_path: Path, wanted: str, sentence: str) -> None:
    checks = checked(tmp_path, wanted)
    assert list(checks) == ["It can be started"] == failed(checks)
    assert sentence in checks["It can be started"].found
