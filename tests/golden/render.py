"""Paints scenes into a folder, in a process per scale, because a scale factor applies to a whole process.

python -m tests.golden.render FOLDER SCALE [SCENE …]    (the scale also as QT_SCALE_FACTOR)
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MOST_S = 120


class RenderError(RuntimeError):
    """A process that paints scenes failed; the message contains its output."""


def file_name(scene: str, scale: float) -> str:
    """The picture's file: ``gaps@1.5x.png``."""
    return f"{scene}@{scale:g}x.png"


def render(folder: Path, scale: float, scenes: Sequence[str] = ()) -> None:
    """Paint the scenes of one scale, all or those named, in a separate process. Raises RenderError."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.golden.render", str(folder), f"{scale:g}", *scenes]
    # The desktop's screen settings must not affect the pictures.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QT_")}
    environment = kept | {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": f"{scale:g}", "QT_FONT_DPI": "96"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_MOST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RenderError(f"The pictures at {scale:g}x were not painted within {_MOST_S} s.") from error
    if done.returncode != 0:
        raise RenderError(f"The pictures at {scale:g}x could not be painted:\n{done.stderr}")


def render_everything(folder: Path, scales: Iterable[float]) -> None:
    """Paint all scenes, one process after the other."""
    for scale in scales:
        render(folder, scale)


def main(arguments: Sequence[str]) -> int:
    # Qt reads the environment when it is imported, and the scenes import Qt.
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from tests.golden.scenes import SCENES  # noqa: PLC0415
    from tests.golden.stage import golden_font, shoot  # noqa: PLC0415

    folder, scale, names = Path(arguments[0]), float(arguments[1]), set(arguments[2:])
    application = QApplication(["golden"])
    font = golden_font()
    for scene in SCENES:
        if scale not in scene.scales or (names and scene.name not in names):
            continue
        path = folder / file_name(scene.name, scale)
        # PNG is lossless at any quality; at 0 the file is a twentieth smaller, but takes five times as long.
        if not shoot(scene, application, font).save(str(path), quality=50):
            print(f"{path} could not be written", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
