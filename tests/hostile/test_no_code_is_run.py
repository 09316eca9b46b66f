"""External input is data: the program executes none of it and reads no executable format."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.hostile

ROOT = Path(__file__).resolve().parents[2]
RUNS_CODE = frozenset({"eval", "exec", "compile", "__import__"})
UNPICKLES = frozenset({"torch.load", "pickle.load", "pickle.loads", "joblib.load", "pd.read_pickle", "yaml.load"})
RUNS_A_SHELL = frozenset({"os.system", "os.popen", "subprocess.getoutput"})


_HINTS = re.compile(
    r"\b(eval|exec|__import__|pickle|read_pickle|joblib|yaml|shell|allow_pickle|getoutput)\b"
    r"|torch\.load|os\.(system|popen)|(?<![.\w])compile\s*\("
)
"""To parse a file without any of these takes a hundred times as long as to search it."""


def _faults(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)) if _HINTS.search(source) else ():
        if isinstance(node, ast.Import | ast.ImportFrom) and "pickle" in ast.unparse(node).split():
            yield f"{node.lineno}: pickle"
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in RUNS_CODE | UNPICKLES | RUNS_A_SHELL:
            yield f"{node.lineno}: {name}"
        for keyword in node.keywords:
            if keyword.arg in ("shell", "allow_pickle") and not _is_false(keyword.value):
                yield f"{node.lineno}: {keyword.arg}"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_the_program_never_executes_or_unpickles_its_input() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{fault}"
        for package in ("core", "desktop", "models", "resources")
        for path in sorted((ROOT / package).rglob("*.py"))
        for fault in _faults(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "eval(x)",
        "exec(x)",
        "compile(x, '', 'exec')",
        "torch.load(path)",
        "import pickle",
        "from pickle import loads",
        "subprocess.run(x, shell=True)",
        "np.load(x, allow_pickle=y)",
        "os.system(x)",
    ],
)
def test_the_check_finds_known_violations(source: str) -> None:
    assert list(_faults(source))
