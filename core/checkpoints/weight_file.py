"""A weight file without torch: whether it is as written, and its description of itself.

The trainer checks the weights when it loads them, and refuses shapes that are not its model's.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

LARGEST_BYTES = 4 * 1024**3
METADATA_KEY = "ghostcandle"


class BadFileError(Exception):
    """A file is rejected. The message is a sentence for the user, and names the file."""


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file. Raises BadFileError."""
    try:
        if path.exists() and not path.is_file():
            raise BadFileError(f"{path.name} is not a regular file, so it cannot be read.")
        if path.stat().st_size > most_bytes:
            raise BadFileError(f"{path.name} is too large: at most {most_bytes:,} bytes are read.")
        return path.read_bytes()
    except OSError as error:
        raise BadFileError(f"{path.name} cannot be read ({error.strerror or error}).") from error


def read_verified(path: Path, sha256: str | None = None) -> bytes:
    """The bytes of a weight file. Raises BadFileError if it cannot be read, or is not the one with this sha256."""
    data = read_plain(path, LARGEST_BYTES)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise BadFileError(f"{path.name} was altered or cut short: its sha256 is not the recorded one.")
    return data


def verify(path: Path, sha256: str) -> str:
    """A sentence with the fault of the file; empty if it is intact."""
    try:
        read_verified(path, sha256)
    except BadFileError as error:
        return str(error)
    return ""


def read_description(path: Path) -> dict[str, Any]:
    """The description that Ghostcandle wrote into the file, from its header alone. Raises BadFileError."""
    try:
        with safe_open(path, framework="np") as file:
            description = json.loads((file.metadata() or {}).get(METADATA_KEY, "null"))
    except OSError as error:
        raise BadFileError(f"{path.name} cannot be read ({error.strerror or error}).") from error
    except SafetensorError as error:
        raise BadFileError(f"{path.name} is not a whole safetensors file ({str(error)[:200]}).") from error
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{path.name} has a broken description ({str(error)[:200]}).") from error
    if not isinstance(description, dict):
        raise BadFileError(f"{path.name} was not written by Ghostcandle: it has no description.")
    return description


def read_model_description(path: Path) -> dict[str, Any]:
    """The description of a checkpoint, which includes its model. Raises BadFileError."""
    description = read_description(path)
    if not isinstance(description.get("model"), dict):
        raise BadFileError(f"{path.name} does not describe a model of this program.")
    return description
