"""Each scene equals its approved picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.comparison import compare, read
from tests.golden.render import RenderError, file_name, render
from tests.golden.review import EXPECTED, SCALES
from tests.golden.scenes import SCENES
from tests.golden.stage import Scene

_MOST_BYTES = 4_900_000
PICTURES = [(scene, scale) for scene in SCENES for scale in scene.scales]

Painted = Callable[[float], Path]


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Painted:
    """The folder with all pictures of a scale, painted on first use."""
    folders: dict[float, Path] = {}

    def of_scale(scale: float) -> Path:
        if scale not in folders:
            folder = tmp_path_factory.mktemp(f"golden-{scale:g}x")
            render(folder, scale)
            folders[scale] = folder
        return folders[scale]

    return of_scale


@pytest.mark.parametrize(("scene", "scale"), PICTURES, ids=[file_name(scene.name, scale) for scene, scale in PICTURES])
def test_a_scene_is_painted_as_it_was_approved(painted: Painted, scene: Scene, scale: float) -> None:
    name = file_name(scene.name, scale)
    assert (EXPECTED / name).exists(), f"{name} was never approved: make golden-review, look, make golden-approve"
    difference = compare(read(EXPECTED / name), read(painted(scale) / name))
    assert difference.is_tolerated, f"{name}: {difference}. To see where: make golden-review"


def test_each_approved_picture_has_a_scene() -> None:
    assert {path.name for path in EXPECTED.iterdir()} == {file_name(scene.name, scale) for scene, scale in PICTURES}


def test_scenes_have_unique_names_and_painted_scales() -> None:
    names = [scene.name for scene in SCENES]
    assert len(set(names)) == len(names)
    assert {scale for scene in SCENES for scale in scene.scales} == set(SCALES)


def test_the_approved_pictures_stay_small() -> None:
    assert sum(path.stat().st_size for path in EXPECTED.iterdir()) < _MOST_BYTES


def test_a_scene_does_not_depend_on_those_before_it_and_output_of_the_process_is_reported(
    painted: Painted, tmp_path: Path
) -> None:
    """Painted alone, without the mouse, theme or font of an earlier scene. The next one cannot be written."""
    alone, next_one = (tmp_path / file_name(name, 1.0) for name in ("crosshair-light", "outcome-light"))
    next_one.mkdir()
    with pytest.raises(RenderError, match=rf"{next_one.name} could not be written"):
        render(tmp_path, 1.0, ["crosshair-light", "outcome-light"])
    assert compare(read(alone), read(painted(1.0) / alone.name)).largest == 0
