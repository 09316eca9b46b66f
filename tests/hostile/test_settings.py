"""Settings files as an editor, another version, a sync tool or a broken disk may leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.settings.tree import Settings, load, save, to_dict
from core.storage.folder import DataFolder
from tests.hostile.windows import TRACEBACK
from tests.support import commands

pytestmark = pytest.mark.hostile

BROKEN: dict[str, tuple[bytes, str]] = {
    "cut": (b'{"model": {"width": 8,', "cannot be read (Expecting property name"),
    "empty": (b"", "cannot be read"),
    "binary": (bytes(range(256)) * 40, "cannot be read"),
    "another encoding": ('{"market": {"symbol": "BTC/€"}}'.encode("utf-16"), "cannot be read"),
    "a list": (b"[1, 2, 3]", "not a table"),
    "a hundred thousand lists": (b"[" * 100_000, "cannot be read"),
    "deep where a table belongs": (b'{"model": ' * 50_000 + b"1" + b"}" * 50_000, "cannot be read"),
    "a number of ten thousand digits": (b'{"training": {"seed": ' + b"9" * 10_000 + b"}}", "cannot be read"),
    "NaN": (b'{"training": {"learning_rate": NaN}, "market": {"speed": NaN}}', "learning_rate"),
    "infinite": (b'{"market": {"speed": Infinity}}', "speed"),
    "wrong types": (
        b'{"model": [], "training": {"seed": {"a": 1}}, "chart": 7}',
        "'model' was dropped: it should be a dictionary",
    ),
    "half a letter": (b'{"market": {"symbol": "\\ud800"}, "\\ud800": 1}', "cannot be used"),
    "lines in a name": (b'{"a\\nb\\u001b[31m": 1}', "a?b?[31m"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_invalid_values_fall_back_to_defaults_with_a_warning(tmp_path: Path, what: str) -> None:
    content, words = BROKEN[what]
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    found, warnings = load(path)
    assert words in " ".join(warnings) and all(len(warning) < 400 for warning in warnings), warnings
    save(found, path)
    assert load(path) == (found, ()), "the repaired file is valid"


NUMBERS = st.floats(allow_subnormal=False) | st.integers(-(2**80), 2**80)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
PLACES = [(group, name) for group, values in to_dict(Settings()).items() for name in values]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=5))
def test_any_value_anywhere_gives_storable_settings(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[tuple[str, str], Any]]
) -> None:
    tree = to_dict(Settings())
    for (group, name), value in changes:
        tree[group][name] = value
    path = tmp_path_factory.mktemp("changed") / "settings.json"
    path.write_text(json.dumps(tree))
    found, warnings = load(path)
    assert not any("Input should" in warning or "Unexpected keyword" in warning for warning in warnings), warnings
    save(found, path)
    assert load(path) == (found, ()) and "NaN" not in path.read_text() and "Infinity" not in path.read_text()


@pytest.mark.parametrize("what", ["binary", "a hundred thousand lists", "lines in a name"])
def test_a_command_works_beside_a_broken_file(tmp_path: Path, what: str) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    folder.settings.write_bytes(BROKEN[what][0])
    done = commands.invoke("backups", "list", "--data-dir", str(folder.root))
    assert done.returncode == 0 and TRACEBACK not in done.stderr and "settings" in done.stderr.lower()
    assert "\x1b" not in done.stderr, "a file paints no terminal"
    assert (folder.root / "settings.json.bak").read_bytes() == BROKEN[what][0]
