import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("factor", ["1.25", *(pytest.param(factor, marks=pytest.mark.slow) for factor in ("1.5", "2"))])
def test_wicks_are_centred_and_sharp_at_every_scale(factor: str) -> None:
    """The golden images cover scales of 1, 1.5 and 2."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.desktop.chart.scaled_window"],
        cwd=ROOT,
        env=os.environ | {"QT_SCALE_FACTOR": factor, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
