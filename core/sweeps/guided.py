"""Configurations that Optuna proposes, in batches. Needs Optuna.

A sampler's own random numbers are in no storage of Optuna's. So that a sweep that was killed continues with the
proposals of an undisturbed one, the study is built again at each start: the same questions, and the scores from the
sweep's table as answers. The file of the study is for Optuna's own tools.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.samplers import BaseSampler, QMCSampler, RandomSampler, TPESampler
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from core.sweeps.errors import SweepError
from core.sweeps.grid import cells_of, fits, user_point
from core.sweeps.plan import Cell, Configuration, NamedValues, Scalar, SettingRange, SweepPlan, Values
from core.sweeps.rows import CellState
from core.sweeps.runner import score_of
from core.sweeps.start import Draft
from core.sweeps.store import SweepStore

_MODEL = "model"
_NAME = "sweep"
_TRIES = 100
"""Proposals for each of the budget, of which most do not fit together."""
_ENDED = (CellState.DONE, CellState.FAILED)


class GuidedProposals:
    """Configurations of which each batch depends on the scores of those before."""

    def __init__(self, store: SweepStore, draft: Draft) -> None:
        """Raises SweepError if Optuna does not propose what the table has already."""
        assert draft.plan.budget is not None
        self._draft, self._plan, self._budget = draft, draft.plan, draft.plan.budget
        self._stored = {of.number: of for of in store.read_configurations()}
        self._scores = _stored_scores(store)
        self._numbers: dict[tuple[str, NamedValues], int] = {}
        self._batch: list[tuple[Trial, int]] = []
        self._queue: deque[Configuration] = deque()
        self._asked = self._unfit = 0
        self._study = _new_study(self._plan, store.path.parent)
        self._ask_for_user_point()
        self._advance()

    @property
    def left(self) -> int:
        return len(self._queue) + self._budget - self._asked

    def next_cells(self) -> Sequence[Cell]:
        if not self._queue:
            return ()
        configuration, plan, files = self._queue.popleft(), self._plan, self._draft.files
        each = len(plan.seeds) * (1 if plan.together else len(files))
        return cells_of([configuration], files, plan, first=(configuration.number - 1) * each + 1)

    def on_result(self, configuration: int, score: float | None) -> None:
        self._scores[configuration] = score
        self._advance()

    def _advance(self) -> None:
        """Answer a batch once all of it has ended, and ask for the next."""
        while self._asked < self._budget or self._batch:
            if not self._batch:
                self._ask(min(self._plan.batch, self._budget - self._asked))
            if not all(number in self._scores for _, number in self._batch):
                return
            for trial, number in self._batch:
                self._answer(trial, self._scores[number])
            self._batch.clear()

    def _ask(self, count: int) -> None:
        while len(self._batch) < count:
            trial = self._study.ask()
            model, values = self._suggested(trial)
            if fits(self._draft.base, Configuration(1, model, values), self._plan):
                self._batch.append((trial, self._number(model, values)))
                continue
            self._answer(trial, None)
            self._unfit += 1
            if self._unfit > _TRIES * self._budget:
                raise SweepError("settings: hardly any combination is allowed. Choose values that go together.")
        self._asked += count

    def _number(self, model: str, values: NamedValues) -> int:
        """That of an earlier configuration if it is proposed again: its cells are not computed twice."""
        known = self._numbers.get((model, values))
        if known is not None:
            return known
        number = self._numbers[model, values] = len(self._numbers) + 1
        configuration = Configuration(number, model, values, is_default=number == 1)
        if number not in self._stored:
            self._queue.append(configuration)
        elif self._stored[number] != configuration:
            raise SweepError(
                f"Optuna {optuna.__version__} proposes other settings than this sweep has, so it cannot continue. Use "
                "the version of Optuna that it began with, or begin another sweep with --folder."
            )
        return number

    def _answer(self, trial: Trial, score: float | None) -> None:
        if score is None:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, score)

    def _suggested(self, trial: Trial) -> tuple[str, NamedValues]:
        model = str(trial.suggest_categorical(_MODEL, self._plan.models))
        return model, tuple((key, _suggest(trial, key, values)) for key, values in self._plan.settings.items())

    def _ask_for_user_point(self) -> None:
        point = user_point(self._plan, self._draft.base)
        if point is not None:
            model, values = point
            self._study.enqueue_trial({_MODEL: model, **dict(values)})


def _suggest(trial: Trial, key: str, values: Values) -> Scalar:
    if not isinstance(values, SettingRange):
        chosen = trial.suggest_categorical(key, values)
        assert chosen is not None
        return chosen
    is_log = values.scale == "log"
    if values.is_whole:
        return trial.suggest_int(key, int(values.start), int(values.stop), log=is_log)
    return trial.suggest_float(key, values.start, values.stop, log=is_log)


def _stored_scores(store: SweepStore) -> dict[int, float | None]:
    """The scores of the configurations whose cells have all ended."""
    scores = {}
    for configuration in store.read_configurations():
        rows = store.cells_of(configuration.number)
        if all(row.state in _ENDED for row in rows):
            scores[configuration.number] = score_of(rows)
    return scores


def _new_study(plan: SweepPlan, folder: Path) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler, storage = _sampler(plan), _storage(plan, folder)
        return optuna.create_study(storage=storage, sampler=sampler, study_name=_NAME, direction="maximize")


def _sampler(plan: SweepPlan) -> BaseSampler:
    match plan.sampler:
        case "random":
            return RandomSampler(seed=plan.search_seed)
        case "qmc":
            return QMCSampler(seed=plan.search_seed, scramble=True)
    return TPESampler(seed=plan.search_seed)


def _storage(plan: SweepPlan, folder: Path) -> BaseStorage:
    """In a new file."""
    path = folder / ("optuna.log" if plan.storage == "journal" else "optuna.sqlite")
    for old in folder.glob(f"{path.name}*"):  # and a lock of a killed process
        old.unlink()
    if plan.storage == "journal":
        return JournalStorage(JournalFileBackend(str(path)))
    return RDBStorage(f"sqlite:///{path.absolute()}")
