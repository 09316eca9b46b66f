"""What a sweep has proven: its best setting, chosen on the first part of the candles and judged on the second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.domain.events import Estimate
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.forecast.score import gain, skill
from core.sweeps import verdict_text
from core.sweeps.best_of_many import SIZE, ArchIsMissingError, Comparison, compare
from core.sweeps.dependence import widening
from core.sweeps.pooling import Pool, Reader, Survey, Times, pool, survey
from core.sweeps.rows import LossSeries, Part
from core.sweeps.store import SweepStore

_BARELY = 0.01
"""Share of the second parts that first ones may reach into: gaps move the middle of files by some candles."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One configuration: its skill on both parts, and on the second its edge over the default, with intervals of one
    look. in_set: it may be the best; None: not determined."""

    configuration: int
    skill_first: Estimate
    skill_second: Estimate
    edge: Estimate
    in_set: bool | None
    set_p: float | None


@dataclass(frozen=True, slots=True)
class SeedEdge:
    """The edge of the best configuration over the default with one seed, on the second part."""

    seed: int
    edge: Estimate


@dataclass(frozen=True, slots=True)
class Verdict:
    """best: the configuration with the smallest loss on the first part; None: no winner is named, `sentence` says why.
    any_better_p: of the test that no configuration at all beats the default on the second part. left_out: why
    configurations are not compared. notes: further sentences."""

    sentence: str
    notes: tuple[str, ...]
    best: int | None
    default: int
    is_better: bool
    edge: Estimate | None
    any_better_p: float | None
    standings: tuple[Standing, ...]
    seed_edges: tuple[SeedEdge, ...]
    left_out: Mapping[int, str]
    n_first: int
    n_second: int


def judge_sweep(store: SweepStore) -> Verdict:
    """Of the cells that are done; also while the sweep is running. Raises SweepError."""
    configurations = store.read_configurations()
    labels = {of.number: of.text for of in configurations}
    default = next((of.number for of in configurations if of.is_default), None)
    if default is None:
        return _nothing("No winner is named: the sweep has no cells yet.", 0, {}, {})
    first, second = (partial(_read, store, part) for part in Part)
    return judge(first, second, labels, default)


def _read(store: SweepStore, part: Part, configuration: int) -> Sequence[LossSeries]:
    return store.losses(configuration, part)


def judge(first: Reader, second: Reader, labels: Mapping[int, str], default: int) -> Verdict:
    """first, second: of the part to choose and of the part to judge. labels: of every configuration, for the sentences;
    default: the one that the others are compared with. Raises SweepError where the readers do."""
    surveys = [survey(read, list(labels)) for read in (first, second)]
    reasons = surveys[0].faults | surveys[1].faults
    compared = [number for number in labels if number not in reasons]
    if default in reasons:
        sentence = f"No winner is named: the default cannot be compared, as {reasons[default]}."
        return _nothing(sentence, default, labels, reasons)
    if len(compared) < 2:
        return _nothing("No winner is named: there is nothing to compare the default with.", default, labels, reasons)
    parts = _Parts((first, second), surveys, compared, default)
    fewest = min(parts.n_first, parts.n_second)
    if fewest < FEWEST_FOR_AN_EDGE:
        return _nothing(verdict_text.too_few(fewest), default, labels, reasons)
    try:
        return _judged(parts, compare(parts.judging.losses, compared.index(default)), labels, reasons)
    except ArchIsMissingError as error:
        return replace(_nothing(str(error), default, labels, reasons), standings=parts.standings(None))


def _nothing(sentence: str, default: int, labels: Mapping[int, str], reasons: Mapping[int, str]) -> Verdict:
    notes = verdict_text.not_compared(reasons, labels)
    return Verdict(sentence, notes, None, default, False, None, None, (), (), reasons, 0, 0)


class _Parts:
    """Both parts, pooled. overlap: whether a first part has times of a second one, of another file."""

    def __init__(
        self, readers: tuple[Reader, Reader], surveys: Sequence[Survey], compared: Sequence[int], default: int
    ) -> None:
        self.default = default
        self._second, self._times = readers[1], surveys[1].shared(compared)
        first = surveys[0].shared(compared)
        self.overlap = _overlap(first, self._times)
        self.choosing = pool(readers[0], compared, first, default)
        self.judging = pool(self._second, compared, self._times, default)
        self._widening = widening(self.judging.losses - self.judging.of(default)[:, None])
        self.n_first, self.n_second = self.choosing.reference.size, self.judging.reference.size

    def best(self) -> int:
        """The default if nothing is better; else the first of equals."""
        means = self.choosing.losses.mean(axis=0)
        place = int(means.argmin())
        default = self.choosing.configurations.index(self.default)
        return self.default if means[default] <= means[place] else self.choosing.configurations[place]

    def edge(self, configuration: int) -> Estimate:
        return _edge(self.judging, configuration, self.default, self._widening)

    def seed_edges(self, configuration: int) -> tuple[SeedEdge, ...]:
        pair = (configuration, self.default)
        series = {number: self._second(number) for number in pair}
        seeds = sorted({each.seed for each in series[configuration]})
        return tuple(SeedEdge(seed, self._seed_edge(pair, series, seed)) for seed in seeds)

    def _seed_edge(self, pair: tuple[int, int], series: Mapping[int, Sequence[LossSeries]], seed: int) -> Estimate:
        def read(number: int) -> Sequence[LossSeries]:
            return [each for each in series[number] if each.seed == seed]

        return _edge(pool(read, pair, self._times, self.default), *pair, self._widening)

    def standings(self, comparison: Comparison | None) -> tuple[Standing, ...]:
        set_p = None if comparison is None else comparison.set_p
        return tuple(
            Standing(
                number,
                skill(self.choosing.of(number), self.choosing.reference),
                skill(self.judging.of(number), self.judging.reference),
                self.edge(number),
                None if set_p is None else bool(set_p[place] > SIZE),
                None if set_p is None else float(set_p[place]),
            )
            for place, number in enumerate(self.judging.configurations)
        )


def _overlap(first: Mapping[str, Times], second: Mapping[str, Times]) -> bool:
    known_first, known_second = ([each for each in of.values() if each.size] for of in (first, second))
    if not known_first or not known_second:
        return False
    begin_ms, end_ms = min(each[0] for each in known_second), max(each[-1] for each in known_second)
    shared_ms = max(each[-1] for each in known_first) - begin_ms
    return bool(shared_ms > _BARELY * (end_ms - begin_ms))


def _edge(losses: Pool, configuration: int, default: int, wider: float) -> Estimate:
    found = gain(losses.of(configuration), losses.of(default), losses.reference)
    if found.value is None or found.low is None or found.high is None:
        return found
    low, high = (found.value + wider * (end - found.value) for end in (found.low, found.high))
    return replace(found, low=low, high=high)


def _judged(parts: _Parts, comparison: Comparison, labels: Mapping[int, str], reasons: Mapping[int, str]) -> Verdict:
    best = parts.best()
    edge = parts.edge(best)
    is_default = best == parts.default
    seeds = () if is_default else parts.seed_edges(best)
    standings = parts.standings(comparison)
    is_known = comparison.set_p is not None
    in_set = [labels[each.configuration] for each in standings if each.in_set] if is_known else None
    sizes = parts.n_first, parts.n_second
    notes = verdict_text.notes(labels[best], labels[parts.default], sizes, comparison.any_better_p, seeds)
    notes += (verdict_text.OVERLAP,) if parts.overlap else ()
    return Verdict(
        verdict_text.headline(in_set, len(standings), labels[best], None if is_default else edge),
        notes + verdict_text.not_compared(reasons, labels),
        best,
        parts.default,
        not is_default and edge.low is not None and edge.low > 0.0,
        edge,
        comparison.any_better_p,
        standings,
        seeds,
        reasons,
        parts.n_first,
        parts.n_second,
    )
