from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from pytestqt.qtbot import QtBot

from desktop.ui.formatting import format_count
from desktop.ui.inputs import WholeSpinBox
from desktop.ui.translation import install_translations, translate

GERMAN = QLocale(QLocale.Language.German, QLocale.Country.Germany)
SOURCE = 'from desktop.ui.translation import translate\nwords = translate("Chart", "{0} of {1} candles")\n'


def tool(name: str, *arguments: str | Path) -> None:
    subprocess.run([str(Path(sys.executable).parent / f"pyside6-{name}"), *map(str, arguments)], check=True, timeout=60)


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """A folder with the one text of SOURCE in German, made by Qt's own tools as docs/translating.md says."""
    source, words = tmp_path / "source.py", tmp_path / "ghostcandle_de.ts"
    source.write_text(SOURCE)
    tool("lupdate", source, "-ts", words)
    translated = words.read_text().replace(
        '<translation type="unfinished"></translation>', "<translation>{0} von {1} Kerzen</translation>"
    )
    assert "Kerzen" in translated
    words.write_text(translated)
    tool("lrelease", words, "-qm", words.with_suffix(".qm"))
    return tmp_path


@pytest.fixture
def application(qtbot: QtBot) -> Iterator[QCoreApplication]:
    application = QCoreApplication.instance()
    assert application is not None
    before, locale = set(application.findChildren(QTranslator)), QLocale()
    yield application
    QLocale.setDefault(locale)
    for translator in set(application.findChildren(QTranslator)) - before:
        application.removeTranslator(translator)
        translator.deleteLater()


def test_a_shipped_language_applies_to_our_and_qts_texts(application: QCoreApplication, german: Path) -> None:
    taken = install_translations(application, GERMAN, german)
    assert taken[0] == "ghostcandle_de.qm" and taken[1].startswith("qtbase_de")
    assert translate("Chart", "{0} of {1} candles").format(3, 7) == "3 von 7 Kerzen"
    assert translate("QPlatformTheme", "Cancel") == "Abbrechen"


def test_without_a_translation_all_of_the_window_stays_english(application: QCoreApplication, tmp_path: Path) -> None:
    assert install_translations(application, GERMAN, tmp_path) == ()
    assert translate("QPlatformTheme", "Cancel") == "Cancel"


@pytest.mark.parametrize("language", [QLocale.Language.German, QLocale.Language.Arabic])
def test_fields_write_numbers_as_the_rest_of_the_window(
    application: QCoreApplication, qtbot: QtBot, tmp_path: Path, language: QLocale.Language
) -> None:
    """Regression: 1.000 or ١٬٠٠٠ candles in a field, beside a text that says 1,000."""
    QLocale.setDefault(QLocale(language))
    install_translations(application, GERMAN, tmp_path)
    box = WholeSpinBox(0, 20_000)
    qtbot.addWidget(box)
    box.setValue(1_000)
    assert box.text() == format_count(1_000)
    assert box.parse("1,200") == box.parse("1200") == 1_200
    assert box.parse("1,5") is None, "which may be one and a half, so it is no number"
