"""Configurations and cells of a plan, checked against the settings tree before the first cell runs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from core.domain.challenger_sources import MODEL_NAMES, ChallengerSource, source_of
from core.settings.faults import sentence_of
from core.settings.record import BackupSettings, RecordSettings
from core.settings.tree import MarketSettings, Settings, from_dict, to_dict
from core.sweeps.errors import SweepError, UnfitSettingsError
from core.sweeps.plan import (
    MAIN_MODEL,
    Cell,
    Configuration,
    NamedValues,
    Scalar,
    SettingRange,
    SweepFile,
    SweepPlan,
    Values,
)

GROUPS = ("model", "training", "online", "gradients", "recovery", "checkpoints")
"""The settings on which an evaluation depends."""
_ELSEWHERE = {
    "model.challengers": "name models in models",
    "training.seed": "name seeds in seeds",
    "training.device": "name it in device",
    "training.host": "every cell runs in the process of its worker",
    "training.start_from": "every cell begins with a new model",
    "training.threads": "every cell has one thread, so that its bytes are the same everywhere",
}
_MOST_CELLS = 100_000
_TRIES = 100
"""Draws for each requested configuration, before a random search has found all there are."""


def base_of(settings: Settings) -> dict[str, Any]:
    """What the cells have in common with the user's settings: plain data without paths and secrets."""
    plain = to_dict(settings)
    base = {group: plain[group] for group in GROUPS}
    base["model"]["challengers"] = []
    return base


def settings_of(base: Mapping[str, Any], configuration: Configuration, seed: int, device: str) -> Settings:
    """The settings of one cell. Raises SweepError, in a sentence, for a value out of range."""
    settings, _ = from_dict(base)
    challengers = () if configuration.model == MAIN_MODEL else (configuration.model,)
    fixed: dict[str, Any] = {"seed": seed, "device": device, "host": "thread", "start_from": "none", "threads": 1}
    try:
        settings = replace(
            settings,
            market=MarketSettings(),
            record=RecordSettings(keep_detail_days=0),
            backups=BackupSettings(every_hours=0),  # its folder is temporary
            training=replace(settings.training, **fixed),
            model=replace(settings.model, challengers=challengers),
        )
    except ValidationError as error:
        raise SweepError(f"models: {sentence_of(error.errors()[0])}.") from error
    return _with_values(settings, configuration.settings)


def _with_values(settings: Settings, values: NamedValues) -> Settings:
    by_group: dict[str, dict[str, Scalar]] = {}
    for key, value in values:
        group, _, name = key.partition(".")
        by_group.setdefault(group, {})[name] = value
    for group, changed in by_group.items():
        try:
            settings = replace(settings, **{group: replace(getattr(settings, group), **changed)})
        except ValidationError as error:
            problem = error.errors()[0]
            wrong = next(iter(problem["loc"] or changed))
            kind = SweepError if problem["loc"] else UnfitSettingsError
            raise kind(f"settings: {group}.{wrong} is not right: {sentence_of(problem)}.") from error
        for name, value in changed.items():
            taken = getattr(getattr(settings, group), name)
            if taken != value:  # else '32' and 32 would be two configurations
                raise SweepError(f"settings: {group}.{name} is not right: {value!r} would be {taken!r}; write that.")
    return settings


def check_keys(plan: SweepPlan) -> None:
    """Raises SweepError for a setting that does not exist, or is none of an evaluation's."""
    known = [f"{group}.{field.name}" for group in GROUPS for field in fields(type(getattr(Settings(), group)))]
    for key in plan.settings:
        if key in _ELSEWHERE:
            raise SweepError(f"settings: {key} is no setting of a sweep: {_ELSEWHERE[key]}. Leave it out.")
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" Perhaps {near[0]} is meant." if near else " docs/settings.md lists them."
            raise SweepError(f"settings: there is no setting {key} on which an evaluation depends.{hint}")


def sources_of(plan: SweepPlan) -> dict[str, ChallengerSource]:
    """The models that are not built in, by their names in the plan. Raises SweepError for one that cannot be parsed."""
    own = [model for model in plan.models if model not in MODEL_NAMES]
    try:
        return {model: source_of(model) for model in own}
    except ValueError as error:
        raise SweepError(f"models: {error}.") from error


def configurations_of(plan: SweepPlan, base: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """All configurations of a grid or a random search, in order. Raises SweepError for a value out of range."""
    check_keys(plan)
    chosen = _drawn(plan, base) if plan.random is not None else _grid(plan)
    found = with_default([Configuration(number, *one) for number, one in enumerate(chosen, start=1)], base)
    for configuration in found:
        settings_of(base, configuration, plan.seeds[0], plan.device)
    return found


def check_ends(plan: SweepPlan, base: Mapping[str, Any]) -> None:
    """Check the ends of all ranges and lists, each with the other settings as the user has them. Raises SweepError."""
    check_keys(plan)
    for key, values in plan.settings.items():
        _check_whole(key, values, base)
        for value in (values.start, values.stop) if isinstance(values, SettingRange) else values:
            with suppress(UnfitSettingsError):  # with others it may go together
                settings_of(base, Configuration(1, plan.models[0], ((key, value),)), plan.seeds[0], plan.device)


def _check_whole(key: str, values: Values, base: Mapping[str, Any]) -> None:
    """Hardly any value between the ends would be allowed."""
    if isinstance(values, SettingRange) and not values.is_whole and isinstance(set_value(key, base), int):
        raise SweepError(
            f"settings: {key} is a whole number: write both ends of its range without a decimal point, as from = "
            f"{values.start:.0f}, to = {values.stop:.0f}."
        )


def with_default(configurations: Sequence[Configuration], base: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """Marks the one that the others are compared with; see `Configuration.is_default`."""
    place = next((place for place, each in enumerate(configurations) if is_as_set(each, base)), 0)
    return tuple(replace(each, is_default=at == place) for at, each in enumerate(configurations))


def is_as_set(configuration: Configuration, base: Mapping[str, Any]) -> bool:
    """Whether it is the main model with the user's settings."""
    return configuration.model == MAIN_MODEL and all(
        set_value(key, base) == value for key, value in configuration.settings
    )


def set_value(key: str, base: Mapping[str, Any]) -> Scalar:
    """The user's value of a setting."""
    group, _, name = key.partition(".")
    value: Scalar = base[group][name]
    return value


def cells_of(
    configurations: Sequence[Configuration], files: Sequence[SweepFile], plan: SweepPlan, first: int = 1
) -> tuple[Cell, ...]:
    """Each configuration on each file (or all, together) with each seed. first: the number of the first cell."""
    groups = [tuple(files)] if plan.together else [(file,) for file in files]
    combined = itertools.product(configurations, groups, plan.seeds)
    return tuple(Cell(number, *one) for number, one in enumerate(combined, start=first))


def _grid(plan: SweepPlan) -> Iterator[tuple[str, NamedValues]]:
    lists = [_values(key, values) for key, values in plan.settings.items()]
    count = len(plan.models) * int(np.prod([len(each) for each in lists], dtype=np.float64))
    if count > _MOST_CELLS:
        raise SweepError(
            f"The grid has {count:,} configurations; the most are {_MOST_CELLS:,}. Shorten the lists, or draw some "
            "with random = 100."
        )
    for model, values in itertools.product(plan.models, itertools.product(*lists)):
        yield model, tuple(zip(plan.settings, values, strict=True))


def _values(key: str, values: Values) -> tuple[Scalar, ...]:
    try:
        return values.values() if isinstance(values, SettingRange) else values
    except SweepError as error:
        raise SweepError(f"settings: {key}: {error}") from error


def _drawn(plan: SweepPlan, base: Mapping[str, Any]) -> list[tuple[str, NamedValues]]:
    """Different configurations at random: first the one with the user's settings, if it is among those possible."""
    assert plan.random is not None
    check_ends(plan, base)
    generator = np.random.default_rng(plan.search_seed)
    start = user_point(plan, base)
    drawn: dict[tuple[str, NamedValues], None] = {} if start is None else {start: None}
    for _ in range(_TRIES * plan.random):
        if len(drawn) == plan.random:
            break
        model = plan.models[int(generator.integers(len(plan.models)))]
        one = model, tuple((key, _draw(generator, values)) for key, values in plan.settings.items())
        if fits(base, Configuration(1, *one), plan):
            drawn[one] = None
    if not drawn:
        raise SweepError("settings: none of the combinations drawn is allowed. Choose values that go together.")
    return list(drawn)


def user_point(plan: SweepPlan, base: Mapping[str, Any]) -> tuple[str, NamedValues] | None:
    """The configuration with the user's settings; None if it is not among those of the plan."""
    values = tuple((key, set_value(key, base)) for key in plan.settings)
    inside = all(_lies_in(value, plan.settings[key]) for key, value in values)
    return (MAIN_MODEL, values) if inside and MAIN_MODEL in plan.models else None


def _lies_in(value: Scalar, values: Values) -> bool:
    if isinstance(values, SettingRange):
        return isinstance(value, int | float) and values.start <= value <= values.stop
    return value in values


def _draw(generator: np.random.Generator, values: Values) -> Scalar:
    if isinstance(values, SettingRange):
        return values.at(float(generator.random()))
    return values[int(generator.integers(len(values)))]


def fits(base: Mapping[str, Any], configuration: Configuration, plan: SweepPlan) -> bool:
    """Whether a combination is allowed; single values are checked before, with a sentence."""
    try:
        settings_of(base, configuration, plan.seeds[0], plan.device)
    except SweepError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Extent:
    """How many cells a sweep has, and how many candles they learn together."""

    configurations: int
    cells: int
    candles: int


def extent_of(plan: SweepPlan, configurations: int, files: Sequence[SweepFile]) -> Extent:
    of_files = sum(file.candles for file in files)
    runs = configurations * len(plan.seeds)
    return Extent(configurations, runs * (1 if plan.together else len(files)), runs * of_files)
