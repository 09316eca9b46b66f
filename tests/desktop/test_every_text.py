"""Every text shown in the window goes through `translate`: checked in the source of `desktop`."""

from __future__ import annotations

import ast
import html
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import table_texts
from tests.support.table_texts import DESKTOP, MARKS

SHOWN_BY = frozenset(
    {
        *("setText", "setToolTip", "setWindowTitle", "setPlaceholderText", "setTitle", "setAccessibleName"),
        *("setAccessibleDescription", "setSuffix", "setPrefix", "setSpecialValueText", "setLabelText"),
        *("setInformativeText", "setHtml", "setNameFilters", "setNameFilter", "setHeaderLabels", "showMessage"),
        *("addAction", "addMenu", "addTab", "addItem", "addItems", "addRow", "addButton", "setTabText", "insertItem"),
        *("QLabel", "QPushButton", "QAction", "QGroupBox", "QCheckBox", "QRadioButton", "QMenu", "QToolBar"),
        *("QDockWidget", "QToolButton", "QCommandLinkButton", "QFileDialog", "QProgressDialog", "QMessageBox"),
        *("Span", "EmptyState", "ShortcutLine", "Entry", "Bar", "set_text", "update_state", "show_note", "style_table"),
    }
)
"""Setters and constructors, of Qt and of `desktop`, that show their arguments."""

OF_THE_TERMINAL = ("benchmark", "commands")
"""Never translated."""
FILES = sorted(DESKTOP.rglob("*.py"))
Trees = dict[str, ast.Module]
LETTERS = re.compile(r"[^\W\d_]{2}")
NO_WORDS = re.compile(r"<[^<]*?>|<[^>]*$|^[^<]*>|&\w+;|&#\d+;|Ghostcandle")


def name_of(call: ast.Call) -> str:
    """``setText`` of ``label.setText(...)``."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def words_in(node: ast.expr) -> Iterator[str]:
    """The literal words that this expression shows; other calls are checked where they are defined."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for part in _shown_parts(node):
        yield from words_in(part)


def _shown_parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return parts
        case ast.FormattedValue(value=part) | ast.Call(func=ast.Attribute(value=part, attr="format" | "join")):
            return [part]
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
    return []


def shown_untranslated(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of each untranslated text; HTML tags and the program's name do not count."""
    for call in calls(tree):
        if name_of(call) not in SHOWN_BY:
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("text", "tooltip"))]
        for argument in given:
            yield from ((call.lineno, words) for words in words_in(argument) if LETTERS.search(NO_WORDS.sub("", words)))


def marked(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that mark a text. A method of that name on an object is another's: ``text.translate(table)``."""
    return (call for call in calls(tree) if isinstance(call.func, ast.Name) and call.func.id in MARKS)


def is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def is_put_together(node: ast.expr) -> bool:
    """Whether a text is made in place: `lupdate` would not find it, and no translation fit it."""
    made = (ast.JoinedStr, ast.BinOp)
    formats = ("format", "join", "replace", "capitalize", "lower", "upper")
    parts = _without_indices(node)
    return any(isinstance(part, made) or (isinstance(part, ast.Call) and name_of(part) in formats) for part in parts)


def _without_indices(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    inner = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    for part in inner:
        yield from _without_indices(part)


@pytest.fixture(scope="module")
def trees() -> Trees:
    """The source of each file of `desktop`, by its path."""
    return {path.relative_to(DESKTOP).as_posix(): ast.parse(path.read_text()) for path in FILES}


@pytest.fixture(scope="module")
def of_the_window(trees: Trees) -> Trees:
    return {name: tree for name, tree in trees.items() if name.split("/")[0] not in OF_THE_TERMINAL}


def test_no_text_is_shown_past_translate(of_the_window: Trees) -> None:
    found = [
        f"{name}:{line}: {words!r}" for name, tree in of_the_window.items() for line, words in shown_untranslated(tree)
    ]
    assert not found, "wrap these in translate(), or mark them by QT_TRANSLATE_NOOP:\n" + "\n".join(found)


def test_lupdate_can_find_every_marked_text(of_the_window: Trees) -> None:
    for where, call in (
        (f"{name}:{call.lineno}", call) for name, tree in of_the_window.items() for call in marked(tree)
    ):
        assert len(call.args) == 2 and not call.keywords, f"{where}: a room and a text"
        room, text = call.args
        assert is_literal(room), f"{where}: the room is no literal"
        if isinstance(call.func, ast.Name) and call.func.id == "QT_TRANSLATE_NOOP":
            assert is_literal(text), f"{where}: the text is no literal"
        assert is_literal(text) or not isinstance(text, ast.Constant), f"{where}: the text is empty"
        assert not is_put_together(text), f"{where}: the text is put together before it is translated"


def test_every_placeholder_of_a_text_is_filled(of_the_window: Trees) -> None:
    for where, call in (
        (f"{name}:{call.lineno}", call) for name, tree in of_the_window.items() for call in calls(tree)
    ):
        if name_of(call) != "format" or not isinstance(call.func, ast.Attribute):
            continue
        source = call.func.value
        if not (isinstance(source, ast.Call) and name_of(source) == "translate" and is_literal(source.args[1])):
            continue
        text = ast.literal_eval(source.args[1])
        places = {int(name) for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        assert places == set(range(len(call.args))), f"{where}: {text!r} has other places"


def test_lupdate_finds_the_texts_and_warns_of_none(tmp_path: Path) -> None:
    tool, found, tables = Path(sys.executable).parent / "pyside6-lupdate", tmp_path / "found.ts", tmp_path / "tables.py"
    tables.write_text(table_texts.source(), encoding="utf-8")
    done = subprocess.run(
        [str(tool), "-extensions", "py", str(DESKTOP), str(tables), "-ts", str(found)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "arning" not in done.stdout + done.stderr and "rror" not in done.stderr, done.stdout + done.stderr
    sources = {html.unescape(text) for text in re.findall(r"<source>(.*?)</source>", found.read_text(), re.DOTALL)}
    assert sources == {text for _, text in table_texts.every_text()}, "lupdate does not look into f-strings"
    assert len(sources) > 700


def test_the_check_finds_untranslated_texts() -> None:
    source = """
label.setText("Step one")
QLabel(f"Step {count}")
box.addItem(icon, "Words" if is_long else "W")
label.setToolTip("{0} steps".format(count))
label.setText(translate("Panels", "Step one"))
label.setObjectName("the step")
spin.setSuffix(" %")
"""
    assert [line for line, _ in shown_untranslated(ast.parse(source))] == [2, 3, 4, 5]
    assert is_put_together(ast.parse('f"{a} words"', mode="eval").body)
    assert not is_put_together(ast.parse("_HINTS.get(stage)", mode="eval").body)
