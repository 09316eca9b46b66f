"""Forecasters in processes beside the main model of a session."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle
from core.domain.challenger_sources import ChallengerError, source_of
from core.domain.events import Incident, TrainerEvent
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import Quantity
from core.forecast.experts import LOSS_ROWS, ExpertList
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import challenger_figures
from core.training.external import transport
from core.training.hosting.challengers import HISTORY_CANDLES, program_of, request_to_processes
from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.core.training.online.challenger_runs import Result, is_unchanged, result_of, run_over, settings_with
from tests.support.candles import MARKET, random_walk

ROOT = Path(__file__).resolve().parents[4]
HAR = f"process:{sys.executable} {ROOT / 'docs' / 'examples' / 'har_process.py'}"
CANDLES = rigs.CANDLES[:41]
CHAOS = f"process:{sys.executable} -S {ROOT / 'tests' / 'support' / 'chaos_forecaster.py'} 1"
ECHO = """
import json, sys
seen = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "protocol": 1}
    elif message["type"] == "history":
        seen += len(message["candles"])
        continue
    else:
        seen += 1
        row = [1e-6 * seen * level for level in (-3, -2, -1, 0, 1, 2, 3)]
        answer = {"type": "forecast", "open_time_ms": message["open_time_ms"], "close": [row] * 3}
    print(json.dumps(answer), flush=True)
"""
"""The width of its forecast is the number of candles that it has seen."""


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> str:
    script = tmp_path_factory.mktemp("program") / "echo.py"
    script.write_text(ECHO)
    return f"process:{sys.executable} -I -S {script}"


def store(root: Path, candles: list[Candle]) -> None:
    db = open_database(DataFolder(root).database)
    CandleStore(db).save(MARKET, candles)
    db.close()


def feed(root: Path, settings: Settings, candles: list[Candle]) -> tuple[TrainingService, list[TrainerEvent]]:
    """Those that the session has not taken yet; each is stored before the trainer has it, as in the window."""
    session = rigs.service(root, settings)
    events, position_ms = list(session.opening_events()), session.status().position_ms
    for candle in candles:
        if position_ms is None or candle.open_time_ms > position_ms:
            store(root, [candle])
            events += session.handle(rigs.observed(candle))
    return session, events


def incidents_of(events: list[TrainerEvent]) -> list[Incident]:
    return [event for event in events if isinstance(event, Incident)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run_over(tmp_path_factory.mktemp("alone"), rigs.SMALL, CANDLES)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, echo: str) -> Result:
    """Beside the process, undisturbed."""
    root = tmp_path_factory.mktemp("judged")
    session, events = feed(root, settings_with(echo), CANDLES)
    return result_of(root, session, [incident.what_happened for incident in incidents_of(events)])


def test_a_process_is_judged_and_changes_nothing_of_the_model(judged: Result, alone: Result) -> None:
    assert is_unchanged(judged, alone) and judged.incidents == []
    row = ExpertList(("echo",)).loss_rows.index("echo")
    own, without = judged.losses[:, row], judged.losses[:, 0]
    assert (own[:, Quantity.CLOSE] != without[:, Quantity.CLOSE]).all()
    others = [quantity for quantity in Quantity if quantity is not Quantity.CLOSE]
    np.testing.assert_allclose(own[:, others], without[:, others], rtol=1e-5)


def test_it_is_counted_how_often_it_answers(tmp_path: Path) -> None:
    script = tmp_path / "seldom.py"
    faults = (
        'if not seen % 3:\n            del answer["close"]\n        elif not seen % 7:\n            answer["close"] = 1'
    )
    script.write_text(ECHO.replace("    print(", f"    if answer['type'] == 'forecast':\n        {faults}\n    print("))
    session, _ = feed(tmp_path / "data", settings_with(f"process:{sys.executable} -I -S {script}"), CANDLES)
    session.close()
    with closing(open_database(DataFolder(tmp_path / "data").database, readonly=True)) as db:
        (found,) = challenger_figures(db, rigs.newest_run(db)).values()
    answers = sum(bool(candle % 3 and candle % 7) for candle in range(1, len(CANDLES) + 1))
    assert found.answered == answers / len(CANDLES)


def test_a_killed_run_continues_with_the_same_forecasts(tmp_path: Path, echo: str, judged: Result) -> None:
    settings = settings_with(echo)
    feed(tmp_path, settings, CANDLES[:34])[0].close()  # the newest checkpoint is some candles old
    session, events = feed(tmp_path, settings, CANDLES)
    shares = np.array(session._session.market.forecaster.shares(0).shares)[..., -1]
    again = result_of(tmp_path, session)
    assert (shares[:, Quantity.CLOSE] > 0.0).all()
    assert (np.delete(shares, Quantity.CLOSE, axis=1) == 0.0).all(), "what it leaves out has no weight"
    assert again.digest == judged.digest and incidents_of(events) == []
    np.testing.assert_array_equal(again.losses, judged.losses)


def test_a_new_process_gets_the_newest_stored_candles(tmp_path: Path, echo: str) -> None:
    stored = random_walk(HISTORY_CANDLES + 11, seed=4)
    rigs.spec(tmp_path)
    store(tmp_path, stored[:-1])
    session = rigs.service(tmp_path, settings_with(echo))
    session.handle(rigs.observed(stored[-1]))
    forecasts = session._session.market.newest_forecast
    assert forecasts is not None
    width = forecasts.quantiles.experts[2, 0, Quantity.CLOSE]
    np.testing.assert_allclose(width, 1e-6 * (HISTORY_CANDLES + 1) * np.arange(-3, 4), rtol=1e-9)
    session.close()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            "process:/no/such/program",
            "process of the challenger program ended: “/no/such/program” could not be started",
        ),
        ("late=process:python -I -S -c 'raise SystemExit(\"install numpy\")'", "install numpy"),
    ],
)
def test_a_new_run_does_not_begin_with_a_process_that_cannot_start(
    tmp_path: Path, command: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_GRACE_S", 60.0)  # a busy machine is slow to end a process
    command = command.replace("python", sys.executable)
    with pytest.raises(ChallengerError, match=sentence):
        rigs.service(tmp_path, settings_with(command))
    rigs.service(tmp_path, rigs.SMALL).close()


def test_a_run_that_has_begun_continues_without_it(
    tmp_path: Path, alone: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_GRACE_S", 60.0)  # a busy machine is slow to end a process
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    settings, root = settings_with(f"process:{sys.executable} -I -S {script}"), tmp_path / "run"
    feed(root, settings, CANDLES[:12])[0].close()
    script.write_text("raise SystemExit('broken')")
    session, events = feed(root, settings, CANDLES)
    assert is_unchanged(result_of(root, session), alone)
    changed, *ends = incidents_of(events)
    assert changed.kind is IncidentKind.CHALLENGER_CHANGED, "its script is another one"
    assert [end.kind for end in ends] == [IncidentKind.CHALLENGER_ENDED] * 4 + [IncidentKind.CHALLENGER_SUSPENDED]
    assert "broken" in ends[0].details


@pytest.mark.slow
def test_har_as_a_process_scores_as_the_built_in_one(tmp_path: Path) -> None:
    settings = settings_with(HAR)
    session, events = feed(tmp_path, settings, random_walk(300, seed=8))
    found = result_of(tmp_path, session)
    rows = ExpertList(("har_process",)).loss_rows
    own, built_in = (found.losses[:, rows.index(name)] for name in ("har_process", "HAR"))
    forecast = [quantity for quantity in Quantity if quantity is not Quantity.VOLUME]
    np.testing.assert_allclose(own[:, forecast], built_in[:, forecast], rtol=3e-7)
    assert incidents_of(events) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_chaos_in_a_process_changes_nothing_else(tmp_path: Path) -> None:
    candles = random_walk(2000, seed=6)
    quick = replace(rigs.SMALL, recovery=replace(rigs.SMALL.recovery, hang_seconds=5.0))
    settings = replace(quick, model=replace(quick.model, challengers=(CHAOS,)))
    session, events = feed(tmp_path / "chaos", settings, candles)
    chaos = result_of(tmp_path / "chaos", session)
    alone = run_over(tmp_path / "alone", rigs.SMALL, candles)
    assert is_unchanged(chaos, alone)
    assert len(LOSS_ROWS) + 2 == chaos.losses.shape[1]
    kinds = {incident.kind for incident in incidents_of(events)}
    expected = {IncidentKind.CHALLENGER_WITHOUT_FORECAST, IncidentKind.CHALLENGER_SORTED, IncidentKind.CHALLENGER_ENDED}
    assert expected <= kinds


@pytest.mark.parametrize(
    ("processes", "wanted_ms", "deadline_ms"), [(1, 1_000, 1_000), (1, 10_000, 1_500), (3, 1_000, 500)]
)
def test_the_runs_own_forecast_is_live_after_all_processes_were_waited_for(
    tmp_path: Path, processes: int, wanted_ms: int, deadline_ms: int
) -> None:
    """Candles of a minute: a forecast is live for 3 s."""
    wanted = settings_with(*(f"p{number}=process:own" for number in range(processes)), "gru")
    recovery = replace(wanted.recovery, challenger_deadline_ms=wanted_ms)
    of_processes = request_to_processes(rigs.spec(tmp_path, replace(wanted, recovery=recovery)))
    assert of_processes.deadline_ms == deadline_ms
    assert of_processes.unhurried_ms * processes <= 12_000


def test_a_program_is_its_script_and_arguments_wherever_they_are(tmp_path: Path) -> None:
    def program(folder: str, text: str, words: str = "--width 3 prices.csv") -> str:
        script = tmp_path / folder / "own.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        return program_of(source_of(f"process:python3 {script} {words}"))

    first = program("here", "a = 1")
    assert first == program("there", "a = 1") == program("there", "a = 1", f"--width 3 {tmp_path / 'prices.csv'}")
    assert len({first, program("here", "a = 2"), program("here", "a = 1", "--width 4 prices.csv")}) == 3
    pairs = [program("here", "a = 1", f"--symbol {name}/USDT") for name in ("BTC", "ETH")]
    assert len({*pairs, first}) == 3, "a slash is not always part of a path"
    found_by_the_system = [program_of(source_of(f"own=process:{name}")) for name in ("one", "other", "python3 -m one")]
    assert len({*found_by_the_system, ""}) == 4
    assert program_of(source_of(f"process:python3 {tmp_path / 'gone.py'} 3")) == "", "not known"
    assert program_of(source_of("gru")) == program_of(source_of(f"{tmp_path / 'gone.py'}:Own")) == ""
