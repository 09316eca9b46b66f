"""A checkpoint exported as a folder: the weights, a card for programs, and a README."""

from __future__ import annotations

import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.checkpoints.columns import reason_text
from core.checkpoints.row import CheckpointRow
from core.checkpoints.weight_file import BadFileError, read_model_description, read_plain, read_verified
from core.domain.candle import Interval
from core.domain.challenger_sources import source_of
from core.files.durable import write_durably

FORM = 1
WEIGHTS, CARD, README = "weights.safetensors", "card.json", "README.md"
_LARGEST_CARD = 1024**2
_MOST_MARKETS = 1_000

_Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Number = Annotated[float, Field(allow_inf_nan=False)] | None
_Share = Annotated[float, Field(ge=0.0, le=1.0)] | None
_Words = Annotated[str, Field(max_length=1_000)]
_Venue = Annotated[str, Field(pattern=r"^[a-z0-9_]{2,40}$")]
_Symbol = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class OtherMarket(BaseModel):
    """A further market of a model of several, with candles of the same interval."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    venue: _Venue
    symbol: _Symbol


class Card(BaseModel):
    """The machine-readable description of an exported checkpoint. Ids and symbols name folders, so they are bounded."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    form: Literal[1]
    checkpoint_id: _Id
    run_id: _Id
    venue: _Venue
    symbol: _Symbol
    interval: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}[smhdw]$")]
    step: _Count
    candle_open_time_ms: _Count
    created_at_ms: _Count
    reason: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]
    skill: _Number
    skill_low: _Number
    skill_high: _Number
    scored: _Count
    loss: _Number
    coverage: _Share
    direction: _Share
    health: Annotated[str, Field(max_length=60)] | None
    device: Annotated[str, Field(max_length=100)] | None
    is_known_good: bool
    parent_id: _Id | None
    name: _Words
    note: _Words
    tags: Annotated[list[Annotated[str, Field(pattern=r"^[^\s,]{1,60}$")]], Field(max_length=50)]
    shown_skill: _Number = None
    model_gain: _Number = None
    gain_low: _Number = None
    gain_high: _Number = None
    gain_candles: _Count = 0
    other_markets: Annotated[list[OtherMarket], Field(max_length=_MOST_MARKETS)] = Field(default_factory=list)
    settings: dict[str, Any] | None
    sha256: _Sha256
    size_bytes: _Count


@dataclass(frozen=True, slots=True)
class Package:
    """The contents of an exported folder: its card, and the bytes of its weights."""

    card: Card
    weights: bytes


def card_of(row: CheckpointRow, settings: dict[str, Any] | None) -> Card:
    """The card of a stored checkpoint. settings: those in force when it was saved, if known."""
    info = row.info
    own = {name: getattr(info, name) for name in Card.model_fields if hasattr(info, name)}
    market: dict[str, Any] = {"venue": row.venue, "symbol": row.symbol, "interval": str(Interval(row.interval_ms))}
    market["other_markets"] = [{"venue": each.venue, "symbol": each.symbol} for each in row.others]
    return Card.model_validate({**own, **market, "tags": list(info.tags), "settings": settings, "form": FORM})


def folder_name(row: CheckpointRow) -> str:
    """A folder name in characters that every file system supports."""
    symbol = "".join(letter if letter.isalnum() else "-" for letter in row.symbol[:40])
    return f"{symbol}-{Interval(row.interval_ms)}-step-{row.info.step}-{row.info.checkpoint_id[-6:]}"


def export(row: CheckpointRow, file: Path, settings: dict[str, Any] | None, into: Path) -> Path:
    """Write the checkpoint whose weights are `file` into a new folder in `into`. Returns that folder.

    Raises BadFileError, with a sentence, if the weights are damaged, or the place is taken or cannot be written;
    nothing is left behind then.
    """
    target = into / folder_name(row)
    weights = read_verified(file, row.info.sha256)
    if target.exists():
        raise BadFileError(f"{target} already exists and was not changed. Choose another folder, or move it.")
    try:
        card = card_of(row, None if settings is None else _without_paths(settings))
    except ValidationError as error:
        raise BadFileError(f"{target.name} cannot be exported: its description is invalid ({_what(error)}).") from error
    files = {WEIGHTS: weights, CARD: card.model_dump_json(indent=2).encode() + b"\n", README: _readme(card).encode()}
    temporary = into / f".export-{secrets.token_hex(4)}"
    try:
        temporary.mkdir()
        for name, data in files.items():
            write_durably(temporary / name, data, is_private=False)
        temporary.rename(target)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise BadFileError(
            f"{target} could not be written ({error.strerror or error}). Choose another folder."
        ) from error
    return target


def _without_paths(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without file paths and challengers' commands, which reveal too much to a stranger."""
    shown, model, market = dict(settings), settings.get("model"), settings.get("market")  # an import's: anything
    if isinstance(model, dict) and isinstance(challengers := model.get("challengers"), list):
        shown["model"] = model | {"challengers": [name for each in challengers if (name := _name_of(each))]}
    if isinstance(market, dict) and isinstance(file := market.get("file"), str):
        shown["market"] = market | {"file": Path(file).name}
    return shown


def _name_of(challenger: object) -> str | None:
    try:
        return source_of(str(challenger)).name
    except ValueError:
        return None


def read(folder: Path) -> Package:
    """Read a folder written by `export`. Raises BadFileError, with a sentence.

    Whether the weights fit the model that they describe is known when they are restored: the trainer has the model.
    """
    if not (folder / CARD).exists():
        raise BadFileError(f"{folder.name} has no {CARD}, so it is not an exported checkpoint.")
    try:
        card = Card.model_validate_json(read_plain(folder / CARD, _LARGEST_CARD))
    except ValidationError as error:
        raise BadFileError(f"{CARD} is not a checkpoint's card: {_what(error)}.") from error
    weights = read_verified(folder / WEIGHTS, card.sha256)
    read_model_description(folder / WEIGHTS)
    return Package(card, weights)


def _what(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"[:200] if place else str(first["msg"])[:200]


def _readme(card: Card) -> str:
    others = [market.symbol for market in card.other_markets]
    rows = (
        ("Markets", ", ".join((card.symbol, *others)) + f"; {card.interval}, {card.venue}"),
        ("Run", card.run_id),
        ("Steps", f"{card.step:,}"),
        ("Why it was saved", reason_text(card.reason)),
        ("What the model adds to the ghosts", _gain(card)),
        ("Training loss", "not measured" if card.loss is None else f"{card.loss:.4g}"),
        ("Weights", f"{WEIGHTS}, {card.size_bytes:,} bytes, sha256 {card.sha256}"),
        ("Tags", ", ".join(card.tags)),
        ("Note", card.note),
    )
    lines = [f"# {_cell(card.name) or f'Checkpoint of step {card.step:,}'}", ""]
    lines += [f"A Ghostcandle checkpoint, for *Import* of the checkpoint browser. {CARD} has all figures.", ""]
    lines += ["| what | value |", "|---|---|", *(f"| {what} | {_cell(value)} |" for what, value in rows if value), ""]
    if card.settings is not None:
        lines += ["## Settings", "", "```json", json.dumps(card.settings, indent=2), "```", ""]
    return "\n".join(lines)


def _gain(card: Card) -> str:
    """With its interval and its number of candles; without them, the number that was too few."""
    over = f"over {card.gain_candles:,} candles"
    if card.model_gain is None or card.gain_low is None or card.gain_high is None:
        return f"not proven, {over}"
    low, high = 100 * card.gain_low, 100 * card.gain_high
    is_proven = low > 0.0 or high < 0.0
    start = f"{100 * card.model_gain:.4g} %" if is_proven else "not proven"
    return f"{start} (95 % interval {low:.4g} to {high:.4g}), {over}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
