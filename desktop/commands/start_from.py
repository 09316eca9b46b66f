"""The checkpoint that an evaluation begins with: from the data folder, read only, or from an exported folder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.checkpoints import package
from core.checkpoints.provenance import learned_until_ms
from core.checkpoints.weight_file import BadFileError, read_model_description, read_verified
from core.domain.candle import Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.market.history.candle_file import read_candle_file
from core.market.shown_names import shown_market
from core.settings import tree as settings_file
from core.settings.tree import ARCHITECTURE, Settings
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.storage.setting_sets import settings_of
from core.training.online.trainer_spec import StartingPoint
from desktop.commands.errors import UserError


@dataclass(frozen=True, slots=True)
class Chosen:
    """A checkpoint whose file was found sound."""

    checkpoint_id: str
    step: int
    market: Market
    file: Path
    sha256: str
    learned_until_ms: int
    """The end of the newest candle that it may have learned from."""
    model: Mapping[str, Any]
    settings: Mapping[str, Any] | None
    """Settings in force when it was saved; None if they were not stored."""

    def settings_over(self, current: Settings) -> Settings:
        """Its own settings for learning, with all others from `current`. Raises UserError."""
        plain = settings_file.to_dict(current)
        for group in ("model", "training", "gradients", "recovery"):
            plain[group] |= (self.settings or {}).get(group, {})
        plain["model"] |= {name: self.model[name] for name in ARCHITECTURE if name in self.model}
        plain["training"] |= {"duty_percent": 100, "host": current.training.host, "device": current.training.device}
        plain["training"]["seed"] = current.training.seed
        plain["model"]["challengers"] = list(current.model.challengers)
        settings, warnings = settings_file.from_dict(plain)
        if warnings:
            raise UserError(f"The settings of checkpoint {self.checkpoint_id} cannot be used: {warnings[0]}")
        return settings


def find(name: str, folder: DataFolder) -> Chosen:
    """An exported folder, or the id of a checkpoint in the data folder.

    Raises UserError and StorageError, in sentences; nothing is written.
    """
    place = Path(name)
    try:
        if not place.is_dir():
            return _stored(name, folder)
        found = package.read(place)
        market = Market(found.card.venue, found.card.symbol, Interval.parse(found.card.interval))
        return _chosen(found.card, market, place / package.WEIGHTS, found.card.settings)
    except BadFileError as error:
        raise UserError(f"{error} Nothing was evaluated.") from error


def starting_point(
    chosen: Chosen, candle_file: Path, count: int | None, *, counts_seen: bool, learns: bool
) -> tuple[StartingPoint, dict[str, Any]]:
    """The starting point of the run and its description. Raises UserError if the file cannot be evaluated with it."""
    file = read_candle_file(candle_file)
    if file.interval != chosen.market.interval:
        raise UserError(
            f"The checkpoint has learned candles of {chosen.market.interval}, and {candle_file.name} holds candles of "
            f"{file.interval}. Give a file of {chosen.market.interval}."
        )
    candles = file.candles[:count]
    seen = sum(candle.open_time_ms < chosen.learned_until_ms for candle in candles)
    if seen == len(candles) and not counts_seen:
        raise UserError(
            f"Every candle of {candle_file.name} is from before the newest one that the checkpoint has learned, so "
            "none would be new to it. Give later candles; or, if the file is of another market, --count-seen."
        )
    start = StartingPoint(
        chosen.file, chosen.sha256, chosen.checkpoint_id, chosen.learned_until_ms, counts_seen, learns
    )
    return start, {
        "id": chosen.checkpoint_id,
        "step": chosen.step,
        "market": shown_market(chosen.market),
        "learned_until_ms": chosen.learned_until_ms,
        "learns": learns,
        "seen": seen,
        "counts_seen": counts_seen,
    }


def _stored(checkpoint_id: str, folder: DataFolder) -> Chosen:
    if not folder.database.exists():
        raise UserError(f"There is no database in {folder.root}, so no checkpoint either. Name it with --data-dir.")
    with closing(open_database(folder.database, readonly=True)) as db:
        info = CheckpointRows(db).by_id(checkpoint_id)
        if info is None:
            raise UserError(
                f"There is no checkpoint '{checkpoint_id}' in {folder.root}, and no such folder. "
                "See: ghostcandle checkpoints list"
            )
        market = RunStore(db).get(info.run_id).market
        settings = None if info.settings_id is None else settings_of(db, info.settings_id)
    file = folder.absolute(info.file)
    read_verified(file, info.sha256)
    return _chosen(info, market, file, settings)


def _chosen(
    info: CheckpointInfo | package.Card, market: Market, file: Path, settings: Mapping[str, Any] | None
) -> Chosen:
    description = read_model_description(file)
    if len(description.get("markets", ())) > 1:
        raise UserError(
            f"The model of checkpoint {info.checkpoint_id} has learned several markets, and reads in each the others' "
            "candles, which one file does not have. Give a checkpoint of a model of one market."
        )
    until_ms = learned_until_ms(description, info.candle_open_time_ms, market.interval)
    place = file.resolve()
    return Chosen(info.checkpoint_id, info.step, market, place, info.sha256, until_ms, description["model"], settings)
