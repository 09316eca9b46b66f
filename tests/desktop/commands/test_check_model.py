"""`ghostcandle check-model` in this process; the checks themselves are tested beside them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import commands
from tests.support.candles import START_MS


def check(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    done = commands.invoke("check-model", *arguments, "--data-dir", str(commands.configure(tmp_path / "data")))
    return done.returncode, done.stdout, done.stderr


def test_a_failed_check_is_the_exit_code(tmp_path: Path) -> None:
    code, out, err = check(tmp_path, "process:/no/such/program")
    assert code == 1 and out.startswith("failed  It can be started") and "could not" in out
    assert "The candles as they are ..." in err
    code, out, _ = check(tmp_path, "process:/no/such/program", "--json")
    found = json.loads(out)
    assert code == 1 and not found["ok"]
    assert [each["requirement"] for each in found["checks"]] == ["It can be started"]


def test_what_is_no_model_and_too_few_candles_are_sentences(tmp_path: Path) -> None:
    code, _, err = check(tmp_path, "own.py")
    assert code == 2 and "'own.py' is no model" in err
    file = tmp_path / "few.csv"
    rows = (f"{START_MS + 60_000 * n},1,2,1,1,1" for n in range(39))
    file.write_text("\n".join(("open_time_ms,open,high,low,close,volume", *rows)))
    code, _, err = check(tmp_path, "gru", "--file", str(file))
    assert (code, err.strip()) == (2, "39 candles are too few to check a model; give 120 or more.")
