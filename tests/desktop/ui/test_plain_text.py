"""No text is taken for HTML: neither by a widget that exists, nor by a line of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.plain_text import LONGEST_TEXT, Label, MessageBox, paragraphs, show_tooltip

ROOT = Path(__file__).resolve().parents[3]
MARKUP = "<img src='nothing.png'> & <b>bold</b>"


def test_a_label_shows_markup_as_plain_text(qtbot: QtBot) -> None:
    label = Label(MARKUP)
    qtbot.addWidget(label)
    plain_width = label.fontMetrics().horizontalAdvance(MARKUP)
    assert label.textFormat() is Qt.TextFormat.PlainText and label.text() == MARKUP
    assert label.sizeHint().width() >= plain_width


def test_a_label_and_a_message_are_cut_to_what_can_be_laid_out(qtbot: QtBot) -> None:
    label, box = Label("x" * 200_000), MessageBox()
    box.setText("y" * 200_000)
    for widget in (label, box):
        qtbot.addWidget(widget)
        assert len(widget.text()) == LONGEST_TEXT and widget.text().endswith("…")


def test_markup_that_is_asked_for_is_not_cut(qtbot: QtBot) -> None:
    label = Label()
    qtbot.addWidget(label)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setText("<b>" + "x" * 2_000 + "</b>")
    assert label.text().endswith("</b>")


@pytest.mark.parametrize("text", [MARKUP, "&lt;img&gt;", "x" * 200, "two\n<i>lines</i>", "a < b"])
def test_a_tooltip_escapes_what_may_be_markup(text: str) -> None:
    shown = paragraphs(text)
    assert shown.startswith("<p>") and "<img" not in shown and "<b>" not in shown and "<i>" not in shown


def test_a_short_tooltip_stays_as_it_is_and_a_long_one_is_cut() -> None:
    assert paragraphs("Training device") == "Training device"
    assert paragraphs("") == ""
    assert len(paragraphs("word " * 40_000)) < 4_100


def test_the_tooltip_of_a_part_of_a_widget_is_escaped_too(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    show_tooltip(widget.mapToGlobal(QPoint(3, 3)), MARKUP, widget, QRect(0, 0, 9, 9))
    assert "<img" not in QToolTip.text() and "&lt;img" in QToolTip.text()
    show_tooltip(widget.mapToGlobal(QPoint(3, 3)), "", widget)


def test_qt_itself_would_take_it_for_html(qtbot: QtBot) -> None:
    label = QLabel(MARKUP)
    qtbot.addWidget(label)
    assert label.textFormat() is Qt.TextFormat.AutoText and QtGui.Qt.mightBeRichText(MARKUP)


def test_every_tooltip_in_the_source_is_escaped() -> None:
    """A constant, a translated constant, or through `paragraphs`. Labels are held by ruff's TID251."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "desktop").rglob("*.py"))
        for node in _tooltips(path.read_text(encoding="utf-8"))
        if not _is_safe(node)
    ]
    assert not found, "may be taken for HTML, wrap in paragraphs():\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "is_safe"),
    [
        ("a.setToolTip(text)", False),
        ("a.setToolTip(translate('C', 'x {0}').format(name))", False),
        ("a.setToolTip(translate('C', name))", False),
        ("a.setToolTip(translate('C', 'words'))", True),
        ("a.setToolTip(paragraphs(name))", True),
        ("a.setToolTip(b.toolTip())", True),
        ("a.setToolTip(paragraphs(x) if x else y)", False),
        ("def data(r):\n if r == Qt.ItemDataRole.ToolTipRole:\n  return text", False),
        ("def data(r):\n if r == Qt.ItemDataRole.ToolTipRole:\n  return paragraphs(text)", True),
        ("match r:\n case Qt.ItemDataRole.ToolTipRole:\n  x = text", True),
        ("def d(r):\n match r:\n  case Qt.ItemDataRole.ToolTipRole:\n   return text", False),
        ("a.setData(Qt.ItemDataRole.ToolTipRole, text)", False),
        ("a.setItemData(0, paragraphs(text), Qt.ItemDataRole.ToolTipRole)", True),
    ],
)
def test_the_source_check_finds_unescaped_tooltips(source: str, is_safe: bool) -> None:
    assert all(map(_is_safe, _tooltips(source))) is is_safe


def _tooltips(source: str) -> Iterator[ast.expr]:
    """What is given for a tooltip, wherever it is."""
    for node in ast.walk(ast.parse(source)) if "ToolTip" in source else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "setToolTip":
                yield node.args[0]
            elif any(_names_the_role(argument) for argument in node.args):
                yield from (each for each in node.args if _is_text(each))
        elif (isinstance(node, ast.If) and _names_the_role(node.test)) or (
            isinstance(node, ast.match_case) and _names_the_role(node.pattern)
        ):
            yield from _returned(node.body)


def _names_the_role(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "ToolTipRole" for each in ast.walk(node))


def _is_text(argument: ast.expr) -> bool:
    return not _names_the_role(argument) and not (
        isinstance(argument, ast.Constant | ast.BinOp) or ast.unparse(argument).endswith(".count() - 1")
    )


def _returned(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value


def _is_safe(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.IfExp():
            return _is_safe(node.body) and _is_safe(node.orelse)
        case ast.Call(func=ast.Name(id="translate")):
            return all(isinstance(argument, ast.Constant) for argument in node.args)
        case ast.Call(func=ast.Name(id="paragraphs")) | ast.Call(func=ast.Attribute(attr="toolTip")):
            return True
    return False
