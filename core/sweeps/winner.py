"""What a sweep has proven: its best setting, chosen on the first part of the candles and judged on the second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.events import Estimate
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.forecast.score import gain, skill
from core.sweeps import verdict_text
from core.sweeps.best_of_many import ArchIsMissingError, Comparison, compare
from core.sweeps.pooling import CellLosses, Pool, left_out, pool


@dataclass(frozen=True, slots=True)
class Standing:
    """One configuration: its skill on both parts, and on the second its edge over the default, with intervals of one
    look. in_set: it may be the best; None: not compared."""

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


def judge(
    first: Sequence[CellLosses], second: Sequence[CellLosses], labels: Mapping[int, str], default: int
) -> Verdict:
    """first, second: of all cells that ended well, the losses on the part to choose and on the part to judge. labels:
    of every configuration, for the sentences; default: the one that the others are compared with."""
    reasons = left_out(first, list(labels)) | left_out(second, list(labels))
    compared = [number for number in labels if number not in reasons]
    if default in reasons:
        return _nothing(f"No winner is named: the default is {reasons[default]}.", labels, default, reasons)
    if len(compared) < 2:
        return _nothing("No winner is named: there is nothing to compare the default with.", labels, default, reasons)
    parts = _Parts(_of(first, compared), _of(second, compared), compared, default)
    fewest = min(parts.n_first, parts.n_second)
    if fewest < FEWEST_FOR_AN_EDGE:
        return _nothing(verdict_text.too_few(fewest), labels, default, reasons)
    try:
        return _judged(parts, compare(parts.judging.losses, compared.index(default)), labels, reasons)
    except ArchIsMissingError as error:
        return replace(_nothing(str(error), labels, default, reasons), standings=parts.standings(None))


def _of(cells: Sequence[CellLosses], configurations: Sequence[int]) -> list[CellLosses]:
    compared = set(configurations)
    return [cell for cell in cells if cell.configuration in compared]


def _nothing(sentence: str, labels: Mapping[int, str], default: int, reasons: Mapping[int, str]) -> Verdict:
    notes = verdict_text.not_compared(reasons, labels)
    return Verdict(sentence, notes, None, default, False, None, None, (), (), reasons, 0, 0)


class _Parts:
    """Both parts, pooled."""

    def __init__(
        self, first: Sequence[CellLosses], second: Sequence[CellLosses], compared: Sequence[int], default: int
    ) -> None:
        self.choosing = pool(first, compared, default)
        self.judging = pool(second, compared, default)
        self.default = default
        self._second = second
        self.n_first, self.n_second = self.choosing.reference.size, self.judging.reference.size

    def best(self) -> int:
        """The default if nothing is better; else the first of equals."""
        means = self.choosing.losses.mean(axis=0)
        place = int(means.argmin())
        default = self.choosing.configurations.index(self.default)
        return self.default if means[default] <= means[place] else self.choosing.configurations[place]

    def edge(self, configuration: int) -> Estimate:
        return _edge(self.judging, configuration, self.default)

    def seed_edges(self, configuration: int) -> tuple[SeedEdge, ...]:
        pair = (configuration, self.default)
        cells = _of(self._second, pair)
        by_seed = {
            seed: [cell for cell in cells if cell.seed == seed] for seed in sorted({cell.seed for cell in cells})
        }
        return tuple(SeedEdge(seed, _edge(pool(those, pair, self.default), *pair)) for seed, those in by_seed.items())

    def standings(self, comparison: Comparison | None) -> tuple[Standing, ...]:
        return tuple(
            Standing(
                number,
                skill(self.choosing.of(number), self.choosing.reference),
                skill(self.judging.of(number), self.judging.reference),
                self.edge(number),
                None if comparison is None else bool(comparison.in_set[place]),
                None if comparison is None else float(comparison.set_p[place]),
            )
            for place, number in enumerate(self.judging.configurations)
        )


def _edge(losses: Pool, configuration: int, default: int) -> Estimate:
    return gain(losses.of(configuration), losses.of(default), losses.reference)


def _judged(parts: _Parts, comparison: Comparison, labels: Mapping[int, str], reasons: Mapping[int, str]) -> Verdict:
    best = parts.best()
    edge = parts.edge(best)
    is_default = best == parts.default
    seeds = () if is_default else parts.seed_edges(best)
    standings = parts.standings(comparison)
    in_set = [labels[each.configuration] for each in standings if each.in_set]
    notes = verdict_text.notes(labels[best], parts.n_first, parts.n_second, comparison.any_better_p, seeds)
    return Verdict(
        verdict_text.headline(in_set, len(standings), None if is_default else edge),
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
