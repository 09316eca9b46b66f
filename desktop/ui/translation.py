"""Every text of the window goes through `translate`, so that it can be shown in another language.

translate("Chart", "{0} of {1} candles").format(shown, total)

The first argument is the context of the text, the second the English text: a literal, since `lupdate` reads the source.
A text that is made before there is a window (the table of actions, say) is marked by `QT_TRANSLATE_NOOP` at its
definition, and goes through `translate` when it is shown. Sentences from `core`, which knows no Qt, are data.
docs/translating.md says how a language is added.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

import resources

translate = QCoreApplication.translate


def QT_TRANSLATE_NOOP(room: str, text: str) -> str:
    """The text as it is, marked for `lupdate`, which looks for this name. Qt's own is typed as any object."""
    return text


def install_translations(
    application: QCoreApplication, locale: QLocale | None = None, folder: Path | None = None
) -> tuple[str, ...]:
    """Show the window in the system's language if there is a translation. Returns the names of the files used.

    Qt's own texts (Cancel, say) follow, but never alone: one window speaks one language. Numbers are written one way in
    any: as `formatting` has them, not 1.000 or ١٬٠٠٠ in the fields alone. A calendar's week begins on Monday.
    """
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    locale = locale or QLocale.system()
    shipped = Path(resources.__file__).parent / "translations"  # ghostcandle_<language>.qm
    own = _installed(application, locale, "ghostcandle", folder or shipped)
    if own is None:
        return ()
    qt = _installed(application, locale, "qtbase", Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)))
    return tuple(Path(each.filePath()).name for each in (own, qt) if each is not None)


def _installed(application: QCoreApplication, locale: QLocale, name: str, folder: Path) -> QTranslator | None:
    translator = QTranslator(application)
    if translator.load(locale, name, "_", str(folder)) and application.installTranslator(translator):
        return translator
    translator.deleteLater()
    return None
