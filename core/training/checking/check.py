"""The checks of a model before it is used: each is passed or failed, with a sentence.

A trial is a session with the model as its one challenger over some candles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np

from core.domain.candle import FILE_VENUE, Candle, Interval, Market
from core.domain.challenger_sources import ChallengerError, as_command, source_of
from core.domain.clock import Clock
from core.domain.events import ForecastMode, Incident, TrainerEvent
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import BAND_90, MEDIAN, NO_VOLUME, QUANTITY_NAMES, FloatArray, Quantity
from core.forecast.experts import STORED
from core.market.history.candle_csv import csv_pieces
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import ChallengerFigures
from core.storage.runs import challenger_figures
from core.training.commands import MarketCandle, ObserveClose, SaveCheckpoint, SetPaused
from core.training.hosting.opening import model_shape
from core.training.hosting.service import TrainingService
from core.training.online.corrections import natural_of
from core.training.online.trainer_spec import SessionSpec
from models.checks import Check as Check  # for desktop too, which may not import models
from models.checks import check_module
from models.contract import find_model

FEWEST_CANDLES = 120
_KNOWN_SHARE = 0.7
_AFTER_RESTART = 20
_LARGEST_CORRELATION = 0.5
"""The highest correlation of forecasts with a future that was never sent: with 30 candles exceeded by chance in fewer
than 1 of 200 cases."""
_LEAST_MARGIN = 0.1
"""The margin by which that future must correlate more than any other candles."""
_UNUSABLE_SHARE = 0.5
_OF_CHALLENGERS = "challenger"
"""How the kinds of their incidents begin."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model to be checked, and the data for the check."""

    wanted: str
    """The model as named on the command line."""
    candles: Sequence[Candle]
    """Candles, at least FEWEST_CANDLES."""
    interval: Interval
    file: Path | None
    """The candle file of the candles. A process argument that names it is replaced by a copy."""
    settings: Settings

    @property
    def known(self) -> int:
        """Candles before the point where one of the trials continues with another future."""
        return int(_KNOWN_SHARE * len(self.candles))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The challenger's output in one trial."""

    forecasts: FloatArray
    """[candle, H, Q, L], natural units; the forecast without any model if it returned none."""
    incidents: tuple[Incident, ...]
    """The challenger's incidents."""
    cost_ms: float
    """The average cost of a candle."""
    answered: float
    """The share of candles with a forecast of it: an answer may hold none."""


def _run_trial(
    root: Path, subject: Subject, in_file: Sequence[Candle], parts: Sequence[Sequence[Candle]], clock: Clock
) -> Trial:
    """A new run with the model as its challenger in a new folder. The trainer is started again for each further part.

    in_file: the candles that the model can read from its copy of the file. A process learns by itself, so the main
    model does not train meanwhile. Raises ChallengerError and StorageError.
    """
    root.mkdir()
    folder, wanted = DataFolder(root / "data"), subject.wanted
    folder.ensure()
    if subject.file is not None:
        copy = root / f"{subject.file.stem}.csv"
        times = np.array([candle.open_time_ms for candle in in_file], dtype=np.int64)
        values = np.array([[each.open, each.high, each.low, each.close, each.volume] for each in in_file]).T
        copy.write_text("".join(csv_pieces(times, values)), encoding="utf-8")
        wanted = _with_copy(wanted, subject.file, copy)
    settings = replace(subject.settings, model=replace(subject.settings.model, challengers=(wanted,)))
    spec = SessionSpec(folder.root, Market(FILE_VENUE, "check", subject.interval), settings)
    events = [event for part in parts for event in _run_part(spec, part, clock)]
    incidents = tuple(
        event for event in events if isinstance(event, Incident) and event.kind.startswith(_OF_CHALLENGERS)
    )
    forecasts, figures = _recorded(folder)
    return Trial(forecasts, incidents, figures.cost_ms or 0.0, figures.answered or 0.0)


def _run_part(spec: SessionSpec, candles: Sequence[Candle], clock: Clock) -> list[TrainerEvent]:
    with closing(open_database(DataFolder(spec.root).database)) as db, closing(TrainingService(spec, clock)) as service:
        store, events = CandleStore(db), list(service.opening_events())
        if source_of(spec.settings.model.challengers[0]).command:
            service.handle(SetPaused(True))
        for candle in candles:
            store.save(spec.market, [candle])
            events += service.handle(ObserveClose((MarketCandle(candle, ForecastMode.REPLAY, spec.market),)))
        service.handle(SaveCheckpoint())
        return events


def _recorded(folder: DataFolder) -> tuple[FloatArray, ChallengerFigures]:
    """Forecasts [candle, H, Q, L] of the challenger, and its figures."""
    db = open_database(folder.database, readonly=True)
    try:
        ((run_id,),) = db.execute("SELECT run_id FROM runs").fetchall()
        (figures,) = challenger_figures(db, run_id).values()
        made = [each.quantiles.experts[len(STORED)] for each in RecordReader(db, run_id).forecasts_after(None)]
    finally:
        db.close()
    return np.array(made), figures


def check_model(
    subject: Subject, folder: Path, clock: Clock, on_trial: Callable[[str], None] = lambda words: None
) -> list[Check]:
    """Run the model four times over the candles, in this empty folder, and compare. Raises StorageError.

    on_trial: called before each trial with its description.
    """
    candles, known = subject.candles, subject.known
    folders = (folder / str(number) for number in count(1))

    def run(words: str, in_file: Sequence[Candle], *parts: Sequence[Candle]) -> Trial:
        on_trial(words)
        return _run_trial(next(folders), subject, in_file, parts, clock)

    try:
        first = run("The candles as they are", candles, candles)
    except ChallengerError as error:
        return [Check("It can be started", False, str(error))]
    started = Check("It can be started", True, "It was found, and is ready.")
    checks = [started, *_of_module(subject), _answers(first, len(candles))]
    if _is_unusable(first, len(candles)):
        return checks
    again = run("The same once more", candles, candles)
    other = with_other_future(candles, known)
    changed = run("With another future", other, other)
    before, after = candles[:known], candles[known : known + _AFTER_RESTART]
    early = run("Before the future exists, then a restart", before, before, after)
    repeats = _repeats(first, again)
    compared = [_sees_no_future(first, changed, early, known), _continues(first, early, known)]
    if not repeats.passed:
        compared = [Check(each.requirement, False, "This is not known before it repeats itself.") for each in compared]
    other_source = _has_no_other_source(changed, candles, known)
    return [*checks, repeats, *compared, other_source, _is_fast_enough(first, subject)]


def _of_module(subject: Subject) -> list[Check]:
    """The checks of a torch module's contract; empty for a process."""
    source = source_of(subject.wanted)
    if source.command:
        return []
    return list(check_module(find_model(source.name, source.file), source.name, model_shape(subject.settings)))


def _with_copy(wanted: str, file: Path, copy: Path) -> str:
    """The name of the same model, with the copy in place of the file among its process's arguments."""
    source = source_of(wanted)
    if not source.command:
        return wanted
    words = [str(copy) if Path(word).resolve() == file.resolve() else word for word in source.command]
    return f"{source.name}=process:{as_command(words)}"


def _missing(trial: Trial) -> int:
    """The number of forecasts that it missed, as far as known: a repeated incident is reported each time."""
    kinds = (IncidentKind.CHALLENGER_WITHOUT_FORECAST, IncidentKind.CHALLENGER_FAILED)
    return sum(incident.kind in kinds for incident in trial.incidents)


def _is_unusable(trial: Trial, candles: int) -> bool:
    has_given_up = any(incident.kind is IncidentKind.CHALLENGER_SUSPENDED for incident in trial.incidents)
    return has_given_up or trial.answered == 0.0 or _missing(trial) > _UNUSABLE_SHARE * candles


def _answers(trial: Trial, candles: int) -> Check:
    if not trial.incidents:
        forecast = round(trial.answered * candles)
        how_many = "each" if forecast == candles else f"{forecast:,} of them" if forecast else "none"
        found = f"It answered {candles:,} candles, {how_many} with a forecast"
        sound = ": right shape, finite, in order." if forecast else ", so there is nothing to check."
        return Check("It answers at every candle", forecast > 0, found + sound)
    first, further = trial.incidents[0], len(trial.incidents) - 1
    found = first.what_happened
    if first.kind is IncidentKind.CHALLENGER_ENDED and first.details:
        found += f" Its stderr ended with: {first.details.splitlines()[-1].rstrip('.')}."
    if further:
        found += f" Further incidents: {further:,}."
    return Check("It answers at every candle", False, found)


def _repeats(first: Trial, again: Trial) -> Check:
    differing = _differing(first.forecasts, again.forecasts)
    if not differing:
        return Check("It repeats itself", True, "The same candles gave the same forecasts, byte for byte.")
    sentence = f"{differing:,} of {len(first.forecasts):,} forecasts differ the second time. "
    return Check("It repeats itself", False, f"{sentence}Seed its random numbers, and read no clock.")


def _sees_no_future(first: Trial, changed: Trial, early: Trial, known: int) -> Check:
    trials = {"with another future": changed, "before their future existed": early}
    found = {words: _differing(first.forecasts[:known], each.forecasts[:known]) for words, each in trials.items()}
    words, differing = max(found.items(), key=lambda item: item[1])
    if not differing:
        return Check("It sees no future", True, f"{known:,} forecasts are the same, whatever follows them.")
    sentence = f"{differing:,} of {known:,} forecasts were others {words}. "
    return Check("It sees no future", False, f"{sentence}A forecast may use only candles that have closed before it.")


def _has_no_other_source(changed: Trial, true: Sequence[Candle], known: int) -> Check:
    """Check that the model knows no future that it was not sent.

    It fails if its forecasts along another future follow the true one more closely than they follow any earlier
    candles. Some likeness is innocent: the time of day, and a volatility that changes slowly.
    """
    forecasts, actual = _followed(changed.forecasts[known:-1, 0]), _actual(true)
    for place, name in enumerate((*QUANTITY_NAMES, "size of the move")):
        own, *earlier = (
            _correlation(forecasts[:, place], actual[first : first + len(forecasts), place])
            for first in range(known, -1, -1)
        )
        if own >= _LARGEST_CORRELATION and own >= max(earlier) + _LEAST_MARGIN:
            return Check(
                "It knows only what it was sent",
                False,
                f"Along another future its forecasts of the {name} have a correlation of {own:.2f} with the true one, "
                "which it was not sent: it reads that elsewhere.",
            )
    return Check(
        "It knows only what it was sent",
        True,
        "Along another future its forecasts follow the true one, which it was not sent, no more than earlier candles.",
    )


def _followed(quantiles: FloatArray) -> FloatArray:
    """The medians of forecasts [n, Q, L], and the width of the close's 90 % band: [n, Q + 1]."""
    low, high = (quantiles[:, Quantity.CLOSE, level] for level in BAND_90)
    return np.column_stack([quantiles[..., MEDIAN], high - low])


def _actual(candles: Sequence[Candle]) -> FloatArray:
    """The quantities that `_followed` compares, for each candle but the first: its own, and the size of its move."""
    natural = np.array([natural_of(candle, before.close) for before, candle in pairwise(candles)])
    natural[:, Quantity.VOLUME] = np.log([max(candle.volume, NO_VOLUME) for candle in candles[1:]])
    return np.column_stack([natural, np.abs(natural[:, Quantity.CLOSE])])


def _continues(first: Trial, early: Trial, known: int) -> Check:
    differing = _differing(first.forecasts[known : len(early.forecasts)], early.forecasts[known:])
    if not differing:
        return Check("A restart changes nothing", True, "After a restart its forecasts are those without one.")
    sentence = f"{differing:,} of {_AFTER_RESTART} forecasts after a restart are not those without one. "
    done = "Make them a function of the candles, and keep the rest of the state in the module's buffers or a file."
    return Check("A restart changes nothing", False, f"{sentence}{done}")


def _is_fast_enough(trial: Trial, subject: Subject) -> Check:
    deadline_ms = subject.settings.recovery.challenger_deadline_ms
    sentence = f"A candle takes {trial.cost_ms:,.1f} ms on average; the deadline is {deadline_ms:,} ms."
    return Check("It is fast enough", trial.cost_ms <= deadline_ms, sentence)


def _differing(one: FloatArray, other: FloatArray) -> int:
    """How many candles have another forecast."""
    return int((one != other).any(axis=(1, 2, 3)).sum())


def _correlation(one: FloatArray, other: FloatArray) -> float:
    """The correlation; 0 if either never changes."""
    if one.std() == 0.0 or other.std() == 0.0:
        return 0.0
    found = float(np.corrcoef(one, other)[0, 1])
    return 0.0 if math.isnan(found) else found


def with_other_future(candles: Sequence[Candle], known: int) -> list[Candle]:
    """The first `known` candles, then others at the same times: shapes of all candles, mixed and mirrored at random.

    Candles after `known` reveal nothing of the true future.
    """
    generator = np.random.default_rng(0)
    shapes = generator.integers(0, len(candles), len(candles) - known)
    signs = generator.choice([-1.0, 1.0], shapes.size)
    made = list(candles[:known])
    for candle, shape, sign in zip(candles[known:], shapes.tolist(), signs.tolist(), strict=True):
        made.append(_shaped_like(candles[shape], made[-1].close, sign, candle.open_time_ms))
    return made


def _shaped_like(shape: Candle, opened: float, sign: float, open_time_ms: int) -> Candle:
    """A candle from this price on, its body mirrored if the sign is -1."""
    close = opened * (shape.close / shape.open) ** sign
    top, bottom = max(opened, close), min(opened, close)
    high = top * shape.high / max(shape.open, shape.close)
    low = bottom * shape.low / min(shape.open, shape.close)
    return replace(
        shape, open_time_ms=open_time_ms, open=opened, high=max(high, top), low=min(low, bottom), close=close
    )
