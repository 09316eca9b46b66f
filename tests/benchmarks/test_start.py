"""The benchmark of the start runs the real program."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.benchmarks.__main__ import benchmarks


@pytest.mark.slow
def test_a_start_is_measured_up_to_the_first_paint() -> None:
    done = CliRunner().invoke(benchmarks, ["start", "--repeats", "1", "--json"], catch_exceptions=False)
    answer = json.loads(done.stdout)
    assert answer["cpu_s"] > 0.2 and len(answer["samples"]["wall_s"]) == 1
    assert 500 < answer["modules"] < 1_100, "what the first frame does not need is imported after it"
