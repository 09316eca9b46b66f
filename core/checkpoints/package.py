"""A checkpoint exported as a folder: the weights, a README, a card for programs, and checksums.

What comes in is hostile until it was checked: nothing of it reaches the data folder before all of it was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.checkpoints.columns import reason_text
from core.checkpoints.row import CheckpointRow
from core.checkpoints.weight_file import (
    PICKLE_SUFFIXES,
    BadFileError,
    Watch,
    look_into,
    read_description,
    read_plain,
    read_whole,
)
from core.domain.candle import Interval
from core.domain.challenger_sources import source_of
from core.domain.checkpoint_info import CheckpointInfo
from core.files.durable import write_durably

FORM = 1
WEIGHTS, CARD, README, SUMS = "weights.safetensors", "card.json", "README.md", "SHA256SUMS"
_LARGEST_CARD = 1024**2
_MOST_FILES = 50
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
    """The machine-readable description of an exported checkpoint. All fields are bounded."""

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
    other_markets: Annotated[list[OtherMarket], Field(max_length=_MOST_MARKETS)] = Field(default_factory=list)
    settings: dict[str, Any] | None
    sha256: _Sha256
    size_bytes: _Count


@dataclass(frozen=True, slots=True)
class Package:
    """A valid folder: its card, and the bytes of its weights."""

    card: Card
    weights: bytes


def card_of(kept: CheckpointRow, settings: dict[str, Any] | None) -> Card:
    """The card of a stored checkpoint. settings: those in force when it was saved, if known."""
    info = kept.info
    own = {name: getattr(info, name) for name in Card.model_fields if hasattr(info, name)}
    market: dict[str, Any] = {"venue": kept.venue, "symbol": kept.symbol, "interval": str(Interval(kept.interval_ms))}
    market["other_markets"] = [{"venue": each.venue, "symbol": each.symbol} for each in kept.others]
    return Card.model_validate({**own, **market, "tags": list(info.tags), "settings": settings, "form": FORM})


def folder_name(kept: CheckpointRow) -> str:
    """A folder name in characters that every file system supports."""
    symbol = "".join(letter if letter.isalnum() else "-" for letter in kept.symbol[:40])
    return f"{symbol}-{Interval(kept.interval_ms)}-step-{kept.info.step}-{kept.info.checkpoint_id[-6:]}"


def export(kept: CheckpointRow, file: Path, settings: dict[str, Any] | None, into: Path) -> Path:
    """Write the checkpoint whose weights are `file` into a new folder in `into`. Returns that folder.

    Raises BadFileError, with a sentence, where the weights are damaged, or the place is taken or cannot be written;
    nothing is left behind then.
    """
    target, settings = into / folder_name(kept), None if settings is None else _without_paths(settings)
    weights = read_whole(file, kept.info.sha256)
    if target.exists():
        raise BadFileError(f"{target} already exists and was not changed. Choose another folder, or move it.")
    try:
        card = card_of(kept, settings).model_dump_json(indent=2).encode() + b"\n"
    except ValidationError as error:
        raise BadFileError(f"{target.name} cannot be exported: its description is invalid ({_what(error)}).") from error
    markets = len(read_description(weights, target.name).get("markets", ()))
    readme = _readme(kept, settings, max(0, markets - 1)).encode()
    files = {WEIGHTS: weights, CARD: card, README: readme}
    files[SUMS] = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()
    try:
        temporary = into / f".export-{secrets.token_hex(4)}"
        temporary.mkdir()
        try:
            for name, data in files.items():
                write_durably(temporary / name, data, is_private=False)
            temporary.rename(target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise BadFileError(
            f"{target} could not be written ({error.strerror or error}). Choose another folder."
        ) from error
    return target


def _without_paths(settings: dict[str, Any]) -> dict[str, Any]:
    """Where files lie, and what a challenger's command is given, say more than a stranger should know."""
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


def read(folder: Path, watch: Watch = lambda done, total: None) -> Package:
    """Validate and read a folder supposedly written by `export`. Raises BadFileError, with a sentence.

    watch: as that of `weight_file.read_plain`, of the weights.
    """
    names = _names(folder)
    for name in names:
        if Path(name).suffix.lower() in PICKLE_SUFFIXES:
            raise BadFileError(
                f"{name} may be a pickle; such files can run code. Nothing of {folder.name} was imported."
            )
    for needed in (CARD, WEIGHTS):
        if needed not in names:
            raise BadFileError(f"{folder.name} has no {needed}, so it is not an exported checkpoint.")
    card = _card(folder / CARD)
    weights = read_whole(folder / WEIGHTS, card.sha256, watch)
    if len(weights) != card.size_bytes:
        raise BadFileError(f"{WEIGHTS} is {len(weights):,} bytes long, its card says {card.size_bytes:,}.")
    description = look_into(weights, WEIGHTS)
    if card.settings is not None:
        said = card.settings.get("model")
        stored = description["model"]
        if not isinstance(said, dict) or any(said.get(name) != value for name, value in stored.items()):
            raise BadFileError(f"The card of {folder.name} describes another model than {WEIGHTS}.")
    return Package(card, weights)


def _names(folder: Path) -> set[str]:
    try:
        names = {path.name for _, path in zip(range(_MOST_FILES + 1), folder.iterdir(), strict=False)}
    except OSError as error:
        raise BadFileError(f"{folder} cannot be read ({error.strerror or error}).") from error
    if len(names) > _MOST_FILES:
        raise BadFileError(f"{folder.name} holds more than {_MOST_FILES} files, so it is not an exported checkpoint.")
    return names


def _card(path: Path) -> Card:
    try:
        return Card.model_validate_json(read_plain(path, _LARGEST_CARD, "card"))
    except (ValidationError, RecursionError) as error:
        raise BadFileError(f"{path.name} is not a checkpoint's card: {_what(error)}.") from error


def _what(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"[:200] if place else str(first["msg"])[:200]


def _readme(kept: CheckpointRow, settings: dict[str, Any] | None, others: int) -> str:
    """others: how many a model of several markets has besides the one that its run is named after."""
    info = kept.info

    def number(value: float | None, unit: str = "") -> str:
        return "not measured" if value is None else f"{value:.4g}{unit}"

    def percent(value: float | None) -> str:
        return number(None if value is None else 100.0 * value, " %")

    def over_window(value: float | None) -> str:
        """The candles that score windows have at most; how many there were is not stored."""
        return percent(value) if value is None else f"{percent(value)}, over at most 300 candles"

    interval = ""
    if info.skill_low is not None and info.skill_high is not None:
        interval = f" (95 % interval {percent(info.skill_low)} to {percent(info.skill_high)})"
    rows = (
        ("Market", f"{kept.symbol}, {Interval(kept.interval_ms)}, {kept.venue}{_and_others(others)}"),
        *((("Other markets", ", ".join(f"{each.symbol} ({each.venue})" for each in kept.others)),) * bool(kept.others)),
        ("Run", info.run_id),
        ("Checkpoint", info.checkpoint_id),
        ("Steps", f"{info.step:,}"),
        ("Why it was saved", reason_text(info.reason)),
        ("Score of the model", _score(percent(info.skill) + interval, info)),
        ("Skill of the ghosts", over_window(info.shown_skill)),
        ("What the model adds to it", over_window(info.model_gain)),
        ("Coverage of the 90 % band", over_window(info.coverage)),
        ("Direction", over_window(info.direction)),
        ("Training loss", number(info.loss)),
        ("Gradients", info.health or "not known"),
        ("Device", info.device or "not known"),
        ("Weights", f"{WEIGHTS}, {info.size_bytes:,} bytes, sha256 {info.sha256}"),
    )
    lines = [f"# {info.name or f'Checkpoint of step {info.step:,}'}", ""]
    lines += ["A Ghostcandle checkpoint. Import it with the checkpoint browser's *Import*.", ""]
    lines += ["| what | value |", "|---|---|", *(f"| {what} | {_cell(value)} |" for what, value in rows), ""]
    if info.note:
        lines += [f"Note: {_cell(info.note)}", ""]
    if info.tags:
        lines += [f"Tags: {_cell(', '.join(info.tags))}", ""]
    if settings is not None:
        lines += ["## Settings", "", "```json", json.dumps(settings, indent=2), "```", ""]
    return "\n".join(lines)


def _and_others(count: int) -> str:
    return "" if count == 0 else f"; and {count} more: one model, and its scores are means over all {count + 1} markets"


def _score(text: str, info: CheckpointInfo) -> str:
    """With the candles that it is of; without a score, those that were too few."""
    return f"{text}, {info.scored:,} candles scored" if info.skill is None else f"{text}, over {info.scored:,} candles"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
