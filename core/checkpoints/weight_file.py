"""Inspects a weight file without torch: everything is validated before it is used."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors import SafetensorError

from core.domain.quantities import LEVELS, QUANTITIES
from core.forecast.history import FEATURES, OTHERS

LARGEST_BYTES = 4 * 1024**3
_LARGEST_HEADER = 16 * 1024**2
"""Some 12 kB of each market."""
_MOST_TENSORS = 30_000
"""Some 96 of each market, of 200 markets and more."""
_MOST_DIMENSIONS = 8
METADATA_KEY = "ghostcandle"
_HEADER_AT = 8
"""A safetensors file is eight bytes of header length, then a JSON object; the length may begin like a pickle."""
_PICKLE_STARTS = (b"\x80", b"PK\x03\x04")
PICKLE_SUFFIXES = frozenset({".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib", ".npy", ".npz"})
"""Suffixes of files that are, or may contain, pickles."""
_FLOATS: dict[str, np.dtype[Any]] = {"F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2")}
_FLOAT_KINDS = frozenset({*_FLOATS, "BF16"})
_BFLOAT_EXPONENT = 0x7F80


Watch = Callable[[int, int], None]
PIECE_BYTES = 8 * 1024**2
"""Bytes read or written between two checks for cancellation."""


class BadFileError(Exception):
    """A file is rejected. The message is a sentence for the user, and names the file."""


def read_whole(path: Path, sha256: str | None = None, watch: Watch = lambda done, total: None) -> bytes:
    """The bytes of a weight file. Raises BadFileError if it cannot be read, is a pickle, or was altered.

    watch: as that of `read_plain`.
    """
    if path.suffix.lower() in PICKLE_SUFFIXES:
        raise BadFileError(f"{path.name} may be a pickle; such files can run code and are never loaded.")
    data = read_plain(path, LARGEST_BYTES, "checkpoint", watch)
    if data.startswith(_PICKLE_STARTS) and data[_HEADER_AT : _HEADER_AT + 1] != b"{":
        raise BadFileError(f"{path.name} is a pickle or a zip; such files can run code and are never loaded.")
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise BadFileError(f"{path.name} was altered or cut short: its sha256 is not the recorded one.")
    return data


def read_plain(path: Path, most_bytes: int, what: str, watch: Watch = lambda done, total: None) -> bytes:
    """The bytes of a regular file: no link out of its folder, no endless pipe. Raises BadFileError.

    what: what the file is said to be, for the sentence. watch: called now and then with the bytes read and to be read;
    what it raises ends the reading.
    """
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise BadFileError(f"{path.name} is a link, which may lead anywhere; only files themselves are read.")
        if not stat.S_ISREG(found.st_mode):
            raise BadFileError(f"{path.name} is not a regular file, so it cannot be read.")
        if found.st_size > most_bytes:
            raise BadFileError(f"{path.name} is larger than any {what} can be.")
        read = io.BytesIO()
        with path.open("rb") as file:
            watch(0, found.st_size)
            while read.tell() < most_bytes and (piece := file.read(min(PIECE_BYTES, most_bytes - read.tell()))):
                read.write(piece)
                watch(min(read.tell(), found.st_size), found.st_size)
        return read.getvalue()  # no copy: the result shares the buffer
    except OSError as error:
        raise BadFileError(f"{path.name} cannot be read ({error.strerror or error}).") from error


def verify(path: Path, sha256: str) -> str:
    """A sentence with the fault of the file; empty if it is intact."""
    try:
        look_into(read_whole(path, sha256), path.name)
    except BadFileError as error:
        return str(error)
    return ""


def read_description(data: bytes, name: str) -> dict[str, Any]:
    """What Ghostcandle wrote into the file about itself. Raises BadFileError."""
    metadata = _header(data, name).get("__metadata__")
    raw = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    if not isinstance(raw, str):
        raise BadFileError(f"{name} was not written by Ghostcandle: it has no description.")
    try:
        description = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{name} has a broken description ({error}).") from error
    if not isinstance(description, dict):
        raise BadFileError(f"{name} has a description of the wrong form.")
    return description


def look_into(data: bytes, name: str) -> dict[str, Any]:
    """The description that Ghostcandle wrote into the file, after validating header, shapes and weights.

    Raises BadFileError.
    """
    description = read_description(data, name)
    try:
        tensors = safetensors.deserialize(data)  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError, OverflowError) as error:
        raise BadFileError(f"{name} is not a whole safetensors file ({error}).") from error
    if len(tensors) > _MOST_TENSORS:
        raise BadFileError(f"{name} holds {len(tensors):,} tensors, more than any checkpoint.")
    model = {key.removeprefix("model."): each for key, each in tensors if key.startswith("model.")}
    _require_shapes(model, description, name)
    for key, each in tensors:
        if len(each["shape"]) > _MOST_DIMENSIONS:
            raise BadFileError(f"{name} holds a tensor of {len(each['shape'])} dimensions.")
        if not key.startswith("model."):
            continue
        if each["dtype"] not in _FLOAT_KINDS:
            raise BadFileError(f"{name} holds weights that are no floating-point numbers ({each['dtype']}).")
        if not _is_finite(each["dtype"], each["data"]):
            raise BadFileError(f"{name} holds weights that are not finite.")
    return description


def expected_shapes(model: Mapping[str, Any], *, has_others: bool = False) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the weights of a model with this description. Raises KeyError, TypeError, ValueError,
    OverflowError.

    has_others: it learned several markets, and reads in each the numbers of the others.
    """
    width, context, layers = int(model["width"]), int(model["context"]), int(model["layers"])
    outputs = int(model["horizons"]) * QUANTITIES * len(LEVELS)
    if not (0 < width <= 8192 and 0 < context <= 65_536 and 0 < layers <= 1024 and 0 < outputs <= 1_000_000):
        raise ValueError("the sizes of the model are out of range")
    shapes: dict[str, tuple[int, ...]] = {"position": (context, width)}

    def linear(name: str, inputs: int, to: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (to, inputs), (to,)

    def norm(name: str) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (width,)

    linear("embed", FEATURES, width)
    if has_others:
        shapes["embed_others.weight"] = (width, OTHERS)
    for number in range(layers):
        block = f"blocks.{number}"
        norm(f"{block}.attention_norm")
        linear(f"{block}.attention.project_in", width, 3 * width)
        linear(f"{block}.attention.project_out", width, width)
        norm(f"{block}.feed_forward_norm")
        linear(f"{block}.widen", width, 4 * width)
        linear(f"{block}.narrow", 4 * width, width)
    norm("final_norm")
    linear("head", width, outputs)
    return shapes


def _header(data: bytes, name: str) -> dict[str, Any]:
    if len(data) < _HEADER_AT:
        raise BadFileError(f"{name} is not a whole safetensors file (it is {len(data)} bytes long).")
    (length,) = struct.unpack("<Q", data[:_HEADER_AT])
    if length > min(_LARGEST_HEADER, len(data) - _HEADER_AT):
        raise BadFileError(f"{name} is not a safetensors file: its header is said to be {length:,} bytes long.")
    try:
        header = json.loads(data[_HEADER_AT : _HEADER_AT + length])
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{name} has a broken header ({error}).") from error
    if not isinstance(header, dict):
        raise BadFileError(f"{name} has a header of the wrong form.")
    return header


def _require_shapes(model: Mapping[str, Any], description: Mapping[str, Any], name: str) -> None:
    try:
        expected = expected_shapes(description["model"], has_others="markets" in description)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFileError(f"{name} does not describe a model of this program ({error}).") from error
    found = {key: tuple(each["shape"]) for key, each in model.items()}
    if found != expected:
        odd = sorted(key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key))
        raise BadFileError(f"{name} has weights of other shapes than its description says, such as {odd[0][:80]}.")


def _is_finite(kind: str, data: bytes) -> bool:
    if kind == "BF16":
        return bool(((np.frombuffer(data, "<u2") & _BFLOAT_EXPONENT) != _BFLOAT_EXPONENT).all())
    dtype = _FLOATS.get(kind)
    return dtype is None or bool(np.isfinite(np.frombuffer(data, dtype)).all())
