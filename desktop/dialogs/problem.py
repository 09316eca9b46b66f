"""The sentence in a dialog that says what is wrong, and lets nobody go on meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialogButtonBox

from desktop.plain_text import WrappedLabel
from desktop.translation import translate


class Problem(WrappedLabel):
    """Hidden while nothing is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self._is_refusing = False
        self.setAccessibleName(translate("Dialogs", "What is wrong"))

    def refuse(self, sentence: str, ask: Callable[[], object], buttons: QDialogButtonBox) -> None:
        """Say that what was typed cannot be and was given up for what was there before. The same key press must not
        accept that, so OK is offered again once its event is over."""
        self._is_refusing = True

        def over() -> None:
            self._is_refusing = False
            self.check(ask, buttons)
            self.setText(self.text() or sentence)
            self.show()

        QTimer.singleShot(0, self, over)

    def check(self, ask: Callable[[], object], buttons: QDialogButtonBox) -> None:
        """Say what `ask` says in a ValueError, and offer OK only where it raises none."""
        try:
            ask()
            sentence = ""
        except ValueError as error:
            sentence = str(error)
        self.setText(sentence)
        self.setVisible(bool(sentence))
        buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not sentence and not self._is_refusing)
